"""One person's flood doesn't block others."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from datetime import timedelta

import pytest

from bot.policy.limits import (
    COMMAND_RATE,
    EXPORT_RATE,
    FILES_AT_ONCE,
    IMPORT_RATE,
    MAX_KEYS,
    Rate,
    RateLimiter,
    StillRunning,
    TooFast,
)
from tests.harness.clocks import StandingClock

RATES = pytest.mark.parametrize("rate", [COMMAND_RATE, EXPORT_RATE, IMPORT_RATE], ids=lambda rate: rate.what)


def taken(limits: RateLimiter, rate: Rate, user: str, times: int) -> int:
    """How many of so many acts were let through."""
    through = 0
    for _ in range(times):
        try:
            limits.take(rate, user)
        except TooFast:
            continue
        through += 1
    return through


@RATES
def test_one_person_may_so_much_until_time_has_passed(rate: Rate) -> None:
    clock = StandingClock()
    limits = RateLimiter(clock)

    assert taken(limits, rate, "U1", rate.per_person) == rate.per_person
    assert taken(limits, rate, "U1", 5) == 0
    assert taken(limits, rate, "U2", 1) == 1

    clock.moment += timedelta(seconds=rate.seconds - 1)
    with pytest.raises(TooFast) as refused:
        limits.take(rate, "U1")
    assert refused.value.seconds == 1
    clock.moment += timedelta(seconds=1)
    assert taken(limits, rate, "U1", rate.per_person + 1) == rate.per_person


def test_rates_are_counted_apart_and_what_was_refused_does_not_count() -> None:
    clock = StandingClock()
    limits = RateLimiter(clock)
    taken(limits, EXPORT_RATE, "U1", 1_000)

    assert taken(limits, IMPORT_RATE, "U1", 1) == 1
    clock.moment += timedelta(seconds=EXPORT_RATE.seconds)
    assert taken(limits, EXPORT_RATE, "U1", 1) == 1


def test_a_clock_that_is_set_back_locks_nobody_out() -> None:
    clock = StandingClock()
    limits = RateLimiter(clock)
    taken(limits, COMMAND_RATE, "U1", COMMAND_RATE.per_person)
    clock.moment -= timedelta(days=1)

    assert taken(limits, COMMAND_RATE, "U1", 1) == 1


def test_a_heavy_command_runs_once_at_a_time_for_each_person() -> None:
    limits = RateLimiter(StandingClock())
    with limits.one_at_a_time("rules check", "U1"):
        with pytest.raises(StillRunning), limits.one_at_a_time("rules check", "U1"):
            pass
        with limits.one_at_a_time("rules check", "U2"):
            pass
    with limits.one_at_a_time("rules check", "U1"):
        pass


@pytest.mark.threat("A13")
async def test_a_process_works_on_so_many_files_at_a_time_and_each_person_on_one() -> None:
    limits = RateLimiter(StandingClock())
    async with AsyncExitStack() as files:
        for number in range(FILES_AT_ONCE):
            await files.enter_async_context(limits.file_work(f"U{number}"))
        with pytest.raises(StillRunning):
            await files.enter_async_context(limits.file_work("U0"))

        another = asyncio.create_task(limits.file_work("U9").__aenter__())
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert not another.done()
    await another


def test_whoever_acts_first_while_others_are_forgotten_is_counted() -> None:
    limits = RateLimiter(clock := StandingClock())
    for number in range(MAX_KEYS):
        limits.take(COMMAND_RATE, f"U{number}")

    most = COMMAND_RATE.per_person
    assert taken(limits, COMMAND_RATE, "U-new", most + 1) == most
    clock.moment += timedelta(hours=1)
    limits.take(COMMAND_RATE, "U-new")
    assert len(limits._acts) == 1
