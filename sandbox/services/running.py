"""Run both stand-ins, with access for a test or a demo to their data, switches and faults."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace

from sandbox.services.answers import Call, Stage
from sandbox.services.database import Database, Record
from sandbox.services.members import MembersService
from sandbox.services.rules import RulesService
from sandbox.services.seed import seed as fill
from sandbox.services.switches import Switches
from sandbox.slack.serving import serving

RULES_KEY = "sandbox-rules-key"
OTHER_KEY = "another-rules-key"
MEMBERS_KEY = "sandbox-members-key"


@dataclass(frozen=True, slots=True)
class Rules:
    """Direct access to the rules service: what its dashboard would show and do."""

    database: Database
    stage: Stage

    def get(self, rule_id: str) -> Record | None:
        found = self.database.rule(rule_id)
        return None if found is None else found[1]

    def all(self) -> list[Record]:
        return self.database.rules(RULES_KEY)

    def put(self, record: Record, *, key: str = RULES_KEY) -> None:
        self.database.put_rule(key, record)

    def remove(self, rule_id: str) -> None:
        self.database.delete_rule(rule_id)

    def group(self, group_id: str) -> Record | None:
        return self.database.group(group_id)

    def put_group(self, record: Record) -> None:
        self.database.put_group(record)

    def calls(self, method: str | None = None) -> list[Call]:
        return [call for call in self.stage.calls if method in {None, call.method}]


@dataclass(frozen=True, slots=True)
class Members:
    """Direct access to the membership service. *keys*: those of sites that have their own, by the site's id."""

    database: Database
    stage: Stage
    keys: dict[str, str]

    def get(self, site: str, email: str) -> Record | None:
        return next((member for member in self.database.members(site) if member["email"] == email), None)

    def all(self, site: str) -> list[Record]:
        return self.database.members(site)

    def put(self, site: str, record: Record) -> None:
        self.database.put_member(site, record)

    def remove(self, site: str, email: str) -> None:
        self.database.delete_member(site, email)

    def calls(self, method: str | None = None) -> list[Call]:
        return [call for call in self.stage.calls if method in {None, call.method}]


@dataclass(frozen=True, slots=True)
class Services:
    """The URLs of both services, and direct access to them."""

    rules_url: str
    members_url: str
    rules: Rules
    members: Members
    database: Database
    switches: Switches = field(default_factory=Switches)
    """The switches that the services started with."""

    def switch(self, **choices: str) -> None:
        """Set these switches from now on; all others go back to what the services started with."""
        self.rules.stage.switches = self.members.stage.switches = replace(self.switches, **choices)


@asynccontextmanager
async def running_services(
    path: str = ":memory:",
    *,
    seed: bool = True,
    switches: Switches | None = None,
    ports: tuple[int, int] = (0, 0),
    now: Callable[[], float] = time.time,
) -> AsyncIterator[Services]:
    """Run both services over the SQLite file at *path*; with *seed*, it is filled with sample data if it is empty."""
    database = Database(path)
    if seed and database.empty:
        fill(database, rules_key=RULES_KEY)
    switches = switches or Switches()
    rules, members = Stage(switches), Stage(switches)
    keys = (RULES_KEY, OTHER_KEY)
    async with AsyncExitStack() as stack:
        stack.callback(database.close)
        rules_app = RulesService(database, rules, keys=keys, now=now).app()
        site_keys: dict[str, str] = {}
        members_app = MembersService(database, members, key=MEMBERS_KEY, keys=site_keys, now=now).app()
        rules_at = await stack.enter_async_context(serving(rules_app, port=ports[0]))
        members_at = await stack.enter_async_context(serving(members_app, port=ports[1]))
        behind = Rules(database, rules), Members(database, members, site_keys)
        yield Services(f"{rules_at}/v1", f"{members_at}/api/v1", *behind, database, switches)
