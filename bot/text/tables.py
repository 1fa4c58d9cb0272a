"""Parse tables that people save and paste, with any separator, quotes and broken rows, whatever the columns are about."""

from __future__ import annotations

import csv
import io
import itertools
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from bot.text.code_pages import Reading
from bot.text.encoding import EMPTY_FILE, BadFile, is_escaped_formula, is_formula

SPACES: Final = " \t\r\n\u00a0"
BLANKS: Final = f"{SPACES}\u200b\ufeff"
MAX_ROWS: Final = 20_000
MAX_COLUMNS: Final = 500
MAX_LINE: Final = 1_000_000
"""Characters of a line: the CSV parser holds the GIL until the end of a line."""
SAMPLE: Final = 100
"""Rows that the separator and the columns are detected by."""
SEPARATORS: Final = (",", ";", "\t", "|")
SAID_SEPARATOR: Final = re.compile(r"sep=([^\w\s\"']|\t)\r?\n")
"""The first line that spreadsheets write and read to state a separator."""

Lines = list[tuple[int, list[str]]]


@dataclass(frozen=True, slots=True)
class UnusedColumn:
    """A column that has content or a heading, but isn't used."""

    title: str
    values: Counter[str]
    """Its distinct texts -> the number of rows with each; the empty text for empty cells."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TableFile:
    """How a table was read, and its unused columns."""

    header: tuple[str, ...] | None
    known_header: bool
    """Whether any heading is known; if none is, the first row may be data."""
    unused: tuple[UnusedColumn, ...]
    encoding: str
    separator: str
    readings: tuple[Reading, ...] = ()
    """How the file could be read, where it is not Unicode and that makes a difference."""


def flaw_of(texts: Mapping[Any, str], surplus: Sequence[str]) -> str:
    """Return why a row can't be read, as the rest of a sentence; empty where it can.

    *texts*: its cells by column. *surplus*: those beyond the last heading, by a separator in a text without quotes.
    """
    if formula := next((column for column, text in texts.items() if is_formula_cell(text)), None):
        return f"the column {formula} has a formula, which is not read as text"
    count = sum(bool(cell.strip(BLANKS)) for cell in surplus)
    return f"{count} cell{'s' * (count > 1)} too many: put texts with separators in quotes" if count else ""


def is_blank(cells: Sequence[str]) -> bool:
    return not "".join(cells).strip(BLANKS)


def is_formula_cell(text: str) -> bool:
    """Whether a spreadsheet would run *text* as a formula. A single dash is not one: in many tables it means empty."""
    return len(text) > 1 and is_formula(text) and not is_escaped_formula(text)


def read_lines(text: str, is_bare: Callable[[str], bool]) -> tuple[str, Lines]:
    """Return the separator and the rows of the table in *text*; raises BadFile.

    *is_bare*: whether a cell is exactly the subject of the table, such as an email, by which the separator is detected.
    """
    if said := SAID_SEPARATOR.match(text):
        return said[1], parse_lines(text[said.end() :], said[1], after=1)
    separator = max(SEPARATORS, key=lambda each: _score(text, each, is_bare))
    return separator, parse_lines(text, separator)


def _score(text: str, separator: str, is_bare: Callable[[str], bool]) -> tuple[int, int]:
    """Return the number of rows with a bare cell, and the number of rows of the most common length."""
    rows: list[list[str]] = []
    try:
        said = (row for row in csv.reader(_physical_lines(text), delimiter=separator) if not is_blank(row))
        rows.extend(itertools.islice(said, SAMPLE))
    except csv.Error:
        return 0, 0
    alone = sum(any(is_bare(cell) for cell in row[:MAX_COLUMNS]) for row in rows)
    ((width, count),) = Counter(len(row) for row in rows).most_common(1) or [(0, 0)]
    return alone, count if width > 1 else 0


def _physical_lines(text: str, after: int = 0) -> Iterator[str]:
    """Yield the lines of *text*; raises BadFile for a line that would take long to parse."""
    for number, line in enumerate(io.StringIO(text, newline=""), after + 1):
        if len(line) > MAX_LINE:
            raise BadFile(
                f"Line {number:,} is too long: a line has at most {MAX_LINE:,} characters.",
                "Put each row on a line of its own, and shorten its longest cell.",
            )
        yield line


def parse_lines(text: str, separator: str, after: int = 0) -> Lines:
    """Return every row that is not blank, with the number of the line where it begins."""
    reader = csv.reader(_physical_lines(text, after), delimiter=separator, strict=True, skipinitialspace=True)
    found: Lines = []
    start = after + 1
    try:
        for cells in reader:
            if len(cells) > MAX_ROWS:
                raise _too_wide(start)
            if not is_blank(cells):
                found.append((start, cells))
            start = after + reader.line_num + 1
            if len(found) > MAX_ROWS + 1:
                raise _too_many_rows(MAX_ROWS)
    except csv.Error as error:
        advice = "Usually an unclosed quote."
        if "expected after" in str(error):
            advice = "Text follows a closing quote: put the whole cell in quotes, or each email on its own line."
        raise BadFile(f"The row in line {start:,} can’t be read ({error}).", advice) from error
    return found


def _too_wide(line: int) -> BadFile:
    return BadFile(
        f"The row in line {line:,} is too long: a row has at most {MAX_COLUMNS} cells.",
        "Remove columns that Gatehouse doesn’t need. Put each email on its own line.",
    )


def _too_many_rows(most: int) -> BadFile:
    return BadFile(f"The table has more than {most:,} rows.", "Split it.")


def body_of(lines: Lines, has_header: bool, most: int = MAX_ROWS) -> tuple[Lines, int]:
    """Return the rows of a table without its header, and its number of columns; raises BadFile."""
    if wide := next((line for line, cells in lines if len(cells) > MAX_COLUMNS), None):
        raise _too_wide(wide)
    body = lines[1:] if has_header else lines
    if not body:
        raise BadFile(*EMPTY_FILE)
    if len(body) > most:
        raise _too_many_rows(most)
    return body, len(lines[0][1]) if has_header else max(len(cells) for _, cells in body)


def unused_columns(
    header: Sequence[str] | None, body: Lines, width: int, used: Collection[int]
) -> tuple[UnusedColumn, ...]:
    """Return the columns with content or a heading whose indexes are not in *used*."""
    found = []
    for at in range(width):
        if at not in used:
            values = Counter(cells[at].strip(BLANKS) if at < len(cells) else "" for _, cells in body)
            if any(values) or (header is not None and header[at].strip(BLANKS)):
                found.append(UnusedColumn(column_title(header, at), values))
    return tuple(found)


def column_title(header: Sequence[str] | None, at: int) -> str:
    """Return the title of the column at index *at*."""
    given = header[at].strip(BLANKS) if header is not None and at < len(header) else ""
    return given or f"column {at + 1}"
