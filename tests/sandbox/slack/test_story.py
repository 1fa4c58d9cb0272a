"""The people of tests: what they see, and that they wait for it."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from sandbox.gatehouse import BOB
from sandbox.slack import rendering
from sandbox.slack.story import Person
from sandbox.slack.watching import NothingHappened
from tests.sandbox.slack.desk import ALICE, OPS, Desk, words

LOADING = {"type": "modal", "callback_id": "v1.loading", "title": words("One moment"), "blocks": []}


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("`*://www.google.*/search?q=*&amp;*`", "`*://www.google.*/search?q=*&*`"),
        ("*`/.*vyond.com/…whiteboard_.*/` is off* _now_ :x:", "`/.*vyond.com/…whiteboard_.*/` is off now ✗"),
        ("```m***@example.com\n:x: _a_``` *b*", "```m***@example.com\n:x: _a_``` b"),
        ("m\u2060*\u2060*\u2060*\u2060@example.com *b*", "m***@example.com b"),
        ("a_b_c <https://example.com|*here*>", "a_b_c here"),
    ],
)
def test_what_is_code_is_read_as_it_is(text: str, shown: str) -> None:
    assert rendering.plain_text(text) == shown


def form(title: str) -> dict[str, Any]:
    entry = {"type": "plain_text_input", "action_id": "text"}
    block = {"type": "input", "block_id": "reason", "label": words("Reason"), "element": entry}
    return {"type": "modal", "title": words(title), "submit": words("Send"), "blocks": [block]}


async def card(desk: Desk) -> str:
    button = {"type": "button", "action_id": "edit", "text": words("Edit")}
    block = {"type": "actions", "block_id": "acts", "elements": [button]}
    return str((await desk.call("chat.postMessage", channel=OPS, text="A card", blocks=[block]))["ts"])


@pytest.fixture
def alice(desk: Desk) -> Person:
    return Person(desk.slack, ALICE, OPS)


async def test_a_click_opens_a_modal_that_is_filled_and_sent(desk: Desk, alice: Person) -> None:
    late: set[asyncio.Task[None]] = set()

    async def fill(trigger_id: str) -> None:
        loading = (await desk.call("views.open", trigger_id=trigger_id, view=LOADING))["view"]
        await desk.call("views.update", view_id=loading["id"], hash=loading["hash"], view=form("Why?"))

    async def click(payload: dict[str, Any]) -> None:
        late.add(asyncio.create_task(fill(payload["trigger_id"])))  # acknowledged before there is a modal

    desk.on = {"block_actions": click}
    await card(desk)
    await alice.clicks(alice.cards[0], "Edit", opens="Why?")
    alice.fills(Reason="it loops")
    assert await alice.submits() == {}

    state = desk.last("view_submission")["view"]["state"]["values"]
    assert state["reason"]["text"]["value"] == "it loops"
    assert alice.modal is None
    await asyncio.gather(*late)


async def test_a_click_that_opens_nothing_is_found_out(desk: Desk, alice: Person) -> None:
    alice.patience = 0.1
    await card(desk)

    with pytest.raises(NothingHappened, match="Why"):
        await alice.clicks(alice.cards[0], "Edit", opens="Why?")


async def test_a_click_on_a_card_does_not_tell_of_the_modal_before_it(desk: Desk, alice: Person) -> None:
    async def answer(payload: dict[str, Any]) -> None:
        await desk.call("views.open", trigger_id=payload["trigger_id"], view=form("Open"))

    desk.on = {"command": answer}
    await card(desk)
    await alice.opens("/desk new")
    alice.fills(Reason="half written")

    await alice.clicks(alice.cards[0], "Edit")

    assert desk.last("block_actions")["state"]["values"] == {}


async def test_a_reply_is_waited_for(desk: Desk, alice: Person) -> None:
    root = await card(desk)
    (message,) = alice.cards
    assert alice.thread(message) == []

    async def reply(text: str) -> None:
        await desk.call("chat.postMessage", channel=OPS, thread_ts=root, text=text)

    seen, *_ = await asyncio.gather(alice.sees_reply(message, "done"), reply("done, says the bot"))
    await desk.slack.acting.say(BOB.id, OPS, "thank you", root)
    await reply("welcome")

    assert seen.text == "done, says the bot"
    assert [one.text for one in alice.thread(message)] == ["done, says the bot", "welcome"]
    assert alice.cards == [message], "a reply is no card"


async def test_what_is_said_in_the_channel_is_no_reply(desk: Desk, alice: Person) -> None:
    alice.patience = 0.1
    await card(desk)
    await desk.call("chat.postMessage", channel=OPS, text="done")

    with pytest.raises(NothingHappened):
        await alice.sees_reply(alice.cards[0], "done")


async def test_direct_messages_are_between_two(desk: Desk, alice: Person) -> None:
    bob = Person(desk.slack, BOB.id, OPS)
    await card(desk)
    await desk.call("chat.postMessage", channel=ALICE, text="A reminder")
    await desk.slack.acting.say(ALICE, alice.dm, "thank you")

    assert [one.text for one in alice.dms] == ["A reminder"]
    assert (await alice.sees_dm("A reminder")).channel == alice.dm
    assert bob.dms == []
    assert [one.text for one in bob._bot_messages()] == ["A card"]
    assert [one.text for one in alice.cards] == ["A card"]
