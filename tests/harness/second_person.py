"""Who may do what under a policy file, by who is where: a second and plain reading, for tests to compare the product with.

It knows nothing of the product's policy code. A policy is what TOML says, and everything about people is known here.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any, Final, Literal

Guard = Literal["none", "confirm", "approve"]
DESTRUCTIVE: Final = {"rule.delete", "member.remove"}


Touched = Mapping[str, str | None]
"""What a request is about, by the keys of a guard; None for a host that can't be told."""


@dataclass(frozen=True)
class Somebody:
    """An account: whose *human* it is, in which user *groups*, and whether *here*, in the channel of the request."""

    id: str
    human: str
    groups: frozenset[str] = frozenset()
    here: bool = True
    guest: bool = False


@dataclass(frozen=True)
class Refused:
    """What nobody may ask for here, or nobody could approve."""


@dataclass(frozen=True)
class Stands:
    """What stands before a request: nothing, its requester's own click, or so many approvals of *approvers*."""

    guard: Guard
    approvals: int = 1
    approvers: tuple[str, ...] = ()
    overriders: tuple[str, ...] = ()


@dataclass(frozen=True)
class Company:
    """A *policy*, the people of a workspace, and the *channel* in which something is asked for."""

    policy: Mapping[str, Any]
    people: tuple[Somebody, ...]
    channel: str
    emails_told: bool = True

    def has_role(self, who: Somebody, name: str) -> bool:
        role = self.policy["roles"][name]
        by_channel = who.here and self.channel in role.get("channels", ())
        return by_channel or who.id in role.get("users", ()) or bool(who.groups & set(role.get("groups", ())))

    def has_right(self, who: Somebody, operation: str, touched: Touched) -> bool:
        """Whether a role of theirs, or the lack of all roles, gives it; a role of some hosts not for what may be on others."""
        roles = self.policy.get("roles", {})
        held = (
            role for name, role in roles.items() if self.has_role(who, name) and _covers(role, touched, unknown=False)
        )
        given = (pattern for role in held for pattern in role.get("may", ()))
        return not who.guest and self._is_place() and (not roles or any(_matches(operation, each) for each in given))

    def is_allowed(self, who: Somebody, operation: str, touched: Touched) -> bool:
        """Whether they may ask for it here."""
        return who.here and self.has_right(who, operation, touched)

    def _is_place(self) -> bool:
        return self.channel in (self.policy.get("channels", {}).get("act") or [self.channel])

    def may_approve(self, who: Somebody, asker: Somebody, rule: Mapping[str, Any], touched: Touched) -> bool:
        """Whether they count as a second person under *rule*: where Slack tells no emails, nobody is known to be one."""
        return self.emails_told and who.human != asker.human and self.has_approvers_right(who, rule, touched)

    def has_approvers_right(self, who: Somebody, rule: Mapping[str, Any], touched: Touched) -> bool:
        """Whether their roles let them approve under *rule*: those that it names, wherever they are, or any, from here."""
        named = rule.get("approvers", [])
        by_role = (
            any(self.has_role(who, name) for name in named)
            if named
            else self.has_right(who, "approve", touched) and who.here
        )
        return by_role and self._is_place() and not who.guest

    def rule_for(self, operation: str, touched: Touched) -> Mapping[str, Any]:
        """The guard that stands before *operation*: the first that fits, else the default."""
        rules: list[Mapping[str, Any]] = self.policy.get("guards", [])
        for rule in rules:
            if _matches(operation, rule["operation"]) and _covers(rule, touched, unknown=True):
                return rule
        return {"guard": "approve-or-confirm" if operation in DESTRUCTIVE else "none"}

    def requirement_for(self, asker: Somebody, operation: str, touched: Touched) -> Stands | Refused:
        """Return what is needed before *operation* where *asker* asks for it."""
        if not self.is_allowed(asker, operation, touched):
            return Refused()
        rule = self.rule_for(operation, touched)
        if rule["guard"] in {"none", "confirm"}:
            return Stands(rule["guard"], overriders=self._overriders(rule, operation, touched))
        able = [who for who in self.people if self.may_approve(who, asker, rule, touched)]
        needed = rule.get("approvals", 1)
        if len({who.human for who in able}) >= needed:
            return Stands("approve", needed, tuple(who.id for who in able), self._overriders(rule, operation, touched))
        others = [who for who in self.people if who.id != asker.id and self.has_approvers_right(who, rule, touched)]
        alone = not (able if self.emails_told else others)
        return Stands("confirm") if rule["guard"] == "approve-or-confirm" and alone else Refused()

    def _overriders(self, rule: Mapping[str, Any], operation: str, touched: Touched) -> tuple[str, ...]:
        names = rule.get("break_glass", ())
        able = (
            who
            for who in self.people
            if self.is_allowed(who, operation, touched) and any(self.has_role(who, name) for name in names)
        )
        return tuple(who.id for who in able)


def _covers(limits: Mapping[str, Any], touched: Touched, *, unknown: bool) -> bool:
    """Whether a guard or a role with these *limits* is about what is *touched*, or *unknown* where that isn't known."""
    named = {key: limits[key] for key in ("site", "segment", "host", "group") if key in limits}
    if named and not set(named) & set(touched):
        return False
    for key in set(named) & set(touched):
        patterns = [named[key]] if isinstance(named[key], str) else named[key]
        value = touched[key]
        if not (unknown if value is None else any(fnmatchcase(value, each.casefold()) for each in patterns)):
            return False
    return True


def _matches(operation: str, pattern: str) -> bool:
    return operation.endswith(".read") if pattern == "read" else fnmatchcase(operation, pattern)


Way = Literal["as written", "by name", "by group", "by channel"]


def with_holders(
    policy: Mapping[str, Any], way: Way, holders: Mapping[str, Sequence[str]], channel: str
) -> dict[str, Any]:
    """The *policy* with each role held in this *way* by its *holders*."""
    if way == "as written":
        return dict(policy)
    keys: dict[Way, str] = {"by name": "users", "by group": "groups", "by channel": "channels"}
    roles = {}
    for name, role in policy.get("roles", {}).items():
        values = {"by name": list(holders[name]), "by group": [group_of(name)], "by channel": [channel]}[way]
        limits = {key: value for key, value in role.items() if key not in keys.values()}
        roles[name] = {keys[way]: values, "may": [], **limits}
    return {**policy, "roles": roles}


def group_of(role: str) -> str:
    return f"S0{role.upper()[:7]:0<7}"


def toml(policy: Mapping[str, Any]) -> str:
    """A policy as a file: its values are texts, numbers, truths and lists, which JSON writes the same way."""

    def table(head: str, values: Mapping[str, Any]) -> str:
        return "\n".join([head, *(f"{name} = {json.dumps(value)}" for name, value in values.items()), ""])

    tables = [table("[channels]", policy["channels"])] if "channels" in policy else []
    tables += [table(f"[roles.{name}]", role) for name, role in policy.get("roles", {}).items()]
    tables += [table("[[guards]]", guard) for guard in policy.get("guards", ())]
    return "\n".join(tables)
