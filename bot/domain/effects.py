"""What a rule makes of a URL, by its type, once a condition of it holds.

The documented way counts. Where the desktop app or the extension does otherwise, a note says so.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from operator import itemgetter
from typing import Any, Final

from bot.domain.address import Address, NoAddress
from bot.domain.condition import SLASHED, CannotTell, Hit, bounded, compiled, condition, filled, of_a_length
from bot.domain.engines import BOTH, ENGINES_DIFFER, Engine, Holding, MayHold, holding
from bot.domain.query import means_the_same, queried
from bot.domain.rule import Pair, Rule
from bot.domain.verdict import Acts

OTHERWISE: Final = f"{ENGINES_DIFFER}: with {{}} it is {{}}"
NOTHING: Final = f"{ENGINES_DIFFER}: {{}} does nothing here"
ONE_PAIR: Final = f"{ENGINES_DIFFER}: pair {{}} counts in {{}} only"
SEVERAL_BLOCKS: Final = f"{ENGINES_DIFFER}: the desktop app fails on a block with several pairs"

Hits = Sequence[Holding]


def effect(acts: Acts, hits: Hits, address: Address, may_hold: MayHold) -> Acts:
    """*acts* with what becomes of *address*; raises CannotTell. *may_hold*: the pairs that are tried on what others made."""
    if (led := PAIR_BY_PAIR.get(acts.rule.rule_type or "")) is not None:
        return led(acts, hits, address, may_hold)
    return EFFECTS.get(acts.rule.rule_type or "", _alike)(acts, hits, address)


def _led(acts: Acts, address: Address, documented: str, ways: Mapping[Engine, str], idle: str = "") -> Acts:
    """*acts* with the URL that each engine makes of *address*; *idle* says why where both leave it."""
    moved = [engine for engine in Engine if ways[engine] != address.full]
    result = documented if documented in ways.values() else ways[Engine.DESKTOP]
    result = ways[moved[0]] if moved and result == address.full else result
    notes = [
        NOTHING.format(engine) if way == address.full else OTHERWISE.format(engine, way)
        for engine, way in ways.items()
        if moved and way != result
    ]
    left = {engine: way if engine in moved else None for engine, way in ways.items()}
    return replace(
        acts,
        result=result if moved else None,
        idle=not moved,
        desktop=left[Engine.DESKTOP],
        extension=left[Engine.EXTENSION],
        only=moved[0] if len(moved) == 1 else None,
        notes=(*acts.notes, *notes, *([idle] if idle and not moved else [])),
    )


def _in_a_row(
    hits: Hits, rule: Rule, address: Address, may_hold: MayHold, make: Callable[[Holding, str], str]
) -> tuple[str, tuple[int, ...]]:
    """What the desktop app makes of *address*, which tries each pair on what those before it made; and the pairs."""
    now, numbers = address, []
    found = _first(hits, Engine.DESKTOP)
    while found is not None:
        numbers.append(found.number)
        text = make(found, now.full)
        try:
            now = replace(Address.of(text), full=text)
        except NoAddress:
            return text, tuple(numbers)
        found = _following(rule, found.number, may_hold(now), now)
    return now.full, tuple(numbers)


def _following(rule: Rule, number: int, pairs: Sequence[tuple[int, Pair]], now: Address) -> Holding | None:
    """The first of *pairs* after that *number* that holds for *now* in the desktop app."""
    for further, pair in pairs[bisect_right(pairs, number, key=itemgetter(0)) :]:
        try:
            found = holding(rule.rule_type, further, pair, now)
        except CannotTell:
            continue
        if found is not None and Engine.DESKTOP in found.engines:
            return found
    return None


def _first(hits: Hits, engine: Engine) -> Holding | None:
    return next((hit for hit in hits if engine in hit.engines), None)


def _redirect(acts: Acts, hits: Hits, address: Address, may_hold: MayHold) -> Acts:
    """The first condition that holds counts; ``$1`` stands for what it caught."""
    if not hits[0].pair.leads_to_url:
        return _alike(acts, hits, address)
    desktop, _ = _in_a_row(hits, acts.rule, address, may_hold, lambda found, _: destination(found.pair, found.hit))
    first = _first(hits, Engine.EXTENSION)
    extension = address.full if first is None else _with_the_extension(first, address)
    documented = destination(hits[0].pair, hits[0].hit)
    ways = {Engine.DESKTOP: desktop, Engine.EXTENSION: extension}
    return _led(acts, address, documented, ways, "it leads to the address itself, so nothing happens")


def destination(pair: Pair, hit: Hit) -> str:
    """Where a redirect leads once its captures are filled in."""
    template = pair.destination or ""
    return filled(template, hit.captures) if hit.has_groups else template


def _with_the_extension(first: Holding, address: Address) -> str:
    """Where the extension leads: its stars catch as much as they can, and from the whole URL whatever the key."""
    hit, source = first.hit, first.pair.source
    if hit.has_groups and source is not None and source.key != "Url":
        hit = condition(source.operator, source.value)(address.full) or Hit()
    return destination(first.pair, hit if hit.otherwise is None else replace(hit, captures=hit.otherwise))


def _cancel(acts: Acts, hits: Hits, address: Address) -> Acts:  # noqa: ARG001  blocked whatever it is
    """The desktop app fails where a pair follows the one that holds."""
    engines = {engine for engine in Engine if _first(hits, engine) is not None}
    first = _first(hits, Engine.DESKTOP)
    fails = first is not None and first.number < len(acts.rule.pairs or ())
    engines -= {Engine.DESKTOP} if fails else set()
    acts = replace(acts, blocks=bool(engines), idle=not engines, only=_alone(engines))
    if fails:
        return replace(acts, notes=(*acts.notes, SEVERAL_BLOCKS))
    return replace(acts, notes=(*acts.notes, *_nothing_in_the_other(acts)))


def _replace(acts: Acts, hits: Hits, address: Address, may_hold: MayHold) -> Acts:
    """Every condition that holds takes its turn, on what the one before it left."""
    desktop, numbers = _in_a_row(hits, acts.rule, address, may_hold, lambda found, text: replaced(found.pair, text))
    first = _first(hits, Engine.EXTENSION)
    extension = address.full if first is None else replaced_in_the_extension(first.pair, address.full)
    if numbers:
        acts = replace(acts, pair=numbers[0], also=numbers[1:])
    ways = {Engine.DESKTOP: desktop, Engine.EXTENSION: extension}
    return _led(acts, address, desktop, ways, "what it looks for is not in the address, so nothing changes")


def replaced_in_the_extension(pair: Pair, text: str) -> str:
    """By one pair alone, which it never reads as an expression; the last place where the condition is for all."""
    find, to = pair.find or "", pair.replacement or ""
    of_a_length(len(text) + len(to))
    if pair.source is None or pair.source.value or find not in text:
        return text.replace(find, to, 1)
    head, _, tail = text.rpartition(find) if find else ("", "", text)
    return head + to + tail


def replaced(pair: Pair, text: str) -> str:
    """*text* with the first occurrence replaced; all of them for an expression with the flag g."""
    find, to = pair.find or "", pair.replacement or ""
    if (found := SLASHED.fullmatch(find)) is None:
        of_a_length(len(text) + len(to))
        return text.replace(find, to, 1)
    expression = compiled(found[1], ignore_case="i" in found[2])
    bounded(expression, text)
    most = 0 if "g" in found[2] else 1
    length = len(text)

    def put(match: Any) -> str:
        nonlocal length
        made = filled(to, tuple(match.groups()))
        length += len(made)
        of_a_length(length)
        return made

    return str(expression.sub(put, text, most))


def _query(acts: Acts, hits: Hits, address: Address) -> Acts:
    """All that hold, in order."""
    ways = {engine: queried([hit.pair for hit in hits if engine in hit.engines], address, engine) for engine in Engine}
    if means_the_same(*ways.values()):
        ways[Engine.EXTENSION] = ways[Engine.DESKTOP]
    acts = replace(acts, also=tuple(each.number for each in hits[1:]))
    return _led(acts, address, ways[Engine.DESKTOP], ways)


def _last(acts: Acts, hits: Hits, address: Address) -> Acts:
    """The last one that holds wins."""
    acts = replace(acts, pair=hits[-1].number, tested=hits[-1].tested, captures=hits[-1].hit.captures)
    return _alike(acts, hits, address)


def _all(acts: Acts, hits: Hits, address: Address) -> Acts:
    """All that hold add up."""
    return _alike(replace(acts, also=tuple(each.number for each in hits[1:])), hits, address)


def _alike(acts: Acts, hits: Hits, address: Address) -> Acts:  # noqa: ARG001  the rule says what it does
    """The rule says what it does, in whichever engines its pairs hold."""
    acts = replace(acts, only=_alone(frozenset().union(*(hit.engines for hit in hits))))
    single = [] if acts.only else [hit for hit in hits if hit.engines != BOTH]
    notes = [ONE_PAIR.format(hit.number, next(iter(hit.engines))) for hit in single]
    return replace(acts, notes=(*acts.notes, *notes, *_nothing_in_the_other(acts)))


def _alone(engines: AbstractSet[Engine]) -> Engine | None:
    return next(iter(engines)) if len(engines) == 1 else None


def _nothing_in_the_other(acts: Acts) -> tuple[str, ...]:
    return (NOTHING.format(acts.only.other),) if acts.only else ()


PAIR_BY_PAIR: Final[dict[str, Callable[[Acts, Hits, Address, MayHold], Acts]]] = {
    "Redirect": _redirect,
    "Replace": _replace,
}
EFFECTS: Final[dict[str, Callable[[Acts, Hits, Address], Acts]]] = {
    "Cancel": _cancel,
    "QueryParam": _query,
    "Headers": _all,
    "UserAgent": _last,
}
