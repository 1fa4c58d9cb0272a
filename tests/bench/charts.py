"""Bar charts as SVG: readable in light and dark, without a mouse, and without telling colors apart."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import isnan
from typing import Final
from xml.sax.saxutils import escape, quoteattr

WIDTH: Final = 760
MARGIN: Final = 20
BAR_LEFT: Final = 130
BAR_WIDTH: Final = 360
BAR_HEIGHT: Final = 16
ROW_HEIGHT: Final = 24
GROUP_GAP: Final = 38
CHARACTERS_PER_LINE: Final = 110

STYLE: Final = """
.page { fill: #ffffff } text { font: 13px system-ui, sans-serif; fill: #1f2328 }
.title { font-weight: 600; font-size: 16px } .group { font-weight: 600 } .note { fill: #59636e }
.bar0 { fill: #8c959f } .bar1 { fill: #e69f00 } .bar2 { fill: #009e73 } .bar3 { fill: #0072b2 }
.tail { stroke: #1f2328; stroke-width: 1.5; fill: none } .axis { stroke: #8c959f }
@media (prefers-color-scheme: dark) {
.page { fill: #0d1117 } text { fill: #f0f6fc } .note { fill: #9198a1 }
.bar0 { fill: #7d8590 } .bar3 { fill: #56b4e9 } .tail { stroke: #f0f6fc }
}
"""
"""The blue, sky blue, bluish green and orange of Okabe and Ito, which all kinds of color vision tell apart, and a gray."""


@dataclass(frozen=True, slots=True)
class Bar:
    """*label* names it, *text* is its figure in words. *color*: 0 to 3. *tail*: where a line beyond the bar ends."""

    label: str
    value: float
    text: str
    color: int
    tail: float | None = None

    @property
    def length(self) -> float:
        """The value; 0 where it is not a number."""
        return 0.0 if isnan(self.value) else self.value

    @property
    def reach(self) -> float:
        """Where the bar or its tail ends."""
        return self.length if self.tail is None or isnan(self.tail) else max(self.length, self.tail)


@dataclass(frozen=True, slots=True)
class Group:
    """Bars that are compared with each other."""

    title: str
    bars: Sequence[Bar]


@dataclass(frozen=True, slots=True)
class Chart:
    """*name*: of its file, without `.svg`. *has_one_scale*: groups are comparable too, else each fills the width."""

    name: str
    title: str
    note: str
    groups: Sequence[Group]
    has_one_scale: bool = False

    def in_words(self) -> str:
        """All that the picture shows, for somebody who can't see it."""
        groups = (f"{one.title}: {', '.join(f'{bar.label} {bar.text}' for bar in one.bars)}" for one in self.groups)
        return f"{self.title}. {'; '.join(groups)}."

    def svg(self) -> str:
        """The picture as a file."""
        size = f'width="{WIDTH}" height="{self._height()}"'
        box = f'viewBox="0 0 {WIDTH} {self._height()}" role="img" aria-labelledby="title words"'
        lines = (
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} {box}>',
            f'<title id="title">{escape(self.title)}</title>',
            f'<desc id="words">{escape(self.in_words())}</desc>',
            f"<style>{STYLE}</style>",
            f'<rect class="page" {size} rx="6"/>',
            *self._drawn(),
            "</svg>",
        )
        return "\n".join(lines) + "\n"

    def _drawn(self) -> Iterator[str]:
        yield _text(MARGIN, 30, self.title, "title")
        for line, words in enumerate(self._note_lines()):
            yield _text(MARGIN, 52 + 18 * line, words, "note")
        y = self._top()
        for group in self.groups:
            yield from _group(group, y, self._longest(group))
            y += _height(group)

    def _longest(self, group: Group) -> float:
        """The value that fills the width."""
        bars = [bar for one in (self.groups if self.has_one_scale else [group]) for bar in one.bars]
        return max((bar.reach for bar in bars), default=0.0) or 1.0

    def _note_lines(self) -> list[str]:
        return textwrap.wrap(self.note, CHARACTERS_PER_LINE)

    def _top(self) -> int:
        return 52 + 18 * len(self._note_lines())

    def _height(self) -> int:
        return self._top() + sum(map(_height, self.groups)) + MARGIN


def _height(group: Group) -> int:
    return GROUP_GAP + ROW_HEIGHT * len(group.bars)


def _group(group: Group, y: int, longest: float) -> Iterator[str]:
    yield _text(MARGIN, y + 22, group.title, "group")
    top = y + GROUP_GAP - 6
    yield f'<path class="axis" d="M{BAR_LEFT} {top}v{ROW_HEIGHT * len(group.bars)}"/>'
    for number, bar in enumerate(group.bars):
        yield from _bar(bar, top + ROW_HEIGHT * number + 4, BAR_WIDTH / longest)


def _bar(bar: Bar, y: int, pixels: float) -> Iterator[str]:
    """A bar at height *y*, so many *pixels* wide per unit: its name before it, its figure behind it."""
    width, middle, end = bar.length * pixels, y + BAR_HEIGHT / 2, BAR_LEFT + bar.reach * pixels
    yield _text(MARGIN, y + 13, bar.label)
    yield f'<rect class="bar{bar.color}" x="{BAR_LEFT}" y="{y}" width="{width:.1f}" height="{BAR_HEIGHT}"/>'
    if bar.tail is not None:
        yield f'<path class="tail" d="M{BAR_LEFT + width:.1f} {middle}H{end:.1f}m0 -5v10"/>'
    yield _text(end + 8, y + 13, bar.text)


def _text(x: float, y: float, words: str, kind: str = "bar-text") -> str:
    return f'<text class={quoteattr(kind)} x="{x:.1f}" y="{y}">{escape(words)}</text>'
