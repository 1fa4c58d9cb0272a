"""Shortcuts: from the menu of a message, and from nowhere in particular."""

from __future__ import annotations

from typing import Any

import pytest

from bot.store.audit import Filters
from sandbox.demo import Sandbox
from sandbox.slack.message import Message
from tests.conftest import GENERAL, OPS
from tests.harness.colleague import Colleague

ADDRESS = "https://shop.example.com/old"


def posted(workspace: Sandbox, person: Colleague, text: str, channel: str = OPS, **more: Any) -> Message:
    """A message of *person*, as it stands in a channel when somebody opens its menu."""
    state = workspace.slack.state
    return state.add(Message(state.new_ts(), channel, person.id, text, more.get("blocks", [])))


async def test_the_one_address_of_a_message_is_explained_to_whoever_asks(workspace: Sandbox, alice: Colleague) -> None:
    message = posted(workspace, alice, f"why does <{ADDRESS}> go there?")

    await alice.uses("rule_which", message)

    answer = await alice.sees("Old shop to new shop")
    assert answer.visible_to == alice.id


async def test_of_several_addresses_one_is_picked(workspace: Sandbox, alice: Colleague) -> None:
    message = posted(workspace, alice, f"<{ADDRESS}> and <https://nothing.example.com/>")
    await alice.uses("rule_which", message)

    choice = await alice.sees("https://nothing.example.com/")
    await alice.clicks(choice, "v1.run.0")

    assert "→" in alice.slack_text(await alice.sees("Old shop to new shop"))


@pytest.mark.parametrize("shortcut", ["rule_which", "member_info"])
async def test_a_message_without_any_is_said_to_have_none(workspace: Sandbox, alice: Colleague, shortcut: str) -> None:
    await alice.uses(shortcut, posted(workspace, alice, "good morning"))

    await alice.sees_problem()


async def test_a_rule_is_made_from_a_message_which_stays_on_record(workspace: Sandbox, alice: Colleague) -> None:
    message = posted(workspace, alice, "please send <https://shop.example.com/verano> to the sale")
    await alice.uses("rule_from_message", message)
    await alice.sees_form("https://shop.example.com/verano")
    alice.fills(Name="Spring", To="https://shop.example.com/sale")
    assert await alice.submits() == {}
    await alice.sees_change(of="Spring")

    link = f"archives/{OPS}/p{message.ts.replace('.', '')}"
    entries = await workspace.bot.gatehouse.store.audit.find(Filters(), limit=20)
    assert any(link in str(entry.detail.get("reason")) for entry in entries)


async def test_a_new_rule_from_nowhere_asks_where_to_announce_it(workspace: Sandbox, alice: Colleague) -> None:
    await alice.uses("rule_new")
    await alice.sees_form("Announce in")
    alice.fills(
        Announce_in=GENERAL,
        Name="Spring",
        From="https://shop.example.com/verano",
        To="https://shop.example.com/sale",
    )
    assert await alice.submits() == {}
    await alice.sees_form("only accepts changes in channels it is in")
    assert "Spring" in alice.form, "what was typed is still there"

    alice.fills(Announce_in=OPS)
    assert await alice.submits() == {}

    card = await alice.sees_change(of="Spring")
    assert card.channel == OPS
    assert any(rule["name"] == "Spring" for rule in workspace.services.rules.all())


async def test_in_a_thread_the_answer_comes_into_the_thread(workspace: Sandbox, alice: Colleague) -> None:
    root = posted(workspace, alice, "checkout is broken")
    reply = posted(workspace, alice, f"<{ADDRESS}>")
    reply.thread_ts = root.ts

    await alice.uses("rule_which", reply)

    answer = await alice.sees_reply(root, "Old shop to new shop")
    assert answer.visible_to == alice.id
