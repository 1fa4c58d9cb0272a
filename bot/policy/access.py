"""Check who may do what in a channel, at every step: at the request, at the click, and before the service is called.

What Slack says of people and places comes from a Directory; what follows from it is the policy's. Where Slack
cannot be asked, nobody may. Who is in a channel or a user group is asked only while the answer could still change the
verdict. So a role that somebody has by name needs nothing from Slack, and an outage stops only what depends on it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Final

from bot.changes.model.change import Change
from bot.changes.model.edits import Need
from bot.changes.model.parts import ChangeDecision, Guard
from bot.policy.inquiry import Allowed, Directory, DirectoryUnavailable, Inquiry, NotAllowed, count_people
from bot.policy.model import APPROVE, BREAK_GLASS, OPERATIONS, Act, GuardRule, Policy, Why, strictest

MAX_UNANSWERED: Final = 3
"""How many lookups of approvers may go unanswered by Slack before no more are made."""
GROUPS_SHARED_FOR: Final = timedelta(seconds=10)
"""What begins at the same time shares what Slack says of user groups, which it tells some twenty times a minute."""
MAX_CANDIDATES: Final = 200
"""How many people of a channel are checked to find those who could approve."""
MAX_MENTIONED: Final = 5
"""How many people a request mentions where the policy names nobody."""
MAX_LOOKED_UP_TO_MENTION: Final = 10
"""How many people of a channel are looked up to find the people to mention."""


@dataclass(frozen=True, slots=True)
class Standing:
    """What a change requires here and now: the guard *rule*, and the people whom its request mentions."""

    rule: GuardRule
    summoned: tuple[str, ...] = ()


@dataclass(eq=False)
class NobodyCanApprove(Exception):
    """The request could never be approved here: *needed* people with the right are required, *found* are there."""

    needed: int
    found: int
    roles: Sequence[str]


@dataclass(slots=True)
class Approvers:
    """Finds those who could approve what *requester* asks for in *channel*; looks each of them up once."""

    access: Access
    requester: str
    channel: str
    wanted: Collection[Need]
    _looked_at: dict[tuple[tuple[str, ...], str], bool | DirectoryUnavailable] = field(default_factory=dict)

    async def count(self, rule: GuardRule) -> int:
        """Return how many people could approve under *rule*; counting stops when there are enough.

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
                    found = await count_people(self.access.directory, able)
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

    async def require_enough(self, rule: GuardRule) -> None:
        """Require that enough people could approve under *rule*; raises NobodyCanApprove, or as `count` does."""
        if (found := await self.count(rule)) < rule.approvals:
            roles = rule.approvers or self.access.policy().roles_for(APPROVE)
            raise NobodyCanApprove(rule.approvals, found, roles)

    async def people_to_mention(self, rule: GuardRule) -> tuple[str, ...]:
        """Return whom a request under *rule* mentions: whom the policy names for that, or as approvers, else some who could.

        Never its requester, nor anyone who can't decide according to Slack. People who can't be looked up aren't mentioned.
        """
        if rule.guard is not Guard.APPROVE:
            return ()
        named = self.access.policy().named_ids(rule.approvers if rule.notify is None else rule.notify)
        if named or rule.notify is not None:
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
        """Return who may be able to approve, those that the roles name first; and the failed lookups of groups."""
        here = list(await self.access.directory.people_in(self.channel))
        named: list[str] = []
        silent: list[DirectoryUnavailable] = []
        for role in self.access.policy().roles_called(rule.approvers):
            named += role.users
            for group in role.groups:
                try:
                    named += sorted(await self.access.directory.group(group))
                except DirectoryUnavailable as error:
                    silent.append(error)
        return list(dict.fromkeys([*named, *here])), silent

    async def _is_able(self, approvers: tuple[str, ...], user: str) -> bool:
        """Whether *user* could approve what takes one of the roles *approvers*; raises DirectoryUnavailable."""
        if (approvers, user) not in self._looked_at:
            try:
                acts = acts_of_approval(self.wanted, approvers, self.requester)
                self._looked_at[approvers, user] = await self.access.is_allowed(user, self.channel, *acts)
            except DirectoryUnavailable as error:
                # Failures are remembered, too: waiting again for a Slack that doesn't answer would take too long.
                self._looked_at[approvers, user] = error
        found = self._looked_at[approvers, user]
        if isinstance(found, DirectoryUnavailable):
            raise found
        return found

    async def _is_barred(self, who: str) -> bool:
        """Whether *who*, a person or a user group, can't use Gatehouse according to Slack."""
        with suppress(DirectoryUnavailable):
            # The ids of user groups begin with S.
            return not who.startswith("S") and (await self.access.directory.person(who)).barred is not None
        return False


@dataclass(frozen=True, slots=True)
class Access:
    """The current policy, applied to what Slack says now. Each question is answered by one policy, whatever is reloaded."""

    policy: Callable[[], Policy]
    directory: Directory

    async def may(
        self, user: str, channel: str | None, *acts: Act | Need | str, since: datetime | None = None
    ) -> Allowed | NotAllowed:
        """Return whether *user* may do all of *acts* in *channel*, or each somewhere, where that is None.

        An operation of the policy is an act, too. Without acts: whether they may use Gatehouse at all.
        *since*: user groups count as they are since then, for what is done at once and for good.
        Raises DirectoryUnavailable.
        """
        policy = self.policy()
        place = None if channel is None else await self.directory.place(channel)
        about = Inquiry(self.directory, policy, await self.directory.person(user), place, since)
        for act in [each if isinstance(each, Act) else Act.of(each) for each in acts] or [Act(())]:
            if (why := await about.judge(act)) is not None:
                return NotAllowed(why, next(iter(act.operations), "use"), user, roles=policy.roles_that_may(act))
        return Allowed()

    async def require(
        self, user: str, channel: str | None, *acts: Act | Need | str, since: datetime | None = None
    ) -> None:
        """Require what `may` answers; raises NotAllowed or DirectoryUnavailable."""
        answer = await self.may(user, channel, *acts, since=since)
        if isinstance(answer, NotAllowed):
            raise answer

    async def is_allowed(
        self, user: str, channel: str | None, *acts: Act | Need | str, since: datetime | None = None
    ) -> bool:
        """Whether `may` allows it; raises DirectoryUnavailable."""
        return isinstance(await self.may(user, channel, *acts, since=since), Allowed)

    async def refusals_by_operation(self, user: str, channel: str) -> Mapping[str, Why | None]:
        """Return why *user* may not do each operation in *channel*, None where they may; what Slack can't tell is refused."""
        about = Inquiry(
            self.directory, self.policy(), await self.directory.person(user), await self.directory.place(channel)
        )
        found: dict[str, Why | None] = {}
        for operation in OPERATIONS:
            try:
                found[operation] = await about.judge(Act((operation,)))
            except DirectoryUnavailable:
                found[operation] = Why.CANT_TELL
        return found

    async def requirements_for(self, wanted: Collection[Need], requester: str, channel: str) -> Standing:
        """Return what all that is *wanted* requires as one decision, here and now: at least what each of it requires alone.

        Never APPROVE_OR_CONFIRM, that is decided here. Raises NobodyCanApprove where too few people could approve all of
        it, Irreconcilable, and DirectoryUnavailable.
        """
        policy = self.policy()
        # What the policy says must not change between two looks.
        approvers = Approvers(replace(self, policy=lambda: policy), requester, channel, wanted)
        rules = [await self._resolve_guard(rule, approvers) for rule in policy.guards_for(*wanted)]
        rule = strictest(rules)
        # Each alone has enough people who could approve; all of them together may have too few.
        if rule.guard is Guard.APPROVE and not rule.self_approval and rule not in rules:
            await approvers.require_enough(rule)
        return Standing(rule, await approvers.people_to_mention(rule))

    async def _resolve_guard(self, rule: GuardRule, approvers: Approvers) -> GuardRule:
        """Return *rule* with APPROVE_OR_CONFIRM replaced by one of the two, depending on whether somebody else could approve.

        Raises NobodyCanApprove where too few people could.
        """
        if rule.guard not in {Guard.APPROVE, Guard.APPROVE_OR_CONFIRM}:
            return rule
        alone = rule.model_copy(update={"guard": Guard.CONFIRM})
        if rule.self_approval:
            return rule if rule.guard is Guard.APPROVE else alone
        try:
            await approvers.require_enough(rule)
        except NobodyCanApprove as error:
            if rule.guard is Guard.APPROVE or error.found:
                raise
            return alone
        return rule.model_copy(update={"guard": Guard.APPROVE})

    def link_reason(self, change: Change) -> str:
        """Return the URL of what the reason of *change* names, empty for none; raises ReasonRequired.

        What undoes another change has its reason in that.
        """
        rules = self.policy().guards_for(*change.needs) if change.request.cause is None else ()
        return next(filter(None, [rule.link_of(change.request.reason) for rule in rules]), "")

    def is_own_undo(self, change: Change) -> bool:
        """Whether *change* undoes an act of its own requester, and the policy requires nobody else to agree to that."""
        return change.request.undoes_own and all(rule.undo_own for rule in self.policy().guards_for(*change.needs))

    async def stricter_decision(self, change: Change) -> ChangeDecision:
        """Return the decision about *change* with all that the policy requires of it more than at its request.

        Where somebody else decides already, nobody is looked for: somebody who could may come.
        Raises Irreconcilable where those who could approve then and those who can now have nobody in common.
        """
        if self.is_own_undo(change):
            return change.decision
        policy, decision = self.policy(), change.decision
        now = strictest(policy.guards_for(*change.needs))
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
        is_same = both.approvers == decision.approvers
        summoned = decision.summoned if is_same else policy.named_ids(both.approvers)
        found = replace(both.decision, approvers_summoned=decision.approvers_summoned or not is_same)
        return decision.with_requirements_of(replace(found, summoned=summoned))

    async def look_at_groups(self) -> None:
        """Look up every user group of the policy, so that the directory knows which are missing; ignores outages of Slack."""
        for group in sorted(self.policy().groups):
            with suppress(DirectoryUnavailable):
                await self.directory.group(group)

    async def require_still_allowed(self, change: Change, since: datetime) -> None:
        """Require that the requester of *change* and enough of its approvers still have their right.

        *since*: as for `may`. Raises as `require` does.
        """
        channel, decision = change.request.channel, change.decision
        await self.require(change.request.requester, channel, *change.needs, since=since)
        if decision.glass_broken:
            await self.require(decision.decided_by or "", channel, *override_of(change), since=since)
            return
        lost: list[NotAllowed | DirectoryUnavailable] = []
        able: list[str] = []
        for given in decision.approvals:
            try:
                await self.require(given.by, channel, *approval_of(change), since=since)
                able.append(given.by)
            except (NotAllowed, DirectoryUnavailable) as error:
                lost.append(error)
        if lost and await count_people(self.directory, able) < decision.approvals_needed:
            # While an answer is missing, enough of them may still have their right: it can be tried again.
            raise next((error for error in lost if isinstance(error, DirectoryUnavailable)), lost[0])


def acts_of_approval(wanted: Iterable[Need], approvers: tuple[str, ...], requester: str) -> Sequence[Act]:
    """Return the acts of approving what is *wanted*: those who have the roles *approvers* may, else who may approve all of it."""
    if approvers:
        return [Act((APPROVE,), approvers, requester)]
    return [Act((APPROVE,), None, requester, each) for each in wanted] or [Act((APPROVE,), None, requester)]


def approval_of(change: Change) -> Sequence[Act]:
    """Return the acts of approving *change*."""
    decision = change.decision
    return acts_of_approval(
        change.needs, decision.approvers, "" if decision.self_approval else change.request.requester
    )


def override_of(change: Change) -> Sequence[Act | Need]:
    """Return the acts of overriding the guard of *change* alone."""
    return [*change.needs, Act((BREAK_GLASS,), change.decision.break_glass)]
