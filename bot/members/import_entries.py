"""The plan for the import of a table of members: one entry of six kinds for each row."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, TypeAlias

from bot.changes.model.documents import Document, canonical_form
from bot.changes.model.edits import Edit, Kind, Target
from bot.members.csv import MemberFile, Row
from bot.members.csv_columns import Mode

NOT_A_MEMBER: Final = "not a member of this site"
"""Why a row about a person who isn't a member is refused."""


@dataclass(frozen=True, slots=True)
class Entry:
    """The plan for one row."""

    row: Row

    @property
    def basis(self) -> tuple[Any, ...]:
        """Return what would be written and what it replaces, to detect changes since; empty where nothing is done."""
        return ()


@dataclass(frozen=True, slots=True)
class Write(Entry):
    """A change. *kind*: for segments, grant or revoke; or update, where the member gets exactly those of the row."""

    kind: Kind
    before: Document | None
    after: Document | None
    name_kept: str | None = None
    """The name that the member keeps though the row has another one: an import changes no names."""

    @property
    def basis(self) -> tuple[Any, ...]:
        return canonical_form(self.before), canonical_form(self.after)

    def edit(self, site: str) -> Edit:
        """Return the edit for this row on *site*."""
        document = self.before or self.after or {}
        target = Target(service="members", site=site, key=str(document["email"]))
        return Edit(kind=self.kind, target=target, before=self.before, after=self.after)


@dataclass(frozen=True, slots=True)
class Add(Write):
    pass


@dataclass(frozen=True, slots=True)
class Alter(Write):
    """A change of the segments of a member."""


@dataclass(frozen=True, slots=True)
class Remove(Write):
    pass


@dataclass(frozen=True, slots=True)
class NothingToDo(Entry):
    """A row whose person is as it says. *why*: the rest of a sentence."""

    why: str = "nothing to change"
    name_kept: str | None = None
    """As in `Write`."""


@dataclass(frozen=True, slots=True)
class Together(Entry):
    """More segments for the person of an earlier row, done together with it: its outcome is that of the row in *line*."""

    line: int


@dataclass(frozen=True, slots=True)
class Invalid(Entry):
    """A row that can't be imported. *reason*: why, as the rest of a sentence."""

    reason: str


@dataclass(frozen=True, slots=True)
class MemberPlan:
    """The plan for a file: one entry for each row, in order."""

    file: MemberFile
    entries: tuple[Entry, ...]
    alike: tuple[tuple[Row, str], ...] = ()
    """Rows of people who are not members, each with another email that reaches the same inbox."""


@dataclass(frozen=True, slots=True)
class Wish:
    """A parsed row: what to do for whom. *identity*: the key that all spellings of an email share."""

    row: Row
    identity: str
    email: str
    mode: Mode
    name: str
    segments: tuple[str, ...]

    @property
    def content(self) -> tuple[object, ...]:
        """Return the key by which two rows about one person are duplicates."""
        if self.mode is Mode.REMOVE:
            return (self.mode,)
        return self.mode, frozenset(self.segments), self.folded_name

    @property
    def folded_name(self) -> str:
        """Return the name in the form in which names are compared; empty where it isn't used."""
        return " ".join(self.name.casefold().split()) if self.mode is Mode.ADD else ""


Agreed: TypeAlias = Wish | Together | Invalid


def agree(wishes: Sequence[Wish]) -> dict[int, Agreed]:
    """Merge the rows about each person; return what to do by line."""
    by_person: dict[str, list[Wish]] = {}
    for wish in wishes:
        by_person.setdefault(wish.identity, []).append(wish)
    return {line: each for rows in by_person.values() for line, each in _agree_on_person(rows)}


def _agree_on_person(wishes: Sequence[Wish]) -> Iterator[tuple[int, Agreed]]:
    """Yield what to do with each row about one person: shops export one row per sale, each with a segment."""
    distinct: dict[tuple[object, ...], Wish] = {}
    for wish in wishes:
        twin = distinct.setdefault(wish.content, wish)
        if twin is not wish:
            yield wish.row.line, Invalid(wish.row, f"the same as line {twin.row.line:,}")
    first, *others = distinct.values()
    if _are_contradictory([first, *others]):
        for wish in distinct.values():
            other = (others[0] if wish is first else first).row.line
            yield wish.row.line, Invalid(wish.row, f"contradicts line {other:,}; neither is applied")
        return
    segments = tuple(dict.fromkeys(name for wish in distinct.values() for name in wish.segments))
    name = next((wish.name for wish in distinct.values() if wish.name), "")
    yield first.row.line, replace(first, email=_spelling(wishes), name=name, segments=segments)
    yield from ((wish.row.line, Together(wish.row, first.row.line)) for wish in others)


def _are_contradictory(wishes: Sequence[Wish]) -> bool:
    """Whether the rows have different actions, both no segments and some, or different names."""
    if len({wish.mode for wish in wishes}) > 1:
        return True
    if wishes[0].mode is Mode.SET:
        return len({bool(wish.segments) for wish in wishes}) > 1
    return len({wish.folded_name for wish in wishes} - {""}) > 1


def _spelling(wishes: Sequence[Wish]) -> str:
    """Return the email in lower case if a row has it so, else in the first row's spelling: only its mail server knows whether
    case matters before the ``@``.
    """
    return next((wish.email for wish in wishes if wish.email == wish.email.lower()), wishes[0].email)
