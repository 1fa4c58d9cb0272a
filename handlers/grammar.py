"""The text of a slash command -> a Command. Any text is a command or gives one helpful error; nothing unknown is run."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final

from rapidfuzz import fuzz, process

from bot.domain.duration import seconds_of
from bot.domain.rule import KNOWN_TYPES, RULE_ID
from handlers import commands as c
from handlers.commands import Command, Lasts
from handlers.wording import render
from handlers.words import MOST, Word, cleaned, split

CLOCK: Final = re.compile(r"([01]?\d|2[0-3])[:.]([0-5]\d)")
ASSIGNMENT: Final = re.compile(r"((?:pair\d{1,4}\.)?(?:source\.)?[A-Za-z]+)=(.*)", re.DOTALL | re.IGNORECASE)
FILTER: Final = re.compile(r"([a-z]+):(.*)", re.DOTALL | re.IGNORECASE)
URL: Final = re.compile(r"[a-z][a-z0-9+.-]*://\S+", re.IGNORECASE)
NUMBER: Final = re.compile(r"#\d{1,6}")
FREE_TEXT: Final = frozenset({"name", "description"})
"""Fields whose value may go on over several words without quotes."""
SORTS: Final = ("name", "type", "changed")
SWITCHED: Final = {
    word: switch for switch, kind in (("on", c.RulesOn), ("off", c.RulesOff)) for word in (kind.verb, *kind.synonyms)
}
CLOSE_ENOUGH: Final = 60
LONGEST_DURATION: Final = 366 * 86_400


class Unclear(Exception):
    """A text that is no command. *suggestion*: the nearest one, ready to be run; *lines*: the usage that helps."""

    def __init__(self, what: str, *, suggestion: str | None = None, about: Sequence[type[Command]] = ()) -> None:
        super().__init__(what)
        self.what = what
        self.suggestion = suggestion
        self.about = tuple(about)


def parse(service: str, text: str) -> Command:
    """The command that *text* after ``/service`` is; raises Unclear, and nothing else."""
    if len(text) > MOST:
        raise Unclear(f"That is {len(text):,} characters long; a command has at most {MOST:,}.")
    words = split(cleaned(text))
    if words and words[0].text.lstrip("/").casefold() == service and words[0].text.startswith("/"):
        words = words[1:]
    if service == "members" and words and words[0].keyword.startswith("site:"):
        words = [*words[1:], words[0]]
    if service not in {"rules", "members", "gatehouse"}:
        raise Unclear("I answer to /rules, /members and /gatehouse.")
    if not words:
        return EMPTY[service]()
    verb, rest = words[0].keyword, words[1:]
    if verb in {"help", "?"}:
        topic = [service] if service != "gatehouse" else []
        return c.GatehouseHelp(topic=" ".join([*topic, *(word.text for word in rest)]) or None)
    if (kind := VERBS[service].get(verb)) is not None:
        return PARSERS[kind](_Rest(kind, rest))
    if service == "rules" and _is_reference(words[0]) and len(words) == 1:
        return c.RulesShow(ref=words[0].text)
    if service == "members" and "@" in words[0].text and len(words) == 1:
        return c.MembersShow(email=words[0].text)
    raise _unknown(service, verb, rest)


def parse_mention(text: str) -> Command:
    """The command in ``@Gatehouse rules which …``; raises Unclear."""
    words = re.sub(r"^\s*<@[UW][A-Z0-9]*(\|[^>]*)?>\s*", "", text).strip()
    service, _, rest = words.partition(" ")
    name = service.casefold().lstrip("/")
    if name in EMPTY:
        return parse(name, rest)
    known = [service for service, verbs in VERBS.items() if name in verbs]
    return parse(known[0] if len(known) == 1 else "gatehouse", words)


def _is_reference(word: Word) -> bool:
    return bool(RULE_ID.fullmatch(word.text) or NUMBER.fullmatch(word.text) or URL.fullmatch(word.text))


def _unknown(service: str, verb: str, rest: Sequence[Word]) -> Unclear:
    """The nearest harmless command as a suggestion: a typo never leads to something that takes away."""
    harmless = {name: kind for name, kind in VERBS[service].items() if not kind.destroys and not kind.writes}
    found = process.extractOne(verb, harmless.keys(), scorer=fuzz.ratio, score_cutoff=CLOSE_ENOUGH)
    gentle = {name: kind for name, kind in VERBS[service].items() if not kind.destroys}
    near = process.extract(verb, gentle.keys(), scorer=fuzz.ratio, limit=6)
    about = list(dict.fromkeys(gentle[name] for name, _, _ in near))[:3]
    suggestion = None
    if found is not None:
        suggestion = _suggested(harmless[found[0]], rest)
    shown = verb if len(verb) <= 40 else verb[:39] + "…"
    return Unclear(f"I do not know “{shown}”.", suggestion=suggestion, about=about)


def _suggested(kind: type[Command], rest: Sequence[Word]) -> str | None:
    try:
        return f"{kind.service} {render(PARSERS[kind](_Rest(kind, list(rest))))}"
    except (Unclear, ValueError):
        return None


class _Rest:
    """The words after the verb, taken apart piece by piece."""

    def __init__(self, kind: type[Command], words: Sequence[Word]) -> None:
        self.kind = kind
        self.words = list(words)

    def because(self) -> str | None:
        """Everything after the keyword ``because``."""
        for index, word in enumerate(self.words):
            if word.keyword == "because":
                said = self.words[index + 1 :]
                whole = self.words[index:] if said and said[0].keyword == "of" else said  # "of the sale" says little
                reason = " ".join(_as_written(each) for each in whole)
                del self.words[index:]
                if not reason:
                    raise self.unclear("After “because” comes the reason.")
                return reason
        return None

    def lasts(self) -> Lasts | None:
        """``for 2h`` or ``until 18:00``, wherever it stands; a “for” before other words is just a word."""
        for index, word in enumerate(self.words[:-1]):
            if word.keyword not in {"for", "until"}:
                continue
            for length in (2, 1):
                text = "".join(each.text for each in self.words[index + 1 : index + 1 + length])
                if found := _lasts(word.keyword, text):
                    del self.words[index : index + 1 + length]
                    return found
            if self.words[index + 1].text[:1].isdigit():
                # Left as words, this would make for good what was meant for a while.
                wanted = "for 2h, for 30m or for 7d" if word.keyword == "for" else "until 18:00"
                raise self.unclear(f"“{word.text} {self.words[index + 1].text[:20]}”: write {wanted}.")
        return None

    def after(self, keyword: str) -> str | None:
        """The word after *keyword*."""
        for index, word in enumerate(self.words):
            if word.keyword == keyword:
                if index + 1 == len(self.words):
                    raise self.unclear(f"After “{keyword}” something is missing.")
                found = self.words[index + 1].text
                del self.words[index : index + 2]
                return found
        return None

    def filters(self, *names: str) -> dict[str, str]:
        """``name:value`` words of these names; others, such as URLs, are left."""
        found: dict[str, str] = {}
        left = []
        for word in self.words:
            match = None if word.quoted else FILTER.fullmatch(word.text)
            if match and match[1].lower() in names and not match[2].startswith("//"):
                found[match[1].lower()] = match[2].strip('"')
            else:
                left.append(word)
        self.words = left
        return found

    def rest(self) -> str:
        """All that is left, as one text."""
        found = " ".join(word.text for word in self.words)
        self.words = []
        return found

    def one(self, what: str) -> str:
        """All that is left, which must not be nothing."""
        if not (found := self.rest().strip()):
            raise self.missing(what)
        return found

    def first(self, what: str) -> str:
        if not self.words or not self.words[0].text.strip():
            raise self.missing(what)
        return self.words.pop(0).text.strip()

    def refs(self) -> tuple[str, ...]:
        """Several, if each is an id, ``#n`` or in quotes; else the words are one name."""
        words = [part for word in self.words for part in _parts(word)]
        if not any(word.text.strip() for word in words):
            raise self.missing("which rule")
        self.words = []
        if all(word.quoted or _is_reference(word) for word in words):
            return tuple(dict.fromkeys(word.text for word in words if word.text))
        return (" ".join(word.text for word in words),)

    def nothing_more(self) -> None:
        if self.words:
            raise self.unclear(f"I do not understand “{self.words[0].text[:60]}” here.")

    def missing(self, what: str) -> Unclear:
        return self.unclear(f"Say {what}, as in /{self.kind.service} {self.kind.example}")

    def unclear(self, words: str) -> Unclear:
        return Unclear(words, about=(self.kind,))


def _as_written(word: Word) -> str:
    return f'"{word.text}"' if word.quoted else word.text


def _parts(word: Word) -> list[Word]:
    """A bare ``a,b`` is two words; commas in quotes or in a URL are just commas."""
    if word.quoted or URL.match(word.text):
        return [word]
    return [Word(part, quoted=False, start=word.start) for part in word.text.split(",") if part]


def _lasts(keyword: str, text: str) -> Lasts | None:
    if keyword == "until":
        match = CLOCK.fullmatch(text)
        return Lasts(f"until {text}", until=(int(match[1]), int(match[2]))) if match else None
    seconds = seconds_of(text)
    return Lasts(f"for {text}", seconds=seconds) if 0 < seconds <= LONGEST_DURATION else None


def parse_lasts(text: str) -> Lasts | None:
    """``2h``, ``for 2 hours``, ``18:00`` or ``until 18:00``; None for a text that is none of those."""
    words = text.casefold().split()
    if words[:1] in (["for"], ["until"]):
        words = words[1:]
    joined = "".join(words)
    return _lasts("for", joined) or _lasts("until", joined)


def _page(filters: dict[str, str], rest: _Rest) -> int | None:
    if (text := filters.pop("page", None)) is None:
        return None
    if not (text.isascii() and text.isdigit() and int(text[:9]) > 0 and len(text) < 7):
        raise rest.unclear(f"page:{text[:20]} is no page; write page:2")
    return int(text)


def _rules_list(rest: _Rest) -> Command:
    filters = rest.filters("type", "status", "url", "group", "sort", "page")
    if (sort := filters.get("sort", "name").casefold()) not in SORTS:
        raise rest.unclear(f"sort:{sort[:20]} is no order; write {', '.join(f'sort:{one}' for one in SORTS)}.")
    if "sort" in filters:
        filters["sort"] = sort
    return c.RulesList(page=_page(filters, rest), text=rest.rest() or None, **filters)


def _rules_export(rest: _Rest) -> Command:
    filters = rest.filters("type", "status")
    here = bool(rest.words) and rest.words[-1].keyword == "here"
    if here:
        rest.words.pop()
    return c.RulesExport(rest.rest() or None, filters.get("type"), filters.get("status"), here)


def _by_ref(kind: Callable[..., Command]) -> Callable[[_Rest], Command]:
    return lambda rest: kind(ref=rest.one("which rule"))


def _rules_new(rest: _Rest) -> Command:
    because, lasts, name = rest.because(), rest.lasts(), rest.after("named")
    destination = rest.after("to")
    known = {each.casefold(): each for each in KNOWN_TYPES}
    rule_type = None
    if rest.words and rest.words[0].keyword in known:
        rule_type = known[rest.words.pop(0).keyword]
    source = rest.words.pop(0).text if rest.words else None
    if rest.words and destination is None:
        destination = rest.words.pop(0).text
    rest.nothing_more()
    return c.RulesNew(rule_type, source or None, destination or None, name or None, lasts, because)


def _rules_set(rest: _Rest) -> Command:
    because, lasts = rest.because(), rest.lasts()
    first = next((n for n, word in enumerate(rest.words) if not word.quoted and ASSIGNMENT.fullmatch(word.text)), None)
    if first is None:
        raise rest.missing("which field gets which value")
    assignments, rest.words = rest.words[first:], rest.words[:first]
    return c.RulesSet(rest.refs(), _fields(assignments), lasts, because)


def _fields(words: Sequence[Word]) -> tuple[tuple[str, str], ...]:
    """``name=value`` words; a word without ``=`` goes on with the value before it."""
    fields: list[tuple[str, str]] = []
    for word in words:
        if not word.quoted and (match := ASSIGNMENT.fullmatch(word.text)):
            fields.append((match[1], match[2]))
        else:
            name, value = fields[-1]
            if name.casefold() not in FREE_TEXT:
                raise Unclear(
                    f"“{word.text[:60]}” after {name}: put a value with spaces in quotes.", about=(c.RulesSet,)
                )
            fields[-1] = (name, f"{value} {_as_written(word)}")
    return tuple((name, _unquoted(value)) for name, value in fields)


def _unquoted(value: str) -> str:
    return value[1:-1] if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'" else value


def _switch(kind: Callable[..., Command], on_off: str) -> Callable[[_Rest], Command]:
    def parsed(rest: _Rest) -> Command:
        because, lasts = rest.because(), rest.lasts()
        if (group := rest.filters("group").get("group")) is not None:
            name = group.strip() or rest.one("which group")
            rest.nothing_more()
            return c.RulesGroup(on_off, name, lasts, because)
        return kind(refs=rest.refs(), lasts=lasts, because=because)

    return parsed


def _rules_group(rest: _Rest) -> Command:
    because, lasts = rest.because(), rest.lasts()
    verb = rest.words.pop(0).keyword if rest.words else ""
    if (switch := SWITCHED.get(verb)) is None:
        raise rest.missing("on or off, and which group")
    name = rest.filters("group").get("group") or rest.rest()
    rest.nothing_more()
    if not name.strip():
        raise rest.missing("which group")
    return c.RulesGroup(switch, name.strip(), lasts, because)


def _rules_delete(rest: _Rest) -> Command:
    because = rest.because()
    return c.RulesDelete(refs=rest.refs(), because=because)


def _rules_check(rest: _Rest) -> Command:
    page = _page(rest.filters("page"), rest)
    return c.RulesCheck(ref=rest.rest() or None, page=page)


def _rules_samples(rest: _Rest) -> Command:
    if not rest.words:
        return c.RulesSamples()
    action = {"add": "add", "remove": "remove", "rm": "remove", "delete": "remove"}.get(rest.words.pop(0).keyword)
    if action is None:
        raise rest.unclear("Samples can be added or removed.")
    urls = tuple(word.text for word in rest.words if word.text.strip())
    if not urls or (action == "remove" and len(urls) > 1):
        raise rest.missing("which URL")
    return c.RulesSamples(action, urls)


def _members_list(rest: _Rest) -> Command:
    filters = rest.filters("segment", "no", "site", "page")
    page = _page(filters, rest)
    return c.MembersList(rest.rest() or None, filters.get("segment"), filters.get("no"), filters.get("site"), page)


def _members_export(rest: _Rest) -> Command:
    filters = rest.filters("segment", "no", "site")
    return c.MembersExport(rest.rest() or None, filters.get("segment"), filters.get("no"), filters.get("site"))


def _by_email(kind: Callable[..., Command]) -> Callable[[_Rest], Command]:
    def parsed(rest: _Rest) -> Command:
        site = rest.filters("site").get("site")
        return kind(email=rest.one("whose e-mail address"), site=site)

    return parsed


def _members_show(rest: _Rest) -> Command:
    site = rest.filters("site").get("site")
    return c.MembersShow(email=rest.rest(), site=site)


def _members_why(rest: _Rest) -> Command:
    site = rest.filters("site").get("site")
    return c.MembersWhy(rest.first("whose e-mail address"), rest.rest() or None, site)


def _members_add(rest: _Rest) -> Command:
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


def _members_grant(rest: _Rest) -> Command:
    site = rest.filters("site").get("site")
    because, lasts = rest.because(), rest.lasts()
    email = rest.first("whose e-mail address")
    return c.MembersGrant(email, _some_segments(rest), site, lasts, because)


def _members_revoke(rest: _Rest) -> Command:
    site = rest.filters("site").get("site")
    because = rest.because()
    email = rest.first("whose e-mail address")
    return c.MembersRevoke(email, _some_segments(rest), site, because)


def _some_segments(rest: _Rest) -> tuple[str, ...]:
    if rest.words and rest.words[0].keyword in {"to", "from"}:
        rest.words.pop(0)
    if not (segments := _segments(rest.words)):
        raise rest.missing("which segment")
    if stray := next((word for word in rest.words if word.keyword in {"for", "until"}), None):
        raise rest.unclear(f"After “{stray.text}” comes how long, such as for 2h or until 18:00.")
    return segments


def _members_remove(rest: _Rest) -> Command:
    site, because = rest.filters("site").get("site"), rest.because()
    return c.MembersRemove(rest.one("whose e-mail address"), site, because)


def _members_offboard(rest: _Rest) -> Command:
    because = rest.because()
    return c.MembersOffboard(rest.one("whose e-mail address"), because)


def _on_a_site(kind: Callable[..., Command]) -> Callable[[_Rest], Command]:
    def parsed(rest: _Rest) -> Command:
        site = rest.filters("site").get("site")
        rest.nothing_more()
        return kind(site=site)

    return parsed


def _audit(rest: _Rest) -> Command:
    filters = rest.filters("who", "since")
    return c.GatehouseAudit(filters.get("who"), filters.get("since"), rest.rest() or None)


def _alone(kind: Callable[[], Command]) -> Callable[[_Rest], Command]:
    def parsed(rest: _Rest) -> Command:
        rest.nothing_more()
        return kind()

    return parsed


EMPTY: Final[dict[str, Callable[[], Command]]] = {
    "rules": c.RulesMenu,
    "members": c.MembersMenu,
    "gatehouse": c.GatehouseHelp,
}

PARSERS: Final[dict[type[Command], Callable[[_Rest], Command]]] = {
    c.RulesList: _rules_list,
    c.RulesShow: lambda rest: c.RulesShow(ref=rest.rest()),
    c.RulesWhich: lambda rest: c.RulesWhich(rest.one("which URL")),
    c.RulesCheck: _rules_check,
    c.RulesNew: _rules_new,
    c.RulesEdit: _by_ref(c.RulesEdit),
    c.RulesSet: _rules_set,
    c.RulesCopy: _by_ref(c.RulesCopy),
    c.RulesOn: _switch(c.RulesOn, "on"),
    c.RulesOff: _switch(c.RulesOff, "off"),
    c.RulesGroups: _alone(c.RulesGroups),
    c.RulesGroup: _rules_group,
    c.RulesDelete: _rules_delete,
    c.RulesHistory: _by_ref(c.RulesHistory),
    c.RulesExport: _rules_export,
    c.RulesImport: _alone(c.RulesImport),
    c.RulesSamples: _rules_samples,
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
    c.GatehousePending: _alone(c.GatehousePending),
    c.GatehouseUndo: lambda rest: c.GatehouseUndo(rest.rest() or None),
    c.GatehouseTimers: _alone(c.GatehouseTimers),
    c.GatehouseAudit: _audit,
    c.GatehouseDigest: lambda rest: c.GatehouseDigest(rest.rest() or None),
    c.GatehouseStatus: _alone(c.GatehouseStatus),
    c.GatehouseWhoami: _alone(c.GatehouseWhoami),
    c.GatehouseHelp: lambda rest: c.GatehouseHelp(rest.rest() or None),
    c.GatehouseSettings: _alone(c.GatehouseSettings),
}

VERBS: Final[dict[str, dict[str, type[Command]]]] = {
    service: {name: kind for kind in c.of_service(service) if kind.verb for name in (kind.verb, *kind.synonyms)}
    for service in EMPTY
}
