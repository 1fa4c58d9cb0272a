"""What is wrong with rules, told when asked and before something is saved."""

from __future__ import annotations

from typing import Any

from sandbox.demo import Sandbox
from sandbox.slack.story import Person

SHOP = "https://shop.example.com"
OLD = "Redirect_x1old"


def redirect(rule_id: str, source: str, destination: str, **more: Any) -> dict[str, Any]:
    pair = {
        "source": {"key": "Url", "operator": "Equals", "value": source},
        "destinationType": "url",
        "destination": destination,
    }
    named = {"id": rule_id, "name": f"Rule {rule_id}", "ruleType": "Redirect"}
    return named | {"status": "Active", "pairs": [pair], "objectType": "rule"} | more


async def test_where_nothing_is_wrong_that_is_said(workspace: Sandbox, alice: Person) -> None:
    text = alice.slack_text(await alice.says("/rules check"))

    assert "Nothing found in 25 rules" in text


async def test_what_is_wrong_is_listed_the_worst_first_with_what_to_do(workspace: Sandbox, alice: Person) -> None:
    workspace.services.rules.put(redirect("Redirect_back", f"{SHOP}/new", f"{SHOP}/old"))
    workspace.services.rules.put(redirect("Redirect_dead", "https://example.com", f"{SHOP}/gone"))

    reply = await alice.says("/rules check")

    text = alice.slack_text(reply)
    assert reply.visible_to == alice.id
    assert text.index("Loops") < text.index("Conditions that never hold")
    assert f"{SHOP}/new → {SHOP}/old → {SHOP}/new" in text
    assert "a browser sends https://example.com/" in text
    await alice.clicks(reply, "Show 2")
    await alice.sees("Since the relaunch in May")


async def test_one_rule_can_be_checked_alone(workspace: Sandbox, alice: Person) -> None:
    workspace.services.rules.put(redirect("Redirect_dead", "https://example.com", f"{SHOP}/gone"))

    assert "never acts" in alice.slack_text(await alice.says("/rules check Redirect_dead"))
    assert "Nothing found in 1 rule" in alice.slack_text(await alice.says(f"/rules check {OLD}"))


async def test_many_findings_come_in_pages(workspace: Sandbox, alice: Person) -> None:
    for number in range(30):
        workspace.services.rules.put(redirect(f"Redirect_d{number}", f"https://d{number}.example", f"{SHOP}/gone"))

    reply = await alice.says("/rules check")
    assert "30 findings in 55 rules" in alice.slack_text(reply)

    await alice.clicks(reply, "Next ›")
    turned = await alice.sees("Page 2 of 4")
    assert turned.ts == reply.ts
    assert "Page 4 of 4" in alice.slack_text(await alice.says("/rules check page:9"))
