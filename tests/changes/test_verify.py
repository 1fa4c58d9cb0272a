"""Whether a write came true is told by what it changed, also where it only took something away."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.changes.model import Change, Kind, Target
from bot.changes.verify import Document, Truth, verdict

PAIR = {"source": {"key": "Url", "operator": "Equals", "value": "https://a.example/", "filters": [{"m": "GET"}]}}
RULE = {"id": "Redirect_a", "name": "A", "description": "Do not touch", "groupId": "g1", "pairs": [PAIR]}


def without(document: Document, *path: str | int) -> Document:
    """A copy of *document* without the field at *path*."""
    name, *rest = path
    if not rest:
        return {key: value for key, value in document.items() if key != name}
    if isinstance(document, list):
        return [without(each, *rest) if number == name else each for number, each in enumerate(document)]
    return {key: without(value, *rest) if key == name else value for key, value in document.items()}


def update(before: Document | None, after: Document | None) -> Change:
    return Change(
        id="1" * 32,
        kind=Kind.RULE_UPDATE,
        target=Target(service="rules", key="Redirect_a"),
        before=before,
        after=after,
        requester="U0ALICE01",
        channel="C0OPS0001",
        created=datetime(2026, 11, 22, tzinfo=UTC),
    )


PATHS: list[tuple[str | int, ...]] = [("description",), ("groupId",), ("pairs", 0, "source", "filters")]


@pytest.mark.parametrize("path", PATHS, ids=str)
def test_a_field_that_is_only_taken_away_must_be_gone(path: tuple[str | int, ...]) -> None:
    after = without(RULE, *path)

    assert verdict(update(RULE, after), RULE).truth is Truth.NOT_DONE
    assert verdict(update(RULE, after), after).truth is Truth.DONE
    kept = RULE | {"name": "B"}
    assert verdict(update(RULE, after | {"name": "B"}), kept).truth is Truth.DIVERGED, "a service that merges keeps it"


documents = st.recursive(
    st.integers(0, 2), lambda inner: st.dictionaries(st.sampled_from("abc"), inner) | st.lists(inner, max_size=2)
)


@given(
    before=st.dictionaries(st.sampled_from("abc"), documents), after=st.dictionaries(st.sampled_from("abc"), documents)
)
def test_what_is_as_before_is_never_done_and_what_is_as_wanted_always_is(
    before: dict[str, Any], after: dict[str, Any]
) -> None:
    if before != after:
        assert verdict(update(before, after), before).truth is Truth.NOT_DONE
    assert verdict(update(before, after), after).truth is Truth.DONE


def test_fields_that_a_service_adds_are_no_sign_of_failure() -> None:
    after = RULE | {"name": "B"}

    assert verdict(update(RULE, after), after | {"colourOfTheirs": "red"}).truth is Truth.DONE
