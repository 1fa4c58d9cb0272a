"""Lists whose rows are declared once: Slack's data table, and the same rows as sections where it has no place.

A data table is data enough to be drawn otherwise, so only the place that sends has to know whether Slack takes it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from html import unescape
from typing import Final

from handlers.blocks.messages import WORD_JOINER, Block, Message, clip_visible, esc, message, pack_lines, section
from handlers.grammar.command import slash

ROWS_PER_PAGE: Final = 20
"""Rows of a list in one message: as many as fit in either shape, however long their texts are."""
MIN_ROWS: Final = 4
"""Fewer rows read better as sections: a phone shows all of each, and there is nothing to sort."""
MAX_CELL: Final = 120
MAX_CHARACTERS: Final = 10_000
"""Of all cells together, as Slack's documentation had it until the summer of 2026."""
MAX_SECTIONS: Final = 10_000
"""Characters of rows with a button each, which leave room in a message for what stands around them."""
EMPTY: Final = "–"
"""Slack takes no empty cell."""

CODE: Final = re.compile(r"(?<!\u2060)`([^`]*)`")
MARK: Final = re.compile(r"(?<!\u2060)[*_~]|(?<![\w:]):[a-z_]+: ?")
"""What makes a text bold or italic, and emoji: `esc` puts a word joiner before the same signs in foreign text."""


@dataclass(frozen=True, slots=True)
class Number:
    """A cell that is sorted by its *value*, whatever its *text* says."""

    value: int
    text: str


@dataclass(frozen=True, slots=True)
class Row:
    """One row: plain texts or numbers, and a *button*."""

    cells: Sequence[str | Number]
    button: Block | None = None


def strip_markup(markup: str) -> str:
    """Return *markup*, mrkdwn of ours, as plain text."""
    parts = CODE.split(markup)
    parts[::2] = [MARK.sub("", part).replace(WORD_JOINER, "") for part in parts[::2]]
    return unescape("".join(parts))


def table(caption: str, columns: Sequence[str], rows: Sequence[Row], *, first: int | None = None) -> list[Block]:
    """Return the *rows* under the names of their *columns*, the first of which says what a row is about.

    *first*: the number of the first row for ``#n``, where they have numbers. Sections instead where the rows are few, or
    hold more than Slack takes.
    """
    lines = [[_cell(name) for name in columns], *([_cell(cell) for cell in row.cells] for row in rows)]
    if any(row.button for row in rows):  # after what it is about and how it stands: a phone shows two or three columns
        for line, cell in zip(lines, [_cell("Details"), *(_button_cell(row.button) for row in rows)], strict=True):
            line.insert(2, cell)
    if first is not None:
        numbers: list[str | Number] = ["#", *(Number(at, f"#{at}") for at in range(first, first + len(rows)))]
        for line, number in zip(lines, numbers, strict=True):
            line.insert(0, _cell(number))
    block: Block = {
        "type": "data_table",
        "caption": caption,
        "rows": lines,
        "page_size": ROWS_PER_PAGE,
        "row_header_column_index": 0 if first is None else 1,
    }
    too_long = sum(_length(cell) for line in lines for cell in line) > MAX_CHARACTERS
    return sections(block) if len(rows) < MIN_ROWS or too_long else [block]


def _cell(content: str | Number) -> Block:
    if isinstance(content, Number):
        return {"type": "raw_number", "value": content.value, "text": content.text}
    return {"type": "raw_text", "text": clip_visible(content, MAX_CELL).strip() or EMPTY}


def _button_cell(button: Block | None) -> Block:
    """Return a button; a client that draws none in tables shows what to type instead."""
    if button is None:
        return _cell("")
    return {"type": "action", "element": button, "fallback": {"type": "raw_text", "text": slash(button["value"])}}


def _length(cell: Block) -> int:
    if cell["type"] == "action":
        element = cell["element"]
        return len(element["text"]["text"]) + len(element["value"]) + len(cell["fallback"]["text"])
    return len(cell["text"])


def buttons_of(block: Block) -> list[Block]:
    """Return the buttons in the cells of *block*; none where it is not a table."""
    return [cell["element"] for row in block.get("rows", ()) for cell in row if cell["type"] == "action"]


def without_buttons(block: Block, gone: Sequence[Block]) -> Block:
    """Return the table *block* with what to type in place of the buttons that are *gone*."""
    rows = [[cell["fallback"] if cell.get("element") in gone else cell for cell in row] for row in block["rows"]]
    return {**block, "rows": rows}


def has_table(shown: Message) -> bool:
    return any(block["type"] == "data_table" for block in shown.blocks)


def without_tables(shown: Message) -> Message:
    """*shown* with a section for each row of its table: for a client, a workspace or a modal that takes none."""
    if not has_table(shown):
        return shown
    blocks = [
        part for block in shown.blocks for part in (sections(block) if block["type"] == "data_table" else [block])
    ]
    return replace(message(shown.text, blocks), text=shown.text)


def sections(block: Block) -> list[Block]:
    """Return the rows of the table *block*, each as a section with its button; without them where that is too long."""
    title = block["row_header_column_index"]
    rows = [_section(row, title) for row in block["rows"][1:]]
    if sum(len(repr(row)) for row in rows) <= MAX_SECTIONS:
        return rows
    return [section(text) for text in pack_lines(row["text"]["text"] for row in rows)]


def _section(row: Sequence[Block], title: int) -> Block:
    """Return the thing that the row is about and what is said of it shortly; the last text stands below."""
    texts = [esc(cell["text"]) for cell in row if "text" in cell]
    buttons = [cell["element"] for cell in row if cell["type"] == "action"]
    lead, name, about = texts[:title], texts[title], texts[title + 1 :]
    head = " · ".join([" ".join([*lead, f"*{name}*"]), *about[:-1]])
    return section("\n".join([head, *about[-1:]]), buttons[0] if buttons else None)
