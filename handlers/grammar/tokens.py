"""Normalise typed text: Slack's markup unwrapped, typography straightened, quoted words kept together."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from bot.text import emails

MAX_COMMAND: Final = 3000
"""Characters of a command: more than that is something pasted by mistake."""

MARKUP: Final = re.compile(r"<([^<>]*)>|&(amp|lt|gt);")
ENTITY: Final = re.compile(r"&(amp|lt|gt);")
ENTITIES: Final = {"amp": "&", "lt": "<", "gt": ">"}
TYPOGRAPHY: Final = str.maketrans(
    {
        **dict.fromkeys("“”„‟«»＂", '"'),
        **dict.fromkeys("‘’‚‛", "'"),
        **dict.fromkeys("\u00a0\u2007\u202f\u3000\t\r\n\v\f", " "),
    }
)
ZERO_WIDTH: Final = str.maketrans(dict.fromkeys("\u200b\u200c\u200d\u2060\ufeff", ""))
RUN: Final = re.compile(r"""[^\s,;"']+""")
"""A run of characters that holds an email as a whole, if it holds one."""
IN_EMAIL: Final = re.compile(r"[^<@]@")
WORD: Final = re.compile(
    r"""
      "(?P<double>[^"]*)"(?=\s|,|$)
    | '(?P<single>[^']*)'(?=\s|,|$)
    | (?P<bare>(?:[^\s"]+|"[^"]*")+)
    | (?P<stray>\S+)
    """,
    re.VERBOSE,
)
WEB: Final = re.compile(r"https?://[^\s<>|\"“”`´ˋ]+", re.IGNORECASE)
SENTENCE_ENDS: Final = ".,;:!?…"
BRACKETS: Final = {")": "(", "]": "[", "}": "{"}
STYLES: Final = {"*": "*", "_": "_", "~": "~", "'": "'", "’": "‘"}
"""The end of a style or a quotation, which is not part of a URL where its beginning is right before the URL."""
AROUND: Final = '`´ˋ"<>'
"""Characters that are not part of any URL."""
MAILTO: Final = "mailto:"
AROUND_EMAIL: Final = " \t<>()[],;"
"""Characters around a pasted email that are not part of it."""
DASHED: Final = re.compile(r"^[-–—]+(?=[A-Za-z])")


@dataclass(frozen=True, slots=True)
class Word:
    """One word, or several in quotes; *start*: its position in the cleaned text."""

    text: str
    quoted: bool
    start: int

    @property
    def keyword(self) -> str:
        """Return the word in lower case, without dashes in front (``--because``, ``—because``); empty if it was quoted."""
        return "" if self.quoted else DASHED.sub("", self.text).casefold()


def clean_text(text: str) -> str:
    """Return *text* as its author meant it: ``<url|label>`` is the URL, entities are decoded once, quotes are straight."""
    return RUN.sub(_strip_zero_width, MARKUP.sub(_unwrap, text.translate(TYPOGRAPHY))).strip()


def _strip_zero_width(match: re.Match[str]) -> str:
    """Return the match without zero-width characters; an email keeps them, since it would be another one without."""
    return match[0] if IN_EMAIL.search(match[0]) else match[0].translate(ZERO_WIDTH)


def _unwrap(match: re.Match[str]) -> str:
    if match[2]:
        return ENTITIES[match[2]]
    inner = ENTITY.sub(lambda entity: ENTITIES[entity[1]], match[1].partition("|")[0])
    if inner[:1] in {"@", "#", "!"}:
        return f"<{inner}>"
    return inner.removeprefix(MAILTO)


def urls_in(text: str) -> list[str]:
    """Return the URLs in a message as Slack sends it, each once, as they were written."""
    found = (
        ENTITY.sub(lambda entity: ENTITIES[entity[1]], _url(match)) for match in WEB.finditer(_separate_urls(text))
    )
    return list(dict.fromkeys(found))


def urls_typed(text: str) -> list[str]:
    """Return the URLs in the text of a command, each once, without what was pasted around them.

    A URL that is the only word needs no scheme.
    """
    found = [_trim_url(match[0], _character_before(match)) for match in WEB.finditer(_separate_urls(text))]
    if found or len(text.split()) != 1:
        return list(dict.fromkeys(found))
    word = text.strip().strip(AROUND)
    bare = word.lstrip("({*_~'" if ":" in word else "([{*_~'")
    only = _trim_url(bare, word[: len(word) - len(bare)][-1:]).strip(AROUND)
    return [only] if only else []


def _separate_urls(text: str) -> str:
    """Return *text* with a space between two URLs that Markdown or a list joins."""
    return text.replace("](", " ").replace(",http", " http").replace(";http", " http")


def _url(match: re.Match[str]) -> str:
    """Return the URL alone: where Slack doesn't mark its end, punctuation of the sentence is not part of it."""
    around = (_character_before(match) or "\n", match.string[match.end() : match.end() + 1] or "\n")
    return match[0] if around[0] == "<" or around == ("\n", "\n") else _trim_url(match[0], around[0])


def _character_before(match: re.Match[str]) -> str:
    return match.string[match.start() - 1 : match.start()]


def _trim_url(url: str, before: str) -> str:
    """Return *url* without the punctuation, brackets or style marks after it; *before*: the character before it."""
    excess = {close: url.count(close) - url.count(opening) for close, opening in BRACKETS.items()}
    end = len(url)
    while end and (last := url[end - 1]):
        if last in BRACKETS and excess[last] > 0:
            excess[last] -= 1
        elif last not in SENTENCE_ENDS and STYLES.get(last) != before:
            break
        end -= 1
    return url[:end]


def emails_in(text: str) -> list[str]:
    """Return the emails in *text*, each once; one inside a URL doesn't count."""
    return emails.emails_in(WEB.sub(" ", text))


def strip_email(text: str) -> str:
    """Return the email in a word, without what was pasted with it: ``<mailto:anna@example.com|Anna>``, ``(anna@example.com)``."""
    bare = text.strip(AROUND_EMAIL)
    return bare.removeprefix(MAILTO).partition("|")[0] if bare.startswith(MAILTO) else bare


def escape_entities(text: str) -> str:
    """Return *text* as Slack would send it, so that `clean_text` gives it back."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def split(text: str) -> list[Word]:
    """Return the words of a cleaned text. Never fails: a quote that is not closed is a character like others.

    A word that was joined to an email, and is none itself, loses its zero-width characters here.
    """
    words = (_word(match) for match in WORD.finditer(text))
    return [word for word in words if word.text or word.quoted]


def _word(match: re.Match[str]) -> Word:
    for name in ("double", "single"):
        if match[name] is not None:
            return Word(match[name], quoted=True, start=match.start())
    text = RUN.sub(_strip_zero_width, match["bare"] or match["stray"])
    return Word(text, quoted=False, start=match.start())


def unquote_reason(text: str | None) -> str:
    """Return a reason without the quotes that kept a time in it from being asked about."""
    reason = text or ""
    is_quoted = len(reason) > 2 and reason[0] == reason[-1] == '"' and '"' not in reason[1:-1]
    return reason[1:-1].strip() if is_quoted else reason


def quote_word(text: str) -> str:
    """Return *text* in quotes, as one word; raises ValueError where it has both kinds of quotes, which can't be written."""
    for mark in ('"', "'"):
        if mark not in text:
            return f"{mark}{text}{mark}"
    raise ValueError("both kinds of quotes")
