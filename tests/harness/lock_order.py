"""The head of the audit is the last lock that a transaction takes: otherwise two that meet wait for each other for ever."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from sqlalchemy import Connection, Engine, event

WRITE: Final = re.compile(r"(?:INSERT INTO|UPDATE|DELETE FROM) (\w+)")
AUDIT: Final = frozenset({"audit", "audit_head"})


@contextmanager
def watching_lock_order() -> Iterator[None]:
    """Fail at the end of the block where a transaction of any database wrote something else after an audit event."""
    late: list[str] = []

    def note(connection: Connection, _: Any, statement: str, *__: Any) -> None:
        if (found := WRITE.match(statement)) is None:
            return
        if found[1] == "audit_head":
            connection.info["audited"] = True
        elif found[1] not in AUDIT and connection.info.get("audited"):
            late.append(statement)

    def forget(connection: Connection) -> None:
        connection.info.pop("audited", None)

    event.listen(Engine, "before_cursor_execute", note)
    event.listen(Engine, "commit", forget)
    event.listen(Engine, "rollback", forget)
    try:
        yield
    finally:
        event.remove(Engine, "before_cursor_execute", note)
        event.remove(Engine, "commit", forget)
        event.remove(Engine, "rollback", forget)
    assert late == [], "written after the audit, whose head is locked last"
