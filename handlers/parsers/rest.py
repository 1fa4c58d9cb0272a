"""The words after a verb, taken apart piece by piece: what every parser reads its command from."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final

from bot.domain.rule import USUAL_RULE_ID
from handlers.commands.command import Command, Lasts, slash
from handlers.parsers.lasts import lasts_in
from handlers.words import Word

URL: Final = re.compile(r"[a-z][a-z0-9+.-]*://\S+", re.IGNORECASE)
NUMBER: Final = re.compile(r"#\d{1,6}")
FILTER: Final = re.compile(r"([a-z]+):(.*)", re.DOTALL | re.IGNORECASE)


class Unclear(Exception):
    """A text that is no command. *suggestion*: the nearest one, ready to be run; *about*: those whose usage helps."""

    def __init__(self, what: str, *, suggestion: str | None = None, about: Sequence[type[Command]] = ()) -> None:
        super().__init__(what)
        self.what = what
        self.suggestion = suggestion
        self.about = tuple(about)


class Rest:
    """The words after the verb, taken apart piece by piece."""

    def __init__(self, kind: type[Command], words: Sequence[Word]) -> None:
        self.kind = kind
        self.words = list(words)

    def because(self) -> str | None:
        """Everything after the keyword ``because``."""
        for index, word in enumerate(self.words):
            if word.keyword == "because":
                said = self.words[index + 1 :]
                whole = self.words[index:] if said and said[0].keyword == "of" else said  # "of the sale" says little
                reason = " ".join(as_written(each) for each in whole)
                del self.words[index:]
                if not reason:
                    raise self.unclear("After “because” comes the reason.")
                return reason
        return None

    def lasts(self) -> Lasts | None:
        """``for 2h`` or ``until 18:00``, wherever it stands; a “for” before other words is just a word."""
        for index, word in enumerate(self.words[:-1]):
            if word.keyword not in {"for", "until"}:
                continue
            for length in (2, 1):
                text = "".join(each.text for each in self.words[index + 1 : index + 1 + length])
                if found := lasts_in(word.keyword, text):
                    del self.words[index : index + 1 + length]
                    return found
            if self.words[index + 1].text[:1].isdigit():
                # Left as words, this would make for good what was meant for a while.
                wanted = "for 2h, for 30m or for 7d" if word.keyword == "for" else "until 18:00"
                raise self.unclear(f"“{word.text} {self.words[index + 1].text[:20]}”: write {wanted}.")
        return None

    def after(self, keyword: str) -> str | None:
        """The word after *keyword*."""
        for index, word in enumerate(self.words):
            if word.keyword == keyword:
                if index + 1 == len(self.words):
                    raise self.unclear(f"After “{keyword}” something is missing.")
                found = self.words[index + 1].text
                del self.words[index : index + 2]
                return found
        return None

    def filters(self, *names: str) -> dict[str, str]:
        """``name:value`` words of these names, also with a blank before the value; others, such as URLs, are left."""
        found: dict[str, str] = {}
        left, words = [], iter(self.words)
        for word in words:
            match = None if word.quoted else FILTER.fullmatch(word.text)
            if match and match[1].lower() in names and not match[2].startswith("//"):
                following = None if match[2] else next(words, None)
                found[match[1].lower()] = following.text if following else match[2].strip('"')
            else:
                left.append(word)
        self.words = left
        return found

    def take(self, count: int, fits: Callable[[str], object]) -> str | None:
        """The first or the last *count* words, none of them quoted, where they fit as one text."""
        for index in {0, len(self.words) - count} if len(self.words) >= count else ():
            words = self.words[index : index + count]
            text = " ".join(word.text for word in words)
            if not any(word.quoted for word in words) and fits(text):
                del self.words[index : index + count]
                return text
        return None

    def rest(self) -> str:
        """All that is left, as one text."""
        found = " ".join(word.text for word in self.words)
        self.words = []
        return found

    def one(self, what: str) -> str:
        """All that is left, which must not be nothing."""
        if not (found := self.rest().strip()):
            raise self.missing(what)
        return found

    def first(self, what: str) -> str:
        if not self.words or not self.words[0].text.strip():
            raise self.missing(what)
        return self.words.pop(0).text.strip()

    def refs(self) -> tuple[str, ...]:
        """Several, if each is an id, ``#n`` or in quotes; else the words are one name."""
        words = [part for word in self.words for part in _parts(word)]
        if not any(word.text.strip() for word in words):
            raise self.missing("which rule")
        self.words = []
        if all(word.quoted or is_reference(word) for word in words):
            return tuple(dict.fromkeys(word.text for word in words if word.text))
        return (" ".join(word.text for word in words),)

    def nothing_more(self) -> None:
        if self.words:
            raise self.unclear(f"I do not understand “{self.words[0].text[:60]}” here.")

    def missing(self, what: str) -> Unclear:
        return self.unclear(f"Say {what}, as in {slash(self.kind.service)} {self.kind.example}")

    def unclear(self, words: str) -> Unclear:
        return Unclear(words, about=(self.kind,))


Parser = Callable[[Rest], Command]


def is_reference(word: Word) -> bool:
    """Whether the word is an id, ``#n`` or a URL, and so names a rule by itself."""
    return bool(USUAL_RULE_ID.fullmatch(word.text) or NUMBER.fullmatch(word.text) or URL.fullmatch(word.text))


def as_written(word: Word) -> str:
    """With its quotes, if it had any."""
    return f'"{word.text}"' if word.quoted else word.text


def _parts(word: Word) -> list[Word]:
    """A bare ``a,b`` is two words; commas in quotes or in a URL are just commas."""
    if word.quoted or URL.match(word.text):
        return [word]
    return [Word(part, quoted=False, start=word.start) for part in word.text.split(",") if part]


def page_in(filters: dict[str, str], rest: Rest) -> int | None:
    """The page that *filters* name, taken out of them."""
    if (text := filters.pop("page", None)) is None:
        return None
    if not (text.isascii() and text.isdigit() and int(text[:9]) > 0 and len(text) < 7):
        raise rest.unclear(f"page:{text[:20]} is no page; write page:2")
    return int(text)


def alone(kind: Callable[[], Command]) -> Parser:
    """The parser of a command that takes no words."""

    def parsed(rest: Rest) -> Command:
        rest.nothing_more()
        return kind()

    return parsed
