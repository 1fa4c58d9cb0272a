"""Whatever stands anywhere in a policy, it is taken or refused in words: nobody meets a traceback."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator
from copy import deepcopy
from datetime import UTC, date, datetime, time
from pathlib import Path
from typing import Any, Final

import pytest

from bot.policy.file import BadPolicy, read_policy

ROOT: Final = Path(__file__).parents[2]
EXAMPLES: Final = [
    tomllib.loads(block)
    for block in re.findall(r"```toml\n(.*?)```", (ROOT / "docs" / "policy.md").read_text(), re.DOTALL)
]
ODD: Final[tuple[Any, ...]] = (
    *(0, -1, 1.5, float("inf"), 2**70, True),
    *("", "x", "Berlin", "é" * 300, "\u202e", "a\nb", "*", "{0}", "4h", "-4h", "99999999999h", "/rules", "/rules off"),
    *([], {}, [""], [1], [[]], {"a": 1}),
    *(datetime(1, 1, 1), datetime(9999, 12, 31, 23, 59, tzinfo=UTC), date(2026, 1, 1), time(1, 2)),  # noqa: DTZ001  as in TOML
)

PYDANTIC: Final = re.compile("(: |; )(Input should|Value error|String should|Field required|[A-Z][a-z]+ input)")
"""How its own words begin, which are for programmers."""


def places(value: Any, place: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Yield the place of every value below *value*."""
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, child in children:
        yield (*place, key)
        yield from places(child, (*place, key))


def with_odd(policy: Any, place: tuple[str | int, ...], odd: Any) -> Any:
    changed = holder = deepcopy(policy)
    for key in place[:-1]:
        holder = holder[key]
    holder[place[-1]] = odd
    return changed


def toml(value: Any) -> str:
    match value:
        case dict():
            return "{" + ", ".join(f"{json.dumps(key)} = {toml(each)}" for key, each in value.items()) + "}"
        case list():
            return f"[{', '.join(map(toml, value))}]"
        case bool() | str():
            return json.dumps(value)
        case int() | float():
            return repr(value)
        case _:
            return str(value.isoformat())


@pytest.mark.parametrize("example", EXAMPLES, ids="+".join)
def test_an_odd_value_is_taken_or_refused_in_words(example: dict[str, Any], tmp_path: Path) -> None:
    file = tmp_path / "policy.toml"
    refused: list[str] = []
    for place in places(example):
        for odd in ODD:
            policy = with_odd(example, place, odd)
            file.write_text("".join(f"{json.dumps(name)} = {toml(value)}\n" for name, value in policy.items()))
            try:
                read_policy(str(file))
            except BadPolicy as error:
                refused.append(str(error))

    assert len(refused) > len(ODD)
    assert all(str(file) in text and PYDANTIC.search(text) is None for text in refused)
