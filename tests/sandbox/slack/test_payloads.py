"""What an app is sent about people and channels that are not like the others."""

from __future__ import annotations

from sandbox.slack import payloads
from sandbox.slack.message import Message
from sandbox.slack.people import ALICE, BOT, FRANK
from sandbox.slack.state import State


def test_a_private_channel_is_not_named() -> None:
    state = State()

    sent = payloads.command(state, ALICE.id, "C0WARROOM", "/rules", "", "")

    assert sent["channel_name"] == "privategroup"
    assert payloads.as_typed("see #war-room", state, should_escape=True) == "see <#C0WARROOM|>"
    assert payloads.as_typed("see #support", state, should_escape=True) == "see <#C0SUPPORT|support>"


def test_a_click_says_of_which_company_the_person_is() -> None:
    state = State()
    card = Message(state.new_ts(), "C0PARTNER", BOT.id, "A card", [])

    sent = {
        person.id: payloads.message_click(state, person.id, card, {}, {}, "")["user"]["team_id"]
        for person in (ALICE, FRANK)
    }

    assert sent == {ALICE.id: "T0GATE001", FRANK.id: "T0OTHER01"}


def test_a_click_in_a_thread_says_in_which() -> None:
    state = State()
    reply = Message(state.new_ts(), "C0OPS0001", BOT.id, "A reply", [], thread_ts="1.000001")
    card = Message(state.new_ts(), "C0OPS0001", BOT.id, "A card", [])

    sent, other = (payloads.message_click(state, ALICE.id, one, {}, {}, "") for one in (reply, card))

    assert (sent["container"]["thread_ts"], sent["message"]["thread_ts"]) == ("1.000001", "1.000001")
    assert "thread_ts" not in {**other["container"], **other["message"]}
