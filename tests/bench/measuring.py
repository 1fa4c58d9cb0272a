"""Time against a bare loop of string comparisons over as many texts, in the same run."""

from __future__ import annotations

import asyncio
import selectors
import time
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from typing import Any, TypeVar

from bot.members.model import Member
from bot.rules.model import Rule

T = TypeVar("T")

TIMES = 5


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


class Watching(selectors.DefaultSelector):
    """A loop's own selector, which looks how long the loop works between two times that it asks for news: by its own time,
    not that of others on the machine.
    """

    longest = 0.0
    """Seconds, since this was last set to 0."""
    _since: float | None = None

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if self._since is not None:
            self.longest = max(self.longest, time.thread_time() - self._since)
        found = super().select(timeout)
        self._since = time.thread_time()
        return found


def run_watched(work: Callable[[Watching], Coroutine[Any, Any, T]]) -> T:
    """`asyncio.run` of what *work* makes, in a loop that is watched."""
    watching = Watching()
    with asyncio.Runner(loop_factory=lambda: asyncio.SelectorEventLoop(watching)) as runner:
        return runner.run(work(watching))


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
