"""Times as people say them; ``02:50`` is the next time that clocks show it, also in the nights in which they are set."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from bot.text.times import WallTime, next_time, wall_time

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


NOW = datetime(2026, 11, 21, 22, 40, tzinfo=UTC)
"""A Saturday, 23:40 in Berlin."""


@pytest.mark.parametrize(
    ("said", "there"),
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
        ("2026-12-24", "2026-12-24 09:00"),
        ("2026-12-24 18:00", "2026-12-24 18:00"),
    ],
)
def test_a_time_is_the_next_one_on_the_clock_of_whoever_says_it(said: str, there: str) -> None:
    wall, berlin = wall_time(said), ZoneInfo("Europe/Berlin")

    found = next_time(wall, berlin, NOW) if wall else None

    assert found is not None
    assert f"{found.astimezone(berlin):%Y-%m-%d %H:%M}" == there


@pytest.mark.parametrize(
    "said",
    ["", "8", "25:00", "13pm", "0am", "today", "Monday Tuesday", "2026-02-30", "soon", "at", "8am 9am", "tonight"],
)
def test_what_could_be_several_times_or_none_is_not_guessed(said: str) -> None:
    assert wall_time(said) is None


@pytest.mark.parametrize("said", ["today 8:00", "2026-11-20", "2020-01-01 10:00"])
def test_what_is_past_is_no_time(said: str) -> None:
    wall = wall_time(said)

    assert wall is not None
    assert next_time(wall, ZoneInfo("Europe/Berlin"), NOW) is None
