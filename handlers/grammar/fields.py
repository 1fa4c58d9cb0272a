"""The kinds of field that commands have: each knows how it is read, written, and shown in `docs/commands.md`."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import MISSING, dataclass, field
from itertools import takewhile
from typing import Any, Final

from bot.rules.model import USUAL_RULE_ID
from bot.text.time_words import terms_of
from handlers.grammar.command import PART, Command, Part, Rank, Rest
from handlers.grammar.tokens import Word, quote_word


def takes(part: Part, default: Any = None) -> Any:
    """Declare a field of a command that is said as *part*; *default*: its value where it is left out."""
    return field(default=MISSING if part.missing else default, metadata={PART: part})


PLAIN: Final = re.compile(r"[A-Za-z0-9#][\w@.+#/-]*")
JOINING: Final = frozenset({"and", "&", "und", "y"})
"""Words between two things of a list: “vip and beta”."""
KEYWORDS: Final = JOINING | {"because", "for", "until", "named", "to", "from", "help", "here"}


def quote_if_ambiguous(text: str) -> str:
    """Return *text* such that it is read as one word, and not as a time; raises ValueError as `quote_word` does."""
    return quote_word(text) if terms_of(text) is not None else quote_if_needed(text)


def quote_if_needed(text: str) -> str:
    """Return the same for a word after ``name:``, which can't be a time there."""
    return text if PLAIN.fullmatch(text) and text.casefold() not in KEYWORDS else quote_word(text)


def original_text(word: Word) -> str:
    """Return *word* with its quotes, if it had any."""
    return f'"{word.text}"' if word.quoted else word.text


@dataclass(frozen=True)
class Filter(Part):
    """``name:value``, anywhere. *titled*: what the title of a list calls it; nothing where it doesn't narrow the list."""

    rank = Rank.FILTER
    titled: str | None = None

    @property
    def name(self) -> str:
        return self.shown.partition(":")[0]

    def read(self, rest: Rest) -> Any:
        """All filters are taken at once: the value of one may look like another."""
        siblings = (part.name for part in rest.kind.parts().values() if isinstance(part, Filter))
        return rest.take_filters(*siblings).get(self.name)

    def write(self, value: Any) -> str:
        word = quote_if_needed(str(value))
        return f"{self.name}: {word}" if word.startswith("'") else f"{self.name}:{word}"


class Page(Filter):
    def read(self, rest: Rest) -> int | None:
        if (text := super().read(rest)) is None:
            return None
        if not (text.isascii() and text.isdigit() and int(text[:9]) > 0 and len(text) < 7):
            raise rest.unclear_error(f"“{text[:20]}” is not a page number. Write page:2.")
        return int(text)


SITE: Final = Filter("site:blog", titled="")
PAGE: Final = Page("page:N", titled="")


def filters_of(command: Command) -> dict[str, str]:
    """Return the filters that *command* has, by what the title of a list calls them."""
    narrowing = {name: part for name, part in command.parts().items() if isinstance(part, Filter)}
    titles = {name: part.name if part.titled is None else part.titled for name, part in narrowing.items()}
    return {title: value for name, title in titles.items() if title and (value := getattr(command, name))}


class Reason(Part):
    """Everything after ``because``."""

    rank, written = Rank.REASON, 3

    def read(self, rest: Rest) -> str | None:
        at = next((index for index, word in enumerate(rest.words) if word.keyword == "because"), None)
        if at is None:
            return None
        reason = reason_in(rest.words[at:])
        del rest.words[at:]
        if not reason:
            raise rest.unclear_error("“because” needs a reason.")
        return reason

    def write(self, value: str) -> str:
        return f"because {value}"


REASON: Final = Reason("because TEXT")
FIELD_OF: Final = re.compile(
    r"(?:the )?(?:name|destination|target|source|url|e?-?mail|address|status|description|group) of "
)
"""Words that name the field to be changed, and so say more than which form to open."""


def says_field(rest: Rest) -> bool:
    """Whether the words that are left begin with the field to be changed: “the name of …”."""
    return bool(FIELD_OF.match(" ".join(word.keyword for word in rest.words)))


def reason_in(words: Sequence[Word]) -> str:
    """Return the reason in *words*, which begin with “because”; “because of” stays whole, as “of” alone says little."""
    return " ".join(map(original_text, words if words[1:2] and words[1].keyword == "of" else words[1:]))


class Led(Part):
    """The word after a keyword."""

    rank = Rank.KEYWORD

    @property
    def keyword(self) -> str:
        return self.shown.partition(" ")[0]

    def read(self, rest: Rest) -> str | None:
        at = next((index for index, word in enumerate(rest.words) if word.keyword == self.keyword), None)
        if at is None:
            return None
        if at + 1 == len(rest.words):
            raise rest.unclear_error(f"“{self.keyword}” needs a value.")
        found = rest.words[at + 1].text
        del rest.words[at : at + 2]
        return found or None

    def write(self, value: str) -> str:
        return f"{self.keyword} {quote_if_ambiguous(value)}"


class Flag(Part):
    """A word at the end, which is there or not."""

    rank = Rank.KEYWORD

    def read(self, rest: Rest) -> bool:
        found = bool(rest.words) and rest.words[-1].keyword == self.shown
        if found:
            rest.words.pop()
        return found

    def write(self, value: bool) -> str:
        return self.shown if value else ""


class Text(Part):
    """All words that are left, as one text."""

    def read(self, rest: Rest) -> Any:
        text = rest.take_all()
        return self.require_value(text.strip() if self.missing else text, rest)

    def write(self, value: str) -> str:
        return quote_if_ambiguous(value)


class First(Text):
    """The first word that is left."""

    def read(self, rest: Rest) -> Any:
        return self.require_value(rest.words.pop(0).text.strip() if rest.words else "", rest)


@dataclass(frozen=True)
class Choice(Text):
    """The first word, if it is one of *choices*: each word with what it means, the usual one first."""

    choices: Mapping[str, str] = field(default_factory=dict)

    def read(self, rest: Rest) -> Any:
        found = self.choices.get(rest.words[0].keyword) if rest.words else None
        if found is not None:
            rest.words.pop(0)
        return self.require_value(found, rest)

    def write(self, value: str) -> str:
        return next((word for word, meant in self.choices.items() if meant == value), value)


def without_kind(words: Sequence[Word], kind: Collection[str], types: Collection[str] = ()) -> list[Word]:
    """Return *words* without those at their beginning that only say what *kind* of thing is to be made; *types* stay."""
    lead = list(takewhile(lambda word: word.keyword in {*kind, *types}, words))
    return [*(word for word in lead if word.keyword in types), *words[len(lead) :]]


def without_joining(words: Sequence[Word]) -> list[Word]:
    return [word for word in words if word.keyword not in JOINING]


NUMBER: Final = re.compile(r"#\d{1,6}")
URL: Final = re.compile(r"[a-z][a-z0-9+.-]*://\S+", re.IGNORECASE)


def is_reference(word: Word) -> bool:
    """Whether the word is an id, ``#n`` or a URL, and so names a rule on its own."""
    return bool(USUAL_RULE_ID.fullmatch(word.text) or NUMBER.fullmatch(word.text) or URL.fullmatch(word.text))


class Refs(Part):
    """Several rules, if each word is an id, ``#n`` or in quotes; else the words are the name of one."""

    def read(self, rest: Rest) -> tuple[str, ...]:
        typed, rest.words = rest.words, []
        words = [part for word in typed for part in _split_refs(word)]
        if not any(word.text.strip() for word in words):
            raise rest.missing_error(self.missing)
        named = without_joining(words)
        if named and all(word.quoted or is_reference(word) for word in named):
            return tuple(dict.fromkeys(word.text for word in named if word.text))
        return (" ".join(word.text for word in typed),)

    def write(self, value: Sequence[str]) -> str:
        several = len(value) > 1
        return " ".join(
            quote_word(ref) if several and not USUAL_RULE_ID.fullmatch(ref) else quote_if_ambiguous(ref)
            for ref in value
        )


WHICH_RULE: Final = "which rule"
REFS: Final = Refs("REF…", WHICH_RULE)


def _split_refs(word: Word) -> list[Word]:
    """Return the words that *word* is: ``a,b`` is two and ``#1-3`` three, but a comma in quotes or in a URL is just a comma."""
    if word.quoted or URL.match(word.text):
        return [word]
    parts = [row for part in word.text.split(",") if part for row in expand_rows(part)]
    return [Word(part, quoted=False, start=word.start) for part in parts]


ROWS: Final = re.compile(r"#(\d{1,4})-#?(\d{1,4})")
MAX_ROWS: Final = 100


def expand_rows(text: str) -> list[str]:
    """Return ``#1-3`` as ``#1``, ``#2``, ``#3``; any other text, and a range of more than MAX_ROWS, as it is."""
    match = ROWS.fullmatch(text)
    if match is None or not 0 <= int(match[2]) - int(match[1]) < MAX_ROWS:
        return [text]
    return [f"#{row}" for row in range(int(match[1]), int(match[2]) + 1)]


class Urls(Part):
    """Each word that is left."""

    def read(self, rest: Rest) -> tuple[str, ...]:
        words, rest.words = without_joining(rest.words), []
        return tuple(text for word in words if (text := word.text.rstrip(",")).strip())

    def write(self, value: Sequence[str]) -> str:
        return " ".join(map(quote_if_ambiguous, value))
