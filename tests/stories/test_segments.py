"""Segments: learned from members, completed by settings, refused with a suggestion; and a lost body is no success."""

from __future__ import annotations

import pytest

from bot.changes.model.states import State
from handlers.explain.table import says_unchanged
from sandbox.demo import Sandbox
from tests.harness.channels import buttons
from tests.harness.colleague import Colleague

ANNA, BEN = "anna.berg@example.com", "ben.costa@example.com"


async def test_an_unknown_segment_is_refused_with_what_may_be_meant(workspace: Sandbox, bob: Colleague) -> None:
    reply = await bob.says(f"/members grant {ANNA} premuim, beta for 7d because she paid")
    assert says_unchanged(reply.blocks)
    assert "“premuim”" in bob.slack_text(reply)
    assert [call.method for call in workspace.services.members.calls()] == ["GET"]

    await bob.clicks(reply, "Grant premium instead")
    card = await bob.sees_change(of=ANNA, where=lambda change: change.is_temporary)

    assert (workspace.services.members.get("site_1", ANNA) or {})["allowedSegments"] == ["free", "premium", "beta"]
    assert "she paid" in bob.slack_text(card)


async def test_a_list_tells_segments_apart_that_differ_in_case_alone(workspace: Sandbox, bob: Colleague) -> None:
    workspace.services.members.put("site_1", {"name": "Big", "email": "big@example.com", "allowedSegments": ["VIP"]})

    for filters, has_big, has_david in (
        ("segment:vip", False, True),
        ("segment:VIP", True, False),
        ("no:vip", True, False),
        ("segment:PREMIUM", False, True),
    ):
        text = bob.slack_text(await bob.says(f"/members list {filters}"))
        assert ("big@example.com" in text, "david.evans@example.com" in text) == (has_big, has_david), filters


async def test_a_typo_takes_nothing_away(workspace: Sandbox, bob: Colleague) -> None:
    reply = await bob.is_refused(f"/members revoke {ANNA} fre, vip")
    assert all(segment in bob.slack_text(reply) for segment in ("“fre”", "“free”"))
    assert list(buttons(reply.blocks)) == [], "what takes away is not offered for a typo"
    assert (workspace.services.members.get("site_1", ANNA) or {})["allowedSegments"] == ["free"]


@pytest.mark.threat("B12")
@pytest.mark.parametrize(
    ("makes_of_it", "state", "left"),
    [
        ("error", State.FAILED, ["free", "vip", "beta"]),
        ("ok", State.UNKNOWN, ["free", "vip", "beta"]),
        ("all", State.APPLIED, []),
    ],
)
async def test_a_body_lost_on_the_way_is_never_called_success(
    workspace: Sandbox, bob: Colleague, makes_of_it: str, state: State, left: list[str]
) -> None:
    put = {"name": "Anna", "email": ANNA, "allowedSegments": ["free", "vip", "beta"]}
    workspace.services.members.put("site_1", put)
    workspace.services.switch(delete_nothing=makes_of_it)
    workspace.services.members.stage.faults.add("bodiless", method="DELETE")

    await bob.says(f"/members revoke {ANNA} vip")

    card = await bob.sees_change(of=ANNA, state=state)
    assert ("Requested → stored" in bob.slack_text(card)) is (state is State.APPLIED)
    assert (workspace.services.members.get("site_1", ANNA) or {})["allowedSegments"] == left
    assert len(workspace.services.members.calls("DELETE")) == 1


async def test_who_has_a_segment_already_is_left_out_of_a_grant(workspace: Sandbox, bob: Colleague) -> None:
    before = workspace.services.members.get("site_1", BEN)

    await bob.says(f"/members grant {ANNA}, kira.larsen@example.com and {BEN} premium")

    assert "left out: b***@" in bob.slack_text(await bob.sees_set(applied=2))
    assert workspace.services.members.get("site_1", BEN) == before
