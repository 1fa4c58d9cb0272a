"""Decode the text of uploaded files, and escape cells so that no spreadsheet runs them as a formula."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass
from typing import Final

from bot.text.code_pages import TWICE, UTF_8, Reading, double_encoding_readings, readings, undo_double_encoding

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
NOT_TEXT: Final = "The file is not text."


@dataclass(frozen=True, slots=True)
class FileText:
    """The text, without a byte-order mark, and the encoding that it was read in: ``utf-8``, ``utf-16``, ``cp1252``."""

    text: str
    encoding: str
    readings: tuple[Reading, ...] = ()
    """The possible readings, where it is not Unicode or seems to be encoded twice."""


MARKS: Final = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
PAGE_STARTS: Final = ("<!doctype html", "<html", "<head", "<body", "<?xml", "<table", "<meta", "<style", "<div")


def file_text(content: bytes, *, is_table: bool = False, encoding: str = "") -> FileText:
    """Decode *content*; raises BadFile, also where it is neither Unicode nor a table.

    *is_table*: spreadsheets write other encodings, too, so a table is decoded with the *encoding* that somebody chose, or
    else with the most common one.
    """
    if len(content) > MAX_FILE_BYTES:
        raise FileTooLarge(len(content), MAX_FILE_BYTES)
    if _is_workbook(content):
        raise BadFile("The file is a spreadsheet.", "Save it as CSV, and try again.")
    found = _decode(content, is_table, encoding)
    if not found.text.strip():
        raise BadFile(*EMPTY_FILE)
    if found.text[:500].lstrip().lower().startswith(PAGE_STARTS):
        raise BadFile("The file is a web page.", "Open it in a spreadsheet, and save it as CSV.")
    if found.text[:500].lstrip().lower().startswith("begin:vcard"):
        raise BadFile("The file is a contact card (vCard).", "Export the contacts as CSV, with a column of emails.")
    if "\0" in found.text:
        raise BadFile(NOT_TEXT)
    return found


def _is_workbook(content: bytes) -> bool:
    """Whether *content* is a workbook of a spreadsheet rather than CSV, whatever the file's name says."""
    is_zip = content.startswith(b"PK\x03\x04") and (b"xl/" in content or b"content.xml" in content)
    return is_zip or content.startswith(b"\xd0\xcf\x11\xe0")  # the old binary format of office programs


def _decode(content: bytes, is_table: bool, chosen: str) -> FileText:
    encoding = next((name for mark, name in MARKS if content.startswith(mark)), UTF_8)
    try:
        text, encoding = content.decode(encoding), encoding.removesuffix("-sig")
        found = double_encoding_readings(text) if is_table and encoding == UTF_8 else ()
        if not found or chosen == UTF_8:
            return FileText(text, encoding, found)
        return FileText(undo_double_encoding(text), TWICE, found)
    except UnicodeDecodeError as error:
        if b"\0" in content and encoding == UTF_8:
            raise BadFile(NOT_TEXT) from error
        if encoding != "utf-16" and _is_nearly_utf_8(content):
            before = content[: error.start]
            line = max(before.count(b"\n"), before.count(b"\r")) + 1
            raise BadFile(
                f"Line {line:,} is damaged: the rest of the file is UTF-8, but some of its letters are not.",
                "Correct that line, or save the file as UTF-8 again.",
            ) from error
        found = readings(content) if is_table and encoding == UTF_8 else ()
        if not found:
            raise BadFile(
                f"The file’s encoding is unknown (byte {error.start + 1:,}).", "Save it as UTF-8, and try again."
            ) from error
    page = chosen if any(reading.encoding == chosen for reading in found) else found[0].encoding
    return FileText(content.decode(page), page, found)


BEYOND_ASCII: Final = re.compile(r"[^\x00-\x7f\ufffd]")


def _is_nearly_utf_8(content: bytes) -> bool:
    """Whether most of the text beyond ASCII is valid UTF-8: in other encodings, few letters are valid by chance."""
    text = content.decode(UTF_8, "replace")
    return sum(1 for _ in BEYOND_ASCII.finditer(text)) >= GOOD_FOR_EACH_BAD * text.count("\ufffd")


GOOD_FOR_EACH_BAD: Final = 3
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
