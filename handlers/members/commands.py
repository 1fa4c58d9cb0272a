"""The commands about members and their segments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import Any, Final

from handlers.grammar.command import Command, Part, Rank, Rest, Unclear
from handlers.grammar.fields import (
    JOINING,
    NUMBER,
    PAGE,
    SITE,
    Filter,
    First,
    Led,
    Text,
    expand_rows,
    quote_if_ambiguous,
    says_field,
    takes,
    without_joining,
    without_kind,
)
from handlers.grammar.time_fields import Planned, Temporary
from handlers.grammar.tokens import Word, quote_word, strip_email


class MembersCommand(Command):
    service = "members"
    reads = "member.read"


WHOSE: Final = "whose email"


class Segments(Part):
    """All words that are left, after an optional ``to`` (segments to grant) or ``from`` (segments to revoke)."""

    def read(self, rest: Rest) -> tuple[str, ...]:
        is_marked = rest.words[0].keyword == "to" and "@" in rest.words[1].text if len(rest.words) > 1 else False
        if rest.words and (is_marked or rest.words[0].keyword == ("from" if rest.kind.verb == "revoke" else "to")):
            rest.words.pop(0)
        segments: tuple[str, ...] = self.require_value(_read_segments(rest.words), rest)
        if stray := next((word for word in rest.words if word.keyword in {"for", "until"}), None):
            raise rest.unclear_error(f"“{stray.text}” needs a duration (for 2h) or a time (until 18:00).")
        rest.words = []
        return segments

    def write(self, value: Sequence[str]) -> str:
        """Put ``to`` in front where the first would be read as an email otherwise."""
        said = " ".join(map(quote_word, value))
        return f"to {said}" if "@" in value[0] else said


class Segment(Text):
    """All words that are left, as one segment; after ``to`` where it would be read as an email or ``#n`` otherwise."""

    def read(self, rest: Rest) -> Any:
        if rest.words and rest.words[0].keyword == "to":
            rest.words.pop(0)
        return super().read(rest)

    def write(self, value: str) -> str:
        return f"to {quote_word(value)}" if set(value) & set("@#,") else super().write(value)


class ToSegments(Segments):
    """All words after ``to``."""

    rank = Rank.TO

    def read(self, rest: Rest) -> tuple[str, ...]:
        words = [word.keyword for word in rest.words]
        at = words.index("to") if "to" in words else len(words)
        named, rest.words = rest.words[at + 1 :], rest.words[:at]
        if stray := next((word for word in named if word.keyword in {"the", "with", "segment", "segments"}), None):
            raise rest.unclear_error(f"“{stray.text}” isn’t a segment. Write only segments after “to”.")
        return _read_segments(named)

    def write(self, value: Sequence[str]) -> str:
        return f"to {' '.join(map(quote_word, value))}"


class Emails(Part):
    """The words up to the first that is neither an email nor ``#n``; at least the first word, whatever it is."""

    def read(self, rest: Rest) -> tuple[str, ...]:
        words = [part for word in rest.words for part in _split_emails(word)]
        named = list(takewhile(lambda word: _is_person(word) or word.keyword in JOINING, words)) or words[:1]
        rest.words = words[len(named) :]
        emails = [_email_in(word) for word in named if _is_person(word) or len(named) == 1]
        return tuple(self.require_value(list(dict.fromkeys(filter(None, emails))), rest) or ())

    def write(self, value: Sequence[str]) -> str:
        return " ".join(map(quote_if_ambiguous, value))


class OnlyEmails(Emails):
    """All words that are left, where no segments follow: the first that is neither an email nor ``#n`` begins a name."""

    def read(self, rest: Rest) -> tuple[str, ...]:
        if rest.words and not any(_is_person(part) for word in rest.words for part in _split_emails(word)):
            return (rest.take_all(),)
        return super().read(rest)


def _email_in(word: Word) -> str:
    return word.text.strip() if word.quoted or "@" not in word.text else strip_email(word.text)


def _is_person(word: Word) -> bool:
    return "@" in word.text or bool(NUMBER.fullmatch(word.keyword))


def _split_emails(word: Word) -> list[Word]:
    """A bare ``a@example.com,b@example.com`` is two words, and ``#1-3`` are three."""
    if word.quoted:
        return [word]
    return [replace(word, text=row) for part in word.text.split(",") if part for row in expand_rows(part)]


class NewEmail(Led):
    """The email after ``to``."""

    def read(self, rest: Rest) -> Any:
        email = strip_email(self.require_value(super().read(rest), rest))
        if "@" not in email:
            what = f"“{email[:60]}” is not an email."
            is_of_email = any("@" in word.text for word in rest.words)  # else it may be a sentence: “move anna to vip”
            raise Unclear(what, about=(rest.kind,), has_verb=is_of_email)
        return email


A_MEMBER: Final = frozenset({"a", "an", "new", "member", "user", "customer"})
"""Words that say who is to be added, and nothing about them: “add a new member”."""


class FirstEmail(First):
    """The first word that is left, as an email."""

    def write(self, value: str) -> str:
        return quote_word(value) if value.casefold() in A_MEMBER else super().write(value)

    def read(self, rest: Rest) -> Any:
        rest.words[:1] = [replace(word, text=_email_in(word)) for word in rest.words[:1]]
        return super().read(rest)


EMAILS: Final = Emails("EMAIL…", WHOSE)
ONLY_EMAILS: Final = OnlyEmails("EMAIL…", WHOSE)
SEGMENTS: Final = Segments("SEG,…", "which segment")


def _read_segments(words: Sequence[Word]) -> tuple[str, ...]:
    named = [part for word in without_joining(words) for part in ([word.text] if word.quoted else word.text.split(","))]
    return tuple(dict.fromkeys(name.strip() for name in named if name.strip()))


@dataclass(frozen=True)
class MembersMenu(MembersCommand):
    summary = "Menu: everything you can do with members"


@dataclass(frozen=True)
class MembersFiltered(Command):
    """Some of the members of a site: lists and exports have the same filters."""

    text: str | None = takes(Text("TEXT"))
    segment: str | None = takes(Filter("segment:vip"))
    without_segment: str | None = takes(Filter("no:SEGMENT", titled="without"))
    site: str | None = takes(SITE)


@dataclass(frozen=True)
class MembersList(MembersFiltered, MembersCommand):
    label = "Search members"
    verb, synonyms = "list", ("ls", "find", "search")
    summary = "List or search members"
    example = "list anna segment:vip"
    page: int | None = takes(PAGE)


@dataclass(frozen=True)
class MembersShow(MembersCommand):
    verb, synonyms = "show", ("get", "view", "info")
    summary = "Show members"
    example = "show anna@example.com"
    emails: tuple[str, ...] = takes(ONLY_EMAILS)
    site: str | None = takes(SITE)


@dataclass(frozen=True)
class MembersSegments(MembersCommand):
    verb = "segments"
    summary = "List the segments of a site, with how many members have each"
    example = "segments"
    site: str | None = takes(SITE)


@dataclass(frozen=True)
class MembersWhy(MembersCommand):
    label = "Check access"
    verb = "why"
    summary = "Say why someone has access or doesn’t, on every site"
    example = "why anna@example.com vip"
    emails: tuple[str, ...] = takes(EMAILS)
    segment: str | None = takes(Segment("SEGMENT"))
    site: str | None = takes(SITE)


@dataclass(frozen=True)
class MembersAdd(Temporary, MembersCommand):
    needs = ("member.add",)
    verb, synonyms = "add", ("new", "create")
    summary = "Add a member (opens a form)"
    example = 'add anna@example.com named "Anna Berg" to vip'
    email: str | None = takes(FirstEmail("EMAIL"))
    name: str | None = takes(Led('named "NAME"'))
    segments: tuple[str, ...] = takes(ToSegments("to SEG,…"), ())
    site: str | None = takes(SITE)

    @classmethod
    def read(cls, rest: Rest) -> Command:
        rest.words = without_kind(rest.words, A_MEMBER)
        return super().read(rest)

    def check(self, rest: Rest) -> None:
        if "@" not in (self.email or "@") and any("@" in each for each in self.segments):
            raise rest.unclear_error("The email comes first, then “to” and the segments.")


class MemberAlone(Text):
    """A member and nothing else: more words after an email mean more than a form."""

    def read(self, rest: Rest) -> Any:
        if len(rest.words) > 1 and (says_field(rest) or any("@" in word.text for word in rest.words)):
            raise rest.unclear_error("This opens a form for one member: name one member and nothing else.")
        return super().read(rest)


@dataclass(frozen=True)
class MembersEdit(MembersCommand):
    needs = ("member.update", "member.grant", "member.revoke")
    label = "Edit member"
    verb, synonyms = "edit", ("change", "update")
    summary = "Edit a member’s name and segments (opens a form)"
    example = "edit anna@example.com"
    email: str = takes(MemberAlone("EMAIL", WHOSE))
    name: str | None = takes(Led('named "NAME"'))
    site: str | None = takes(SITE)


@dataclass(frozen=True)
class MembersGrant(Temporary, MembersCommand):
    needs = ("member.grant",)
    label = "Grant access"
    verb, synonyms = "grant", ("give",)
    summary = "Grant access to segments, also for a limited time"
    example = "grant anna@example.com vip"
    writes = True
    emails: tuple[str, ...] = takes(EMAILS)
    segments: tuple[str, ...] = takes(SEGMENTS)
    site: str | None = takes(SITE)


@dataclass(frozen=True)
class MembersRevoke(Planned, MembersCommand):
    needs = ("member.revoke",)
    label = "Revoke access"
    verb, synonyms = "revoke", ("take",)
    summary = "Revoke access to segments"
    example = "revoke anna@example.com vip because the plan ended"
    writes = True
    destroys = True
    emails: tuple[str, ...] = takes(EMAILS)
    segments: tuple[str, ...] = takes(SEGMENTS)
    site: str | None = takes(SITE)


@dataclass(frozen=True)
class MembersRemove(Planned, MembersCommand):
    needs = ("member.remove",)
    label = "Remove member"
    verb, synonyms = "remove", ("delete", "rm", "del")
    summary = "Remove members; asks before it does"
    example = "remove anna@example.com because she asked for it"
    writes = True
    destroys = True
    emails: tuple[str, ...] = takes(ONLY_EMAILS)
    site: str | None = takes(SITE)


@dataclass(frozen=True)
class MembersMove(Planned, MembersCommand):
    needs = ("member.add",)
    label = "Change email"
    verb, synonyms = "move", ("rename",)
    summary = "Add a member’s new email, with the same name and segments; the old one is removed on its card"
    example = "move anna@example.com to anna.berg@example.com"
    writes = True
    email: str = takes(First("EMAIL", WHOSE))
    new: str = takes(NewEmail("to EMAIL", "to which email"))
    site: str | None = takes(SITE)


@dataclass(frozen=True)
class MembersOffboard(Planned, MembersCommand):
    needs = ("member.remove",)
    verb = "offboard"
    summary = "Remove people from every site; asks before it does"
    example = "offboard anna@example.com"
    writes = True
    destroys = True
    emails: tuple[str, ...] = takes(ONLY_EMAILS)


@dataclass(frozen=True)
class MembersExport(MembersFiltered, MembersCommand):
    label = "Export members"
    verb = "export"
    summary = "Export members as a table, sent only to you"
    example = "export segment:vip"


@dataclass(frozen=True)
class MembersImport(MembersCommand):
    needs = ("member.add", "member.grant", "member.revoke", "member.remove")
    verb, summary = "import", "Import members from a file (opens a form)"
    example = "import"
    site: str | None = takes(SITE)
