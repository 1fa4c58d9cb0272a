"""Export the audit, and verify its hash chain, outside of Slack."""

from __future__ import annotations

import csv
import json
import re
from datetime import UTC, datetime, timedelta
from typing import Final, TextIO

from bot.store.audit import START, Filters
from bot.store.engine import open_audit
from bot.text.encoding import escape_formula

HEAD: Final = re.compile(r"[0-9]{1,18}:[0-9a-f]{64}")
"""The form of an audit head: the number of an entry and its hash."""
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
    "hash",
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


async def verify_chain(database_url: str, head: str) -> tuple[str, bool]:
    """Verify the hash chain; return the result in words, and whether it is sound. *head*: an entry that it must contain."""
    async with open_audit(database_url) as audit:
        last, hash_of_last = await audit.head()  # read first: entries added during the verification may not be verified
        if (flaw := await audit.verify()) is not None:
            return f"The audit is broken at entry {flaw.seq}: {flaw.words}.", False
        number, _, seal = head.partition(":")
        if head and int(number) > last:
            return (
                f"Entry {number} is not there: the audit ends with entry {last}. It was cut off, or this is another one.",
                False,
            )
        if head and (await audit.hash_of(int(number)) or START) != seal:
            return f"Entry {number} is not the one that was noted: the audit was rewritten since.", False
        entries = "1 entry" if last == 1 else f"{last:,} entries"
        return f"The audit is sound: {entries}. Head: {last}:{hash_of_last}", True
