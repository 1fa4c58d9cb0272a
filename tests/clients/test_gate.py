"""A service that has too much to do: everybody who sends to it waits, changes go first, and reads are never left out."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Final, TypeVar

import pytest

from bot.clients.answer import MAX_NAMED_SECONDS
from bot.clients.errors import ClientError, Failing, OutcomeUnknown, RateLimited, Unreachable
from bot.clients.gate import MAX_PAUSE_SECONDS, Gate, Priority
from bot.clients.http import MAX_CONNECTIONS, CallLimits, Service
from bot.clients.rules import RulesClient
from bot.rules.model import RuleDraft
from handlers.explain.table import words_for
from sandbox.services.running import RULES_KEY, Services
from tests.clients.test_hostile_answers import Play, playing
from tests.harness.held_service import Held

T = TypeVar("T")
R = TypeVar("R")
SENDERS = 8
RULES = 40
IN_A_WINDOW = 20
WINDOW = 10.0
NOON: Final = "Date: Sun, 22 Nov 2026 12:00:00 GMT"


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


async def test_a_service_that_is_away_for_a_moment_is_waited_for_and_is_not_called_too_busy(services: Services) -> None:
    time = Time()
    services.rules.stage.faults.add("503", method="GET", value=3)
    async with rules_client(services, time) as rules:
        await rules.get("Redirect_x1old")
        assert time.now == 3
        services.rules.stage.faults.add("503", method="GET", value=90)
        for work in (rules.get, rules.get, rules.delete):
            with pytest.raises(RateLimited) as caught:
                await work("Redirect_x1old")
            assert caught.value.retry_after == 90
            assert "is not available for a while (503)" in words_for(caught.value).what
            assert "It accepts requests again at <!date^" in words_for(caught.value).next
    assert len(services.rules.calls()) == 3
    assert services.rules.get("Redirect_x1old") is not None


async def test_nobody_knows_of_a_write_to_a_service_that_is_away_and_what_looks_after_it_waits(
    services: Services,
) -> None:
    """The specifications don't say whether such a write was done."""
    time = Time()
    services.rules.stage.faults.add("503", method="DELETE", value=3)
    async with rules_client(services, time) as rules:
        with pytest.raises(OutcomeUnknown):
            await rules.delete("Redirect_x1old")
        assert (await rules.get("Redirect_x1old")).id == "Redirect_x1old"
    assert time.now == 3


SAYS: Final[Mapping[str, float | None]] = {
    "Retry-After: 90": 90,
    "Retry-After: 0": 0,
    f"{NOON}\r\nRetry-After: Sun, 22 Nov 2026 12:01:30 GMT": 90,
    f"{NOON}\r\nRetry-After: Sun, 22 Nov 2026 11:00:00 GMT": 0,
    f"Retry-After: {10**30}": MAX_NAMED_SECONDS,
    f"{NOON}\r\nRetry-After: Fri, 31 Dec 9999 23:59:59 GMT": MAX_NAMED_SECONDS,
    "Retry-After: Sun, 22 Nov 2026 12:01:30 GMT": None,
    f"{NOON}\r\nRetry-After: Sun, 22 Nov 2026 12:01:30 -0000": None,
    "Date: Sun, 22 Nov 2026 12:00:00 -0000\r\nRetry-After: Sun, 22 Nov 2026 12:01:30 GMT": None,
    f"{NOON}\r\nRetry-After: Fri, 31 Dec 99999999999 23:59:59 GMT": None,
    f"{NOON}\r\nRetry-After: Sun, 22 Nov 2026 12:01:30 +99999999999999": None,
    "Date: soon\r\nRetry-After: later": None,
    "Retry-After: -5": None,
    "Retry-After: 1.5": None,
    "Retry-After:": None,
}
"""What ``Retry-After`` may say, and the seconds that it names: None where nobody can tell."""


@pytest.mark.parametrize("is_write", [False, True], ids=["read", "write"])
@pytest.mark.parametrize("says", [*SAYS, None])
@pytest.mark.parametrize("status", [429, 503])
async def test_who_asks_to_be_left_alone_is_heard_whatever_it_says(
    status: int, says: str | None, is_write: bool
) -> None:
    time = Time()
    gate = Gate("rules", clock=time, sleep=time.sleep)
    limits = CallLimits(tries=1)
    async with (
        playing(answer(status, says)) as url,
        Service("rules", url, {}, gate=gate, limits=limits) as service,
    ):
        rules = RulesClient(service)
        with pytest.raises(ClientError) as caught:
            await (rules.delete if is_write else rules.get)("Redirect_x1old")

    error, seconds = caught.value, None if says is None else SAYS[says]
    is_asked = status == 429 or says is not None
    if status == 503 and is_write:
        assert type(error) is OutcomeUnknown, "the specifications don't say whether it was done"
    elif not is_asked:
        assert type(error) is Failing
    else:
        assert isinstance(error, RateLimited)
        assert (error.status, error.retry_after) == (status, seconds)
        assert words_for(error).next.startswith("It accepts requests again at" if seconds else "Try again in a minute")
    assert await pause(gate, time) == (0 if not is_asked else 1 if seconds is None else min(seconds, MAX_PAUSE_SECONDS))


def answer(status: int, headers: str | None) -> Play:
    async def play(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = [
            f"HTTP/1.1 {status} X",
            *([] if headers is None else [headers]),
            "Content-Length: 0",
            "Connection: close",
        ]
        writer.write(("\r\n".join(head) + "\r\n\r\n").encode())
        await writer.drain()

    return play


async def pause(gate: Gate, time: Time) -> float:
    """Seconds for which *gate* lets nothing through."""
    try:
        await gate.turn(Priority.READ)
    except RateLimited as error:
        return error.retry_after or 0.0
    return time.now


async def test_a_write_that_found_no_free_connection_was_not_sent(services: Services) -> None:
    """Others wait for a service that hangs, and hold all connections."""
    services.rules.stage.faults = held = Held()
    limits = CallLimits(deadline=2, tries=1)
    async with Service("rules", services.rules_url, {"x-api-key": RULES_KEY}, limits=limits) as service:
        rules = RulesClient(service)
        others = [asyncio.create_task(rules.get(f"Redirect_{number}")) for number in range(MAX_CONNECTIONS)]
        await held.asked.wait()
        try:
            with pytest.raises(Unreachable) as caught:
                await rules.delete("Redirect_x1old")
        finally:
            held.free.set()
            await asyncio.gather(*others, return_exceptions=True)
    assert "no connection in time" in str(caught.value)
    assert services.rules.get("Redirect_x1old") is not None
    assert len(services.rules.calls()) == MAX_CONNECTIONS


async def test_no_service_is_left_alone_for_ever(services: Services) -> None:
    time = Time()
    services.rules.stage.faults.add("429", value=10**30)
    async with rules_client(services, time) as rules:
        with pytest.raises(RateLimited):
            await rules.get("Redirect_x1old")
        time.now += MAX_PAUSE_SECONDS
        await rules.get("Redirect_x1old")


async def test_changes_go_before_all_others_that_waited_with_them() -> None:
    time = Time()
    gate = Gate("rules", clock=time, sleep=time.sleep)
    gate.close(3)
    order: list[Priority] = []

    async def send(priority: Priority) -> None:
        await gate.turn(priority)
        order.append(priority)

    read, bulk, change = Priority
    await asyncio.gather(*map(send, [read, bulk, change, read, change]))

    assert order == [change, change, read, bulk, read]


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
