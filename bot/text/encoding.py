"""Decode the text of uploaded files, and escape cells so that no spreadsheet runs them as a formula."""

from __future__ import annotations

import re
from typing import Final

MAX_FILE_BYTES: Final = 10 * 1024 * 1024
"""Bytes of a file that is imported; checked before anything else. Slack's own file inputs take as much."""


class BadFile(ValueError):
    """A file that can't be imported at all. *problem*: why, as a sentence; *advice*: what to do about it, or empty."""

    def __init__(self, problem: str, advice: str = "") -> None:
        super().__init__(f"{problem} {advice}".strip())
        self.problem, self.advice = problem, advice


class FileTooLarge(BadFile):
    """The file has *size* bytes; *most* are allowed."""

    def __init__(self, size: int, most: int) -> None:
        had, limit = (f"{count / 1024 / 1024:,.0f} MB" for count in (size, most))
        super().__init__(
            f"The file is too large: {had}. The limit is {limit}.", "Split it, and import the parts one by one."
        )


EMPTY_FILE: Final = ("The file is empty.", "Check that it was saved, and try again.")
NOT_UTF_8: Final = ("The file is not text in UTF-8.", "In a spreadsheet, save it as CSV UTF-8, and try again.")


def file_text(content: bytes) -> str:
    """Decode *content*, without a byte-order mark; raises BadFile where it is too large, empty, or not UTF-8."""
    if len(content) > MAX_FILE_BYTES:
        raise FileTooLarge(len(content), MAX_FILE_BYTES)
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadFile(*NOT_UTF_8) from error
    if "\0" in text:
        raise BadFile(*NOT_UTF_8)
    if not text.strip():
        raise BadFile(*EMPTY_FILE)
    return text


FORMULA: Final = re.compile(
    r"[\s\x00-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]*[=+\-@＝＋－＠﹦﹢﹣﹫]|[\t\r\n]"
)
"""The start of a cell that a spreadsheet reads as a formula, maybe after it has removed spaces, controls and zero-width
characters."""


def is_formula(text: str) -> bool:
    return FORMULA.match(text) is not None


def escape_formula(text: str) -> str:
    """Put an apostrophe before *text* if it is a formula, with or without apostrophes before it."""
    return f"'{text}" if is_formula(text.lstrip("'")) else text


def unescape_formula(text: str) -> str:
    """Remove the apostrophe that `escape_formula` put before *text*."""
    return text[1:] if is_escaped_formula(text) else text


def is_escaped_formula(text: str) -> bool:
    return text.startswith("'") and is_formula(text.lstrip("'"))
