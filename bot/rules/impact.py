"""What one change of a rule does to addresses that people know."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from bot.rules.matching import Match, judged
from bot.rules.model import Groups, Rule
from bot.rules.url import Address


@dataclass(frozen=True, slots=True)
class Fate:
    """What becomes of an address. *results*: where it may lead, in no promised order; empty where it stays."""

    blocked: bool = False
    results: tuple[str, ...] = ()
    touched: tuple[str, ...] = ()
    """Ids of rules that act on it in another way: headers, scripts, delays."""


@dataclass(frozen=True, slots=True)
class Difference:
    """An address that fares otherwise after the change."""

    address: str
    before: Fate
    after: Fate


@dataclass(frozen=True, slots=True)
class Impact:
    """Of *known* addresses, those that a change moves."""

    known: int
    shifts: tuple[Difference, ...]


def impact(
    rules: Sequence[Rule],
    before: Rule | None,
    after: Rule | None,
    addresses: Sequence[Address],
    groups: Groups | None = None,
) -> Impact:
    """What changing *before* to *after* among *rules* does to *addresses*; None: there is no such rule then."""
    gone = {rule.id for rule in (before, after) if rule is not None}
    others: list[Rule] | None = None
    shifts = []
    for address in addresses:
        if _alike(before, after, address, groups):
            continue
        others = [rule for rule in rules if rule.id not in gone] if others is None else others
        theirs = [acts for rule in others if (acts := _acts(rule, address, groups)) is not None]
        then, now = (_fate([*theirs, _acts(rule, address, groups)]) for rule in (before, after))
        if then != now:
            shifts.append(Difference(address.full, then, now))
    return Impact(len(addresses), tuple(shifts))


def _alike(before: Rule | None, after: Rule | None, address: Address, groups: Groups | None) -> bool:
    """Whether the rule does the same to *address* before and after: then the others need not be asked."""
    return _fate([_acts(before, address, groups)]) == _fate([_acts(after, address, groups)])


def _acts(rule: Rule | None, address: Address, groups: Groups | None) -> Match | None:
    found = judged(rule, address, groups) if rule is not None and rule.active else None
    return found if isinstance(found, Match) and not found.off else None


def _fate(acting: Iterable[Match | None]) -> Fate:
    acts = [each for each in acting if each is not None]
    results = {each.result for each in acts if each.result is not None}
    touched = {each.rule.id for each in acts if each.result is None and not each.blocks and not each.idle}
    return Fate(any(each.blocks for each in acts), tuple(sorted(results)), tuple(sorted(touched)))
