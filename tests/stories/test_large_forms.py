"""Forms of what is large, and forms that Slack does not take or nobody looks at any more."""

from __future__ import annotations

from typing import Any

import pytest

from sandbox.demo import Sandbox
from sandbox.services.seed import redirect_pair
from tests.conftest import until
from tests.harness.colleague import Colleague

OLD = "Redirect_x1old"
AT_ONCE = pytest.mark.parametrize("form_timeout", [0.0])
"""Forms are acknowledged as being saved, before anything else is known of them."""
ANNA = "anna.berg@example.com"


def pair(number: int, text: str) -> dict[str, Any]:
    return redirect_pair(f"https://a.example/{number}{text}", f"https://b.example/{text}")


@pytest.mark.slow
@pytest.mark.parametrize("piece", ["a", "日"])
async def test_a_rule_with_a_thousand_pairs_and_long_texts_is_edited(
    workspace: Sandbox, alice: Colleague, piece: str
) -> None:
    pairs = [pair(number, piece * (2_970 if number < 12 else 1)) for number in range(1_000)]
    about = {"name": piece * 2_000, "description": piece * 3_000}
    workspace.services.rules.put(
        {"id": "Redirect_1", "ruleType": "Redirect", "status": "Inactive", "pairs": pairs} | about
    )

    alice.patience = 60  # a machine that is busy takes its time for half a megabyte
    view = await alice.opens("/rules edit Redirect_1")
    await alice.clicks(view, "v1.form.remove.o2", opens="Pair")
    alice.fills(Name="Short")
    assert await alice.submits() == {}
    await alice.sees_change(of="Redirect_1")

    after = workspace.services.rules.get("Redirect_1") or {}
    assert after["pairs"] == [pairs[0], *pairs[2:]]
    assert (after["name"], after["description"]) == ("Short", about["description"])


async def test_what_was_typed_stays_where_slack_does_not_take_one_more_pair(
    workspace: Sandbox, alice: Colleague
) -> None:
    view = await alice.opens(f"/rules edit {OLD}")
    workspace.slack.faults.add("invalid_arguments", method="views.update")

    await alice.clicks(view, "Add pair", opens="too large for a form")

    form, notice = workspace.slack.state.stack(alice.id)
    assert (form["callback_id"], notice["callback_id"]) == ("v2.rule.form", "v1.notice")


@AT_ONCE
@pytest.mark.parametrize(("fault", "words"), [("", "See the card"), ("refused_200", "Nothing was saved")])
async def test_the_end_of_a_form_that_slack_does_not_take_says_whether_anything_was_saved(
    workspace: Sandbox, alice: Colleague, fault: str, words: str
) -> None:
    await alice.opens(f"/rules edit {OLD}")
    alice.fills(Name="Another")
    if fault:
        workspace.services.rules.stage.faults.add(fault, method="PUT")
    workspace.slack.faults.add("invalid_arguments", method="views.update")

    assert await alice.submits() == {}

    await alice.sees_form(words)


@pytest.mark.parametrize("code", ["not_found", "expired_trigger_id"])
async def test_whoever_closes_a_form_while_it_loads_hears_nothing_of_it(
    workspace: Sandbox, alice: Colleague, code: str
) -> None:
    for text in (f"/rules edit {OLD}", f"/members edit {ANNA}", f"/rules copy {OLD}"):
        workspace.slack.faults.add(code, method="views.update")
        await alice.types(text)
    heard = len(workspace.slack.state.messages)
    await until(lambda: not workspace.slack.faults.waiting or workspace.slack.faults.waiting[-1].times == 0)

    reply = await alice.says("/rules list checkout")

    assert "4 rules" in alice.slack_text(reply)
    assert len(workspace.slack.state.messages) == heard + 1


@AT_ONCE
async def test_whoever_closes_a_form_while_it_is_saved_hears_what_was_not_saved(
    workspace: Sandbox, alice: Colleague
) -> None:
    await alice.opens(f"/rules edit {OLD}")
    alice.fills(Name="Refused")
    workspace.services.rules.stage.faults.add("refused_200", method="PUT")
    workspace.slack.faults.add("not_found", method="views.update")

    assert await alice.submits() == {}

    def is_told() -> bool:
        mine = [one for one in workspace.slack.state.messages if one.visible_to == alice.id]
        return any("Rule Payload is invalid" in alice.slack_text(one) for one in mine)

    await until(is_told)
