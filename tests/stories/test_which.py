"""What on-call asks at three in the morning: which rule touches this address, and why not the others."""

from __future__ import annotations

from itertools import combinations
from typing import Any, Final

from sandbox.demo import Sandbox
from tests.harness.colleague import Colleague

OLD = "https://shop.example.com/old"
NEW = "https://shop.example.com/new"
REDIRECTED = f"`{OLD}` redirects to `{NEW}`"


async def test_a_url_is_explained(workspace: Sandbox, alice: Colleague) -> None:
    reply = await alice.says(f"/rules which {OLD}")

    text = alice.slack_text(reply)
    assert text.startswith(REDIRECTED)
    assert "Old shop to new shop" in text
    await alice.clicks(reply, "Switch off…", opens="How long?")
    assert "Old shop to new shop" in alice.form
    alice.fills(**{"How long?": "Until I switch it on", "Why": "it loops"})
    assert await alice.submits() == {}
    await alice.sees_change(of="Redirect_x1old")
    assert (workspace.services.rules.get("Redirect_x1old") or {})["status"] == "Inactive"


async def test_a_rule_that_is_off_for_a_while_is_told_with_its_end(workspace: Sandbox, alice: Colleague) -> None:
    card = alice.slack_text(await alice.says("/rules off Redirect_x1old for 2h"))
    ends = card.partition(" is off until ")[2].partition("\n")[0]

    asked = alice.slack_text(await alice.says("/rules which https://shop.example.com/old"))
    assert f"isn’t redirected: “Old shop to new shop” is off until {ends}" in asked


async def test_a_scheme_that_was_mistyped_is_read_and_not_assumed(alice: Colleague) -> None:
    for typed in ("http//shop.example.com/old", "http:/shop.example.com/old"):
        text = alice.slack_text(await alice.says(f"/rules which {typed}"))
        assert "`http://shop.example.com/old`" in text
        assert "Assumed" not in text


async def test_of_several_urls_the_first_is_answered_and_the_others_are_a_click_away(alice: Colleague) -> None:
    reply = await alice.says("/rules which https://shop.example.com/new, https://shop.example.com/old.")

    text = alice.slack_text(reply)
    assert "No rule changes `https://shop.example.com/new`\n“Old shop to new shop” redirects to it." in text
    assert "This is about the first of 2 URLs. The others: `https://shop.example.com/old`" in text
    await alice.clicks(reply, "Check URL 2")
    await alice.sees(REDIRECTED)


async def test_a_rule_that_is_off_in_a_group_that_is_off_says_both(workspace: Sandbox, alice: Colleague) -> None:
    await alice.says("/rules group off Sales campaigns")
    await alice.says("/rules off Redirect_seas1")

    for text in ("which https://shop.example.com/summer", "show Redirect_seas1"):
        told = alice.slack_text(await alice.says(f"/rules {text}"))
        assert "its group “Sales campaigns” is off" in told, text


HEADER: Final = {"Request": [{"header": "X-Debug", "type": "Add", "value": "1"}]}
KINDS: Final[dict[str, dict[str, Any]]] = {
    "Redirect": {"destinationType": "url", "destination": "https://there.example.com/"},
    "Cancel": {},
    "Headers": {"modifications": HEADER},
    "Script": {"scripts": [{"codeType": "js", "type": "code", "value": "1"}]},
    "QueryParam": {"modifications": [{"type": "Remove", "param": "utm_source"}]},
}
"""The fields of a pair of each type; what the last one removes is in no URL here, so it matches and changes nothing."""
STAYING: Final = [(kind, status) for status in ("Active", "Inactive") for kind in KINDS][2:]
"""Of each type a rule that is on and one that is off, but for the two that would redirect or block."""


async def test_of_a_url_that_stays_only_what_would_redirect_or_block_is_told(
    workspace: Sandbox, alice: Colleague
) -> None:
    for number, matching in enumerate(each for size in range(3) for each in combinations(STAYING, size)):
        url = f"https://case{number}.example.com/"
        names = {f"{kind} {status} {number}" for kind, status in matching}
        for kind, status in matching:
            known = {"id": f"{kind}_{number}{status}", "ruleType": kind, "status": status}
            pair = {"source": {"key": "Url", "operator": "Equals", "value": url}, **KINDS[kind]}
            workspace.services.rules.put(known | {"name": f"{kind} {status} {number}", "pairs": [pair]})
        reply = await alice.says(f"/rules which {url}")

        told = alice.slack_text(reply)
        deciding = {name for name in names if name.startswith(("Redirect", "Cancel"))}
        changing = {name for name in names if name.startswith(("Headers Active", "Script Active"))}
        assert {name for name in names if name in told} == deciding, told
        count = f"{len(changing)} rule{'s change' if len(changing) > 1 else ' changes'} something else"
        line = f"`{url}` isn’t redirected; {count}" if changing else f"No rule changes `{url}`"
        headline = told.partition("\n")[0]
        assert headline.endswith("” is off" if deciding else line), told
        assert ("Details" in told) == (names != deciding)
        if names != deciding:
            await alice.clicks(reply, "Details")
        for name in names:
            await alice.sees(name)
