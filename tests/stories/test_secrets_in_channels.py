"""Secrets of rules: in channels none is told, whatever is done with the rule; privately they are shown.

Every story ends with a look at what channels showed (tests/harness/channels.py). These here plant secrets and an email for it.
"""

from __future__ import annotations

import json

import pytest

from handlers.files.import_form_view import RULES
from sandbox.demo import Sandbox
from tests.conftest import OPS
from tests.harness.channels import SHAPES, find_emails, find_secrets
from tests.harness.colleague import Colleague, undone
from tests.harness.looking import open_details

ANNA = "anna.berg@example.com"
TOKEN = "s3cr3t-one"
OTHER = "s3cr3t-two"
KEPT = "Headers_auth1"
GONE = "Headers_auth2"
LINK = f"https://shop.example.com/in?token={TOKEN}&to={ANNA}"
HEADERS = {
    "name": "Sign in for tests",
    "description": f"{ANNA} needs it: https://anna:{TOKEN}@shop.example.com/",
    "status": "Active",
    "ruleType": "Headers",
    "pairs": [
        {
            "source": {"key": "Url", "operator": "Equals", "value": LINK},
            "modifications": {
                "Request": [{"type": "Add", "header": "Authorization", "value": f"Bearer {TOKEN}"}],
                "Response": [{"type": "Add", "header": "Set-Cookie", "value": TOKEN}],
            },
        }
    ],
}
REDIRECT = {
    "name": f"Token={TOKEN}",
    "description": ANNA,
    "status": "Active",
    "ruleType": "Redirect",
    "pairs": [
        {
            "source": {"key": "Url", "operator": "Wildcard_Matches", "value": "https://shop.example.com/go?*"},
            "destination": f"https://anna:{TOKEN}@new.example/?{'x' * 150}&api_key={TOKEN}",
        }
    ],
}


def planted(workspace: Sandbox) -> None:
    workspace.services.rules.put(HEADERS | {"id": KEPT})
    workspace.services.rules.put(HEADERS | {"id": GONE, "name": "Sign in again"})
    workspace.services.rules.put(REDIRECT | {"id": "Redirect_tok"})


@pytest.mark.threat("E7")
async def test_what_is_shown_to_a_channel(workspace: Sandbox, alice: Colleague, bob: Colleague) -> None:
    planted(workspace)

    assert find_secrets([(await alice.says(f"/rules show {KEPT}")).blocks]) != [], "private answers are whole"
    card = await alice.shares(f"/rules show {KEPT}")
    assert "`Authorization`: `[hidden-2]`" in alice.slack_text(card)
    await bob.clicks(card, "Show to me")
    whole = await bob.sees(f"Bearer {TOKEN}")
    assert whole.visible_to == bob.id
    assert ANNA in bob.slack_text(whole)

    await alice.shares("/rules list auth")
    await alice.shares("/rules check")
    for asked, answered in ((LINK, "Authorization"), ("https://shop.example.com/go?key=s3cr3t-x", "redirects to")):
        await alice.types(f"@gatehouse rules which {asked}")
        assert (await alice.sees(answered)).visible_to is None


@pytest.mark.threat("E7")
async def test_cards_of_every_change(workspace: Sandbox, alice: Colleague, cara: Colleague) -> None:
    planted(workspace)

    await alice.says(f"/rules off {KEPT} because token={TOKEN} leaked")
    await alice.says(
        f"/rules set Redirect_tok destination=https://anna:{OTHER}@new.example/?{'x' * 150}&api_key={OTHER}"
    )
    await alice.says(f"/rules set Redirect_tok destination=https://shop.example.com/?token={OTHER}")
    await alice.says(f"/rules set Redirect_tok destination=https://shop.example.com/?token={TOKEN}")
    assert "?token=[hidden-2]` → " in alice.slack_text(await alice.sees("?token=[hidden-2]"))
    await alice.says("/gatehouse undo")
    await alice.says(f"/rules on {KEPT} Redirect_tok for 2h")
    await alice.says("/rules delete Headers_auth1 Redirect_tok")

    card = await alice.says(f"/rules delete {GONE}")
    assert "`Authorization`: `[hidden-2]`" in alice.slack_text(card)
    await cara.clicks(card, "v1.decide.approve", confirm=True)
    await cara.sees_problem()
    assert f"Bearer {TOKEN}" in await open_details(cara, card)
    await cara.clicks(card, "v1.decide.approve", confirm=True)
    gone = await alice.sees_change(of="Sign in again")

    assert "[Details]" in alice.slack_text(gone)
    await alice.clicks(gone, "Details", opens="This is everything.")
    assert f"Bearer {TOKEN}" in alice.form
    await alice.clicks(gone, "Undo")
    await alice.sees_change(of="Sign in again", where=undone)
    made = next(rule for rule in workspace.services.rules.all() if rule["name"] == "Sign in again")
    assert made["pairs"][0]["modifications"] == HEADERS["pairs"][0]["modifications"]  # type: ignore[index]


@pytest.mark.threat("E7")
async def test_what_is_on_record_and_on_the_home(workspace: Sandbox, alice: Colleague, bob: Colleague) -> None:
    planted(workspace)
    await alice.says(f"/rules set Redirect_tok destination={LINK}")
    await alice.says("/rules delete Redirect_tok")
    for number, shape in enumerate(SHAPES):
        workspace.services.rules.put(REDIRECT | {"id": f"Redirect_n{number}", "name": shape, "description": shape})
        await alice.says(f"/rules off Redirect_n{number} because {shape}")
        await bob.says(f"@gatehouse rules show Redirect_n{number}")
    for text in ("history Redirect_tok", "history Redirect_n1", "list", "list page:2", "check"):
        await alice.shares(f"/rules {text}")
    for text in ("audit", "audit page:2", "pending", "digest"):
        await alice.shares(f"/gatehouse {text}")

    home = await alice.opens_home("Token")

    assert find_secrets(home["blocks"]) == [], "others may look on"
    assert find_emails(home["blocks"]) == []


async def test_an_import_and_an_export(workspace: Sandbox, alice: Colleague) -> None:
    planted(workspace)
    await alice.opens("/rules import")
    records = [HEADERS | {"name": "One"}, REDIRECT | {"name": "Two"}]
    alice.attaches("File", **{"rules.json": json.dumps(records).encode()})
    assert await alice.submits() == {}
    await alice.sees_view(RULES)
    assert await alice.submits() == {}
    await alice.sees_set(applied=2)

    reply = await alice.says("/rules export here")

    await alice.clicks(reply, "Send it to me")
    file, _ = await alice.sees_file("rules_")
    assert f"Bearer {TOKEN}".encode() in (file.content or b""), "a private file is whole"
    assert [one for one in workspace.slack.state.files.all.values() if OPS in one.shares] == []
