"""What became of each row of an imported table: the table again, with an outcome and a reason beside each row."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from typing import Final

from bot.domain.cells import defused, undefused
from bot.domain.member_file import MemberFile
from bot.domain.member_headings import normal

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
