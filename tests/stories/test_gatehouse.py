"""Help, status, who am I."""

from __future__ import annotations

import pytest

from bot import __version__
from sandbox.demo import Sandbox
from sandbox.services.seed import RULES
from tests.harness.colleague import Colleague


async def test_status_tells_what_answers(workspace: Sandbox, alice: Colleague) -> None:
    reply = await alice.says("/gatehouse status")
    assert "Everything works" in alice.slack_text(reply)
    assert f"Gatehouse {__version__}" in alice.slack_text(reply)

    workspace.services.rules.stage.faults.add("500", times=9)
    reply = await alice.says("/gatehouse status")
    assert "Everything else works" in alice.slack_text(reply)


@pytest.mark.parametrize(
    ("fault", "said"), [("429", "is rate-limiting Gatehouse (429)"), ("503", "is not available for a while (503)")]
)
async def test_status_tells_a_service_that_is_away_from_one_that_is_busy(
    workspace: Sandbox, alice: Colleague, fault: str, said: str
) -> None:
    workspace.services.rules.stage.faults.add(fault, value=60)

    reply = await alice.says("/gatehouse status")

    assert f"The rules service {said}." in alice.slack_text(reply)


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("/gatehouse whoami", "You can do everything"),
        ("/rules list", f"{len(RULES)} rules"),
        ("/rules which https://shop.example.com/old", "Old shop to new shop"),
        ("/members show anna.berg@example.com", "Anna Berg"),
    ],
)
async def test_what_changes_nothing_waits_for_no_change(
    workspace: Sandbox, alice: Colleague, text: str, answer: str
) -> None:
    await alice.says("/rules list")  # which is remembered for #1, #2, …

    async with workspace.bot.gatehouse.store.transaction():  # somebody's change is being recorded
        assert answer in alice.slack_text(await alice.says(text))
