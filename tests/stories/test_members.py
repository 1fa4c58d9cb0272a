"""Members, from the first look to the removal, as people do it."""

from __future__ import annotations

import sys
from types import FrameType

import pytest

from bot.changes.model import Kind
from handlers.explain.table import says_unchanged
from sandbox.demo import Sandbox
from tests.harness.colleague import Colleague
from tests.harness.looking import approves

ANNA = "anna.berg@example.com"
BEN = "ben.costa@example.com"
"""On both sites."""


async def test_a_member_is_shown_whole_in_private_and_masked_in_the_channel(bob: Colleague, cara: Colleague) -> None:
    reply = await bob.says(f"/members show {ANNA}")
    assert ANNA in bob.slack_text(reply)

    await bob.clicks(reply, "Share in channel")
    shared = await cara.sees("Anna Berg")

    assert ANNA not in str(shared.blocks) + shared.text
    assert "a***@example.com" in cara.slack_text(shared)


async def test_grant_and_revoke_use_the_segment_operations(workspace: Sandbox, bob: Colleague) -> None:
    card = await bob.says(f"/members grant {ANNA} VIP, beta because she paid")
    assert ANNA not in str(card.blocks) + card.text
    member = workspace.services.members.get("site_1", ANNA)
    assert member is not None
    assert member["allowedSegments"] == ["free", "vip", "beta"]

    await bob.says(f"/members revoke {ANNA} vip")
    await bob.sees_change(of=ANNA, where=lambda change: change.edit.kind is Kind.MEMBER_REVOKE)

    member = workspace.services.members.get("site_1", ANNA)
    assert member is not None
    assert member["allowedSegments"] == ["free", "beta"]
    assert workspace.services.members.calls("PATCH") == []


async def test_an_unknown_segment_is_refused_by_its_name(workspace: Sandbox, bob: Colleague) -> None:
    card = await bob.says(f"/members grant {ANNA} platinum")

    assert says_unchanged(card.blocks)
    assert "“platinum”" in bob.slack_text(card)


async def test_a_removal_shows_who_goes_and_waits(workspace: Sandbox, bob: Colleague, cara: Colleague) -> None:
    card = await bob.says(f"/members remove {BEN} site:docs because she asked for it")
    assert workspace.services.members.get("site_2", BEN) is not None
    assert "free" in bob.slack_text(card)

    await approves(cara, card)
    await bob.sees_change(of=BEN)

    assert workspace.services.members.get("site_2", BEN) is None
    assert workspace.services.members.get("site_1", BEN) is not None


async def test_a_member_is_added_in_a_modal_after_a_wrong_address(workspace: Sandbox, bob: Colleague) -> None:
    await bob.opens("/members add")
    bob.fills(Email="no address", Name="New Person", Segments=["vip"])

    assert set(await bob.submits()) == {"Email"}

    bob.fills(Email="new.person+tag@example.com")
    assert await bob.submits() == {}
    card = await bob.sees_change(of="New Person")

    member = workspace.services.members.get("site_1", "new.person+tag@example.com")
    assert member is not None
    assert member["allowedSegments"] == ["vip"]
    assert "new.person+tag@example.com" not in str(card.blocks) + card.text


async def test_adding_somebody_twice_is_said_in_the_form(workspace: Sandbox, bob: Colleague) -> None:
    await bob.opens(f"/members add {ANNA}")

    assert await bob.submits() == {}
    await bob.sees_form("already")

    assert workspace.services.members.calls("POST") == []


async def test_an_edit_changes_name_and_segments(workspace: Sandbox, bob: Colleague) -> None:
    await bob.opens(f"/members edit {ANNA}")
    bob.fills(Name="Anna B.", Segments=["premium"])

    assert await bob.submits() == {}
    await bob.sees_change(of="Anna B.")

    member = workspace.services.members.get("site_1", ANNA)
    assert member is not None
    assert (member["name"], member["allowedSegments"]) == ("Anna B.", ["premium"])


async def test_an_edit_holds_where_patch_merges(workspace: Sandbox, bob: Colleague) -> None:
    workspace.services.switch(patch_segments="merge", member_list="success_data", delete_answer="empty")
    await bob.opens(f"/members edit {ANNA}")
    bob.fills(Name="Anna B.", Segments=["premium"])

    assert await bob.submits() == {}
    await bob.sees_change(of="Anna B.")

    member = workspace.services.members.get("site_1", ANNA)
    assert member is not None
    assert member["allowedSegments"] == ["premium"]


async def test_nobody_of_that_address_is_a_helpful_answer(workspace: Sandbox, bob: Colleague) -> None:
    for text in ("/members show nobody@example.com", "/members remove no-address", "/members list site:shop"):
        await bob.is_refused(text)


async def test_a_list_filters_by_segment(workspace: Sandbox, bob: Colleague) -> None:
    reply = await bob.says("/members list segment:VIP")

    assert "4 members" in bob.slack_text(reply)


async def test_long_lists_are_counted_and_sorted_beside_the_event_loop(workspace: Sandbox, bob: Colleague) -> None:
    await bob.says("/members list")
    work = {"fits", "_in_order", "_count_segments", "counted", "known_segments"}
    seen = set()

    def called(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and frame.f_code.co_filename.endswith(
            ("member_lookup.py", "member_refs.py", "members/model.py")
        ):
            seen.add(frame.f_code.co_name)

    sys.setprofile(called)  # of this thread alone, which is that of the event loop
    try:
        await bob.says("/members list page:2")
        await bob.says("/members segments")
        await bob.opens("/members edit anna.berg@example.com")
    finally:
        sys.setprofile(None)

    assert "show_segments" in seen
    assert seen & work == set()


async def test_several_members_are_shown_one_after_the_other(workspace: Sandbox, bob: Colleague) -> None:
    await bob.says("/members list chloe")

    shown = await bob.says(f"/members show {BEN} #1")

    text = bob.slack_text(shown)
    assert shown.visible_to == bob.id
    assert text.index(BEN) < text.index("chloe.diaz@example.com")
    assert text.count("[Edit…]") == 2

    await bob.clicks(shown, "Check access")
    assert BEN in bob.slack_text(await bob.sees("is a member of"))


async def test_of_several_members_each_is_told_why(workspace: Sandbox, bob: Colleague) -> None:
    text = bob.slack_text(await bob.says(f"/members why {BEN} nobody@example.com vip"))

    assert "lacks “vip”" in text
    assert text.index(BEN) < text.index("nobody on blog or docs has exactly this email")


@pytest.mark.parametrize("verb", ["show", "why"])
async def test_more_members_than_an_answer_has_room_for_are_refused(
    workspace: Sandbox, bob: Colleague, verb: str
) -> None:
    reply = bob.slack_text(
        await bob.says(f"/members {verb} " + " ".join(f"m{number}@example.com" for number in range(6)))
    )

    assert "6" in reply
    assert "5" in reply
    assert workspace.services.members.calls() == []
