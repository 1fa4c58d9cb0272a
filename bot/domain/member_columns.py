"""Which column of a table of members is which: by its heading as people write it, or else by what stands in it."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Final

from bot.domain.emails import emails_in


class Column(StrEnum):
    EMAIL = "email"
    NAME = "name"
    FIRST_NAME = "first name"
    LAST_NAME = "last name"
    SEGMENTS = "segments"
    ACTION = "action"


HEADINGS: Final[Mapping[Column, str]] = {
    Column.EMAIL: "email emailaddress emailadresse mail mailaddress mailadresse useremail memberemail customeremail "
    "contactemail primaryemail workemail emailid courriel correo correoelectronico epost",
    Column.NAME: "name fullname displayname membername customername vollstandigername nomcomplet nombrecompleto",
    Column.FIRST_NAME: "firstname first givenname forename vorname prenom nombre",
    Column.LAST_NAME: "lastname last surname familyname nachname familienname nom apellido apellidos",
    Column.SEGMENTS: "allowedsegments segments segment allowedsegment segmente access zugang groups group gruppen gruppe "
    "tags tag tiers tier plans plan levels level memberships membership",
    Column.ACTION: "action actions aktion operation op todo do change",
}
"""What people write above a column, the most telling first: of two columns for one thing, that one is taken."""

WORDS: Final = {word: (column, at) for column, words in HEADINGS.items() for at, word in enumerate(words.split())}
SEPARATED: Final = re.compile(r"[,;|\n]")
LONGEST: Final = 400
"""Characters of what may be an address with a name: a longer cell is none, and not worth the search."""
LONGEST_HEADING: Final = 100
"""Characters of a heading: putting its accents in order takes time with the square of their number."""
WORD: Final = re.compile(r"[^\s@]+")

Columns = dict[Column, int]


class ColumnTwice(ValueError):
    """Two columns claim to be the same."""

    def __init__(self, column: Column) -> None:
        super().__init__(column)
        self.column = column


def normal(heading: str) -> str:
    """*heading* as it is looked up: ``E-Mail Adresse`` -> ``emailadresse``. What is longer than any is cut off."""
    plain = unicodedata.normalize("NFKD", heading[:LONGEST_HEADING]).casefold()
    return "".join(character for character in plain if character.isalnum())


def by_headings(cells: Sequence[str]) -> Columns:
    """The columns that their headings name; empty where *cells* are no headings. Raises ColumnTwice."""
    found: dict[Column, tuple[int, int]] = {}
    if any(is_address(cell) for cell in cells):
        return {}
    for at, cell in enumerate(cells):
        column, rank = WORDS.get(normal(cell), (None, 0))
        if column is None:
            continue
        if (before := found.get(column)) is not None and before[0] == rank:
            raise ColumnTwice(column)
        found[column] = min((rank, at), before or (rank, at))
    return {column: at for column, (_, at) in found.items()}


def by_content(rows: Sequence[Sequence[str]], known: Columns, actions: frozenset[str]) -> Columns:
    """*known*, with what the cells of *rows* say of the others. Where headings named something, only the address is
    looked for: what else has a heading that says nothing to us is not ours.
    """
    width = max((len(row) for row in rows), default=0)
    cells = {at: [row[at].strip() for row in rows if at < len(row) and row[at].strip()] for at in range(width)}
    free = [at for at in range(width) if at not in known.values() and cells[at]]
    found = dict(known)
    if (
        Column.EMAIL not in found
        and (best := max(free, key=lambda at: _addresses(cells[at]), default=None)) is not None
    ):
        if not _addresses(cells[best]):
            return found
        found[Column.EMAIL] = best
        free.remove(best)
    for at in [] if known else free:
        column = _guessed(cells[at], actions)
        if column is not None and column not in found:
            found[column] = at
    return found


def is_address(cell: str) -> bool:
    text = cell.strip()
    return len(text) <= LONGEST and "\n" not in text and bool(emails_in(text))


def parts(cell: str) -> list[str]:
    """The names in a cell of several."""
    return [part.strip() for part in SEPARATED.split(cell) if part.strip()]


def _addresses(cells: Sequence[str]) -> int:
    return sum(map(is_address, cells))


def _guessed(cells: Sequence[str], actions: frozenset[str]) -> Column | None:
    """A column of words for actions, of people's names, or of segments, by what most of its cells look like."""
    if _addresses(cells):
        return None
    if all(cell.casefold() in actions for cell in cells):
        return Column.ACTION
    names = sum(cell[:1].isupper() and not SEPARATED.search(cell) for cell in cells)
    if 2 * names > len(cells):
        return Column.NAME
    segments = sum(all(WORD.fullmatch(part) for part in parts(cell)) for cell in cells)
    return Column.SEGMENTS if 2 * segments > len(cells) else None
