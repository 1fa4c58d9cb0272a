"""Plan the import of a table of members: compare each row with the other rows and with the members of the site."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from bot.changes.model.edits import Edit, Kind, Target
from bot.changes.model.items import ImportRow
from bot.members.csv import HEADINGS, split_segments
from bot.members.model import Member, choose_spelling, email_key, fold_case, known_segments, nearest_segments
from bot.text.emails import BadEmail, checked_email, checked_new_email
from bot.text.tables import TableRow, read_table

MAX_NAMED: Final = 3
"""Unknown segments of one row, or members that one row could be about, that are named."""


class Mode(StrEnum):
    """What an import does with the people in a table."""

    ADD = "add"
    GRANT = "grant"
    SET = "set"
    REVOKE = "revoke"
    REMOVE = "remove"


def read_member_table(content: bytes) -> Sequence[TableRow]:
    """Return the table of members in *content*; raises BadFile."""
    return read_table(content, HEADINGS[:1], HEADINGS[1:])


class _Refused(Exception):
    """Why a row can't be imported, as the rest of a sentence."""


@dataclass(frozen=True, slots=True)
class _Wish:
    """A parsed row: what to do for whom. *identity*: the key that all spellings of an email share."""

    row: TableRow
    identity: str
    email: str
    name: str
    segments: tuple[str, ...]

    @property
    def content(self) -> tuple[object, ...]:
        return frozenset(self.segments), " ".join(self.name.casefold().split())


def plan_members(
    table: Sequence[TableRow], mode: Mode, site: str, live: Iterable[Member], extra_segments: Sequence[str]
) -> list[ImportRow]:
    """Return what importing each row of *table* into *site* would do. *extra_segments*: those that settings name."""
    planner = _Planner(mode, site, tuple(live), extra_segments)
    planned: dict[int, ImportRow] = {}
    by_person: dict[str, list[_Wish]] = {}
    for row in table:
        try:
            wish = planner.read(row)
            by_person.setdefault(wish.identity, []).append(wish)
        except _Refused as refused:
            planned[row.line] = _refuse(row, str(refused))
    for wishes in by_person.values():
        planned |= {each.number: each for each in planner.plan_person(wishes)}
    return [planned[row.line] for row in table]


def _row(row: TableRow, **outcome: Any) -> ImportRow:
    return ImportRow(row.line, row.values["email"], **outcome)


def _refuse(row: TableRow, why: str) -> ImportRow:
    return _row(row, why=why, is_refused=True)


class _Planner:
    def __init__(self, mode: Mode, site: str, members: Sequence[Member], extra_segments: Sequence[str]) -> None:
        self._mode = mode
        self._site = site
        self._segments = known_segments(members, extra_segments)
        self._spelling = {fold_case(name): name for name in reversed(self._segments)}
        self._spelling |= {name: name for name in self._segments}
        self._emails = frozenset(member.email for member in members)
        self._members: dict[str, list[Member]] = {}
        for member in members:
            self._members.setdefault(member.identity, []).append(member)

    def read(self, row: TableRow) -> _Wish:
        """Return what *row* asks for; raises _Refused."""
        if row.flaw:
            raise _Refused(row.flaw)
        if (site := row.values["site"]) and site.casefold() != self._site.casefold():
            raise _Refused(f"for the site “{site[:60]}”, and not {self._site}")
        email = self._email(row.values["email"])
        if self._mode is Mode.REMOVE:
            return _Wish(row, self._identity(email), email, "", ())
        segments = self._known(split_segments(row.values["segments"]))
        if self._mode is not Mode.ADD and not segments:
            raise _Refused("no segment given")
        return _Wish(row, self._identity(email), email, row.values["name"] if self._mode is Mode.ADD else "", segments)

    def _email(self, text: str) -> str:
        """Return the email unchanged if the site has it, else with its domain, where case never matters, in lower case."""
        if not text:
            raise _Refused("the email is missing")
        try:
            email = checked_email(text) if text in self._emails else checked_new_email(text)
        except BadEmail as error:
            raise _Refused(f"not an email. {error}") from error
        local, at, domain = email.rpartition("@")
        return email if email in self._emails else f"{local}{at}{domain.lower()}"

    def _identity(self, email: str) -> str:
        """Return *email* itself where it is one of several members whose emails are spellings of one."""
        key = email_key(email)
        return email if len(self._members.get(key, ())) > 1 and email in self._emails else key

    def _known(self, names: Sequence[str]) -> tuple[str, ...]:
        """Return *names* in the site's spelling where only the case differs; raises _Refused for an unknown one."""
        found = {name: self._spelling.get(name) or self._spelling.get(fold_case(name)) for name in names}
        if unknown := [name for name, known in found.items() if known is None]:
            near = nearest_segments(unknown[0], self._segments)
            named = ", ".join(f"“{name}”" for name in unknown[:MAX_NAMED])
            raise _Refused(f"the site has no segment {named}" + (f"; near: {', '.join(near)}" if near else ""))
        return tuple(dict.fromkeys(name for name in found.values() if name is not None))

    def plan_person(self, wishes: Sequence[_Wish]) -> Iterator[ImportRow]:
        """Yield what to do with each row about one person: the first counts if all say the same, and otherwise none does."""
        first = wishes[0]
        if other := next((wish for wish in wishes if wish.content != first.content), None):
            for wish in wishes:
                line = (other if wish.content == first.content else first).row.line
                yield _refuse(wish.row, f"contradicts line {line:,}; neither is applied")
            return
        yield self._plan(first)
        for wish in wishes[1:]:
            yield _row(wish.row, why=f"the same as line {first.row.line:,}")

    def _plan(self, wish: _Wish) -> ImportRow:
        alike = self._members.get(email_key(wish.email), [])
        member = choose_spelling(alike, wish.email)
        if member is None and alike:
            emails = ", ".join(one.email for one in alike[:MAX_NAMED])
            return _refuse(wish.row, f"could be several members: {emails}")
        if member is not None:
            return self._plan_add(wish, member) if self._mode is Mode.ADD else self._plan_change(wish, member)
        if self._mode is not Mode.ADD:
            return _refuse(wish.row, "not a member of this site")
        after = {"email": wish.email, "name": wish.name, "allowedSegments": list(wish.segments)}
        return _row(wish.row, edit=self._edit(Kind.MEMBER_ADD, wish.email, None, after))

    @staticmethod
    def _plan_add(wish: _Wish, member: Member) -> ImportRow:
        if {*wish.segments} <= {*member.segments} and wish.name in {"", member.name or ""}:
            return _row(wish.row, why="already a member")
        return _refuse(wish.row, "already a member, with another name or other segments")

    def _plan_change(self, wish: _Wish, member: Member) -> ImportRow:
        before, had = member.document(), member.segments
        match self._mode:
            case Mode.REMOVE:
                return _row(wish.row, edit=self._edit(Kind.MEMBER_REMOVE, member.email, before, None))
            case Mode.GRANT:
                kind, has = Kind.MEMBER_GRANT, [*had, *(name for name in wish.segments if name not in had)]
            case Mode.REVOKE:
                kind, has = Kind.MEMBER_REVOKE, [name for name in had if name not in wish.segments]
            case _:
                kind, has = Kind.MEMBER_UPDATE, list(wish.segments)
        if sorted(has) == sorted(had):
            return _row(wish.row, why="nothing to change")
        return _row(wish.row, edit=self._edit(kind, member.email, before, before | {"allowedSegments": has}))

    def _edit(self, kind: Kind, email: str, before: dict[str, Any] | None, after: dict[str, Any] | None) -> Edit:
        return Edit(kind=kind, target=Target(service="members", site=self._site, key=email), before=before, after=after)
