"""Decode the text of uploaded files, and escape cells so that no spreadsheet runs them as a formula."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, dataclass_transform

from bot.text.code_pages import TWICE, UTF_8, Reading, double_encoding_readings, readings, undo_double_encoding

MAX_FILE_BYTES: Final = 10 * 1024 * 1024
"""Bytes of a file that is imported; checked before anything else. Slack's own file inputs take as much."""


class FileKind(StrEnum):
    """The kind of a file that can't be imported."""

    WORKBOOK = "workbook"
    WEB_PAGE = "web page"
    CONTACT_CARD = "contact card"
    JSON = "json"
    BINARY = "binary"


@dataclass_transform(eq_default=False)
class BadFile(ValueError):
    """A file that cannot be imported at all; the subclasses, each a dataclass, say why."""

    def __init_subclass__(cls) -> None:
        dataclass(eq=False)(cls)


class EmptyFile(BadFile):
    """The file is empty, or has only white space."""


class FileTooLarge(BadFile):
    """The file has *size* bytes; *most* are allowed."""

    size: int
    most: int


class WrongKind(BadFile):
    """The file is of another *kind* than the import needs."""

    kind: FileKind


class Undecodable(BadFile):
    """The encoding of the file is unknown. *at*: the index of the first invalid byte."""

    at: int


class DamagedUtf8(BadFile):
    """The file is UTF-8 with invalid bytes in *line* (from 1), and maybe in later ones."""

    line: int


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
    else with the likeliest one.
    """
    if len(content) > MAX_FILE_BYTES:
        raise FileTooLarge(len(content), MAX_FILE_BYTES)
    if _is_workbook(content):
        raise WrongKind(FileKind.WORKBOOK)
    found = _decode(content, is_table, encoding)
    if not found.text.strip():
        raise EmptyFile
    if found.text[:500].lstrip().lower().startswith(PAGE_STARTS):
        raise WrongKind(FileKind.WEB_PAGE)
    if found.text[:500].lstrip().lower().startswith("begin:vcard"):
        raise WrongKind(FileKind.CONTACT_CARD)
    if "\0" in found.text:
        raise WrongKind(FileKind.BINARY)
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
            raise WrongKind(FileKind.BINARY) from error
        if encoding != "utf-16" and _is_nearly_utf_8(content):
            before = content[: error.start]
            raise DamagedUtf8(max(before.count(b"\n"), before.count(b"\r")) + 1) from error
        found = readings(content) if is_table and encoding == UTF_8 else ()
        if not found:
            raise Undecodable(error.start) from error
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
