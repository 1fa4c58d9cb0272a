"""Work that is done again and again for as long as Gatehouse runs, whatever goes wrong in between."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

import structlog

log = structlog.get_logger(__name__)

MAX_BACKOFF: Final = 10.0
"""Seconds between two tries while they fail; a database that is back should not be kept waiting."""


async def repeated(
    name: str, work: Callable[[], Awaitable[float]], rest: Callable[[float], Awaitable[None]] = asyncio.sleep
) -> None:
    """Do *work* until cancelled; between two times *rest* for as many seconds as it returned.

    Where it raises, the waits double. The log gets one traceback for each kind of error and then a line whenever the
    number of failures has doubled: a database that is away for an hour must not fill the disk.
    """
    failures, kinds = 0, set[type[Exception]]()
    while True:
        try:
            wait = await work()
        except Exception as error:
            failures += 1
            wait = min(MAX_BACKOFF, 2.0 ** min(failures, 9) / 10)
            if type(error) not in kinds:
                log.exception("loop_failed", loop=name, error=type(error).__name__)
            elif failures & (failures - 1) == 0:
                log.warning("loop_still_fails", loop=name, error=str(error)[:200], failures=failures)
            kinds.add(type(error))
        else:
            if failures:
                log.info("loop_works_again", loop=name, failures=failures)
            failures, kinds = 0, set()
        await rest(wait)
