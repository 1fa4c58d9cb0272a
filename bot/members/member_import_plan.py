"""Plan the import of a table of members: compare each row with the members of the site."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from bot.changes.model.edits import Kind
from bot.members.csv import MemberFile, Row
from bot.members.csv_columns import ACTIONS, Column, Mode, split_names
from bot.members.import_entries import (
    NOT_A_MEMBER,
    Add,
    Agreed,
    Alter,
    Entry,
    Invalid,
    MemberPlan,
    NothingToDo,
    Remove,
    Wish,
    agree,
)
from bot.members.model import Member, choose_spelling, email_key, fold_case, inbox_key, nearest_segments
from bot.text.emails import BadEmail, checked_email, checked_new_email

NO_SEGMENTS: Final = frozenset({"-", "–", "—"})
"""Cells that mean no segments, where a member gets exactly those of the cell."""
MAX_NAMED: Final = 3
"""Unknown segments of one row, or members that one row could be about, that are named."""
MAX_SUGGESTED: Final = 200
"""Unknown names for which near ones are looked up: in a table with more of them, the first are enough."""


class _Refused(Exception):
    """Why a row can't be imported, as the rest of a sentence."""


def plan_members(file: MemberFile, mode: Mode, live: Iterable[Member], extra_segments: Iterable[str]) -> MemberPlan:
    """Return the plan for *file*. *mode*: the action for rows without one of their own.

    *extra_segments*: those that settings name, in addition to the members' own.
    """
    members = tuple(live)
    known = dict.fromkeys([*(name for member in members for name in member.segments), *extra_segments])
    reader = _Reader(mode, known, frozenset(member.email for member in members))
    read = [reader.read(row) for row in file.rows]
    asked = {wish.identity for wish in read if isinstance(wish, Wish)}
    judge = _Judge(members, asked)
    agreed = agree([judge.tell_apart(each) for each in read if isinstance(each, Wish)])
    entries = [each if isinstance(each, Invalid) else judge.entry(agreed[each.row.line]) for each in read]
    return MemberPlan(file, tuple(entries), tuple(_lookalikes(entries, members)))


class _Reader:
    """Parses rows into wishes; each distinct cell of segments is parsed once."""

    def __init__(self, mode: Mode, known: Mapping[str, None], emails: frozenset[str]) -> None:
        self._mode = mode
        self._known = known
        self._emails = emails
        self._by_fold = {fold_case(name): name for name in known}
        self._seen: dict[str, tuple[str, ...]] = {}
        self._suggested: dict[str, tuple[str, ...]] = {}

    def read(self, row: Row) -> Wish | Invalid:
        try:
            return self._wish(row)
        except _Refused as refused:
            return Invalid(row, str(refused))

    def _wish(self, row: Row) -> Wish:
        if row.flaw:
            raise _Refused(row.flaw)
        mode = _mode(row.action, self._mode)
        email = self._email(row.email)
        segments = () if mode is Mode.REMOVE else self._segments(row.segments or "")
        emptied = mode is Mode.SET and row.segments in NO_SEGMENTS
        if mode in {Mode.GRANT, Mode.REVOKE, Mode.SET} and not segments and not emptied:
            raise _Refused("no segment given (use a dash for none at all)")
        return Wish(row, email_key(email), email, mode, row.name or "", segments)

    def _email(self, text: str) -> str:
        """Return the email unchanged if the site has it, else with its domain, where case never matters, in lower case."""
        if not text:
            raise _Refused(f"the column {Column.EMAIL} is empty")
        try:
            email = checked_email(text) if text in self._emails else checked_new_email(text)
        except BadEmail as error:
            raise _Refused(f"not an email. {error}") from error
        local, at, domain = email.rpartition("@")
        return email if email in self._emails else f"{local}{at}{domain.lower()}"

    def _segments(self, cell: str) -> tuple[str, ...]:
        if cell in NO_SEGMENTS:
            return ()
        if cell not in self._seen:
            self._seen[cell] = self._parse_segments(cell)
        return self._seen[cell]

    def _parse_segments(self, cell: str) -> tuple[str, ...]:
        """Return the segments of a cell, in the site's spelling where only the case differs."""
        names = [cell] if cell in self._known else split_names(cell)
        found = [name if name in self._known else self._by_fold.get(fold_case(name)) for name in names]
        if None in found:
            unknown = [name for name, known in zip(names, found, strict=True) if known is None]
            raise _Refused(self._unknown_text(unknown))
        return tuple(dict.fromkeys(name for name in found if name is not None))

    def _unknown_text(self, names: Sequence[str]) -> str:
        """Return that there are no such segments, with the nearest ones to each of the first *names*."""
        shown = [
            f"“{name}”" + (f" (near: {', '.join(near)})" if (near := self._suggest(name)) else "")
            for name in names[:MAX_NAMED]
        ]
        more = f" and {len(names) - MAX_NAMED} more" if len(names) > MAX_NAMED else ""
        ending = "is not a segment here; segments are" if len(names) == 1 else "are not segments here; they are"
        return f"{', '.join(shown)}{more} {ending} created in the site’s dashboard"

    def _suggest(self, name: str) -> tuple[str, ...]:
        if name not in self._suggested and len(self._suggested) < MAX_SUGGESTED:
            self._suggested[name] = nearest_segments(name, tuple(self._known))
        return self._suggested.get(name, ())


def _mode(word: str | None, default: Mode) -> Mode:
    if not word or word in NO_SEGMENTS:
        return default
    if (mode := ACTIONS.get(word.casefold())) is None:
        raise _Refused(f"unknown action “{word}”; use add, grant, set, revoke or remove")
    return mode


class _Judge:
    """Compares wishes with the existing members. *asked*: the identities of all wishes."""

    def __init__(self, members: Sequence[Member], asked: set[str]) -> None:
        self._members: dict[str, list[Member]] = {}
        for member in members:
            if (identity := member.identity) in asked:
                self._members.setdefault(identity, []).append(member)

    def tell_apart(self, wish: Wish) -> Wish:
        """Return *wish* as one about a separate person if the site has several members whose emails are spellings of one."""
        alike = self._members.get(wish.identity, ())
        own = len(alike) > 1 and any(one.email == wish.email for one in alike)
        return replace(wish, identity=wish.email) if own else wish

    def entry(self, wish: Agreed) -> Entry:
        if not isinstance(wish, Wish):
            return wish
        alike = self._members.get(email_key(wish.email), [])
        if (member := choose_spelling(alike, wish.email)) is not None:
            return _entry_of_add(wish, member) if wish.mode is Mode.ADD else _entry_of_change(wish, member)
        if alike:
            emails = ", ".join(one.email for one in alike[:MAX_NAMED])
            return Invalid(wish.row, f"could be several members: {emails}")
        if wish.mode is not Mode.ADD:
            return Invalid(wish.row, NOT_A_MEMBER)
        after = {"email": wish.email, "name": wish.name, "allowedSegments": list(wish.segments)}
        return Add(wish.row, Kind.MEMBER_ADD, None, after)


def _entry_of_add(wish: Wish, member: Member) -> Entry:
    as_asked = {*wish.segments} <= {*member.segments} and wish.name in {"", member.name or ""}
    if as_asked:
        return NothingToDo(wish.row)
    return Invalid(wish.row, "already a member, with another name or other segments")


def _entry_of_change(wish: Wish, member: Member) -> Entry:
    before = member.document()
    had = list(member.segments)
    held, named = {*had}, {*wish.segments}
    match wish.mode:
        case Mode.REMOVE:
            return Remove(wish.row, Kind.MEMBER_REMOVE, before, None)
        case Mode.GRANT:
            kind, has = Kind.MEMBER_GRANT, [*had, *(name for name in wish.segments if name not in held)]
        case Mode.REVOKE:
            kind, has = Kind.MEMBER_REVOKE, [name for name in had if name not in named]
        case _:
            kind, has = Kind.MEMBER_UPDATE, list(wish.segments)
    name_kept = None if wish.name in {"", member.name or ""} else member.name or ""
    if sorted(has) == sorted(had):
        if wish.mode is Mode.REVOKE:
            return NothingToDo(wish.row, "has none of these segments", name_kept)
        if name_kept is not None:
            return NothingToDo(wish.row, "has another name, which a file can’t change", name_kept)
        return NothingToDo(wish.row)
    return Alter(wish.row, kind, before, before | {"allowedSegments": has}, name_kept)


def _lookalikes(entries: Iterable[Entry], members: Iterable[Member]) -> Iterator[tuple[Row, str]]:
    """Yield rows of people who are not members, each with a member's or a row's email that reaches the same inbox."""
    strangers = [entry for entry in entries if isinstance(entry, Add) or _is_stranger(entry)]
    inboxes = {inbox_key(entry.row.email) for entry in strangers}
    first = {key: member.email for member in members if (key := inbox_key(member.email)) in inboxes}
    for entry in strangers:
        key = inbox_key(entry.row.email)
        if (other := first.get(key)) is not None:
            yield entry.row, other
        elif isinstance(entry, Add):
            first[key] = entry.row.email


def _is_stranger(entry: Entry) -> bool:
    return isinstance(entry, Invalid) and entry.reason == NOT_A_MEMBER
