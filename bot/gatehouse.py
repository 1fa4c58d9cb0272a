"""What handlers work with: the readers, the pipeline through which everything is changed, and the deployment's settings."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Protocol

from bot.changes.pipeline import Pipeline
from bot.clients.gate import CallContext
from bot.clients.members import MembersReader
from bot.clients.rules import GroupsReader, RulesReader
from bot.health import Health
from bot.policy.access import Access
from bot.policy.limits import RateLimiter
from bot.store.engine import Store


class FileReader(Protocol):
    """Files that people handed to Gatehouse in Slack."""

    async def read(self, file_id: str) -> bytes:
        """Return the content of a file; raises FileTooLarge and the errors of handlers/slack/files.py."""


@dataclass(frozen=True, slots=True)
class Site:
    """One configured site: the name that people use, the service's id, its members."""

    name: str
    id: str
    members: MembersReader


class UnknownSite(Exception):
    """No setting names this site."""

    def __init__(self, asked: str, known: Sequence[str]) -> None:
        super().__init__(asked)
        self.asked = asked
        self.known = tuple(known)


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
    health: Callable[[], Awaitable[Mapping[str, Health]]]
    channels_of: Callable[[str], Awaitable[Mapping[str, str]]]
    """Returns the names of the channels that a person is in, by their ids; raises DirectoryUnavailable."""
    agents: bool = False
    """Whether agents are let in."""
    extra_segments: tuple[str, ...] = ()
    places: Mapping[str, str] = field(default_factory=dict)
    """Host of each service, for people who must see which one they are changing."""
    policy_trouble: Callable[[], str | None] = lambda: None
    """Returns what is wrong with the policy file, while an older version of it stays in use; None where nothing is."""

    def with_context(self, context: CallContext) -> Gatehouse:
        """Return a copy whose readers send their requests with this *context*."""
        sites = {name: replace(site, members=site.members.with_context(context)) for name, site in self.sites.items()}
        rules, groups = self.rules.with_context(context), self.groups.with_context(context)
        return replace(self, rules=rules, groups=groups, sites=sites)

    def site(self, name: str | None) -> Site:
        """Return the site with this *name* or id, the first site where none is named; raises UnknownSite."""
        if name is None:
            return next(iter(self.sites.values()))
        if name in self.sites:
            return self.sites[name]
        alike = [site for site in self.sites.values() if name == site.id or site.name.casefold() == name.casefold()]
        if len(alike) == 1:
            return alike[0]
        raise UnknownSite(name, tuple(self.sites))
