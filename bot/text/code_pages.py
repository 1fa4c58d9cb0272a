"""Code pages of text that is not Unicode: how it reads in each of them, the likeliest first, for people to choose.

No file says which one it is in, and a wrong one makes other names of names. So this only ranks; it never decides.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

SPAN: Final = re.compile(r".-.|.", re.DOTALL)


def _letters(spans: str) -> frozenset[str]:
    """The letters of *spans*, each one or a range: ``а-яё``."""
    ends = [(each[0][0], each[0][-1]) for each in SPAN.finditer(spans)]
    return frozenset(chr(code) for first, last in ends for code in range(ord(first), ord(last) + 1))


WESTERN: Final = "à-ïñ-öø-üÿœšžß"
CENTRAL: Final = "ąćęłńóśźżáčďéěëíňřšťúůýžöőüűäôľĺŕăâîşţșțđß"
CYRILLIC: Final = "а-яёђѓєіїјљњћќўџґ"
GREEK: Final = "ά-ώΐΰ"
TURKISH: Final = "çğıöşüâîûéi̇"


@dataclass(frozen=True, slots=True)
class Page:
    """A code page: Python's name, what people call it, and the letters, in lower case, that texts in it are made of.

    *cjk*: the first bytes of its usual characters of two bytes.
    """

    encoding: str
    label: str
    letters: str = ""
    """Each one, or a range: ``а-яё``."""
    cjk: tuple[int, int] | None = None

    @property
    def is_latin(self) -> bool:
        return bool(self.letters) and unicodedata.name(self.letters[0]).startswith("LATIN")


PAGES: Final = (
    Page("cp1252", "Windows-1252 (Western)", WESTERN),
    Page("cp1250", "Windows-1250 (Central European)", CENTRAL),
    Page("cp1251", "Windows-1251 (Cyrillic)", CYRILLIC),
    Page("cp1253", "Windows-1253 (Greek)", GREEK),
    Page("cp1254", "Windows-1254 (Turkish)", TURKISH),
    Page("cp1257", "Windows-1257 (Baltic)", "āčēģīķļņšūžąęėįųõäöü"),
    Page("cp1255", "Windows-1255 (Hebrew)", "\u05b0-\u05ea"),
    Page("cp1256", "Windows-1256 (Arabic)", "\u0621-\u0652\u067e\u0686\u0698\u06af"),
    Page("cp1258", "Windows-1258 (Vietnamese)", "àáâăđèéêíôơùúưýìòóõãũĩ\u0300\u0301\u0303\u0309\u0323"),
    Page("cp874", "Windows-874 (Thai)", "\u0e01-\u0e4e"),
    Page("mac_roman", "Mac Roman", WESTERN),
    Page("mac_latin2", "Mac Central European", CENTRAL),
    Page("mac_cyrillic", "Mac Cyrillic", CYRILLIC),
    Page("mac_greek", "Mac Greek", GREEK),
    Page("mac_turkish", "Mac Turkish", TURKISH),
    Page("cp932", "Shift-JIS (Japanese)", "ぁ-ゖァ-ヺー々", (0x88, 0x97)),
    Page("gbk", "GBK (Simplified Chinese)", "", (0xB0, 0xD7)),
    Page("cp950", "Big5 (Traditional Chinese)", "", (0xA4, 0xC6)),
    Page("cp949", "EUC-KR (Korean)", "가-힣"),
    Page("euc_jp", "EUC-JP (Japanese)", "ぁ-ゖァ-ヺー々", (0xB0, 0xCF)),
    Page("iso8859_2", "ISO 8859-2 (Central European)", CENTRAL),
    Page("koi8_r", "KOI8-R (Cyrillic)", CYRILLIC),
    Page("cp850", "DOS 850 (Western)", WESTERN),
    Page("cp852", "DOS 852 (Central European)", CENTRAL),
    Page("cp866", "DOS 866 (Cyrillic)", CYRILLIC),
)
LABELS: Final = {page.encoding: page.label for page in PAGES}
LINE_END: Final = re.compile(rb"[\r\n]+")
HIGH: Final = re.compile(rb"[\x80-\xff]")
CELL: Final = re.compile(r"[^,;\t|\"]+")
WORD: Final = re.compile(r"[^\W\d_](?:[^\W\d_]|[\u0300-\u036f\u05b0-\u05c7\u064b-\u0652\u0e31-\u0e4e])*")
MARKS: Final = "‘’‚“”„–—…·•«»\u00a0、。・　"
"""What stands beside letters in any language."""
MAX_LINES: Final = 200
"""Lines by which readings are ranked."""
SAMPLES: Final = 3


@dataclass(frozen=True, slots=True)
class Reading:
    """How some cells of a text read in a code page."""

    encoding: str
    samples: tuple[str, ...]


def readings(content: bytes) -> tuple[Reading, ...]:
    """The ways in which *content* can be read, the likeliest first; of code pages that read it alike, one."""
    lines = [line for line in LINE_END.split(content) if HIGH.search(line)]
    whole, ranked, shown = b"\n".join(lines), b"\n".join(lines[:MAX_LINES]), _telling(lines)
    found: dict[int, tuple[float, Reading]] = {}
    for page in PAGES:
        try:
            text = whole.decode(page.encoding)
            if (key := hash(text)) in found or _has_controls(text):
                continue
            samples = tuple(_cells(line.decode(page.encoding)) for line in shown)
            found[key] = _likeness(ranked.decode(page.encoding), page), Reading(page.encoding, samples)
        except UnicodeDecodeError:
            continue
    return tuple(reading for _, reading in sorted(found.values(), key=lambda each: -each[0]))


def _telling(lines: Sequence[bytes]) -> list[bytes]:
    """The few of *lines* that hold the most different bytes beyond ASCII; the first may be one of headings."""
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
    """Whether there are characters that no text has: controls, those for private use, and those that are none."""
    odd = {letter for letter in {*text} if unicodedata.category(letter) in {"Cc", "Co", "Cn"}}
    return bool(odd - {*"\t\r\n\f\v\x1a"})


def _likeness(text: str, page: Page) -> float:
    """How much *text* looks like one that people wrote in this code page: of 1 at most."""
    usual = _letters(page.letters)
    odd = [word for word in WORD.findall(text) if not word.isascii()]
    good = sum(_is_likely(word, page, usual) for word in odd)
    others = sum(not letter.isascii() and not letter.isalpha() and letter not in MARKS for letter in WORD.sub("", text))
    return (good - others) / max(1, len(odd))


def _is_likely(word: str, page: Page, usual: frozenset[str]) -> bool:
    beyond = [letter for letter in word if not letter.isascii()]
    if page.is_latin and (len(beyond) > 1 and 2 * len(beyond) > len(word) + 1):
        return False
    if not page.is_latin and len(beyond) < len(word):
        return False
    if word[1:] != word[1:].lower() and word != word.upper():
        return False
    return all(letter.lower()[:1] in usual or _is_common(letter, page) for letter in beyond)


def _is_common(letter: str, page: Page) -> bool:
    """Whether a Chinese character is one of those that texts are made of, which come first in each standard."""
    if page.cjk is None:
        return False
    code = letter.encode(page.encoding)
    return len(code) > 1 and page.cjk[0] <= code[0] <= page.cjk[1]
