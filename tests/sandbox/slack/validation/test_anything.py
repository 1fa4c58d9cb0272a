"""Whatever JSON an app sends, wherever: the judge answers, and is never at a loss."""

from __future__ import annotations

from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sandbox.slack.validation import check_message, check_options, check_view
from tests.sandbox.slack.validation.examples import SENDABLE, Key, place

NAMES: Final = sorted({name for key in SENDABLE for name in (*key.shape.must, *key.shape.may)} | {"type"})
TYPES: Final = sorted({key.name for key in SENDABLE})
JSON: Final = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.sampled_from(TYPES),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=4),
    max_leaves=12,
)


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(st.sampled_from(SENDABLE), st.data(), JSON)
def test_any_value_in_any_property_is_judged(key: Key, data: st.DataObject, value: Any) -> None:
    there = place(key)
    name = data.draw(st.sampled_from([*key.shape.must, *key.shape.may, "sparkle"]))
    there.thing[name] = value
    problems = there.problems()
    assert all(one.pointer.startswith("/") or one.pointer == "" for one in problems)
    assert name != "sparkle" or problems or key.name == "message"


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(JSON)
def test_anything_at_all_is_judged(value: Any) -> None:
    assert check_view(value)
    assert isinstance(check_message({"blocks": value}), list)
    assert isinstance(check_options(value), list)
