"""What became of each row of an imported table: the table again, with an outcome and a reason beside each row."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from bot.domain.cells import defused, undefused
from bot.domain.member_columns import normal
from bot.domain.member_file import MemberFile
from bot.domain.member_plan import MemberPlan, Together

COLUMNS: Final = ("outcome", "reason")


@dataclass(frozen=True, slots=True)
class Outcome:
    """In words for people: ``done``, ``refused``, and why."""

    word: str
    reason: str = ""


NOT_TRIED: Final = Outcome("not tried")


def result_file(plan: MemberPlan, outcomes: Mapping[int, Outcome]) -> bytes:
    """The rows of *plan* as a table that spreadsheets open, with the outcome of each by its line.

    A row that was done together with another has that one's outcome, and a row without any was not tried. A table
    that is a result itself loses its old outcomes. UTF-8 with a mark; no cell is a formula.
    """
    file = plan.file
    header = _header(file)
    kept = [at for at, heading in enumerate(header) if normal(heading) not in COLUMNS]
    out = io.StringIO(newline="")
    table = csv.writer(out, delimiter=file.separator)
    table.writerow([*_cells(header, kept), *COLUMNS])
    for entry in plan.entries:
        line = entry.line if isinstance(entry, Together) else entry.row.line
        found = outcomes.get(entry.row.line) or outcomes.get(line, NOT_TRIED)
        table.writerow([*_cells(entry.row.cells, kept), defused(found.word), defused(found.reason)])
    return out.getvalue().encode("utf-8-sig")


def _header(file: MemberFile) -> tuple[str, ...]:
    """The headings, and one for each column that has none."""
    width = max(len(file.header or ()), *(len(row.cells) for row in file.rows))
    known = {at: column.value for column, at in file.columns.items()} if file.header is None else {}
    said = file.header or ()
    return tuple(said[at] if at < len(said) else known.get(at, f"column {at + 1}") for at in range(width))


def _cells(cells: Sequence[str], kept: Sequence[int]) -> list[str]:
    return [defused(undefused(cells[at])) if at < len(cells) else "" for at in kept]
