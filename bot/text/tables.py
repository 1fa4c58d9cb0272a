"""Tables as people save and paste them: separators, quotes and broken rows, whatever the columns are about."""

from __future__ import annotations

import csv
import io
import itertools
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from bot.text.code_pages import Reading
from bot.text.encoding import BadFile, EmptyFile, is_defused, is_formula

SPACES: Final = " \t\r\n\u00a0"
BLANKS: Final = f"{SPACES}\u200b\ufeff"
MAX_ROWS: Final = 20_000
MAX_COLUMNS: Final = 500
MAX_LINE: Final = 1_000_000
"""Characters of a line: the parser of tables keeps the interpreter to itself until it is through one."""
SAMPLE: Final = 100
"""Rows by which the separator and the columns are told."""
SEPARATORS: Final = (",", ";", "\t", "|")
SAID_SEPARATOR: Final = re.compile(r"sep=([^\w\s\"']|\t)\r?\n")
"""The first line that a spreadsheet writes, and reads, where the separator is not the usual one."""

Lines = list[tuple[int, list[str]]]


class BrokenTable(BadFile):
    """Quotes that do not close, and the like. *line* counts from 1."""

    def __init__(self, line: int, why: str) -> None:
        super().__init__(f"line {line}: {why}")
        self.line = line
        self.why = why


class TooManyRows(BadFile):
    def __init__(self, most: int) -> None:
        super().__init__(f"more than {most}")
        self.most = most


class TooWide(BadFile):
    """The row in *line*, from 1, has more cells or characters than any table."""

    def __init__(self, line: int) -> None:
        super().__init__(f"line {line}")
        self.line = line


@dataclass(frozen=True, slots=True, kw_only=True)
class TableFile:
    """How a table was read, and what of it is not used."""

    header: tuple[str, ...] | None
    known_header: bool
    """Whether a heading is one that we know; if none is, the first row may be one like the others."""
    ignored: tuple[str, ...]
    """Titles of the columns that are not used, though something stands in them."""
    encoding: str
    separator: str
    readings: tuple[Reading, ...] = ()
    """How the file could be read, where it is not Unicode and that makes a difference."""


@dataclass(frozen=True, slots=True)
class MissingCell:
    """Nothing stands in this column."""

    column: str


@dataclass(frozen=True, slots=True)
class FormulaCell:
    """A formula where a text should be."""

    column: str


@dataclass(frozen=True, slots=True)
class ExtraCells:
    """More cells than headings: a separator within a text that is not in quotes."""

    count: int


@dataclass(frozen=True, slots=True)
class DuplicateOf:
    """The row in *line* says the same."""

    line: int


def flaw_of(texts: Mapping[Any, str], surplus: Sequence[str]) -> FormulaCell | ExtraCells | None:
    """Return why a row can't be read, whatever the table is about: by *texts*, and by *surplus* beyond its last heading."""
    if formula := next((column for column, text in texts.items() if is_formula_cell(text)), None):
        return FormulaCell(formula)
    count = sum(bool(cell.strip(BLANKS)) for cell in surplus)
    return ExtraCells(count) if count else None


def is_blank(cells: Sequence[str]) -> bool:
    return not "".join(cells).strip(BLANKS)


def is_formula_cell(text: str) -> bool:
    """Whether a spreadsheet would compute *text*. A dash alone stands for nothing, in many tables."""
    return len(text) > 1 and is_formula(text) and not is_defused(text)


def read_lines(text: str, is_bare: Callable[[str], bool]) -> tuple[str, Lines]:
    """The separator of the table that *text* is, and its rows; raises BrokenTable, TooManyRows and TooWide.

    *is_bare*: whether a cell is just what the table is about, by which its separator is told where it doesn't say it.
    """
    if said := SAID_SEPARATOR.match(text):
        return said[1], parsed_lines(text[said.end() :], said[1], after=1)
    separator = max(SEPARATORS, key=lambda each: _score(text, each, is_bare))
    return separator, parsed_lines(text, separator)


def _score(text: str, separator: str, is_bare: Callable[[str], bool]) -> tuple[int, int]:
    """In how many rows something stands by itself, and how many are of one length."""
    rows: list[list[str]] = []
    try:
        said = (row for row in csv.reader(_physical(text), delimiter=separator) if not is_blank(row))
        rows.extend(itertools.islice(said, SAMPLE))
    except csv.Error:
        return 0, 0
    alone = sum(any(is_bare(cell) for cell in row[:MAX_COLUMNS]) for row in rows)
    ((width, count),) = Counter(len(row) for row in rows).most_common(1) or [(0, 0)]
    return alone, count if width > 1 else 0


def _physical(text: str, after: int = 0) -> Iterator[str]:
    """The lines of *text* as they stand there; raises TooWide before one is parsed that would take long."""
    for number, line in enumerate(io.StringIO(text, newline=""), after + 1):
        if len(line) > MAX_LINE:
            raise TooWide(number)
        yield line


def parsed_lines(text: str, separator: str, after: int = 0) -> Lines:
    """Every row that is not blank, with the number of the line where it begins."""
    reader = csv.reader(_physical(text, after), delimiter=separator, strict=True, skipinitialspace=True)
    found: Lines = []
    start = after + 1
    try:
        for cells in reader:
            if len(cells) > MAX_ROWS:
                raise TooWide(start)
            if not is_blank(cells):
                found.append((start, cells))
            start = after + reader.line_num + 1
            if len(found) > MAX_ROWS + 1:
                raise TooManyRows(MAX_ROWS)
    except csv.Error as error:
        raise BrokenTable(start, str(error)) from error
    return found


def body_of(lines: Lines, has_header: bool, most: int = MAX_ROWS) -> tuple[Lines, int]:
    """The rows of a table, and how many columns it has; raises EmptyFile, TooManyRows and TooWide."""
    if wide := next((line for line, cells in lines if len(cells) > MAX_COLUMNS), None):
        raise TooWide(wide)
    body = lines[1:] if has_header else lines
    if not body:
        raise EmptyFile
    if len(body) > most:
        raise TooManyRows(most)
    return body, len(lines[0][1]) if has_header else max(len(cells) for _, cells in body)


def filled_places(lines: Lines, width: int) -> Sequence[int]:
    """The places in which something stands, be it a heading."""
    empty = set(range(width))
    found: set[int] = set()
    for _, cells in lines:
        found.update(at for at in empty if at < len(cells) and cells[at].strip(BLANKS))
        empty -= found
        if not empty:
            break
    return sorted(found)


def column_title(header: Sequence[str] | None, at: int) -> str:
    """What the column at this place is called, from 0."""
    given = header[at].strip(BLANKS) if header is not None and at < len(header) else ""
    return given or f"column {at + 1}"
