"""Rules as a file: what the service gave, in the form that the real product's import takes."""

from __future__ import annotations

import json
from datetime import date
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bot.rules.files import export_lines, export_name
from bot.rules.model import Rule

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("abc"), inner, max_size=2),
    max_leaves=5,
)
UNKNOWN = st.dictionaries(st.sampled_from(["xOne", "xTwo", "version", "isFavourite"]), JSON, max_size=3)


@st.composite
def records(draw: st.DrawFn) -> dict[str, Any]:
    source = {"key": "Url", "operator": "Equals", "value": draw(st.text()), **draw(UNKNOWN)}
    pair = {"source": source, "destination": draw(st.text()), **draw(UNKNOWN)}
    return {"id": f"Redirect_{draw(st.integers(0, 10**6))}", "name": draw(st.text()), "pairs": [pair], **draw(UNKNOWN)}


@pytest.mark.slow
@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(records(), max_size=3))
def test_every_field_is_there_as_it_was_and_only_the_kind_is_added(found: list[dict[str, Any]]) -> None:
    content = b"".join(export_lines([Rule.model_validate(record) for record in found]))

    assert json.loads(content.decode("utf-8", "surrogatepass")) == [{**one, "objectType": "rule"} for one in found]


def test_what_says_its_kind_keeps_it() -> None:
    record = {"id": "Cancel_a1", "objectType": "a kind of its own"}

    assert json.loads(b"".join(export_lines([Rule.model_validate(record)]))) == [record]


def test_no_rules_are_an_empty_list() -> None:
    assert json.loads(b"".join(export_lines([]))) == []


def test_the_name_is_the_products_own() -> None:
    assert export_name(date(2026, 3, 7)) == "rules_2026-03-07.json"
