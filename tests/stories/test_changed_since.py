"""Nothing is written over a version that nobody was shown: not by a form that was open, an undo, or an end."""

from __future__ import annotations

import pytest

from sandbox.demo import Sandbox
from sandbox.services.database import Record
from tests.harness.colleague import Colleague

OLD, PAY = "Redirect_x1old", "Redirect_chk01"
ANNA = "anna.berg@example.com"


def edited(workspace: Sandbox, rule_id: str, **more: str) -> Record:
    """Somebody changes the rule in the dashboard; how it is then."""
    rule = dict(workspace.services.rules.get(rule_id) or {})
    workspace.services.rules.put(theirs := rule | {"description": "An incident fix"} | more)
    return theirs


@pytest.mark.threat("A8")
@pytest.mark.parametrize("command", ["edit", "copy"])
@pytest.mark.parametrize("rule_id", [OLD, "Headers_cors1"])
async def test_a_form_that_was_open_saves_nothing(
    workspace: Sandbox, alice: Colleague, command: str, rule_id: str
) -> None:
    await alice.opens(f"/rules {command} {rule_id}")
    alice.fills(Name="Ours")
    theirs = edited(workspace, rule_id)

    await alice.submits()
    await alice.sees_view("v1.notice")

    assert workspace.services.rules.get(rule_id) == theirs
    assert workspace.services.rules.calls("PUT") == workspace.services.rules.calls("POST") == []


async def test_a_form_that_was_shown_again_is_still_bound_to_what_it_opened_with(
    workspace: Sandbox, alice: Colleague
) -> None:
    view = await alice.opens(f"/rules edit {OLD}")
    theirs = edited(workspace, OLD)
    await alice.clicks(view, "Add pair")
    view = await alice.sees_form("Pair 2")
    await alice.clicks(view, "v1.form.remove.n1", opens="Add pair")
    alice.fills(Name="Ours")

    await alice.submits()
    await alice.sees_view("v1.notice")

    assert workspace.services.rules.get(OLD) == theirs


async def test_a_form_of_a_member_that_was_open_saves_nothing(workspace: Sandbox, bob: Colleague) -> None:
    await bob.opens(f"/members edit {ANNA}")
    bob.fills(Name="Anna B.")
    theirs = dict(workspace.services.members.get("site_1", ANNA) or {}) | {"allowedSegments": ["staff"]}
    workspace.services.members.put("site_1", theirs)

    await bob.submits()
    await bob.sees_view("v1.notice")

    assert workspace.services.members.get("site_1", ANNA) == theirs


async def test_an_undo_of_several_leaves_the_one_that_was_edited_since(workspace: Sandbox, alice: Colleague) -> None:
    await alice.types(f"/rules off {OLD} {PAY}")
    done = await alice.sees_set(applied=2)
    theirs = edited(workspace, PAY, status="Active")

    await alice.clicks(done, "Undo")
    await alice.sees_set(applied=1, undone=1)

    assert workspace.services.rules.get(PAY) == theirs
    assert (workspace.services.rules.get(OLD) or {})["status"] == "Active"
