"""The world that faults happen in: both services behind proxies, a store before them, one rule and one member."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final
from uuid import uuid4

from bot.changes.effects import Effects
from bot.changes.member_effects import MemberEffects
from bot.changes.pipeline import Pipeline
from bot.changes.proposals import Proposal
from bot.changes.rule_effects import RuleEffects
from bot.clients.http import Limits, Service
from bot.clients.members import MembersClient
from bot.clients.rules import RulesClient
from bot.domain.change import Change, Guard, Kind, Target
from bot.domain.policy import GuardRule, Policy
from bot.store.engine import Store
from sandbox.services.database import Record
from sandbox.services.running import RULES_KEY, Services
from sandbox.services.seed import RULES as SEEDED
from sandbox.services.seed import seed as fill
from tests.directories import access
from tests.faults.proxy import FaultProxy

QUICK, PATIENT = (Limits(deadline=seconds, max_bytes=200_000, tries=2) for seconds in (0.4, 10.0))
"""Only where a deadline is what ends a case is it short: a busy machine is no fault."""

UNGUARDED: Final = Policy(guards=(GuardRule(operation="*", guard=Guard.NONE),))

RULE: Final[Record] = {
    "name": "Sale",
    "description": "From May on.",
    "status": "Active",
    "ruleType": "Redirect",
    "pairs": [
        {
            "source": {"key": "Url", "operator": "Equals", "value": "https://shop.example.com/sale"},
            "destinationType": "url",
            "destination": "https://shop.example.com/spring",
        }
    ],
    "priority": 3,
}
MEMBER: Final[Record] = {"name": "Zoe Young", "allowedSegments": ["free", "vip"], "createdAt": 1_756_700_000_000}
ANEW: Final = "Redirect_anew1"
THEIRS: Final = {ANEW, *(rule["id"] for rule in SEEDED)}

numbers = itertools.count(1)


@dataclass(slots=True)
class World:
    """Both services behind proxies, a store before them; and the one rule and the one member that a case is about."""

    services: Services
    proxies: dict[str, FaultProxy]
    clients: dict[tuple[str, Limits], Service]
    store: Store
    rule_id: str = ""
    email: str = ""

    async def begin(self) -> None:
        """Everything as it was seeded, and a target that no change ever had."""
        number = next(numbers)
        self.rule_id, self.email = f"Redirect_case{number}", f"zoe{number}@example.com"
        self.services.database.wipe()
        fill(self.services.database, rules_key=RULES_KEY)
        for proxy in self.proxies.values():
            await proxy.honest_again()

    def target(self, kind: Kind) -> Target:
        if kind.partition(".")[0] == "member":
            return Target(service="members", site="site_1", key=self.email)
        return Target(service="rules", key=None if kind.creates else self.rule_id)

    def put(self, target: Target, record: Record) -> Record:
        """Let the service hold *record*; return it with its key."""
        if target.service == "rules":
            self.services.rules.put(whole := record | {"id": self.rule_id})
        else:
            self.services.members.put("site_1", whole := record | {"email": self.email})
        return whole

    def live(self, target: Target) -> Record | None:
        """What the service holds of *target*; of a rule that has no key yet, the one that nobody else made."""
        if target.service == "members":
            return self.services.members.get("site_1", self.email)
        if target.key is not None:
            return self.services.rules.get(target.key)
        return next((rule for rule in self.services.rules.all() if rule["id"] not in THEIRS), None)

    def edited(self) -> None:
        """Somebody in the dashboard renames the rule and the member, where they are there."""
        if (rule := self.services.rules.get(self.rule_id)) is not None:
            self.services.rules.put(rule | {"name": "Somebody's"})
        if (member := self.services.members.get("site_1", self.email)) is not None:
            self.services.members.put("site_1", member | {"name": "Somebody's"})

    def replaced(self) -> None:
        """Somebody deletes both and adds them anew: the same to look at, and others."""
        self.services.rules.remove(self.rule_id)
        self.services.rules.put(RULE | {"id": ANEW})
        self.services.members.remove("site_1", self.email)
        self.services.members.put("site_1", MEMBER | {"email": self.email, "createdAt": 1_790_000_000_000})

    def script(self, proxy: FaultProxy, fault: str, strike: Strike, *, seed: object = 0) -> None:
        proxy.next(
            fault,
            method=strike.method,
            after=strike.after,
            times=strike.times,
            meanwhile=lambda: strike.meanwhile(self),
            seed=seed,
        )

    def rules(self, limits: Limits) -> RulesClient:
        return RulesClient(self.clients["rules", limits])

    def members(self, limits: Limits) -> MembersClient:
        return MembersClient(self.clients["members", limits], "site_1")

    def pipeline(self, limits: Limits) -> Pipeline:
        def effects(target: Target) -> Effects:
            return RuleEffects(self.rules(limits)) if target.service == "rules" else MemberEffects(self.members(limits))

        return Pipeline(
            store=self.store,
            effects=effects,
            access=access(policy=UNGUARDED),
            now=lambda: datetime.now(UTC),
            new_id=lambda: uuid4().hex,
            owner="the test",
            tell=lambda: None,
            settle_after=(0.0, 0.01, 0.02),
        )

    async def submit(self, kind: Kind, before: Record | None, after: Record | None, limits: Limits) -> Change:
        """Have the target changed from *before* to *after*: a member with its key, a rule's body without."""
        target = self.target(kind)
        if after is not None and target.service == "members":
            after = after | {"email": self.email}
        proposal = Proposal(kind, target, before, after, "U1", "C1", Guard.NONE)
        return await self.pipeline(limits).submit(proposal, origin=uuid4().hex)


@dataclass(frozen=True, slots=True)
class Strike:
    """Which request of an operation a fault strikes: of those that fit the method, one *after* so many, *times*."""

    method: str
    after: int = 0
    times: int = 1
    meanwhile: Callable[[World], None] = lambda _: None
