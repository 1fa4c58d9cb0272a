"""A table of members, from bytes to rows: the encodings, separators and headings that spreadsheets and people make."""

from __future__ import annotations

import csv
import io
import itertools
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from bot.domain.cells import is_defused, is_formula, undefused
from bot.domain.file_text import BadFile, EmptyFile, FileKind, WrongKind, file_text
from bot.domain.member_columns import Column, Columns, ColumnTwice, by_content, by_headings, is_address

MOST_ROWS: Final = 20_000
MAX_COLUMNS: Final = 500
MAX_LINE: Final = 1_000_000
"""Characters of a line: the parser of tables keeps the interpreter to itself until it is through one."""
SAMPLE: Final = 100
"""Rows by which the separator and the columns are told."""
SEPARATORS: Final = (",", ";", "\t", "|")
SAID_SEPARATOR: Final = re.compile(r"sep=([^\w\s\"']|\t)\r?\n")
"""The first line that a spreadsheet writes, and reads, where the separator is not the usual one."""
LINKED: Final = re.compile(r"<mailto:([^|<>\s]+)(?:\|[^<>\n]*)?>")
"""An address as Slack sends what was pasted."""
BLANKS: Final = " \t\r\n\u00a0\u200b\ufeff"


class Mode(StrEnum):
    """What is to become of the people in a table."""

    ADD = "add"
    GRANT = "grant"
    SET = "set"
    REVOKE = "revoke"
    REMOVE = "remove"


WORDS: Final[Mapping[Mode, str]] = {
    Mode.ADD: "add new create invite join",
    Mode.GRANT: "grant give allow",
    Mode.SET: "set update replace change edit",
    Mode.REVOKE: "revoke take deny",
    Mode.REMOVE: "remove delete rm offboard kick",
}
ACTIONS: Final = {word: mode for mode, words in WORDS.items() for word in words.split()}


class BrokenTable(BadFile):
    """Quotes that do not close, and the like. *line* counts from 1."""

    def __init__(self, line: int, why: str) -> None:
        super().__init__(f"line {line}: {why}")
        self.line = line
        self.why = why


class NoAddresses(BadFile):
    """No column holds e-mail addresses."""


class SameColumn(BadFile):
    """Two headings name the same column."""

    def __init__(self, column: Column) -> None:
        super().__init__(column)
        self.column = column


class TooManyRows(BadFile):
    def __init__(self, most: int) -> None:
        super().__init__(f"more than {most}")
        self.most = most


class TooWide(BadFile):
    """The row in *line*, from 1, has more cells or characters than any table."""

    def __init__(self, line: int) -> None:
        super().__init__(f"line {line}")
        self.line = line


@dataclass(frozen=True, slots=True)
class Row:
    """One row as it stands in the file, and what its columns say; None where there is no such column."""

    line: int
    """Where it begins, from 1."""
    cells: tuple[str, ...]
    email: str
    name: str | None = None
    segments: str | None = None
    action: str | None = None
    formula: Column | None = None
    """The column in which a formula stands instead of text."""
    surplus: int = 0
    """Cells beyond the last heading: a separator within a text that is not in quotes."""


@dataclass(frozen=True, slots=True)
class MemberFile:
    """The rows of a table, how it was read, and what of it is not used."""

    rows: tuple[Row, ...]
    header: tuple[str, ...] | None
    columns: Columns
    ignored: tuple[str, ...]
    """Headings of columns that mean nothing here."""
    encoding: str
    separator: str


Lines = list[tuple[int, list[str]]]


def read_member_file(content: bytes) -> MemberFile:
    """The rows of a table of members; raises a subclass of BadFile where it is none."""
    found = file_text(content, windows=True)
    text = LINKED.sub(r"\1", found.text)
    if text.lstrip().startswith(("{", "[{", "[\n")):
        raise WrongKind(FileKind.JSON)
    if said := SAID_SEPARATOR.match(text):
        separator = said[1]
        lines = _lines(text[said.end() :], separator, after=1)
    else:
        separator = _separator(text)
        lines = _lines(text, separator)
    if separator in SEPARATORS and _is_list(lines):
        lines = _lines(re.sub(r"[,;\t|]", "\n", text), separator)
    if not lines:
        raise EmptyFile
    return _table(lines, found.encoding, separator)


def _separator(text: str) -> str:
    """The separator by which most rows have an address for themselves, and are of one length."""
    return max(SEPARATORS, key=lambda each: _score(text, each))


def _score(text: str, separator: str) -> tuple[int, int]:
    rows: list[list[str]] = []
    try:
        said = (row for row in csv.reader(_physical(text), delimiter=separator) if not _is_blank(row))
        rows.extend(itertools.islice(said, SAMPLE))
    except csv.Error:
        return 0, 0
    alone = sum(any(_is_bare(cell) for cell in row[:MAX_COLUMNS]) for row in rows)
    ((width, count),) = Counter(len(row) for row in rows).most_common(1) or [(0, 0)]
    return alone, count if width > 1 else 0


def _physical(text: str, after: int = 0) -> Iterator[str]:
    """The lines of *text* as they stand there; raises TooWide before one is parsed that would take long."""
    for number, line in enumerate(io.StringIO(text, newline=""), after + 1):
        if len(line) > MAX_LINE:
            raise TooWide(number)
        yield line


def _is_blank(row: Sequence[str]) -> bool:
    return not "".join(row).strip(BLANKS)


def _is_bare(cell: str) -> bool:
    return is_address(cell) and not any(mark in cell for mark in SEPARATORS)


def _lines(text: str, separator: str, after: int = 0) -> Lines:
    """Every row that is not blank, with the number of the line where it begins."""
    reader = csv.reader(_physical(text, after), delimiter=separator, strict=True, skipinitialspace=True)
    found: Lines = []
    start = after + 1
    try:
        for cells in reader:
            if len(cells) > MOST_ROWS:
                raise TooWide(start)
            if not _is_blank(cells):
                found.append((start, cells))
            start = after + reader.line_num + 1
            if len(found) > MOST_ROWS + 1:
                raise TooManyRows(MOST_ROWS)
    except csv.Error as error:
        raise BrokenTable(start, str(error)) from error
    return found


def _is_list(lines: Lines) -> bool:
    """Whether it is nothing but addresses, several to a line, as they are pasted from a mail."""
    cells = (cell for _, row in lines for cell in row if cell.strip(BLANKS))
    first = list(itertools.islice(cells, 2))
    return (
        any(len(row) > 1 for _, row in lines) and len(first) > 1 and all(map(is_address, itertools.chain(first, cells)))
    )


def _table(lines: Lines, encoding: str, separator: str) -> MemberFile:
    if wide := next((line for line, cells in lines if len(cells) > MAX_COLUMNS), None):
        raise TooWide(wide)
    header, columns = _columns(lines)
    body = lines[1:] if header is not None else lines
    if not body:
        raise EmptyFile
    if len(body) > MOST_ROWS:
        raise TooManyRows(MOST_ROWS)
    if Column.EMAIL not in columns:
        raise NoAddresses
    ignored = tuple(cell for at, cell in enumerate(header or ()) if at not in columns.values() and cell.strip(BLANKS))
    rows = tuple(_row(line, cells, columns, len(header) if header else None) for line, cells in body)
    return MemberFile(rows, header, columns, ignored, encoding, separator)


def _columns(lines: Lines) -> tuple[tuple[str, ...] | None, Columns]:
    first = lines[0][1]
    try:
        named = by_headings(first)
    except ColumnTwice as error:
        raise SameColumn(error.column) from error
    body = [cells for _, cells in lines[: SAMPLE + 1]]
    columns = by_content(body[1:] if named else body, named, frozenset(ACTIONS))
    if named or _is_unknown_heading(first, columns):
        return tuple(first), columns
    return None, columns


def _is_unknown_heading(first: Sequence[str], columns: Columns) -> bool:
    """Whether the first row is one of headings, none of which we know: over the addresses stands a word."""
    at = columns.get(Column.EMAIL)
    cell = first[at].strip(BLANKS) if at is not None and at < len(first) else ""
    return bool(cell) and not any(is_address(each) for each in first) and cell.replace(" ", "").isalpha()


def _row(line: int, cells: Sequence[str], columns: Columns, width: int | None) -> Row:
    values = {column: cells[at].strip(BLANKS) if at < len(cells) else "" for column, at in columns.items()}
    formula = next((column for column, text in values.items() if _is_formula(text)), None)
    said = {column: undefused(text) for column, text in values.items()}
    in_front, email = _address(said[Column.EMAIL])
    name = _name(said) or in_front or None
    surplus = sum(bool(cell.strip(BLANKS)) for cell in cells[width:]) if width is not None else 0
    return Row(line, tuple(cells), email, name, said.get(Column.SEGMENTS), said.get(Column.ACTION), formula, surplus)


def _is_formula(text: str) -> bool:
    """A dash alone stands for nothing, in many tables."""
    return len(text) > 1 and is_formula(text) and not is_defused(text)


def _address(text: str) -> tuple[str, str]:
    """The name and the address of ``Anna Smith <anna@example.com>``, as mail programs copy it."""
    name, bracket, address = text.rpartition("<")
    if bracket and address.endswith(">"):
        return name.strip(' "'), address[:-1].strip()
    return "", text.removeprefix("mailto:")


def _name(said: Mapping[Column, str]) -> str | None:
    first, name, last = (said.get(column) for column in (Column.FIRST_NAME, Column.NAME, Column.LAST_NAME))
    if name and (last is not None or name.casefold().startswith((first or "").casefold())):
        return name  # the whole name; where there is no other last name, it may be that
    return None if first is name is last is None else " ".join(part for part in (first, name, last) if part)
