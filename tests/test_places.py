"""In four days every story has been in every place, and nothing is played twice in one."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.harness.places import PLACES, place_on


@given(st.text(), st.integers(min_value=0, max_value=100_000))
def test_four_days_in_a_row_are_four_places(name: str, day: int) -> None:
    assert {place_on(day + after, name) for after in range(len(PLACES))} == set(PLACES)


def test_a_day_has_stories_in_every_place() -> None:
    assert {place_on(0, f"tests/stories/test_{number}.py") for number in range(100)} == set(PLACES)
