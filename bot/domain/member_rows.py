"""One row of a table of members: its cells as they stand there, and what its columns say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from bot.domain.cells import is_defused, is_formula, undefused
from bot.domain.member_columns import Columns
from bot.domain.member_headings import Column

BLANKS: Final = " \t\r\n\u00a0\u200b\ufeff"


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


def is_blank(cells: Sequence[str]) -> bool:
    return not "".join(cells).strip(BLANKS)


def read_row(line: int, cells: Sequence[str], columns: Columns, width: int) -> Row:
    """The row that begins in *line*. *width*: how many columns the table has."""
    values = {column: cells[at].strip(BLANKS) if at < len(cells) else "" for column, at in columns.items()}
    formula = next((column for column, text in values.items() if _is_formula(text)), None)
    said = {column: undefused(text) for column, text in values.items()}
    in_front, email = _address(_unquote(said.get(Column.EMAIL, "")))
    name = _name(said) or in_front or None
    surplus = sum(bool(cell.strip(BLANKS)) for cell in cells[width:])
    return Row(line, tuple(cells), email, name, said.get(Column.SEGMENTS), said.get(Column.ACTION), formula, surplus)


def _is_formula(text: str) -> bool:
    """A dash alone stands for nothing, in many tables."""
    return len(text) > 1 and is_formula(text) and not is_defused(text)


def _unquote(text: str) -> str:
    """*text* without quotes around it, which some programs write into a cell that is in quotes already."""
    return text[1:-1].strip(BLANKS) if len(text) > 1 and text[0] == text[-1] == '"' else text


def _address(text: str) -> tuple[str, str]:
    """The name and the address of ``Anna Smith <anna@example.com>``, as mail programs copy it."""
    name, bracket, address = text.rpartition("<")
    if bracket and address.endswith(">"):
        return _join_lines(name.strip(' "')), address[:-1].strip()
    return "", text.removeprefix("mailto:")


def _name(said: Mapping[Column, str]) -> str | None:
    columns = (Column.FIRST_NAME, Column.NAME, Column.LAST_NAME)
    first, name, last = (_join_lines(_unquote(said[column])) if column in said else None for column in columns)
    if name and (last is not None or name.casefold().startswith((first or "").casefold())):
        return name  # the whole name; where there is no other last name, it may be that
    return None if first is name is last is None else " ".join(part for part in (first, name, last) if part)


def _join_lines(name: str) -> str:
    return " ".join(name.split())
