"""Somebody leaves: one card for all sites, and a way back for each."""

from __future__ import annotations

import pytest

from bot.changes.model.states import State
from sandbox.demo import Sandbox
from tests.harness.colleague import Colleague, undone
from tests.harness.looking import approve_card

ANNA, BEN = "anna.berg@example.com", "ben.costa@example.com"
NEVER = (BEN, "site_2")


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

    await approve_card(cara, card)
    done = await alice.sees_set(applied=2)
    assert present(workspace) == [False, False]

    await alice.clicks(done, "Undo")
    await alice.sees_set(undone=2, where=undone)
    assert present(workspace) == [True, True]


@pytest.mark.parametrize("site", ["site_1", "site_2"])
async def test_who_is_on_one_site_alone_is_removed_there(
    workspace: Sandbox, alice: Colleague, cara: Colleague, site: str
) -> None:
    workspace.services.members.put(site, {"email": "dora@example.com", "name": "Dora", "allowedSegments": []})
    await approve_card(cara, await alice.says("/members offboard dora@example.com"))
    done = await alice.sees_set(applied=1, skipped=1)
    assert not any(present(workspace, "dora@example.com"))

    await alice.clicks(done, "Undo")
    await alice.sees_set(undone=1, skipped=1, where=undone)
    assert any(present(workspace, "dora@example.com"))


async def test_a_site_that_does_not_answer_hides_no_other_and_is_tried_again(
    workspace: Sandbox, alice: Colleague, cara: Colleague
) -> None:
    everywhere(workspace)
    workspace.services.members.stage.faults.add("500", method="GET", path="site_2", times=3)
    card = await alice.says(f"/members offboard {ANNA}")

    await approve_card(cara, card)
    done = await alice.sees_set(applied=1, failed=1)
    assert present(workspace) == [False, True]

    await alice.clicks(done, "Retry the one that failed")
    await approve_card(cara, await alice.sees_change(state=State.PROPOSED))
    await alice.sees_set(applied=1)
    assert present(workspace) == [False, False]


async def test_of_several_people_one_who_is_nowhere_changes_nothing(workspace: Sandbox, alice: Colleague) -> None:
    reply = await alice.is_refused(f"/members offboard {ANNA} nobody@example.com")
    assert "`nobody@example.com`" in alice.slack_text(reply)
    assert present(workspace)[0]
