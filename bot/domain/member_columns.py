"""Which column of a table of members is which: by its heading as people write it, or else by what stands in it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from bot.domain.emails import emails_in
from bot.domain.member_headings import Column, column_of

SEPARATED: Final = re.compile(r"[,;|\n]")
PART: Final = re.compile(r'"[^"]*"|[^,;|\n"]+')
LONGEST: Final = 400
"""Characters of what may be an address with a name: a longer cell is none, and not worth the search."""
WORD: Final = re.compile(r"[^\s@]+")
FEW: Final = 5
"""Cells that tell nothing by being all different: of more, those of segments come again."""

Columns = dict[Column, int]
Claims = Mapping[Column, Sequence[int]]
"""For each column the places whose headings name it equally well."""
Cells = Mapping[int, Sequence[str]]
"""What stands in each place, without blanks."""


@dataclass(frozen=True, slots=True)
class Layout:
    """Where each column is, and how sure that is."""

    columns: Columns
    guessed: frozenset[Column] = frozenset()
    """Columns told by what stands in them alone."""
    claimed: frozenset[Column] = frozenset()
    """Columns that several headings name: which one is meant, only people can tell."""
    chosen: bool = False
    """Whether somebody chose the columns."""

    @property
    def in_doubt(self) -> bool:
        """Whether people should be asked, or asked again: a column of nothing but emails is no guess."""
        return bool(self.chosen or self.claimed or self.guessed - {Column.EMAIL})


def by_headings(cells: Sequence[str]) -> Claims:
    """The columns that their headings name; empty where *cells* are no headings."""
    found: dict[Column, tuple[int, list[int]]] = {}
    if any(is_address(cell) for cell in cells):
        return {}
    for at, cell in enumerate(cells):
        if (named := column_of(cell)) is None:
            continue
        column, rank = named
        best, places = found.get(column, (rank, []))
        if rank < best:
            best, places = rank, []
        found[column] = best, [*places, at] if rank == best else places
    return {column: places for column, (_, places) in found.items()}


def lay_out(rows: Sequence[Sequence[str]], claims: Claims, actions: frozenset[str]) -> Layout:
    """The layout by *claims*, and by what the cells of *rows* say. Where headings named something, only the email is
    looked for: what else has a heading that says nothing to us is not ours.
    """
    cells = _texts(rows)
    likely = {column: _likely_places(column, places, cells) for column, places in claims.items()}
    found = {column: places[0] for column, places in likely.items() if len(places) == 1}
    guessed: Columns = {}
    if Column.EMAIL not in likely and (at := _of_emails(cells, found)) is not None:
        guessed[Column.EMAIL] = at
    if not claims and guessed:
        guessed |= _guess_others(cells, guessed, actions)
    return Layout(found | guessed, frozenset(guessed), frozenset(likely) - frozenset(found))


def _texts(rows: Sequence[Sequence[str]]) -> Cells:
    width = max((len(row) for row in rows), default=0)
    return {at: [row[at].strip() for row in rows if at < len(row) and row[at].strip()] for at in range(width)}


def _likely_places(column: Column, places: Sequence[int], cells: Cells) -> Sequence[int]:
    """Those of *places* that something tells from the others; the first of those that say the same anyway."""
    if column is Column.EMAIL:
        most = max(_addresses(cells.get(at, ())) for at in places)
        places = [at for at in places if _addresses(cells.get(at, ())) == most]
    places = [at for at in places if cells.get(at)] or places
    same = all(cells.get(at) == cells.get(places[0]) for at in places)
    return places[:1] if same else places


def _of_emails(cells: Cells, known: Columns) -> int | None:
    free = [at for at in cells if at not in known.values()]
    best = max(free, key=lambda at: _addresses(cells[at]), default=None)
    return best if best is not None and _addresses(cells[best]) else None


def _guess_others(cells: Cells, known: Columns, actions: frozenset[str]) -> Columns:
    found: Columns = {}
    for at in cells:
        if at not in known.values() and (column := _guessed(cells[at], actions)) is not None:
            found.setdefault(column, at)
    return found


def is_heading(first: Sequence[str], columns: Columns) -> bool:
    """Whether the *first* row is one of headings, none of which we know: over the emails stands a word, and no email
    anywhere. What has an ``@`` may be an email with a slip of the pen.
    """
    at = columns.get(Column.EMAIL)
    over = first[at] if at is not None and at < len(first) else ""
    return any(map(str.isalpha, over)) and not any("@" in cell for cell in first)


def is_address(cell: str) -> bool:
    text = cell.strip()
    return len(text) <= LONGEST and "\n" not in text and bool(emails_in(text))


def parts(cell: str) -> list[str]:
    """The names in a cell of several, each of which may stand in quotes: ``"vip","gold, old"``."""
    return [part for found in PART.findall(cell) if (part := found.strip().strip('"').strip())]


def _addresses(cells: Sequence[str]) -> int:
    return sum(map(is_address, cells))


def _guessed(cells: Sequence[str], actions: frozenset[str]) -> Column | None:
    """A column of words for actions, of people's names, or of segments, by what most of its cells look like."""
    if not cells or _addresses(cells):
        return None
    if all(cell.casefold() in actions for cell in cells):
        return Column.ACTION
    names = sum(cell[:1].isupper() and not SEPARATED.search(cell) for cell in cells)
    if 2 * names > len(cells):
        return Column.NAME
    segments = sum(all(WORD.fullmatch(part) for part in parts(cell)) for cell in cells)
    come_again = len(cells) < FEW or len(set(cells)) < len(cells)
    return Column.SEGMENTS if 2 * segments > len(cells) and come_again else None
