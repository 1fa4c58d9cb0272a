"""The shortcut in the menu of a message."""

from __future__ import annotations

from typing import Any

from sandbox.demo import Sandbox
from sandbox.slack.message import Message
from tests.conftest import OPS
from tests.harness.colleague import Colleague

ADDRESS = "https://shop.example.com/old"


def posted(workspace: Sandbox, person: Colleague, text: str, channel: str = OPS, **more: Any) -> Message:
    """A message of *person*, as it stands in a channel when somebody opens its menu."""
    state = workspace.slack.state
    return state.add(Message(state.new_ts(), channel, person.id, text, more.get("blocks", [])))


async def test_the_one_address_of_a_message_is_explained_to_whoever_asks(workspace: Sandbox, alice: Colleague) -> None:
    message = posted(workspace, alice, f"why does <{ADDRESS}> go there?")

    await alice.uses("look_up", message)

    answer = await alice.sees("Old shop to new shop")
    assert answer.visible_to == alice.id


async def test_of_several_addresses_one_is_picked(workspace: Sandbox, alice: Colleague) -> None:
    message = posted(workspace, alice, f"<{ADDRESS}> and <https://nothing.example.com/>")
    await alice.uses("look_up", message)

    choice = await alice.sees("https://nothing.example.com/")
    await alice.clicks(choice, "v1.run.0")

    assert "→" in alice.slack_text(await alice.sees("Old shop to new shop"))


async def test_the_one_email_of_a_message_is_explained(workspace: Sandbox, alice: Colleague) -> None:
    await alice.uses("look_up", posted(workspace, alice, "anna.berg@example.com can't get in"))

    assert (await alice.sees("is a member of")).visible_to == alice.id


async def test_a_message_without_any_is_said_to_have_none(workspace: Sandbox, alice: Colleague) -> None:
    await alice.uses("look_up", posted(workspace, alice, "good morning"))

    await alice.sees_problem()


async def test_in_a_thread_the_answer_comes_into_the_thread(workspace: Sandbox, alice: Colleague) -> None:
    root = posted(workspace, alice, "checkout is broken")
    reply = posted(workspace, alice, f"<{ADDRESS}>")
    reply.thread_ts = root.ts

    await alice.uses("look_up", reply)

    answer = await alice.sees_reply(root, "Old shop to new shop")
    assert answer.visible_to == alice.id
