"""Time against a bare loop of string comparisons over as many texts, in the same run."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

from bot.members.model import Member
from bot.rules.model import Rule

TIMES = 5
PAUSE = 0.005
"""Seconds between two looks at how long the loop works in one go; what it does meanwhile counts as well."""


def rules(count: int) -> list[Rule]:
    """*count* rules of ordinary size."""
    return [_rule(number) for number in range(count)]


def _rule(number: int) -> Rule:
    source = f"https://shop{number % 97}.example.com/campaign/{number}"
    pair = {
        "source": {"key": "Url", "operator": ("Equals", "Contains", "Equals")[number % 3], "value": source},
        "destinationType": "url",
        "destination": f"https://shop.example.com/landing/{number}",
    }
    name = f"Campaign {number} of shop {number % 97}"
    document = {"id": f"Redirect_{number:06x}", "name": name, "status": "Active", "ruleType": "Redirect"}
    return Rule.model_validate(document | {"pairs": [pair]})


def members(count: int) -> list[Member]:
    return [
        Member(email=f"person{number}@company{number % 97}.example.com", name=f"Person {number}")
        for number in range(count)
    ]


def bare(texts: Sequence[str]) -> float:
    """Seconds that comparing each of *texts* with one more takes, at best."""
    return best(lambda: _compared(texts, "https://shop.example.com/nothing/like/it"))


def _compared(texts: Sequence[str], wanted: str) -> int:
    found = 0
    for text in texts:
        if text == wanted:
            found += 1
    return found


def best(work: Callable[[], object]) -> float:
    """Seconds of the quickest of some runs: what the work takes when nothing else gets in its way."""
    return min(_timed(work) for _ in range(TIMES))


@dataclass(slots=True)
class Longest:
    """The most work that a loop did before it got round, so far."""

    seconds: float = 0.0


@asynccontextmanager
async def worked() -> AsyncIterator[Longest]:
    """Looks how long the loop works in one go: by its own time, not that of others on the machine."""
    longest = Longest()

    async def watch() -> None:
        while True:
            before = time.thread_time()
            await asyncio.sleep(PAUSE)
            longest.seconds = max(longest.seconds, time.thread_time() - before)

    watching = asyncio.create_task(watch())
    try:
        yield longest
    finally:
        watching.cancel()


def _timed(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def awaited(work: Callable[[], Awaitable[object]]) -> tuple[float, float]:
    """Seconds of the quickest of some runs, and of the longest that others of the loop waited in that one."""
    return min(asyncio.run(_watched(work)) for _ in range(TIMES))


async def _watched(work: Callable[[], Awaitable[object]]) -> tuple[float, float]:
    longest = 0.0

    async def watch() -> None:
        nonlocal longest
        while True:
            began = time.perf_counter()
            await asyncio.sleep(0)
            longest = max(longest, time.perf_counter() - began)

    watching = asyncio.create_task(watch())
    await asyncio.sleep(0)
    began = time.perf_counter()
    await work()
    took = time.perf_counter() - began
    watching.cancel()
    return took, longest
