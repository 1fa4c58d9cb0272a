"""What an app is sent: about people and channels that are not like the others, and as which text."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sandbox.gatehouse import ALICE, BOB, BOT, FRANK, SHOP
from sandbox.slack import payloads
from sandbox.slack.message import Message
from sandbox.slack.state import State
from sandbox.slack.texts import command_text, escape_text, message_text, rich_text


def test_a_private_channel_is_not_named() -> None:
    state = State(SHOP)

    sent = payloads.command(state, ALICE.id, "C0WARROOM", "/rules", "", "")

    assert sent["channel_name"] == "privategroup"
    assert command_text("see #war-room", state, should_escape=True) == "see <#C0WARROOM|>"
    assert command_text("see #support", state, should_escape=True) == "see <#C0SUPPORT|support>"


def test_a_click_says_of_which_company_the_person_is() -> None:
    state = State(SHOP)
    card = Message(state.new_ts(), "C0PARTNER", BOT.id, "A card", [])

    sent = {
        person.id: payloads.message_click(state, person.id, card, {}, {}, "")["user"]["team_id"]
        for person in (ALICE, FRANK)
    }

    assert sent == {ALICE.id: "T0GATE001", FRANK.id: "T0OTHER01"}


def test_a_click_in_a_thread_says_in_which() -> None:
    state = State(SHOP)
    reply = Message(state.new_ts(), "C0OPS0001", BOT.id, "A reply", [], thread_ts="1.000001")
    card = Message(state.new_ts(), "C0OPS0001", BOT.id, "A card", [])

    sent, other = (payloads.message_click(state, ALICE.id, one, {}, {}, "") for one in (reply, card))

    assert (sent["container"]["thread_ts"], sent["message"]["thread_ts"]) == ("1.000001", "1.000001")
    assert "thread_ts" not in {**other["container"], **other["message"]}


@pytest.mark.parametrize(
    ("typed", "command", "message"),
    [
        ("who:@alice", "who:<@U0ALICE01|alice>", "who:<@U0ALICE01>"),
        ("@Alice who:@ALICE", *["<@U0ALICE01|alice> who:<@U0ALICE01|alice>", "<@U0ALICE01> who:<@U0ALICE01>"]),
        ("@Gatehouse which /old", "<@U0GATEBOT|gatehouse> which /old", "<@U0GATEBOT> which /old"),
        ("@Alice Ng, @bob ortiz.", "<@U0ALICE01|alice>, <@U0BOB0001|bob>.", "<@U0ALICE01>, <@U0BOB0001>."),
        (
            "@Alice Ngo @bob @cara",
            *["<@U0ALICE01|alice> Ngo <@U0BOB0001|bob> <@U0CARA001|cara>"],
            "<@U0ALICE01> Ngo <@U0BOB0001> <@U0CARA001>",
        ),
        (
            "@alice https://a.example x",
            "<@U0ALICE01|alice> <https://a.example> x",
            "<@U0ALICE01> <https://a.example> x",
        ),
        (
            "@bob a.b+c@example.com",
            *[f"<@U0BOB0001{name}> <mailto:a.b+c@example.com|a.b+c@example.com>" for name in ("|bob", "")],
        ),
        ("(@alice, @bob.)", "(<@U0ALICE01|alice>, <@U0BOB0001|bob>.)", "(<@U0ALICE01>, <@U0BOB0001>.)"),
        ("@here @oncall", "<!here> <!subteam^S0ONCALL|@oncall>", "<!here> <!subteam^S0ONCALL>"),
        ("in:#support #nowhere", "in:<#C0SUPPORT|support> #nowhere", "in:<#C0SUPPORT|support> #nowhere"),
        ("a@alice @nobody", "a@alice @nobody", "a@alice @nobody"),
        ("x@example.com", "<mailto:x@example.com|x@example.com>", "<mailto:x@example.com|x@example.com>"),
        ("https://a.example/@alice#support&b", *["<https://a.example/@alice#support&amp;b>"] * 2),
        ("1 < 2 & <@U0ALICE01>", *["1 &lt; 2 &amp; &lt;@U0ALICE01&gt;"] * 2),
    ],
)
def test_what_is_typed_becomes_references(typed: str, command: str, message: str) -> None:
    state = State(SHOP.with_app({"display_information": {"name": "Gatehouse"}}))

    assert command_text(typed, state, should_escape=True) == command
    assert message_text(typed, state) == message


def test_a_name_that_two_have_names_nobody() -> None:
    state = State(SHOP)
    state.users[BOB.id] = replace(BOB, real_name="Alice Ng", name="alice.ng")

    assert message_text("@Alice Ng @alice.ng", state) == "<@U0ALICE01> Ng <@U0BOB0001>"
    state.users[BOB.id] = replace(BOB, name="alice")
    assert message_text("@alice", state) == "@alice"


@pytest.mark.parametrize(
    ("sent", "kept"),
    [
        ("a & b < c > d", "a &amp; b &lt; c &gt; d"),
        ("a &amp; b &lt;", "a &amp; b &lt;"),
        ("<@U0ALICE01|alice>", "<@U0ALICE01>"),
        (
            "<@U0ALICE01> <#C0OPS0001> <!here> <!date^1^{date}|x>",
            "<@U0ALICE01> <#C0OPS0001> <!here> <!date^1^{date}|x>",
        ),
        ("<https://a.example/?a&b|A & B> <b>", "<https://a.example/?a&b|A & B> &lt;b&gt;"),
    ],
)
def test_the_text_of_an_app_is_kept_escaped(sent: str, kept: str) -> None:
    assert escape_text(sent) == kept


def test_a_text_is_rich_text_too() -> None:
    (block,) = rich_text(
        "Hi <@U0ALICE01>, see <https://a.example|*A* &amp; B> in <#C0OPS0001|ops> :tada: 10:30:15", "1.1"
    )

    assert block["elements"][0]["elements"] == [
        {"type": "text", "text": "Hi "},
        {"type": "user", "user_id": "U0ALICE01"},
        {"type": "text", "text": ", see "},
        {"type": "link", "url": "https://a.example", "text": "*A* & B"},
        {"type": "text", "text": " in "},
        {"type": "channel", "channel_id": "C0OPS0001"},
        {"type": "text", "text": " "},
        {"type": "emoji", "name": "tada"},
        {"type": "text", "text": " 10:30:15"},
    ]
