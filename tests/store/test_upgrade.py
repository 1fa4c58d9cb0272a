"""D6: a database of an older release, with changes in every state, is brought to this one; each goes on as its state says."""

from __future__ import annotations

import json
from datetime import timedelta
from itertools import count
from pathlib import Path
from typing import Any, Final

import pytest
import sqlalchemy as sa
from alembic import command
from alembic.config import Config

import bot.store.migrations
from bot.changes.deciding import Decision
from bot.domain.change import State
from bot.store.engine import upgrade
from bot.store.session import make_engine
from bot.store.tables import micros
from tests.changes.world import ALICE, OPS, POLICIES, World, a_world, replica, rule
from tests.clocks import EPOCH
from tests.databases import BOTH

pytestmark = [
    pytest.mark.slow,
    pytest.mark.parametrize("empty_database", BOTH, indirect=True),
    pytest.mark.parametrize("revision", ["0001", "0002", "0003", "0004", "0005", "0006", "0007", "0008"]),
]
THEN: Final = (
    "proposed",
    "approved",
    "applying",
    "applied",
    "failed",
    "unknown",
    "stale",
    "cancelled",
    "denied",
    "expired",
)
"""The states that those releases knew."""


async def brought_to(database_url: str, revision: str) -> None:
    """The schema as the release of *revision* left it."""
    config = Config()
    config.set_main_option("script_location", str(Path(bot.store.migrations.__file__).parent))

    def run(connection: sa.Connection) -> None:
        config.attributes["connection"] = connection
        command.upgrade(config, revision)

    engine = make_engine(database_url)
    async with engine.begin() as connection:
        await connection.run_sync(run)
    await engine.dispose()


def key_of(state: str) -> str:
    return f"Redirect_{state}"


def document(number: int, state: str, revision: str) -> dict[str, Any]:
    """A change as those releases wrote it: a rename; *undoes* and *undone_by* came with 0002."""
    decided = None if state in {"proposed", "expired"} else "2026-11-21T02:59:30Z"
    held = state in {"applying", "unknown", "applied", "failed", "stale"}
    undo = {"undoes": None, "undone_by": None} if revision > "0001" else {}
    return {
        "id": f"{number:032x}",
        "kind": "rule.update",
        "target": {"service": "rules", "site": None, "key": key_of(state)},
        "before": rule(state) | {"id": key_of(state)},
        "after": rule(state) | {"name": "Renamed"},
        "requester": ALICE,
        "channel": OPS,
        "reason": "",
        "guard": "confirm",
        "state": state,
        "created": "2026-11-21T02:59:00Z",
        "expires": "2026-11-22T02:59:00Z",
        "decided_by": decided and ALICE,
        "decided_at": decided,
        "finished_at": "2026-11-21T02:59:40Z" if held and state != "applying" else None,
        "outcome": "",
        "refusal": None,
        "result": rule(state) | {"id": key_of(state), "name": "Renamed"} if state == "applied" else None,
        "attempt": int(held),
        **undo,
        "quiet_refusal": False,
    }


def searched_by(row: dict[str, Any], held: dict[str, Any], state: str) -> dict[str, Any]:
    """The columns that came with 0003."""
    found = {name: held[name] for name in ("requester", "channel")}
    return found | {"undoable": state == "applied", "due": row["created"]}


async def written(database_url: str, revision: str) -> None:
    """A change in every state, each with a card that is owed; by SQL, as that release would have."""
    engine = make_engine(database_url)
    async with engine.begin() as connection:
        for number, state in enumerate(THEN, 1):
            held = document(number, state, revision)
            row = {
                "id": held["id"],
                "origin": f"origin {number}",
                "target": f"rules/{key_of(state)}",
                "state": state,
                "document": json.dumps(held),
                "created": micros(EPOCH - timedelta(minutes=1)),
                "attempt": held["attempt"],
                "owner": "of then" if held["attempt"] else None,
                "lease": micros(EPOCH) if held["attempt"] else None,
            }
            row |= searched_by(row, held, state) if revision > "0002" else {}
            names = ", ".join(row)
            values = ", ".join(f":{name}" for name in row)
            await connection.execute(sa.text(f"INSERT INTO changes ({names}) VALUES ({values})"), row)  # noqa: S608
            await connection.execute(
                sa.text("INSERT INTO outbox VALUES (:id, 'card', 1, 0, :created, 0, NULL, NULL, '')"),
                {"id": row["id"], "created": row["created"]},
            )
            if state == "proposed" and revision > "0002":
                due = micros(EPOCH - timedelta(minutes=1) + timedelta(hours=24))
                timer = sa.text("INSERT INTO timers VALUES (:id, 'expire', :due, 0, NULL, NULL)")
                await connection.execute(timer, {"id": row["id"], "due": due})
    await engine.dispose()


def prepare(world: World) -> None:
    """The service as it was left: what is applied is there, of what is unknown the write came true, of others not."""
    world.policy = POLICIES["confirm"]
    world.services.rules.stage.calls.clear()
    for state in THEN:
        name = "Renamed" if state in {"applied", "unknown"} else state
        world.services.rules.put(rule(state) | {"id": key_of(state), "name": name})


ENDS: Final = {"proposed": "proposed", "approved": "applied", "applying": "applied", "unknown": "applied"}
"""What becomes of those that were not at their end, by themselves and at once."""


@pytest.mark.threat("D6")
async def test_every_row_goes_on_as_its_state_says(empty_database: str, revision: str) -> None:
    await brought_to(empty_database, revision)
    await written(empty_database, revision)

    await upgrade(empty_database)
    await upgrade(empty_database)

    async with a_world(empty_database) as world:
        prepare(world)
        world.clock.moment += timedelta(seconds=1)
        mine = replica(world, "mine", count(100))
        for number, state in enumerate(THEN, 1):
            change = await mine.pipeline.get(f"{number:032x}")
            was = document(number, state, revision)
            assert change.state == state
            assert {name: value for name, value in change.model_dump(mode="json").items() if name in was} == was

        while await mine.pipeline.recover_one():
            pass

        counts = {state: await state_of(world, number) for number, state in enumerate(THEN, 1)}
        assert counts == {state: ENDS.get(state, state) for state in THEN}
        assert [call.method for call in world.services.rules.calls() if call.method != "GET"] == ["PUT", "PUT"]
        while await mine.outbox.deliver_one():
            pass
        assert set(world.cards) == {f"{number:032x}" for number in range(1, len(THEN) + 1)}
        assert await world.store.audit.verify() is None


async def state_of(world: World, number: int) -> State:
    found = await world.store.changes.get(f"{number:032x}")
    assert found is not None
    return found.state


async def test_an_open_request_may_still_be_decided_and_what_was_done_be_taken_back(
    empty_database: str, revision: str
) -> None:
    await brought_to(empty_database, revision)
    await written(empty_database, revision)
    async with a_world(empty_database) as world:
        prepare(world)
        mine = replica(world, "mine", count(100))

        done = await mine.pipeline.decide(f"{1:032x}", Decision.CONFIRM, ALICE)
        assert done.state is State.APPLIED
        found = await world.store.changes.undoable(ALICE, OPS)
        assert found is not None
        asked = await mine.pipeline.undo(await mine.pipeline.get(f"{4:032x}"), by=ALICE, channel=OPS)
        assert (await mine.pipeline.decide(asked.id, Decision.CONFIRM, ALICE)).state is State.APPLIED
        assert (world.services.rules.get(key_of("applied")) or {})["name"] == "applied"


@pytest.mark.threat("D6")
async def test_an_open_request_expires_as_it_was_said_to(empty_database: str, revision: str) -> None:
    await brought_to(empty_database, revision)
    await written(empty_database, revision)
    async with a_world(empty_database) as world:
        prepare(world)
        mine = replica(world, "mine", count(100))

        assert not await mine.timers.run_one()
        world.clock.moment = EPOCH + timedelta(hours=24)
        while await mine.timers.run_one():
            pass

        assert await state_of(world, 1) is State.EXPIRED
