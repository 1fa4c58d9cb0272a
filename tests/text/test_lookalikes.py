"""Text that may pass for something else is found; ordinary text in any language is not."""

from __future__ import annotations

import sys

import pytest

from bot.rules.url import authority
from bot.text.lookalikes import LookalikeKind, is_invisible, lookalikes, may_hide, unicode_form


@pytest.mark.parametrize(
    "filler", list("\u3164\uffa0\u2800\u115f\u1160\u034f\u200b\u200d\u2060\u202e\u2066\u2028\ufe0f\u00ad")
)
def test_a_character_that_is_drawn_as_nothing_is_found(filler: str) -> None:
    assert is_invisible(filler)
    assert [(one.kind, one.shown) for one in lookalikes(f"Check{filler}out")] == [(LookalikeKind.INVISIBLE, filler)]


def test_the_quick_look_misses_no_invisible_character() -> None:
    everything = map(chr, range(sys.maxunicode + 1))
    assert [hex(ord(one)) for one in everything if is_invisible(one) and not may_hide(f"a{one}")] == []
    assert not may_hide("“Old shop” → *https://shop.example.com/Prüfung* · 日本 …")


@pytest.mark.parametrize(
    ("url", "kind", "host"),
    [
        ("https://shop.example.com@evil.example/x", LookalikeKind.USER_INFO, "evil.example"),
        (f"https://shop.example.com%2F{'a' * 30_000}@evil.example/x", LookalikeKind.USER_INFO, "evil.example"),
        ("https:\\\\shop.example.com@evil.example", LookalikeKind.USER_INFO, "evil.example"),
        ("https://\u0430pple.example/", LookalikeKind.FOREIGN_HOST, "xn--pple-43d.example"),
        ("*://\u0430pple.example/*", LookalikeKind.FOREIGN_HOST, "xn--pple-43d.example"),
        ("https://xn--pple-43d.example/", LookalikeKind.FOREIGN_HOST, "xn--pple-43d.example"),
        ("anna@\u0430pple.example", LookalikeKind.FOREIGN_HOST, "xn--pple-43d.example"),
        ("\u0430pple.example", LookalikeKind.FOREIGN_HOST, "xn--pple-43d.example"),
        ("\u0421heckout", LookalikeKind.MIXED_SCRIPTS, ""),
        ("Checkout \uff50age\uff53", LookalikeKind.MIXED_SCRIPTS, ""),
    ],
)
def test_a_host_or_a_word_that_misleads_is_found(url: str, kind: LookalikeKind, host: str) -> None:
    assert [(one.kind, one.host) for one in lookalikes(url)] == [(kind, host)]


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
    assert lookalikes(text) == ()


def test_a_selector_hides_where_no_emoji_stands_before_it() -> None:
    assert lookalikes("\u2764\ufe0f Sale") == ()
    assert [one.shown for one in lookalikes("\u2764\ufe0f Sale\ufe0f \ufe00")] == ["\ufe0f"]
    assert [one.shown for one in lookalikes("\ufe00Sale")] == ["\ufe00"]


def test_of_many_words_that_mix_scripts_the_first_are_told() -> None:
    words = [f"{chr(ord('a') + number)}\u0430" for number in range(20)]
    assert [one.shown for one in lookalikes(" ".join(words))] == words[:8]


def test_a_host_has_both_its_spellings() -> None:
    assert unicode_form("xn--bcher-kva.example") == "bücher.example"
    assert unicode_form("xn--\u00e4.xn--999999999999.example")
    place = authority("https://b\u00fccher.example/x")
    assert place is not None
    assert place.host == "xn--bcher-kva.example"
    assert authority("https://") is None
    assert authority("just text") is None
