"""Cells of tables that a spreadsheet may open: none of ours is a formula, and none of theirs passes for text."""

from __future__ import annotations

import re
from typing import Final

FORMULA: Final = re.compile(
    r"[\s\x00-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]*[=+\-@＝＋－＠﹦﹢﹣﹫]|[\t\r\n]"
)
"""What a spreadsheet takes for a formula at the beginning of a cell, or for one once it has dropped the spaces, controls
and marks without a width before it."""


def is_formula(text: str) -> bool:
    return FORMULA.match(text) is not None


def defused(text: str) -> str:
    """*text* with an apostrophe before it where a spreadsheet would compute it, or would if it had not one already."""
    return f"'{text}" if is_formula(text.lstrip("'")) else text


def undefused(text: str) -> str:
    """*text* without the apostrophe that `defused` put before it."""
    return text[1:] if is_defused(text) else text


def is_defused(text: str) -> bool:
    return text.startswith("'") and is_formula(text.lstrip("'"))
