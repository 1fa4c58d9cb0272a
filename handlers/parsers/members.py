"""The words after ``/members VERB`` -> a Command."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from handlers.commands import members as c
from handlers.commands.command import Command
from handlers.parsers.rest import Parser, Rest, page_in
from handlers.words import Word


def _members_list(rest: Rest) -> Command:
    filters = rest.filters("segment", "no", "site", "page")
    page = page_in(filters, rest)
    return c.MembersList(rest.rest() or None, filters.get("segment"), filters.get("no"), filters.get("site"), page)


def _members_export(rest: Rest) -> Command:
    filters = rest.filters("segment", "no", "site")
    return c.MembersExport(rest.rest() or None, filters.get("segment"), filters.get("no"), filters.get("site"))


def _by_email(kind: Callable[..., Command]) -> Parser:
    def parsed(rest: Rest) -> Command:
        site = rest.filters("site").get("site")
        return kind(email=rest.one("whose e-mail address"), site=site)

    return parsed


def _members_show(rest: Rest) -> Command:
    site = rest.filters("site").get("site")
    return c.MembersShow(email=rest.rest(), site=site)


def _members_why(rest: Rest) -> Command:
    site = rest.filters("site").get("site")
    return c.MembersWhy(rest.first("whose e-mail address"), rest.rest() or None, site)


def _members_add(rest: Rest) -> Command:
    site = rest.filters("site").get("site")
    because, lasts, name = rest.because(), rest.lasts(), rest.after("named")
    segments: tuple[str, ...] = ()
    for index, word in enumerate(rest.words):
        if word.keyword == "to":
            segments = _segments(rest.words[index + 1 :])
            del rest.words[index:]
            break
    email = rest.words.pop(0).text if rest.words else None
    rest.nothing_more()
    return c.MembersAdd(email or None, name or None, segments, site, lasts, because)


def _segments(words: Sequence[Word]) -> tuple[str, ...]:
    named = [part for word in words for part in ([word.text] if word.quoted else word.text.split(","))]
    return tuple(dict.fromkeys(name.strip() for name in named if name.strip()))


def _members_grant(rest: Rest) -> Command:
    site = rest.filters("site").get("site")
    because, lasts = rest.because(), rest.lasts()
    email = rest.first("whose e-mail address")
    return c.MembersGrant(email, _some_segments(rest), site, lasts, because)


def _members_revoke(rest: Rest) -> Command:
    site = rest.filters("site").get("site")
    because = rest.because()
    email = rest.first("whose e-mail address")
    return c.MembersRevoke(email, _some_segments(rest), site, because)


def _some_segments(rest: Rest) -> tuple[str, ...]:
    if rest.words and rest.words[0].keyword in {"to", "from"}:
        rest.words.pop(0)
    if not (segments := _segments(rest.words)):
        raise rest.missing("which segment")
    if stray := next((word for word in rest.words if word.keyword in {"for", "until"}), None):
        raise rest.unclear(f"After “{stray.text}” comes how long, such as for 2h or until 18:00.")
    return segments


def _members_remove(rest: Rest) -> Command:
    site, because = rest.filters("site").get("site"), rest.because()
    return c.MembersRemove(rest.one("whose e-mail address"), site, because)


def _members_offboard(rest: Rest) -> Command:
    because = rest.because()
    return c.MembersOffboard(rest.one("whose e-mail address"), because)


def _on_a_site(kind: Callable[..., Command]) -> Parser:
    def parsed(rest: Rest) -> Command:
        site = rest.filters("site").get("site")
        rest.nothing_more()
        return kind(site=site)

    return parsed


PARSERS: Final[dict[type[Command], Parser]] = {
    c.MembersList: _members_list,
    c.MembersShow: _members_show,
    c.MembersSegments: _on_a_site(c.MembersSegments),
    c.MembersWhy: _members_why,
    c.MembersAdd: _members_add,
    c.MembersEdit: _by_email(c.MembersEdit),
    c.MembersGrant: _members_grant,
    c.MembersRevoke: _members_revoke,
    c.MembersRemove: _members_remove,
    c.MembersOffboard: _members_offboard,
    c.MembersExport: _members_export,
    c.MembersImport: _on_a_site(c.MembersImport),
}
