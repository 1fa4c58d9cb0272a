"""What could change something: stored first and acknowledged then, so that an acknowledged click survives the process."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from datetime import timedelta
from typing import Any

import structlog
from slack_bolt.async_app import AsyncAck
from slack_bolt.request.async_request import AsyncBoltRequest

from bot.changes.applying import Checkpoint
from bot.changes.loops import repeated
from bot.store.inbound import MOST_ATTEMPTS, Inbound, InboundRequests
from handlers import errors, inputs
from handlers.answers import Answers
from handlers.dispatch import Dispatcher
from handlers.inputs import CALLERS, Body
from handlers.tasks import Tasks

log = structlog.get_logger(__name__)


class Intake:
    """Keeps requests until they are done, and takes up those whose process died."""

    def __init__(
        self,
        inbound: InboundRequests,
        dispatcher: Dispatcher,
        answers: Answers,
        tasks: Tasks,
        *,
        owner: str,
        lease: timedelta,
        reached: Checkpoint,
    ) -> None:
        self._inbound = inbound
        self._dispatcher = dispatcher
        self._answers = answers
        self._tasks = tasks
        self._owner = owner
        self._lease = lease
        self._reached = reached

    async def store_then_ack(self, kind: str, body: Body, ack: AsyncAck, req: AsyncBoltRequest, **answer: Any) -> None:
        """Commit the request, acknowledge it, start on it. A second delivery of it is acknowledged and left alone."""
        natural = inputs.natural_key(kind, body)
        signature = (req.headers.get("x-slack-signature") or [natural])[0]
        key = hashlib.sha256(signature.encode()).hexdigest()
        try:
            self._reached("store")
            kept = await self._inbound.take_in(key, natural, kind, dict(body), owner=self._owner, lease=self._lease)
        except Exception as error:  # noqa: BLE001  not stored: not promised, and said so
            await ack()
            self._tasks.start(self._answers.say(CALLERS[kind](body), error, inputs.asked(kind, body)))
            return
        self._reached("acknowledge")
        await ack(**answer)
        if kept is not None:
            self._tasks.start(self._finish(kept.id, kind, body))

    async def _finish(self, inbound_id: str, kind: str, body: Body) -> None:
        """Do a stored request; whatever it proposes is known by its id, so that doing it again proposes nothing new."""
        self._reached("run")
        await self._dispatcher.dispatch(kind, body, replace(CALLERS[kind](body), request=inbound_id))
        self._reached("finish")
        await self._inbound.done(inbound_id)

    async def resume(self, *, every: float) -> None:
        """Take up stored requests whose process died before it was done with them; runs until cancelled."""

        async def work() -> float:
            while (kept := await self._inbound.claim_next(self._owner, self._lease)) is not None:
                if kept.attempt > MOST_ATTEMPTS:
                    await self._give_up(kept)
                    continue
                log.info("resuming", kind=kept.kind, request=kept.id[:8])
                await self._finish(kept.id, kept.kind, kept.payload)
            return every

        await repeated("resume", work)

    async def _give_up(self, kept: Inbound) -> None:
        """A request that no process survived: nobody tries again, and whoever asked hears of it."""
        caller = replace(CALLERS[kept.kind](kept.payload), request=kept.id)
        log.error("request_given_up", kind=kept.kind, request=kept.id[:8], attempts=kept.attempt)
        await self._answers.say(caller, errors.GivenUp(), inputs.asked(kept.kind, kept.payload))
        await self._inbound.done(kept.id)
