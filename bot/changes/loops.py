"""Work that is done again and again for as long as Gatehouse runs, whatever goes wrong in between."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from typing import Final, TypeVar

import structlog

log = structlog.get_logger(__name__)

MAX_BACKOFF: Final = 10.0
"""Seconds between two tries while they fail; a database that is back should not be kept waiting."""


Job = TypeVar("Job")


@dataclass(slots=True)
class Trouble:
    """Failures of one kind of work, in a log that stays readable: an hour without the database must not fill the disk.

    One traceback for each kind of error, and then a line whenever the number of failures has doubled.
    """

    name: str
    failures: int = 0
    _kinds: set[type[Exception]] = field(default_factory=set)

    def note(self, error: Exception) -> None:
        self.failures += 1
        if type(error) not in self._kinds:
            log.error("loop_failed", loop=self.name, error=type(error).__name__, exc_info=error)
        elif self.failures & (self.failures - 1) == 0:
            log.warning("loop_still_fails", loop=self.name, error=str(error)[:200], failures=self.failures)
        self._kinds.add(type(error))

    def end(self) -> None:
        if self.failures:
            log.info("loop_works_again", loop=self.name, failures=self.failures)
        self.failures = 0
        self._kinds.clear()


class Wake:
    """Says that there may be work, so that a worker need not poll for what this process made itself."""

    def __init__(self) -> None:
        self._event = asyncio.Event()

    def __call__(self) -> None:
        self._event.set()

    async def wait(self, seconds: float) -> None:
        """Return at once if there may be work, else when there may be, at the latest after *seconds*."""
        try:
            async with asyncio.timeout(seconds):
                await self._event.wait()
        except TimeoutError:
            pass
        self._event.clear()


async def repeated(
    name: str, work: Callable[[], Awaitable[float]], rest: Callable[[float], Awaitable[None]] = asyncio.sleep
) -> None:
    """Do *work* until cancelled; between two times *rest* for as many seconds as it returned.

    Where it raises, the waits double.
    """
    trouble = Trouble(name)
    while True:
        try:
            wait = await work()
        except Exception as error:  # noqa: BLE001  it is logged, and tried again
            trouble.note(error)
            wait = min(MAX_BACKOFF, 2.0 ** min(trouble.failures, 9) / 10)
        else:
            trouble.end()
        await rest(wait)


async def worked_off(
    name: str,
    lanes: Iterable[str],
    claim: Callable[[str], Awaitable[Job | None]],
    do: Callable[[Job], Awaitable[object]],
    *,
    width: int,
    every: float,
    wake: Wake,
) -> None:
    """Claim jobs and do them until cancelled, up to *width* of each lane at a time: what hangs in one delays no other.

    A job that fails is logged; its lease says when it is claimed again.
    """
    busy: dict[str, set[asyncio.Task[None]]] = {lane: set() for lane in lanes}
    trouble = Trouble(f"{name} jobs")

    async def logged(job: Job) -> None:
        try:
            await do(job)
        except Exception as error:  # noqa: BLE001  it is logged, and claimed again
            trouble.note(error)
        else:
            trouble.end()
        wake()

    async def work() -> float:
        for lane, tasks in busy.items():
            while len(tasks) < width and (job := await claim(lane)) is not None:
                task = asyncio.create_task(logged(job))
                tasks.add(task)
                task.add_done_callback(tasks.discard)
        return every

    try:
        await repeated(name, work, wake.wait)
    finally:
        tasks = [task for lane in busy.values() for task in lane]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
