"""An address is whole in private, masked in a channel, and in no log and no metric."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest

from handlers.files.import_form_view import MEMBERS
from handlers.grammar.parser import commands_of
from sandbox.demo import Sandbox
from tests.harness.colleague import Colleague
from tests.harness.looking import approve_card
from tests.harness.programs import serving
from tests.harness.truth import ignore_effect

ANNA = "anna.berg@example.com"
ODD = "zoë+tag%2F@exämple.example"
TELLING = (
    "anna.berg",
    "anna%2Eberg",
    "zoë",
    "zo%C3%AB",
    "unknown.person",
    "o'brien",
    "half an@address",
    "fresh.face",
    "second.face",
)


async def test_a_shared_card_is_masked(bob: Colleague, cara: Colleague) -> None:
    reply = await bob.says(f"/members show {ANNA} site:blog")
    assert "Member since" in bob.slack_text(reply)
    await bob.clicks(reply, "Share in channel")

    shared = await cara.sees("a***@example.com")
    assert "anna.berg" not in str(shared.blocks) + shared.text
    assert "Member since" in cara.slack_text(shared)


COMMANDS = (
    "/members",
    "/members list anna.berg",
    "/members list anna.berg@example.com segment:vip no:beta",
    "/members segments",
    f"/members show {ANNA}",
    f"/members show {ODD}",
    f"/members why {ANNA} vip",
    "/members why unknown.person@example.com vip",
    "/members why half an@address",
    f"/members grant {ANNA} vip because anna.berg@example.com asked",
    f"/members grant {ODD} vip",
    f"/members revoke {ANNA} vip",
    f"/members grant {ANNA} vip for 2h because anna.berg@example.com asked",
    f"/members grant {ANNA} nothing",
    "/members remove unknown.person@example.com",
    "/members remove o'brien@example.com site:docs",
    f"/members lsit {ANNA}",
    f"/members remove {ANNA}",
    f"/members offboard {ANNA} because anna.berg@example.com left",
    "/members offboard unknown.person@example.com",
    f"/members move {ANNA} to anna@new.example because she wrote from anna@new.example",
    f"/members {ANNA} is now anna@new.example",
    f"/members export {ANNA}",
    f"/gatehouse audit {ANNA}",
)
FORMS = ("show", "add", "edit", "import")
"""The commands that open a form."""


def test_every_command_about_members_is_among_those_that_are_listened_to() -> None:
    said = {(text.split()[1:] or [""])[0] for text in COMMANDS if text.startswith("/members")}

    assert {kind.verb for kind in commands_of("members")} <= said | {*FORMS}


async def in_forms(bob: Colleague) -> None:
    """All that is done in forms, up to its end; and somebody who is found as one types."""
    await bob.opens('/members add fresh.face@example.net named "Fresh Face" to vip')
    assert await bob.submits() == {}
    await bob.sees("Fresh Face")
    await bob.opens("/members edit fresh.face@example.net")
    bob.fills(Name="Second Face", Segments=["premium"])
    assert await bob.submits() == {}
    await bob.sees("Second Face")
    await bob.opens("/members import")
    table = f"email;name\nsecond.face@example.net;Second\n{ANNA};\nhalf an@address;x\n"
    bob.attaches("File", **{"members.csv": table.encode()})
    assert await bob.submits() == {}
    await bob.sees_view(MEMBERS)
    assert await bob.submits() == {}
    await bob.sees("imported from")
    menu = await bob.says("/members")
    offered = await bob.offered(menu, "v1.pick.member.menu", "anna.berg@")
    await bob.chooses(menu, "v1.pick.member.menu", next(iter(offered.values())))
    await bob.sees(ANNA)


async def leaves(alice: Colleague, cara: Colleague) -> None:
    """Somebody is removed everywhere, with one approval, and brought back."""
    await alice.types("/members offboard fresh.face@example.net because fresh.face@example.net left")
    await approve_card(cara, await alice.sees("f***@example.net left"))
    await alice.clicks(await alice.sees("removed from every site"), "Undo")
    await cara.sees("put back on all their sites")


# Over Socket Mode the bot of the fixture would be connected too, and be given half of what happens.
@pytest.mark.slow
@pytest.mark.threat("E4")
@pytest.mark.parametrize("transport", ["http"])
async def test_no_log_and_no_metric_holds_an_address(
    workspace: Sandbox, alice: Colleague, bob: Colleague, cara: Colleague, tmp_path: Path
) -> None:
    workspace.services.members.put("site_1", {"name": "Zoe", "email": ODD, "allowedSegments": ["free"]})
    workspace.services.members.stage.stored = (
        ignore_effect  # by another bot, whose changes are not in this one's database
    )
    async with serving(workspace.slack, workspace.services, tmp_path, LOG_LEVEL="DEBUG") as (url, log):
        for text in COMMANDS:
            await bob.says(text)
        await in_forms(bob)
        await leaves(alice, cara)
        await bob.opens(f"/members add {ODD}")
        assert await bob.submits() == {}
        await bob.sees_form("already")
        workspace.services.members.stage.faults.add("500", times=9)
        await bob.says(f"/members show {ANNA}")
        workspace.services.members.stage.faults.clear()
        workspace.services.members.stage.faults.add("cut_after", method="POST")
        await bob.says(f"/members grant {ODD} beta")
        async with httpx.AsyncClient(trust_env=False) as client:
            metrics = (await client.get(f"{url}/metrics")).text

    written = log.read_text()
    assert "listening" in written
    assert "UnknownSegment" in written, "the log was on"
    for telling in TELLING:
        assert telling not in written, [line for line in written.splitlines() if telling in line][:3]
        assert telling not in metrics
