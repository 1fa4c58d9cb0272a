"""Check who may do what in a channel, at every step: at the request, at the click, and before the service is called.

What Slack says of people and places comes from a Directory; what follows from it is the policy's. Where Slack
cannot be asked, nobody may. Who is in a channel or a user group is asked only while the answer could still change the
verdict. So a role that somebody has by name needs nothing from Slack, and an outage stops only what depends on it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from bot.changes.model.change import Change
from bot.changes.model.edits import Need
from bot.changes.model.parts import Guard
from bot.policy.approvers import Approvers, NobodyCanApprove
from bot.policy.inquiry import (
    Directory,
    DirectoryUnavailable,
    Inquiry,
    NotAllowed,
    count_people,
    inquire,
    is_same_person,
)
from bot.policy.model import APPROVE, OPERATIONS, GuardRule, Person, Policy, Why, strictest


@dataclass(frozen=True, slots=True)
class Standing:
    """What a change requires here and now: the guard *rule*, and the people whom its request mentions."""

    rule: GuardRule
    summoned: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Access:
    """The current policy, applied to what Slack says now. Each question is answered by one policy, whatever is reloaded."""

    policy: Callable[[], Policy]
    directory: Directory

    async def person(self, user: str) -> Person:
        """Return a person as Slack knows them; their groups and channels are looked up only where they decide."""
        return await self.directory.person(user)

    async def _inquire(self, user: str, channel: str | None) -> Inquiry:
        return await inquire(self.directory, self.policy(), user, channel)

    async def require_member(self, user: str) -> None:
        """Require that *user* is a full member of the workspace: nobody else can use Gatehouse, not even its help.

        Raises NotAllowed or DirectoryUnavailable.
        """
        if (why := (await self.person(user)).barred) is not None:
            raise NotAllowed(why, "use", user)

    async def require(self, operation: str, user: str, channel: str, *, or_else: Sequence[str] = ()) -> None:
        """Require that *user* may do *operation* or one of *or_else* in *channel*; raises NotAllowed or DirectoryUnavailable."""
        about = await self._inquire(user, channel)
        if (why := await about.refusal(operation)) is None:
            return
        for other in or_else:
            if await about.refusal(other) is None:
                return
        raise about.not_allowed(why, operation)

    async def require_all(self, operations: Sequence[str], user: str, channel: str) -> None:
        """Require that *user* may do all of *operations* in *channel*; raises as `require` does."""
        about = await self._inquire(user, channel)
        for operation in operations:
            if (why := await about.refusal(operation)) is not None:
                raise about.not_allowed(why, operation)

    async def require_somewhere(self, operation: str, user: str) -> None:
        """Require that *user* may do *operation* in some channel, which is not chosen yet; raises as `require` does."""
        about = await self._inquire(user, None)
        why = await about.judge(
            lambda person: about.policy.refusal_anywhere(operation, person), about.policy.roles_for(operation)
        )
        if why is not None:
            raise about.not_allowed(why, operation)

    async def refusal(self, operation: str, user: str, channel: str) -> Why | None:
        return await (await self._inquire(user, channel)).refusal(operation)

    async def refusals_by_operation(self, user: str, channel: str) -> Mapping[str, Why | None]:
        """Return why *user* may not do each operation in *channel*, None where they may; what Slack can't tell is refused."""
        about = await self._inquire(user, channel)
        found: dict[str, Why | None] = {}
        for operation in OPERATIONS:
            try:
                found[operation] = await about.refusal(operation)
            except DirectoryUnavailable:
                found[operation] = Why.CANT_TELL
        return found

    async def requirements_for(self, wanted: Collection[Need], requester: str, channel: str) -> Standing:
        """Return what all that is *wanted* requires as one decision, here and now: at least what each of it requires alone.

        Never APPROVE_OR_CONFIRM, that is decided here. Raises NobodyCanApprove where too few people could approve all of
        it, Irreconcilable, and DirectoryUnavailable.
        """
        policy, needs = self.policy(), _sort_needs(wanted)
        approvers = Approvers(self.directory, policy, requester, channel)
        rules = [
            await self._resolve_guard(policy.guard_for(operation, site), operation, approvers)
            for operation, site in needs
        ]
        rule = strictest(rules)
        # Each alone has enough people who could approve; all of them together may have too few.
        if rule.guard is Guard.APPROVE and not rule.self_approval and rule not in rules:
            await approvers.require_enough(rule, needs[0][0])
        return Standing(rule, await approvers.people_to_mention(rule))

    async def _resolve_guard(self, rule: GuardRule, operation: str, approvers: Approvers) -> GuardRule:
        """Return *rule* with APPROVE_OR_CONFIRM replaced by one of the two, depending on whether somebody else could approve.

        Raises NobodyCanApprove where too few people could.
        """
        if rule.guard not in {Guard.APPROVE, Guard.APPROVE_OR_CONFIRM}:
            return rule
        alone = rule.model_copy(update={"guard": Guard.CONFIRM})
        if rule.self_approval:
            return rule if rule.guard is Guard.APPROVE else alone
        try:
            await approvers.require_enough(rule, operation)
        except NobodyCanApprove as error:
            if rule.guard is Guard.APPROVE or error.found:
                raise
            return alone
        return rule.model_copy(update={"guard": Guard.APPROVE})

    def is_own_undo(self, change: Change) -> bool:
        """Whether *change* undoes an act of its own requester, and the policy requires nobody else to agree to that."""
        policy = self.policy()
        rules = (policy.guard_for(operation, site) for operation, site in change.needs)
        return change.request.undoes_own and all(rule.undo_own for rule in rules)

    async def stricter_fields(self, change: Change) -> Mapping[str, Any]:
        """Return the fields of *change* for which the policy has become stricter since it was requested, with their new values.

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

    async def require_approver(self, change: Change, user: str, *, of: str | None = None) -> None:
        """Require that *user* may approve what *of* (default: its requester) asked for with *change*, in its channel, now.

        Raises NotAllowed or DirectoryUnavailable.
        """
        asker = change.request.requester if of is None else of
        approvers = change.decision.approvers
        about = await self._inquire(user, change.request.channel)
        why = await about.approve_refusal(approvers)
        if why is None and not (change.decision.self_approval and of is None):
            why = Why.OWN_REQUEST if is_same_person(about.person, await self.person(asker)) else None
        if why is not None:
            raise about.not_allowed(why, APPROVE, approvers)

    async def require_break_glass(self, change: Change, user: str) -> None:
        """Require that *user* may override the guard of *change* alone; raises NotAllowed or DirectoryUnavailable."""
        about = await self._inquire(user, change.request.channel)
        roles = change.decision.break_glass

        def verdict(person: Person) -> Why | None:
            return None if about.policy.holds_any(roles, person, about.place) else Why.NO_ROLE

        refusals = [await about.refusal(operation) for operation in change.operations]
        why = next((why for why in refusals if why is not None), None) or await about.judge(verdict, roles)
        if why is not None:
            raise NotAllowed(why, "break-glass", user, roles=roles, channel=change.request.channel)

    async def look_at_groups(self) -> None:
        """Look up every user group of the policy, so that the directory knows which are missing; ignores outages of Slack."""
        for group in sorted(self.policy().groups):
            with suppress(DirectoryUnavailable):
                await self.directory.group(group)

    async def require_still_allowed(self, change: Change, *, checked: str = "") -> None:
        """Require that the requester of *change* and enough of its approvers still have their right; raises as `require` does.

        *checked*: a person who was found able to decide about it just now.
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
        if lost and await count_people(self.directory, able) < change.decision.approvals_needed:
            # While an answer is missing, enough of them may still have their right: it can be tried again.
            raise next((error for error in lost if isinstance(error, DirectoryUnavailable)), lost[0])


def _sort_needs(wanted: Collection[Need]) -> Sequence[Need]:
    return sorted(wanted, key=lambda each: (each[0], each[1] or ""))
