"""A team's own words from the policy act exactly as the commands that they stand for."""

from __future__ import annotations

import pytest

from sandbox.demo import Sandbox
from tests.harness.colleague import Colleague
from tests.stories.test_guesses import writes

RULE = "Redirect_x1old"
ALIASES = """
[aliases]
zap = "off"
"zap all of" = "rules group off"
gdpr = "members offboard"
"wohin geht" = "rules which"
"""
pytestmark = pytest.mark.policy(ALIASES)


def status(workspace: Sandbox) -> object:
    rule = workspace.services.rules.get(RULE)
    return rule and rule["status"]


async def test_an_alias_acts_at_once_with_the_time_and_the_reason(workspace: Sandbox, alice: Colleague) -> None:
    await alice.says(f"/rules zap {RULE} for 2h because incident")

    card = await alice.sees_change(of=RULE, where=lambda change: change.is_temporary)
    assert "incident" in alice.slack_text(card)
    assert status(workspace) == "Inactive"


async def test_the_longest_alias_counts(workspace: Sandbox, alice: Colleague) -> None:
    await alice.says("/rules Zap ALL of Sales campaigns")

    await alice.sees_change(of="Sales", where=lambda change: (change.edit.after or {})["status"] == "Inactive")


async def test_what_the_command_would_not_take_is_offered_with_the_words_that_were_typed(
    workspace: Sandbox, alice: Colleague
) -> None:
    reply = await alice.says("/rules zap old shop page")

    assert "`/rules zap old shop page`" in alice.slack_text(reply)
    assert writes(workspace) == 0


@pytest.mark.parametrize(
    "text",
    [
        f"@gatehouse zap {RULE}",
        f"zap {RULE} @gatehouse",
        f"@gatehouse rules zap {RULE}",
        f"/gatehouse rules zap {RULE}",
        f"/rules /rules zap {RULE}",
    ],
)
async def test_an_alias_in_a_mention_or_after_another_command(workspace: Sandbox, alice: Colleague, text: str) -> None:
    await alice.types(text)

    await alice.sees_change(of=RULE)
    assert status(workspace) == "Inactive"
