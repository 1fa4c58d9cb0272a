"""The services, clients and store that the worlds of tests share, which carry out changes without the bot's own start.

`changes/world.py` watches processes that are objects of the test, `faults/world.py` breaks the wire to the services, and
`drills/fleet.py` adds a Slack and processes of their own.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import uuid4

from bot.changes.journal import Journal
from bot.changes.model.edits import Target
from bot.changes.pipeline import Pipeline, open_pipeline
from bot.changes.targets import LOOKING, Adapter
from bot.changes.worker import Wake
from bot.clients.gate import CallContext
from bot.clients.http import CallLimits, Service
from bot.clients.members import MembersClient
from bot.clients.rules import GroupsClient, RulesClient
from bot.policy.access import Access
from bot.server.services import Services as Clients
from bot.store.engine import Store, open_store
from sandbox.services.database import Record
from sandbox.services.running import MEMBERS_KEY, RULES_KEY, Services, running_services
from tests.harness.statements import share_statements

SITE: Final = "site_1"
Way = Callable[[str, str], Awaitable[str]]
"""The URL at which a service is reached, by its name and its own URL."""


@dataclass(slots=True)
class Ground:
    """Both services, the bot's clients of them, and a store."""

    services: Services
    rules: RulesClient
    groups: GroupsClient
    members: MembersClient
    store: Store

    def adapter(self, target: Target, context: CallContext = LOOKING) -> Adapter:
        clients = Clients(self.rules, self.groups, {target.site or "": self.members})
        return clients.adapter(target, context)

    def pipeline(self, access: Access, now: Callable[[], datetime], **more: Any) -> Pipeline:
        """A process of the test's own that does what it is told, and has no workers; *more*: limits of its journal."""
        return open_pipeline(
            Journal(self.store, now, "the test", Wake(), Wake(), **more),
            adapter=self.adapter,
            access=access,
            new_id=lambda: uuid4().hex,
            reconcile_after=(0.0, 0.01, 0.02),
        )

    def live(self, target: Target) -> Record | None:
        """What the service holds of *target*."""
        key = target.key or ""
        match target.service:
            case "rules":
                return self.services.rules.get(key)
            case "groups":
                return self.services.rules.group(key)
            case _:
                return self.services.members.get(SITE, key)

    def put(self, target: Target, record: Record | None) -> None:
        """Let somebody in the dashboard put *record* there, or take away what is."""
        key, rules, members, database = (
            target.key or "",
            self.services.rules,
            self.services.members,
            self.services.database,
        )
        match target.service:
            case "rules":
                rules.put(record | {"id": key}) if record else rules.remove(key)
            case "groups":
                rules.put_group(record | {"id": key}) if record else database.delete_group(key)
            case _:
                members.put(SITE, record | {"email": key}) if record else members.remove(SITE, key)


@asynccontextmanager
async def open_ground(
    database_url: str,
    *,
    now: Callable[[], datetime],
    limits: CallLimits = CallLimits(),  # noqa: B008  frozen
    seed: bool = True,
    way: Way | None = None,
) -> AsyncIterator[tuple[Services, RulesClient, GroupsClient, MembersClient, Store]]:
    """The fields of a Ground: services over sockets, with the sample data where *seed* says so, and the store at a URL."""
    async with AsyncExitStack() as stack:
        services = await stack.enter_async_context(running_services(seed=seed))

        async def reached(name: str, url: str, **headers: str) -> Service:
            service = Service(name, await way(name, url) if way else url, headers, limits=limits)
            return await stack.enter_async_context(service)

        rules = await reached("rules", services.rules_url, **{"x-api-key": RULES_KEY})
        members = await reached("members", services.members_url, Authorization=f"Bearer {MEMBERS_KEY}")
        store = await stack.enter_async_context(open_store(database_url, now=now))
        share_statements(store)
        yield services, RulesClient(rules), GroupsClient(rules), MembersClient(members, SITE), store
