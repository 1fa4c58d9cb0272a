"""Judge which rules match a URL and to what effect, and why others nearly match."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from bot.rules.actions import Hits, effect
from bot.rules.conditions import OPERATORS, NeverHolds, holds
from bot.rules.expressions import SLASHED, CannotTell
from bot.rules.model import ACTIVE, INACTIVE, Groups, Off, OffKind, Pair, Rule, Source, why_group_is_off
from bot.rules.outcomes import Match, NearKind, NearMiss, Note, NoteKind, Undecidable, Verdict, match_pair
from bot.rules.url import KEYS, NotAUrl, Url, sent_text

MAX_LENGTH_DIFFERENCE: Final = 400
"""Characters by which two URLs may differ in length and still count as near."""

KEY_SPELLINGS: Final = {key.casefold(): key for key in KEYS}
OPERATOR_SPELLINGS: Final = {operator.casefold(): operator for operator in OPERATORS if operator}

Variants = Sequence[tuple[NearKind, Url]]


def variants(url: Url) -> Iterator[tuple[NearKind, Url]]:
    """Yield URLs that people confuse with *url*, each with its difference."""
    full = url.full
    scheme, _, rest = full.partition("://")
    bare, mark, query = full.partition("?")
    slash = f"{bare[:-1] if bare.endswith('/') else bare + '/'}{mark}{query}"
    other = {"https": "http", "http": "https", "wss": "ws", "ws": "wss"}[scheme]
    tries = [
        (NearKind.SLASH, slash),
        (NearKind.SCHEME, f"{other}://{rest}"),
        (NearKind.WWW, full.replace("://www.", "://", 1) if "://www." in full else f"{scheme}://www.{rest}"),
    ]
    if query:
        tries.append((NearKind.QUERY, bare))
    if (port := re.search(r":\d+$", url.host)) is not None:
        tries.append((NearKind.PORT, full.replace(url.host, url.host[: port.start()], 1)))
    for what, text in tries:
        try:
            yield what, Url.of(text)
        except NotAUrl:
            continue


def near_miss(rule: Rule, url: Url, others: Variants, groups: Groups | None) -> NearMiss | None:
    """Return the first near miss of *rule* for *url*; None where it has none. *others*: the `variants` of *url*."""
    for number, pair in enumerate(rule.pairs or (), start=1):
        source = pair.source
        if source is not None and source.value and (why := _why_near(source, url, others)) is not None:
            return NearMiss(rule, number, *why, _why_off(rule, url, groups))
    return None


Near = tuple[NearKind, str]
"""The difference, and the correct value; empty where it isn't known."""


def _why_near(source: Source, url: Url, others: Variants) -> Near | None:
    value = source.value or ""
    key = KEY_SPELLINGS.get((source.key or "").casefold(), source.key)
    operator = OPERATOR_SPELLINGS.get((source.operator or "").casefold(), source.operator)
    if (key, operator) != (source.key, source.operator) and holds(operator, value, url.subject(key)):
        return (NearKind.KEY, key or "") if key != source.key else (NearKind.OPERATOR, operator or "")
    tested = url.subject(source.key)
    if tested is None:
        return None
    if (why := _why_near_by_value(source.operator, value, tested, source.key or "")) is not None:
        return why
    if source.operator == "Equals" and abs(len(value) - len(tested)) > MAX_LENGTH_DIFFERENCE:
        return None
    for what, variant in others:
        if holds(source.operator, value, variant.subject(source.key)):
            return what, ""
    return None


CASE: Final = (NearKind.CASE, "")


def _why_near_by_value(operator: str | None, value: str, tested: str, key: str) -> Near | None:
    """Return a difference that lies in the text of the condition itself; None where there is none."""
    match operator:
        case "Equals":
            return _why_near_equal(value, tested, key)
        case "Contains":
            return CASE if value.casefold() in tested.casefold() else None
        case "Matches":
            found = SLASHED.fullmatch(value)
            return CASE if found and "i" not in found[2] and holds(operator, f"{value}i", tested) else None
        case "Wildcard_Matches":
            if holds(operator, value.casefold(), tested.casefold()):
                return CASE
            covers = not value.endswith("*") and holds(operator, f"*{value}*", tested)
            return (NearKind.NOT_THE_WHOLE, "") if covers else None
        case _:
            return None


def _why_near_equal(value: str, tested: str, key: str) -> Near | None:
    if tested.casefold() == value.casefold():
        return CASE
    if abs(len(value) - len(tested)) > MAX_LENGTH_DIFFERENCE or sent_text(key, value) != tested:
        return None
    return (NearKind.NO_SLASH if value + "/" == tested else NearKind.SPELLING), tested


SPARED_TEXTS: Final = ("requestly.in", "requestly.io", "requestly.com", "rq.in", "rq.io", "__rq")
"""The extension ignores URLs with one of these texts: they are their vendor's own."""


def judge_all(rules: Iterable[Rule], url: Url, groups: Groups | None = None) -> Iterator[Verdict | None]:
    """Yield the verdict on each of *rules* for *url*, in order; None for a rule that neither matches nor nearly does."""
    others = tuple(variants(url))
    for rule in rules:
        found = judge(rule, url, groups)
        yield found if found is not None else near_miss(rule, url, others, groups)


NumberedPairs = Iterable[tuple[int, Pair]]


def judge(
    rule: Rule, url: Url, groups: Groups | None = None, pairs: NumberedPairs | None = None
) -> Match | Undecidable | None:
    """Judge *rule* for *url*; None where none of its conditions holds. *pairs*: those that may hold, by default all."""
    if not rule.pairs:
        return Undecidable(rule, 0, why_not_understood(rule), _why_off(rule, url, groups))
    hits, undecidable = _try_pairs(rule, enumerate(rule.pairs or (), start=1) if pairs is None else pairs, url)
    if not hits:
        return undecidable and replace(undecidable, off=_why_off(rule, url, groups))
    first = hits[0]
    if why := why_not_understood(rule):
        return Undecidable(rule, first.number, why, _why_off(rule, url, groups))
    untried = (Note(NoteKind.UNTRIED_PAIR, undecidable.why, undecidable.pair),) if undecidable is not None else ()
    notes = (*_filter_notes(each.pair for each in hits), *_group_notes(rule, groups), *untried)
    acts = Match(rule, first.number, first.captures, off=_why_off(rule, url, groups), notes=notes)
    try:
        return effect(acts, hits, url)
    except CannotTell as error:
        return Undecidable(rule, first.number, str(error), acts.off)


def why_not_understood(rule: Rule) -> str:
    """Return why nothing can be said about what *rule* does; empty where something can."""
    if not rule.pairs:
        return "no pairs listed"
    return "" if rule.status in (None, "", ACTIVE, INACTIVE) else f"unknown status “{rule.status}”"


def _try_pairs(rule: Rule, pairs: NumberedPairs, url: Url) -> tuple[Hits, Undecidable | None]:
    """Return those of *pairs* that hold, and the first one that can't be judged."""
    hits, undecidable = [], None
    for number, pair in pairs:
        try:
            found = match_pair(number, pair, url)
        except NeverHolds:
            continue
        except CannotTell as error:
            undecidable = undecidable or Undecidable(rule, number, str(error))
            continue
        if found is not None:
            hits.append(found)
    return hits, undecidable


def spared_text(url: Url) -> str:
    """Return the text in *url* for which engines ignore it; empty where they don't."""
    return next((text for text in SPARED_TEXTS if text in url.full), "")


def _why_off(rule: Rule, url: Url, groups: Groups | None) -> tuple[Off, ...]:
    status = Off(OffKind.STATUS, rule.status or "") if rule.status in (None, "", INACTIVE) else None
    if why := tuple(filter(None, (status, why_group_is_off(rule, groups)))):
        return why
    text = spared_text(url)
    return (Off(OffKind.SPARED_URL, text),) if text else ()


def _group_notes(rule: Rule, groups: Groups | None) -> tuple[Note, ...]:
    """Return a note where it is not known whether the rule's group is on."""
    known = groups is not None or not rule.active or not rule.group_id
    return () if known else (Note(NoteKind.GROUP, rule.group_id or ""),)


def _filter_notes(pairs: Iterable[Pair]) -> tuple[Note, ...]:
    """Return a note on filters by page, method or payload, which can't be judged by a URL alone."""
    names = sorted({name for pair in pairs for name, _ in filters_of(pair)})
    return (Note(NoteKind.FILTERS, ", ".join(names)),) if names else ()


def filters_of(pair: Pair) -> Iterator[tuple[str, Any]]:
    """Yield the names and values of the filters of *pair*, which may be an object or a list of objects."""
    filters: Any = None if pair.source is None else (pair.source.model_extra or {}).get("filters")
    for each in filters if isinstance(filters, list) else [filters]:
        if isinstance(each, Mapping):
            yield from ((str(name), value) for name, value in each.items() if value)
