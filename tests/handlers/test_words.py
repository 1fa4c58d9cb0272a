"""What stands in a message."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handlers.inputs import all_said
from handlers.words import addresses_in, emails_in


@pytest.mark.parametrize(
    ("text", "addresses"),
    [
        ("see <https://a.example/x_|this> and <https://a.example/y>.", ["https://a.example/x_", "https://a.example/y"]),
        ("it is (https://a.example/x), I think", ["https://a.example/x"]),
        ("`https://a.example/?a=1&amp;b=2`", ["https://a.example/?a=1&b=2"]),
        ("https://a.example/odd.\nhttps://a.example/odd.", ["https://a.example/odd."]),
        ("<https://a.example/x|https://a.example/x>", ["https://a.example/x"]),
        ("ftp://a.example and a.example", []),
    ],
)
def test_web_addresses_are_found_as_slack_writes_them(text: str, addresses: list[str]) -> None:
    assert addresses_in(text) == addresses


def test_mail_addresses_are_found_and_none_in_a_web_address() -> None:
    text = "<mailto:anna@example.com|anna@example.com> wrote of https://ben@example.org/ and carl@example.org."

    assert emails_in(text) == ["anna@example.com", "carl@example.org"]


def test_what_machines_say_stands_in_blocks_and_attachments() -> None:
    message = {
        "text": "Alert",
        "blocks": [{"type": "section", "text": {"type": "mrkdwn", "text": "<https://a.example/1>"}}],
        "attachments": [{"title_link": "https://a.example/2", "fields": [{"value": "https://a.example/3"}]}],
    }

    assert addresses_in(all_said(message)) == ["https://a.example/1", "https://a.example/2", "https://a.example/3"]


@given(st.text())
def test_any_text_can_be_looked_through(text: str) -> None:
    assert all(address.lower().startswith("http") for address in addresses_in(text))
    assert all("@" in email for email in emails_in(text))
