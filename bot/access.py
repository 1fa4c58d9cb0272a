"""Who may do this here, asked at every step: at the request, at the click, and before the service is called.

What Slack says of people and places comes from a Directory; what follows from it is the policy's. Where Slack
cannot be asked, nobody may.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from bot.domain.change import Change, Guard, Kind
from bot.domain.policy import APPROVE, OPERATIONS, GuardRule, Person, Place, Policy, Why, strictest

MOST_LOOKED_AT = 200
"""People of a channel that are looked at for somebody who could approve."""


class DirectoryUnavailable(Exception):
    """Slack did not say who somebody is or what a channel is. *asked*: what about; *code*: Slack's word, if any."""

    def __init__(self, asked: str, code: str = "") -> None:
        super().__init__(f"{asked}: {code}" if code else asked)
        self.asked = asked
        self.code = code


class Directory(Protocol):
    """What Slack knows. Every method raises DirectoryUnavailable; answers may be up to a minute old."""

    async def person(self, user: str) -> Person:
        """Somebody, without their groups."""

    async def place(self, channel: str) -> Place:
        """A channel, as it is now."""

    async def people_in(self, channel: str) -> Sequence[str]:
        """The ids of everybody in a channel, bots and guests too."""

    async def group(self, group: str) -> frozenset[str]:
        """The ids of the people of a user group."""


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

    def __init__(self, kind: Kind, needed: int, found: int, roles: Sequence[str]) -> None:
        super().__init__(kind)
        self.kind = kind
        self.needed = needed
        self.found = found
        self.roles = tuple(roles)


@dataclass(frozen=True, slots=True)
class Access:
    """The policy in force, applied to what Slack says now."""

    policy: Callable[[], Policy]
    directory: Directory

    async def person(self, user: str) -> Person:
        """Somebody, with those of their groups that the policy names."""
        found = await self.directory.person(user)
        if found.barred is not None:
            return found
        groups = [group for group in self.policy().groups if user in await self.directory.group(group)]
        return replace(found, groups=frozenset(groups))

    async def require(self, operation: str, user: str, channel: str) -> None:
        """Return where *user* may do *operation* in *channel*; raises NotAllowed or DirectoryUnavailable."""
        if (why := await self.refusal(operation, user, channel)) is not None:
            raise NotAllowed(why, operation, user, roles=self._roles_for(operation), channel=channel)

    async def require_all(self, change: Change, user: str) -> None:
        """Return where *user* may ask for all of *change* in its channel now; raises as `require` does."""
        for operation in change.operations:
            await self.require(operation, user, change.channel)

    async def require_somewhere(self, operation: str, user: str) -> None:
        """Return where *user* may do *operation* in some channel, to be chosen yet; raises as `require` does."""
        if (why := self.policy().refusal_anywhere(operation, await self.person(user))) is not None:
            raise NotAllowed(why, operation, user, roles=self._roles_for(operation))

    async def refusal(self, operation: str, user: str, channel: str) -> Why | None:
        return self.policy().refusal(operation, await self.person(user), await self.directory.place(channel))

    async def all(self, user: str, channel: str) -> Mapping[str, Why | None]:
        """Every operation, and why not where not."""
        person, place = await self.person(user), await self.directory.place(channel)
        return {operation: self.policy().refusal(operation, person, place) for operation in OPERATIONS}

    async def guard(self, kind: Kind, site: str | None, requester: str, channel: str) -> GuardRule:
        """What stands before this change, here and now: never APPROVE_OR_CONFIRM, that is decided here.

        Raises NobodyCanApprove where too few people could.
        """
        rule = self.policy().guard_for(kind, site)
        if rule.guard not in {Guard.APPROVE, Guard.APPROVE_OR_CONFIRM} or rule.self_approval:
            return (
                rule if rule.guard is not Guard.APPROVE_OR_CONFIRM else rule.model_copy(update={"guard": Guard.CONFIRM})
            )
        found = await self._approvers(rule, requester, channel)
        if found >= rule.approvals:
            return rule.model_copy(update={"guard": Guard.APPROVE})
        if rule.guard is Guard.APPROVE_OR_CONFIRM and not found:
            return rule.model_copy(update={"guard": Guard.CONFIRM})
        raise NobodyCanApprove(kind, rule.approvals, found, rule.approvers or self._roles_for(APPROVE))

    async def guard_of_all(
        self, wanted: Collection[tuple[Kind, str | None]], requester: str, channel: str
    ) -> GuardRule:
        """What stands before all these kinds and sites as one decision: no less than before each of them alone.

        Raises NobodyCanApprove where too few people could approve all of it, and Irreconcilable.
        """
        ordered = sorted(wanted, key=lambda each: (each[0], each[1] or ""))
        rules = [await self.guard(kind, site, requester, channel) for kind, site in ordered]
        rule = strictest(rules)
        if rule.guard is Guard.APPROVE and not rule.self_approval and rule not in rules:
            found = await self._approvers(rule, requester, channel)
            if found < rule.approvals:
                raise NobodyCanApprove(ordered[0][0], rule.approvals, found, rule.approvers or self._roles_for(APPROVE))
        return rule

    async def _approvers(self, rule: GuardRule, requester: str, channel: str) -> int:
        """How many could approve, as far as it matters: looking ends when there are enough."""
        asker, found = await self.person(requester), 0
        able: list[str] = []
        for user in (await self._candidates(rule, channel))[:MOST_LOOKED_AT]:
            if user != requester and await self._eligible(rule.approvers, user, channel, asker):
                able.append(user)
                found = await self.people(able)
            if found >= rule.approvals:
                break
        return found

    async def people(self, users: Sequence[str]) -> int:
        """How many people these accounts are: two of one mailbox are one."""
        known: list[Person] = []
        for person in [await self.person(user) for user in users]:
            known += [] if any(person.same_as(other) for other in known) else [person]
        return len(known)

    async def _candidates(self, rule: GuardRule, channel: str) -> Sequence[str]:
        here = list(await self.directory.people_in(channel))
        named: list[str] = []
        for name in rule.approvers:
            role = self.policy().roles[name]
            named += role.users
            for group in role.groups:
                named += sorted(await self.directory.group(group))
        return list(dict.fromkeys([*named, *here]))

    async def _eligible(self, approvers: Sequence[str], user: str, channel: str, asker: Person) -> bool:
        person = await self.person(user)
        return not person.same_as(asker) and await self._approve_refusal(approvers, person, channel) is None

    async def _approve_refusal(self, approvers: Sequence[str], person: Person, channel: str) -> Why | None:
        place, policy = await self.directory.place(channel), self.policy()
        if (why := policy.refusal(APPROVE, person, place)) is not None and not (approvers and why is Why.NO_ROLE):
            return why
        if approvers and not policy.holds_any(approvers, person, place):
            return Why.NO_ROLE
        by_name = any(policy.roles[name].held_by(person, Place("")) for name in approvers if name in policy.roles)
        return None if by_name or person.id in await self.directory.people_in(channel) else Why.NOT_HERE

    async def require_approver(self, change: Change, user: str, channel: str) -> None:
        """Return where *user* may approve *change* now; raises NotAllowed or DirectoryUnavailable."""
        person = await self.person(user)
        why = await self._approve_refusal(change.approvers, person, channel)
        if why is None and not change.self_approval and person.same_as(await self.person(change.requester)):
            why = Why.OWN_REQUEST
        if why is not None:
            roles = change.approvers or self._roles_for(APPROVE)
            raise NotAllowed(why, APPROVE, user, roles=roles, channel=channel)

    async def require_reviewer(self, change: Change, user: str) -> None:
        """Return where *user* may review what somebody did alone; raises NotAllowed or DirectoryUnavailable."""
        alone = change.model_copy(update={"requester": change.decided_by, "self_approval": False})
        await self.require_approver(alone, user, change.channel)

    async def require_glass(self, change: Change, user: str, channel: str) -> None:
        """Return where *user* may go ahead with *change* alone; raises NotAllowed or DirectoryUnavailable."""
        person, place = await self.person(user), await self.directory.place(channel)
        refusals = (self.policy().refusal(operation, person, place) for operation in change.operations)
        why = next((why for why in refusals if why is not None), None)
        if why is None and not self.policy().holds_any(change.break_glass, person, place):
            why = Why.NO_ROLE
        if why is not None:
            raise NotAllowed(why, "break-glass", user, roles=change.break_glass, channel=channel)

    def guards(self) -> Mapping[str, GuardRule]:
        """What stands before each kind of change, where no site has a rule of its own."""
        return {kind.value: self.policy().guard_for(kind, None) for kind in Kind}

    def act_in(self) -> tuple[str, ...]:
        """The channels that the policy names for changes; none where it leaves that to where the bot was added."""
        return self.policy().channels.act

    def named(self, roles: Sequence[str]) -> tuple[str, ...]:
        """The ids of the people and groups that *roles* name: those who are asked by name."""
        known = [self.policy().roles[name] for name in roles if name in self.policy().roles]
        return tuple(dict.fromkeys(each for role in known for each in (*role.users, *role.groups)))

    def _roles_for(self, operation: str) -> tuple[str, ...]:
        return tuple(name for name, role in self.policy().roles.items() if role.allows(operation))
