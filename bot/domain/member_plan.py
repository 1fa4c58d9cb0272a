"""The plan for a table of members: one entry for each row, of one of six kinds, and the reason where it is refused."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from bot.domain.change import Kind
from bot.domain.intended import Document, Intended
from bot.domain.member_file import MemberFile
from bot.domain.member_headings import Column
from bot.domain.member_rows import Row


@dataclass(frozen=True, slots=True)
class MissingAddress:
    pass


@dataclass(frozen=True, slots=True)
class BadAddress:
    """*why* is the e-mail library's word for people."""

    why: str


@dataclass(frozen=True, slots=True)
class FormulaCell:
    column: Column


@dataclass(frozen=True, slots=True)
class ExtraCells:
    """More cells than headings: a separator within a text that is not in quotes."""

    count: int


@dataclass(frozen=True, slots=True)
class UnknownAction:
    word: str


@dataclass(frozen=True, slots=True)
class UnknownSegments:
    """Each unknown name with the nearest that there are."""

    names: tuple[tuple[str, tuple[str, ...]], ...]


@dataclass(frozen=True, slots=True)
class NoSegments:
    """The row names no segment, and something is to be done with segments."""


@dataclass(frozen=True, slots=True)
class DuplicateOf:
    line: int


@dataclass(frozen=True, slots=True)
class Contradicts:
    """Another row wants something else of the same person: nobody can tell which is meant, so neither is done."""

    line: int


@dataclass(frozen=True, slots=True)
class NotAMember:
    pass


@dataclass(frozen=True, slots=True)
class AlreadyMember:
    """There, with another name or without some of the segments: adding would not change that."""


@dataclass(frozen=True, slots=True)
class SeveralMembers:
    """Members whose addresses differ in their case alone, none of them spelled as in the row."""

    emails: tuple[str, ...]


Reason: TypeAlias = (
    MissingAddress
    | BadAddress
    | FormulaCell
    | ExtraCells
    | UnknownAction
    | UnknownSegments
    | NoSegments
    | DuplicateOf
    | Contradicts
    | NotAMember
    | AlreadyMember
    | SeveralMembers
)


class Nothing(StrEnum):
    """Why nothing needs to be done."""

    AS_ASKED = "is so already"
    HAS_NONE_OF_THEM = "has none of them"


@dataclass(frozen=True, slots=True)
class Add:
    row: Row
    after: Document


@dataclass(frozen=True, slots=True)
class Alter:
    """Segments come or go. *kind*: grant, revoke, or update where the member has just those named."""

    row: Row
    kind: Kind
    before: Document
    after: Document


@dataclass(frozen=True, slots=True)
class Remove:
    row: Row
    before: Document


@dataclass(frozen=True, slots=True)
class NothingToDo:
    row: Row
    why: Nothing


@dataclass(frozen=True, slots=True)
class Together:
    """More segments for the person of an earlier row: done together with it, so its outcome is that of *line*.

    *named*: the name that is taken, where the rows spell it differently.
    """

    row: Row
    line: int
    named: str = ""


@dataclass(frozen=True, slots=True)
class Invalid:
    row: Row
    reason: Reason


Entry: TypeAlias = Add | Alter | Remove | NothingToDo | Together | Invalid


@dataclass(frozen=True, slots=True)
class MemberPlan:
    """One entry for each row of the file, in its order."""

    file: MemberFile
    entries: tuple[Entry, ...]
    alike: tuple[tuple[Row, str], ...] = ()
    """Rows of people who are not there, each with an email that reaches the same inbox."""

    def counts(self) -> Counter[type[Entry]]:
        return Counter(type(entry) for entry in self.entries)


def intended(plan: MemberPlan) -> Iterator[Intended]:
    """The changes to propose, in the order of the file; *number* is the line."""
    for entry in plan.entries:
        match entry:
            case Add(row=row, after=after):
                yield Intended(row.line, Kind.MEMBER_ADD, str(after["email"]), None, after)
            case Alter(row=row, kind=kind, before=before, after=after):
                yield Intended(row.line, kind, str(before["email"]), before, after)
            case Remove(row=row, before=before):
                yield Intended(row.line, Kind.MEMBER_REMOVE, str(before["email"]), before, None)
