"""What could change something: stored first and acknowledged then, so that an acknowledged click survives the process."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import Any, Final
from weakref import WeakValueDictionary

import structlog
from slack_bolt.async_app import AsyncAck
from slack_bolt.request.async_request import AsyncBoltRequest

from bot.changes.applying import Checkpoint
from bot.changes.leases import leased
from bot.changes.loops import Wake, worked_off
from bot.gatehouse import Gatehouse
from bot.store.errors import StoreError
from bot.store.inbound import MOST_ATTEMPTS, Inbound
from handlers import errors, inputs
from handlers.answers import Answers
from handlers.commands.shorthand import Shorthand
from handlers.dispatch import Dispatcher
from handlers.inputs import CALLERS, Body
from handlers.reply import Caller
from handlers.tasks import Tasks

log = structlog.get_logger(__name__)

SHORTHAND: Final = "gatehouse_shorthand"
"""The name under which a stored payload holds what its short forms stand for, beside Slack's own."""
RESUMED_AT_ONCE: Final = 16
"""Requests, of as many people, that are resumed at a time."""


class Intake:
    """Keeps requests until they are done, and takes up those whose process died."""

    def __init__(
        self,
        gatehouse: Gatehouse,
        dispatcher: Dispatcher,
        answers: Answers,
        tasks: Tasks,
        *,
        owner: str,
        lease: timedelta,
        reached: Checkpoint,
    ) -> None:
        self._gatehouse = gatehouse
        self._inbound = gatehouse.store.inbound
        self._dispatcher = dispatcher
        self._answers = answers
        self._tasks = tasks
        self._owner = owner
        self._lease = lease
        self._reached = reached
        self._at_work: set[str] = set()
        """Ids of the requests that this process is doing."""
        self._turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        """For each person whose requests are resumed: one of these is done at a time."""

    async def store_then_ack(self, kind: str, body: Body, ack: AsyncAck, req: AsyncBoltRequest, **answer: Any) -> None:
        """Commit the request, acknowledge it, start on it. A second delivery of it is acknowledged and left alone."""
        caller = CALLERS[kind](body)
        natural = caller.request
        signature = (req.headers.get("x-slack-signature") or [natural])[0]
        key = hashlib.sha256(signature.encode()).hexdigest()
        try:
            self._reached("store")
            short = await self._dispatcher.look_up(kind, body, caller)
            payload = {**body, SHORTHAND: short.model_dump()}
            kept = await self._inbound.take_in(key, natural, kind, payload, owner=self._owner, lease=self._lease)
        except Exception as error:  # noqa: BLE001  not stored: not promised, and said so
            await ack()
            self._tasks.start(self._answers.say(caller, error, inputs.asked(kind, body)))
            return
        self._reached("acknowledge")
        await ack(**answer)
        if kept is not None:
            self._tasks.start(self._work_on(kept, self._do))

    async def _work_on(self, kept: Inbound, work: Callable[[Inbound], Awaitable[None]]) -> None:
        """Do *work* for as long as the request is this process's: nobody does it at the same time, here or elsewhere."""
        self._at_work.add(kept.id)
        renew = partial(self._inbound.renew, kept.id, self._owner, self._lease)
        try:
            async with leased(kept.id, self._lease, renew):
                await work(kept)
        except TimeoutError:
            log.warning("request_lost", request=kept.id[:8])
        except asyncio.CancelledError:
            with suppress(StoreError):  # then it waits until its lease is over
                await self._inbound.hand_back(kept.id, self._owner)
            raise
        finally:
            self._at_work.discard(kept.id)

    async def _do(self, kept: Inbound) -> None:
        """Do a stored request; what it proposes is known by its id."""
        self._reached("run")
        await self._dispatcher.dispatch(kept.kind, kept.payload, _caller(kept))
        self._reached("finish")
        await self._inbound.done(kept.id)

    async def _do_again(self, kept: Inbound) -> None:
        """Go on with the change that a request has proposed already, or do the request where it has proposed none."""
        if kept.attempt > MOST_ATTEMPTS:
            await self._give_up(kept)
        elif (change := await self._gatehouse.store.changes.of_origin(kept.id)) is not None:
            log.info("resuming", kind=kept.kind, request=kept.id[:8], change=change.id[:8])
            await self._dispatcher.go_on(kept.kind, kept.payload, _caller(kept), change)
            await self._inbound.done(kept.id)
        else:
            log.info("resuming", kind=kept.kind, request=kept.id[:8])
            await self._do(kept)

    async def resume(self, *, every: float) -> None:
        """Take up stored requests whose process died before it was done with them; runs until cancelled."""

        async def claim(_: str) -> Inbound | None:
            return await self._inbound.claim_next(self._owner, self._lease, but=self._at_work)

        async def go_on(kept: Inbound) -> None:
            await self._work_on(kept, self._do_in_turn)

        await worked_off("resume", ["requests"], claim, go_on, width=RESUMED_AT_ONCE, every=every, wake=Wake())

    async def _do_in_turn(self, kept: Inbound) -> None:
        """Do what one person asked for in the order in which they did; they wait for nobody else."""
        async with self._turns.setdefault(_caller(kept).user, asyncio.Lock()):
            await self._do_again(kept)

    async def _give_up(self, kept: Inbound) -> None:
        """A request that no process survived: nobody tries again, and whoever asked hears of it."""
        log.error("request_given_up", kind=kept.kind, request=kept.id[:8], attempts=kept.attempt)
        await self._answers.say(_caller(kept), errors.GivenUp(), inputs.asked(kept.kind, kept.payload))
        await self._inbound.done(kept.id)


def _caller(kept: Inbound) -> Caller:
    """Who asked, as it was when they did."""
    short = Shorthand.model_validate(kept.payload.get(SHORTHAND) or {})
    known = CALLERS[kept.kind](kept.payload)
    return replace(known, request=kept.id, asked_at=kept.received, shorthand=short)
