"""A service that has too much to do: everybody who sends to it waits for the same time, and writes go first."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TypeVar

import pytest

from bot.clients.errors import RateLimited
from bot.clients.gate import MAX_PAUSE_SECONDS, Gate
from bot.clients.http import Service
from bot.clients.rules import RulesClient
from bot.rules.model import RuleDraft
from handlers.explain.table import words_for
from sandbox.services.running import RULES_KEY, Services, running_services

T = TypeVar("T")
R = TypeVar("R")
SENDERS = 8
RULES = 40
IN_A_WINDOW = 20
WINDOW = 10.0


class Time:
    """Passes only where somebody waits."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        until = self.now + seconds
        await asyncio.sleep(0)
        self.now = max(self.now, until)


@pytest.fixture
async def services() -> AsyncIterator[Services]:
    async with running_services() as both:
        yield both


@asynccontextmanager
async def rules_client(services: Services, time: Time) -> AsyncIterator[RulesClient]:
    gate = Gate("rules", clock=time, sleep=time.sleep)
    async with Service("rules", services.rules_url, {"x-api-key": RULES_KEY}, gate=gate) as service:
        yield RulesClient(service)


async def test_a_pause_is_everybodys_and_says_until_when(services: Services) -> None:
    time = Time()
    services.rules.stage.faults.add("429", method="GET", value=90)
    async with rules_client(services, time) as rules:
        for work in (rules.get, rules.get, rules.delete):
            with pytest.raises(RateLimited) as caught:
                await work("Redirect_x1old")
            assert caught.value.retry_after == 90
            assert "It accepts requests again at <!date^" in words_for(caught.value).next
        assert len(services.rules.calls()) == 1

        time.now += 86
        await rules.delete("Redirect_x1old")
    assert time.now == 90, "what is near is waited for"


async def test_no_service_is_left_alone_for_ever(services: Services) -> None:
    time = Time()
    services.rules.stage.faults.add("429", value=10**30)
    async with rules_client(services, time) as rules:
        with pytest.raises(RateLimited):
            await rules.get("Redirect_x1old")
        time.now += MAX_PAUSE_SECONDS
        await rules.get("Redirect_x1old")


async def test_writes_go_before_the_reads_that_waited_with_them() -> None:
    time = Time()
    gate = Gate("rules", clock=time, sleep=time.sleep)
    await gate.close(3)
    order: list[bool] = []

    async def send(write: bool) -> None:
        await gate.turn(write=write)
        order.append(write)

    await asyncio.gather(*map(send, [False, False, True, False, True]))

    assert order == [True, True, False, False, False]


class Limiter:
    """At most so many calls in any window of *time*."""

    def __init__(self, time: Time) -> None:
        self._time = time
        self._taken: list[float] = []
        self.refused = 0

    def __call__(self) -> float | None:
        now = self._time.now
        self._taken = [each for each in self._taken if each > now - WINDOW]
        if len(self._taken) < IN_A_WINDOW:
            self._taken.append(now)
            return None
        self.refused += 1
        return self._taken[0] + WINDOW - now


async def test_many_senders_hit_a_limit_once_each_time_it_is_reached(services: Services) -> None:
    time = Time()
    services.rules.stage.busy = limiter = Limiter(time)
    body = {name: value for name, value in (services.rules.get("Redirect_x1old") or {}).items() if name != "id"}
    left = [RuleDraft.model_validate(body | {"name": f"N{number}"}) for number in range(RULES)]

    async def again(work: Callable[[T], Awaitable[R]], about: T) -> R:
        while True:
            try:
                return await work(about)
            except RateLimited as error:
                await time.sleep(error.retry_after or 1.0)

    async with rules_client(services, time) as rules:

        async def sender() -> None:
            while left:
                made = await again(rules.create, left.pop())
                await again(rules.get, made.id)

        await asyncio.gather(*(sender() for _ in range(SENDERS)))

    names = [rule["name"] for rule in services.rules.all() if str(rule["name"]).startswith("N")]
    assert sorted(names) == sorted(f"N{number}" for number in range(RULES))
    reached = 2 * RULES // IN_A_WINDOW
    assert limiter.refused <= reached * SENDERS, "those that were on their way, and no more"
