"""What people type, cleaned: Slack's markup unwrapped, typography straightened, quoted words kept together."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from bot.domain import emails

MOST: Final = 3000
"""Characters of a command: more than that is something pasted by mistake."""

MARKUP: Final = re.compile(r"<([^<>]*)>|&(amp|lt|gt);")
ENTITY: Final = re.compile(r"&(amp|lt|gt);")
ENTITIES: Final = {"amp": "&", "lt": "<", "gt": ">"}
TYPOGRAPHY: Final = str.maketrans(
    {
        **dict.fromkeys("“”„‟«»＂", '"'),
        **dict.fromkeys("‘’‚‛", "'"),
        **dict.fromkeys("\u00a0\u2007\u202f\u3000\t\r\n\v\f", " "),
        **dict.fromkeys("\u200b\u200c\u200d\u2060\ufeff", ""),
    }
)
WORD: Final = re.compile(
    r"""
      "(?P<double>[^"]*)"(?=\s|,|$)
    | '(?P<single>[^']*)'(?=\s|,|$)
    | (?P<bare>(?:[^\s"]+|"[^"]*")+)
    | (?P<stray>\S+)
    """,
    re.VERBOSE,
)
WEB: Final = re.compile(r"https?://[^\s<>|\"“”`]+", re.IGNORECASE)
TRAILING: Final = ".,;:!?)]}'’*_~…"
"""What ends a sentence or a style rather than an address."""
DASHED: Final = re.compile(r"^[-–—]+(?=[A-Za-z])")


@dataclass(frozen=True, slots=True)
class Word:
    """One word, or several in quotes; *start* is where it stood in the cleaned text."""

    text: str
    quoted: bool
    start: int

    @property
    def keyword(self) -> str:
        """The word as a keyword: no case, no dashes in front (``--because``, ``—because``); nothing if it was quoted."""
        return "" if self.quoted else DASHED.sub("", self.text).casefold()


def cleaned(text: str) -> str:
    """*text* as its author meant it: ``<url|label>`` is the URL, entities are decoded once, quotes are straight."""
    return MARKUP.sub(_unwrapped, text.translate(TYPOGRAPHY)).strip()


def _unwrapped(match: re.Match[str]) -> str:
    if match[2]:
        return ENTITIES[match[2]]
    inner = ENTITY.sub(lambda entity: ENTITIES[entity[1]], match[1].partition("|")[0])
    if inner[:1] in {"@", "#", "!"}:
        return f"<{inner}>"
    return inner.removeprefix("mailto:")


def addresses_in(text: str) -> list[str]:
    """The web addresses in what Slack sends of a message, each once, as they were written."""
    found = (ENTITY.sub(lambda entity: ENTITIES[entity[1]], _address(match)) for match in WEB.finditer(text))
    return list(dict.fromkeys(found))


def _address(match: re.Match[str]) -> str:
    """The address alone: where Slack does not say where it ends, the sentence's own signs are no part of it."""
    around = (
        match.string[match.start() - 1 : match.start()] or "\n",
        match.string[match.end() : match.end() + 1] or "\n",
    )
    return match[0] if around[0] == "<" or around == ("\n", "\n") else match[0].rstrip(TRAILING)


def emails_in(text: str) -> list[str]:
    """The e-mail addresses in it, each once; what looks like one in a web address is none."""
    return emails.emails_in(WEB.sub(" ", text))


def escaped(text: str) -> str:
    """*text* as Slack would send it, so that `cleaned` gives it back."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def split(text: str) -> list[Word]:
    """The words of a cleaned text. Never fails: a quote that is not closed is a character like others."""
    return [_word(match) for match in WORD.finditer(text)]


def _word(match: re.Match[str]) -> Word:
    for name in ("double", "single"):
        if match[name] is not None:
            return Word(match[name], quoted=True, start=match.start())
    return Word(match["bare"] or match["stray"], quoted=False, start=match.start())


def quoted(text: str) -> str:
    """*text* as one word; raises ValueError for one with both kinds of quotes in it, which cannot be written so."""
    for mark in ('"', "'"):
        if mark not in text:
            return f"{mark}{text}{mark}"
    raise ValueError("both kinds of quotes")
