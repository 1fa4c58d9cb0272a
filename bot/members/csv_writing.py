"""Members as a table that spreadsheets open and none of them runs."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, date, datetime
from typing import Any, Final

from bot.members.csv import MemberFile
from bot.members.csv_columns import normal
from bot.members.model import Member
from bot.text.encoding import defused, undefused

BOM: Final = b"\xef\xbb\xbf"
"""Without it Excel takes the file for one of the machine's own code page, and Bjørk for BjÃ¸rk; others pass over it."""
CREATED: Final = ("createdAt", "created_at", "created")
"""Fields in which a service may say since when; the specification shows none."""


def exported(members: Sequence[Member], site: str) -> bytes:
    """The table: name, email, segments (with commas between) and site; created, where the service tells."""
    return b"".join(pieces(members, site))


def pieces(members: Sequence[Member], site: str) -> Iterator[bytes]:
    """The same, line by line: a large table need not be made in one go."""
    dated = any(_created(member) for member in members)
    yield BOM + _line(["name", "email", "segments", "site", *(["created"] if dated else [])])
    for member in members:
        cells = [member.name or "", member.email, ",".join(member.segments), site]
        yield _line([*cells, *([_created(member)] if dated else [])])


def _line(cells: Sequence[str]) -> bytes:
    line = io.StringIO()
    csv.writer(line).writerow([defused(cell) for cell in cells])
    return line.getvalue().encode("utf-8", "surrogatepass")


def _created(member: Member) -> str:
    """Since when somebody is a member, as ISO 8601 in UTC where it is a number of milliseconds, else as it came."""
    told: Any = next((value for name in CREATED if (value := (member.model_extra or {}).get(name))), "")
    if isinstance(told, bool) or not isinstance(told, int | float):
        return told if isinstance(told, str) else ""
    try:
        return datetime.fromtimestamp(told / 1000, UTC).isoformat(timespec="seconds")
    except (ValueError, OverflowError, OSError):
        return str(told)


def file_name(site: str, day: date) -> str:
    return f"members_{site}_{day:%Y-%m-%d}.csv"


COLUMNS: Final = ("outcome", "reason")


def result_table(columns: Sequence[str], rows: Iterable[tuple[Sequence[str], str, str]], separator: str = ",") -> bytes:
    """*rows* of cells, an outcome and a reason, as a table that spreadsheets open; *separator* as the table had it.

    A table that is a result itself loses its old outcomes. UTF-8 with a mark; no cell is a formula.
    """
    kept = [at for at, heading in enumerate(columns) if normal(heading) not in COLUMNS]
    out = io.StringIO(newline="")
    table = csv.writer(out, delimiter=separator)
    table.writerow([*_cells(columns, kept), *COLUMNS])
    for cells, outcome, reason in rows:
        table.writerow([*_cells(cells, kept), defused(outcome), defused(reason)])
    return out.getvalue().encode("utf-8-sig")


def headings(file: MemberFile) -> tuple[str, ...]:
    """The headings of a table, and one for each column that has none."""
    width = max(len(file.header or ()), *(len(row.cells) for row in file.rows))
    known = {at: column.value for column, at in file.columns.items()} if file.header is None else {}
    given = file.header or ()
    return tuple(given[at] if at < len(given) else known.get(at, f"column {at + 1}") for at in range(width))


def _cells(cells: Sequence[str], kept: Sequence[int]) -> list[str]:
    return [defused(undefused(cells[at])) if at < len(cells) else "" for at in kept]
