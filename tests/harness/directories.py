"""A directory that tests fill by hand: who there is, and where."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from bot.policy.access import Access
from bot.policy.inquiry import DirectoryUnavailable
from bot.policy.model import DEFAULT, Channel, Person, Policy


@dataclass(slots=True)
class Directory:
    """People, channels and groups as a test wants them; who is not named is a plain full member.

    Everybody is in a channel whose members are not named, though nobody can be found there.
    """

    people: dict[str, Person] = field(default_factory=dict)
    places: dict[str, Channel] = field(default_factory=dict)
    members: dict[str, Sequence[str]] = field(default_factory=dict)
    groups: dict[str, frozenset[str]] = field(default_factory=dict)
    silent: bool = False
    """Slack does not answer."""
    tells_no_emails: bool = False
    """The app lacks the scope; else who is named without an email has one of their own."""
    silent_about: set[str] = field(default_factory=set)
    """People, and channels and groups whose people Slack does not tell."""
    asked: list[str] = field(default_factory=list)
    """Channels and groups whose people were asked for."""

    async def person(self, user: str) -> Person:
        self._require_answer()
        if user in self.silent_about:
            raise DirectoryUnavailable("who you are")
        found = self.people.get(user, Person(user))
        return found if found.mailbox or self.tells_no_emails else replace(found, mailbox=f"{user}@example.com")

    async def place(self, channel: str) -> Channel:
        self._require_answer()
        return self.places.get(channel, Channel(channel))

    async def people_in(self, channel: str) -> Sequence[str]:
        self._require_answer()
        return self.members.get(channel, ())

    async def is_in(self, user: str, channel: str) -> bool:
        self._require_answer(channel)
        return channel not in self.members or user in self.members[channel]

    async def group(self, group: str, since: datetime | None = None) -> frozenset[str]:
        self._require_answer(group)
        return self.groups.get(group, frozenset())

    def _require_answer(self, about: str = "") -> None:
        self.asked += [about] if about else []
        if self.silent or about in self.silent_about:
            raise DirectoryUnavailable("who you are")


def access(directory: Directory | None = None, policy: Policy = DEFAULT) -> Access:
    """The rights that follow from *policy* and *directory*; by default everybody may, and nobody else is there."""
    return Access(lambda: policy, directory or Directory())
