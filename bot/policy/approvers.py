"""Find those who could approve a request, to know whether there are enough, and whom it mentions."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final

from bot.changes.model.parts import Guard
from bot.policy.inquiry import Directory, DirectoryUnavailable, count_people, inquire, is_same_person
from bot.policy.model import GuardRule, Policy

MAX_UNANSWERED: Final = 3
"""How many lookups of approvers may go unanswered by Slack before no more are made."""
MAX_CANDIDATES: Final = 200
"""How many people of a channel are checked to find those who could approve."""
MAX_MENTIONED: Final = 5
"""How many people a request mentions where the policy names nobody."""
MAX_LOOKED_UP_TO_MENTION: Final = 10
"""How many people of a channel are looked up to find the people to mention."""


class NobodyCanApprove(Exception):
    """The request could never be approved here: *needed* people with the right are required, *found* are there."""

    def __init__(self, operation: str, needed: int, found: int, roles: Sequence[str]) -> None:
        super().__init__(operation)
        self.operation = operation
        self.needed = needed
        self.found = found
        self.roles = tuple(roles)


@dataclass(slots=True)
class Approvers:
    """Finds those who could approve what *requester* asks for in *channel*; looks each of them up once."""

    directory: Directory
    policy: Policy
    requester: str
    channel: str
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
                    found = await count_people(self.directory, able)
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

    async def require_enough(self, rule: GuardRule, operation: str) -> None:
        """Require that enough people could approve under *rule*; raises NobodyCanApprove, or as `count` does."""
        if (found := await self.count(rule)) < rule.approvals:
            raise NobodyCanApprove(operation, rule.approvals, found, self.policy.approving_roles(rule))

    async def people_to_mention(self, rule: GuardRule) -> tuple[str, ...]:
        """Return whom a request under *rule* mentions: the approvers that the policy names, else some of the channel who could.

        Never its requester, nor anyone who can't decide according to Slack. People who can't be looked up aren't mentioned.
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
        """Return who may be able to approve, those that the roles name first; and the failed lookups of groups."""
        here = list(await self.directory.people_in(self.channel))
        named: list[str] = []
        silent: list[DirectoryUnavailable] = []
        for role in self.policy.roles_called(rule.approvers):
            named += role.users
            for group in role.groups:
                try:
                    named += sorted(await self.directory.group(group))
                except DirectoryUnavailable as error:
                    silent.append(error)
        return list(dict.fromkeys([*named, *here])), silent

    async def _is_able(self, approvers: tuple[str, ...], user: str) -> bool:
        """Whether *user* could approve what takes one of the roles *approvers*; raises DirectoryUnavailable."""
        if (approvers, user) not in self._looked_at:
            try:
                self._looked_at[approvers, user] = user != self.requester and await self._is_approver(approvers, user)
            except DirectoryUnavailable as error:
                # Failures are remembered, too: waiting again for a Slack that doesn't answer would take too long.
                self._looked_at[approvers, user] = error
        found = self._looked_at[approvers, user]
        if isinstance(found, DirectoryUnavailable):
            raise found
        return found

    async def _is_approver(self, approvers: tuple[str, ...], user: str) -> bool:
        about = await inquire(self.directory, self.policy, user, self.channel)
        if await about.approve_refusal(approvers) is not None:
            return False
        return not is_same_person(about.person, await self.directory.person(self.requester))

    async def _is_barred(self, who: str) -> bool:
        """Whether *who*, a person or a user group, can't use Gatehouse according to Slack."""
        with suppress(DirectoryUnavailable):
            # The ids of user groups begin with S.
            return not who.startswith("S") and (await self.directory.person(who)).barred is not None
        return False
