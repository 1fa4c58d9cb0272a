"""Work off the outbox: deliver its messages to Slack, with retries, and have the rest done."""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from typing import Final

import structlog

from bot.changes.journal import Journal
from bot.changes.model.change import Change
from bot.changes.model.states import State
from bot.changes.worker import Wake, keep_renewing, work_off
from bot.clients.errors import PERMANENT_CODES
from bot.metrics import DELIVERED, UNDELIVERED
from bot.store.db import StoreError
from bot.store.engine import Store
from bot.store.leases import Note
from bot.store.outbox import LANES, MESSAGES, Delivery, Purpose

log = structlog.get_logger(__name__)

DELIVERIES_AT_ONCE: Final = 4
"""Channels and people that are sent to at the same time: where Slack is slow in one, the others don't wait.

Of each lane of work, as many at the same time.
"""
MAX_TRIES = 12
"""Tries before a message that Slack refuses is given up with an error in the log: with the waits below, most of an hour."""
MAX_UNENDED_TRIES: Final = 3
"""Tries that began and never ended, after which a message is sent *plain*: drawing it may be what kills the process."""
MAX_WAIT_SECONDS = 600.0
MAX_TRIES_AWAY = 1440
"""The same while Slack is unavailable: about a day."""
MAX_WAIT_AWAY_SECONDS = 60.0
"""The longest time after Slack is back until what waited for it is sent."""
REMINDER_PAUSES: Final = (timedelta(minutes=45), timedelta(hours=3), timedelta(hours=8))
"""A reminder is repeated until it is dropped: the pauses after the first time, the second, and later ones."""
SAID_BEFORE: Final[Mapping[str, Callable[[Change], datetime | None]]] = {
    Purpose.REMIND: lambda change: change.decision.expires,
    Purpose.STARTS: lambda change: change.request.starts_at,
    Purpose.OFFER: lambda change: change.request.reverts_at,
}
"""Messages that are only sent before a moment, which may be past after a downtime."""


@dataclass(eq=False)
class TooSoon(Exception):
    """A channel takes one message a second; *seconds* is how long until the next one."""

    seconds: float


class Pace:
    """Limits messages to one per second and channel, as Slack asks; edits are not messages."""

    def __init__(self, clock: Callable[[], float], seconds: float = 1.0) -> None:
        self._clock = clock
        self._seconds = seconds
        self._last: dict[str, float] = {}

    def take(self, channel: str) -> None:
        """Take the channel's turn; raises TooSoon where its last message is too recent."""
        now = self._clock()
        wait = self._last.get(channel, 0.0) + self._seconds - now
        if wait > 0:
            raise TooSoon(wait)
        # Entries older than the pause are dropped, or this would grow with every channel ever used.
        self._last = {name: at for name, at in self._last.items() if now - at < self._seconds} | {channel: now}


@dataclass(slots=True)
class OutboxWorker:
    """Does what is due in the outbox. Any replica may; a claim with a lease decides who does."""

    journal: Journal
    deliver: Callable[[Change, str, bool], Awaitable[Note | None]]
    """Is given a change, the purpose of a message, and whether that is to be plain."""
    work: Callable[[Delivery], Awaitable[None]]
    """Does what is no message."""
    wake: Wake
    _claimed: list[Delivery] = field(default_factory=list)
    """What is claimed and about to be done."""
    _busy: dict[str, str] = field(default_factory=dict)
    """The lane of each recipient that something is claimed for: the next one waits, so that each gets them in order."""
    _next_due: datetime | None = None
    """When the next is due that can be done, by the last look; None where there was none."""

    @property
    def _store(self) -> Store:
        return self.journal.store

    async def run(self, *, every: float) -> None:
        """Do what is due until cancelled; look for what others have enqueued every so many seconds."""
        await work_off(
            "outbox",
            ["all"],
            lambda _: self._claim(LANES),
            self._do,
            width=DELIVERIES_AT_ONCE * len(LANES),
            every=every,
            wake=self.wake,
            due_in=self._due_in,
        )

    def _room(self, lanes: Collection[str]) -> dict[str, int]:
        """Return how many more of each of *lanes* may be done at the same time, without those that are full."""
        if self.journal.stopping.is_set():
            lanes = [MESSAGES]
        busy = Counter(self._busy.values())
        return {lane: DELIVERIES_AT_ONCE - busy[lane] for lane in lanes if busy[lane] < DELIVERIES_AT_ONCE}

    async def _claim(self, lanes: Collection[str]) -> Delivery | None:
        """Claim the next of *lanes* for a recipient that nothing is done for at the moment."""
        if not self._claimed:
            room = self._room(lanes)
            self._next_due = await self._store.outbox.next_due(room, but=self._busy)
            if self._next_due is None or self._next_due > self.journal.now():
                return None
            taking = asyncio.create_task(self._take(room))
            try:
                await asyncio.shield(taking)
            except asyncio.CancelledError:
                # If the claim were cut off after its commit, what it claimed would wait until its lease ends.
                await asyncio.wait([taking])
                raise
        return self._claimed.pop(0) if self._claimed else None

    async def _take(self, room: Mapping[str, int]) -> None:
        self._claimed = await self._store.outbox.claim(self.journal.owner, self.journal.lease, room, but=self._busy)
        self._busy |= {each.to: each.lane for each in self._claimed}

    async def _due_in(self, most: float) -> float:
        """Seconds until something is due that can be done then, at most *most*; the end of a delivery wakes the worker."""
        due = self._next_due if self._room(LANES) else None
        return most if due is None else min(most, max(0.01, (due - self.journal.now()).total_seconds()))

    async def flush(self, seconds: float) -> None:
        """Deliver what is due, for at most *seconds*; the rest is for the next start. Call it only once `run` has ended.

        Two of them claiming at once would mean that one is cut off between a post and its record.
        """
        with contextlib.suppress(TimeoutError, StoreError):
            async with asyncio.timeout(seconds):
                while await self.deliver_one():
                    pass

    async def deliver_one(self) -> bool:
        """Deliver the next message that is due; False where none is."""
        if (message := await self._claim([MESSAGES])) is None:
            return False
        await self._do(message)
        return True

    async def _do(self, claimed: Delivery) -> None:
        try:
            await (self._try(claimed) if claimed.lane == MESSAGES else self.work(claimed))
        finally:
            self._busy.pop(claimed.to, None)

    async def _try(self, message: Delivery) -> None:
        try:
            note, again = None, self._repeat_time(message)
            # With an error on record, the tries before came to an end, so they did not kill their process.
            is_plain = message.attempt > MAX_UNENDED_TRIES and not message.error
            change = await self._store.changes.get(message.change_id)
            renew = partial(self._store.outbox.renew, message, self.journal.lease)
            async with keep_renewing(message.change_id, self.journal.lease, renew):  # a long file takes its time
                if change is not None and not self._is_pointless(change, message.purpose):
                    note = await self.deliver(change, message.name, is_plain)
        except TooSoon as pace:
            await self._store.outbox.give_back(message, self.journal.now() + timedelta(seconds=pace.seconds))
        except Exception as error:  # noqa: BLE001  whatever went wrong, it is tried again
            await self._retry(message, error)
        else:
            await self._store.outbox.mark_delivered(message, note, again=again)
            DELIVERED.inc()

    def _repeat_time(self, message: Delivery) -> datetime | None:
        """When *message* is sent again; None for one that is sent once."""
        if message.purpose != Purpose.REMIND:
            return None
        return self.journal.now() + REMINDER_PAUSES[min(message.version, len(REMINDER_PAUSES)) - 1]

    def _is_pointless(self, change: Change, purpose: str) -> bool:
        """Whether the message is no longer needed; those of other purposes decide that when they are drawn."""
        if (of := SAID_BEFORE.get(purpose)) is not None:
            return (moment := of(change)) is not None and moment <= self.journal.now()
        return _is_tried_again(change)

    async def _retry(self, message: Delivery, error: Exception) -> None:
        away = bool(getattr(error, "is_away", False))
        reason = str(error)[:200] or type(error).__name__
        if message.attempt >= (MAX_TRIES_AWAY if away else MAX_TRIES):
            log.error("undeliverable", change=message.change_id[:8], purpose=message.purpose, error=reason)
            UNDELIVERED.inc()
            await self._store.outbox.give_up(message, reason, again=self._repeat_time(message))
            return
        most = MAX_WAIT_AWAY_SECONDS if away else MAX_WAIT_SECONDS
        # Where Slack says how long to wait, that counts.
        wait = getattr(error, "seconds", None) or min(most, 2.0 ** min(message.attempt, 10))
        log.warning("not_delivered", change=message.change_id[:8], error=type(error).__name__, again_in=wait)
        await self._store.outbox.retry(message, self.journal.now() + timedelta(seconds=wait), reason)


def _is_tried_again(change: Change) -> bool:
    """Whether *change* is a try of an automatic end, and not its last one: what was to end tells of it."""
    is_last = change.state is State.APPLIED or change.run.refusal.code in PERMANENT_CODES
    return change.is_automatic and not is_last
