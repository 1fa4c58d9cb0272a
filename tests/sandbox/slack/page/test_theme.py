"""The page's colours by number: WCAG 2.2 AA, in the light theme and in the dark one."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from sandbox import slack

THEME = (Path(slack.__file__).parent / "page" / "theme.css").read_text()
COLOURS = {
    name: (light or both, dark or both)
    for name, light, dark, both in re.findall(
        r"--([\w-]+): (?:light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)|(#[0-9a-f]{6}));", THEME
    )
}
PLACES = ("pane", "raised", "sunken", "hover", "pressed")
TEXTS = [
    *((text, place) for text in ("ink", "soft") for place in PLACES),
    *((text, place) for text in ("link", "danger") for place in ("pane", "raised", "hover")),
    *((text, "sunken") for text in ("code", "good", "link")),
    *((tone, f"{tone}-soft") for tone in ("danger", "warn", "good", "info")),
    *((tone, "pane") for tone in ("warn", "good", "info")),
    ("link", "mention"),
    ("ink", "mention-me"),
    ("pane", "link"),
    *(("frame-soft", place) for place in ("frame", "frame-high")),
    *(("frame-ink", place) for place in ("frame", "frame-high")),
    ("here-ink", "here"),
    *(("white", place) for place in ("primary", "primary-high", "danger-solid")),
]
EDGES = [
    *(("line-field", place) for place in ("pane", "raised")),
    *((edge, place) for edge in ("focus", "danger") for place in ("pane", "raised")),
    ("primary", "pane"),
]


def luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str, theme: int) -> float:
    shades = COLOURS | {"white": ("#ffffff", "#ffffff")}
    dark, light = sorted(luminance(shades[name][theme]) for name in (one, other))
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
def test_texts_and_edges_stand_out(theme: int) -> None:
    faint = {pair: ratio for pair in TEXTS if (ratio := contrast(*pair, theme)) < 4.5}
    lost = {pair: ratio for pair in EDGES if (ratio := contrast(*pair, theme)) < 3}
    assert (faint, lost) == ({}, {})
