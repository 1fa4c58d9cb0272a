"""Where a story may be played: over which transport, and on which database.

A run plays all stories in one place, as its options say; or, with ``--day N``, each in another of the four places, so that
on four days in a row every story has been in all of them.
"""

from __future__ import annotations

import os
import zlib
from itertools import product
from typing import Final, NamedTuple

import pytest

from sandbox.demo import Transport


class Place(NamedTuple):
    transport: Transport
    database: str


TRANSPORTS: Final[tuple[Transport, ...]] = ("http", "socket")
DATABASES: Final = ("sqlite", "postgres")
PLACES: Final = tuple(Place(*each) for each in product(TRANSPORTS, DATABASES))
PLACE: Final = pytest.StashKey[Place]()
ELSEWHERE: Final = ("slow", "browser", "drill", "postgres")
"""Marks of tests that have a place of their own, or take long."""


def pytest_addoption(parser: pytest.Parser) -> None:
    choices = {"transport": TRANSPORTS, "database": DATABASES}
    says = {
        "transport": "how the local Slack reaches the bot of the fixture `workspace`: signed HTTP or Socket Mode",
        "database": "what the bot in the fixture `workspace` keeps its records in",
    }
    for name, of_it in choices.items():
        default = os.environ.get(name.upper(), of_it[0])
        parser.addoption(f"--{name}", choices=of_it, default=default, help=says[name])
    parser.addoption("--day", type=int, help="play each story in another of the four places, by this number")


def place_on(day: int, name: str) -> Place:
    """The place on *day* of the test that has this *name*."""
    return PLACES[(zlib.crc32(name.encode()) + day) % len(PLACES)]


@pytest.fixture
def surroundings(request: pytest.FixtureRequest) -> Place:
    """Where the test is to be played."""
    item: pytest.Item = request.node
    option = request.config.getoption
    return item.stash.get(PLACE, Place(*(option(f"--{name}") for name in Place._fields)))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """On a day, leave the stories that can be played anywhere, each in its place; the others are in both lanes already."""
    if (day := config.getoption("--day")) is None:
        return
    left = [item for item in items if not _is_played_anywhere(item)]
    config.hook.pytest_deselected(items=left)
    items[:] = [item for item in items if _is_played_anywhere(item)]
    for item in items:
        item.stash[PLACE] = place_on(day, item.nodeid)


def _is_played_anywhere(item: pytest.Item) -> bool:
    chosen = getattr(item, "callspec", None)
    has_place = chosen is not None and {"transport", "database_url"} & chosen.params.keys()
    is_elsewhere = any(item.get_closest_marker(mark) for mark in ELSEWHERE)
    return "workspace" in getattr(item, "fixturenames", ()) and not has_place and not is_elsewhere


def pytest_report_header(config: pytest.Config) -> str | None:
    if (day := config.getoption("--day")) is None:
        return None
    return f"each story in its place on day {day}: `make test-places DAY={day}` plays the same"
