"""Apply a rule to a URL as the browser extension does, by the rule's type, once one of its conditions holds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final
from urllib.parse import quote_plus

from bot.rules.conditions import condition
from bot.rules.expressions import CannotTell, fill_captures, require_url_length, substitute
from bot.rules.model import Pair
from bot.rules.outcomes import Match, Note, NoteKind, PairMatch
from bot.rules.url import Url

MAX_QUERY_WORK: Final = 1_000_000
"""Characters of queries that are processed for one rule on one URL."""
WORK_PER_CHANGE: Final = 100
"""Fixed cost of one change, counted in the same unit."""
UNESCAPED: Final = "!'()*~"
"""Characters that a browser does not escape where the extension puts a text into a query."""

Change = Mapping[str, Any]
Query = str | None
"""The part of a URL after the question mark; None where there is no question mark."""


def change_query(pairs: Sequence[Pair], url: Url) -> str:
    """Return the URL that the changes of *pairs* make of *url*; raises CannotTell."""
    base, mark, rest = url.full.partition("?")
    before: Query = rest if mark else None
    query, length, work = before, len(rest), 0
    for changes in (list(_modifications(pair)) for pair in pairs):
        length += sum(len(str(change.get("value") or "")) for change in changes)
        work += length + WORK_PER_CHANGE * len(changes)
        if work > MAX_QUERY_WORK:
            raise CannotTell("it changes too many parameters to work out")
        query = _apply_changes(query, changes)
    if query == before:
        return url.full
    made = base if query is None else f"{base}?{query}"
    require_url_length(len(made))
    return Url.of(made).full


def _modifications(pair: Pair) -> Iterator[Change]:
    """Yield the changes of parameters in *pair*, without values of any other shape."""
    found = (pair.model_extra or {}).get("modifications")
    for change in found if isinstance(found, list) else [found]:
        if isinstance(change, Mapping):
            yield change


def _apply_changes(query: Query, changes: Sequence[Change]) -> Query:
    """Apply the changes of one pair: an added parameter replaces one of the same name."""
    added: dict[str, list[str]] = {}
    removed = set()
    for change in changes:
        name = _escape(_text(change.get("param")))
        match change.get("type"):
            case "Add":
                added.setdefault(name, []).append(f"{name}={_escape(_text(change.get('value')))}")
            case "Remove":
                removed.add(name)
            case _:
                return None
    parts = query.split("&") if query else []
    names = [part.partition("=")[0] for part in parts]
    if not added and not removed.intersection(names):
        return query
    kept = [
        added[name].pop(0) if added.get(name) else part
        for name, part in zip(names, parts, strict=True)
        if name not in removed
    ]
    return "&".join([*kept, *(part for left in added.values() for part in left)]) or None


def _text(value: Any) -> str:
    """Return *value* as text, with a question mark for each lone surrogate, which a URL can't hold."""
    return "" if value is None else str(value).encode(errors="replace").decode()


def _escape(text: str) -> str:
    return quote_plus(text, safe=UNESCAPED)


Hits = Sequence[PairMatch]


def effect(acts: Match, hits: Hits, url: Url) -> Match:
    """Return *acts* with its effect on *url*; raises CannotTell. *hits*: its pairs that hold, the first of which decides."""
    first, also = hits[0], tuple(each.number for each in hits[1:])
    match acts.rule.rule_type:
        case "Redirect" if first.pair.leads_to_url:
            return _with_result(acts, url, _destination(first, url) or url.full, NoteKind.TO_ITSELF)
        case "Replace":
            return _with_result(acts, url, replace_text(first.pair, url.full), NoteKind.NOTHING_TO_REPLACE)
        case "Cancel":
            return replace(acts, blocks=True)
        case "QueryParam":  # all that hold, in order
            return _with_result(replace(acts, also=also), url, change_query([hit.pair for hit in hits], url))
        case "Headers":  # all that hold add up
            return replace(acts, also=also)
        case "UserAgent":  # the last one that holds wins
            return replace(acts, pair=hits[-1].number, captures=hits[-1].captures)
        case _:
            return acts


def _with_result(acts: Match, url: Url, result: str, idle: NoteKind | None = None) -> Match:
    """Return *acts*, which makes *result* of *url*; *idle*: the note where that is the same."""
    if result != url.full:
        return replace(acts, result=result)
    return replace(acts, idle=True, notes=(*acts.notes, *([Note(idle)] if idle else ())))


def _destination(found: PairMatch, url: Url) -> str:
    """Return the destination of a redirect, with the captures of its condition in the whole URL filled in."""
    caught, source = found.captures, found.pair.source
    if caught and source is not None and source.key != "Url":
        caught = condition(source.operator, source.value)(url.full) or ()
    return fill_captures(found.pair.destination or "", caught)


def replace_text(pair: Pair, text: str) -> str:
    """Return *text* with the first occurrence replaced; the last one, by the text as it is, where the pair is for every URL."""
    find, to = pair.find or "", pair.replacement or ""
    last = pair.source is not None and not pair.source.value
    if (start := text.rfind(find) if last and find else text.find(find)) < 0:
        return text
    end = start + len(find)
    put = to if last else substitute(to, text, start, end)
    require_url_length(len(text) + len(put))
    return text[:start] + put + text[end:]
