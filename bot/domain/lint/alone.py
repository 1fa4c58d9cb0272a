"""What is wrong with one rule, whatever the others are."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from bot.domain.checks import is_destination
from bot.domain.condition import SLASHED, CannotTell
from bot.domain.engines import is_bare, is_switched_off, only_in
from bot.domain.lint.conditions import example, groups_of, never, untold
from bot.domain.lint.findings import Finding, Kind, Place, Why
from bot.domain.matching import replaced, replaced_in_the_extension
from bot.domain.rule import Pair, Rule, Source

NUMBER: Final = re.compile(r"\$([1-9])")
STAR: Final = "*"


def alone(rule: Rule) -> Iterator[Finding]:
    """Findings about *rule* by itself, pair by pair."""
    for number, pair in enumerate(rule.pairs or (), start=1):
        place = Place(rule, number)
        if pair.source is not None:
            yield from _condition(place, pair.source)
        if rule.rule_type == "Redirect":
            yield from _redirect(place, pair)
        if rule.rule_type == "Replace":
            yield from _replace(place, pair)


def _condition(place: Place, source: Source) -> Iterator[Finding]:
    rule_type = place.rule.rule_type
    if (found := never(rule_type, source)) is not None:
        yield Finding(Kind.NEVER, (place,), value=_at_fault(source), why=found.why, better=found.better)
    elif words := untold(source):
        yield Finding(Kind.UNTOLD, (place,), value=source.value or "", untold=words)
    elif (engine := only_in(rule_type, source)) is not None:
        yield Finding(Kind.ONE_ENGINE, (place,), value=_at_fault(source), why=_why_one(source), engine=engine)


def _why_one(source: Source) -> Why:
    """Why only one engine takes *source* as fulfilled."""
    return Why.SLASHES if is_bare(source) else Why.SWITCHED_OFF if is_switched_off(source) else Why.EMPTY


def _at_fault(source: Source) -> str:
    """The condition as one text: the same for the same condition, whichever pair it stands in."""
    return f"{source.key} {source.operator} {source.value or ''}"


def _redirect(place: Place, pair: Pair) -> Iterator[Finding]:
    text = (pair.destination or "").strip()
    if not text or not pair.leads_to_url:
        return
    if not is_destination(text):
        yield Finding(Kind.NO_ADDRESS, (place,), value=text)
    if pair.source is None:
        return
    groups = groups_of(pair.source)
    if groups is not None and any(int(number) > groups for number in NUMBER.findall(text)):
        yield Finding(Kind.NO_GROUP, (place,), value=text, better=str(groups))
    if _to_itself(pair.source, text):
        yield Finding(Kind.ITSELF, (place,), value=text)


def _to_itself(source: Source, destination: str) -> bool:
    """Whether whatever *source* matches is led to where it is already."""
    if source.key != "Url" or never("Redirect", source) is not None:
        return False
    if source.operator == "Equals":
        return source.value == destination
    if source.operator != "Wildcard_Matches" or not 0 < (source.value or "").count(STAR) < 10:
        return False
    head, *rest = (source.value or "").split(STAR)
    return destination == head + "".join(f"${number}{text}" for number, text in enumerate(rest, start=1))


def _replace(place: Place, pair: Pair) -> Iterator[Finding]:
    find, to = pair.find or "", pair.replacement or ""
    if find == to and not SLASHED.fullmatch(find):
        yield Finding(Kind.NO_EFFECT, (place,), value=find)
        return
    source = pair.source
    if source is None or source.key != "Url" or source.operator != "Equals":
        return
    if (only := example(source)) is None:
        return
    try:
        idle = replaced(pair, only.full) == replaced_in_the_extension(pair, only.full) == only.full
    except CannotTell:
        return
    if idle:
        yield Finding(Kind.NO_EFFECT, (place,), (only.full,), value=find)
