"""The doors of members: add, edit, grant, revoke, remove and offboard, each by every way there is."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from typing import Any, Final

from handlers.changes import command_form
from handlers.files import import_form_view
from handlers.gatehouse.commands import GatehouseInspect
from handlers.members import member_form_view
from handlers.members.commands import (
    MembersAdd,
    MembersEdit,
    MembersExport,
    MembersGrant,
    MembersImport,
    MembersMove,
    MembersOffboard,
    MembersRemove,
    MembersRevoke,
    MembersShow,
    MembersWhy,
)
from sandbox.services.database import Record
from sandbox.services.seed import members
from tests.doors.play import AGAIN, NON_ASCII, UNDO, Doors, Play

SITE: Final = "site_1"
FORM: Final = member_form_view.CALLBACK
SEED: Final[Record] = next(one for one in members(SITE) if one["allowedSegments"] == ["free"])
OBJECTS: Final = {
    "seed": SEED,
    "odd": {
        **SEED,
        "email": "Odd.O-Neil+tag_1@sub.example.com",
        "name": f"{NON_ASCII}{' von und zu' * 12}",
        "allowedSegments": ["beta", "free", "staff"],
        "unheardOf": {"tief": [1, 1.5, None, {"ü": []}]},
        "big": 12345678901234567890,
    },
}
SERVED: Final = ("name", "email", "allowedSegments")
"""What the service takes when somebody is added again: it sets the rest itself, and the card of the undo says so."""
DOORS: Final = Doors()
door = DOORS.door


@dataclass(slots=True, repr=False)
class MemberPlay(Play):
    @property
    def email(self) -> str:
        return str(self.before["email"])

    @property
    def other(self) -> str:
        """The email of another member of the seed."""
        return next(str(one["email"]) for one in members(SITE) if "vip" not in one["allowedSegments"] and one != SEED)

    def now(self) -> Record | None:
        return self.sandbox.services.members.get(SITE, self.email)

    def having(self, *more: str, less: str = "") -> Record:
        return self.before | {"allowedSegments": [*(one for one in self.segments if one != less), *more]}

    @property
    def segments(self) -> list[str]:
        return list(self.before["allowedSegments"])

    async def stays(self) -> None:
        await self.becomes(self.now, self.before)

    async def is_granted(self, words: str = "") -> None:
        await self.alice.types(f"/members grant {self.email} vip site:blog {words}")
        await self.becomes(self.now, self.having("vip"))

    async def is_removed(self, text: str) -> None:
        await self.alice.types(text)
        await self.approves()
        await self.becomes(self.now, None)

    async def is_back(self) -> None:
        await self.becomes(self.now, {name: self.before[name] for name in SERVED}, new=True)


@door(MembersAdd, FORM, "decide.undo", "decide.approve")
async def add_by_form_and_undo(play: MemberPlay) -> None:
    play.sandbox.services.members.remove(SITE, play.email)
    await play.alice.opens(f"/members add {play.email} site:blog")
    await play.sends(Name=play.before["name"], Segments=play.segments)
    await play.is_back()
    await play.alice.presses(UNDO, confirm=True)
    await play.becomes(play.now, None)


@door(MembersEdit, FORM)
async def edit_by_form(play: MemberPlay) -> None:
    await play.alice.opens(f"/members edit {play.email} site:blog")
    await play.sends(Name=f"Renamed {NON_ASCII} {play.alice.about}")
    await play.becomes(play.now, play.before | {"name": f"Renamed {NON_ASCII} {play.alice.about}"})


@door(MembersShow, MembersEdit, FORM, "decide.undo")
async def edit_segments_by_button_and_undo(play: MemberPlay) -> None:
    card = await play.alice.says(f"/members show {play.email} site:blog")
    await play.alice.clicks(card, "Edit…", opens="Segments")
    await play.sends(Segments=["premium"])
    await play.becomes(play.now, play.before | {"allowedSegments": ["premium"]})
    await play.alice.presses(UNDO)
    await play.becomes(play.now, play.before)


@door(MembersGrant, "decide.undo")
async def grant_undo_and_again(play: MemberPlay) -> None:
    await play.is_granted()
    await play.alice.presses(UNDO)
    await play.stays()
    await play.alice.sees("Undone by")
    await play.alice.presses(AGAIN)
    await play.becomes(play.now, play.having("vip"))


@door(MembersWhy, MembersGrant, command_form.CALLBACK)
async def grant_by_button_for_a_week(play: MemberPlay) -> None:
    card = await play.alice.says(f"/members why {play.email} vip site:blog")
    await play.alice.clicks(card, "Grant vip on blog…", opens="How long?")
    await play.sends(**{"How long?": "For 7 days"})
    await play.becomes(play.now, play.having("vip"))
    await play.alice.card("v1.decide.end")
    play.passes(days=7, seconds=1)
    await play.stays()


@door(MembersGrant)
async def temporary_grant_and_its_end(play: MemberPlay) -> None:
    await play.is_granted("for 2h because of the net")
    await play.alice.card("v1.decide.end")
    play.passes(hours=2, seconds=1)
    await play.stays()


@door(MembersGrant, "decide.end", "decide.until", "v1.decision.until")
async def temporary_grant_extended_and_kept(play: MemberPlay) -> None:
    await play.is_granted("for 2h because of the net")
    for end in ("1 day more", "Keep for good"):
        card = await play.alice.card("v1.decide.until")
        await play.alice.clicks(card, "v1.decide.until", opens="New end")
        await play.sends(**{"New end": end})
    await play.alice.card(UNDO)
    play.passes(hours=9)
    await play.becomes(play.now, play.having("vip"))


@door(MembersGrant, "decide.undo")
async def bulk_grant_and_undo(play: MemberPlay) -> None:
    other = play.sandbox.services.members.get(SITE, play.other) or {}
    await play.alice.types(f"/members grant {play.email} {play.other} vip site:blog")
    await play.becomes(play.now, play.having("vip"))
    await play.alice.presses(UNDO)
    await play.stays()
    await play.becomes(lambda: play.sandbox.services.members.get(SITE, play.other), other)


@door(MembersRevoke, "decide.undo")
async def revoke_undo_and_again(play: MemberPlay) -> None:
    await play.alice.types(f"/members revoke {play.email} free site:blog")
    await play.becomes(play.now, play.having(less="free"))
    await play.alice.presses(UNDO)
    await play.becomes(play.now, play.having("free", less="free"))
    await play.alice.sees("Undone by")
    await play.alice.presses(AGAIN)
    await play.becomes(play.now, play.having(less="free"))


@door(MembersRemove, GatehouseInspect, "decide.approve", "decide.undo")
async def remove_and_undo(play: MemberPlay) -> None:
    await play.is_removed(f"/members remove {play.email} site:blog")
    await play.alice.presses(UNDO)
    await play.is_back()


@door(MembersShow, MembersRemove, "decide.keep")
async def remove_by_button_and_withdraw(play: MemberPlay) -> None:
    card = await play.alice.says(f"/members show {play.email} site:blog")
    await play.alice.clicks(card, "Remove")
    await play.alice.presses("v1.decide.keep")
    await play.alice.sees("Withdrawn")
    await play.stays()


@door(MembersMove, "decide.old", "decide.approve")
async def move_and_remove_the_old_one(play: MemberPlay) -> None:
    new = f"new.{play.email}"
    await play.alice.types(f"/members move {play.email} to {new} site:blog")
    moved = {name: play.before[name] for name in SERVED} | {"email": new}
    await play.becomes(lambda: play.sandbox.services.members.get(SITE, new), moved, new=True)
    await play.stays()
    await play.alice.presses("v1.decide.old")
    await play.approves()
    await play.becomes(play.now, None)


@door(MembersOffboard, "decide.approve", "decide.undo")
async def offboard_and_undo(play: MemberPlay) -> None:
    await play.is_removed(f"/members offboard {play.email}")
    await play.alice.presses(UNDO)
    await play.is_back()


@door(MembersImport, import_form_view.MEMBERS_FILE, import_form_view.MEMBERS)
async def import_of_somebody_new(play: MemberPlay) -> None:
    play.sandbox.services.members.remove(SITE, play.email)
    await _imports(play, "Add them as members", play.before["name"], *play.segments)
    await play.is_back()


@door(MembersImport, import_form_view.MEMBERS_FILE, import_form_view.MEMBERS)
async def import_that_grants(play: MemberPlay) -> None:
    await _imports(play, "Grant them these segments", "", "vip")
    await play.becomes(play.now, play.having("vip"))


@door(MembersImport, import_form_view.MEMBERS_FILE, import_form_view.MEMBERS)
async def import_that_revokes(play: MemberPlay) -> None:
    await _imports(play, "Revoke these segments", "", "free")
    await play.becomes(play.now, play.having(less="free"))


@door(MembersImport, import_form_view.MEMBERS_FILE, import_form_view.MEMBERS, "decide.approve")
async def import_that_removes(play: MemberPlay) -> None:
    await _imports(play, "Remove them from the site", "")
    await play.approves()
    await play.becomes(play.now, None)


async def _imports(play: MemberPlay, mode: str, name: str, *segments: str) -> None:
    rows = io.StringIO()
    csv.writer(rows).writerows([["email", "name", "segments"], [play.email, name, ",".join(segments)]])
    await play.alice.opens("/members import site:blog")
    play.alice.fills(**{"What to do with these people?": mode})
    play.alice.attaches("File", **{"people.csv": rows.getvalue().encode()})
    assert await play.alice.submits() == {}
    await play.alice.sees_form("Nothing has changed yet")
    await play.sends()


@door(MembersExport)
async def export(play: MemberPlay) -> None:
    await play.alice.types("/members export site:blog")
    file, _ = await play.alice.sees_file("members_")
    await play.alice.sees("was sent to you")
    rows: list[dict[str, Any]] = [*csv.DictReader(io.StringIO((file.content or b"").decode("utf-8-sig"), newline=""))]
    row = next(row for row in rows if row["email"] == play.email)
    assert (row["name"], row["segments"]) == (play.before["name"], ",".join(play.segments))


@door(MembersGrant, "decide.now")
async def planned_and_done_now(play: MemberPlay) -> None:
    await play.alice.types(f"/members grant {play.email} vip tomorrow 9:00")
    await play.alice.clicks(await play.alice.card("v1.decide.now"), "v1.decide.now")
    await play.becomes(play.now, play.having("vip"))


@door(MembersGrant)
async def planned_for_a_while(play: MemberPlay) -> None:
    await play.alice.types(f"/members grant {play.email} vip in 2h for 2h")
    await play.alice.card("v1.decide.now")
    play.passes(hours=2, seconds=1)
    await play.becomes(play.now, play.having("vip"))
    await play.alice.card("v1.decide.end")
    play.passes(hours=2, seconds=1)
    await play.becomes(play.now, play.before)
