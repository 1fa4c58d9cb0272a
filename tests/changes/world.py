"""The world that a run of the machine lives in: services, a store, people, a clock; and what is really true of them.

What is true is read from behind: the services' own database, and the rows of the store, never what the product says.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import count
from typing import Any, Final

import sqlalchemy as sa

from bot.changes.batch import BatchWorker
from bot.changes.journal import LEASE, Journal
from bot.changes.model.change import Change
from bot.changes.model.documents import Document
from bot.changes.model.edits import Edit, Kind, Target
from bot.changes.model.items import Tally
from bot.changes.model.parts import ChangeRequest, Guard
from bot.changes.notify import OutboxWorker, TooSoon
from bot.changes.pipeline import Pipeline, open_pipeline
from bot.changes.proposals import Proposal, combine
from bot.changes.targets import LOOKING, Adapter, Snapshot
from bot.changes.timers import TimerWorker
from bot.changes.worker import Backoff, LeaseLost, Wake
from bot.clients.errors import ClientError, OutcomeUnknown
from bot.clients.gate import CallContext
from bot.clients.http import CallLimits
from bot.policy.access import Access
from bot.policy.model import GuardRule, Person, Policy, Role, Why
from bot.store.tables import metadata
from bot.text.documents import load
from sandbox.services.database import Record
from sandbox.services.seed import redirect_pair
from tests.harness import ground
from tests.harness.clocks import EPOCH, StandingClock
from tests.harness.directories import Directory
from tests.harness.ground import Ground, open_ground
from tests.harness.proposing import CHANGES
from tests.harness.workers import fire_one, recover_one

OPS, SITE = "C0OPS0001", ground.SITE
EVERYBODY: Final = tuple(
    f"U0{name}" for name in ("ALICE", "ALICETOO", "BOBBO", "BOBTOO", "CARAA", "DANNY", "EVEEE", "GUEST")
)
ALICE, ALICE_TOO, BOB, BOB_TOO, CARA, DAN, EVE, GUEST = EVERYBODY
TEAM, LEADS, ON_CALL = (ALICE, ALICE_TOO, BOB, BOB_TOO, CARA, DAN, GUEST), (CARA, EVE), (DAN,)
MAILBOXES: Final = {ALICE: "alice", ALICE_TOO: "alice", BOB: "bob", BOB_TOO: "bob"}
"""Whose these accounts are; of the others nobody knows, so they are people of their own."""
SEGMENTS: Final = ("free", "vip", "beta")
RULE_IDS: Final = ("Redirect_aaaaa", "Redirect_bbbbb")
GROUP_IDS: Final = ("Group_aaaaa", "Group_bbbbb")
EMAILS: Final = ("ann@example.com", "ben@example.com")

ROLES: Final = {
    "team": Role(users=TEAM, may=("*",)),
    "leads": Role(users=LEADS, may=("read",)),
    "oncall": Role(users=ON_CALL, may=("*",)),
}


def _guard(operation: str, guard: Guard, **more: Any) -> GuardRule:
    return GuardRule(operation=operation, guard=guard, **more)


POLICIES: Final = {
    "default": Policy(),
    "free": Policy(guards=(_guard("*", Guard.NONE),)),
    "confirm": Policy(guards=(_guard("*", Guard.CONFIRM, expires="2h"),)),
    "approve": Policy(guards=(_guard("*", Guard.APPROVE, expires="2h"),)),
    "two": Policy(roles=ROLES, guards=(_guard("*", Guard.APPROVE, approvals=2, break_glass=("oncall",)),)),
    "leads": Policy(
        roles=ROLES,
        guards=(
            _guard("rule.delete", Guard.APPROVE, approvers=("leads",), break_glass=("oncall",)),
            _guard("member.*", Guard.APPROVE, self_approval=True),
            _guard("rule.create", Guard.NONE),
            _guard("rule.*", Guard.CONFIRM, break_glass=("oncall",)),
        ),
    ),
}


class Died(BaseException):
    """The process is gone: nothing of it may catch this."""


@dataclass(slots=True)
class Fuse:
    """Burns down by one at every checkpoint and every commit; at its end the process stops for a while, or dies."""

    clock: StandingClock
    left: int | None = None
    stops_for: timedelta | None = None

    def __call__(self, _: str = "") -> None:
        if self.left is None:
            return
        self.left -= 1
        if self.left > 0:
            return
        self.left = None
        if self.stops_for is None:
            raise Died
        self.clock.moment += self.stops_for


def content(record: Record | None) -> Record | None:
    """What a person sees of a record: no ids, no dates of the service; segments in no order."""
    if record is None:
        return None
    kept = {name: value for name, value in record.items() if name not in {"id", "creationDate", "modificationDate"}}
    if "allowedSegments" in kept:
        kept["allowedSegments"] = sorted(kept["allowedSegments"])
    return kept


def holds(live: Record | None, wanted: Record | None) -> bool:
    """Whether *live* is as *wanted*; the service adds fields of its own, but takes none away."""
    live, wanted = content(live), content(wanted)
    if live is None or wanted is None:
        return live is wanted
    return all(live.get(name) == value for name, value in wanted.items())


Place = tuple[str, str]
"""Service, and key of a record there."""


def place_of(target: Target) -> Place:
    return target.service, target.key or ""


@dataclass(slots=True)
class Sent:
    """What was sent for one change: how often, how often it had an effect, and when the last one had."""

    times: int = 0
    effects: int = 0
    at: int = -1
    """The number of the edit behind our back that came before the last effect."""
    turn: int = 0
    """Which of all writes the last one was."""
    left: Record | None = None
    """The target after the last one."""


@dataclass(slots=True)
class World(Ground):
    """What is really true of a run, and what was sent in it."""

    clock: StandingClock
    directory: Directory = field(default_factory=Directory)
    policy: Policy = POLICIES["default"]
    step_began: datetime = EPOCH
    sent: dict[str, Sent] = field(default_factory=dict)
    writes: int = 0
    """Requests that write, which left for a change."""
    edits: int = 0
    """Edits behind our back."""
    edited: dict[Place, int] = field(default_factory=dict)
    """The number of the last edit of a record behind our back."""
    turns: int = 0
    """Writes, one after the other."""
    wrote: dict[Place, int] = field(default_factory=dict)
    """The turn in which a record was changed last by one of them."""
    cards: dict[str, Change] = field(default_factory=dict)
    """Every change as its card shows it."""
    tallies: dict[str, Tally] = field(default_factory=dict)
    """How far every bulk change is, as its card shows it."""
    told: Counter[tuple[str, str]] = field(default_factory=Counter)
    deaf: list[Exception] = field(default_factory=list)
    """What Slack answers to the next messages instead of taking them."""
    slow: int = 0
    """Writes to come that are done LATE after they were sent, and whose answers are lost."""
    under_way: list[tuple[datetime, Watched, Change]] = field(default_factory=list)
    """Those that were sent and are not done yet, and when they will be."""
    names: count[int] = field(default_factory=count)
    naps: int = 0
    """Pauses in the step that is being taken."""
    one_write: asyncio.Lock = field(default_factory=asyncio.Lock)
    """One write at a time, or nobody could tell which of them did what."""

    async def begin(self, policy: Policy) -> None:
        """A new run: everything as on the first day."""
        self.clock.moment = EPOCH
        self.policy = policy
        self.directory = Directory(
            people={user: Person(user, mailbox=f"{name}@example.com") for user, name in MAILBOXES.items()}
            | {GUEST: Person(GUEST, barred=Why.GUEST)},
            members={OPS: tuple(user for user in EVERYBODY if user != EVE)},
        )
        self.sent, self.cards, self.tallies, self.edited, self.told, self.deaf = {}, {}, {}, {}, Counter(), []
        self.turns, self.wrote = 0, {}
        self.writes = self.edits = self.slow = 0
        self.under_way = []
        self.names = count(1)
        self._fill()
        async with self.store.transaction() as tx:
            for table in metadata.tables.values():
                await tx.execute(sa.delete(table))

    def _fill(self) -> None:
        database = self.services.database
        database.wipe()
        database.add_site(SITE)
        for name in SEGMENTS:
            database.add_segment(SITE, name)
        for rule_id in RULE_IDS:
            self.services.rules.put(rule("As it was") | {"id": rule_id})
        for group_id in GROUP_IDS:
            self.services.rules.put_group(group("As it was") | {"id": group_id})
        self.services.members.put(SITE, {"name": "Ann", "email": EMAILS[0], "allowedSegments": ["free"]})
        for stage in (self.services.rules.stage, self.services.members.stage):
            stage.faults.clear()
            stage.calls.clear()

    def truth(self) -> dict[Place, Record]:
        """Every record of both services."""
        rules = {("rules", record["id"]): record for record in self.services.rules.all()}
        groups = {("groups", record["id"]): record for record in self.services.database.groups()}
        members = {("members", record["email"]): record for record in self.services.members.all(SITE)}
        return rules | groups | members

    def left_by(self, change: Change) -> Record | None:
        """The target as it is now; as *change* left it, where another one has written to it since."""
        sent = self.sent.get(change.id)
        overtaken = sent is not None and self.wrote.get(place_of(change.edit.target), 0) > sent.turn
        return sent.left if sent is not None and overtaken else self.live(change.edit.target)

    def calls_that_write(self) -> int:
        calls = [*self.services.rules.calls(), *self.services.members.calls()]
        return sum(call.method != "GET" for call in calls)

    def edit(self, place: Place, record: Record | None) -> None:
        """Somebody in the dashboard puts *record* there, or takes away what is."""
        self.edits += 1
        self.edited[place] = self.edits
        service, key = place
        self.put(Target(service=service, key=key), record)

    async def sleep(self, seconds: float) -> None:
        """Time goes on while a process waits; one that waits for what does not come is dead by then."""
        self.clock.moment += timedelta(seconds=seconds)
        self.naps += 1
        if self.naps > MAX_NAPS:
            raise Died
        await asyncio.sleep(0)

    async def arrive(self) -> None:
        """The services do what was sent to them LATE ago."""
        while self.under_way and self.under_way[0][0] <= self.clock():
            _, watched, change = self.under_way.pop(0)
            async with self.one_write:
                with suppress(ClientError):
                    await watched.send(change)

    def meddled(self, change: Change) -> bool:
        """Whether somebody edited the target after our write: then nobody can tell any more what we did."""
        sent = self.sent.get(change.id, Sent())
        if change.edit.target.key is None:
            return self.edits > sent.at
        return self.edited.get(place_of(change.edit.target), -1) > sent.at

    def same_person(self, one: str, other: str) -> bool:
        return one == other or (one in MAILBOXES and MAILBOXES[one] == MAILBOXES.get(other))

    def barred(self, user: str) -> bool:
        person = self.directory.people.get(user)
        return person is not None and person.barred is not None

    def may(self, user: str) -> bool:
        """Whether *user* may change anything here: none of these policies makes a difference between kinds."""
        return not self.barred(user) and (not self.policy.roles or user in TEAM)

    def may_approve(self, change: Change, user: str) -> bool:
        own = self.same_person(user, change.request.requester) and not change.decision.self_approval
        if own or self.barred(user):
            return False
        if change.decision.approvers:
            return user in LEADS
        return user in self.directory.members[OPS] and self.may(user)

    def has_approvals(self, change: Change) -> bool:
        """Whether enough people approved *change* who still may."""
        by = [approval.by for approval in change.decision.approvals if self.may_approve(change, approval.by)]
        people = {min(user for user in by if self.same_person(user, each)) for each in by}
        return len(people) >= change.decision.approvals_needed


@dataclass(frozen=True, slots=True)
class Watched:
    """An adapter that is watched: everything that is sent, for which change, and what came of it at the service."""

    inner: Adapter
    world: World
    owner: str
    context: CallContext = field(default=LOOKING, kw_only=True)

    async def snapshot(self, targets: Sequence[Target]) -> Snapshot:
        await self.world.arrive()
        return await self.inner.snapshot(targets)

    async def write(self, change: Change) -> Document | None:
        async with self.world.one_write:
            sending = asyncio.create_task(self._write(change))
            try:
                return await asyncio.shield(sending)
            except asyncio.CancelledError:
                with suppress(ClientError):
                    await sending  # what has left arrives, though whoever sent it is dead
                raise

    async def _write(self, change: Change) -> Document | None:
        await self.context.pass_fence()  # as the client does before it sends
        await self._recorded(change)
        if change.edit.kind not in TAKES_NOTHING:
            assert content(self.world.live(change.edit.target)) == content(change.edit.before), (
                "written over what nobody saw"
            )
        if self.world.slow:
            self.world.slow -= 1
            left = replace(self, inner=self.world.adapter(change.edit.target))  # past every fence
            self.world.under_way.append((self.world.clock() + LATE, left, change))
            raise OutcomeUnknown(change.edit.target.service, "TimeoutError")
        return await self.send(change)

    async def send(self, change: Change) -> Document | None:
        """Have the service do it, and note what it did."""
        before, calls = self.world.truth(), self.world.calls_that_write()
        sent = self.world.sent.setdefault(change.id, Sent())
        sent.times += 1
        try:
            return await self.inner.write(change)
        finally:
            requests = self.world.calls_that_write() - calls
            most = 3 if change.edit.kind.startswith("member.") else 2 if change.edit.kind is Kind.RULE_CREATE else 1
            assert requests <= most, "sent again"  # a new rule is, where its body was refused
            self.world.writes += requests
            self._note(change, before, sent)

    async def _recorded(self, change: Change) -> None:
        """I1: nothing is sent without its row, committed before, and held by whoever sends."""
        query = "SELECT state, owner, token, document FROM changes WHERE id = :id"
        async with self.world.store.session.reading() as connection:
            row = (await connection.execute(sa.text(query), {"id": change.id})).one()
        assert (row.state, row.owner, row.token) == ("applying", self.owner, change.run.token)
        recorded = load(Change, row.document)
        assert recorded.edit == change.edit
        first = self.world.sent.get(change.id, Sent()).effects == 0 or self.world.meddled(change)
        assert first, "sent again though it came true"
        whole = await self.world.store.changes.get(recorded.set_id) if recorded.set_id else recorded
        planned = (whole or recorded).run.started_at  # everything was asked again then
        decided = planned or change.decision.decided_at or change.created
        assert self.world.step_began <= decided + timedelta(hours=1), "an approval of long ago came true"
        ends = (whole or recorded).request.reverts_at
        assert ends is None or self.world.step_began < ends, "done after it was to end"
        waited = self.world.step_began > decided + timedelta(minutes=1)
        if waited and recorded.set_id is None and not recorded.is_automatic:
            assert self.world.may(recorded.request.requester), "done for somebody who may not any more"
            assert (
                recorded.decision.glass_broken or not recorded.decision.approvals or self.world.has_approvals(recorded)
            )

    def _note(self, change: Change, before: dict[Place, Record], sent: Sent) -> None:
        """What the write did: nothing, or just what was asked for, to its target and to nothing else."""
        self.world.turns += 1
        after, place = self.world.truth(), place_of(change.edit.target)
        sent.turn, sent.left = self.world.turns, after.get(place)
        moved = {place for place in before | after if before.get(place) != after.get(place)}
        if not moved:
            return
        sent.effects += 1
        sent.at = self.world.edits
        if change.edit.kind is Kind.MEMBER_GRANT:
            had, has = (set(record["allowedSegments"]) for record in (before[place], after[place]))
            assert had <= has, "a grant took something away"
        if change.edit.target.key is None:
            (place,) = moved
            assert place not in before
            assert holds(after[place], change.edit.after)
            sent.left = after[place]
        else:
            assert moved == {place}
        self.world.wrote[place] = sent.turn


@dataclass(frozen=True, slots=True)
class Replica:
    """One process: its pipeline, its timers, its outbox, and what may happen to it."""

    pipeline: Pipeline
    timers: TimerWorker
    outbox: OutboxWorker
    sets: BatchWorker
    fuse: Fuse

    async def fire_one(self) -> bool:
        """Do the one thing that is overdue the longest; False where nothing is due."""
        return await fire_one(self.timers)

    async def recover_one(self) -> bool:
        """Take over one change; False where none was left."""
        return await recover_one(self.pipeline)

    async def carry_out_a_set(self) -> bool:
        """What the worker does with one set, a moment later; False where there is none to do."""
        self.fuse.clock.moment += timedelta(milliseconds=1)
        if (whole := await self.sets.journal.claim_due(bulk=True)) is None:
            return False
        died = False
        try:
            await self.sets.carry_out(whole)
        except* LeaseLost:
            pass
        except* Died:
            died = True
        if died:
            raise Died
        return True


async def anybody(*_: object) -> bool:
    """Whether they were shown all of a change: there is no card here that leaves anything out."""
    return True


def replica(world: World, owner: str, ids: count[int]) -> Replica:
    fuse = Fuse(world.clock)

    def adapter(target: Target, context: CallContext) -> Adapter:
        return Watched(world.adapter(target, context), world, owner, context=context)

    def patience() -> Backoff:
        return Backoff(clock=lambda: world.clock().timestamp(), sleep=world.sleep)

    async def deliver(change: Change, purpose: str, is_plain: bool) -> None:
        if world.deaf:
            raise world.deaf.pop()
        if purpose == "card":
            world.cards[change.id] = change
            async with world.store.transaction() as tx:
                await world.store.cards.put(tx, change.id, OPS, f"1.{len(world.cards)}", purpose)
            if change.is_bulk:
                world.tallies[change.id] = await world.store.items.tally(change.id)
        world.told[change.id, purpose] += 1
        fuse("told")

    pipeline = open_pipeline(
        Journal(world.store, world.clock, owner, fuse, Wake()),
        adapter=adapter,
        access=Access(lambda: world.policy, _Present(world)),
        new_id=lambda: f"{next(ids):032x}",
        reconcile_after=(0.0, 0.0),
        failpoint=fuse,
        has_seen=anybody,
    )
    wake = Wake()
    timers = TimerWorker(pipeline)
    outbox = OutboxWorker(pipeline.journal, deliver, timers.do, wake)
    sets = BatchWorker(pipeline.executor, pipeline.proposer.new_id, wake, patience, world.sleep)
    return Replica(pipeline, timers, outbox, sets, fuse)


@dataclass(frozen=True, slots=True)
class _Present:
    """The directory of the run that is going on."""

    world: World

    async def person(self, user: str) -> Person:
        return await self.world.directory.person(user)

    async def place(self, channel: str) -> Any:
        return await self.world.directory.place(channel)

    async def people_in(self, channel: str) -> Any:
        return await self.world.directory.people_in(channel)

    async def is_in(self, user: str, channel: str) -> bool:
        return await self.world.directory.is_in(user, channel)

    async def group(self, group: str, since: datetime | None = None) -> frozenset[str]:
        return await self.world.directory.group(group)


def dying_at(step: str) -> Callable[[str], None]:
    """Return a failpoint at which the process dies."""

    def failpoint(name: str) -> None:
        if name == step:
            raise Died

    return failpoint


TAKES_NOTHING: Final = (Kind.MEMBER_GRANT, Kind.MEMBER_REVOKE)
"""Kinds that name the segments that come or go, and leave what others did to the member as it is."""

SLACK_SAYS: Final = (RuntimeError("ratelimited"), TooSoon(1.0), OSError("reset"))


MAX_NAPS: Final = 100

LATE: Final = LEASE
"""How long after its request a slow service does it: after a first look, and while that process still holds the change."""


def group(name: str) -> Record:
    return {"objectType": "group", "name": name, "status": "Active", "isFavourite": False, "colourOfTheirs": "red"}


def rule(name: str) -> Record:
    value = f"https://shop.example.com/{name.replace(' ', '-')}"
    pair = redirect_pair(value, "https://shop.example.com/")
    return {
        "name": name,
        "description": "",
        "status": "Active",
        "ruleType": "Redirect",
        "pairs": [pair],
        "fieldOfTheirs": {"kept": [1, None, "é"]},
    }


@asynccontextmanager
async def a_world(database_url: str) -> AsyncIterator[World]:
    """Both services over sockets, and a store: made once, and begun anew for every run."""
    clock, limits = StandingClock(), CallLimits(deadline=30.0, tries=1)
    async with open_ground(database_url, now=clock, limits=limits, seed=False) as opened:
        yield World(*opened, clock)


RULE: Final = Target(service="rules", key=RULE_IDS[0])


def proposal(world: World, kind: Kind, target: Target, after: Record | None, **more: Any) -> Proposal:
    """*target*, as it is, to become *after*; *more*: other fields of the request, which is Alice's."""
    edit = Edit(kind=kind, target=target, before=world.live(target), after=after)
    return Proposal.of(edit, ChangeRequest(requester=ALICE, channel=OPS, **more))


UPDATES: Final = {"rules": Kind.RULE_UPDATE, "members": Kind.MEMBER_UPDATE, "groups": Kind.GROUP_UPDATE}


def rename(world: World, name: str = "Ours", target: Target = RULE, **more: Any) -> Proposal:
    """*target* to be called *name*."""
    return proposal(world, UPDATES[target.service], target, (world.live(target) or {}) | {"name": name}, **more)


def renames(world: World, name: str, **more: Any) -> Proposal:
    """Both rules to be called *name*, as one set."""
    targets = [Target(service="rules", key=key) for key in RULE_IDS]
    return combine(CHANGES, [rename(world, name, target, **more) for target in targets])
