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

from bot.changes.model.change import Change
from bot.changes.model.edits import Need
from bot.changes.model.parts import Guard
from bot.policy.model import APPROVE, OPERATIONS, Channel, GuardRule, Person, Policy, Why, strictest


class DirectoryUnavailable(Exception):
    """Slack did not say who somebody is or what a channel is. *asked*: what about; *code*: Slack's word, if any."""

    def __init__(self, asked: str, code: str = "") -> None:
        super().__init__(f"{asked}: {code}" if code else asked)
        self.asked = asked
        self.code = code


class EmailUnknown(DirectoryUnavailable):
    """Slack does not tell somebody's email, so nobody can say whether two accounts are one person."""

    def __init__(self) -> None:
        super().__init__("who has which email")


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
        held = self.policy.roles_called(roles)
        by_place = {Why.NO_ROLE} if any(self.place.id in role.channels for role in held) else set()
        groups = dict.fromkeys(group for role in held for group in role.groups)
        unasked: list[tuple[str, Callable[[], Awaitable[None]], set[Why]]] = [
            (self.place.id, self._look_at_place, {Why.NOT_HERE, *by_place}),
            *((group, partial(self._look_at_group, group), {Why.NO_ROLE}) for group in groups),
        ]
        failures: list[DirectoryUnavailable] = []
        why = verdict(self.person)
        while (fact := next((each for each in unasked if why in each[2]), None)) is not None:
            unasked.remove(fact)
            failures += await self._learn(fact[0], fact[1])
            why = verdict(self.person)  # what a group says may make the channel decide
        # Any other verdict stands, whatever Slack would have said.
        if failures and why in {Why.NO_ROLE, Why.NOT_HERE}:
            raise failures[0]
        return why

    async def refusal(self, operation: str) -> Why | None:
        """Why the person may not do *operation* at the place; None where they may. Raises as `judge` does."""
        return await self.judge(
            lambda person: self.policy.refusal(operation, person, self.place), self.policy.roles_for(operation)
        )

    async def approve_refusal(self, approvers: Sequence[str]) -> Why | None:
        """Why the person may not approve what takes one of the roles *approvers*, if it names any."""
        return await self.judge(
            lambda person: self.policy.approve_refusal(approvers, person, self.place),
            approvers or self.policy.roles_for(APPROVE),
        )

    def not_allowed(self, why: Why, operation: str, roles: Sequence[str] = ()) -> NotAllowed:
        """The error that says *why*, and which *roles* could: those with the right, where none are given."""
        able = roles or self.policy.roles_for(operation)
        return NotAllowed(why, operation, self.person.id, roles=able, channel=self.place.id)

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
class Standing:
    """What stands before a change here and now: the *rule*, and whom its request mentions."""

    rule: GuardRule
    summoned: tuple[str, ...] = ()


@dataclass(slots=True)
class Approvers:
    """Looks for those who could approve what *requester* asks for in *channel*; at each of them once."""

    access: Access
    policy: Policy
    requester: str
    channel: str
    _looked_at: dict[tuple[tuple[str, ...], str], bool | DirectoryUnavailable] = field(default_factory=dict)

    async def count(self, rule: GuardRule) -> int:
        """How many could approve under *rule*, as far as it matters: looking ends when there are enough.

        Enough as well where not everybody was looked at: one of the others may be able to.
        Raises DirectoryUnavailable where there are too few, and Slack did not say of some whether they could.
        """
        found = 0
        able: list[str] = []
        candidates, silent = await self._candidates(rule)
        for user in candidates[:MAX_CANDIDATES]:
            try:
                if await self._is_able(rule.approvers, user):
                    able.append(user)
                    found = await self.access.count_people(able)
            except DirectoryUnavailable as error:
                silent.append(error)
            if found >= rule.approvals:
                return found
            # Slack is away rather than silent about these few; each further question may wait for its timeout.
            if len(silent) > MAX_UNANSWERED:
                break
        if silent:
            raise silent[0]
        return found if len(candidates) <= MAX_CANDIDATES else max(found, rule.approvals)

    async def people_to_mention(self, rule: GuardRule) -> tuple[str, ...]:
        """Whom a request under *rule* mentions: whom the policy names to approve it, else some of the channel who could.

        Never its requester, nor somebody whom Slack says can't decide. Who can't be looked up isn't mentioned.
        """
        if rule.guard is not Guard.APPROVE:
            return ()
        if named := self.policy.named_ids(rule.approvers):
            return tuple([each for each in named if each != self.requester and not await self._is_barred(each)])
        able: list[str] = []
        with suppress(DirectoryUnavailable):
            candidates, _ = await self._candidates(rule)
            for user in candidates[:MAX_LOOKED_UP_TO_MENTION]:
                if await self._is_able(rule.approvers, user):
                    able.append(user)
                if len(able) == MAX_MENTIONED:
                    break
        return tuple(able)

    async def _candidates(self, rule: GuardRule) -> tuple[Sequence[str], list[DirectoryUnavailable]]:
        """Who may be able to approve, those that the roles name first; and of which groups Slack did not tell."""
        directory = self.access.directory
        here = list(await directory.people_in(self.channel))
        named: list[str] = []
        silent: list[DirectoryUnavailable] = []
        for role in self.policy.roles_called(rule.approvers):
            named += role.users
            for group in role.groups:
                try:
                    named += sorted(await directory.group(group))
                except DirectoryUnavailable as error:
                    silent.append(error)
        return list(dict.fromkeys([*named, *here])), silent

    async def _is_able(self, approvers: tuple[str, ...], user: str) -> bool:
        """Whether *user* could approve what takes one of the roles *approvers*; raises DirectoryUnavailable."""
        if (approvers, user) not in self._looked_at:
            try:
                self._looked_at[approvers, user] = user != self.requester and await self._is_approver(approvers, user)
            except DirectoryUnavailable as error:
                # Remembered as well: to wait once more for a Slack that doesn't answer would take too long.
                self._looked_at[approvers, user] = error
        found = self._looked_at[approvers, user]
        if isinstance(found, DirectoryUnavailable):
            raise found
        return found

    async def _is_approver(self, approvers: tuple[str, ...], user: str) -> bool:
        about = await self.access.inquiry(user, self.channel, self.policy)
        if await about.approve_refusal(approvers) is not None:
            return False
        return not is_same_person(about.person, await self.access.person(self.requester))

    async def _is_barred(self, who: str) -> bool:
        """Whether Slack says that *who*, a person or a user group, is nobody who may use Gatehouse."""
        with suppress(DirectoryUnavailable):
            # The ids of user groups begin with S.
            return not who.startswith("S") and (await self.access.person(who)).barred is not None
        return False


def is_same_person(one: Person, other: Person) -> bool:
    """Whether two accounts are one person's; raises DirectoryUnavailable where Slack doesn't tell the email of either."""
    if one.id == other.id:
        return True
    # Without an email, somebody's second account would pass for a second person.
    if not (one.mailbox and other.mailbox):
        raise EmailUnknown
    return one.mailbox == other.mailbox


@dataclass(frozen=True, slots=True)
class Access:
    """The current policy, applied to what Slack says now. Each question is answered by one policy, whatever is reloaded."""

    policy: Callable[[], Policy]
    directory: Directory

    async def person(self, user: str) -> Person:
        """Somebody, as Slack knows them; what they are members of is asked where it decides."""
        return await self.directory.person(user)

    async def inquiry(self, user: str, channel: str | None, policy: Policy) -> Inquiry:
        """What decides about *user* in *channel*, or about what they may in some channel where none is named."""
        place = Channel("") if channel is None else await self.directory.place(channel)
        return Inquiry(self.directory, policy, await self.directory.person(user), place)

    async def require_member(self, user: str) -> None:
        """Return where *user* is a full member of the workspace: nobody else can use Gatehouse, not even its help.

        Raises NotAllowed or DirectoryUnavailable.
        """
        if (why := (await self.person(user)).barred) is not None:
            raise NotAllowed(why, "use", user)

    async def require(self, operation: str, user: str, channel: str, *, or_else: Sequence[str] = ()) -> None:
        """Return where *user* may do *operation* in *channel*, or one of *or_else*; raises NotAllowed or DirectoryUnavailable."""
        about = await self.inquiry(user, channel, self.policy())
        if (why := await about.refusal(operation)) is None:
            return
        for other in or_else:
            if await about.refusal(other) is None:
                return
        raise about.not_allowed(why, operation)

    async def require_all(self, operations: Sequence[str], user: str, channel: str) -> None:
        """Return where *user* may do all of *operations* in *channel*; raises as `require` does."""
        about = await self.inquiry(user, channel, self.policy())
        for operation in operations:
            if (why := await about.refusal(operation)) is not None:
                raise about.not_allowed(why, operation)

    async def require_somewhere(self, operation: str, user: str) -> None:
        """Return where *user* may do *operation* in some channel, to be chosen yet; raises as `require` does."""
        about = await self.inquiry(user, None, self.policy())
        why = await about.judge(
            lambda person: about.policy.refusal_anywhere(operation, person), about.policy.roles_for(operation)
        )
        if why is not None:
            raise about.not_allowed(why, operation)

    async def refusal(self, operation: str, user: str, channel: str) -> Why | None:
        return await (await self.inquiry(user, channel, self.policy())).refusal(operation)

    async def refusals_by_operation(self, user: str, channel: str) -> Mapping[str, Why | None]:
        """Why *user* may not do each operation in *channel*, None where they may; what Slack can't tell is refused."""
        about = await self.inquiry(user, channel, self.policy())
        found: dict[str, Why | None] = {}
        for operation in OPERATIONS:
            try:
                found[operation] = await about.refusal(operation)
            except DirectoryUnavailable:
                found[operation] = Why.CANT_TELL
        return found

    async def requirements_for(self, wanted: Collection[Need], requester: str, channel: str) -> Standing:
        """What stands before all that is *wanted* as one decision, here and now: no less than before each of it alone.

        Never APPROVE_OR_CONFIRM, that is decided here. Raises NobodyCanApprove where too few people could approve all of
        it, Irreconcilable, and DirectoryUnavailable.
        """
        policy = self.policy()
        approvers = Approvers(self, policy, requester, channel)
        rules = []
        for operation, site in _sort_needs(wanted):
            rules.append(await self._resolve_guard(policy.guard_for(operation, site), operation, approvers))
        rule = strictest(rules)
        # Each alone has enough people who could approve; all of them together may have too few.
        if rule.guard is Guard.APPROVE and not rule.self_approval and rule not in rules:
            found = await approvers.count(rule)
            if found < rule.approvals:
                raise NobodyCanApprove(_sort_needs(wanted)[0][0], rule.approvals, found, policy.approving_roles(rule))
        return Standing(rule, await approvers.people_to_mention(rule))

    async def _resolve_guard(self, rule: GuardRule, operation: str, approvers: Approvers) -> GuardRule:
        """*rule* where somebody else's click, or the requester's own, was decided on by who there is.

        Raises NobodyCanApprove where too few people could.
        """
        if rule.guard not in {Guard.APPROVE, Guard.APPROVE_OR_CONFIRM}:
            return rule
        alone = rule.model_copy(update={"guard": Guard.CONFIRM})
        if rule.self_approval:
            return rule if rule.guard is Guard.APPROVE else alone
        found = await approvers.count(rule)
        if found >= rule.approvals:
            return rule.model_copy(update={"guard": Guard.APPROVE})
        if rule.guard is Guard.APPROVE_OR_CONFIRM and not found:
            return alone
        raise NobodyCanApprove(operation, rule.approvals, found, approvers.policy.approving_roles(rule))

    def is_own_undo(self, change: Change) -> bool:
        """Whether somebody undoes their own act with *change*, and the policy has nobody else agree to that."""
        policy = self.policy()
        rules = (policy.guard_for(operation, site) for operation, site in change.needs)
        return change.request.undoes_own and all(rule.undo_own for rule in rules)

    async def stricter_fields(self, change: Change) -> Mapping[str, Any]:
        """Those fields of *change* for which the policy has become stricter since it was asked for.

        Where somebody else decides already, nobody is looked for: somebody who could may come.
        Raises Irreconcilable where those who could approve then and those who can now have nobody in common.
        """
        if self.is_own_undo(change):
            return {}
        policy, decision = self.policy(), change.decision
        rules = [policy.guard_for(operation, site) for operation, site in _sort_needs(change.needs)]
        now = strictest(rules)
        # Which of the two it is depends on who could approve now.
        if now.guard is Guard.APPROVE_OR_CONFIRM and decision.guard is not Guard.APPROVE:
            try:
                now = (await self.requirements_for(change.needs, change.request.requester, change.request.channel)).rule
            except NobodyCanApprove:
                now = now.model_copy(update={"guard": Guard.APPROVE})
        then = GuardRule(
            operation="*",
            guard=decision.guard,
            approvals=decision.approvals_needed,
            approvers=decision.approvers,
            self_approval=decision.self_approval,
            break_glass=decision.break_glass,
        )
        both = strictest([then, now])
        fields: dict[str, Any] = {
            "guard": both.guard,
            "approvals_needed": both.approvals,
            "approvers": both.approvers,
            "self_approval": both.self_approval and decision.self_approval,
            "break_glass": both.break_glass,
        }
        if both.approvers != decision.approvers:
            fields["summoned"] = policy.named_ids(both.approvers)
        return {name: value for name, value in fields.items() if value != getattr(decision, name)}

    async def count_people(self, users: Sequence[str]) -> int:
        """How many people these accounts are: two of one mailbox are one.

        Raises DirectoryUnavailable where Slack doesn't tell of two of them whether they are one.
        """
        known: list[Person] = []
        for person in [await self.person(user) for user in users]:
            known += [] if any(is_same_person(person, other) for other in known) else [person]
        return len(known)

    async def require_approver(self, change: Change, user: str, *, of: str | None = None) -> None:
        """Return where *user* may approve what *of* asked for with *change*, in its channel, now; *of* is its requester.

        Raises NotAllowed or DirectoryUnavailable.
        """
        asker = change.request.requester if of is None else of
        approvers = change.decision.approvers
        about = await self.inquiry(user, change.request.channel, self.policy())
        why = await about.approve_refusal(approvers)
        if why is None and not (change.decision.self_approval and of is None):
            why = Why.OWN_REQUEST if is_same_person(about.person, await self.person(asker)) else None
        if why is not None:
            raise about.not_allowed(why, APPROVE, approvers)

    async def require_break_glass(self, change: Change, user: str) -> None:
        """Return where *user* may go ahead with *change* alone; raises NotAllowed or DirectoryUnavailable."""
        about = await self.inquiry(user, change.request.channel, self.policy())
        roles = change.decision.break_glass

        def verdict(person: Person) -> Why | None:
            return None if about.policy.holds_any(roles, person, about.place) else Why.NO_ROLE

        refusals = [await about.refusal(operation) for operation in change.operations]
        why = next((why for why in refusals if why is not None), None) or await about.judge(verdict, roles)
        if why is not None:
            raise NotAllowed(why, "break-glass", user, roles=roles, channel=change.request.channel)

    async def look_at_groups(self) -> None:
        """Ask for every user group of the policy, so that the directory knows which are missing; an outage says nothing."""
        for group in sorted(self.policy().groups):
            with suppress(DirectoryUnavailable):
                await self.directory.group(group)

    async def require_still_allowed(self, change: Change, *, checked: str = "") -> None:
        """Return where who asked for *change* and enough of those who decided about it still may; raises as `require` does.

        *checked*: who was found able to decide about it just now.
        """
        await self.require_all(change.operations, change.request.requester, change.request.channel)
        if change.decision.glass_broken:
            await self.require_break_glass(change, change.decision.decided_by or "")
            return
        lost: list[NotAllowed | DirectoryUnavailable] = []
        able: list[str] = []
        for given in change.decision.approvals:
            try:
                # Asked about a moment ago: Slack need not be asked twice in one click.
                if given.by != checked:
                    await self.require_approver(change, given.by)
                able.append(given.by)
            except (NotAllowed, DirectoryUnavailable) as error:
                lost.append(error)
        if lost and await self.count_people(able) < change.decision.approvals_needed:
            # While an answer is missing, enough of them may still have their right: it can be tried again.
            raise next((error for error in lost if isinstance(error, DirectoryUnavailable)), lost[0])


def _sort_needs(wanted: Collection[Need]) -> Sequence[Need]:
    return sorted(wanted, key=lambda each: (each[0], each[1] or ""))
