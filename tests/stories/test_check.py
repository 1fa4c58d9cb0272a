"""What is wrong with rules, told when asked and before something is saved."""

from __future__ import annotations

from typing import Any

import pytest

from sandbox.demo import Sandbox
from sandbox.services.seed import RULES, redirect_pair
from tests.harness.colleague import Colleague

SHOP = "https://shop.example.com"
OLD = "Redirect_x1old"


def redirect(rule_id: str, source: str, destination: str, **more: Any) -> dict[str, Any]:
    pair = redirect_pair(source, destination)
    named = {"id": rule_id, "name": f"Rule {rule_id}", "ruleType": "Redirect"}
    return named | {"status": "Active", "pairs": [pair], "objectType": "rule"} | more


async def test_what_is_wrong_is_listed_the_worst_first_with_what_to_do(workspace: Sandbox, alice: Colleague) -> None:
    workspace.services.rules.put(redirect("Redirect_dead", "https://example.com", f"{SHOP}/gone"))

    reply = await alice.says("/rules check")

    text = alice.slack_text(reply)
    assert reply.visible_to == alice.id
    findings = (" loop: ", "never matches", "match the same URL", "is never reached")
    assert sorted(findings, key=text.index) == list(findings)
    assert f"{SHOP}/gift-cards → {SHOP}/vouchers → {SHOP}/gift-cards" in text
    assert "a browser sends https://example.com/" in text
    await alice.clicks(reply, "Switch off “Vouchers paused for the audit”…", opens="How long?")
    alice.fills(**{"Or until": "soon"})
    assert "such as 18:00" in (await alice.submits())["Or until"]
    alice.fills(**{"Or until": "tomorrow 18:00"})
    assert await alice.submits() == {}
    await alice.sees_change(of="Vouchers paused for the audit", where=lambda change: change.is_temporary)
    assert "1 finding in 1 rule" in alice.slack_text(await alice.says("/rules check Redirect_dead"))


async def test_what_was_not_compared_is_told(workspace: Sandbox, alice: Colleague) -> None:
    await alice.says(f"/rules off {OLD}")
    await alice.sees_change(of=OLD)
    assert "isn’t compared" in alice.slack_text(await alice.says(f"/rules check {OLD}"))
    text = alice.slack_text(await alice.says("/rules check"))
    assert "isn’t compared" not in text
    assert "couldn’t be read" not in text


async def test_what_is_found_without_the_groups_says_so(workspace: Sandbox, alice: Colleague) -> None:
    workspace.services.switch(groups="off")
    assert "Which groups are off couldn’t be read" in alice.slack_text(await alice.says("/rules check"))


@pytest.mark.threat("C5")
async def test_many_findings_come_in_pages(workspace: Sandbox, alice: Colleague) -> None:
    for number in range(30):
        workspace.services.rules.put(redirect(f"Redirect_d{number}", f"https://d{number}.example", f"{SHOP}/gone"))

    reply = await alice.says("/rules check")
    assert f"33 findings in {len(RULES) + 30} rules" in alice.slack_text(reply)

    await alice.clicks(reply, "Next ›")
    turned = await alice.sees("Page 2 of 5")
    assert turned.ts == reply.ts
    assert "Page 5 of 5" in alice.slack_text(await alice.says("/rules check page:9"))


async def test_a_page_that_is_not_there_is_said_so(workspace: Sandbox, alice: Colleague) -> None:
    assert "There is only one page" in alice.slack_text(await alice.says("/rules check page:2"))
    assert "only one page" not in alice.slack_text(await alice.says("/rules check"))


async def test_a_loop_is_shown_before_it_is_made(workspace: Sandbox, alice: Colleague) -> None:
    preview = await alice.says(f"/rules set {OLD} destination={SHOP}/old because the test needs one")
    assert "redirects to the same URL" in alice.slack_text(preview)
    assert workspace.services.rules.calls("PUT") == []

    await alice.clicks(preview, "Do it")
    card = await alice.sees_change(of=OLD)
    assert "redirects to the same URL" in alice.slack_text(card)
    assert len(workspace.services.rules.calls("PUT")) == 1


async def test_a_form_with_warnings_is_sent_again(workspace: Sandbox, alice: Colleague) -> None:
    taken = str((workspace.services.rules.get("Redirect_x1old") or {})["name"])
    await alice.opens(f"/rules new https://jobs.example to {SHOP}")
    alice.fills(Name=taken, Why="The campaign starts")

    assert await alice.submits() == {}

    await alice.sees_form("Not saved yet. Press Create anyway")
    assert alice.form.count("a browser sends https://jobs.example/") == 1
    assert "The campaign starts" in alice.form
    alice.typed.clear()  # what was typed is in the form, not only in the client
    assert await alice.submits() == {}
    await alice.sees_change(of=taken)
    assert workspace.services.rules.calls("POST")[0].body["name"] == taken


async def test_a_text_that_looks_like_another_is_said_before_it_is_saved(workspace: Sandbox, alice: Colleague) -> None:
    await alice.opens("/rules edit Redirect_x1old")
    alice.fills(To="https://sh\u043ep.example.com/new")

    await alice.submits()

    await alice.sees_form("Press Save anyway")
    assert "Check that it is the one you mean" in alice.form


async def test_a_warning_names_the_pair_that_it_is_about(workspace: Sandbox, alice: Colleague) -> None:
    rule = redirect("Redirect_many", f"{SHOP}/pair/0", f"{SHOP}/new")
    pairs = [
        rule["pairs"][0] | {"source": rule["pairs"][0]["source"] | {"value": f"{SHOP}/pair/{n}"}} for n in range(12)
    ]
    pairs[11]["source"]["value"] = f"{SHOP}/old"
    workspace.services.rules.put(rule | {"pairs": pairs, "status": "Inactive"})
    await alice.opens("/rules edit Redirect_many")
    alice.fills(Status="On")

    await alice.submits()

    await alice.sees_form("“Rule Redirect_many”, pair 12 and “Old shop to new shop” match the same URL")


async def test_a_form_shows_a_loop_before_it_is_made(workspace: Sandbox, alice: Colleague) -> None:
    await alice.opens(f'/rules new {SHOP}/new to {SHOP}/old named "Way back"')
    await alice.submits()
    await alice.sees_form(" loop: ")
    assert workspace.services.rules.calls("POST") == []

    await alice.submits()
    await alice.sees_change(of="Way back")
