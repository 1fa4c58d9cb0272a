"""Who may do this here, asked at every step: at the request, at the click, and before the service is called.

What Slack says of people and places comes from a Directory; what follows from it is the policy's. Where Slack
cannot be asked, nobody may. Who is in a channel or a user group is asked only while the answer could still change the
verdict. So a role that somebody has by name needs nothing from Slack, and an outage stops only what depends on it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Protocol

from bot.changes.model import Change, Guard, Kind, Need
from bot.policy.model import APPROVE, OPERATIONS, Channel, GuardRule, Person, Policy, Why, strictest


class DirectoryUnavailable(Exception):
    """Slack did not say who somebody is or what a channel is. *asked*: what about; *code*: Slack's word, if any."""

    def __init__(self, asked: str, code: str = "") -> None:
        super().__init__(f"{asked}: {code}" if code else asked)
        self.asked = asked
        self.code = code


class Directory(Protocol):
    """What Slack knows. Every method raises DirectoryUnavailable; answers may be up to a minute old."""

    async def person(self, user: str) -> Person:
        """Somebody, without their groups and channels."""

    async def place(self, channel: str) -> Channel:
        """A channel, as it is now."""

    async def people_in(self, channel: str) -> Sequence[str]:
        """The ids of everybody in a channel, bots and guests too."""

    async def is_in(self, user: str, channel: str) -> bool:
        """Whether somebody is in a channel."""

    async def group(self, group: str) -> frozenset[str]:
        """The ids of the people of a user group; nobody where Slack has no such group (any more)."""


Verdict = Callable[[Person], Why | None]
"""Why somebody may not, by what is known of them so far."""


@dataclass(slots=True)
class Inquiry:
    """What Slack has said so far about *person* with regard to *place*."""

    directory: Directory
    policy: Policy
    person: Person
    place: Channel
    _failures: dict[str, DirectoryUnavailable | None] = field(default_factory=dict)
    """Channels and groups that were asked about, and what went wrong, if anything did."""

    async def judge(self, verdict: Verdict, roles: Iterable[str]) -> Why | None:
        """Return the *verdict* on all that could change it, where the right could come from *roles*.

        Raises DirectoryUnavailable where Slack did not say what could have changed it.
        """
        held = [self.policy.roles[name] for name in roles if name in self.policy.roles]
        failures: list[DirectoryUnavailable] = []
        why = verdict(self.person)
        if why is Why.NOT_HERE or (why is Why.NO_ROLE and any(self.place.id in role.channels for role in held)):
            failures += await self._learn(self.place.id, self._look_at_place)
        for group in dict.fromkeys(group for role in held for group in role.groups):
            if verdict(self.person) is not Why.NO_ROLE:
                break
            failures += await self._learn(group, partial(self._look_at_group, group))
        why = verdict(self.person)
        if failures and why in {Why.NO_ROLE, Why.NOT_HERE}:
            raise failures[0]
        return why

    async def _learn(self, what: str, look: Callable[[], Awaitable[None]]) -> list[DirectoryUnavailable]:
        """Ask about *what*, once; what went wrong."""
        if what not in self._failures:
            self._failures[what] = None
            try:
                await look()
            except DirectoryUnavailable as error:
                self._failures[what] = error
        failure = self._failures[what]
        return [] if failure is None else [failure]

    async def _look_at_place(self) -> None:
        if await self.directory.is_in(self.person.id, self.place.id):
            self.person = replace(self.person, channels=self.person.channels | {self.place.id})

    async def _look_at_group(self, group: str) -> None:
        if self.person.id in await self.directory.group(group):
            self.person = replace(self.person, groups=self.person.groups | {group})


MAX_UNANSWERED = 3
"""Questions about approvers that Slack may leave unanswered before no more are asked."""
MAX_CANDIDATES = 200
"""People of a channel that are looked at for somebody who could approve."""

MAX_MENTIONED = 5
"""People whom a request mentions where the policy names nobody."""
MAX_LOOKED_UP_TO_MENTION = 10
"""People of a channel that are looked up for that."""


class NotAllowed(Exception):
    """*user* may not do *operation*; *why* says so, *roles* who could."""

    def __init__(self, why: Why, operation: str, user: str, *, roles: Sequence[str] = (), channel: str = "") -> None:
        super().__init__(f"{operation}: {why}")
        self.why = why
        self.operation = operation
        self.user = user
        self.roles = tuple(roles)
        self.channel = channel


class NobodyCanApprove(Exception):
    """A request that could never be approved here: *needed* people with the right, *found* are there."""

    def __init__(self, operation: str, needed: int, found: int, roles: Sequence[str]) -> None:
        super().__init__(operation)
        self.operation = operation
        self.needed = needed
        self.found = found
        self.roles = tuple(roles)


@dataclass(frozen=True, slots=True)
class Access:
    """The current policy, applied to what Slack says now."""

    policy: Callable[[], Policy]
    directory: Directory

    async def person(self, user: str) -> Person:
        """Somebody, as Slack knows them; what they are members of is asked where it decides."""
        return await self.directory.person(user)

    async def _inquiry(self, user: str, channel: str | None) -> Inquiry:
        """What decides about *user* in *channel*, or about what they may in some channel where none is named."""
        place = Channel("") if channel is None else await self.directory.place(channel)
        return Inquiry(self.directory, self.policy(), await self.directory.person(user), place)

    async def require_member(self, user: str) -> None:
        """Return where *user* is a full member of the workspace: nobody else can use Gatehouse, not even its help.

        Raises NotAllowed or DirectoryUnavailable.
        """
        if (why := (await self.person(user)).barred) is not None:
            raise NotAllowed(why, "use", user)

    async def require(self, operation: str, user: str, channel: str) -> None:
        """Return where *user* may do *operation* in *channel*; raises NotAllowed or DirectoryUnavailable."""
        if (why := await self.refusal(operation, user, channel)) is not None:
            raise NotAllowed(why, operation, user, roles=self._roles_for(operation), channel=channel)

    async def require_any(self, operations: Sequence[str], user: str, channel: str) -> None:
        """Return where *user* may do at least one of *operations* in *channel*; raises as `require` does, for the first."""
        for operation in operations:
            if await self.refusal(operation, user, channel) is None:
                return
        await self.require(operations[0], user, channel)

    async def require_all(self, change: Change, user: str) -> None:
        """Return where *user* may ask for all of *change* in its channel now; raises as `require` does."""
        for operation in change.operations:
            await self.require(operation, user, change.request.channel)

    async def require_somewhere(self, operation: str, user: str) -> None:
        """Return where *user* may do *operation* in some channel, to be chosen yet; raises as `require` does."""
        about = await self._inquiry(user, None)
        why = await about.judge(
            lambda person: about.policy.refusal_anywhere(operation, person), self._roles_for(operation)
        )
        if why is not None:
            raise NotAllowed(why, operation, user, roles=self._roles_for(operation))

    async def refusal(self, operation: str, user: str, channel: str) -> Why | None:
        return await self._refusal(operation, await self._inquiry(user, channel))

    async def _refusal(self, operation: str, about: Inquiry) -> Why | None:
        def verdict(person: Person) -> Why | None:
            return about.policy.refusal(operation, person, about.place)

        return await about.judge(verdict, self._roles_for(operation))

    async def all(self, user: str, channel: str) -> Mapping[str, Why | None]:
        """Every operation, and why not where not; what Slack does not say the facts of is refused as well."""
        about = await self._inquiry(user, channel)
        found: dict[str, Why | None] = {}
        for operation in OPERATIONS:
            try:
                found[operation] = await self._refusal(operation, about)
            except DirectoryUnavailable:
                found[operation] = Why.CANT_TELL
        return found

    async def guard(self, operation: str, site: str | None, requester: str, channel: str) -> GuardRule:
        """What stands before *operation*, here and now: never APPROVE_OR_CONFIRM, that is decided here.

        Raises NobodyCanApprove where too few people could.
        """
        rule = self.policy().guard_for(operation, site)
        if rule.guard not in {Guard.APPROVE, Guard.APPROVE_OR_CONFIRM} or rule.self_approval:
            return (
                rule if rule.guard is not Guard.APPROVE_OR_CONFIRM else rule.model_copy(update={"guard": Guard.CONFIRM})
            )
        found = await self._approvers(rule, requester, channel)
        if found >= rule.approvals:
            return rule.model_copy(update={"guard": Guard.APPROVE})
        if rule.guard is Guard.APPROVE_OR_CONFIRM and not found:
            return rule.model_copy(update={"guard": Guard.CONFIRM})
        raise NobodyCanApprove(operation, rule.approvals, found, rule.approvers or self._roles_for(APPROVE))

    async def guard_of_all(self, wanted: Collection[Need], requester: str, channel: str) -> GuardRule:
        """What stands before all that is *wanted* as one decision: no less than before each of it alone.

        Raises NobodyCanApprove where too few people could approve all of it, and Irreconcilable.
        """
        ordered = sorted(wanted, key=lambda each: (each[0], each[1] or ""))
        rules = [await self.guard(operation, site, requester, channel) for operation, site in ordered]
        rule = strictest(rules)
        if rule.guard is Guard.APPROVE and not rule.self_approval and rule not in rules:
            found = await self._approvers(rule, requester, channel)
            if found < rule.approvals:
                raise NobodyCanApprove(ordered[0][0], rule.approvals, found, rule.approvers or self._roles_for(APPROVE))
        return rule

    async def _approvers(self, rule: GuardRule, requester: str, channel: str) -> int:
        """How many could approve, as far as it matters: looking ends when there are enough.

        Enough as well where not everybody was looked at: one of the others may be able to.
        Raises DirectoryUnavailable where there are too few, and Slack did not say of some whether they could.
        """
        asker, found = await self.person(requester), 0
        able: list[str] = []
        candidates, silent = await self._candidates(rule, channel)
        for user in candidates[:MAX_CANDIDATES]:
            try:
                if user != requester and await self._eligible(rule.approvers, user, channel, asker):
                    able.append(user)
                    found = await self.people(able)
            except DirectoryUnavailable as error:
                silent.append(error)
            if found >= rule.approvals:
                return found
            if len(silent) > MAX_UNANSWERED:
                break
        if silent:
            raise silent[0]
        return found if len(candidates) <= MAX_CANDIDATES else max(found, rule.approvals)

    async def stricter(self, change: Change) -> Mapping[str, Any]:
        """Those fields of an open *change* for which the policy has become stricter since it was asked for.

        Raises Irreconcilable where those who could approve then and those who can now have nobody in common.
        """
        try:
            now = await self.guard_of_all(change.needs, change.request.requester, change.request.channel)
        except NobodyCanApprove:  # somebody may come
            rules = [self.policy().guard_for(operation, site) for operation, site in change.needs]
            now = strictest(rules).model_copy(update={"guard": Guard.APPROVE})
        then = GuardRule(
            operation="*",
            guard=change.decision.guard,
            approvals=change.decision.approvals_needed,
            approvers=change.decision.approvers,
            self_approval=change.decision.self_approval,
            break_glass=change.decision.break_glass,
        )
        both = strictest([then, now])
        fields: dict[str, Any] = {
            "guard": both.guard,
            "approvals_needed": both.approvals,
            "approvers": both.approvers,
            "self_approval": both.self_approval and change.decision.self_approval,
            "break_glass": both.break_glass,
        }
        if both.approvers != change.decision.approvers:
            fields["summoned"] = self.named(both.approvers)
        return {name: value for name, value in fields.items() if value != getattr(change.decision, name)}

    async def people(self, users: Sequence[str]) -> int:
        """How many people these accounts are: two of one mailbox are one."""
        known: list[Person] = []
        for person in [await self.person(user) for user in users]:
            known += [] if any(person.same_as(other) for other in known) else [person]
        return len(known)

    async def _candidates(self, rule: GuardRule, channel: str) -> tuple[Sequence[str], list[DirectoryUnavailable]]:
        """Who may be able to approve, those that the roles name first; and of which groups Slack did not tell."""
        here = list(await self.directory.people_in(channel))
        named: list[str] = []
        silent: list[DirectoryUnavailable] = []
        for name in rule.approvers:
            role = self.policy().roles[name]
            named += role.users
            for group in role.groups:
                try:
                    named += sorted(await self.directory.group(group))
                except DirectoryUnavailable as error:
                    silent.append(error)
        return list(dict.fromkeys([*named, *here])), silent

    async def _eligible(self, approvers: Sequence[str], user: str, channel: str, asker: Person) -> bool:
        about = await self._inquiry(user, channel)
        return not about.person.same_as(asker) and await self._approve_refusal(approvers, about) is None

    async def _approve_refusal(self, approvers: Sequence[str], about: Inquiry) -> Why | None:
        def verdict(person: Person) -> Why | None:
            return about.policy.approve_refusal(approvers, person, about.place)

        return await about.judge(verdict, approvers or self._roles_for(APPROVE))

    async def require_approver(self, change: Change, user: str, channel: str) -> None:
        """Return where *user* may approve *change* now; raises NotAllowed or DirectoryUnavailable."""
        about = await self._inquiry(user, channel)
        why = await self._approve_refusal(change.decision.approvers, about)
        if why is None and not change.decision.self_approval:
            asker = await self.person(change.request.requester)
            why = Why.OWN_REQUEST if about.person.same_as(asker) else None
        if why is not None:
            roles = change.decision.approvers or self._roles_for(APPROVE)
            raise NotAllowed(why, APPROVE, user, roles=roles, channel=channel)

    async def require_reviewer(self, change: Change, user: str) -> None:
        """Return where *user* may review what somebody did alone; raises NotAllowed or DirectoryUnavailable."""
        alone = change.changed(requester=change.decision.decided_by, self_approval=False)
        await self.require_approver(alone, user, change.request.channel)

    async def require_break_glass(self, change: Change, user: str, channel: str) -> None:
        """Return where *user* may go ahead with *change* alone; raises NotAllowed or DirectoryUnavailable."""
        about = await self._inquiry(user, channel)

        def verdict(person: Person) -> Why | None:
            return None if about.policy.holds_any(change.decision.break_glass, person, about.place) else Why.NO_ROLE

        refusals = [await self._refusal(operation, about) for operation in change.operations]
        why = next((why for why in refusals if why is not None), None) or await about.judge(
            verdict, change.decision.break_glass
        )
        if why is not None:
            raise NotAllowed(why, "break-glass", user, roles=change.decision.break_glass, channel=channel)

    async def look_at_groups(self) -> None:
        """Ask for every user group of the policy, so that the directory knows which are missing; an outage says nothing."""
        for group in sorted(self.policy().groups):
            with suppress(DirectoryUnavailable):
                await self.directory.group(group)

    async def require_still(self, change: Change) -> None:
        """Return where who asked for *change* and enough of those who decided about it still may; raises as `require` does."""
        await self.require_all(change, change.request.requester)
        if change.decision.glass_broken:
            await self.require_break_glass(change, change.decision.decided_by or "", change.request.channel)
            return
        lost: list[NotAllowed | DirectoryUnavailable] = []
        able: list[str] = []
        for given in change.decision.approvals:
            try:
                await self.require_approver(change, given.by, change.request.channel)
                able.append(given.by)
            except (NotAllowed, DirectoryUnavailable) as error:
                lost.append(error)
        if lost and await self.people(able) < change.decision.approvals_needed:
            raise next((error for error in lost if isinstance(error, DirectoryUnavailable)), lost[0])

    def guards(self) -> Mapping[str, GuardRule]:
        """What stands before each kind of change, where no site has a rule of its own."""
        return {kind.value: self.policy().guard_for(kind.operation, None) for kind in Kind}

    def act_in(self) -> tuple[str, ...]:
        """The channels that the policy names for changes; none where it leaves that to where the bot was added."""
        return self.policy().channels.act

    async def summoned(self, rule: GuardRule, requester: str, channel: str) -> tuple[str, ...]:
        """Whom a request mentions: whom the policy names to approve it, else some people of the channel who could.

        Never its requester, nor somebody whom Slack says can't decide. Who can't be looked up isn't mentioned.
        """
        if rule.guard is not Guard.APPROVE:
            return ()
        if named := self.named(rule.approvers):
            return tuple([each for each in named if each != requester and not await self._is_barred(each)])
        able: list[str] = []
        with suppress(DirectoryUnavailable):
            asker = await self.person(requester)
            candidates, _ = await self._candidates(rule, channel)
            for user in candidates[:MAX_LOOKED_UP_TO_MENTION]:
                if user != requester and await self._eligible(rule.approvers, user, channel, asker):
                    able.append(user)
                if len(able) == MAX_MENTIONED:
                    break
        return tuple(able)

    async def _is_barred(self, who: str) -> bool:
        """Whether Slack says that *who*, a person or a user group, is nobody who may use Gatehouse."""
        with suppress(DirectoryUnavailable):
            return not who.startswith("S") and (await self.person(who)).barred is not None
        return False

    def named(self, roles: Sequence[str]) -> tuple[str, ...]:
        """The ids of the people and groups that *roles* name: those who are asked by name."""
        known = [self.policy().roles[name] for name in roles if name in self.policy().roles]
        return tuple(dict.fromkeys(each for role in known for each in (*role.users, *role.groups)))

    def _roles_for(self, operation: str) -> tuple[str, ...]:
        return tuple(name for name, role in self.policy().roles.items() if role.allows(operation))
