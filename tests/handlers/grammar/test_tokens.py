"""What stands in a message."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handlers.grammar.command import Unclear
from handlers.grammar.parser import parse
from handlers.grammar.tokens import emails_in, urls_in
from handlers.rules.commands import RulesWhich
from handlers.slack.payloads import text_of_message


@pytest.mark.parametrize(
    ("text", "urls"),
    [
        ("see <https://a.example/x_|this> and <https://a.example/y>.", ["https://a.example/x_", "https://a.example/y"]),
        ("it is (https://a.example/x), I think", ["https://a.example/x"]),
        ("`https://a.example/?a=1&amp;b=2`", ["https://a.example/?a=1&b=2"]),
        ("https://a.example/odd.\nhttps://a.example/odd.", ["https://a.example/odd."]),
        ("<https://a.example/x|https://a.example/x>", ["https://a.example/x"]),
        ("ftp://a.example and a.example", []),
        ("(see https://a.example/Foo_(bar))", ["https://a.example/Foo_(bar)"]),
        ("at http://[::1]:80, http://[::1] or [http://[::1]].", ["http://[::1]:80", "http://[::1]"]),
        ("[https://a.example](https://b.example)", ["https://a.example", "https://b.example"]),
        ("*https://a.example/x*, https://a.example/*", ["https://a.example/x", "https://a.example/*"]),
    ],
)
def test_urls_are_found_as_slack_writes_them(text: str, urls: list[str]) -> None:
    assert urls_in(text) == urls


OLD = "https://shop.example.com/old"


@pytest.mark.parametrize(
    ("typed", "urls"),
    [
        (OLD, [OLD]),
        (f"`{OLD}`", [OLD]),
        (f"({OLD})", [OLD]),
        (f"[{OLD}]", [OLD]),
        (f"{OLD}.", [OLD]),
        (f"*{OLD}*", [OLD]),
        (f"<{OLD}|the old shop>", [OLD]),
        (f"<{OLD}>.", [OLD]),
        (f"“{OLD}”", [OLD]),
        (f"{OLD} please", [OLD]),
        (f"what becomes of {OLD}?", [OLD]),
        (f"{OLD}?a=1&amp;b=(2)", [f"{OLD}?a=1&b=(2)"]),
        (f"{OLD}, {OLD}/2 and {OLD}", [OLD, f"{OLD}/2"]),
        (f"{OLD},{OLD}/2", [OLD, f"{OLD}/2"]),
        (f"[{OLD}]({OLD}/2)", [OLD, f"{OLD}/2"]),
        (f'"{OLD}."', [f"{OLD}."]),
        (f'"{OLD}/my file"', [f"{OLD}/my file"]),
        ("shop.example.com/old", ["shop.example.com/old"]),
        ("`shop.example.com/old`.", ["shop.example.com/old"]),
        ("[shop.example.com/old],", ["shop.example.com/old"]),
        ("[::1]:80", ["[::1]:80"]),
        ("localhost:3000/x", ["localhost:3000/x"]),
        ("ws://shop.example.com/x", ["ws://shop.example.com/x"]),
        ("shop.example.com/old please", None),
        ("is shop.example.com down?", None),
        ("two words", None),
        ("", None),
        ("...", None),
    ],
)
def test_a_question_about_a_url_is_about_that_url(typed: str, urls: list[str] | None) -> None:
    if urls is None:
        with pytest.raises(Unclear, match="Which URL"):
            parse("rules", f"which {typed}")
        return
    asked = parse("rules", f"which {typed}")
    assert isinstance(asked, RulesWhich)
    assert [asked.url, *asked.others] == urls
    assert bool(asked.within or asked.ref) == ("please" in typed or "what" in typed or " and " in typed)
    assert parse("rules", asked.write()) == asked


def test_emails_are_found_and_none_in_a_url() -> None:
    text = "<mailto:anna@example.com|anna@example.com> wrote of https://ben@example.org/ and carl@example.org."

    assert emails_in(text) == ["anna@example.com", "carl@example.org"]


def test_what_machines_say_stands_in_blocks_and_attachments() -> None:
    message = {
        "text": "Alert",
        "blocks": [{"type": "section", "text": {"type": "mrkdwn", "text": "<https://a.example/1>"}}],
        "attachments": [{"title_link": "https://a.example/2", "fields": [{"value": "https://a.example/3"}]}],
    }

    assert urls_in(text_of_message(message)) == [
        "https://a.example/1",
        "https://a.example/2",
        "https://a.example/3",
    ]


@given(st.text())
def test_any_text_can_be_looked_through(text: str) -> None:
    assert all(address.lower().startswith("http") for address in urls_in(text))
    assert all("@" in email for email in emails_in(text))
