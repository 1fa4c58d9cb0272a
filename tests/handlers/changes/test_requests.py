"""``until 02:50`` is the next time that clocks show 02:50, also in the nights in which they are set."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from handlers.changes.requests import next_at

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
            assert next_at(*wall, zone, now) == first_shown(*wall, zone, now), (now, wall)


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
    found = next_at(2, 50, ZoneInfo("Europe/Berlin"), datetime.fromisoformat(now).replace(tzinfo=UTC))

    assert found == datetime.fromisoformat(wanted).replace(tzinfo=UTC)
