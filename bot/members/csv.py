"""Read tables of members from bytes to rows, and write members and the results of imports as CSV for spreadsheets."""

from __future__ import annotations

import csv
import html
import io
import itertools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from typing import Final

from bot.members.csv_columns import (
    Column,
    Columns,
    Layout,
    claims_of,
    is_email,
    is_heading,
    join_names,
    lay_out,
    normalize_heading,
)
from bot.members.model import Member
from bot.text.encoding import EMPTY_FILE, BadFile, escape_formula, file_text, unescape_formula
from bot.text.tables import (
    BLANKS,
    SAMPLE,
    SEPARATORS,
    SPACES,
    Lines,
    TableFile,
    body_of,
    flaw_of,
    parse_lines,
    read_lines,
    unused_columns,
)


@dataclass(frozen=True, slots=True)
class Row:
    """One row: its cells as in the file, and its values by column; None where the table has no such column."""

    line: int
    """The line where it begins, from 1."""
    cells: tuple[str, ...]
    email: str
    name: str | None = None
    segments: str | None = None
    action: str | None = None
    flaw: str = ""
    """Why the row can't be read."""


def read_row(line: int, cells: Sequence[str], columns: Columns, width: int) -> Row:
    """Return the row that begins in *line*. *width*: the number of columns of the table."""
    values = {column: cells[at].strip(_padding(column)) if at < len(cells) else "" for column, at in columns.items()}
    said = {column: unescape_formula(text) for column, text in values.items()}
    in_front, email = _email(_unquote(said.get(Column.EMAIL, ""), _padding(Column.EMAIL)))
    name = _name(said) or in_front or None
    flaw = flaw_of(values, cells[width:])
    return Row(line, tuple(cells), email, name, said.get(Column.SEGMENTS), said.get(Column.ACTION), flaw)


def _padding(column: Column) -> str:
    """Return the characters to strip from a cell; invisible ones stay in an email, since without them it is another one."""
    return SPACES if column is Column.EMAIL else BLANKS


def _unquote(text: str, around: str = BLANKS) -> str:
    """Return *text* without quotes around it, which some programs add to a cell that is quoted already."""
    return text[1:-1].strip(around) if len(text) > 1 and text[0] == text[-1] == '"' else text


def _email(text: str) -> tuple[str, str]:
    """Return the name and the email of ``Anna Smith <anna@example.com>``, as mail programs copy it."""
    name, bracket, email = text.rpartition("<")
    if bracket and email.endswith(">"):
        return _join_lines(name.strip(' "')), email[:-1].strip()
    link = MAILTO.match(text)
    return "", text if link is None else link[1]


def _name(said: Mapping[Column, str]) -> str | None:
    columns = (Column.FIRST_NAME, Column.NAME, Column.LAST_NAME)
    first, name, last = (_name_in(said[column]) if column in said else None for column in columns)
    if first is name is last is None:
        return None
    whole = (name or "").casefold()
    first, last = (part if part and part.casefold() not in whole else None for part in (first, last))
    return " ".join(part for part in (first, name, last) if part)


NO_NAME: Final = frozenset({"NULL", "\\N", "#N/A", "N/A", "NaN", "nan", "undefined"})
"""What programs write for a missing name, in exact case: people are called Null and Nan."""
ENTITY: Final = re.compile(r"&(?:#\w+|[a-zA-Z]\w*);")
"""A character reference of HTML."""


def _name_in(cell: str) -> str:
    """Return the name in *cell*, with HTML character references decoded; empty for NO_NAME."""
    text = ENTITY.sub(lambda found: html.unescape(found[0]), _join_lines(_unquote(cell)))
    return "" if text in NO_NAME else _join_lines(text)


def _join_lines(name: str) -> str:
    return " ".join(name.split())


MAILTO: Final = re.compile(r"mailto:([^?]*)", re.IGNORECASE)
"""An email in a ``mailto:`` link, which may have a subject."""
LINKED: Final = re.compile(r"<mailto:([^|<>\s]+)(?:\|[^<>\n]*)?>")
"""An email as Slack marks it up in pasted text."""
AS_TABLE: Final = "Save it as CSV, with a column of emails."
MAX_EXAMPLE: Final = 60
"""Characters of a cell that is shown as an example of its column."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberFile(TableFile):
    rows: tuple[Row, ...]
    layout: Layout
    examples: tuple[str, ...]
    """For each column, its first text, shortened."""

    @property
    def columns(self) -> Columns:
        return self.layout.columns


Chosen = Mapping[Column, int | None]
"""The columns that somebody chose; None for one that the table doesn't have, no entry for one that isn't chosen yet."""


def read_member_file(
    content: bytes, chosen: Chosen | None = None, encoding: str = "", segments: Iterable[str] = ()
) -> MemberFile:
    """Read a table of members; raises BadFile where it is not one.

    *chosen*: the columns that somebody chose. *encoding*: as in `file_text`. *segments*: the known ones.
    """
    found = file_text(content, is_table=True, encoding=encoding)
    text = LINKED.sub(r"\1", found.text)
    if text.lstrip().startswith(("{", "[{", "[\n")):
        raise BadFile("The file is JSON.", AS_TABLE)
    separator, lines = read_lines(text, _is_bare)
    if separator in SEPARATORS and _is_list(lines):
        lines = parse_lines(re.sub(r"[,;\t|]", "\n", text), separator)
    if not lines:
        raise BadFile(*EMPTY_FILE)
    read = _table(lines, found.encoding, separator, chosen, frozenset(map(str.casefold, segments)))
    return replace(read, readings=found.readings) if found.readings and _is_encoding_relevant(read) else read


def _is_encoding_relevant(file: MemberFile) -> bool:
    """Whether there are letters beyond ASCII in a column that is used, or in a heading that people choose by."""
    places = {*file.columns.values()}
    if file.layout.in_doubt or not all(map(str.isascii, file.header or ())):
        return True
    return any(not row.cells[at].isascii() for row in file.rows for at in places if at < len(row.cells))


def _is_bare(cell: str) -> bool:
    return is_email(cell) and not any(mark in cell for mark in SEPARATORS)


def _is_list(lines: Lines) -> bool:
    """Whether *lines* are only emails, several per line, as pasted from a mail."""
    cells = (cell for _, row in lines for cell in row if cell.strip(BLANKS))
    first = list(itertools.islice(cells, 2))
    return (
        any(len(row) > 1 for _, row in lines) and len(first) > 1 and all(map(is_email, itertools.chain(first, cells)))
    )


def _table(lines: Lines, encoding: str, separator: str, chosen: Chosen | None, segments: frozenset[str]) -> MemberFile:
    sample = [cells for _, cells in lines[: SAMPLE + 1]]
    known, header, found = _read_headings(sample, segments)
    if chosen is not None:
        found = _use_chosen(found, chosen)
    body, width = body_of(lines, header is not None)
    if chosen is None and Column.EMAIL not in {*found.columns, *found.claimed}:
        raise BadFile("No column of the table has emails.", AS_TABLE)
    rows = tuple(read_row(line, cells, found.columns, width) for line, cells in body)
    return MemberFile(
        rows=rows,
        header=header,
        known_header=known,
        layout=found,
        examples=_examples(body, width),
        unused=unused_columns(header, body, width, found.columns.values()),
        encoding=encoding,
        separator=separator,
    )


def _read_headings(
    sample: Sequence[Sequence[str]], segments: frozenset[str]
) -> tuple[bool, tuple[str, ...] | None, Layout]:
    """Return whether a heading is known, the headings (None where there are none), and the layout of the columns."""
    first, *others = sample
    if claims := claims_of(first):
        return True, tuple(first), lay_out(others, claims, segments)
    found = lay_out(sample, {}, segments)
    if others and is_heading(first, found.columns):
        return False, tuple(first), lay_out(others, {}, segments)
    return False, None, found


def _use_chosen(found: Layout, chosen: Chosen) -> Layout:
    """Return the layout of the chosen columns; nobody chooses the column of actions, so it is kept unless it was chosen."""
    columns = {column: at for column, at in chosen.items() if at is not None}
    kept = {
        column: at for column, at in found.columns.items() if column is Column.ACTION and at not in columns.values()
    }
    return Layout(kept | columns, claimed=found.claimed - chosen.keys(), chosen=True)


def _examples(body: Lines, width: int) -> tuple[str, ...]:
    found = [""] * width
    for _, cells in body[:SAMPLE]:
        for at, cell in enumerate(cells[:width]):
            found[at] = found[at] or " ".join(cell[:MAX_EXAMPLE].split())
    return tuple(found)


BOM: Final = b"\xef\xbb\xbf"
"""Without it, Excel reads the file in the machine's code page, and Bjørk as BjÃ¸rk; other programs ignore it."""


def export_lines(members: Sequence[Member], site: str) -> Iterator[bytes]:
    """Yield the lines of the export: name, email, segments (separated by commas), site, and created if the service sends it."""
    dated = any(_member_since(member) for member in members)
    yield BOM + _line(["name", "email", "segments", "site", *(["created"] if dated else [])]).encode()
    for member in members:
        cells = [member.name or "", member.email, join_names(member.segments), site]
        yield _line([*cells, *([_member_since(member)] if dated else [])]).encode("utf-8", "surrogatepass")


def _line(cells: Sequence[str], separator: str = ",") -> str:
    line = io.StringIO()
    csv.writer(line, delimiter=separator).writerow([escape_formula(cell) for cell in cells])
    return line.getvalue()


def _member_since(member: Member) -> str:
    """Return when somebody became a member, as ISO 8601 in UTC; empty where that isn't known."""
    return "" if member.since is None else datetime.fromtimestamp(member.since, UTC).isoformat()


def export_name(site: str, day: date) -> str:
    return f"members_{site}_{day:%Y-%m-%d}.csv"


COLUMNS: Final = ("outcome", "reason")


def result_table(columns: Sequence[str], rows: Iterable[tuple[Sequence[str], str, str]], separator: str = ",") -> bytes:
    """Return a table of *rows*, each with its cells, an outcome and a reason, with the *separator* of the imported table.

    Outcomes of an earlier import are dropped. In UTF-8 with a byte-order mark; formulas are escaped.
    """
    kept = [at for at, heading in enumerate(columns) if normalize_heading(heading) not in COLUMNS]
    table = [(columns, *COLUMNS), *rows]
    lines = [_line([*_cells(cells, kept), outcome, reason], separator) for cells, outcome, reason in table]
    return "".join(lines).encode("utf-8-sig")


def headings(file: MemberFile) -> tuple[str, ...]:
    """Return the headings of a table, with a made-up one for each column that has none."""
    width = max(len(file.header or ()), *(len(row.cells) for row in file.rows))
    known = {at: column.value for column, at in file.columns.items()} if file.header is None else {}
    given = file.header or ()
    return tuple(given[at] if at < len(given) else known.get(at, f"column {at + 1}") for at in range(width))


def _cells(cells: Sequence[str], kept: Sequence[int]) -> list[str]:
    return [unescape_formula(cells[at]) if at < len(cells) else "" for at in kept]
