"""Who may do what, and which guard applies. Pure: facts about a person and a channel in, a decision out."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from fnmatch import fnmatchcase
from functools import cache
from typing import Annotated, Any, Final, Literal, Self
from urllib.parse import quote

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from bot.changes.model.edits import Kind, Need
from bot.changes.model.parts import ChangeDecision, Guard
from bot.policy.freezes import Freeze, Host
from bot.rules.expressions import CannotTell, compile_expression
from bot.rules.hosts import matches_any, may_match
from bot.rules.model import RULE_ID
from bot.text.times import seconds_of

READS: Final = ("rule.read", "member.read", "audit.read")
APPROVE: Final = "approve"
SHARE: Final = "share"
"""To show everybody in a channel what was read: no role gives it, the place does."""
BREAK_GLASS: Final = "break-glass"
"""Not an operation that roles may have: guards name its roles."""
FREEZE: Final = "freeze"
OPERATIONS: Final = (*READS, *dict.fromkeys(kind.operation for kind in Kind), APPROVE, FREEZE)
"""Every operation that a role may have; patterns such as ``rule.*`` are allowed, ``read`` stands for every ``*.read``."""

DESTRUCTIVE: Final = frozenset(kind.operation for kind in Kind if kind.destroys)

STRENGTH: Final = (Guard.NONE, Guard.CONFIRM, Guard.APPROVE_OR_CONFIRM, Guard.APPROVE)
"""Guards from the lightest to the strictest."""

LIFETIME: Final = timedelta(hours=24)
"""How long a request waits for a decision where the policy does not say."""


MAX_LIFETIME: Final = timedelta(days=30)


class Why(StrEnum):
    """The reason why a person is refused."""

    UNKNOWN = "unknown"
    DEACTIVATED = "deactivated"
    BOT = "bot"
    GUEST = "guest"
    STRANGER = "stranger"
    SHARED_CHANNEL = "shared_channel"
    DIRECT_MESSAGE = "direct_message"
    NOT_ADDED = "not_added"
    OTHER_CHANNEL = "other_channel"
    NO_ROLE = "no_role"
    BEYOND_ROLE = "beyond_role"
    OWN_REQUEST = "own_request"
    NOT_HERE = "not_here"
    CANT_TELL = "cant_tell"


@dataclass(frozen=True, slots=True)
class Person:
    """A person, as Slack describes them. *barred*: why they can't use Gatehouse at all; *tz*: an IANA name."""

    id: str
    barred: Why | None = None
    groups: frozenset[str] = frozenset()
    channels: frozenset[str] = frozenset()
    """The channels that they are in, out of those that were looked up."""
    tz: str = "UTC"
    name: str = ""
    """Their display name; empty where Slack doesn't give it."""
    mailbox: str = ""
    """Their email without tags and case: two accounts of one mailbox are one person. Empty where Slack doesn't give it."""


@dataclass(frozen=True, slots=True)
class Channel:
    """A channel, as Slack describes it."""

    id: str
    bot_in: bool = True
    shared: bool = False
    direct: bool = False


NOWHERE: Final = Channel("")


def _parse_span(value: Any) -> Any:
    """Parse a duration such as ``24h``. A number alone is refused: its unit would be a guess."""
    if isinstance(value, timedelta):
        return value
    seconds = (seconds_of(value) or 0) if isinstance(value, str) else 0
    if not 0 < seconds <= MAX_LIFETIME.total_seconds():
        raise ValueError("write a duration of at most 30d, such as 30m, 24h or 7d")
    return timedelta(seconds=seconds)


def _require_operation(pattern: Any) -> Any:
    if not isinstance(pattern, str):
        return pattern
    known = pattern == "read" or any(fnmatchcase(name, pattern) for name in OPERATIONS)
    if not known:
        raise ValueError(f"fits no operation; there are read, {', '.join(OPERATIONS)}")
    return pattern


SLACK_ID: Final = re.compile(r"[A-Z][A-Z0-9]{5,20}")


def _id_of(what: str, beginnings: str, example: str) -> AfterValidator:
    """Return a validator of Slack's ids of *what*: a policy has ids and not names, since names change."""

    def check(value: str) -> str:
        if not SLACK_ID.fullmatch(value) or value[0] not in beginnings:
            begin = " or ".join(beginnings)
            raise ValueError(f"“{value[:40]}” is not the id of a {what}: those begin with {begin}, such as {example}")
        return value

    return AfterValidator(check)


UserId = Annotated[str, _id_of("person", "UW", "U0CARA001 (in their profile, under More)")]
GroupId = Annotated[str, _id_of("user group", "S", "S0ONCALL1 (at the end of its URL)")]
ChannelId = Annotated[str, _id_of("channel", "CG", "C0OPS0001 (at the bottom of its details)")]
Operation = Annotated[str, BeforeValidator(_require_operation)]
Span = Annotated[timedelta, BeforeValidator(_parse_span)]


class _Strict(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


@dataclass(frozen=True, slots=True)
class Act:
    """Something that is allowed to anyone who has the right to one of *operations*; with none, to all who may use Gatehouse.

    *roles*: those that a guard names for it, wherever it does. *other_than*: an account whose person may not. *about*: what it
    is done to, or what is approved; None where that isn't known yet.
    """

    operations: tuple[str, ...]
    roles: tuple[str, ...] | None = None
    other_than: str = ""
    about: Need | None = None

    @classmethod
    def of(cls, need: Need | str) -> Self:
        """Return the act of doing what *need* says, or an operation to something that isn't known yet."""
        return cls((need,)) if isinstance(need, str) else cls((need.operation,), about=need)


def _in_list(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


def _require_group(pattern: str) -> str:
    if not RULE_ID.fullmatch(pattern.replace("*", "x")):
        raise ValueError(f"“{pattern[:40]}” is not the id of a group: see `/rules groups` for their ids")
    return pattern


CONCERNED: Final[Mapping[str, tuple[str, ...]]] = {
    "rule": ("host", "group"),
    "member": ("site", "segment"),
    APPROVE: ("host", "group", "site", "segment"),
}
"""What an operation may be limited to, by its first word."""


class _Limited(_Strict):
    """Something that holds for what its lists name, or for everything without lists."""

    site: Annotated[tuple[str, ...], BeforeValidator(_in_list)] = ()
    host: Annotated[tuple[Host, ...], BeforeValidator(_in_list)] = ()
    group: Annotated[tuple[Annotated[str, AfterValidator(_require_group)], ...], BeforeValidator(_in_list)] = ()
    """Ids of groups of rules."""
    segment: Annotated[tuple[str, ...], BeforeValidator(_in_list)] = ()

    @property
    def limits(self) -> tuple[str, ...]:
        """Return all that its lists name; empty where it holds for everything."""
        return (*self.site, *self.host, *self.group, *self.segment)

    def covers(self, need: Need, matches: Callable[[str, Iterable[str]], bool] = matches_any) -> bool:
        """Whether *need* is within its lists, as far as it is known.

        *matches*: `may_match` where a source of any host is within as well. Lists of hosts alone cover no members, and those of
        sites alone no rules.
        """
        names = CONCERNED.get(need.operation.partition(".")[0], ())
        named = [(patterns, getattr(need, name)) for name in names if (patterns := getattr(self, name))]
        return bool(named or not self.limits) and all(
            value is None or matches(value, patterns) for patterns, value in named
        )


class Role(_Limited):
    """A set of people and what they may do: by name, by user group, or by a channel that they are in and act in.

    Its limits hold for changes and for approvals, not for what is only read.
    """

    users: tuple[UserId, ...] = ()
    groups: tuple[GroupId, ...] = ()
    channels: tuple[ChannelId, ...] = ()
    may: tuple[Operation, ...] = ()

    def is_held_by(self, person: Person, place: Channel) -> bool:
        here = place.id in self.channels and place.id in person.channels
        return here or person.id in self.users or bool(person.groups & set(self.groups))

    def allows(self, operation: str, about: Need | None = None) -> bool:
        """Whether it allows *operation* to what it is *about*, or to something where that isn't known."""
        is_named = any(fits(operation, pattern) for pattern in self.may)
        return is_named and (operation.endswith(".read") or self.covers(about or Need(operation)))


def _require_expression(text: str) -> str:
    try:
        compile_expression(text)
    except CannotTell as error:
        raise ValueError(f"“{text[:40]}” can't be evaluated; write an expression such as SUP-[0-9]+") from error
    return text


@dataclass(eq=False)
class ReasonRequired(Exception):
    """The guard requires a reason, or another one. *hint*: what it has to be, in the words of the policy."""

    hint: str


PLACE: Final = " place"
"""No key of a file is called so."""


class GuardRule(_Limited):
    """The guard of the operations that it matches; of several rules that match, the first one counts."""

    operation: Operation
    guard: Guard
    approvals: Annotated[int, Field(ge=1, le=5)] = 1
    approvers: tuple[str, ...] = ()
    """Names of roles; empty means everybody who may ``approve`` and is in the channel."""
    self_approval: bool = False
    undo_own: bool = True
    """Whether people may undo at once what they did alone within the last hour."""
    expires: Span = LIFETIME
    break_glass: tuple[str, ...] = ()
    """Names of roles whose people may go ahead alone, with a typed reason."""
    notify: tuple[str, ...] | None = None
    """Whom a request mentions: names of roles, or ids of people and user groups. None: those who may approve it."""
    reason: Literal["required"] | None = None
    pattern: Annotated[str, AfterValidator(_require_expression)] = ""
    """An expression that has to match some of the reason."""
    hint: str = ""
    """What the reason has to be, as people are told."""
    url: Annotated[str, Field(pattern=r"^https?://[^\s{}]+\{\}[^\s{}]*$")] | None = None
    """Where what the pattern matched is found; ``{}`` stands for it."""
    place: str = Field("default", alias=PLACE)
    """Where it is in the file, by its key and line."""

    @model_validator(mode="after")
    def _require_reason(self) -> Self:
        if (self.pattern or self.hint or self.url) and self.reason is None:
            raise ValueError('pattern, hint and url need reason = "required"')
        return self

    def link_of(self, reason: str) -> str:
        """Return the URL of what the pattern matches of *reason*; empty for none. Raises ReasonRequired."""
        if self.reason is None:
            return ""
        found = compile_expression(self.pattern).search(reason)
        if found is None or not any(map(str.isalnum, reason)):
            raise ReasonRequired(self.hint)
        return (self.url or "").replace("{}", quote(found[0] or reason, safe=""))

    @property
    def decision(self) -> ChangeDecision:
        """Return what it requires of a change, as a decision that nobody has taken yet."""
        return ChangeDecision(
            guard=self.guard,
            approvals_needed=self.approvals,
            approvers=self.approvers,
            self_approval=self.self_approval,
            break_glass=self.break_glass,
            approvers_summoned=self.notify is None,
        )

    def fits(self, need: Need) -> bool:
        return fits(need.operation, self.operation) and self.covers(need)

    def may_fit(self, need: Need) -> bool:
        """Whether it fits *need*, or may: the source of a rule may match any host."""
        return fits(need.operation, self.operation) and self.covers(need, may_match)


@cache
def _default_guard(operation: str) -> GuardRule:
    """Return the guard of *operation* where no rule of a policy matches it."""
    return GuardRule(operation=operation, guard=Guard.APPROVE_OR_CONFIRM if operation in DESTRUCTIVE else Guard.NONE)


def strictest(rules: Sequence[GuardRule]) -> GuardRule:
    """Combine *rules* into one guard that is at least as strict as each; its approvers are those that all of them name.

    Raises Irreconcilable where their approvers have nobody in common.
    """
    if len(set(rules)) == 1:
        return rules[0]
    first = max(rules, key=lambda rule: (STRENGTH.index(rule.guard), rule.approvals))
    standing = [rule for rule in rules if rule.guard is not Guard.NONE]
    approving = [rule for rule in standing if rule.guard in {Guard.APPROVE, Guard.APPROVE_OR_CONFIRM}]
    named = [rule.approvers for rule in approving if rule.approvers]
    approvers = _intersect(named)
    is_told = all(rule.notify is not None for rule in approving)
    if named and not approvers:
        raise Irreconcilable(tuple(dict.fromkeys(name for names in named for name in names)))
    return first.model_copy(
        update={
            "approvers": approvers,
            "approvals": max((rule.approvals for rule in approving), default=first.approvals),
            "self_approval": bool(approving) and all(rule.self_approval for rule in approving),
            "undo_own": all(rule.undo_own for rule in rules),
            "break_glass": _intersect([rule.break_glass for rule in standing]),
            "expires": min((rule.expires for rule in standing), default=first.expires),
            "notify": tuple(dict.fromkeys(name for rule in approving for name in rule.notify or ()))
            if is_told
            else None,
        }
    )


def _intersect(lists: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """Return what is in each of *lists*, in the order of the first."""
    first, *others = lists or [()]
    return tuple(name for name in first if all(name in other for other in others))


@dataclass(eq=False)
class Irreconcilable(Exception):
    """No role can approve all of these guards, since each names other roles. *roles*: all that they name."""

    roles: tuple[str, ...]


class Channels(_Strict):
    """The channels in which changes may be requested; if none is named, every channel that the bot was added to."""

    act: tuple[ChannelId, ...] = ()


class Policy(_Strict):
    """One deployment's rules. The one without any roles lets every full member do everything, under guards."""

    channels: Channels = Channels()
    roles: dict[str, Role] = Field(default_factory=dict)
    guards: tuple[GuardRule, ...] = ()
    freeze: tuple[Freeze, ...] = ()
    """The freezes: what nobody may change for a while, whatever their roles."""

    @property
    def groups(self) -> frozenset[str]:
        """Every user group that some role names."""
        return frozenset(group for role in self.roles.values() for group in role.groups)

    def roles_called(self, names: Iterable[str]) -> Sequence[Role]:
        """Return the roles with these *names*, without those that no longer exist."""
        return [self.roles[name] for name in names if name in self.roles]

    def roles_for(self, operation: str, about: Need | None = None) -> tuple[str, ...]:
        """Return the names of the roles that may do *operation* to what it is *about*, or to something."""
        return tuple(name for name, role in self.roles.items() if role.allows(operation, about))

    def named_ids(self, names: Iterable[str]) -> tuple[str, ...]:
        """Return the ids that *names* stand for: those of people and user groups that roles name, and those among them."""
        found = dict[str, None]()
        for name in names:
            role = self.roles.get(name)
            found |= dict.fromkeys((*role.users, *role.groups) if role else [name] if SLACK_ID.fullmatch(name) else [])
        return tuple(found)

    def guards_for(self, *needs: Need) -> Sequence[GuardRule]:
        """Return the guards that count for *needs*, each once: for each of them the first that fits, else the default.

        Before it come those that may fit, so that a source of any host meets them all.
        """
        found = dict[GuardRule, None]()
        for need in needs:
            for rule in self.guards:
                found |= {rule: None} if rule.may_fit(need) else {}
                if rule.fits(need):
                    break
            else:
                found[_default_guard(need.operation)] = None
        return tuple(found)

    def guard_for(self, operation: str, site: str = "") -> GuardRule:
        """Return the guard of *operation* on *site*, for what has no host, group or segment that a guard names."""
        return self.guards_for(Need(operation, site, "", "", ""))[0]

    def roles_that_may(self, act: Act) -> tuple[str, ...]:
        """Return the names of the roles whose people may do *act*."""
        allowing = (name for operation in act.operations for name in self.roles_for(operation, act.about))
        return tuple(dict.fromkeys(allowing)) if act.roles is None else act.roles

    def judge(self, act: Act, person: Person, place: Channel | None) -> Why | None:
        """Return why *person* may not do *act* at *place*, or, where that is None, anywhere; None where they may."""
        whys = [self.refusal(each, person, place, act.roles, act.about) for each in act.operations] or [person.barred]
        return None if None in whys else whys[0]

    def refusal(
        self,
        operation: str,
        person: Person,
        place: Channel | None,
        roles: tuple[str, ...] | None = None,
        about: Need | None = None,
    ) -> Why | None:
        """Return why *person* may not do one *operation*; as `judge`."""
        held = self.roles_called(self.roles_for(operation, about) if roles is None else roles)
        is_free = not self.roles and roles is None
        is_read = operation.endswith(".read")
        if person.barred is not None:
            return person.barred
        if operation == SHARE:
            return Why.SHARED_CHANNEL if place is not None and place.shared else None
        if place is None:
            is_somewhere = any(role.channels or role.is_held_by(person, NOWHERE) for role in held)
            return None if is_free or is_somewhere else Why.NO_ROLE
        if not is_read and (why := self._place_refusal(place)) is not None:
            return why
        # Someone whom a guard names has the right wherever they are; everybody else has to be in the channel.
        outside = None if is_read or roles is not None or place.id in person.channels else Why.NOT_HERE
        without = None if is_free or any(role.is_held_by(person, place) for role in held) else Why.NO_ROLE
        return without or outside if operation == APPROVE else outside or without

    def _place_refusal(self, place: Channel) -> Why | None:
        """Return why changes can't be made at *place*, since they belong where others see them; None where they can."""
        if place.shared:
            return Why.SHARED_CHANNEL
        if place.direct:
            return Why.DIRECT_MESSAGE
        if not place.bot_in:
            return Why.NOT_ADDED
        if self.channels.act and place.id not in self.channels.act:
            return Why.OTHER_CHANNEL
        return None


def fits(operation: str, pattern: str) -> bool:
    return operation.endswith(".read") if pattern == "read" else fnmatchcase(operation, pattern)


DEFAULT: Final = Policy()
