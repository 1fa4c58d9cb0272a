"""Gatehouse as the handlers see it: what can be read, the one way to change anything, and what the deployment chose."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final, Protocol, Self

from bot.changes.model import Target
from bot.changes.pipeline import Pipeline
from bot.clients.gate import CallContext
from bot.clients.lists import Listing
from bot.members.model import Member
from bot.policy.access import Access
from bot.policy.limits import RateLimiter
from bot.rules.model import Group, Groups, Rule
from bot.store.engine import Store
from bot.text.search import SearchIndex


class RulesReader(Protocol):
    """The reading half of the rules client. Handlers get no more: whatever writes goes through the pipeline."""

    async def all(self) -> Listing[Rule]:
        """Every rule, read from the service once for a command."""

    async def recent(self) -> Listing[Rule]:
        """The same, up to some seconds old."""

    async def index(self) -> SearchIndex[Rule]:
        """What `recent` brings, ready to be searched: for type-ahead."""

    def goes_with(self, drop: Callable[[], None]) -> None:
        """Call *drop* whenever what was read is let go of."""

    async def get(self, rule_id: str) -> Rule:
        """One rule; NotFound where there is none."""

    def with_context(self, context: CallContext) -> Self:
        """The same reader, for requests with this *context*."""


class GroupsReader(Protocol):
    """The reading half of the groups client."""

    async def groups(self) -> Groups | None:
        """What adds to an answer about rules, up to some seconds old; None where there is nothing to say. Never raises."""

    async def listed(self) -> Listing[Group] | None:
        """Every group, fresh from the service; None where it has none."""

    def with_context(self, context: CallContext) -> Self:
        """The same reader, for requests with this *context*."""


class MembersReader(Protocol):
    """The reading half of the members client of one site."""

    async def all(self) -> Listing[Member]:
        """Every member, read from the service once for a command."""

    async def recent(self) -> Listing[Member]:
        """The same, up to some seconds old."""

    async def index(self) -> SearchIndex[Member]:
        """What `recent` brings, ready to be searched: for type-ahead."""

    def goes_with(self, drop: Callable[[], None]) -> None:
        """Call *drop* whenever what was read is let go of."""

    async def find(self, email: str) -> Member | None:
        """The member with this address: the exact spelling, or the only other one.

        Raises Incomplete where nobody was found and some members were not read.
        """

    def with_context(self, context: CallContext) -> Self:
        """The same reader, for requests with this *context*."""


class FileReader(Protocol):
    """Files that people handed to Gatehouse in Slack."""

    async def read(self, file_id: str, most: int = ...) -> bytes:
        """The content of a file, which has at most *most* bytes; the errors are those of handlers/slack/files.py."""


@dataclass(frozen=True, slots=True)
class Site:
    """One configured site: the name that people use, the service's id, its members."""

    name: str
    id: str
    members: MembersReader


class UnknownSite(Exception):
    """No setting names this site."""

    def __init__(self, asked: str | None, known: Sequence[str]) -> None:
        super().__init__(asked)
        self.asked = asked
        self.known = tuple(known)


MAX_SHOWN: Final = 10_000
"""People of whom it is known what they were shown last, before those of long ago are dropped."""


class LastShown:
    """The one thing that each person was shown last, by this process: what they may mean by “it”.

    It is in no database, since what only shows waits for nobody's write.
    """

    def __init__(self) -> None:
        self._targets: dict[str, Target] = {}

    def get(self, person: str) -> Target | None:
        return self._targets.get(person)

    def put(self, person: str, target: Target) -> None:
        self._targets.pop(person, None)
        self._targets[person] = target
        if len(self._targets) > MAX_SHOWN:
            del self._targets[next(iter(self._targets))]


@dataclass(frozen=True, slots=True)
class Gatehouse:
    """What a handler works with. Built once, in bot/server/app.py."""

    rules: RulesReader
    groups: GroupsReader
    sites: Mapping[str, Site]
    changes: Pipeline
    access: Access
    store: Store
    files: FileReader
    limits: RateLimiter
    now: Callable[[], datetime]
    health: Callable[[], Awaitable[dict[str, str]]]
    extra_segments: tuple[str, ...] = ()
    places: Mapping[str, str] = field(default_factory=dict)
    """Host of each service, for people who must see which one they are changing."""
    reference: Callable[[str, str], str] = lambda _, __: ""
    """What stands for a site's member where no address may be."""
    last_shown: LastShown = field(default_factory=LastShown)
    policy_trouble: Callable[[], str | None] = lambda: None
    """What is wrong with the policy file, while an older version of it stays in use."""

    def with_context(self, context: CallContext) -> Gatehouse:
        """The same, with readers whose requests have this *context*."""
        sites = {name: replace(site, members=site.members.with_context(context)) for name, site in self.sites.items()}
        rules, groups = self.rules.with_context(context), self.groups.with_context(context)
        return replace(self, rules=rules, groups=groups, sites=sites)

    def site(self, name: str | None) -> Site:
        """The site called *name* (or with that id), the first where none is named; raises UnknownSite."""
        if name is None:
            if self.sites:
                return next(iter(self.sites.values()))
        else:
            for site in self.sites.values():
                if name in {site.name, site.id}:
                    return site
            alike = [site for site in self.sites.values() if site.name.casefold() == name.casefold()]
            if len(alike) == 1:
                return alike[0]
        raise UnknownSite(name, tuple(self.sites))
