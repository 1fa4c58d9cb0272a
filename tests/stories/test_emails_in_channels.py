"""Emails wherever people and services can put them: in channels none is whole, and what is shown there still works.

Every story ends with a look at all that channels showed (tests/harness/channels.py). These here plant emails for it.
"""

from __future__ import annotations

import json

import pytest

from bot.changes.model.states import State
from handlers.files.import_form_view import MEMBERS
from sandbox.demo import Sandbox
from sandbox.services.seed import redirect_pair
from sandbox.slack.message import Message
from tests.conftest import OPS
from tests.harness.channels import find_emails
from tests.harness.colleague import Colleague

OLD = "Redirect_x1old"
ANNA = "anna.berg@example.com"
LINK = "https://shop.example.com/in?email=anna.berg@example.com&next=%2Fa"
RULE = {
    "id": "Redirect_mail",
    "name": f"Way in of {ANNA}",
    "description": f"{ANNA} needs it",
    "status": "Inactive",
    "ruleType": "Redirect",
    "pairs": [redirect_pair(LINK, f"{LINK}&c={ANNA}")],
}


async def shared(person: Colleague, command: str) -> Message:
    """The answer to *command* as the channel gets it."""
    assert find_emails([(await person.says(command)).blocks]) != [], "private answers are whole"
    return await person.shares(command)


@pytest.mark.threat("E4")
async def test_a_reason_in_a_shared_history(workspace: Sandbox, alice: Colleague) -> None:
    await alice.says(f"/rules off {OLD} because {ANNA} complained")

    assert "a***@example.com" in alice.slack_text(await shared(alice, f"/rules history {OLD}"))


@pytest.mark.threat("E4")
async def test_a_file_that_is_named_after_an_email(workspace: Sandbox, bob: Colleague) -> None:
    await bob.opens("/members import")
    bob.attaches("File", **{f"{ANNA}.csv": f"email\n{ANNA}\n".encode()})
    bob.fills(**{"What to do with these people?": "Remove them from the site"})
    assert await bob.submits() == {}
    await bob.sees_view(MEMBERS)
    assert await bob.submits() == {}

    card = await bob.sees_change(state=State.PROPOSED)

    assert "a***@example.com.csv" in json.dumps([block.get("elements") for block in card.blocks])
    home = await bob.opens_home("Import 1 row")
    assert find_emails(home["blocks"]) == [], "others may look on"


async def test_a_shared_audit_has_no_button_that_names_somebody(workspace: Sandbox, bob: Colleague) -> None:
    await bob.says(f"/members grant {ANNA} vip because {ANNA} asked")

    seen = bob.slack_text(await shared(bob, f"/gatehouse audit {ANNA}"))

    assert "a***@example.com asked" in seen
    assert "[Share in channel]" not in seen


async def test_segments_that_are_named_after_emails(workspace: Sandbox, bob: Colleague) -> None:
    segments = ["free", f"list-{ANNA}"]
    member = {"name": f"of {ANNA}", "email": "zed@example.net", "allowedSegments": segments}
    workspace.services.members.put("site_1", member)
    await bob.says("/members remove zed@example.net")
    await bob.types("@gatehouse members segments")
    assert (await bob.sees("`l***@example.com`   1 member")).visible_to is None
    for command in ("/members show zed@example.net", f"/members list segment:list-{ANNA}"):
        await shared(bob, command)


@pytest.mark.threat("E4")
async def test_links_and_texts_of_rules(workspace: Sandbox, alice: Colleague, cara: Colleague) -> None:
    workspace.services.rules.put(RULE)
    await alice.says("/rules on Redirect_mail")
    await alice.sees_change(of="Redirect_mail")
    await alice.says(f"/rules set Redirect_mail pair1.destination={LINK}x")
    await alice.says("/rules delete Redirect_mail")
    for command in ("/rules show Redirect_mail", f"/rules list {ANNA}"):
        await shared(alice, command)


async def test_rules_with_emails_are_not_exported_into_a_channel(workspace: Sandbox, alice: Colleague) -> None:
    workspace.services.rules.put(RULE)

    reply = await alice.says("/rules export here")

    await alice.clicks(reply, "Send it to me")
    file, message = await alice.sees_file()
    assert message.channel == alice.dm
    assert ANNA.encode() in (file.content or b""), "a private file is whole"
    assert [one for one in workspace.slack.state.files.all.values() if OPS in one.shares] == []
