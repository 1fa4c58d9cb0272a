"""The doors of groups of rules."""

from __future__ import annotations

from dataclasses import dataclass

from handlers.gatehouse.commands import GatehouseUndo
from handlers.rules.commands import RulesGroup, RulesOff, RulesOn
from sandbox.services.database import Record
from tests.doors.play import AGAIN, UNDO, Doors, Play

DOORS = Doors()
door = DOORS.door


@dataclass(slots=True, repr=False)
class GroupPlay(Play):
    def now(self) -> Record | None:
        return self.sandbox.services.rules.group(str(self.before["id"]))

    async def goes_off(self, text: str) -> None:
        await self.alice.types(f"/rules {text}".format(self.before["id"]))
        await self.becomes(self.now, self.before | {"status": "Inactive"})


@door(RulesGroup)
async def switch_by_text(play: GroupPlay) -> None:
    await play.goes_off("group off {}")


@door(RulesOff, RulesOn)
async def switch_as_a_rule_is_switched(play: GroupPlay) -> None:
    await play.goes_off("off group:{}")
    await play.alice.card(UNDO)
    await play.alice.types(f"/rules on group:{play.before['id']}")
    await play.becomes(play.now, play.before)


@door(RulesGroup, "decide.undo", "decide.again", GatehouseUndo)
async def undo_and_again(play: GroupPlay) -> None:
    await play.goes_off("group off {}")
    await play.alice.presses(UNDO)
    await play.becomes(play.now, play.before)
    await play.alice.sees("Undone by")
    await play.alice.presses(AGAIN)
    await play.becomes(play.now, play.before | {"status": "Inactive"})


@door(RulesGroup)
async def temporary_and_its_end(play: GroupPlay) -> None:
    await play.goes_off("group off {} for 2h")
    await play.alice.card("v1.decide.end")
    play.passes(hours=2, seconds=1)
    await play.becomes(play.now, play.before)


@door(RulesGroup, "decide.now")
async def planned_and_done_now(play: GroupPlay) -> None:
    await play.alice.types(f"/rules group off {play.before['id']} tomorrow 9:00")
    await play.alice.clicks(await play.alice.card("v1.decide.now"), "v1.decide.now")
    await play.becomes(play.now, play.before | {"status": "Inactive"})
