"""Detect the columns of a table of members by their headings in English, or else by their content.

Importing half a name is worse than asking: where the columns of the name are not certain, people choose them.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from bot.text.emails import emails_in


class Column(StrEnum):
    EMAIL = "email"
    NAME = "name"
    FIRST_NAME = "first name"
    LAST_NAME = "last name"
    SEGMENTS = "segments"
    ACTION = "action"


class Mode(StrEnum):
    """What an import does with the people in a table."""

    ADD = "add"
    GRANT = "grant"
    SET = "set"
    REVOKE = "revoke"
    REMOVE = "remove"


ACTION_WORDS: Final[Mapping[Mode, str]] = {
    Mode.ADD: "add new create invite join",
    Mode.GRANT: "grant give allow",
    Mode.SET: "set update replace change edit",
    Mode.REVOKE: "revoke take deny",
    Mode.REMOVE: "remove delete rm offboard kick",
}
ACTIONS: Final = {word: mode for mode, words in ACTION_WORDS.items() for word in words.split()}
"""Words in a column of actions, in lower case -> the mode."""

HEADINGS: Final[Mapping[Column, str]] = {
    Column.EMAIL: "email emailaddress emails mail mailaddress useremail primaryemail workemail emailid",
    Column.NAME: "name fullname displayname",
    Column.FIRST_NAME: "firstname first givenname forename fname",
    Column.LAST_NAME: "lastname last surname familyname lname",
    Column.SEGMENTS: "allowedsegments segments segment allowedsegment access groups group tags tag labels label "
    "tiers tier plans plan levels level memberships membership",
    Column.ACTION: "action actions operation op todo do change",
}
"""The headings of each column, in lower case without spaces."""

PERSONS: Final = (
    "buyer", "customer", "purchaser", "purchase", "member", "subscriber", "contact", "client", "billing", "attendee",
)  # fmt: skip
"""Words that shops add to ``email`` or ``name`` of a person; ``Item name`` and ``User name`` are something else."""
OF_NAMES: Final = frozenset({Column.NAME, Column.FIRST_NAME, Column.LAST_NAME})
OF_PERSONS: Final = OF_NAMES | {Column.EMAIL}

MAX_HEADING: Final = 100
"""Characters of a heading: normalising accents takes time that is quadratic in their number."""


def normalize_heading(heading: str) -> str:
    """Return *heading* in the form for lookups, cut to MAX_HEADING: ``E-Mail Adresse`` -> ``emailadresse``."""
    plain = unicodedata.normalize("NFKD", heading[:MAX_HEADING]).casefold()
    return "".join(character for character in plain if character.isalnum())


COLUMN_OF_WORD: Final = {
    normalize_heading(word): column for column, words in HEADINGS.items() for word in words.split()
}


def column_of(heading: str) -> Column | None:
    """Return the column that *heading* names; None for an unknown heading."""
    word = normalize_heading(heading)
    if (found := COLUMN_OF_WORD.get(word)) is not None:
        return found
    bare = (part for person in PERSONS for part in (word.removeprefix(person), word.removesuffix(person)))
    return next((column for part in bare if (column := COLUMN_OF_WORD.get(part)) in OF_PERSONS), None)


PART: Final = re.compile(r'"[^"]*"|[^,;|\n"]+')
QUOTED: Final = re.compile(r"[,;|]|^[-–—]$")
"""In a cell of several names, what would be read as two, or as none."""
MAX_EMAIL_CELL: Final = 400
"""Characters of a cell that is searched for an email, with or without a name."""
NAME: Final = re.compile(r"[^\W\d_][^\d_@/:;|<>{}=]{0,59}")
"""A text that may be somebody's name."""
TEXT: Final = re.compile(r"[^\W\d_][^_@:|<>{}=]{0,59}")
"""A text that may be a part of a name, next to a column with the other part."""
FEW_CELLS: Final = 5
"""With fewer cells than these, distinct values prove nothing; in more cells, segments repeat and names don't."""

Columns = dict[Column, int]
Claims = Mapping[Column, Sequence[int]]
"""For each column, the indexes whose headings name it."""
Cells = Mapping[int, Sequence[str]]
"""The texts of each column by its index, stripped, without empty cells."""


@dataclass(frozen=True, slots=True)
class Layout:
    """The index of each column, and how certain that is."""

    columns: Columns
    claimed: frozenset[Column] = frozenset()
    """Columns that a person must choose: several headings name one, or its cells may be half a name."""
    chosen: bool = False
    """Whether somebody chose the columns."""

    @property
    def in_doubt(self) -> bool:
        """Whether people should be asked, or asked again."""
        return bool(self.chosen or self.claimed)


def claims_of(cells: Sequence[str]) -> Claims:
    """Return the columns that headings name; empty where *cells* are no headings."""
    found: dict[Column, list[int]] = {}
    for at, cell in enumerate(() if any(map(is_email, cells)) else cells):
        if (column := column_of(cell)) is not None:
            found.setdefault(column, []).append(at)
    return found


def lay_out(rows: Sequence[Sequence[str]], claims: Claims, segments: frozenset[str] = frozenset()) -> Layout:
    """Detect the layout by *claims* and by the cells of *rows*; without claims, people choose the columns beside the emails.

    *segments*: the known ones, in lower case; a column of them is used as segments, or people are asked about it.
    """
    cells = _texts(rows)
    likely = {column: _likely_places(column, places, cells) for column, places in claims.items()}
    found = {column: places[0] for column, places in likely.items() if len(places) == 1}
    claimed = {*likely} - {*found}
    if Column.EMAIL not in likely and (at := _email_column(cells, found)) is not None:
        found[Column.EMAIL] = at
    taken = {*found.values(), *(at for column in claimed for at in likely[column])}
    free = {at: texts for at, texts in cells.items() if at not in taken and texts}
    of_segments = [at for at, texts in free.items() if _are_segments(texts, segments)]
    if not claims:
        if len(of_segments) == 1:
            found[Column.SEGMENTS] = of_segments[0]
        is_told = not found or {*free} <= {*found.values()}
        return Layout(found, frozenset() if is_told else frozenset({Column.NAME, Column.SEGMENTS} - {*found}))
    if of_segments and not any(cells.get(at) for at in likely.get(Column.SEGMENTS, ())):
        claimed.add(Column.SEGMENTS)
        found.pop(Column.SEGMENTS, None)
    others = [texts for at, texts in free.items() if at not in of_segments]
    if not claimed & OF_NAMES and (doubtful := _doubtful_name(rows, found, others)) is not None:
        claimed.add(doubtful)
        found.pop(doubtful, None)
    return Layout(found, frozenset(claimed))


def _doubtful_name(rows: Sequence[Sequence[str]], found: Columns, others: Sequence[Sequence[str]]) -> Column | None:
    """Return the column of names to ask about, since half a name or a wrong one might be stored; None where all is certain."""
    known = found.keys() & OF_NAMES
    if not known:
        return Column.NAME if any(map(_look_like_names, others)) else None
    has_texts = any(2 * sum(bool(TEXT.fullmatch(text)) for text in texts) > len(texts) for texts in others)
    if known == {Column.NAME}:
        texts = [text for row in rows if (text := _cell(row, found[Column.NAME]))]
        whole = sum(len(text.split()) > 1 for text in texts)
        return Column.NAME if has_texts and 2 * whole < len(texts) else None
    if Column.NAME in known:
        places = [found[column] for column in known - {Column.NAME}]
        full = ((_cell(row, found[Column.NAME]).casefold(), row) for row in rows)
        is_whole = all(_cell(row, at).casefold() in name for name, row in full if name for at in places)
        return None if is_whole else Column.NAME
    (missing, *_) = [*({Column.FIRST_NAME, Column.LAST_NAME} - known), None]
    return missing if has_texts else None


def _cell(row: Sequence[str], at: int) -> str:
    return row[at].strip() if at < len(row) else ""


def _look_like_names(texts: Sequence[str]) -> bool:
    """Whether most of *texts* may be names: words in any script that don't begin with a lower-case letter and rarely repeat."""
    names = sum(bool(NAME.fullmatch(text)) and not text[0].islower() for text in texts)
    return 2 * names > len(texts) and (len(texts) < FEW_CELLS or 4 * len({*texts}) >= len(texts))


def _are_segments(texts: Sequence[str], known: frozenset[str]) -> bool:
    return bool(known) and 2 * sum(any(part.casefold() in known for part in split_names(text)) for text in texts) > len(
        texts
    )


def _texts(rows: Sequence[Sequence[str]]) -> Cells:
    width = max((len(row) for row in rows), default=0)
    return {at: [row[at].strip() for row in rows if at < len(row) and row[at].strip()] for at in range(width)}


def _likely_places(column: Column, places: Sequence[int], cells: Cells) -> Sequence[int]:
    """Return those of *places* that are the best candidates for *column*; only the first where all have the same texts."""
    if column is Column.EMAIL:
        most = max(_count_emails(cells.get(at, ())) for at in places)
        places = [at for at in places if _count_emails(cells.get(at, ())) == most]
    places = [at for at in places if cells.get(at)] or places
    same = all(cells.get(at) == cells.get(places[0]) for at in places)
    return places[:1] if same else places


def _email_column(cells: Cells, known: Columns) -> int | None:
    free = [at for at in cells if at not in known.values()]
    best = max(free, key=lambda at: _count_emails(cells[at]), default=None)
    return best if best is not None and _count_emails(cells[best]) else None


def is_heading(first: Sequence[str], columns: Columns) -> bool:
    """Whether the *first* row has headings, though no known one: a word above the emails, and no ``@`` in any cell.

    A cell with an ``@`` may be an email with a typo.
    """
    at = columns.get(Column.EMAIL)
    over = first[at] if at is not None and at < len(first) else ""
    return any(map(str.isalpha, over)) and not any("@" in cell for cell in first)


def is_email(cell: str) -> bool:
    text = cell.strip()
    return len(text) <= MAX_EMAIL_CELL and "\n" not in text and bool(emails_in(text))


def split_names(cell: str) -> list[str]:
    """Split a cell of several names, each of which may be quoted: ``"vip","gold, old"``."""
    return [part for found in PART.findall(cell) if (part := found.strip().strip('"').strip())]


def join_names(names: Iterable[str]) -> str:
    """Return the cell that `split_names` splits into *names*, where none of them has a quote."""
    return ",".join(f'"{name}"' if QUOTED.search(name) and '"' not in name else name for name in names)


def _count_emails(cells: Sequence[str]) -> int:
    return sum(map(is_email, cells))
