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


@pytest.mark.parametrize("text", ["", "shop", "/old", "anna@example.com", "mailto:anna@example.com"])
def test_what_is_more_likely_a_slip_is_none(text: str) -> None:
    with pytest.raises(NotAUrl):
        Url.from_typed(text)


def test_a_rule_has_both_slashes() -> None:
    assert not is_url("https:/shop.example.com/old")
