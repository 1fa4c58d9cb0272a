"""The kinds of field that only commands about rules have."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from bot.rules.pair_fields import KNOWN_TYPES
from handlers.blocks.messages import join_words
from handlers.grammar.command import Part, Rank, Rest
from handlers.grammar.fields import WHICH_RULE, Choice, Filter, First, Led, Text, original_text, says_field
from handlers.grammar.tokens import WEB, Word, quote_word

ONE_RULE: Final = Text("REF", WHICH_RULE)
BLOCK: Final = {"block": "Cancel", "cancel": "Cancel"}
"""What people call the type, and what the service does."""
MADE: Final = {"redirect": "Redirect", **BLOCK}
RULE_TYPE: Final = Choice("TYPE", choices=BLOCK | {name.casefold(): name for name in KNOWN_TYPES})


@dataclass(frozen=True)
class OneOf(Filter):
    """A filter whose value is one of *options*."""

    options: tuple[str, ...] = ()

    def read(self, rest: Rest) -> str | None:
        if (text := super().read(rest)) is None:
            return None
        if (option := str(text).casefold()) not in self.options:
            known = join_words([f"{self.name}:{one}" for one in self.options], "or")
            raise rest.unclear_error(f"{self.name}:{option[:20]} is unknown. Write {known}.")
        return option


A_RULE: Final = frozenset({"a", "an", "new", "rule"})
"""Words that say what is to be made, and nothing about it: “new redirect rule”."""


class Source(First):
    def write(self, value: str) -> str:
        is_said = value.casefold() in {*RULE_TYPE.choices, *A_RULE}
        return quote_word(value) if is_said else super().write(value)


class Destination(Led):
    """``to URL``, or simply the word behind the source."""

    rank = Rank.TO

    def read(self, rest: Rest) -> str | None:
        led = any(word.keyword == self.keyword for word in rest.words)
        found = super().read(rest)
        at = 2 if rest.words and rest.words[0].keyword in RULE_TYPE.choices else 1
        if led or len(rest.words) <= at:
            return found
        return rest.words.pop(at).text or None


class GroupName(Text):
    """``NAME`` or ``group:NAME``."""

    def read(self, rest: Rest) -> Any:
        name = rest.take_filters("group").get("group", "").strip()
        return name or super().read(rest)


GROUP: Final = GroupName("NAME", "which group")
ASSIGNMENT: Final = re.compile(r"((?:pair\d{1,4}\.)?(?:source\.)?[A-Za-z]+)=(.*)", re.DOTALL | re.IGNORECASE)
FREE_TEXT: Final = frozenset({"name", "description"})
"""Fields whose value may go on over several words without quotes."""


class Assignments(Part):
    """``name=value`` words to the end; a word without ``=`` goes on with the value before it."""

    rank = Rank.KEYWORD

    def read(self, rest: Rest) -> tuple[tuple[str, str], ...]:
        fields: list[tuple[str, str]] = []
        before: list[Word] = []
        for word in rest.words:
            if not word.quoted and (match := ASSIGNMENT.fullmatch(word.text)):
                fields.append((match[1], match[2]))
            elif fields:
                fields[-1] = _append_word(*fields[-1], word, rest)
            else:
                before.append(word)
        rest.words = before
        return tuple((name, _unquote(value)) for name, value in self.require_value(fields, rest))

    def write(self, value: Sequence[tuple[str, str]]) -> str:
        return " ".join(f"{name}={quote_word(text)}" for name, text in value)


def _append_word(name: str, value: str, word: Word, rest: Rest) -> tuple[str, str]:
    if name.casefold() not in FREE_TEXT:
        raise rest.unclear_error(f"“{word.text[:60]}” after {name}: put a value with spaces in quotes.")
    return name, f"{value} {original_text(word)}"


def _unquote(value: str) -> str:
    return value[1:-1] if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'" else value


class RuleAlone(Text):
    """A rule and nothing about it: with a URL behind the name, more is meant than a form."""

    def read(self, rest: Rest) -> Any:
        says_more = says_field(rest) or any(WEB.match(word.text) and not word.quoted for word in rest.words)
        if len(rest.words) > 1 and says_more:
            raise rest.unclear_error("This opens a form for one rule: name one rule and nothing else.")
        return super().read(rest)
