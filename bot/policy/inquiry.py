"""Ask Slack about one person at one place: only what could still change the verdict of the policy."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Protocol

from bot.policy.model import Act, Channel, Person, Policy, Why


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

    async def group(self, group: str, since: datetime | None = None) -> frozenset[str]:
        """Return the ids of the people in a user group, at *since* or later; empty where Slack has no such group (any more)."""


@dataclass(frozen=True, slots=True)
class Allowed:
    """The answer that somebody may do what was asked about."""


class NotAllowed(Exception):
    """*user* may not do *operation*; *why* says so, *roles* who could."""

    def __init__(self, why: Why, operation: str, user: str, *, roles: Sequence[str] = ()) -> None:
        super().__init__(f"{operation}: {why}")
        self.why = why
        self.operation = operation
        self.user = user
        self.roles = tuple(roles)


@dataclass(slots=True)
class Inquiry:
    """What Slack has said so far about *person* with regard to *place*, or to any channel where that is None.

    *since*: user groups are looked up again that were looked up before.
    """

    directory: Directory
    policy: Policy
    person: Person
    place: Channel | None
    since: datetime | None = None
    _failures: dict[str, DirectoryUnavailable | None] = field(default_factory=dict)
    """Channels and groups that were asked about, and what went wrong, if anything did."""

    async def judge(self, act: Act) -> Why | None:
        """Return why the person may not do *act*, by all that could change the verdict; None where they may.

        Raises DirectoryUnavailable where Slack did not say what could have changed it.
        """
        here = "" if self.place is None else self.place.id
        held = self.policy.roles_called(self.policy.roles_that_may(act))
        by_place = {Why.NO_ROLE} if any(here in role.channels for role in held) else set()
        unasked = {here: {Why.NOT_HERE, *by_place}}
        unasked |= {group: {Why.NO_ROLE} for role in held for group in role.groups}
        failures: list[DirectoryUnavailable] = []
        why = self.policy.judge(act, self.person, self.place)
        while (asked := next((each for each, changes in unasked.items() if why in changes), None)) is not None:
            del unasked[asked]
            if (failure := await self._look_up(asked)) is not None:
                failures.append(failure)
            # What a group says may make the channel decide.
            why = self.policy.judge(act, self.person, self.place)
        # Any other verdict stands, whatever Slack would have said.
        if failures and why in {Why.NO_ROLE, Why.NOT_HERE}:
            raise failures[0]
        if why is None and act.other_than:
            other = await self.directory.person(act.other_than)
            return Why.OWN_REQUEST if is_same_person(self.person, other) else None
        if why is Why.NO_ROLE and act.about is not None:
            with suppress(DirectoryUnavailable):
                return await self.judge(replace(act, about=None)) or Why.BEYOND_ROLE
        return why

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
        if self.place is not None and asked == self.place.id:
            if await self.directory.is_in(self.person.id, asked):
                self.person = replace(self.person, channels=self.person.channels | {asked})
        elif self.person.id in await self.directory.group(asked, self.since):
            self.person = replace(self.person, groups=self.person.groups | {asked})


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
