"""D9: whoever alters, drops, inserts or swaps a row of the audit, or cuts off its end, is found, and where."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from datetime import timedelta

import pytest
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.store.audit import Entry, Event, Filters, Flaw
from bot.store.engine import Store, open_store
from bot.store.tables import audit, audit_head, metadata
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


async def test_many_who_write_at_once_make_one_chain(store: Store, database_url: str, clock: StandingClock) -> None:
    async with open_store(database_url, now=clock) as another:
        await asyncio.gather(*(append((store, another)[number % 2], number) for number in range(100)))

    found = [entry async for entry in store.audit.all(Filters())]
    assert await store.audit.verify() is None
    assert [entry.seq for entry in found] == list(range(1, 101))
    assert {entry.detail["number"] for entry in found} == set(range(100))
    assert await store.audit.head() == (100, found[-1].hash)


async def test_what_was_rolled_back_is_no_part_of_it(chain: Store) -> None:
    with suppress(RuntimeError):
        async with chain.transaction() as tx:
            await chain.audit.append(tx, Event("applied", "U1", "C1"))
            raise RuntimeError
    assert (await chain.audit.head())[0] == MANY
    await append(chain, 99)

    assert await chain.audit.verify() is None
    assert (await chain.audit.head())[0] == MANY + 1


async def found_after(store: Store, *statements: sa.Executable) -> Flaw | None:
    async with store.transaction() as tx:
        for statement in statements:
            await tx.execute(statement)
    return await store.audit.verify()


@pytest.mark.slow
@pytest.mark.threat("D9")
@pytest.mark.parametrize("seq", [1, 6, MANY])
@pytest.mark.parametrize("column", [column.name for column in audit.columns if column.name != "seq"])
async def test_an_altered_column_is_found_in_its_row(chain: Store, column: str, seq: int) -> None:
    value: object = 7 if column == "at" else "altered"

    flaw = await found_after(chain, sa.update(audit).where(audit.c.seq == seq).values({column: value}))

    assert flaw is not None
    assert flaw.seq == seq


@pytest.mark.threat("D9")
@pytest.mark.parametrize(("seq", "words"), [(1, "missing"), (6, "missing"), (MANY, "cut off")])
async def test_a_dropped_row_is_missed(chain: Store, seq: int, words: str) -> None:
    flaw = await found_after(chain, sa.delete(audit).where(audit.c.seq == seq))

    assert flaw is not None
    assert flaw.seq == seq
    assert words in flaw.words


@pytest.mark.parametrize("kept", [0, 1, 6, MANY - 1])
async def test_an_end_that_was_cut_off_is_missed(chain: Store, kept: int) -> None:
    flaw = await found_after(chain, sa.delete(audit).where(audit.c.seq > kept))

    assert flaw is not None
    assert flaw.seq == kept + 1
    assert f"the head is entry {MANY}" in flaw.words


async def test_a_head_that_was_cut_back_with_the_end_is_missed_by_whoever_wrote_the_head_down(chain: Store) -> None:
    written_down = await chain.audit.head()
    last = (await chain.audit.find(Filters(), 2))[1]
    head = sa.update(audit_head).values(seq=MANY - 1, hash=last.hash)

    assert await found_after(chain, sa.delete(audit).where(audit.c.seq == MANY), head) is None
    assert await chain.audit.head() != written_down


@pytest.mark.threat("D9")
@pytest.mark.parametrize("first", [1, 6, MANY - 1])
async def test_swapped_rows_are_found_at_the_first(chain: Store, first: int) -> None:
    numbers = [(first, 900), (first + 1, first), (900, first + 1)]

    flaw = await found_after(
        chain, *(sa.update(audit).where(audit.c.seq == old).values(seq=new) for old, new in numbers)
    )

    assert flaw is not None
    assert flaw.seq == first


async def _copy(tx: AsyncConnection, of: int, to: int) -> None:
    row = (await tx.execute(sa.select(audit).where(audit.c.seq == of))).mappings().one()
    await tx.execute(sa.insert(audit).values({**row, "seq": to}))


@pytest.mark.threat("D9")
@pytest.mark.parametrize(("of", "to"), [(6, 0), (6, MANY + 1), (MANY, MANY + 1), (1, MANY + 2)])
async def test_an_inserted_row_is_found(chain: Store, of: int, to: int) -> None:
    async with chain.transaction() as tx:
        await _copy(tx, of, to)

    flaw = await chain.audit.verify()

    assert flaw is not None
    assert flaw.seq in {to, MANY + 1}


async def test_a_row_inserted_in_the_middle_is_found_where_it_is(chain: Store) -> None:
    async with chain.transaction() as tx:
        for seq in range(MANY, 5, -1):
            await tx.execute(sa.update(audit).where(audit.c.seq == seq).values(seq=seq + 1))
        await _copy(tx, 5, 6)

    flaw = await chain.audit.verify()

    assert flaw is not None
    assert flaw.seq == 6


async def test_an_empty_chain_is_whole(store: Store) -> None:
    assert await store.audit.verify() is None
    assert (await store.audit.head())[0] == 0


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

    assert [entry.seq for entry in exported] == list(wanted)
    assert list(await chain.audit.find(filters, 3)) == exported[::-1][:3]
    assert all(entry.dump()["at"] == entry.at.isoformat() for entry in exported)


async def test_an_export_goes_on_over_many_portions(store: Store) -> None:
    async with store.transaction() as tx:
        await store.audit.append(tx, *(Event("applied", "U1", "C1") for _ in range(1201)))

    assert [entry.seq async for entry in store.audit.all(Filters())] == list(range(1, 1202))
    assert await store.audit.verify() is None


async def test_every_column_is_sealed(chain: Store) -> None:
    """So that a column that is added one day is not forgotten."""
    assert {column.name for column in metadata.tables["audit"].columns} == {
        *("seq", "at", "event", "change_id", "target", "actor", "channel", "permalink", "detail", "hash")
    }


async def test_a_target_is_found_whatever_the_case(store: Store) -> None:
    await append(store, 1, target="members/blog/Anna.Berg@example.com", change_id="abab")
    await append(store, 2, target="members/blog/annaxberg@example.com")

    for ref in ("anna.berg@EXAMPLE.com", "ABAB"):
        assert [entry.seq async for entry in store.audit.all(Filters(ref=ref))] == [1]


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
