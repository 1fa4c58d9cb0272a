"""Read a text that is not Unicode, or was encoded twice, in each code page that it may be in, for people to choose from.

A file does not state its code page, and a wrong one changes names. So this module never decides.
"""

from __future__ import annotations

import itertools
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

PAGES: Final = {
    "cp1252": "Windows-1252 (Western)",
    "cp1250": "Windows-1250 (Central European)",
    "cp1251": "Windows-1251 (Cyrillic)",
    "cp1253": "Windows-1253 (Greek)",
    "cp1254": "Windows-1254 (Turkish)",
    "cp1257": "Windows-1257 (Baltic)",
    "cp1255": "Windows-1255 (Hebrew)",
    "cp1256": "Windows-1256 (Arabic)",
    "koi8_r": "KOI8-R (Cyrillic)",
    "cp1258": "Windows-1258 (Vietnamese)",
    "cp874": "Windows-874 (Thai)",
    "mac_roman": "Mac Roman",
    "mac_cyrillic": "Mac Cyrillic",
    "cp932": "Shift-JIS (Japanese)",
    "gbk": "GBK (Simplified Chinese)",
    "cp950": "Big5 (Traditional Chinese)",
    "cp949": "EUC-KR (Korean)",
    "iso8859_2": "ISO 8859-2 (Central European)",
    "cp850": "DOS 850 (Western)",
    "cp852": "DOS 852 (Central European)",
    "cp866": "DOS 866 (Cyrillic)",
}
"""What people call each code page, by Python's name; the more common ones first. Excel calls the last three *CSV (MS-DOS)*."""
UTF_8: Final = "utf-8"
TWICE: Final = "utf-8 twice"
"""UTF-8 that a program decoded as Windows-1252 and encoded again."""
TAKEN_FOR_CP1252: Final = re.compile(r"[ÂÃÄÅÎÏÐÑ×ØÙÚ][^\x00-\x7f\xc0-\xff]|[â-é][^\x00-\x7f\xc0-\xff]{2}")
"""Letters of Windows-1252 that together may be one UTF-8 letter; in real text, they hardly occur together."""
LINE_END: Final = re.compile(rb"[\r\n]+")
HIGH: Final = re.compile(rb"[\x80-\xff]")
CELL: Final = re.compile(r"[^,;\t|\"]+")
MAX_LINES: Final = 200
"""Lines that samples are chosen from."""
SAMPLES: Final = 3


@dataclass(frozen=True, slots=True)
class Reading:
    """Some cells of a text, decoded with one code page."""

    encoding: str
    samples: tuple[str, ...]


def readings(content: bytes) -> tuple[Reading, ...]:
    """Return the readings of *content*, the more common code pages first; one of each group with the same result."""
    lines = [line for line in LINE_END.split(content) if HIGH.search(line)]
    whole, shown = b"\n".join(lines), _telling_lines(lines)
    found: dict[int, Reading] = {}
    for page in PAGES:
        try:
            text = whole.decode(page)
            if (key := hash(text)) in found or _has_controls(text):
                continue
            found[key] = Reading(page, tuple(_cells(line.decode(page)) for line in shown))
        except UnicodeDecodeError:
            continue
    return tuple(found.values())


def double_encoding_readings(text: str) -> tuple[Reading, ...]:
    """Return the readings of *text* with and without its double encoding undone; empty where nothing was encoded twice."""
    lines = list(itertools.islice((line for line in text.splitlines() if undo_double_encoding(line) != line), SAMPLES))
    decoded = tuple(_cells(undo_double_encoding(line)) for line in lines)
    return (Reading(TWICE, decoded), Reading(UTF_8, tuple(map(_cells, lines)))) if lines else ()


def undo_double_encoding(text: str) -> str:
    """Return *text* with the letters that it had before it was encoded twice."""
    return TAKEN_FOR_CP1252.sub(_decode_letter, text)


def _decode_letter(found: re.Match[str]) -> str:
    try:
        # Five bytes are undefined in Windows-1252; programs decode them as ISO 8859-1.
        return b"".join(each.encode("cp1252", "ignore") or each.encode("latin-1") for each in found[0]).decode()
    except UnicodeEncodeError:
        return found[0]


def _telling_lines(lines: Sequence[bytes]) -> list[bytes]:
    """Return the few *lines* with the most distinct bytes beyond ASCII; the first comes last, since it may have headings."""
    left, found = [*lines[1 : MAX_LINES + 1], *lines[:1]], list[bytes]()
    seen: set[bytes] = set()
    while left and len(found) < SAMPLES:
        best = max(left, key=lambda line: len({*HIGH.findall(line)} - seen))
        left.remove(best)
        found.append(best)
        seen.update(HIGH.findall(best))
    return found


def _cells(line: str) -> str:
    return " ".join(cell.strip() for cell in CELL.findall(line) if not cell.isascii())


def _has_controls(text: str) -> bool:
    """Whether *text* has characters that no real text has: controls, private use and unassigned ones."""
    odd = {letter for letter in {*text} if unicodedata.category(letter) in {"Cc", "Co", "Cn"}}
    return bool(odd - {*"\t\r\n\f\v\x1a"})
