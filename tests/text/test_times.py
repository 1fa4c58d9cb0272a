"""Spans and times as people say them; ``02:50`` is the next time that clocks show it, also when they are set that night."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.text.times import duration_words, parse_time, seconds_of
from bot.text.wall_times import WallTime, next_time

MINUTE = timedelta(minutes=1)
WALLS = [(1, 30), (1, 50), (2, 0), (2, 20), (2, 50), (3, 0)]


def first_shown(hour: int, minute: int, zone: ZoneInfo, now: datetime) -> datetime:
    """Found by looking at the clock each minute."""
    moment = now.replace(second=0) + MINUTE
    while (moment.astimezone(zone).hour, moment.astimezone(zone).minute) != (hour, minute):
        moment += MINUTE
    return moment


@pytest.mark.parametrize(
    ("name", "midnight"),
    [("Europe/Berlin", "2026-10-24T22:00"), ("Australia/Lord_Howe", "2026-04-04T13:00"), ("UTC", "2026-10-25T00:00")],
)
def test_it_is_the_next_time_that_clocks_show_it_in_the_night_in_which_they_are_set_back(
    name: str, midnight: str
) -> None:
    zone = ZoneInfo(name)
    for minutes in range(0, 5 * 60, 10):
        now = datetime.fromisoformat(midnight).replace(tzinfo=UTC, second=30) + minutes * MINUTE
        for wall in WALLS:
            assert next_time(WallTime(*wall), zone, now) == first_shown(*wall, zone, now), (now, wall)


@pytest.mark.parametrize(
    ("now", "wanted"),
    [
        ("2026-03-29T00:10", "2026-03-29T01:50"),  # 01:10, fifty minutes before 02:00 becomes 03:00
        ("2026-03-29T01:10", "2026-03-29T01:50"),  # 03:10
        ("2026-03-29T01:50", "2026-03-30T00:50"),  # 03:50, which is that moment
        ("2026-03-28T01:40", "2026-03-28T01:50"),  # the night before
        ("2026-03-28T01:50", "2026-03-29T01:50"),
    ],
)
def test_a_time_that_clocks_leave_out_is_when_they_would_have_shown_it(now: str, wanted: str) -> None:
    found = next_time(WallTime(2, 50), ZoneInfo("Europe/Berlin"), datetime.fromisoformat(now).replace(tzinfo=UTC))

    assert found == datetime.fromisoformat(wanted).replace(tzinfo=UTC)


def wall_time(text: str) -> WallTime | None:
    """The end that *text* is after ``until``."""
    words = ["until", *text.split()]
    found = parse_time(words, 0)
    return found.wall if found and found.count == len(words) else None


NOW = datetime(2026, 11, 21, 22, 40, tzinfo=UTC)
"""A Saturday, 23:40 in Berlin."""


@pytest.mark.parametrize(
    ("text", "there"),
    [
        ("8am", "2026-11-22 08:00"),
        ("8:30 pm", "2026-11-22 20:30"),
        ("12am", "2026-11-22 00:00"),
        ("12pm", "2026-11-22 12:00"),
        ("18:00", "2026-11-22 18:00"),
        ("23:50", "2026-11-21 23:50"),
        ("today 23:50", "2026-11-21 23:50"),
        ("tomorrow", "2026-11-22 09:00"),
        ("tomorrow 9:30", "2026-11-22 09:30"),
        ("tomorrow at 5pm", "2026-11-22 17:00"),
        ("5pm tomorrow", "2026-11-22 17:00"),
        ("tomorrow morning", "2026-11-22 09:00"),
        ("Monday", "2026-11-23 09:00"),
        ("next Mon 7:15", "2026-11-23 07:15"),
        ("Saturday", "2026-11-28 09:00"),
        ("next week", "2026-11-23 09:00"),
        ("noon", "2026-11-22 12:00"),
        ("EOD", "2026-11-22 00:00"),
        ("the end of the day", "2026-11-22 00:00"),
    ],
)
def test_a_time_is_the_next_one_on_the_clock_of_whoever_says_it(text: str, there: str) -> None:
    wall, berlin = wall_time(text), ZoneInfo("Europe/Berlin")

    found = next_time(wall, berlin, NOW) if wall else None

    assert found is not None
    assert f"{found.astimezone(berlin):%Y-%m-%d %H:%M}" == there


@pytest.mark.parametrize(
    "text",
    [
        "",
        "8",
        "25:00",
        "13pm",
        "0am",
        "today",
        "Monday Tuesday",
        "2026-02-30",
        "soon",
        "at",
        "8am 9am",
        "10.12",
        "until",
    ],
)
def test_what_could_be_several_times_or_none_is_not_guessed(text: str) -> None:
    assert wall_time(text) is None


@pytest.mark.parametrize("text", ["today 8:00", "2026-11-20", "2020-01-01 10:00"])
def test_what_is_past_is_no_time(text: str) -> None:
    wall = wall_time(text)

    assert wall is not None
    assert next_time(wall, ZoneInfo("Europe/Berlin"), NOW) is None


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
        *[(text, 0) for text in ("", "0m", "2", "h", "2 h 3", "30m2h", "-2h", "2.4h", "²h", "٣h", "2h%", "99999h")],
    ],
)
def test_a_span_is_read_or_is_none(text: str, seconds: int) -> None:
    assert seconds_of(text) == seconds


@given(st.text(max_size=30))
def test_no_text_makes_reading_a_span_fail(text: str) -> None:
    assert seconds_of(text) >= 0


@given(*[st.integers(0, 9999)] * 4)
def test_the_parts_of_a_span_add_up(weeks: int, days: int, hours: int, minutes: int) -> None:
    whole = weeks * 604_800 + days * 86_400 + hours * 3600 + minutes * 60

    assert seconds_of(f"{weeks}w{days}d{hours}h{minutes}m") == whole


@given(st.integers(1, 60 * 24 * 9000))
def test_a_span_in_words_is_never_more_and_short_by_less_than_its_smallest_unit(minutes: int) -> None:
    said = duration_words(minutes * 60)
    read = seconds_of("".join(part.strip() for part in said.replace(" min", "m").replace(" ", "")))

    assert read <= minutes * 60
    assert minutes * 60 - read < (3600 if " d" in said else 60)


@pytest.mark.parametrize(("seconds", "said"), [(-5, "less than a minute"), (29, "less than a minute"), (90, "2 min")])
def test_the_shortest_spans_in_words(seconds: float, said: str) -> None:
    assert duration_words(seconds) == said
