"""An email that holds a character which nobody sees is never taken for the one that it looks like, whichever way it comes."""

from __future__ import annotations

import pytest

from sandbox.demo import Sandbox
from tests.harness.colleague import Colleague
from tests.stories.test_import import shown
from tests.stories.test_shortcuts import posted

ANNA = "anna.berg@example.com"
TWIN = "anna\u200b.berg@example.com"
SPELLINGS = (TWIN, f"\u200b{ANNA}", f"{ANNA}\u200d", "anna.berg@exam\u00adple.com")
REFUSED = "invisible character (U+"


def touched(workspace: Sandbox) -> list[str]:
    """Which members were looked up or changed."""
    return [call.path for call in workspace.services.members.calls() if ANNA in str(call) or call.method != "GET"]


@pytest.mark.parametrize(
    "command", ["show", "why", "remove", "offboard", "move to a@new.example", "grant vip", "revoke free"]
)
async def test_a_command_refuses_it(workspace: Sandbox, bob: Colleague, command: str) -> None:
    verb, _, segment = command.partition(" ")
    for email in SPELLINGS:
        answer = await bob.says(f"/members {verb} {email} {segment}")
        assert REFUSED in bob.slack_text(answer), email

    assert touched(workspace) == []


async def test_a_sentence_about_it_does_nothing_to_the_other(workspace: Sandbox, bob: Colleague) -> None:
    await bob.says(f"/members please give {TWIN} vip")

    await bob.sees(REFUSED)
    assert touched(workspace) == []


async def test_of_twins_in_a_list_each_is_itself(workspace: Sandbox, bob: Colleague) -> None:
    workspace.services.members.put("site_1", {"email": TWIN, "name": "Anna Twin", "allowedSegments": []})
    answer = await bob.says("/members list Anna Twin")
    assert "anna\\u200b.berg@example.com" in bob.slack_text(answer)

    await bob.clicks(answer, "Show")

    await bob.sees(REFUSED)


async def test_a_form_refuses_it(workspace: Sandbox, bob: Colleague) -> None:
    await bob.opens("/members add")
    for email in SPELLINGS:
        bob.fills(Email=email, Name="Anna Berg", Segments=["vip"])
        assert REFUSED in (await bob.submits())["Email"], email

    assert touched(workspace) == []


async def test_a_shortcut_refuses_it(workspace: Sandbox, bob: Colleague) -> None:
    for email in SPELLINGS:
        await bob.uses("look_up", posted(workspace, bob, f"{email} can't get in"))
        await bob.sees(REFUSED)


async def test_a_file_refuses_it(workspace: Sandbox, bob: Colleague) -> None:
    rows = "\n".join(SPELLINGS)
    await bob.opens("/members import")
    text = await shown(bob, "/members import", "File", "members.csv", f"email\n{rows}\n".encode())

    assert text.count(REFUSED) == len(SPELLINGS)
    assert touched(workspace) == []
