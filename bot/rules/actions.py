"""Apply a rule to a URL, by the rule's type, once one of its conditions holds.

The documented behaviour counts. Where the desktop app or the extension differs, the match has a note.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from operator import itemgetter
from typing import Any, Final
from urllib.parse import parse_qsl, quote_plus

from bot.rules.conditions import condition
from bot.rules.engines import Engine, Trait
from bot.rules.expressions import (
    SLASHED,
    CannotTell,
    compile_expression,
    fill_captures,
    require_little_work,
    require_url_length,
    substitute,
)
from bot.rules.model import Pair, Rule
from bot.rules.outcomes import Match, MayHold, Note, NoteKind, PairMatch, match_pair
from bot.rules.url import NotAUrl, Url

MAX_QUERY_WORK: Final = 1_000_000
"""Characters of queries that are processed for one rule on one URL."""
WORK_PER_CHANGE: Final = 100
"""Fixed cost of one change, counted in the same unit."""
UNESCAPED: Final = "!'()*~"
"""Characters that a browser does not escape where the extension puts a text into a query."""

Change = Mapping[str, Any]
Query = str | None
"""The part of a URL after the question mark; None where there is no question mark."""


def change_query(pairs: Sequence[Pair], url: Url, engine: Engine) -> str:
    """Return the URL that *engine* makes of *url* by the changes of *pairs*; raises CannotTell."""
    base, mark, rest = url.full.partition("?")
    query: Query = rest if mark else None
    for step in _steps(pairs, engine, len(rest)):
        query = _apply_change(query, step[0]) if engine.does(Trait.KEEPS_PARAMETERS) else _apply_changes(query, step)
    if query == (rest if mark else None):
        return url.full
    made = base if query is None else f"{base}?{query}"
    require_url_length(len(made))
    return Url.of(made).full


def means_the_same(one: str, other: str) -> bool:
    """Whether two URLs with one base carry the same parameters, however they are escaped."""
    first, second = (parse_qsl(url.partition("?")[2], keep_blank_values=True) for url in (one, other))
    return first == second


def _steps(pairs: Sequence[Pair], engine: Engine, length: int) -> Iterator[list[Change]]:
    """Yield the changes one by one, or pair by pair as the extension applies them; raises CannotTell where they are too many."""
    work = 0
    for pair in pairs:
        changes = list(_modifications(pair))
        for step in [[change] for change in changes] if engine.does(Trait.KEEPS_PARAMETERS) else [changes]:
            length += sum(len(str(change.get("value") or "")) for change in step)
            work += length + WORK_PER_CHANGE * len(step)
            if work > MAX_QUERY_WORK:
                raise CannotTell("it changes too many parameters to work out")
            yield step


def _modifications(pair: Pair) -> Iterator[Change]:
    """Yield the changes of parameters in *pair*, without values of any other shape."""
    found = (pair.model_extra or {}).get("modifications")
    for change in found if isinstance(found, list) else [found]:
        if isinstance(change, Mapping):
            yield change


def _apply_change(query: Query, change: Change) -> Query:
    """Apply one change as the desktop app does: parameters keep their order, but those of one name are grouped."""
    kind, name = change.get("type"), _text(change.get("param"))
    if kind == "Remove All":
        return None
    params = _params(query)
    if kind == "Remove" and name in params:
        del params[name]
    elif kind == "Add" and change.get("actionWhenParamExists") != "Ignore":
        overwrites = change.get("actionWhenParamExists") == "Overwrite"
        params[name] = [*([] if overwrites else params.get(name, [])), _value(change)]
    else:
        return query
    names = sorted(params, key=lambda name: int(name) if NUMBER.fullmatch(name) else MAX_NUMBER)
    return "&".join(name if value is None else f"{name}={value}" for name in names for value in params[name]) or None


NUMBER: Final = re.compile(r"0|[1-9][0-9]{0,8}")
"""A name that JavaScript sorts before all others in an object: an integer."""
MAX_NUMBER: Final = 10**9


def _params(query: Query) -> dict[str, list[str | None]]:
    """Return the values by name, still escaped; as in the desktop app, the text after a second ``=`` is lost."""
    params: dict[str, list[str | None]] = {}
    for part in query.split("&") if query else ():
        name, *values = part.split("=")
        params.setdefault(name, []).append(values[0] if values else None)
    return params


def _apply_changes(query: Query, changes: Sequence[Change]) -> Query:
    """Apply the changes of one pair as the extension does: an added parameter replaces one of the same name."""
    added: dict[str, list[str]] = {}
    removed = set()
    for change in changes:
        name = _escape(_text(change.get("param")))
        match change.get("type"):
            case "Add":
                added.setdefault(name, []).append(f"{name}={_escape(_value(change) or '')}")
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


def _value(change: Change) -> str | None:
    value = change.get("value")
    return None if value is None else _text(value)


def _text(value: Any) -> str:
    """Return *value* as text, with a question mark for each lone surrogate, which a URL can't hold."""
    return "" if value is None else str(value).encode(errors="replace").decode()


def _escape(text: str) -> str:
    return quote_plus(text, safe=UNESCAPED)


Hits = Sequence[PairMatch]


def effect(acts: Match, hits: Hits, url: Url, may_hold: MayHold) -> Match:
    """Return *acts* with its effect on *url*; raises CannotTell. *may_hold*: returns the pairs to try on the URL so far."""
    match acts.rule.rule_type:
        case "Redirect":
            return _redirect(acts, hits, url, may_hold)
        case "Replace":
            return _replace(acts, hits, url, may_hold)
        case "Cancel":
            return _cancel(acts, hits, url, may_hold)
        case "QueryParam":
            return _query(acts, hits, url)
        case "Headers":  # all that hold add up
            return _with_engines(replace(acts, also=tuple(each.number for each in hits[1:])), hits)
        case "UserAgent":  # the last one that holds wins
            last = hits[-1]
            return _with_engines(replace(acts, pair=last.number, captures=last.captures), hits)
        case _:
            return _with_engines(acts, hits)


def _with_results(
    acts: Match, url: Url, documented: str, ways: Mapping[Engine, str], idle: NoteKind | None = None
) -> Match:
    """Return *acts* with the result of each engine for *url* (*ways*); *idle*: the note where neither changes it."""
    moved = [engine for engine in Engine if ways[engine] != url.full]
    result = documented if documented in ways.values() else ways[Engine.DESKTOP]
    result = ways[moved[0]] if moved and result == url.full else result
    notes = [
        Note(NoteKind.NOTHING, engine=engine) if way == url.full else Note(NoteKind.OTHER_URL, way, engine)
        for engine, way in ways.items()
        if moved and way != result
    ]
    return replace(
        acts,
        result=result if moved else None,
        idle=not moved,
        ways={engine: ways[engine] for engine in moved},
        only=moved[0] if len(moved) == 1 else None,
        notes=(*acts.notes, *notes, *([Note(idle)] if idle and not moved and documented == url.full else [])),
    )


Make = Callable[[PairMatch, str, Engine], str]
"""Returns the URL that one pair makes of a URL in an engine."""


def _results_by_engine(
    hits: Hits, rule: Rule, url: Url, may_hold: MayHold, make: Make
) -> dict[Engine, tuple[str, tuple[int, ...]]]:
    """Return the result of each engine for *url*, and the numbers of the pairs that made it: one, or several in turn."""
    return {engine: _apply_pairs(hits, rule, url, may_hold, make, engine) for engine in Engine}


def _apply_pairs(
    hits: Hits, rule: Rule, url: Url, may_hold: MayHold, make: Make, engine: Engine
) -> tuple[str, tuple[int, ...]]:
    """Return the result of *engine* for *url*, and the numbers of the pairs that made it, in order.

    The URL stays as it is where a pair before the last makes a text that is not a URL.
    """
    now, numbers = url, []
    found = next((hit for hit in hits if engine in hit.engines), None)
    while found is not None:
        numbers.append(found.number)
        text = make(found, now.full, engine)
        if not engine.does(Trait.GOES_ON) or found.number == len(rule.pairs or ()):
            return text, tuple(numbers)
        try:
            now = Url.as_written(text)
        except NotAUrl:
            return url.full, tuple(numbers)
        found = _next_hit(rule, found.number, may_hold(now), now, engine)
    return now.full, tuple(numbers)


def _next_hit(rule: Rule, number: int, pairs: Sequence[tuple[int, Pair]], now: Url, engine: Engine) -> PairMatch | None:
    """Return the first of *pairs* after *number* that holds for *now* in *engine*; skips pairs that can't be judged."""
    for further, pair in pairs[bisect_right(pairs, number, key=itemgetter(0)) :]:
        try:
            found = match_pair(rule, further, pair, now)
        except CannotTell:
            continue
        if found is not None and engine in found.engines:
            return found
    return None


def _redirect(acts: Match, hits: Hits, url: Url, may_hold: MayHold) -> Match:
    """Apply a Redirect: the first condition that holds counts, and ``$1`` is its first capture."""
    if not hits[0].pair.leads_to_url:
        return _with_engines(acts, hits)
    made = _results_by_engine(hits, acts.rule, url, may_hold, _destination)
    documented = fill_captures(hits[0].pair.destination or "", hits[0].captures)
    return _with_results(
        acts, url, documented, {engine: way or url.full for engine, (way, _) in made.items()}, NoteKind.TO_ITSELF
    )


def _destination(found: PairMatch, text: str, engine: Engine) -> str:
    """Return the destination of a redirect for *text* in *engine*, with its captures filled in."""
    caught, source = found.caught[engine], found.pair.source
    if engine.does(Trait.CATCHES_FROM_URL) and caught and source is not None and source.key != "Url":
        caught = condition(source.operator, source.value)(text).get(engine, ())
    return fill_captures(found.pair.destination or "", caught)


def _cancel(acts: Match, hits: Hits, url: Url, may_hold: MayHold) -> Match:
    """Apply a Cancel, which makes an empty URL; where another pair follows, the desktop app fails on that."""
    made = _results_by_engine(hits, acts.rule, url, may_hold, lambda *_: "")
    engines = {engine for engine, (way, _) in made.items() if not way}
    fails = any(way and numbers for way, numbers in made.values())
    acts = replace(acts, blocks=bool(engines), idle=not engines, only=_only_engine(engines))
    notes = (Note(NoteKind.SEVERAL_BLOCKS),) if fails else _other_engine_notes(acts)
    return replace(acts, notes=(*acts.notes, *notes))


def _replace(acts: Match, hits: Hits, url: Url, may_hold: MayHold) -> Match:
    """Apply a Replace: each pair that holds is applied in turn to the result of the one before."""
    made = _results_by_engine(
        hits, acts.rule, url, may_hold, lambda found, text, engine: replace_text(found.pair, text, engine)
    )
    documented, numbers = made[Engine.DESKTOP]
    if numbers:
        acts = replace(acts, pair=numbers[0], also=numbers[1:])
    return _with_results(
        acts, url, documented, {engine: way for engine, (way, _) in made.items()}, NoteKind.NOTHING_TO_REPLACE
    )


def replace_text(pair: Pair, text: str, engine: Engine) -> str:
    """Return *text* with the first occurrence replaced; all of them for an expression with the flag g."""
    find, to = pair.find or "", pair.replacement or ""
    if engine.does(Trait.READS_FIND) and (found := SLASHED.fullmatch(find)) is not None:
        return _replace_by_expression(found, to, text)
    last = engine.does(Trait.REPLACES_LAST) and pair.source is not None and not pair.source.value
    if (start := text.rfind(find) if last and find else text.find(find)) < 0:
        return text
    end = start + len(find)
    put = to if last else substitute(to, text, start, end)
    require_url_length(len(text) + len(put))
    return text[:start] + put + text[end:]


def _replace_by_expression(found: re.Match[str], to: str, text: str) -> str:
    expression = compile_expression(found[1], ignore_case="i" in found[2])
    require_little_work(expression, text)
    names = dict(expression.groupindex)
    length = len(text)

    def put(match: Any) -> str:
        nonlocal length
        made = substitute(to, text, match.start(), match.end(), tuple(match.groups()), names)
        length += len(made)
        require_url_length(length)
        return made

    return str(expression.sub(put, text, 0 if "g" in found[2] else 1))


def _query(acts: Match, hits: Hits, url: Url) -> Match:
    """Apply a QueryParam: all pairs that hold, in order."""
    ways = {engine: change_query([hit.pair for hit in hits if engine in hit.engines], url, engine) for engine in Engine}
    if means_the_same(*ways.values()):
        ways[Engine.EXTENSION] = ways[Engine.DESKTOP]
    acts = replace(acts, also=tuple(each.number for each in hits[1:]))
    return _with_results(acts, url, ways[Engine.DESKTOP], ways)


def _with_engines(acts: Match, hits: Hits) -> Match:
    """Return *acts*, whose effect is the same in both engines, with notes on pairs that hold in only one of them."""
    acts = replace(acts, only=_only_engine(frozenset().union(*(hit.engines for hit in hits))))
    single = [] if acts.only else [hit for hit in hits if len(hit.engines) == 1]
    notes = [Note(NoteKind.ONE_PAIR, engine=next(iter(hit.engines)), pair=hit.number) for hit in single]
    return replace(acts, notes=(*acts.notes, *notes, *_other_engine_notes(acts)))


def _only_engine(engines: AbstractSet[Engine]) -> Engine | None:
    return next(iter(engines)) if len(engines) == 1 else None


def _other_engine_notes(acts: Match) -> tuple[Note, ...]:
    return (Note(NoteKind.NOTHING, engine=acts.only.other),) if acts.only else ()
