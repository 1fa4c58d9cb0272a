"""Rows that are declared once: as a table, and as sections where there is no place for one."""

from __future__ import annotations

import pytest

from handlers.blocks import messages
from handlers.blocks.buttons import button
from handlers.blocks.masking import mask_message
from handlers.blocks.messages import Block, Message, code, esc, section
from handlers.blocks.tables import Number, Row, sections, strip_markup, table, without_tables
from sandbox.slack.validation import are_blocks_too_long, check_message

HOSTILE = "<!channel> *bold* `tick` :fire: _x_ & ~y~ https://evil.example/<a|b>"


def show(number: int, value: str = "rules show Redirect_1") -> Block | None:
    return button("Show", f"v1.run.{number}", value)


def rows(count: int, text: str = "Old shop", value: str = "rules show Redirect_1") -> list[Row]:
    return [Row([text, "On", f"does {number}"], show(number, value)) for number in range(count)]


def listed(count: int, *, first: int | None = 1, **more: str) -> Message:
    blocks = table("Rules", ["Rule", "Status", "What it does"], rows(count, **more), first=first)
    return messages.message("Rules", [section("*Rules*"), *blocks])


@pytest.mark.parametrize(("count", "is_table"), [(1, False), (3, False), (4, True), (20, True)])
@pytest.mark.parametrize("first", [None, 26])
def test_a_few_rows_are_sections_and_many_a_table(count: int, is_table: bool, first: int | None) -> None:
    message = listed(count, first=first)
    assert any(block["type"] == "data_table" for block in message.blocks) is is_table
    assert check_message({"blocks": list(message.blocks)}) == []


def test_a_row_has_its_number_and_its_button_in_either_shape() -> None:
    message = listed(4, first=26)
    assert [cell.get("text") for cell in message.blocks[1]["rows"][1]] == ["#26", "Old shop", "On", None, "does 0"]
    last = without_tables(message).blocks[-1]
    assert last["text"]["text"] == "#29 *Old shop* · On\ndoes 3"
    assert last["accessory"] == show(3)


@pytest.mark.parametrize("text", ["x" * 500, HOSTILE * 9, "\u202e" * 200, "", "日" * 300])
@pytest.mark.parametrize("value", ["rules show Redirect_1", "rules show " + "y" * 1900])
def test_slack_takes_every_row_of_a_page_in_either_shape(text: str, value: str) -> None:
    message = listed(20, text=text, value=value)
    for shown in (message, without_tables(message), mask_message(message)):
        assert check_message({"blocks": list(shown.blocks)}) == []
        assert not are_blocks_too_long(list(shown.blocks))
        assert all(f"does {number}" in repr(shown.blocks) for number in range(20))


def test_foreign_text_means_nothing_in_either_shape() -> None:
    rows = [Row([HOSTILE, "On"])] * 4
    (block,) = table("Rules", ["Rule", "Status"], rows)
    assert block["rows"][1][0] == {"type": "raw_text", "text": HOSTILE}
    assert sections(block)[0]["text"] == section(f"*{esc(HOSTILE)}*\nOn")["text"]


@pytest.mark.parametrize("text", [HOSTILE, "a_b*c", "&lt;", "&amp;amp;", ":x:", "1:2:3"])
def test_what_was_made_safe_is_read_back_as_it_was(text: str) -> None:
    assert strip_markup(f"{esc(text)} on *every* URL") == f"{text} on every URL"
    assert strip_markup(f":file_folder: {code(text)} _none_") == f"{text.replace('`', 'ˋ')} none"


def test_a_number_is_sorted_by_its_value() -> None:
    (block,) = table("x", ["Rule", "Changed"], [Row(["x", Number(7, "2026-11-25 10:00")])] * 4)
    assert block["rows"][1][1] == {"type": "raw_number", "value": 7, "text": "2026-11-25 10:00"}


def test_a_button_that_would_carry_an_email_into_a_channel_leaves_a_masked_line_in_its_place() -> None:
    message = listed(4, text="Anna", value="members show anna.berg@example.com")
    shown = mask_message(message)
    assert "anna.berg@" not in repr(shown.blocks)
    assert shown.blocks[1]["rows"][1][3] == {"type": "raw_text", "text": "/members show a***@example.com"}
    assert check_message({"blocks": list(shown.blocks)}) == []
