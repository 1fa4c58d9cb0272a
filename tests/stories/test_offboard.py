"""Somebody leaves: one card for all sites, and a way back for each."""

from __future__ import annotations

import pytest

from bot.changes.model import State
from sandbox.demo import Sandbox
from tests.harness.colleague import Colleague
from tests.harness.looking import approves, looks

ANNA, BEN = "anna.berg@example.com", "ben.costa@example.com"
NEVER = (BEN, "site_2")
CONFIRM = """
[roles.everyone]
channels = ["C0OPS0001"]
may = ["*"]

[[guards]]
operation = "member.*"
guard = "confirm"
"""


def present(workspace: Sandbox, *emails: str) -> list[bool]:
    """Whether each of *emails*, Anna's if none is named, is on each site; Ben is known to one alone."""
    wanted = [(email, site) for email in emails or (ANNA,) for site in ("site_1", "site_2")]
    return [workspace.services.members.get(site, email) is not None for email, site in wanted if (email, site) != NEVER]


def everywhere(workspace: Sandbox) -> None:
    for site in ("site_1", "site_2"):
        workspace.services.members.put(site, {"email": ANNA, "name": "Anna Berg", "allowedSegments": ["free"]})


async def test_one_approval_removes_from_every_site_and_one_undo_brings_back(
    workspace: Sandbox, alice: Colleague, cara: Colleague
) -> None:
    everywhere(workspace)
    card = await alice.says(f"/members offboard {ANNA} because she left")
    text = alice.slack_text(card)
    assert "on blog" in text
    assert "on docs" in text
    assert ANNA not in text
    assert present(workspace) == [True, True]

    await approves(cara, card)
    done = await alice.sees_set(applied=2)
    assert present(workspace) == [False, False]

    await alice.clicks(done, "Undo on docs")
    await alice.sees_set(applied=1, undone=1)
    assert present(workspace) == [False, True]


async def test_no_text_counts_one_person_on_two_sites_as_two_members(
    workspace: Sandbox, alice: Colleague, cara: Colleague
) -> None:
    everywhere(workspace)
    card = await alice.says(f"/members offboard {ANNA}")
    asked = str(card.blocks)
    await approves(cara, card)
    done = await alice.sees_set(applied=2)
    told = str(done.blocks)
    await alice.clicks(done, "Undo")
    undone = str((await alice.sees_set(undone=2)).blocks)

    assert "Show full change" in asked
    for text in (asked, told, undone):
        assert "2 members" not in text


@pytest.mark.policy(CONFIRM)
async def test_the_button_for_ones_own_click_says_from_where(
    workspace: Sandbox, alice: Colleague, cara: Colleague
) -> None:
    everywhere(workspace)
    card = await alice.says(f"/members offboard {ANNA}")
    await looks(alice, card)
    await alice.clicks(card, "Remove from every site", confirm=True)

    done = await alice.sees_set(applied=2)
    assert present(workspace) == [False, False]

    await cara.clicks(done, "Undo")
    undo = await alice.sees_change(state=State.PROPOSED)
    await looks(cara, undo)
    await cara.clicks(undo, "Put back on all sites", confirm=True)
    await alice.sees_set(undone=2)
    assert present(workspace) == [True, True]


async def test_a_site_that_does_not_answer_hides_no_other_and_is_tried_again(
    workspace: Sandbox, alice: Colleague, cara: Colleague
) -> None:
    everywhere(workspace)
    workspace.services.members.stage.faults.add("500", method="GET", path="site_2", times=3)
    card = await alice.says(f"/members offboard {ANNA}")

    await approves(cara, card)
    done = await alice.sees_set(applied=1, failed=1)
    assert present(workspace) == [False, True]

    await alice.clicks(done, "Retry the one that failed")
    await approves(cara, await alice.sees_change(state=State.PROPOSED))
    await alice.sees_set(applied=1)
    assert present(workspace) == [False, False]


async def test_who_is_nowhere_is_said(workspace: Sandbox, alice: Colleague) -> None:
    await alice.is_refused("/members offboard nobody@example.org")


async def test_several_people_leave_on_one_card_and_one_undo_brings_all_back(
    workspace: Sandbox, alice: Colleague, cara: Colleague
) -> None:
    everywhere(workspace)
    card = await alice.says(f"/members offboard {ANNA} and {BEN} because they left")
    assert ANNA not in alice.slack_text(card)
    assert present(workspace, ANNA, BEN) == [True] * 3

    await approves(cara, card)
    done = await alice.sees_set(applied=4)
    assert present(workspace, ANNA, BEN) == [False] * 3
    assert "Undo on" not in alice.slack_text(done)

    await alice.clicks(done, "Undo")
    await alice.sees_set(undone=4)
    assert present(workspace, ANNA, BEN) == [True] * 3


async def test_of_several_people_one_who_is_nowhere_changes_nothing(workspace: Sandbox, alice: Colleague) -> None:
    reply = await alice.is_refused(f"/members offboard {ANNA} nobody@example.com")
    assert "`nobody@example.com`" in alice.slack_text(reply)
    assert present(workspace)[0]


async def test_rows_of_a_list_are_removed_together_from_the_site_of_the_list(
    workspace: Sandbox, alice: Colleague, cara: Colleague
) -> None:
    everywhere(workspace)
    await alice.says("/members list Berg site:docs")
    workspace.services.members.put("site_2", {"email": BEN, "name": "Ben", "allowedSegments": []})

    card = await alice.says(f"/members remove #1 {BEN}")
    await approves(cara, card)

    await alice.sees_set(applied=2)
    assert present(workspace, ANNA) == [True, False]
    assert workspace.services.members.get("site_2", BEN) is None


async def test_more_people_than_a_card_can_have_are_refused(workspace: Sandbox, alice: Colleague) -> None:
    many = ",".join(f"m{number}@e.io" for number in range(101))

    reply = alice.slack_text(await alice.says(f"/members offboard {many}"))

    assert "101" in reply
    assert "100" in reply
    assert workspace.services.members.calls() == []
