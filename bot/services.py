"""Both services as this deployment knows them: a client for each, and what changes there take."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

from bot.changes.effects import Effects
from bot.changes.gone_effects import GoneEffects
from bot.changes.group_effects import GroupEffects
from bot.changes.member_effects import MemberEffects
from bot.changes.rule_effects import RuleEffects
from bot.clients.groups import GroupsClient
from bot.clients.http import Limits, Service
from bot.clients.members import MembersClient
from bot.clients.rules import RulesClient
from bot.domain.change import Target
from bot.settings import Settings


@dataclass(frozen=True, slots=True)
class Services:
    """The clients; *members* by the names of their sites."""

    rules: RulesClient
    groups: GroupsClient
    members: Mapping[str, MembersClient]

    def effects(self, target: Target) -> Effects:
        """What changes of *target* take; on a site that no setting names any more, a refusal of each."""
        if target.service == "rules":
            return RuleEffects(self.rules)
        if target.service == "groups":
            return GroupEffects(self.groups)
        client = self.members.get(target.site or "")
        return GoneEffects(target.site or "") if client is None else MemberEffects(client)


@asynccontextmanager
async def open_services(settings: Settings) -> AsyncIterator[Services]:
    """Clients for both services, until the block ends."""
    async with AsyncExitStack() as stack:
        rules, groups = await stack.enter_async_context(_rules(settings))
        members = {name: await stack.enter_async_context(_members(settings, name)) for name in settings.members_sites}
        yield Services(rules, groups, members)


@asynccontextmanager
async def _rules(settings: Settings) -> AsyncIterator[tuple[RulesClient, GroupsClient]]:
    headers = {"x-api-key": settings.rules_api_key.get_secret_value()}
    async with _service("rules", settings.rules_base_url, headers, settings) as service:
        yield RulesClient(service), GroupsClient(service)


@asynccontextmanager
async def _members(settings: Settings, name: str) -> AsyncIterator[MembersClient]:
    headers = {settings.members_auth_header: f"{settings.members_auth_scheme} {settings.key_of(name)}".strip()}
    async with _service("members", settings.members_base_url, headers, settings) as service:
        yield MembersClient(service, settings.members_sites[name])


def _service(name: str, base_url: str, headers: dict[str, str], settings: Settings) -> Service:
    limits = Limits(deadline=settings.service_timeout, max_bytes=settings.service_max_bytes)
    return Service(
        name, base_url, headers, limits=limits, insecure_http=settings.insecure_http, redact=settings.redacted
    )
