"""The queues: messages to Slack (outbox), requests from Slack (inbox) and timers; their rows are claimed under leases."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.store.changes import SERVICES, Newer, of_service
from bot.store.db import Session, insert_new, upsert
from bot.store.leases import Leases, Note
from bot.store.tables import cards, changes, inbox, micros, moment, outbox, timers

_card = outbox.alias("card")


def _of_card(column: sa.Column[Any]) -> sa.ScalarSelect[Any]:
    """The *column* of the row that the card of the same change has in its table, looked up for that change alone.

    For an EXISTS, PostgreSQL may read the whole table first: it can't know how few messages wait.
    """
    own = column.table.c
    mine = sa.select(column).where(own.change_id == outbox.c.change_id, own.purpose == "card")
    return mine.correlate(outbox).scalar_subquery()


WAITS: Final = outbox.c.delivered < outbox.c.version
CAN_GO: Final = sa.or_(
    outbox.c.purpose.in_(["card", "result"]),
    _of_card(_card.c.change_id).is_(None),
    sa.and_(_of_card(_card.c.delivered) > 0, _of_card(cards.c.ts).is_not(None)),
)
"""A note in a card's thread waits for the card: nobody can answer a reminder of a request that nobody sees."""


_direct = sa.or_(outbox.c.purpose == "result", outbox.c.purpose.startswith("notify-"), changes.c.channel == "")
_place = sa.select(sa.case((_direct, changes.c.requester), else_=changes.c.channel))
TO: Final = sa.func.coalesce(
    _place.where(changes.c.id == outbox.c.change_id).correlate(outbox).scalar_subquery(), outbox.c.change_id
)
"""The channel or the person that a message is for."""


@dataclass(frozen=True, slots=True)
class Delivery:
    """A message that *owner* is to deliver to the channel or person *to*; *version* counts how often it was enqueued."""

    to: str
    change_id: str
    purpose: str
    version: int
    attempt: int
    owner: str


class Purpose(StrEnum):
    """What a message is for. One that may come several times has a number behind a dash, such as ``remind-2``."""

    CARD = "card"
    RESULT = "result"
    BREAK_GLASS = "break_glass"
    LEFT = "left"
    REMIND = "remind"
    OFFER = "offer"
    REVIEW = "review"
    ASK = "ask"
    NOTIFY = "notify"


KNOWN_PURPOSES: Final = sa.or_(
    outbox.c.purpose.in_(sorted(Purpose)), *(outbox.c.purpose.startswith(f"{p}-") for p in Purpose)
)
"""Messages that this release can write: those of a newer one are left to it."""


class Outbox:
    def __init__(self, session: Session, newer: Newer) -> None:
        self._session = session
        self._newer = newer
        self.leases = Leases(session, outbox, outbox.c.attempt)

    async def enqueue(
        self, tx: AsyncConnection, change_id: str, purpose: str, *, within: timedelta = timedelta()
    ) -> None:
        """Enqueue the message *purpose* of a change; one that is enqueued already says how things stand when it is delivered.

        *within*: how long an edit may wait for others to come; one that waits already keeps its time. Raises ValueError for
        a purpose that is not among `Purpose`, which nobody would deliver.
        """
        Purpose(purpose.partition("-")[0])
        latest = self._session.now(within)
        due = sa.case((sa.and_(WAITS, self.leases.free), outbox.c.due), else_=latest) if within else latest
        fresh = {"version": outbox.c.version + 1, "due": due, "attempt": 0, "last_error": ""}
        first = fresh | {"version": 1, "delivered": 0, "due": latest}
        await upsert(tx, outbox, {"change_id": change_id, "purpose": purpose, **first}, fresh)

    async def make_due(self, tx: AsyncConnection, change_id: str) -> None:
        """Make due what was to wait for the news of a change that there are now; what Slack did not take keeps its time."""
        untried = sa.and_(outbox.c.change_id == change_id, outbox.c.attempt == 0, self.leases.free)
        await tx.execute(sa.update(outbox).where(untried, WAITS).values(due=self._session.now()))

    async def claim(self, owner: str, lease: timedelta, *, limit: int = 1, but: Collection[str] = ()) -> list[Delivery]:
        """Claim up to *limit* messages that are due the longest, each for another channel or person.

        *but*: the channels and people whose turn it isn't. There may be more for others where fewer than *limit* come back.
        """
        query = sa.select(outbox, TO.label("to")).where(*self._mine(but), outbox.c.due <= self._session.now())
        query = query.order_by(outbox.c.due).limit(limit)
        rows = await self.leases.claim(query, owner, lease, _first_for_each, attempt=outbox.c.attempt + 1)
        return [Delivery(row.to, row.change_id, row.purpose, row.version, row.attempt + 1, owner) for row in rows]

    def _mine(self, but: Collection[str] = ()) -> list[sa.ColumnElement[bool]]:
        """What tells the messages that this release can deliver now, to others than *but*."""
        mine = [WAITS, CAN_GO, KNOWN_PURPOSES, outbox.c.change_id.not_in(self._newer.ids)]
        return [*mine, TO.not_in(sorted(but))] if but else mine

    async def of_newer_release(self) -> frozenset[str]:
        """The ids of changes with a message that this release can't write."""
        async with self._session.reading() as connection:
            return frozenset(
                await connection.scalars(sa.select(outbox.c.change_id).where(WAITS, sa.not_(KNOWN_PURPOSES)))
            )

    async def renew(self, message: Delivery, lease: timedelta) -> bool:
        """Keep a message for another *lease*; False where another process has it."""
        return await self.leases.renew(_message(message), message.owner, lease)

    async def done(self, message: Delivery, note: Note | None = None) -> None:
        """Delivered as of its version, with the *note* of where it is; what was enqueued since then stays due."""
        await self._release(message, note, delivered=message.version, last_error="")

    async def retry(self, message: Delivery, due: datetime, error: str) -> None:
        await self._release(message, due=micros(due), last_error=error)

    async def give_up(self, message: Delivery, error: str) -> None:
        """Not to be tried again until it is enqueued again."""
        await self._release(message, delivered=message.version, last_error=error)

    async def give_back(self, message: Delivery, due: datetime) -> None:
        """Not tried, for it is not its turn yet."""
        await self._release(message, due=micros(due), attempt=message.attempt - 1)

    async def _release(self, message: Delivery, note: Note | None = None, **values: object) -> None:
        await self.leases.release(_message(message), message.owner, note, **values)

    async def next_due(self, *, but: Collection[str] = ()) -> datetime | None:
        """When the next message is due that is free to be claimed, for others than *but*."""
        query = sa.select(sa.func.min(outbox.c.due)).where(*self._mine(but), self.leases.free)
        async with self._session.reading() as connection:
            due = await connection.scalar(query)
        return None if due is None else moment(due)

    async def undelivered(self) -> int:
        """How many messages were given up."""
        return (await self._backlog(outbox.c.delivered >= outbox.c.version, outbox.c.last_error != ""))[0]

    async def waiting(self) -> int:
        """How many messages are to be delivered."""
        return (await self._backlog(WAITS))[0]

    async def late(self) -> int:
        """How many of them were tried and not taken."""
        return (await self._backlog(WAITS, outbox.c.last_error != ""))[0]

    async def seconds_overdue(self) -> float:
        """For how many seconds the message waits that was to be tried the longest ago."""
        return (await self._backlog(WAITS, outbox.c.due <= self._session.now()))[1]

    async def retry_failed_now(self) -> int:
        """Make due what waits after it was not taken, but for what Slack asked to wait with; how many that is."""
        failed = outbox.c.last_error.not_in(["", "ratelimited"])
        update = sa.update(outbox).where(WAITS, failed, self.leases.free).values(due=self._session.now())
        async with self._session.writing() as tx:
            return int((await tx.execute(update)).rowcount)

    async def _backlog(self, *which: sa.ColumnElement[bool]) -> tuple[int, float]:
        return await self._session.backlog(outbox.c.due, *which)

    async def retry_given_up(self) -> None:
        """Enqueue again what was given up: somebody may have put Slack right since."""
        given_up = sa.and_(outbox.c.delivered >= outbox.c.version, outbox.c.last_error != "")
        fresh = {"version": outbox.c.version + 1, "due": self._session.now(), "attempt": 0}
        async with self._session.writing() as tx:
            await tx.execute(sa.update(outbox).where(given_up).values(fresh))


def _message(message: Delivery) -> sa.ColumnElement[bool]:
    return sa.and_(outbox.c.change_id == message.change_id, outbox.c.purpose == message.purpose)


def _first_for_each(rows: Sequence[sa.Row[Any]]) -> Sequence[sa.Row[Any]]:
    """The first of *rows* for each channel and person, in their order."""
    first: dict[str, sa.Row[Any]] = {}
    for row in rows:
        first.setdefault(row.to, row)
    return list(first.values())


KINDS = ("command", "click", "submission", "event")
"""Kinds of requests that this release takes in, and takes up."""
REMEMBERED_FOR = timedelta(hours=24)
"""How long a request is remembered by its signature."""
SAME_ACT_WITHIN = timedelta(minutes=10)
"""How long an act is remembered by what it was: Slack's own retries end after five minutes."""
MAX_ATTEMPTS: Final = 10
"""Processes that may begin a request and die; after that it is handed out once more, to be given up in words."""


OPEN: Final[sa.ColumnElement[bool]] = sa.literal_column("done IS FALSE")
"""Requests that are not done, in the words of the index of them: SQLite finds it by no others."""


@dataclass(frozen=True, slots=True)
class StoredRequest:
    """A stored request that *owner* is to do: its kind (``command``, ``click``, ``submission``) and Slack's payload.

    *attempts*: how many processes began it before and did not finish.
    """

    id: str
    kind: str
    payload: dict[str, Any]
    attempts: int
    received: datetime
    owner: str


class Inbox:
    def __init__(self, session: Session) -> None:
        self._session = session
        self.leases = Leases(session, inbox, inbox.c.attempt)

    async def take_in(
        self, key: str, natural_key: str, kind: str, payload: Mapping[str, Any], *, owner: str, lease: timedelta
    ) -> StoredRequest | None:
        """Store a request, claimed and begun by *owner*; None where it is known by either key, so not to be done again."""
        if kind not in KINDS:
            raise ValueError(kind)
        now = self._session.now()
        row = {
            "id": key,
            "natural_key": natural_key,
            "kind": kind,
            "payload": json.dumps(payload),
            "received": now,
            "done": False,
            "attempt": 1,
            "owner": owner,
            "lease": self._session.now(lease),
        }
        async with self._session.writing() as tx:
            past = sa.and_(inbox.c.natural_key == natural_key, inbox.c.received < self._session.now(-SAME_ACT_WITHIN))
            await tx.execute(sa.delete(inbox).where(past, inbox.c.done))
            is_new = await insert_new(tx, inbox, row)
        return StoredRequest(key, kind, dict(payload), 0, moment(now), owner) if is_new else None

    async def claim(self, owner: str, lease: timedelta, *, but: Collection[str] = ()) -> StoredRequest | None:
        """Claim the oldest request that was left; None where there is none that is still remembered.

        Requests of a kind that only a newer release takes in are left to it. *but*: ids of those not to be taken.
        """
        left = sa.and_(OPEN, inbox.c.attempt <= MAX_ATTEMPTS, inbox.c.kind.in_(KINDS))
        remembered = inbox.c.received >= self._session.now(-REMEMBERED_FOR)
        query = sa.select(inbox).where(left, remembered, inbox.c.id.not_in(but)).order_by(inbox.c.received)
        for row in await self.leases.claim(query.limit(1), owner, lease):
            return StoredRequest(row.id, row.kind, json.loads(row.payload), row.attempt, moment(row.received), owner)
        return None

    async def get(self, request_id: str) -> StoredRequest | None:
        """Return the request, done or not; None where it is no longer remembered."""
        remembered = inbox.c.received >= self._session.now(-REMEMBERED_FOR)
        query = sa.select(inbox).where(inbox.c.id == request_id, remembered)
        async with self._session.reading() as connection:
            row = (await connection.execute(query)).one_or_none()
        if row is None:
            return None
        return StoredRequest(row.id, row.kind, json.loads(row.payload), row.attempt, moment(row.received), row.owner)

    async def attach(self, request_id: str, more: Mapping[str, Any]) -> None:
        """Add *more* to the payload of a request, for as long as that is remembered."""
        async with self._session.writing() as tx:
            payload = await tx.scalar(sa.select(inbox.c.payload).where(inbox.c.id == request_id))
            if payload is not None:
                values = {"payload": json.dumps(json.loads(payload) | dict(more))}
                await tx.execute(sa.update(inbox).where(inbox.c.id == request_id).values(values))

    async def begin(self, request: StoredRequest) -> bool:
        """Count an attempt at a request that was claimed, right before it is made; False where another process has it.

        Not counted with the claim: a request may wait for its turn while its process dies of something else.
        """
        async with self._session.writing() as tx:
            begun = {"attempt": request.attempts + 1}
            return await self.leases.write(tx, _request(request), request.owner, begun)

    async def renew(self, request: StoredRequest, lease: timedelta) -> bool:
        """Keep a request for another *lease*; False where another process has it."""
        return await self.leases.renew(_request(request), request.owner, lease)

    async def backlog(self) -> tuple[int, float]:
        """How many requests are not done yet, and the age of the oldest in seconds."""
        return await self._session.backlog(inbox.c.received, OPEN)

    async def give_back(self, request: StoredRequest) -> None:
        """Release a request for the next process, at once; one that releases it did not die of it."""
        await self.leases.release(_request(request), request.owner, attempt=request.attempts)

    async def forget(self) -> None:
        """Drop what need not be remembered any more."""
        async with self._session.writing() as tx:
            await tx.execute(sa.delete(inbox).where(inbox.c.received < self._session.now(-REMEMBERED_FOR)))

    async def done(self, request_id: str) -> None:
        async with self._session.writing() as tx:
            await tx.execute(sa.update(inbox).where(inbox.c.id == request_id).values(done=True))


def _request(request: StoredRequest) -> sa.ColumnElement[bool]:
    return sa.and_(inbox.c.id == request.id, inbox.c.done.is_(False))


class TimerKind(StrEnum):
    EXPIRE = "expire"
    REMIND = "remind"
    OFFER = "offer"
    REVERT = "revert"
    REVIEW = "review"


NO_SERVICE: Final = "no service"
LANES: Final = (NO_SERVICE, *SERVICES)
"""What is due by what it needs: the ends of temporary changes call the service of their target, all else calls none."""
KNOWN_TIMERS: Final = timers.c.kind.in_(sorted(TimerKind))
"""Timers of the kinds of this release: those of a newer one are left to it."""


@dataclass(frozen=True, slots=True)
class Timer:
    """One thing to be done to a change at *due*. *number* counts how often it came before."""

    change_id: str
    kind: TimerKind
    due: datetime
    number: int
    owner: str = ""


class Timers:
    def __init__(self, session: Session, newer: Newer) -> None:
        self._session = session
        self._newer = newer
        self.leases = Leases(session, timers, sa.literal(0))

    async def set(self, tx: AsyncConnection, change_id: str, kind: TimerKind, due: datetime) -> None:
        """From now on *kind* is due at *due*, and not when it was due before."""
        fresh = {"due": micros(due), "number": 0, "owner": "", "lease": 0}
        await upsert(tx, timers, {"change_id": change_id, "kind": kind, **fresh})

    async def clear(self, tx: AsyncConnection, change_id: str, *kinds: TimerKind) -> None:
        await tx.execute(sa.delete(timers).where(timers.c.change_id == change_id, timers.c.kind.in_(kinds)))

    async def claim(self, owner: str, lease: timedelta, lane: str | None = None) -> Timer | None:
        """Claim the timer that is overdue the longest; None where none is due. It is never handed out early.

        *lane*: one of `LANES`, whose timers are taken; None for each.
        """
        due = sa.and_(timers.c.due <= self._session.now(), timers.c.change_id.not_in(self._newer.ids))
        query = sa.select(timers).where(due, KNOWN_TIMERS, _in_lane(lane)).order_by(timers.c.due).limit(1)
        for row in await self.leases.claim(query, owner, lease):
            return Timer(row.change_id, TimerKind(row.kind), moment(row.due), row.number, owner)
        return None

    async def of_newer_release(self) -> frozenset[str]:
        """The ids of changes with a timer that this release doesn't know."""
        async with self._session.reading() as connection:
            return frozenset(await connection.scalars(sa.select(timers.c.change_id).where(sa.not_(KNOWN_TIMERS))))

    async def again(self, timer: Timer, due: datetime) -> None:
        """Done for this time, and due again."""
        await self.leases.release(_timer(timer), timer.owner, due=micros(due), number=timer.number + 1)

    async def give_back(self, timer: Timer) -> None:
        """Nothing was done."""
        await self.leases.release(_timer(timer), timer.owner)

    async def done(self, timer: Timer) -> None:
        """Remove what is done, unless it was set again in the meantime."""
        async with self._session.writing() as tx:
            await tx.execute(sa.delete(timers).where(_timer(timer), timers.c.owner == timer.owner))

    async def overdue(self) -> tuple[int, float]:
        """How many timers are due, and for how many seconds the longest."""
        return await self._session.backlog(timers.c.due, timers.c.due <= self._session.now(), KNOWN_TIMERS)

    async def reviews(self) -> int:
        """How many reviews are due: each has a timer until somebody made it."""
        return (await self._session.backlog(timers.c.due, timers.c.kind == TimerKind.REVIEW))[0]

    async def pending(self, kind: TimerKind, limit: int = 50) -> Sequence[Timer]:
        """What will fall due, soonest first."""
        query = sa.select(timers).where(timers.c.kind == kind).order_by(timers.c.due).limit(limit)
        async with self._session.reading() as connection:
            rows = await connection.execute(query)
            return [Timer(row.change_id, TimerKind(row.kind), moment(row.due), row.number) for row in rows]


def _in_lane(lane: str | None) -> sa.ColumnElement[bool]:
    calls = timers.c.kind == TimerKind.REVERT
    if lane is None:
        return sa.true()
    if lane == NO_SERVICE:
        return sa.not_(calls)
    return sa.and_(calls, sa.exists().where(changes.c.id == timers.c.change_id, of_service(lane)))


def _timer(timer: Timer) -> sa.ColumnElement[bool]:
    same = sa.and_(timers.c.change_id == timer.change_id, timers.c.kind == timer.kind)
    return sa.and_(same, timers.c.due == micros(timer.due))
