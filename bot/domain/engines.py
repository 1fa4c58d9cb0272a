"""The two engines that apply rules, and in which of them a pair holds for a URL.

The desktop app's proxy and the extension's page read some conditions in two ways. Everything else asks here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from bot.domain.address import Address
from bot.domain.condition import CannotTell, Hit, condition
from bot.domain.rule import Pair, Source


class Engine(StrEnum):
    """By the name that people know it by."""

    DESKTOP = "the desktop app"
    EXTENSION = "the extension"

    @property
    def other(self) -> Engine:
        return Engine.EXTENSION if self is Engine.DESKTOP else Engine.DESKTOP


BOTH: Final = frozenset(Engine)
ENGINES_DIFFER: Final = "the desktop app and the extension differ here"
SUBJECTS: Final = frozenset({"Url", "host", "path"})
EMPTY_IS_EVERY_URL: Final = frozenset({"Replace", "UserAgent"})
"""Rule types of which the desktop app skips the condition where its value is empty, whatever the operator."""


MayHold = Callable[[Address], Sequence[tuple[int, Pair]]]
"""The pairs of a rule that may hold for a URL, each with its number, in their order."""


@dataclass(frozen=True, slots=True)
class Holding:
    """A pair whose condition holds, with its number in the rule, and the engines in which it does."""

    number: int
    pair: Pair
    tested: str
    hit: Hit
    engines: frozenset[Engine] = BOTH


def holding(rule_type: str | None, number: int, pair: Pair, address: Address) -> Holding | None:
    """Return *pair* with what it caught, where its condition holds for *address* in an engine; raises CannotTell."""
    source = pair.source
    if source is None:
        raise CannotTell("it has no condition")
    tested = address.subject(source.key)
    if is_skipped(rule_type, source):
        contains = source.operator == "Contains" and tested is not None
        engines = BOTH if contains else frozenset({Engine.DESKTOP})
        return Holding(number, pair, tested or address.full, Hit(), engines - _without(source))
    if tested is None:
        return None
    hit = _bare_hit(source, tested) if is_bare(source) else condition(source.operator, source.value)(tested)
    if hit is None or not (engines := BOTH - _without(source)):
        return None
    return Holding(number, pair, tested, hit, engines)


def only_in(rule_type: str | None, source: Source) -> Engine | None:
    """Return the one engine in which *source* can hold; None where both read it alike, or neither lets it hold."""
    skipped = is_skipped(rule_type, source) and source.operator != "Contains"
    engines = (frozenset({Engine.DESKTOP}) if skipped else BOTH) - _without(source)
    return next(iter(engines)) if len(engines) == 1 else None


def holding_everywhere(rule_type: str | None, source: Source) -> frozenset[Engine]:
    """Return the engines in which *source* holds for every URL, as far as its text tells that at a glance."""
    open_to_all = {"Contains": not source.value, "Matches": source.value == "/.*/"}
    open_to_all["Wildcard_Matches"] = bool(source.value) and not (source.value or "").strip("*")
    plain = source.key in SUBJECTS and open_to_all.get(source.operator or "", False)
    skipped = frozenset({Engine.DESKTOP} if is_skipped(rule_type, source) else ())
    return (BOTH if plain else skipped) - _without(source)


def is_skipped(rule_type: str | None, source: Source) -> bool:
    """Whether the desktop app does not look at *source*, and so takes every URL."""
    return rule_type in EMPTY_IS_EVERY_URL and not source.value


def is_switched_off(source: Source) -> bool:
    """Whether *source* has the switch that only the extension's page looks at."""
    value: Any = (source.model_extra or {}).get("isActive")
    return value is not None and value in (False, "")


def _without(source: Source) -> frozenset[Engine]:
    """Return the engines in which *source* never holds though it is written well enough for the other."""
    desktop = {Engine.DESKTOP} if is_bare(source) else set()
    extension = {Engine.EXTENSION} if is_switched_off(source) else set()
    return frozenset(desktop | extension)


def is_bare(source: Source) -> bool:
    """Whether *source* is an expression without slashes around it, which the extension's page adds."""
    value = source.value or ""
    return source.operator == "Matches" and bool(value) and not value.startswith("/")


def _bare_hit(source: Source, text: str) -> Hit | None:
    """The page adds the slashes where it tests, but not where it fills in captures: ``$1`` stays."""
    return None if condition("Matches", f"/{source.value}/")(text) is None else Hit()
