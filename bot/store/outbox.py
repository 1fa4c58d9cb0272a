"""The outbox: messages to Slack and work that is due, claimed under leases; and where the delivered messages are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from functools import partial
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.store.db import Session, insert_new, upsert
from bot.store.leases import Leases, Note
from bot.store.tables import SERVICES, cards, changes, is_of_service, micros, moment, outbox


class Purpose(StrEnum):
    """What a row is for. A message that may come several times and is not `FOR_LATER` has a moment behind a dash."""

    CARD = "card"
    BREAK_GLASS = "break_glass"
    LATE = "late"
    LEFT = "left"
    REMIND = "remind"
    STARTS = "starts"
    STARTED = "started"
    MOVED = "moved"
    HELD = "held"
    OFFER = "offer"
    NOTIFY = "notify"
    EXPIRE = "expire"
    START = "start"
    REVERT = "revert"

    def of(self, moment: datetime) -> str:
        """Return the purpose of the message about this *moment* and no other."""
        # A purpose has room for 16 characters; eight digits tell moments of three years apart.
        return f"{self}-{int(moment.timestamp()) % 100_000_000}"


WORK: Final = frozenset({Purpose.EXPIRE, Purpose.START, Purpose.REVERT})
"""What is to be done to a change, rather than said of it."""
FOR_LATER: Final = WORK | {Purpose.REMIND, Purpose.STARTS, Purpose.OFFER}
"""What is enqueued long before it is due, and dropped where it is no longer needed."""
MESSAGES: Final = "messages"
LANES: Final = (MESSAGES, "no service", *SERVICES)
"""None of them waits for another: starts and reverts call the service of their target, expiries call none."""


_card = outbox.alias("card")


def _card_column(column: sa.Column[Any]) -> sa.ScalarSelect[Any]:
    """Return a subquery for *column* of the card of the same change, looked up for that change only.

    For an EXISTS, PostgreSQL may read the whole table first: it can't know how few messages wait.
    """
    own = column.table.c
    mine = sa.select(column).where(own.change_id == outbox.c.change_id, own.purpose == "card")
    return mine.correlate(outbox).scalar_subquery()


WAITS: Final = outbox.c.delivered < outbox.c.version
GIVEN_UP: Final = (outbox.c.delivered >= outbox.c.version, outbox.c.last_error != "")
"""Of messages that Slack refused for good."""
CAN_GO: Final = sa.or_(
    outbox.c.purpose.in_([*WORK, "card"]),
    _card_column(_card.c.change_id).is_(None),
    sa.and_(_card_column(_card.c.delivered) > 0, _card_column(cards.c.ts).is_not(None)),
)
"""Condition: a note in a card's thread waits for the card, since nobody can answer a reminder without the request."""


_service = sa.select(sa.case(*((is_of_service(name), name) for name in SERVICES)))
LANE: Final = sa.case(
    (outbox.c.purpose.not_in(WORK), MESSAGES),
    (outbox.c.purpose == Purpose.EXPIRE, "no service"),
    else_=_service.where(changes.c.id == outbox.c.change_id).correlate(outbox).scalar_subquery(),
)
"""The expression for the lane of a row."""
_direct = sa.or_(outbox.c.purpose.startswith("notify-"), changes.c.channel == "")
_place = sa.select(sa.case((_direct, changes.c.requester), else_=changes.c.channel))
_recipient = _place.where(changes.c.id == outbox.c.change_id, outbox.c.purpose.not_in(WORK)).correlate(outbox)
RECIPIENT: Final = sa.func.coalesce(_recipient.scalar_subquery(), outbox.c.change_id)
"""The expression for the channel or the person that a message is for, or the change that something is done to."""


@dataclass(frozen=True, slots=True)
class Delivery:
    """A message that *owner* is to deliver to the channel or person *to*, or work that it is to do.

    *version* counts how often it was enqueued, *attempt* how often it was claimed since.
    """

    lane: str
    to: str
    change_id: str
    purpose: str
    version: int
    attempt: int
    owner: str
    error: str = ""
    """Why the previous try failed; empty where none has ended yet."""

    @property
    def name(self) -> str:
        """Return a name that is unique among the change's messages: the purpose, and the version of what comes several times."""
        return f"{self.purpose}-{self.version}" if self.purpose in FOR_LATER else self.purpose


ONE_MESSAGE: Final = {MESSAGES: 1}


class Outbox:
    def __init__(self, session: Session) -> None:
        self._session = session
        self.leases = Leases(session, outbox, outbox.c.attempt)

    async def enqueue(
        self,
        tx: AsyncConnection,
        change_id: str,
        purpose: str,
        *,
        within: timedelta = timedelta(),
        due: datetime | None = None,
        once: bool = False,
    ) -> None:
        """Enqueue the message *purpose* of a change, once: a message shows the state of things at its delivery.

        *within*: how long an edit may wait for others to come; one that waits already keeps its time. *due*: from when on
        one is to be delivered that is `FOR_LATER`. *once*: not again, even if it was delivered. Raises ValueError for a
        purpose that is not among `Purpose`, which nobody would deliver.
        """
        Purpose(purpose.partition("-")[0])
        first = self._session.now(within) if due is None else micros(due)
        # A message that is being delivered may be rendered already, so news is due at a time of its own.
        again = sa.case((sa.and_(WAITS, self.leases.free), outbox.c.due), else_=first) if within else first
        fresh = {"version": outbox.c.version + 1, "due": again, "attempt": 0, "last_error": ""}
        row = fresh | {"version": 1, "delivered": 0, "due": first}
        row |= {"change_id": change_id, "purpose": purpose}
        await (insert_new(tx, outbox, row) if once else upsert(tx, outbox, row, fresh))

    async def drop_for_later(self, tx: AsyncConnection, change_id: str, *purposes: Purpose) -> None:
        """Drop messages that are `FOR_LATER` and no longer needed."""
        await tx.execute(sa.delete(outbox).where(outbox.c.change_id == change_id, outbox.c.purpose.in_(purposes)))

    async def make_due(self, tx: AsyncConnection, change_id: str) -> None:
        """Make due at once the edits that were to wait for news of the change; what Slack did not take keeps its time."""
        news = sa.and_(outbox.c.change_id == change_id, outbox.c.purpose.not_in(FOR_LATER))
        # A message that was tried keeps its time, since Slack may have asked to wait.
        untried = sa.and_(news, outbox.c.attempt == 0, self.leases.free)
        await tx.execute(sa.update(outbox).where(untried, WAITS).values(due=self._session.now()))

    async def claim(
        self, owner: str, lease: timedelta, room: Mapping[str, int] = ONE_MESSAGE, *, but: Collection[str] = ()
    ) -> list[Delivery]:
        """Claim what is overdue the longest, each for another recipient. It is never handed out early.

        *room*: how many of each lane may be claimed. *but*: the recipients whose turn it isn't. There may be more where fewer
        come back.
        """
        is_due = outbox.c.due <= self._session.now()
        query = sa.select(outbox, RECIPIENT.label("to"), LANE.label("lane")).where(*_conditions(room, but), is_due)
        query = query.order_by(outbox.c.due).limit(max(room.values()))
        choose = partial(_first_per_recipient, room)
        rows = await self.leases.claim(query, owner, lease, choose, look=False, attempt=outbox.c.attempt + 1)
        return [
            Delivery(row.lane, row.to, row.change_id, row.purpose, row.version, row.attempt + 1, owner, row.last_error)
            for row in rows
        ]

    async def renew(self, message: Delivery, lease: timedelta) -> bool:
        """Keep a message for another *lease*; False where another process has it."""
        return await self.leases.renew(_is_message(message), message.owner, lease)

    async def mark_delivered(
        self, message: Delivery, note: Note | None = None, *, again: datetime | None = None
    ) -> None:
        """Mark *message* delivered as of its version, with the *note* of where it is; a newer version stays due.

        *again*: when the same message is to be sent again, unless it was enqueued or dropped since.
        """
        await self._release(message, note, delivered=message.version, last_error="", **_repeat_values(message, again))

    async def retry(self, message: Delivery, due: datetime, error: str = "") -> None:
        """Release *message* until *due*; what was enqueued again since it was claimed keeps its own time."""
        await self._release(message, **_unless_newer(message, due=micros(due), last_error=error))

    async def give_up(self, message: Delivery, error: str, *, again: datetime | None = None) -> None:
        """Stop trying *message* until it is enqueued again. *again*: as for `mark_delivered`."""
        values = _unless_newer(message, last_error=error) | _repeat_values(message, again)
        await self._release(message, delivered=message.version, **values)

    async def give_back(self, message: Delivery, due: datetime) -> None:
        """Release *message* untried until *due*, since it is not its turn yet."""
        # The claim counted an attempt that was never made.
        await self._release(message, **_unless_newer(message, due=micros(due), attempt=message.attempt - 1))

    async def _release(self, message: Delivery, note: Note | None = None, **values: object) -> None:
        await self.leases.release(_is_message(message), message.owner, note, **values)

    async def next_due(self, lanes: Collection[str] = ONE_MESSAGE, *, but: Collection[str] = ()) -> datetime | None:
        """Return when the next of *lanes* is due, for recipients other than *but*; None where there is none."""
        query = sa.select(sa.func.min(outbox.c.due)).where(*_conditions(lanes, but), self.leases.free)
        first = await self._session.scalar(query)
        return None if first is None else moment(first)

    async def backlogs(self) -> dict[str, tuple[int, float]]:
        """Return how many messages are to be delivered, were tried without success, or given up, and how much work is due.

        Each with the seconds for which the most overdue has been due.
        """
        # Reminders wait for hours by design; counted before they are due, they would look like a backlog.
        is_for_now = sa.or_(outbox.c.purpose.not_in(FOR_LATER), outbox.c.due <= self._session.now())
        which = {
            "message": (WAITS, is_for_now, outbox.c.purpose.not_in(WORK)),
            "timer": (WAITS, is_for_now, outbox.c.purpose.in_(WORK)),
            "late": (WAITS, outbox.c.last_error != ""),
            "given_up": GIVEN_UP,
        }
        return {name: await self._session.backlog(outbox.c.due, *those) for name, those in which.items()}

    async def pending_change_ids(self, purpose: Purpose) -> Sequence[str]:
        """Return the ids of the changes for which something of this *purpose* is to come, the next one first."""
        query = sa.select(outbox.c.change_id).where(WAITS, outbox.c.purpose == purpose).order_by(outbox.c.due)
        return [row.change_id for row in await self._session.rows(query)]

    async def retry_given_up(self) -> None:
        """Enqueue given-up messages again: the problem in Slack may have been fixed since."""
        fresh = {"version": outbox.c.version + 1, "due": self._session.now(), "attempt": 0}
        async with self._session.writing() as tx:
            await tx.execute(sa.update(outbox).where(*GIVEN_UP).values(fresh))


def _conditions(lanes: Collection[str], but: Collection[str]) -> list[sa.ColumnElement[bool]]:
    """Return the conditions for what of *lanes* can be done now, for recipients other than *but*."""
    conditions = [WAITS, CAN_GO, LANE.in_(sorted(lanes))]
    return [*conditions, RECIPIENT.not_in(sorted(but))] if but else conditions


def _is_message(message: Delivery) -> sa.ColumnElement[bool]:
    return sa.and_(outbox.c.change_id == message.change_id, outbox.c.purpose == message.purpose)


def _unless_newer(message: Delivery, **values: object) -> dict[str, Any]:
    """Return the column *values* of *message*, or what is there where it was enqueued again since it was claimed."""
    is_same = outbox.c.version == message.version
    return {name: sa.case((is_same, value), else_=outbox.c[name]) for name, value in values.items()}


def _repeat_values(message: Delivery, again: datetime | None) -> dict[str, Any]:
    """Return the column values that make *message* due *again*, unless it was enqueued since it was claimed."""
    if again is None:
        return {}
    return _unless_newer(message, version=message.version + 1, due=micros(again), attempt=0)


def _first_per_recipient(room: Mapping[str, int], rows: Sequence[sa.Row[Any]]) -> Sequence[sa.Row[Any]]:
    """Return the first of *rows* for each recipient, in their order, and no more of a lane than there is *room* for."""
    first: dict[str, sa.Row[Any]] = {}
    taken = Counter[str]()
    for row in rows:
        if row.to not in first and taken[row.lane] < room[row.lane]:
            first[row.to] = row
            taken[row.lane] += 1
    return list(first.values())


class Cards:
    """Channel and ts of the messages that are edited, by their purpose; for a file, its id instead of the ts."""

    def __init__(self, session: Session) -> None:
        self._session = session

    async def get(self, change_id: str, purpose: str) -> tuple[str, str] | None:
        query = sa.select(cards.c.channel, cards.c.ts).where(cards.c.change_id == change_id, cards.c.purpose == purpose)
        return next(((row.channel, row.ts) for row in await self._session.rows(query)), None)

    async def put(
        self, tx: AsyncConnection, change_id: str, channel: str, ts: str, purpose: str, permalink: str = ""
    ) -> None:
        place = {"channel": channel, "ts": ts, "permalink": permalink}
        await upsert(tx, cards, {"change_id": change_id, "purpose": purpose, **place})

    async def is_message_of(self, change_id: str, channel: str, ts: str) -> bool | None:
        """Whether a message is one of the change's own; None where no message of the change is on record."""
        query = sa.select(cards.c.channel, cards.c.ts).where(cards.c.change_id == change_id)
        known = [(row.channel, row.ts) for row in await self._session.rows(query)]
        return (channel, ts) in known if known else None

    async def has_message(self, channel: str, ts: str) -> bool:
        """Whether a message is one of any change's own."""
        return bool(await self._session.rows(sa.select(cards.c.ts).filter_by(channel=channel, ts=ts)))

    async def link(self, change_id: str) -> str:
        """Return the permalink of the change's card; empty while there is none."""
        query = sa.select(cards.c.permalink).where(cards.c.change_id == change_id, cards.c.purpose == "card")
        return await self._session.scalar(query) or ""
