"""What would happen if a table of members were imported: each row judged against the members that the site has."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from rapidfuzz import fuzz, process

from bot.domain.change import Kind
from bot.domain.checks import BadEmail, checked_email
from bot.domain.member import Member, caseless, chosen
from bot.domain.member_columns import parts
from bot.domain.member_file import ACTIONS, MemberFile, Mode, Row
from bot.domain.member_plan import (
    Add,
    AlreadyMember,
    Alter,
    BadAddress,
    Contradicts,
    DuplicateOf,
    Entry,
    ExtraCells,
    FormulaCell,
    Invalid,
    MemberPlan,
    MissingAddress,
    NoSegments,
    NotAMember,
    Nothing,
    NothingToDo,
    Reason,
    Remove,
    SeveralMembers,
    Together,
    UnknownAction,
    UnknownSegments,
)

NO_SEGMENTS: Final = frozenset({"-", "–", "—"})
"""What stands for no segments at all, where a member is to have just those of the cell."""
MOST_SUGGESTED: Final = 200
"""Unknown names for which near ones are looked up: of a table with more of them, the first tell enough."""
MOST_LOOKED_AT: Final = 200
"""Characters of an unknown name by which near ones are looked up."""


class _Refused(Exception):
    def __init__(self, reason: Reason) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class _Wish:
    """A row understood: what it wants of whom. *identity*: what two spellings of one address share."""

    row: Row
    identity: str
    email: str
    mode: Mode
    name: str
    segments: tuple[str, ...]

    @property
    def content(self) -> tuple[object, ...]:
        """What makes two rows about one person the same."""
        if self.mode is Mode.REMOVE:
            return (self.mode,)
        return self.mode, frozenset(self.segments), self.name if self.mode is Mode.ADD else ""


_Agreed: TypeAlias = _Wish | Together | Invalid


def plan_members(
    file: MemberFile, mode: Mode, live: Iterable[Member], known_segments: Iterable[str] | None = None
) -> MemberPlan:
    """The plan for *file*. *mode* counts where a row has no action of its own.

    *known_segments* are those that settings name; the members' own are known anyway. None: no name is refused.
    """
    members = tuple(live)
    reader = _Reader(mode, _known(members, known_segments))
    read = [reader.read(row) for row in file.rows]
    agreed = _agreed([each for each in read if isinstance(each, _Wish)])
    judge = _Judge(members, {wish.identity for wish in agreed.values() if isinstance(wish, _Wish)})
    entries = (each if isinstance(each, Invalid) else judge.entry(agreed[each.row.line]) for each in read)
    return MemberPlan(file, tuple(entries))


def _known(members: Sequence[Member], extra: Iterable[str] | None) -> Mapping[str, None] | None:
    if extra is None:
        return None
    return dict.fromkeys([*(name for member in members for name in member.segments), *extra])


class _Reader:
    """Makes wishes of rows; each distinct cell of segments is looked at once."""

    def __init__(self, mode: Mode, known: Mapping[str, None] | None) -> None:
        self._mode = mode
        self._known = known
        self._by_fold = {caseless(name): name for name in known or ()}
        self._seen: dict[str, tuple[str, ...]] = {}
        self._suggested: dict[str, tuple[str, ...]] = {}

    def read(self, row: Row) -> _Wish | Invalid:
        try:
            return self._wish(row)
        except _Refused as refused:
            return Invalid(row, refused.reason)

    def _wish(self, row: Row) -> _Wish:
        if row.formula is not None:
            raise _Refused(FormulaCell(row.formula))
        if row.surplus:
            raise _Refused(ExtraCells(row.surplus))
        mode = _mode(row.action, self._mode)
        email = _email(row.email)
        segments = () if mode is Mode.REMOVE else self._segments(row.segments or "")
        emptied = mode is Mode.SET and row.segments in NO_SEGMENTS
        if mode in {Mode.GRANT, Mode.REVOKE, Mode.SET} and not segments and not emptied:
            raise _Refused(NoSegments())
        return _Wish(row, caseless(email), email, mode, row.name or "", segments)

    def _segments(self, cell: str) -> tuple[str, ...]:
        if cell in NO_SEGMENTS:
            return ()
        if cell not in self._seen:
            self._seen[cell] = self._spelled(cell)
        return self._seen[cell]

    def _spelled(self, cell: str) -> tuple[str, ...]:
        """The segments of a cell, in the spelling that the site has where only the case differs."""
        names = [cell] if cell in (self._known or ()) else parts(cell)
        if self._known is None:
            return tuple(dict.fromkeys(names))
        found = [name if name in self._known else self._by_fold.get(caseless(name)) for name in names]
        if None in found:
            unknown = [name for name, known in zip(names, found, strict=True) if known is None]
            raise _Refused(UnknownSegments(tuple((name, self._nearest(name)) for name in unknown)))
        return tuple(dict.fromkeys(name for name in found if name is not None))

    def _nearest(self, name: str) -> tuple[str, ...]:
        if name not in self._suggested and len(self._suggested) < MOST_SUGGESTED:
            wanted = name[:MOST_LOOKED_AT].casefold()
            hits = process.extract(wanted, list(self._by_fold), scorer=fuzz.ratio, limit=3, score_cutoff=60)
            self._suggested[name] = tuple(self._by_fold[fold] for fold, _, _ in hits)
        return self._suggested.get(name, ())


def _mode(word: str | None, default: Mode) -> Mode:
    if not word or word in NO_SEGMENTS:
        return default
    if (mode := ACTIONS.get(word.casefold())) is None:
        raise _Refused(UnknownAction(word))
    return mode


def _email(text: str) -> str:
    if not text:
        raise _Refused(MissingAddress())
    try:
        return checked_email(text)
    except BadEmail as error:
        raise _Refused(BadAddress(str(error))) from error


def _agreed(wishes: Sequence[_Wish]) -> dict[int, _Agreed]:
    """By line: what is to be done, once each person is only asked for once."""
    by_person: dict[str, list[_Wish]] = {}
    for wish in wishes:
        by_person.setdefault(wish.identity, []).append(wish)
    return {line: each for rows in by_person.values() for line, each in _of_one(rows)}


def _of_one(wishes: list[_Wish]) -> Iterator[tuple[int, _Agreed]]:
    """What becomes of the rows about one person."""
    distinct: dict[tuple[object, ...], _Wish] = {}
    for wish in wishes:
        twin = distinct.setdefault(wish.content, wish)
        if twin is not wish:
            yield wish.row.line, Invalid(wish.row, DuplicateOf(twin.row.line))
    first, *others = distinct.values()
    adds_up = len({wish.mode for wish in distinct.values()}) == 1 and first.mode in {Mode.GRANT, Mode.REVOKE}
    if others and not adds_up:
        yield first.row.line, Invalid(first.row, Contradicts(others[0].row.line))
        yield from ((wish.row.line, Invalid(wish.row, Contradicts(first.row.line))) for wish in others)
        return
    segments = tuple(dict.fromkeys(name for wish in distinct.values() for name in wish.segments))
    yield first.row.line, replace(first, segments=segments)
    yield from ((wish.row.line, Together(wish.row, first.row.line)) for wish in others)


class _Judge:
    """Compares wishes with the members that there are. *asked*: the identities that it will be asked about."""

    def __init__(self, members: Sequence[Member], asked: set[str]) -> None:
        self._members: dict[str, list[Member]] = {}
        for member in members:
            if (identity := member.identity) in asked:
                self._members.setdefault(identity, []).append(member)

    def entry(self, wish: _Agreed) -> Entry:
        if not isinstance(wish, _Wish):
            return wish
        alike = self._members.get(wish.identity, [])
        if (member := chosen(alike, wish.email)) is not None:
            return _added(wish, member) if wish.mode is Mode.ADD else _altered(wish, member)
        if alike:
            return Invalid(wish.row, SeveralMembers(tuple(one.email for one in alike)))
        if wish.mode is not Mode.ADD:
            return Invalid(wish.row, NotAMember())
        after = {"email": wish.email, "name": wish.name, "allowedSegments": list(wish.segments)}
        return Add(wish.row, after)


def _added(wish: _Wish, member: Member) -> Entry:
    as_asked = {*wish.segments} <= {*member.segments} and wish.name in {"", member.name or ""}
    return NothingToDo(wish.row, Nothing.AS_ASKED) if as_asked else Invalid(wish.row, AlreadyMember())


def _altered(wish: _Wish, member: Member) -> Entry:
    before = member.document()
    had = list(member.segments)
    held, named = {*had}, {*wish.segments}
    match wish.mode:
        case Mode.REMOVE:
            return Remove(wish.row, before)
        case Mode.GRANT:
            kind, has = Kind.MEMBER_GRANT, [*had, *(name for name in wish.segments if name not in held)]
        case Mode.REVOKE:
            kind, has = Kind.MEMBER_REVOKE, [name for name in had if name not in named]
        case _:
            kind, has = Kind.MEMBER_UPDATE, list(wish.segments)
    if sorted(has) == sorted(had):
        return NothingToDo(wish.row, Nothing.HAS_NONE_OF_THEM if wish.mode is Mode.REVOKE else Nothing.AS_ASKED)
    return Alter(wish.row, kind, before, before | {"allowedSegments": has})
