"""What a rule makes of an address, by its type, once a condition of it holds.

The documented way counts. Where the desktop app and the extension differ from it or from each other, a note says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final
from urllib.parse import quote, unquote_plus

from bot.domain.address import Address, NoAddress
from bot.domain.condition import SLASHED, CannotTell, Hit, bounded, compiled, condition, filled, of_a_length
from bot.domain.rule import Pair
from bot.domain.verdict import Acts

ENGINES_DIFFER: Final = "the desktop app and the extension differ here"
IN_THE_EXTENSION: Final = f"{ENGINES_DIFFER}: with the extension it is {{}}"
CHAINS: Final = f"{ENGINES_DIFFER}: the desktop app goes on with the next pair, to {{}}"
SEVERAL_BLOCKS: Final = f"{ENGINES_DIFFER}: the desktop app fails on a block with several pairs"


@dataclass(frozen=True, slots=True)
class Holding:
    """A pair whose condition holds, with its number in the rule."""

    number: int
    pair: Pair
    tested: str
    hit: Hit


Hits = Sequence[Holding]


def effect(acts: Acts, hits: Hits, address: Address) -> Acts:
    """*acts* with what becomes of *address*; raises CannotTell."""
    return EFFECTS.get(acts.rule.rule_type or "", _as_described)(acts, hits, address)


def holding(number: int, pair: Pair, address: Address) -> Holding | None:
    """*pair*, where its condition holds for *address*; raises CannotTell."""
    source = pair.source
    if source is None:
        raise CannotTell("it has no condition")
    tested = address.subject(source.key)
    if tested is None or (hit := condition(source.operator, source.value)(tested)) is None:
        return None
    return Holding(number, pair, tested, hit)


def _redirect(acts: Acts, hits: Hits, address: Address) -> Acts:
    """The first condition that holds counts; ``$1`` stands for what it caught."""
    first = hits[0]
    if first.pair.destination_type not in {None, "url"}:
        return acts
    target = destination(first.pair, first.hit)
    notes = [*acts.notes, *(IN_THE_EXTENSION.format(other) for other in _otherwise(first, address) if other != target)]
    if target == address.full:
        return replace(acts, idle=True, notes=(*notes, "it leads to the address itself, so nothing happens"))
    if (further := _chained(acts, first.number, target)) is not None:
        notes.append(CHAINS.format(further))
    return replace(acts, result=target, notes=tuple(dict.fromkeys(notes)))


def destination(pair: Pair, hit: Hit) -> str:
    """Where a redirect leads once its captures are filled in."""
    template = pair.destination or ""
    return filled(template, hit.captures) if hit.has_groups else template


def _otherwise(first: Holding, address: Address) -> Iterator[str]:
    """Where the extension leads: its stars catch as much as they can, and from the whole address whatever the key."""
    hit, source = first.hit, first.pair.source
    if hit.has_groups and source is not None and source.key != "Url":
        hit = condition(source.operator, source.value)(address.full) or hit
    yield destination(first.pair, hit if hit.otherwise is None else replace(hit, captures=hit.otherwise))


def _chained(acts: Acts, number: int, target: str) -> str | None:
    """Where the later pairs of the rule would take *target* on to."""
    try:
        address = Address.of(target)
    except NoAddress:
        return None
    for later, pair in enumerate((acts.rule.pairs or ())[number:], start=number + 1):
        try:
            found = holding(later, pair, address)
        except CannotTell:
            continue
        if found is not None and (further := destination(pair, found.hit)) != target:
            return further
    return None


def _cancel(acts: Acts, hits: Hits, address: Address) -> Acts:  # noqa: ARG001  blocked whatever it is
    several = (SEVERAL_BLOCKS,) if len(acts.rule.pairs or ()) > 1 else ()
    return replace(acts, blocks=True, notes=(*acts.notes, *several))


def _replace(acts: Acts, hits: Hits, address: Address) -> Acts:
    """Every condition that holds takes its turn, on what the one before it left."""
    text = address.full
    for each in hits:
        text = replaced(each.pair, text)
    other = _replaced_in_the_extension(hits[0].pair, address.full)
    notes = acts.notes if other == text else (*acts.notes, IN_THE_EXTENSION.format(other))
    also = tuple(each.number for each in hits[1:])
    if text == address.full:
        nothing = "what it looks for is not in the address, so nothing changes"
        return replace(acts, idle=True, notes=(*notes, nothing), also=also)
    return replace(acts, result=text, notes=notes, also=also)


def _replaced_in_the_extension(pair: Pair, text: str) -> str:
    """By one pair alone, which it never reads as an expression; the last place where the condition is for all."""
    find, to = pair.find or "", pair.replacement or ""
    if not find or find not in text:
        return text
    if pair.source is not None and not pair.source.value:
        head, _, tail = text.rpartition(find)
        return head + to + tail
    return text.replace(find, to, 1)


def replaced(pair: Pair, text: str) -> str:
    """*text* with the first occurrence replaced; all of them for an expression with the flag g."""
    find, to = pair.find or "", pair.replacement or ""
    if (found := SLASHED.fullmatch(find)) is None:
        of_a_length(len(text) + len(to))
        return text.replace(find, to, 1) if find else text
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
    """All that hold, in order; raises CannotTell where reading the query again for each of them takes long."""
    base, mark, query = address.full.partition("?")
    notes, work = acts.notes, 0
    for each in hits:
        for change in _modifications(each.pair):
            work += len(query) + PER_CHANGE
            if work > MOST_WORK:
                raise CannotTell("it changes too many parameters to be followed here")
            if _adds_to_one(query, change):
                notes = (*notes, ADDED.format(change.get("param")))
            query = _changed_query(query, change)
    result = f"{base}?{query}" if query or (mark and address.full == f"{base}?") else base
    acts = replace(acts, notes=tuple(dict.fromkeys(notes)), also=tuple(each.number for each in hits[1:]))
    return replace(acts, idle=True) if result == address.full else replace(acts, result=result)


MOST_WORK: Final = 1_000_000
"""Characters of queries that are read for one rule on one address."""
PER_CHANGE: Final = 100
"""What a change takes of that beside its query."""
ADDED: Final = f"{ENGINES_DIFFER}: the extension puts {{}} in place of the one that is there"


def _modifications(pair: Pair) -> Iterator[Mapping[str, Any]]:
    """The changes of parameters, whatever else may stand there."""
    found = (pair.model_extra or {}).get("modifications")
    for change in found if isinstance(found, list) else [found]:
        if isinstance(change, Mapping):
            yield change


def _kind(change: Mapping[str, Any]) -> str:
    return str(change.get("type") or "").casefold().replace(" ", "_")


def _named(query: str, name: str) -> list[bool]:
    """For each parameter in turn, whether it has that name."""
    return [unquote_plus(part.partition("=")[0]) == name for part in query.split("&") if part]


def _overwrites(change: Mapping[str, Any]) -> bool:
    return str(change.get("actionWhenParamExists") or "").casefold().startswith("over")


def _adds_to_one(query: str, change: Mapping[str, Any]) -> bool:
    adds = _kind(change) not in {"remove", "remove_all"} and not _overwrites(change)
    return adds and any(_named(query, str(change.get("param") or "")))


def _changed_query(query: str, change: Mapping[str, Any]) -> str:
    parts = [part for part in query.split("&") if part]
    name, value = str(change.get("param") or ""), str(change.get("value") or "")
    if _kind(change) == "remove_all":
        return ""
    kept = [part for part, named in zip(parts, _named(query, name), strict=True) if not named]
    if _kind(change) == "remove":
        return "&".join(kept)
    added = f"{quoted(name)}={quoted(value)}"
    return "&".join([*(kept if _overwrites(change) else parts), added])


def quoted(text: str) -> str:
    """*text* as a part of a query; half of a pair of surrogates, which no URL carries, as a question mark."""
    return quote(text, safe="", errors="replace")


def _last(acts: Acts, hits: Hits, address: Address) -> Acts:  # noqa: ARG001  the last one that holds wins
    return replace(acts, pair=hits[-1].number, tested=hits[-1].tested, captures=hits[-1].hit.captures)


def _all(acts: Acts, hits: Hits, address: Address) -> Acts:  # noqa: ARG001  all that hold add up
    return replace(acts, also=tuple(each.number for each in hits[1:]))


def _as_described(acts: Acts, hits: Hits, address: Address) -> Acts:  # noqa: ARG001  the rule says what it does
    return acts


EFFECTS: Final[dict[str, Callable[[Acts, Hits, Address], Acts]]] = {
    "Redirect": _redirect,
    "Cancel": _cancel,
    "Replace": _replace,
    "QueryParam": _query,
    "Headers": _all,
    "UserAgent": _last,
}
