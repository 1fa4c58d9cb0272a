"""The people of tests: what they see, and that they wait for it."""

from __future__ import annotations

from typing import Any

import pytest

from sandbox.slack import rendering
from sandbox.slack.story import Person
from sandbox.slack.watching import NothingHappened
from tests.sandbox.slack.desk import ALICE, OPS, Desk, words


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


async def test_what_is_said_in_the_channel_is_no_reply(desk: Desk, alice: Person) -> None:
    alice.patience = 0.1
    await card(desk)
    await desk.call("chat.postMessage", channel=OPS, text="done")

    with pytest.raises(NothingHappened):
        await alice.sees_reply(alice.cards[0], "done")
