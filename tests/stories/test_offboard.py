"""Somebody leaves: one card for all sites, and a way back for each."""

from __future__ import annotations

from sandbox.demo import Sandbox
from sandbox.slack.story import Person
from tests.looking import approves

ANNA = "anna.berg@example.com"


def present(workspace: Sandbox) -> list[bool]:
    return [workspace.services.members.get(site, ANNA) is not None for site in ("site_1", "site_2")]


def everywhere(workspace: Sandbox) -> None:
    for site in ("site_1", "site_2"):
        workspace.services.members.put(site, {"email": ANNA, "name": "Anna Berg", "allowedSegments": ["free"]})


async def test_one_approval_removes_from_every_site_and_one_undo_brings_back(
    workspace: Sandbox, alice: Person, cara: Person
) -> None:
    everywhere(workspace)
    card = await alice.says(f"/members offboard {ANNA} because she left")
    text = alice.slack_text(card)
    assert "on blog" in text
    assert "on docs" in text
    assert ANNA not in text
    assert present(workspace) == [True, True]

    await approves(cara, card)
    done = await alice.sees("removed from every site")
    assert present(workspace) == [False, False]

    await alice.clicks(done, "Undo on docs")
    await alice.sees("undone")
    assert present(workspace) == [False, True]


async def test_a_site_that_does_not_answer_hides_no_other_and_is_tried_again(
    workspace: Sandbox, alice: Person, cara: Person
) -> None:
    everywhere(workspace)
    workspace.services.members.stage.faults.add("500", method="GET", path="site_2", times=3)
    card = await alice.says(f"/members offboard {ANNA}")
    assert "couldn’t be asked" in alice.slack_text(card)

    await approves(cara, card)
    done = await alice.sees("1 of 2 done")
    assert present(workspace) == [False, True]

    await alice.clicks(done, "Try the other one again")
    again = await alice.sees("every site?")
    await approves(cara, again)
    await alice.sees("removed from every site")
    assert present(workspace) == [False, False]


async def test_who_is_nowhere_is_said(workspace: Sandbox, alice: Person) -> None:
    reply = await alice.says("/members offboard nobody@example.org")

    assert "is not a member of" in alice.slack_text(reply)
