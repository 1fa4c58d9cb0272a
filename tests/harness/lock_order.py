"""The order of locks, without which tasks wait for each other for ever: a connection is the first, and there is one for each.

The head of the audit is the last.
"""

from __future__ import annotations

import asyncio
import re
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from sqlalchemy import Connection, Engine, Pool, event

WRITE: Final = re.compile(r"(?:INSERT INTO|UPDATE|DELETE FROM) (\w+)")
AUDIT: Final = frozenset({"audit", "audit_head"})


@contextmanager
def watching_lock_order() -> Iterator[None]:
    """Fail at the end of the block where a transaction of any database wrote something else after an audit event.

    And where a task that had a connection took another one.
    """
    late: list[str] = []
    second: list[str] = []
    having: dict[Any, asyncio.Task[Any] | None] = {}

    def note(connection: Connection, _: Any, statement: str, *__: Any) -> None:
        if (found := WRITE.match(statement)) is None:
            return
        if found[1] == "audit_head":
            connection.info["audited"] = True
        elif found[1] not in AUDIT and connection.info.get("audited"):
            late.append(statement)

    def forget(connection: Connection) -> None:
        connection.info.pop("audited", None)

    def take(_: Any, record: Any, __: Any) -> None:
        if (task := asyncio.current_task()) in having.values():
            second.append("".join(traceback.format_stack(limit=30)))
        having[record] = task

    def give_back(_: Any, record: Any) -> None:
        having.pop(record, None)

    event.listen(Pool, "checkout", take)
    event.listen(Pool, "checkin", give_back)
    event.listen(Engine, "before_cursor_execute", note)
    event.listen(Engine, "commit", forget)
    event.listen(Engine, "rollback", forget)
    try:
        yield
    finally:
        event.remove(Pool, "checkout", take)
        event.remove(Pool, "checkin", give_back)
        event.remove(Engine, "before_cursor_execute", note)
        event.remove(Engine, "commit", forget)
        event.remove(Engine, "rollback", forget)
    assert not second, "\n\n".join(second)
    assert late == [], "written after the audit, whose head is locked last"
