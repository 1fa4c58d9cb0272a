"""A team's own words from the policy act exactly as the commands that they stand for."""

from __future__ import annotations

import pytest

from sandbox.demo import Sandbox
from sandbox.slack.story import Person
from tests.stories.test_guesses import OLD, writes

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


async def test_an_alias_acts_at_once_with_the_time_and_the_reason(workspace: Sandbox, alice: Person) -> None:
    await alice.says(f"/rules zap {RULE} for 2h because incident")

    card = await alice.sees("“Old shop to new shop” is off until")
    assert "incident" in alice.slack_text(card)
    assert status(workspace) == "Inactive"


async def test_the_longest_alias_counts(workspace: Sandbox, alice: Person) -> None:
    await alice.says("/rules Zap ALL of Sales campaigns")

    await alice.sees("The group “Sales campaigns” is off")


async def test_an_alias_that_names_a_root_works_under_each(workspace: Sandbox, alice: Person) -> None:
    for root in ("/rules", "/members", "/gatehouse"):
        reply = await alice.says(f"{root} wohin geht {OLD}")

        shown = alice.slack_text(reply)
        assert shown.startswith(f'Read as `/rules which "{OLD}"`')
        assert "Old shop to new shop" in shown


async def test_an_alias_for_what_destroys_waits_as_the_command_does(workspace: Sandbox, alice: Person) -> None:
    await alice.says("/rules gdpr anna.berg@example.com")

    assert "Approve" in alice.slack_text(await alice.sees("every site"))
    assert writes(workspace) == 0


async def test_what_the_command_would_not_take_is_offered_with_the_words_that_were_typed(
    workspace: Sandbox, alice: Person
) -> None:
    reply = await alice.says("/rules zap old shop page")

    assert "You typed `/rules zap old shop page`" in alice.slack_text(reply)
    assert writes(workspace) == 0


@pytest.mark.parametrize("text", [f"@gatehouse zap {RULE}", f"zap {RULE} @gatehouse", f"@gatehouse rules zap {RULE}"])
async def test_an_alias_in_a_mention(workspace: Sandbox, alice: Person, text: str) -> None:
    await alice.types(text)

    await alice.sees("“Old shop to new shop” is off")
    assert status(workspace) == "Inactive"


async def test_a_word_behind_the_beginning_is_no_alias(workspace: Sandbox, alice: Person) -> None:
    reply = await alice.says("/rules list zap")

    assert "Read as" not in alice.slack_text(reply)
