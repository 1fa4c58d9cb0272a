"""Spans as people write them, there and back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.text.duration import in_words, seconds_of


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("30m", 1800),
        ("2h", 7200),
        ("1h30m", 5400),
        ("7d", 604_800),
        ("2w", 1_209_600),
        (" 2 H".replace(" ", ""), 7200),
        (" 2h ", 7200),
        ("1week2days3hours4minutes", 604_800 + 2 * 86_400 + 3 * 3600 + 240),
        ("90min", 5400),
        ("2h30", 9000),
        ("1.5h", 5400),
        ("an hour", 3600),
        ("half an hour", 1800),
        ("an hour and a half", 5400),
        ("two hours and 10 minutes", 7800),
        ("a week", 604_800),
        *[(text, 0) for text in ("", "0m", "2", "h", "2 h 3", "30m2h", "-2h", "2.4h", "²h", "٣h", "2h!", "99999h")],
    ],
)
def test_a_span_is_read_or_is_none(text: str, seconds: int) -> None:
    assert seconds_of(text) == seconds


@given(st.text(max_size=30))
def test_no_text_makes_it_fail(text: str) -> None:
    assert seconds_of(text) >= 0


@given(*[st.integers(0, 9999)] * 4)
def test_the_parts_add_up(weeks: int, days: int, hours: int, minutes: int) -> None:
    whole = weeks * 604_800 + days * 86_400 + hours * 3600 + minutes * 60

    assert seconds_of(f"{weeks}w{days}d{hours}h{minutes}m") == whole


@given(st.integers(1, 60 * 24 * 9000))
def test_what_is_said_is_never_more_and_short_by_less_than_its_smallest_unit(minutes: int) -> None:
    said = in_words(minutes * 60)
    read = seconds_of("".join(part.strip() for part in said.replace(" min", "m").replace(" ", "")))

    assert read <= minutes * 60
    assert minutes * 60 - read < (3600 if " d" in said else 60)


@pytest.mark.parametrize(("seconds", "said"), [(-5, "less than a minute"), (29, "less than a minute"), (90, "2 min")])
def test_the_shortest(seconds: float, said: str) -> None:
    assert in_words(seconds) == said
