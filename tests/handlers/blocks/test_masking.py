"""Whatever holds an email and wherever: what leaves for a channel holds none, and Slack still takes it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from handlers.blocks import messages
from handlers.blocks.buttons import confirm, decide_button, run_button, share_button
from handlers.blocks.masking import has_email, is_public, mask_message, mask_part, mask_text
from handlers.gatehouse.commands import GatehouseAudit
from handlers.rules.commands import RulesShow
from sandbox.slack.validation import are_blocks_too_long, check_message
from tests.harness.channels import find_emails, readable_text

EMAILS = (
    "anna.berg@example.com",
    "ANNA.Berg@EXAMPLE.com",
    "anna_b@example.com",
    "anna*b~c@example.com",
    "anna+tag%2F@example.com",
    "anna&co@example.com",
    "zoë@exämple.example",
    "анна@пример.рф",
    "a@b.co",
)
AROUND = st.sampled_from(["", " ", "see ", "(", "<", ":", "mailto:", "https://shop.example.com/in?email=", "`", "x\n"])
PLANTED = st.builds(
    "{}{}{}".format, AROUND, st.sampled_from(EMAILS), st.sampled_from(["", " ", ".", ")", ">", "|x>", "&c=1"])
)
TEXT = st.lists(st.one_of(PLANTED, st.text(max_size=20)), min_size=1, max_size=8).map(" ".join)
SENT = TEXT.flatmap(
    lambda text: st.sampled_from([text, messages.esc(text), messages.code(text), messages.escape_invisible(text)])
)
TREE = st.recursive(
    SENT | st.integers() | st.booleans(),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["text", "value", "title", "confirm", "elements", "metadata", "url"]), inner)
    ),
    max_leaves=20,
)


@pytest.mark.parametrize("email", EMAILS)
@pytest.mark.parametrize(
    "written",
    [str, messages.esc, messages.code, "<mailto:{0}|{0}>".format, "<https://shop.example.com?email={0}|x>".format],
)
def test_every_spelling_is_masked(email: str, written: Any) -> None:
    assert find_emails(written(email)) != [], "the look itself finds it"

    assert find_emails(mask_text(written(email))) == []


@pytest.mark.slow
@pytest.mark.threat("E4")
@given(TREE)
@settings(max_examples=500, deadline=None)
def test_nothing_of_a_payload_that_leaves_for_a_channel_holds_an_email(tree: Any) -> None:
    assert find_emails(mask_part(tree)) == []


@pytest.mark.slow
@given(st.lists(SENT, min_size=1, max_size=60), st.text(max_size=80))
@example(["a@b.co " * 500] * 5, "a@b.co " * 100)
@settings(max_examples=200, deadline=None)
def test_what_is_masked_still_fits(texts: list[str], label: str) -> None:
    asked = confirm(texts[0], texts[-1], label)
    buttons = messages.actions([decide_button(label, "approve", "0" * 32, confirm=asked)])
    whole = messages.message(
        texts[0], [*map(messages.section, filter(str.strip, texts)), *buttons, messages.context("end")]
    )

    message = mask_message(whole)

    blocks = list(message.blocks)
    assert check_message({"text": message.text, "blocks": blocks}) == []
    assert not are_blocks_too_long(blocks)
    assert find_emails([message.text, blocks]) == []


@pytest.mark.parametrize("email", EMAILS)
def test_an_email_that_was_cut_off_is_masked(email: str) -> None:
    text = f"asked by {email}"
    for limit in range(len(text) - 1):
        shown = readable_text(mask_text(messages.esc(text + "x" * 100, limit + 9)))
        local, at, _ = shown.removeprefix("asked by ").partition("@")
        assert not at or local in {f"{email[0]}***", '"a***'}, shown


def test_the_host_of_a_link_with_an_email_stays_visible() -> None:
    link = "https://evil.example/steal?a=1&amp;email=anna@example.com&amp;b=anna@example.com#anna@example.com"

    assert mask_text(link) == link.replace("anna", "a***")
    assert mask_text("https://shop.example.com@evil.example/x") == "https://s***@evil.example/x"


def test_what_is_masked_already_and_what_holds_no_email_is_left_alone() -> None:
    for text in (
        "a***@example.com",
        "`members/blog/a***@example.com`",
        "<@U0ALICE01> in <#C0OPS0001>",
        "@gatehouse",
        "v2@prod",
        "a&amp;b <!date^1^x|y>",
    ):
        assert mask_text(text) == text


@pytest.mark.parametrize("sign", ["@", "＠", "﹫", "%40"])
def test_an_email_is_masked_whatever_its_sign(sign: str) -> None:
    assert mask_text(f"anna{sign}example.com") == "a***@example.com"


def test_a_button_that_would_carry_an_email_is_left_out_and_others_stay() -> None:
    share = share_button(GatehouseAudit(ref="anna.berg@example.com"))
    show = run_button("Show", RulesShow(ref="Redirect_x1old"), 0)
    option = {"text": messages.plain_text("Anna", 75), "value": "anna.berg@example.com"}
    menu = {"type": "static_select", "options": [option], "action_id": "v1.menu"}

    shown = mask_part(
        [*messages.actions([share, show]), *messages.actions([share]), messages.section("x", share), menu]
    )

    assert shown == [*messages.actions([show]), messages.section("x")]


def test_a_file_tells_whether_an_email_is_in_it() -> None:
    assert has_email(b'[{"name": "x"},\n{"name": "of anna@example.com"}]')
    assert not has_email(b'[{"name": "x"}]\n\xff')


def test_only_conversations_of_two_are_private() -> None:
    assert [is_public(one) for one in ("C0OPS0001", "G0GROUP01", "D0ALICE01", "U0ALICE01", "W0ALICE01", "")] == [
        True,
        True,
        False,
        False,
        False,
        True,
    ]
