"""Read a table (CSV) whose first row has known headings; any other heading is refused by name, and nothing is guessed."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from bot.text.encoding import EMPTY_FILE, BadFile, file_text, is_escaped_formula, is_formula, unescape_formula

MAX_ROWS: Final = 20_000
MAX_LINE: Final = 1_000_000
"""Characters of a line: the CSV parser holds the GIL until the end of a line."""
SEPARATORS: Final = (",", ";", "\t")
MAX_TITLES: Final = 20
"""Unknown headings that are named."""
MAX_TITLE: Final = 60
"""Characters of a heading that is named."""


@dataclass(frozen=True, slots=True)
class TableRow:
    """The row that begins in *line*, from 1."""

    line: int
    values: Mapping[str, str]
    """Its text by heading; empty for a heading that the table doesn't have."""
    flaw: str = ""
    """Why the row can't be read, as the rest of a sentence."""


def read_table(
    content: bytes, required: Sequence[str], optional: Sequence[str], most: int = MAX_ROWS
) -> list[TableRow]:
    """Return the rows of the table in *content* with the *required* headings, and maybe *optional* ones, in any order and case.

    Raises BadFile where it is another table, is not UTF-8, or has more than *most* rows.
    """
    text = file_text(content)
    heading_line = text.lstrip("\r\n").partition("\n")[0]
    separator = max(SEPARATORS, key=heading_line.count)
    rows = _read_rows(text, separator)
    _, headings = next(rows, (0, []))
    places = _places(headings, required, optional)
    found: list[TableRow] = []
    for line, cells in rows:
        if len(found) == most:
            raise BadFile(f"The table has more than {most:,} rows.", "Split it.")
        found.append(_table_row(line, cells, places, len(headings), (*required, *optional)))
    if not found:
        raise BadFile(*EMPTY_FILE)
    return found


def _read_rows(text: str, separator: str) -> Iterator[tuple[int, list[str]]]:
    """Yield every row that is not blank, with the number of the line where it begins; raises BadFile."""
    reader = csv.reader(_lines(text), delimiter=separator, strict=True, skipinitialspace=True)
    start = 1
    try:
        for cells in reader:
            if any(map(str.strip, cells)):
                yield start, cells
            start = reader.line_num + 1
    except csv.Error as error:
        advice = "Usually an unclosed quote, or text after a closing one: put the whole cell in quotes."
        raise BadFile(f"The row in line {start:,} can’t be read ({error}).", advice) from error


def _lines(text: str) -> Iterator[str]:
    for number, line in enumerate(io.StringIO(text, newline=""), 1):
        if len(line) > MAX_LINE:
            raise BadFile(f"Line {number:,} is too long: a line has at most {MAX_LINE:,} characters.")
        yield line


def _places(headings: Sequence[str], required: Sequence[str], optional: Sequence[str]) -> dict[str, int]:
    """Return the index of each known heading; raises BadFile where one is missing, unknown, or there twice."""
    names = [heading.strip().casefold() for heading in headings]
    known = (*required, *optional)
    places = {name: names.index(name) for name in known if name in names}
    missing = [name for name in required if name not in places]
    others = [
        heading.strip()[:MAX_TITLE] or f"column {at + 1}"
        for at, heading in enumerate(headings)
        if at not in places.values()
    ]
    if not missing and not others:
        return places
    renamed = {name: title for name in missing if (title := _find_similar(name, others)) is not None}
    rest = [f"“{title}”" for title in others if title not in renamed.values()]
    if len(rest) > MAX_TITLES:
        rest[MAX_TITLES:] = [f"and {len(rest) - MAX_TITLES:,} more"]
    sentences = [
        *(f"Rename the column “{title}” to “{name}”." for name, title in renamed.items()),
        *(f"No column is called “{name}”." for name in missing if name not in renamed),
        *([f"Remove: {', '.join(rest)}."] if rest else []),
    ]
    expected = f"{' and '.join(required)}, and optionally {', '.join(optional)}"
    raise BadFile(" ".join(sentences), f"The first row has the headings {expected}, each once.")


def _find_similar(name: str, titles: Sequence[str]) -> str | None:
    """Return the first of *titles* that begins or ends with *name*, whatever is between its letters."""
    letters = ((title, "".join(filter(str.isalpha, title)).casefold()) for title in titles if "@" not in title)
    return next((title for title, word in letters if word.startswith(name) or word.endswith(name)), None)


def _table_row(
    line: int, cells: Sequence[str], places: Mapping[str, int], width: int, known: Sequence[str]
) -> TableRow:
    texts = {name: cells[at].strip() for name, at in places.items() if at < len(cells)}
    values = dict.fromkeys(known, "") | {name: unescape_formula(text) for name, text in texts.items()}
    return TableRow(line, values, _flaw(texts, cells[width:]))


def _flaw(texts: Mapping[str, str], surplus: Sequence[str]) -> str:
    """Return why a row can't be read; empty where it can. *surplus*: the cells beyond the last heading."""
    for name, text in texts.items():
        if len(text) > 1 and is_formula(text) and not is_escaped_formula(text):
            return f"the column {name} has a formula, which is not read as text"
    count = sum(bool(cell.strip()) for cell in surplus)
    return f"{count} cell{'s' * (count > 1)} too many: put texts with separators in quotes" if count else ""
