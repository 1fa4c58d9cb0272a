"""A URL as somebody types it."""

from __future__ import annotations

import pytest

from bot.rules.url import NotAUrl, Url, is_url


@pytest.mark.parametrize(
    "text",
    [
        "https://shop.example.com/old",
        "shop.example.com/old",
        "//shop.example.com/old",
        "https:/shop.example.com/old",
        "https//shop.example.com/old",
        "HTTPS:/shop.example.com/old",
        "https://user:pw@shop.example.com/old",
        "https://shop.example.com/old#part",
    ],
)
def test_it_is_what_is_requested_however_it_is_written(text: str) -> None:
    assert Url.from_typed(text) == Url("https://shop.example.com/old", "shop.example.com", "/old")


@pytest.mark.parametrize("text", ["", "shop", "/old", "//", "Redirect_x1old", "a@b.example", "mailto:a@b.example"])
def test_what_is_more_likely_a_slip_is_none(text: str) -> None:
    with pytest.raises(NotAUrl):
        Url.from_typed(text)


@pytest.mark.parametrize(
    "text", ["localhost", "localhost:3000/x", "go/x", "h.example", "//h.example/a", "[::1]:80", "ws://h"]
)
def test_a_host_needs_no_scheme(text: str) -> None:
    assert Url.from_typed(text).host


def test_a_rule_has_both_slashes() -> None:
    assert not is_url("https:/shop.example.com/old")
