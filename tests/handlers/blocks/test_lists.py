"""Rows of a list: a section each, within Slack's limits."""

from __future__ import annotations

import pytest

from handlers.blocks import messages
from handlers.blocks.buttons import button
from handlers.blocks.masking import mask_message
from handlers.blocks.messages import Message, code, esc, list_rows, section, strip_markup
from sandbox.slack.validation import are_blocks_too_long, check_message

HOSTILE = "<!channel> *bold* `tick` :fire: _x_ & ~y~ https://evil.example/<a|b>"


def listed(count: int, *, first: int | None = 1, text: str = "Old shop", value: str = "rules show x") -> Message:
    rows = [(f"does {number} {text}", button("Show", f"v1.run.{number}", value)) for number in range(count)]
    return messages.message("Rules", [section("*Rules*"), *list_rows(rows, first=first)])


@pytest.mark.parametrize(("first", "shown"), [(26, "#29 does 3 Old shop"), (None, "does 3 Old shop")])
def test_a_row_has_its_number_and_its_button(first: int | None, shown: str) -> None:
    last = listed(4, first=first).blocks[-1]
    assert (last["text"]["text"], last["accessory"]["value"]) == (shown, "rules show x")


@pytest.mark.parametrize("text", ["x" * 500, esc(HOSTILE * 2), esc("\u202e" * 200), "", "日" * 300])
@pytest.mark.parametrize("value", ["rules show x", "rules show " + "y" * 1900])
def test_slack_takes_every_row_of_a_page(text: str, value: str) -> None:
    message = listed(20, text=text, value=value)
    for shown in (message, mask_message(message)):
        assert check_message({"blocks": list(shown.blocks)}) == []
        assert not are_blocks_too_long(list(shown.blocks))
        assert all(f"does {number} " in f"{shown.blocks} " for number in range(20))


@pytest.mark.parametrize("text", [HOSTILE, "a_b*c", "&lt;", "&amp;amp;", ":x:", "1:2:3"])
def test_what_was_made_safe_is_read_back_as_it_was(text: str) -> None:
    assert strip_markup(f"{esc(text)} on *every* URL") == f"{text} on every URL"
    assert strip_markup(f":file_folder: {code(text)} _none_") == f"{text.replace('`', 'ˋ')} none"
