"""The world that faults happen in: both services behind proxies, a store before them, and what the cases are about."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final
from uuid import uuid4

from bot.changes.batch import BatchWorker
from bot.changes.model.change import Change
from bot.changes.model.edits import Edit, Kind, Target
from bot.changes.model.parts import ChangeRequest, Guard
from bot.changes.pipeline import Pipeline
from bot.changes.proposals import Proposal, combine
from bot.changes.worker import Backoff, Wake
from bot.clients.http import CallLimits
from bot.policy.model import GuardRule, Policy
from sandbox.services.database import Record
from sandbox.services.running import RULES_KEY
from sandbox.services.seed import RULES as SEEDED
from sandbox.services.seed import redirect_pair
from sandbox.services.seed import seed as fill
from tests.conftest import Clock
from tests.faults.proxy import FaultProxy
from tests.harness.directories import access
from tests.harness.ground import Ground
from tests.harness.proposing import CHANGES
from tests.harness.workers import recover_one

LIMITS: Final = CallLimits(deadline=10.0, max_bytes=200_000, tries=2)
"""Patient, because a busy machine is no fault. A fault that only a deadline ends lets its seconds pass at once."""

UNGUARDED: Final = Policy(guards=(GuardRule(operation="*", guard=Guard.NONE),))

RULE: Final[Record] = {
    "name": "Sale",
    "description": "From May on.",
    "status": "Active",
    "ruleType": "Redirect",
    "pairs": [redirect_pair("https://shop.example.com/sale", "https://shop.example.com/spring")],
    "priority": 3,
}
GROUP: Final[Record] = {"objectType": "group", "name": "Spring", "description": "Till June.", "status": "Active"}
MEMBER: Final[Record] = {"name": "Zoe Young", "allowedSegments": ["free", "vip"], "createdAt": 1_756_700_000_000}
ANEW: Final = "Redirect_anew1"
ANEW_TOO: Final = "Group_anew1"
THEIRS: Final = {ANEW, *(rule["id"] for rule in SEEDED)}

numbers = itertools.count(1)


@dataclass(slots=True)
class World(Ground):
    """The services are behind proxies; and there are the rules, the group and the member of a case."""

    clock: Clock
    proxies: dict[str, FaultProxy]
    rule_id: str = ""
    other_id: str = ""
    """The second rule, of a set of two."""
    group_id: str = ""
    email: str = ""

    async def begin(self) -> None:
        """Everything as it was seeded, and a target that no change ever had."""
        number = next(numbers)
        self.rule_id, self.other_id = f"Redirect_case{number}", f"Redirect_too{number}"
        self.group_id, self.email = f"Group_case{number}", f"zoe{number}@example.com"
        self.services.database.wipe()
        fill(self.services.database, rules_key=RULES_KEY)
        for proxy in self.proxies.values():
            await proxy.honest_again()
        self.rules.drop()

    def target(self, kind: Kind) -> Target:
        if kind.partition(".")[0] == "member":
            return Target(service="members", site="site_1", key=self.email)
        if kind is Kind.GROUP_UPDATE:
            return Target(service="groups", key=self.group_id)
        return Target(service="rules", key=None if kind.creates else self.rule_id)

    def proxy(self, target: Target) -> FaultProxy:
        """The one before the service that has the target: groups are with the rules."""
        return self.proxies["members" if target.service == "members" else "rules"]

    def hold(self, target: Target, record: Record) -> Record:
        """Let the service hold *record*; return it with its key."""
        self.put(target, record)
        return self.live(target) or {}

    def made(self, target: Target) -> Record | None:
        """What the service holds of *target*; of a rule that has no key yet, the one that nobody else made."""
        if target.key is not None:
            return self.live(target)
        return next((rule for rule in self.services.rules.all() if rule["id"] not in THEIRS), None)

    def edited(self) -> None:
        """Somebody in the dashboard renames the rule, the group and the member, where they are there."""
        if (rule := self.services.rules.get(self.rule_id)) is not None:
            self.services.rules.put(rule | {"name": "Somebody's"})
        if (group := self.services.rules.group(self.group_id)) is not None:
            self.services.rules.put_group(group | {"name": "Somebody's"})
        if (member := self.services.members.get("site_1", self.email)) is not None:
            self.services.members.put("site_1", member | {"name": "Somebody's"})

    def replaced(self) -> None:
        """Somebody deletes them and adds them anew: the same to look at, and others."""
        self.services.rules.remove(self.rule_id)
        self.services.rules.put(RULE | {"id": ANEW})
        self.services.database.delete_group(self.group_id)
        self.services.rules.put_group(GROUP | {"id": ANEW_TOO})
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

    def process(self) -> Pipeline:
        return self.pipeline(access(policy=UNGUARDED), self.clock)

    async def submit(self, kind: Kind, before: Record | None, after: Record | None) -> Change:
        """Have the target changed from *before* to *after*: a member with its key, a rule's body without."""
        target = self.target(kind)
        if after is not None and target.service == "members":
            after = after | {"email": self.email}
        proposal = Proposal.of(
            guard=Guard.NONE,
            edit=Edit(kind=kind, target=target, before=before, after=after),
            request=ChangeRequest(requester="U1", channel="C1"),
        )
        return await self.process().proposer.submit(proposal, idempotency_key=uuid4().hex)

    async def later(self, change: Change) -> Change:
        """*change* as it is once its service may have done it, if it ever does."""
        self.clock.ahead += timedelta(minutes=3)
        while await recover_one(self.process()):
            pass
        return await self.process().journal.get(change.id)

    async def submit_set(self, wanted: Sequence[Proposal]) -> Sequence[Change]:
        """Have several things done as one, with those settled that were unknown at first; the parts as they ended."""
        pipeline, pauses = self.process(), Pauses()
        sets = BatchWorker(
            pipeline.executor,
            pipeline.proposer.new_id,
            Wake(),
            lambda: Backoff(clock=lambda: pauses.passed, sleep=pauses.sleep),
            pauses.sleep,
        )
        whole = await pipeline.proposer.submit(combine(CHANGES, wanted), idempotency_key=uuid4().hex)
        claimed = await sets.journal.claim_due(bulk=True)
        assert claimed is not None
        assert claimed.id == whole.id
        await sets.carry_out(claimed)
        await self.later(claimed)
        ids = [item.change_id async for item in self.store.items.all(whole.id)]
        changes = await self.store.changes.get_many([each for each in ids if each])
        return [changes[each] for each in ids if each]


@dataclass(slots=True)
class Pauses:
    """Time that passes as soon as somebody waits for it."""

    passed: float = 0.0

    async def sleep(self, seconds: float) -> None:
        self.passed += seconds
        await asyncio.sleep(0)


@dataclass(frozen=True, slots=True)
class Strike:
    """Which request of an operation a fault strikes: of those that fit the method, one *after* so many, *times*."""

    method: str
    after: int = 0
    times: int = 1
    meanwhile: Callable[[World], None] = lambda _: None
