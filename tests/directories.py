"""A directory that tests fill by hand: who there is, and where."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from bot.access import Access, DirectoryUnavailable
from bot.domain.policy import DEFAULT, Person, Place, Policy


@dataclass(slots=True)
class Directory:
    """People, channels and groups as a test wants them; whoever is not named is a plain full member."""

    people: dict[str, Person] = field(default_factory=dict)
    places: dict[str, Place] = field(default_factory=dict)
    members: dict[str, Sequence[str]] = field(default_factory=dict)
    groups: dict[str, frozenset[str]] = field(default_factory=dict)
    silent: bool = False
    """Slack does not answer."""

    async def person(self, user: str) -> Person:
        self._answering()
        return self.people.get(user, Person(user))

    async def place(self, channel: str) -> Place:
        self._answering()
        return self.places.get(channel, Place(channel))

    async def people_in(self, channel: str) -> Sequence[str]:
        self._answering()
        return self.members.get(channel, ())

    async def group(self, group: str) -> frozenset[str]:
        self._answering()
        return self.groups.get(group, frozenset())

    def _answering(self) -> None:
        if self.silent:
            raise DirectoryUnavailable("who you are")


def access(directory: Directory | None = None, policy: Policy = DEFAULT) -> Access:
    """The rights that follow from *policy* and *directory*; by default everybody may, and nobody else is there."""
    return Access(lambda: policy, directory or Directory())
