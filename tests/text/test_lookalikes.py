"""Text that may pass for something else is found; ordinary text in any language is not."""

from __future__ import annotations

import sys
import unicodedata

import pytest

from bot.rules.url import authority
from bot.text.lookalikes import HIDDEN, LAYOUT, invisible_in, lookalikes, unicode_form

CATEGORIES = {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"}
"""Those of controls, formats, surrogates, private use, and separators of lines."""


def test_every_character_that_is_drawn_as_nothing_is_found() -> None:
    fillers = "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0"
    hidden = {one for one in map(chr, range(sys.maxunicode + 1)) if unicodedata.category(one) in CATEGORIES} | {
        *fillers
    }
    assert {one for one in hidden if not HIDDEN.search(f"-{one}")} == set()
    assert [one for one in hidden.difference(LAYOUT) if invisible_in(f"a{one}b{one}") != one] == []
    assert invisible_in("“Old shop” → *https://shop.example.com/Prüfung* · 日本 …") == ""


MIXED = "a word mixes"


@pytest.mark.parametrize(
    ("text", "warning"),
    [
        ("https://shop.example.com@evil.example/x", "leads to evil.example."),
        (f"https://shop.example.com%2F{'a' * 30_000}@evil.example/x", "leads to evil.example."),
        ("https:\\\\shop.example.com@evil.example", "leads to evil.example."),
        ("https://\u0430pple.example/", "xn--pple-43d.example is displayed as \u0430pple.example"),
        ("*://\u0430pple.example/*", "xn--pple-43d.example is displayed as"),
        ("https://xn--pple-43d.example/", "xn--pple-43d.example is displayed as \u0430pple.example"),
        ("anna@\u0430pple.example", "xn--pple-43d.example is displayed as"),
        ("\u0430pple.example", "xn--pple-43d.example is displayed as"),
        ("\u0430nna@apple.example", MIXED),
        ("\u0421heckout", MIXED),
        ("p\uff41ge", MIXED),
        ("Check\u3164out", "invisible characters (U+3164)."),
    ],
)
def test_what_misleads_is_told_once(text: str, warning: str) -> None:
    (told,) = lookalikes(text)
    assert warning in told


@pytest.mark.parametrize(
    "text",
    [
        "",
        "https://shop.example.com/a@b?c=d@e",
        "https://shop.example.com:8080/",
        "*://*.shop.example.com/*",
        "https://$1.example.com/",
        "Prüfung für Zürich",
        "Проверка заказа",
        "日本カタカナ shop",
        "❤️ Sale",
        "line one\n\tline two",
        "anna.berg@example.com",
    ],
)
def test_ordinary_text_is_not(text: str) -> None:
    assert [*lookalikes(text)] == []


def test_a_selector_hides_where_no_emoji_stands_before_it() -> None:
    assert invisible_in("\u2764\ufe0f Sale") == ""
    assert invisible_in("\u2764\ufe0f Sale\ufe0f \ufe00") == "\ufe0f"
    assert invisible_in("\ufe00Sale") == "\ufe00"


def test_a_host_has_both_its_spellings() -> None:
    assert unicode_form("xn--bcher-kva.example") == "bücher.example"
    assert unicode_form("xn--\u00e4.xn--999999999999.example")
    place = authority("https://b\u00fccher.example/x")
    assert place is not None
    assert place.host == "xn--bcher-kva.example"
    assert authority("https://") is None
    assert authority("just text") is None
