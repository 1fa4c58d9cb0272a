"""Slash commands do not run in threads; a mention of Gatehouse does, and so does what is written to it alone."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from bot.store.db import StoreError
from handlers.explain.table import says_unchanged
from handlers.grammar.parser import ALL, parse
from sandbox.demo import Sandbox
from sandbox.gatehouse import BOT
from sandbox.slack import payloads
from sandbox.slack.message import Message
from tests.conftest import OPS, QUICK, busy_sandbox, until
from tests.harness.colleague import Colleague

OLD = "Redirect_x1old"
ADDRESS = "https://shop.example.com/old"


async def in_thread(person: Colleague, text: str, of: Message) -> None:
    await person.slack.acting.say(person.id, of.channel, text, of.ts)


def said(workspace: Sandbox, person: Colleague, text: str) -> Message:
    """What *person* wrote before anybody mentioned Gatehouse."""
    state = workspace.slack.state
    return state.add(Message(state.new_ts(), person.channel, person.id, text, []))


async def told(workspace: Sandbox, event: dict[str, Any]) -> None:
    """Slack tells the bot of *event*, which no person of the local Slack can cause."""
    ack = await workspace.slack.delivery.send_event(payloads.event(workspace.slack.state, event))
    assert not ack.failed
    await workspace.slack.delivery.wait_for_retries()


async def test_a_question_in_a_thread_is_answered_in_that_thread(
    workspace: Sandbox, alice: Colleague, cara: Colleague
) -> None:
    alarm = said(workspace, alice, "checkout is broken")

    await in_thread(alice, f"@gatehouse rules which {ADDRESS}", alarm)

    reply = await cara.sees_reply(alarm, "Old shop to new shop")
    assert reply.thread_ts == alarm.ts
    assert reply.visible_to is None


async def test_a_mention_is_acknowledged_only_once_it_is_stored(
    workspace: Sandbox, alice: Colleague, bob: Colleague
) -> None:
    traffic = workspace.slack.state.traffic

    async with workspace.bot.gatehouse.store.transaction() as tx:  # nothing else can be stored
        if tx.dialect.name == "postgresql":  # which has several writers
            await tx.execute(sa.text("LOCK TABLE inbox"))
        mention = asyncio.create_task(alice.types(f"@gatehouse which {ADDRESS}"))
        await bob.says("/gatehouse whoami")
        assert "event" not in {one["what"] for one in traffic}

    await mention
    await alice.sees("Old shop to new shop")
    assert "event" in {one["what"] for one in traffic}


@pytest.mark.threat("A3", "A4")
async def test_a_change_asked_for_in_a_thread_is_made_once_however_often_slack_tells_it(
    workspace: Sandbox, alice: Colleague
) -> None:
    workspace.slack.delivery.twice = True
    alarm = said(workspace, alice, "it loops again")

    await in_thread(alice, f"@gatehouse rules off {OLD} because it loops", alarm)
    await alice.clicks(await alice.sees("Nothing was changed yet"), "Do it")

    card = await alice.sees_change(of=OLD)
    assert card.channel == OPS
    assert len(workspace.services.rules.calls("PUT")) == 1
    assert len(alice.cards) == 1


@pytest.mark.threat("A4")
async def test_an_answer_is_given_once_however_often_slack_tells_it(workspace: Sandbox, alice: Colleague) -> None:
    workspace.slack.delivery.twice = True

    question = said(workspace, alice, "which one is it?")
    await in_thread(alice, f"@gatehouse rules which {ADDRESS}", question)
    await alice.sees_reply(question, "Old shop")
    workspace.slack.delivery.twice = False
    await in_thread(alice, "@gatehouse whoami", question)
    await alice.sees_reply(question, "You can")

    assert len(alice.thread(question)) == 2


@pytest.mark.parametrize(
    "who", [{"user": BOT.id}, {"user": "U0OTHERBT", "bot_id": "B0OTHER"}, {"subtype": "message_changed"}]
)
async def test_machines_and_edits_are_not_answered(workspace: Sandbox, alice: Colleague, who: dict[str, str]) -> None:
    event = {"type": "message", "channel_type": "im", "channel": alice.dm, "text": "whoami", "ts": "1.1"}
    await told(workspace, event | who)

    await alice.says("rules which https://nothing.example.com", channel=alice.dm)

    assert len(alice.dms) == 1, "the answer to the person, and no other"


async def test_others_see_no_answer_in_a_channel_shared_with_another_company(alice: Colleague) -> None:
    reply = await alice.says("@gatehouse rules list", channel="C0PARTNER")

    assert reply.visible_to == alice.id
    assert "shared with another company" in alice.slack_text(reply)


async def test_of_those_whose_request_is_not_stored_only_who_would_change_something_hears_that_nothing_was(
    tmp_path: Path,
) -> None:
    def failpoint(step: str) -> None:
        if step == "store":
            raise StoreError("the disk is full")

    asking = [kind for kind in ALL if not parse(kind.service, kind.example).writes]
    async with busy_sandbox(tmp_path, timing=replace(QUICK, failpoint=failpoint)) as workspace:
        alice = Colleague(workspace, "U0ALICE01", OPS)
        for kind in asking:
            await alice.types(f"@gatehouse {kind.service} {kind.example}")
        await alice.types(f"/rules off {OLD}")

        await until(lambda: any(says_unchanged(one.blocks) for one in workspace.slack.state.messages))
        answers = [one for one in workspace.slack.state.messages if one.visible_to == alice.id]
        assert len(answers) == len(asking) + 1
        assert sum(says_unchanged(one.blocks) for one in answers) == 1


async def test_what_a_channel_is_shown_to_type_can_be_typed(alice: Colleague) -> None:
    for text in ("@Gatehouse", "@Gatehouse help how do I give somebody vip"):
        shown = alice.slack_text(await alice.says(text))
        assert "`/members why anna vip`" in shown


async def test_a_mention_is_repeated_as_it_was_typed(alice: Colleague) -> None:
    shown = alice.slack_text(await alice.says("@Gatehouse turn off Checkout on mobile"))
    assert "You typed `@Gatehouse turn off Checkout on mobile`" in shown
