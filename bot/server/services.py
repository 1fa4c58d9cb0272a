"""Open the clients of both services as the settings say, and return the adapter for a change."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

from bot.changes.adapters import GroupAdapter, MemberAdapter, RuleAdapter
from bot.changes.model.edits import Target
from bot.changes.targets import Adapter
from bot.clients.errors import Unsendable
from bot.clients.gate import CallContext, Gate
from bot.clients.http import CallLimits, Service
from bot.clients.members import MembersClient
from bot.clients.rules import GroupsClient, RulesClient
from bot.settings import Settings


@dataclass(frozen=True, slots=True)
class Services:
    """The clients of both services; *members* by the names of their sites."""

    rules: RulesClient
    groups: GroupsClient
    members: Mapping[str, MembersClient]

    def adapter(self, target: Target, context: CallContext) -> Adapter:
        """Return the adapter for changes of *target*; raises Unsendable for a site that is no longer in the settings."""
        if target.service == "rules":
            return RuleAdapter(self.rules.with_context(context))
        if target.service == "groups":
            return GroupAdapter(self.groups.with_context(context))
        if (client := self.members.get(target.site or "")) is None:
            raise Unsendable("members", f"no setting names the site {target.site or ''} any more")
        return MemberAdapter(client.with_context(context))


@asynccontextmanager
async def open_services(settings: Settings) -> AsyncIterator[Services]:
    """Open the clients of both services, until the block ends."""
    gates = {name: Gate(name) for name in ("rules", "members")}
    async with AsyncExitStack() as stack:

        async def open_service(name: str, base_url: str, header: str, key: str) -> Service:
            service = Service(
                name,
                base_url,
                {header: key},
                limits=CallLimits(deadline=settings.service_timeout, max_bytes=settings.service_max_bytes),
                insecure_http=settings.insecure_http,
                redact=settings.redact,
                gate=gates[name],
                proxy=settings.proxy_for(base_url),
                ca_file=settings.ca_file,
                not_about_pages=settings.ignored_list_fields,
                empty_text=settings.members_empty_text if name == "members" else "",
            )
            return await stack.enter_async_context(service)

        rules = await open_service(
            "rules", settings.rules_base_url, "x-api-key", settings.rules_api_key.get_secret_value()
        )
        members = {}
        for name, site in settings.members_sites.items():
            key = f"{settings.members_auth_scheme} {settings.key_of(name)}".strip()
            service = await open_service("members", settings.members_base_url, settings.members_auth_header, key)
            members[name] = MembersClient(service, site)
        yield Services(RulesClient(rules), GroupsClient(rules), members)
