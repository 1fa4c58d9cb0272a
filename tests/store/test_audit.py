"""The audit has every event that was committed, and no other; so has the log."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from datetime import timedelta

import pytest
from structlog.testing import capture_logs

from bot.store.audit import Entry, Event, Filters
from bot.store.engine import Store, open_store
from tests.harness.clocks import StandingClock
from tests.harness.databases import BOTH

pytestmark = pytest.mark.parametrize("database_url", BOTH, indirect=True)
MANY = 12


async def append(store: Store, number: int, **more: str) -> None:
    said = {
        "event": "applied",
        "actor": f"U{number % 3}",
        "channel": "C1",
        "change_id": f"{number:04}",
        "target": "rules/R",
    }
    async with store.transaction() as tx:
        await store.audit.append(tx, Event(**(said | more), detail={"number": number, "text": "é\u202e<&>"}))


@pytest.fixture
async def chain(store: Store, clock: StandingClock) -> Store:
    """A store whose audit has some entries, a minute apart."""
    for number in range(1, MANY + 1):
        await append(store, number)
        clock.moment += timedelta(minutes=1)
    return store


async def test_many_who_write_at_once_lose_nothing(store: Store, database_url: str, clock: StandingClock) -> None:
    async with open_store(database_url, now=clock) as another:
        await asyncio.gather(*(append((store, another)[number % 2], number) for number in range(100)))

    found = [entry async for entry in store.audit.all(Filters())]
    assert {entry.detail["number"] for entry in found} == set(range(100))


@pytest.mark.threat("D9")
async def test_each_event_is_a_line_of_the_log_once_it_is_committed_and_only_then(store: Store) -> None:
    with capture_logs() as lines:
        with suppress(RuntimeError):
            async with store.transaction() as tx:
                await store.audit.append(tx, Event("denied", "U1", "C1"))
                raise RuntimeError
        async with store.transaction() as tx:
            await store.audit.append(tx, Event("approved", "U1", "C1"), Event("applied", "U2", "C1", target="rules/R"))
            assert lines == []

    assert [entry.event async for entry in store.audit.all(Filters())] == ["approved", "applied"]
    assert [(line["what"], line["actor"]) for line in lines] == [("approved", "U1"), ("applied", "U2")]
    assert lines[1]["target"] == "rules/R"


@pytest.mark.parametrize(
    ("filters", "wanted"),
    [
        (Filters(), range(1, MANY + 1)),
        (Filters(who="U1"), [1, 4, 7, 10]),
        (Filters(since=StandingClock().moment + timedelta(minutes=9)), [10, 11, 12]),
        (Filters(ref="0003"), [3]),
        (Filters(ref="001"), [10, 11, 12]),
        (Filters(ref="rules/R"), range(1, MANY + 1)),
        (Filters(ref="%"), []),
        (Filters(ref="_"), []),
        (Filters(who="U1", since=StandingClock().moment + timedelta(minutes=5), ref="000"), [7]),
        (Filters(who="u1"), []),
    ],
)
async def test_an_export_has_what_fits_oldest_first_and_a_look_the_newest(
    chain: Store, filters: Filters, wanted: list[int]
) -> None:
    exported: list[Entry] = [entry async for entry in chain.audit.all(filters)]

    assert [entry.detail["number"] for entry in exported] == list(wanted)
    assert list(await chain.audit.find(filters, 3)) == exported[::-1][:3]
    assert all(entry.dump()["at"] == entry.at.isoformat() for entry in exported)


async def test_an_export_goes_on_over_many_portions(store: Store) -> None:
    async with store.transaction() as tx:
        await store.audit.append(tx, *(Event("applied", "U1", "C1") for _ in range(1201)))

    assert len({entry.seq async for entry in store.audit.all(Filters())}) == 1201


async def test_a_target_is_found_whatever_the_case(store: Store) -> None:
    await append(store, 1, target="members/blog/Anna.Berg@example.com", change_id="abab")
    await append(store, 2, target="members/blog/annaxberg@example.com")

    for ref in ("anna.berg@EXAMPLE.com", "ABAB"):
        assert [entry.detail["number"] async for entry in store.audit.all(Filters(ref=ref))] == [1]


@pytest.mark.parametrize("name", ["Éclair", "éclair", "ÉCLAIR", "éCL", "50%_!"])
async def test_a_name_is_found_in_any_case(store: Store, name: str) -> None:
    for target, known in (
        ("rules/e", "Éclair promo"),
        ("rules/a", "Àclair promo"),
        ("rules/p", "50%_!"),
        ("rules/q", "50xy!"),
    ):
        async with store.transaction() as tx:
            await store.audit.append(
                tx, Event("applied", "U1", "C1", target=target, detail={"before": {"name": known}})
            )

    assert await store.audit.find_targets(name) == ["rules/p" if name.startswith("5") else "rules/e"]
