"""A change set that an older release left half done, in the middle of a part, is finished by this one."""

from __future__ import annotations

import json
from datetime import timedelta
from itertools import count
from typing import Any, Final

import pytest
import sqlalchemy as sa

from bot.domain.change_set import Outcome
from bot.store.engine import upgrade
from bot.store.session import make_engine
from bot.store.tables import micros
from tests.changes.world import ALICE, OPS, World, a_world, replica, rule
from tests.clocks import EPOCH
from tests.databases import BOTH
from tests.store.test_upgrade import brought_to

pytestmark = pytest.mark.slow

WHOLE: Final = f"{1:032x}"
PARTS: Final = {1: "applied", 2: "applying", 3: "waiting"}
"""What had become of each part."""


def thing(number: int) -> dict[str, Any]:
    return {
        "kind": "rule.update",
        "target": {"service": "rules", "site": None, "key": f"Redirect_part{number}"},
        "before": rule(f"Part {number}") | {"id": f"Redirect_part{number}"},
        "after": rule(f"Part {number}") | {"name": "Renamed"},
    }


def document(number: int, state: str, **more: Any) -> dict[str, Any]:
    """A change as those releases wrote it."""
    decided = {"decided_by": ALICE, "decided_at": "2026-11-21T02:59:30Z", "created": "2026-11-21T02:59:00Z"}
    about = {"requester": ALICE, "channel": OPS, "reason": "", "guard": "none", "quiet_refusal": False}
    return {"id": f"{number:032x}", "state": state, "attempt": 1, **about, **decided, **more}


def whole() -> dict[str, Any]:
    target = {"service": "rules", "site": None, "key": None}
    about = {"kind": "rule.update", "target": target, "before": None, "after": None}
    return document(1, "applying", **about, kinds=["rule.update"], size=len(PARTS), title="Rename 3 rules")


def rows() -> dict[str, list[dict[str, Any]]]:
    """What stood in each table, by SQL as that release would have written it."""
    begun = {number: outcome for number, outcome in PARTS.items() if outcome != "waiting"}
    documents = [whole()] + [
        document(number + 1, state, **thing(number), part_of=WHOLE, part_number=number) | _result(number, state)
        for number, state in begun.items()
    ]
    changes = [
        {
            "id": each["id"],
            "origin": f"origin {each['id']}",
            "target": f"rules/{each['target']['key']}" if each["target"]["key"] else "",
            "state": each["state"],
            "document": json.dumps(each),
            "created": micros(EPOCH - timedelta(minutes=1)),
            "attempt": 1,
            "owner": "of then",
            "lease": micros(EPOCH),
            "requester": ALICE,
            "channel": OPS,
            "undoable": False,
            "due": 0,
            "size": each.get("size", 0),
            "part_of": each.get("part_of", ""),
        }
        for each in documents
    ]
    parts = [
        {
            "set_id": WHOLE,
            "number": number,
            "outcome": outcome,
            "change_id": f"{number + 1:032x}" if number in begun else None,
            "why": "",
            "document": json.dumps({"number": number, "undoes": None, "source": ""} | thing(number)),
        }
        for number, outcome in PARTS.items()
    ]
    return {"changes": changes, "parts": parts}


def _result(number: int, state: str) -> dict[str, Any]:
    return {"result": thing(number)["before"] | {"name": "Renamed"}} if state == "applied" else {}


async def written(database_url: str) -> None:
    engine = make_engine(database_url)
    async with engine.begin() as connection:
        for table, wanted in rows().items():
            names = list(wanted[0])
            values = ", ".join(f":{name}" for name in names)
            query = sa.text(f"INSERT INTO {table} ({', '.join(names)}) VALUES ({values})")  # noqa: S608  names of ours
            await connection.execute(query, wanted)
    await engine.dispose()


def prepare(world: World) -> None:
    """The service as it was left: what was applied is there, what was under way is not."""
    for number, outcome in PARTS.items():
        name = "Renamed" if outcome == "applied" else f"Part {number}"
        world.services.rules.put(rule(f"Part {number}") | {"id": f"Redirect_part{number}", "name": name})
    world.services.rules.stage.calls.clear()


@pytest.mark.threat("D6")
@pytest.mark.parametrize("empty_database", BOTH, indirect=True)
@pytest.mark.parametrize("revision", ["0004", "0005"])
async def test_a_set_that_was_left_half_done_is_finished_and_taken_back_whole(
    empty_database: str, revision: str
) -> None:
    await brought_to(empty_database, revision)
    await written(empty_database)

    await upgrade(empty_database)

    async with a_world(empty_database) as world:
        prepare(world)
        world.clock.moment += timedelta(seconds=1)
        mine = replica(world, "mine", count(100))
        assert await mine.carry_out_a_set()

        assert (await world.store.parts.tally(WHOLE)).counts == {Outcome.APPLIED: 3}
        names = {key: record["name"] for (_, key), record in world.truth().items() if key.startswith("Redirect_part")}
        assert set(names.values()) == {"Renamed"}
        sent = [call for call in world.services.rules.calls() if call.method != "GET"]
        assert len(sent) == 2, "what was done already is not sent again"

        done = await mine.pipeline.get(WHOLE)
        await mine.pipeline.undo(done, by=ALICE, channel=OPS)
        assert await mine.carry_out_a_set()
        names = {key: record["name"] for (_, key), record in world.truth().items() if key.startswith("Redirect_part")}
        assert names == {f"Redirect_part{number}": f"Part {number}" for number in PARTS}
