"""The order of locks, without which tasks wait for each other for ever: a task has one connection, and takes no second."""

from __future__ import annotations

import asyncio
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import Pool, event


@contextmanager
def watching_lock_order() -> Iterator[None]:
    """Fail at the end of the block where a task that had a connection took another one."""
    second: list[str] = []
    having: dict[Any, asyncio.Task[Any] | None] = {}

    def take(_: Any, record: Any, __: Any) -> None:
        if (task := asyncio.current_task()) in having.values():
            second.append("".join(traceback.format_stack(limit=30)))
        having[record] = task

    def give_back(_: Any, record: Any) -> None:
        having.pop(record, None)

    event.listen(Pool, "checkout", take)
    event.listen(Pool, "checkin", give_back)
    try:
        yield
    finally:
        event.remove(Pool, "checkout", take)
        event.remove(Pool, "checkin", give_back)
    assert not second, "\n\n".join(second)
