"""Work that goes on whatever fails, and a log that stays readable while it does."""

from __future__ import annotations

import asyncio
from contextlib import nullcontext
from datetime import timedelta

import pytest
from structlog.testing import capture_logs

from bot.changes.journal import LEASE
from bot.changes.notify import Pace, TooSoon
from bot.changes.worker import (
    CALLS_PER_LEASE,
    FIRST_PAUSE_SECONDS,
    MAX_BACKOFF_SECONDS,
    Backoff,
    Wake,
    keep_lease,
    lease_for,
    repeat,
    work_off,
)
from bot.clients.errors import RateLimited, Unreachable
from bot.settings import Settings


class Enough(BaseException):
    """Ends a loop that goes on for ever."""


async def test_an_outage_of_hours_is_a_few_lines_and_one_traceback() -> None:
    pauses: list[float] = []
    outcomes: list[Exception | None] = [None, *[OSError("away")] * 5000, ValueError("odd"), None, OSError("away again")]

    async def work() -> float:
        if not outcomes:
            raise Enough
        if (outcome := outcomes.pop(0)) is not None:
            raise outcome
        return 0.5

    async def rest(seconds: float) -> None:
        pauses.append(seconds)

    with capture_logs() as lines, pytest.raises(Enough):
        await repeat("outbox", work, rest)

    told = [(line["event"], line["log_level"]) for line in lines]
    assert told.count(("loop_failed", "error")) == 3, "a traceback for each kind of error, and again after a success"
    assert told.count(("loop_works_again", "info")) == 1
    assert len(told) < 20
    assert pauses[0] == 0.5
    assert pauses[1:9] == sorted(pauses[1:9])
    assert max(pauses) == MAX_BACKOFF_SECONDS


async def test_no_more_is_claimed_than_can_be_done_at_once_and_the_next_as_soon_as_one_ends() -> None:
    jobs, full, last_begun = ["ends", "hangs", "last"], asyncio.Event(), asyncio.Event()
    ends = asyncio.Event()

    async def claim(_: str) -> str | None:
        return jobs.pop(0) if jobs else None

    async def do(job: str) -> None:
        match job:
            case "ends":
                await ends.wait()
            case "hangs":
                await last_begun.wait()
            case _:
                last_begun.set()

    async def due_in(every: float) -> float:
        full.set()
        return every

    working = asyncio.create_task(
        work_off("jobs", ["lane"], claim, do, width=2, every=3600, wake=Wake(), due_in=due_in)
    )
    await full.wait()
    assert jobs == ["last"]

    ends.set()
    async with asyncio.timeout(10):
        await last_begun.wait()
    working.cancel()
    await asyncio.gather(working, return_exceptions=True)


async def test_a_service_is_left_alone_for_as_long_as_it_asks_or_for_longer_each_time() -> None:
    outcomes = [RateLimited("rules", retry_after=7), RateLimited("rules", retry_after=0), Unreachable("rules"), None]
    naps: list[float] = []

    async def call() -> None:
        if (error := outcomes.pop(0)) is not None:
            raise error

    async def sleep(seconds: float) -> None:
        naps.append(seconds)

    paused = [7, 2 * FIRST_PAUSE_SECONDS, 4 * FIRST_PAUSE_SECONDS]
    await Backoff(sum(paused), clock=lambda: sum(naps), sleep=sleep).retry(call)
    assert naps == paused


def test_a_channel_has_its_next_message_a_second_later() -> None:
    seconds = [5.0, 5.5, 6.0]
    pace = Pace(lambda: seconds.pop(0))
    pace.take("C1")
    with pytest.raises(TooSoon):
        pace.take("C1")
    pace.take("C1")


@pytest.mark.parametrize("is_ours", [True, False])
async def test_work_goes_on_as_long_as_its_lease_is_renewed(is_ours: bool) -> None:
    renewals, twice = 0, asyncio.Event()

    async def renew() -> bool:
        nonlocal renewals
        renewals += 1
        if renewals == 2:
            twice.set()
        return is_ours

    with nullcontext() if is_ours else pytest.raises(TimeoutError):
        async with keep_lease("work", timedelta(seconds=3), renew):
            await twice.wait()


def test_a_lease_outlasts_the_calls_of_a_change_with_every_timeout_that_is_allowed() -> None:
    (most,) = (limit.le for limit in Settings.model_fields["service_timeout"].metadata if hasattr(limit, "le"))

    for timeout in (0.1, 15.0, 15.1, most):
        assert lease_for(timeout) >= max(LEASE, timedelta(seconds=CALLS_PER_LEASE * timeout))
