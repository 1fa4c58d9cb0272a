"""Which rules act on an address, what they make of it, and why the others do not.

The services only store rules; engines elsewhere apply them. Two of those exist and differ here and there: where they
do, what is documented counts, and the note says so.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from bot.domain.address import Address
from bot.domain.condition import CannotTell, NeverHolds
from bot.domain.effects import Hits, effect, replaced, replaced_in_the_extension
from bot.domain.engines import ENGINES_DIFFER, MayHold, holding
from bot.domain.group import Groups, held_back
from bot.domain.near import KEYS, near_miss, variants
from bot.domain.rule import Pair, Rule
from bot.domain.verdict import Acts, Explained, NearMiss, Untold

__all__ = [
    "KEYS",
    "Acts",
    "Explained",
    "NearMiss",
    "Untold",
    "explain",
    "explaining",
    "judged",
    "left_alone",
    "replaced",
    "replaced_in_the_extension",
    "told",
]

LEFT_ALONE: Final = ("requestly.in", "requestly.io", "requestly.com", "rq.in", "rq.io", "__rq")
"""Texts in an address that no engine touches: its own maker's."""
MEANT_OTHERWISE: Final = {"Wildcard_Matches": re.compile(r"[+()\[\]{}|\\$^]"), "Contains": re.compile(r"[*^|]")}
"""Characters that stand for themselves, and for something else in the extension."""
UNTRIED: Final = "pair {} cannot be told here: {}"

Verdict = Acts | NearMiss | Untold


def explain(rules: Iterable[Rule], address: Address, groups: Groups | None = None) -> Explained:
    """What *rules* do to *address*, in the order in which they come."""
    return told(address, explaining(rules, address, groups))


def explaining(rules: Iterable[Rule], address: Address, groups: Groups | None = None) -> Iterator[Verdict | None]:
    """The same rule by rule, for whoever must not stop for long; None for a rule that has nothing to do with it."""
    others = tuple(variants(address))
    for rule in rules:
        found = judged(rule, address, groups)
        yield found if found is not None or not rule.active else near_miss(rule, address, others)


def told(address: Address, verdicts: Iterable[Verdict | None]) -> Explained:
    """The verdicts on *address*, sorted by kind."""
    found = [verdict for verdict in verdicts if verdict is not None]
    return Explained(
        address,
        acting=tuple(each for each in found if isinstance(each, Acts)),
        near=tuple(each for each in found if isinstance(each, NearMiss)),
        untold=tuple(each for each in found if isinstance(each, Untold)),
    )


def judged(
    rule: Rule, address: Address, groups: Groups | None = None, may_hold: MayHold | None = None
) -> Acts | Untold | None:
    """What *rule* does to *address*: None where no condition of it holds. *may_hold*: the only pairs that are tried."""
    every = tuple(enumerate(rule.pairs or (), start=1)) if may_hold is None else ()
    may_hold = may_hold or (lambda _: every)
    hits, untold = _tried(rule, may_hold(address), address)
    if not hits:
        return untold
    first = hits[0]
    pairs = [each.pair for each in hits]
    untried = (UNTRIED.format(untold.pair, untold.why),) if untold is not None else ()
    unknown = (*_filters(pairs), *_silent(rule, groups), *untried)
    acts = Acts(
        rule,
        first.number,
        first.tested,
        first.hit.captures,
        off=_off(rule, address, groups),
        notes=(*unknown, *_read_otherwise(pairs)),
        depends=bool(unknown),
    )
    try:
        return effect(acts, hits, address, may_hold)
    except CannotTell as error:
        return Untold(rule, first.number, error.words)


def _tried(rule: Rule, pairs: Iterable[tuple[int, Pair]], address: Address) -> tuple[Hits, Untold | None]:
    """Those of *pairs* that hold, and the first one that cannot be tried."""
    hits, untold = [], None
    for number, pair in pairs:
        try:
            found = holding(rule.rule_type, number, pair, address)
        except NeverHolds:
            continue
        except CannotTell as error:
            untold = untold or Untold(rule, number, error.words)
            continue
        if found is not None:
            hits.append(found)
    return hits, untold


def left_alone(address: Address) -> str:
    """The text in *address* for which no engine touches it; empty where they do."""
    return next((text for text in LEFT_ALONE if text in address.full), "")


def _off(rule: Rule, address: Address, groups: Groups | None) -> str:
    off = "" if rule.active else f"the rule is {rule.status or 'without a status'}"
    if why := ", and ".join(filter(None, (off, held_back(rule, groups)))):
        return why
    text = left_alone(address)
    return f"no engine touches an address with {text} in it" if text else ""


def _silent(rule: Rule, groups: Groups | None) -> tuple[str, ...]:
    """That nobody says whether the rule's group is in force, where it has one."""
    known = groups is not None or not rule.active or not rule.group_id
    return () if known else (f"it acts only if its group {rule.group_id} is on, which the service does not tell",)


def _filters(pairs: Iterable[Pair]) -> tuple[str, ...]:
    """Conditions that depend on the page, the method or the payload, which an address alone does not tell."""
    found = [(pair.source.model_extra or {}).get("filters") for pair in pairs if pair.source is not None]
    names = sorted({name for filters in found for name in filters_of(filters)})
    return (f"only where its filters fit as well: {', '.join(names)}",) if names else ()


def _read_otherwise(pairs: Iterable[Pair]) -> tuple[str, ...]:
    """Where the engines read a condition in two ways."""
    notes = []
    for source in (pair.source for pair in pairs if pair.source is not None):
        if source.key == "path":
            notes.append(f"{ENGINES_DIFFER}: the compiled form in the extension does not look at the path")
        odd = MEANT_OTHERWISE.get(source.operator or "")
        if odd is not None and (found := odd.search(source.value or "")) is not None:
            notes.append(f"{ENGINES_DIFFER}: the extension gives {found[0]} in the source a meaning of its own")
    return tuple(dict.fromkeys(notes))


def filters_of(filters: Any) -> Iterator[str]:
    """The names of the filters that are set, in whichever of their shapes they come."""
    for each in filters if isinstance(filters, list) else [filters]:
        if isinstance(each, Mapping):
            yield from (str(name) for name, value in each.items() if value)
