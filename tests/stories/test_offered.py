"""What is offered can be done: no button for what would be refused, or would change nothing."""

from __future__ import annotations

import pytest

from handlers.explain.table import says_unchanged
from handlers.grammar.command import Command
from handlers.grammar.parser import ALL, parse
from handlers.slack.registry import RUNNING, action_name
from sandbox.demo import Sandbox
from sandbox.slack.message import Message
from sandbox.slack.story import Person
from tests.harness.channels import buttons

OLD = "Redirect_x1old"
READERS = """
[roles.readers]
channels = ["C0OPS0001"]
may = ["read"]
"""
READS = [kind for kind in ALL if not kind.writes and all(each.endswith(".read") for each in kind.needs)]


def commands(message: Message) -> list[Command]:
    """What the buttons of *message* stand for."""
    values = [str(one["value"]) for one in buttons(message.blocks) if action_name(one["action_id"]) in RUNNING]
    return [parse(*value.partition(" ")[::2]) for value in values]


@pytest.mark.policy(READERS)
async def test_somebody_who_only_reads_is_offered_nothing_else(workspace: Sandbox, alice: Person) -> None:
    texts = [f"/{kind.service} {kind.example}" for kind in READS if kind.example]
    texts += [
        f"/rules show {OLD}",
        "/rules which https://shop.example.com/old",
        "/rules",
        "/members",
        "/rules list zzz",
    ]
    texts += ["/members show anna.berg@example.com site:blog", "/members why anna.berg@example.com vip"]
    for text in texts:
        answer = await alice.replied(text)
        if isinstance(answer, Message):
            needs = {need for each in commands(answer) for need in each.needs}
            assert all(each.endswith(".read") for each in needs), f"{text}: {needs}"


async def test_an_undo_of_nothing_is_not_offered_and_of_a_switch_that_is_thrown_the_click_tells(
    workspace: Sandbox, alice: Person
) -> None:
    workspace.slack.state.open_direct(alice.id)

    said = await alice.says("undo that", channel=alice.dm)
    assert "[Do it]" not in alice.slack_text(said)
    assert says_unchanged(said.blocks)

    await alice.clicks(await alice.says("/rules turn off the polling loop"), "Do it")
    await alice.sees("“Stop the polling loop” is already off")
