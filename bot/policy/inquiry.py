"""What has to be asked of Slack before a right is decided, and no more than that.

Who is in a channel or a user group is asked only while the answer could still change the verdict. So a role that
somebody has by name needs nothing from Slack, and an outage stops only what depends on it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Protocol

from bot.policy.model import Channel, Person, Policy, Why


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
