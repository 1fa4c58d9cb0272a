"""One record of a file as the draft of a rule, or why it cannot be one: the same models as everywhere else."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from pydantic import ValidationError

from bot.domain.rule import RuleDraft

MOST_DEEP: Final = 40
"""Levels of lists and objects in one rule; real ones have about seven."""


@dataclass(frozen=True, slots=True)
class NoObject:
    """A text, a number or a list where a rule should be."""


@dataclass(frozen=True, slots=True)
class TooDeep:
    """Lists within lists, deeper than any rule."""


@dataclass(frozen=True, slots=True)
class NotSendable:
    """It holds a number or a character that JSON cannot carry: infinite, or half of a pair of surrogates."""


@dataclass(frozen=True, slots=True)
class WrongField:
    """A field of another type than a rule has there. *pair* counts from 1 where it belongs to a pair."""

    field: str
    pair: int | None = None


Unfit: TypeAlias = NoObject | TooDeep | NotSendable | WrongField


FIRST_TYPES: Final = ("Redirect", "Cancel")
"""Types of rules that the product's first version wrote without pairs."""


def with_pairs(record: dict[str, Any]) -> dict[str, Any]:
    """Return *record* with pairs, where it has none and is in the form of the product's first version.

    That form has one source with several values, of which any will do, and one destination, beside the name.
    """
    source = record.get("source")
    if record.get("pairs") or record.get("ruleType") not in FIRST_TYPES or not isinstance(source, dict):
        return record
    values = source.get("values", source.get("value"))
    rest = {name: value for name, value in source.items() if name != "values"}
    leads = {name: record[name] for name in ("destination",) if name in record}
    found = values if isinstance(values, list) else [values]
    pairs = [{"source": rest | {"value": value}} | leads for value in found if isinstance(value, str)]
    kept = {name: value for name, value in record.items() if name not in {"source", "destination"}}
    return kept | {"pairs": pairs} if pairs else record


def fit_draft(record: Any) -> RuleDraft | Unfit:
    """*record* as a draft, with every field that it came with; or what is wrong with its shape."""
    if not isinstance(record, dict):
        return NoObject()
    if (unfit := _unfit(record)) is not None:
        return unfit
    try:
        return RuleDraft.model_validate(record)
    except ValidationError as error:
        return _wrong_field(error.errors(include_url=False, include_input=False)[0]["loc"])


def _unfit(record: dict[str, Any]) -> Unfit | None:
    """What stands in the way of sending it at all."""
    try:
        text = json.dumps(record, ensure_ascii=False, allow_nan=False)
        text.encode()
    except RecursionError:
        return TooDeep()
    except ValueError:
        return NotSendable()
    brackets = text.count("[") + text.count("{")  # a bound that spares nearly every rule the walk
    return TooDeep() if brackets > MOST_DEEP and _deeper_than(record, MOST_DEEP) else None


def _deeper_than(record: Any, most: int) -> bool:
    level = [record]
    for _ in range(most):
        level = [inner for outer in level for inner in _children(outer)]
        if not level:
            return False
    return True


def _children(value: Any) -> list[Any]:
    if isinstance(value, dict):
        value = list(value.values())
    return [inner for inner in value if isinstance(inner, dict | list)] if isinstance(value, list) else []


def _wrong_field(path: tuple[int | str, ...]) -> WrongField:
    if len(path) > 1 and path[0] == "pairs" and isinstance(path[1], int):
        return WrongField(".".join(map(str, path[2:])) or "pair", path[1] + 1)
    return WrongField(".".join(map(str, path)))
