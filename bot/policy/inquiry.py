"""Ask Slack about one person at one place: only what could still change the verdict of the policy."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from bot.policy.model import APPROVE, Channel, Person, Policy, Why


class DirectoryUnavailable(Exception):
    """Slack did not say who somebody is or what a channel is. *asked*: what was looked up; *code*: Slack's error code, if any."""

    def __init__(self, asked: str, code: str = "") -> None:
        super().__init__(f"{asked}: {code}" if code else asked)
        self.asked = asked
        self.code = code


class EmailUnknown(DirectoryUnavailable):
    """Slack does not give somebody's email, so it can't be told whether two accounts are one person."""

    def __init__(self) -> None:
        super().__init__("who has which email")


class Directory(Protocol):
    """What Slack knows. Every method raises DirectoryUnavailable; answers may be up to a minute old."""

    async def person(self, user: str) -> Person:
        """Return a person, without their groups and channels."""

    async def place(self, channel: str) -> Channel:
        """Return a channel as it is now."""

    async def people_in(self, channel: str) -> Sequence[str]:
        """Return the ids of everybody in a channel, including bots and guests."""

    async def is_in(self, user: str, channel: str) -> bool:
        """Whether somebody is in a channel."""

    async def group(self, group: str) -> frozenset[str]:
        """Return the ids of the people in a user group; empty where Slack has no such group (any more)."""


class NotAllowed(Exception):
    """*user* may not do *operation*; *why* says so, *roles* who could."""

    def __init__(self, why: Why, operation: str, user: str, *, roles: Sequence[str] = ()) -> None:
        super().__init__(f"{operation}: {why}")
        self.why = why
        self.operation = operation
        self.user = user
        self.roles = tuple(roles)


Verdict = Callable[[Person], Why | None]
"""Returns why a person is refused, by what is known of them so far; None where they are allowed."""


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
        unasked = {self.place.id: {Why.NOT_HERE, *by_place}}
        unasked |= {group: {Why.NO_ROLE} for role in held for group in role.groups}
        failures: list[DirectoryUnavailable] = []
        why = verdict(self.person)
        while (asked := next((each for each, changes in unasked.items() if why in changes), None)) is not None:
            del unasked[asked]
            if (failure := await self._look_up(asked)) is not None:
                failures.append(failure)
            why = verdict(self.person)  # what a group says may make the channel decide
        # Any other verdict stands, whatever Slack would have said.
        if failures and why in {Why.NO_ROLE, Why.NOT_HERE}:
            raise failures[0]
        return why

    async def refusal(self, operation: str) -> Why | None:
        """Return why the person may not do *operation* at the place; None where they may. Raises as `judge` does."""
        return await self.judge(
            lambda person: self.policy.refusal(operation, person, self.place), self.policy.roles_for(operation)
        )

    async def approve_refusal(self, approvers: Sequence[str]) -> Why | None:
        """Return why the person may not approve what needs one of the roles *approvers*, if it names any; None where they may."""
        return await self.judge(
            lambda person: self.policy.approve_refusal(approvers, person, self.place),
            approvers or self.policy.roles_for(APPROVE),
        )

    def not_allowed(self, why: Why, operation: str, roles: Sequence[str] = ()) -> NotAllowed:
        """Return the error that says *why*, and which *roles* are allowed: those with the right, where none are given."""
        able = roles or self.policy.roles_for(operation)
        return NotAllowed(why, operation, self.person.id, roles=able)

    async def _look_up(self, asked: str) -> DirectoryUnavailable | None:
        """Look up once whether the person is in the channel or the group *asked*; return what went wrong."""
        if asked not in self._failures:
            try:
                await self._ask_directory(asked)
                self._failures[asked] = None
            except DirectoryUnavailable as error:
                self._failures[asked] = error
        return self._failures[asked]

    async def _ask_directory(self, asked: str) -> None:
        if asked == self.place.id:
            if await self.directory.is_in(self.person.id, asked):
                self.person = replace(self.person, channels=self.person.channels | {asked})
        elif self.person.id in await self.directory.group(asked):
            self.person = replace(self.person, groups=self.person.groups | {asked})


async def inquire(directory: Directory, policy: Policy, user: str, channel: str | None) -> Inquiry:
    """Return the inquiry about *user* in *channel*; where *channel* is None, about what they may do in some channel."""
    place = Channel("") if channel is None else await directory.place(channel)
    return Inquiry(directory, policy, await directory.person(user), place)


def is_same_person(one: Person, other: Person) -> bool:
    """Whether two accounts are one person's; raises DirectoryUnavailable where Slack doesn't give the email of either."""
    if one.id == other.id:
        return True
    # Without an email, somebody's second account would pass for a second person.
    if not (one.mailbox and other.mailbox):
        raise EmailUnknown
    return one.mailbox == other.mailbox


async def count_people(directory: Directory, users: Sequence[str]) -> int:
    """Return how many people these accounts belong to: two accounts of one mailbox are one person.

    Raises DirectoryUnavailable where Slack doesn't tell whether two of them are one person.
    """
    known: list[Person] = []
    for person in [await directory.person(user) for user in users]:
        known += [] if any(is_same_person(person, other) for other in known) else [person]
    return len(known)
