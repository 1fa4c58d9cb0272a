"""Export the audit, outside of Slack."""

from __future__ import annotations

import csv
import json
from datetime import UTC, datetime, timedelta
from typing import Final, TextIO

from bot.store.audit import Filters
from bot.store.engine import open_audit
from bot.text.encoding import escape_formula

COLUMNS: Final = (
    "seq",
    "at",
    "event",
    "change_id",
    "target",
    "actor",
    "channel",
    "permalink",
    "kind",
    "guard",
    "reason",
    "outcome",
    "before",
    "now",
)


async def write_entries(database_url: str, form: str, since: int | None, out: TextIO) -> None:
    """Write the entries of the last *since* seconds to *out*, as ``jsonl`` or ``csv``; all of them where None."""
    filters = Filters(since=None if since is None else datetime.now(UTC) - timedelta(seconds=since))
    table = csv.writer(out)
    if form == "csv":
        table.writerow(COLUMNS)
    async with open_audit(database_url) as audit:
        async for entry in audit.all(filters):
            row = entry.dump()
            if form == "csv":
                table.writerow([_cell(row.get(name, row["detail"].get(name))) for name in COLUMNS])
            else:
                out.write(_printable(json.dumps(row, ensure_ascii=False, sort_keys=True)) + "\n")


def _cell(value: object) -> str:
    text = (
        json.dumps(value, ensure_ascii=False) if isinstance(value, dict | list) else "" if value is None else str(value)
    )
    return _printable(escape_formula(text))


def _printable(text: str) -> str:
    """Return *text* with lone surrogates, which UTF-8 can't encode, written as JSON escapes."""
    return text.encode("utf-8", "backslashreplace").decode()
