"""The result of reading a text: what it names and asks for, by kind, and the rules and people that its words mean."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import groupby
from typing import Any, Final

from bot.text.names import MIN_PART
from bot.text.times import ParsedTime
from handlers.grammar.known import MAX_READINGS, Known, Names
from handlers.grammar.time_fields import Expiry, Start
from handlers.grammar.tokens import Word
from handlers.grammar.vocabulary import ACTS, FILLERS, MEMBERS, STATUSES, TYPES, bare
from handlers.rules.reasons import type_word

MAX_NAME_WORDS: Final = 12
MAX_PART_WORDS: Final = 4


class Sort(StrEnum):
    """What a word is, or belongs to."""

    WORD = "word"
    AND = "and"
    """A word or a comma that joins."""
    NAME = "name"
    URL = "url"
    EMAIL = "email"
    ROW = "row"
    TIME = "time"


@dataclass(frozen=True, slots=True)
class Token:
    """A word of the text and what it is; a WORD has no punctuation around it."""

    sort: Sort
    text: str


@dataclass(eq=False, slots=True)
class Recognised:
    """What a text names, by kind; *words* are those that are left, in their order."""

    root: str
    known: Known
    text: str
    typed: Sequence[Word]
    """The words as they were typed."""
    names: Mapping[str, str]
    """The names typed in front of emails, by email: “Tom Meier <tom@example.com>”."""
    tokens: list[Token] = field(default_factory=list)
    """Every word but those of a reason, in order."""
    reason: str | None = None
    expiry: Expiry | None = None
    start: Start | None = None
    since: ParsedTime | None = None
    times: list[str] = field(default_factory=list)
    """Times that nothing uses: a second start or end, “over the weekend”."""
    urls: list[str] = field(default_factory=list)
    """Web URLs and paths, in their order."""
    emails: list[str] = field(default_factory=list)
    rows: list[str] = field(default_factory=list)
    rules: list[str] = field(default_factory=list)
    groups: list[str] = field(default_factory=list)
    has_namesakes: bool = False
    """Whether several rules or several people have a name that was typed: one of them is meant."""
    new_name: str | None = None
    """The name for something new."""
    segments: list[str] = field(default_factory=list)
    having: list[str] = field(default_factory=list)
    lacking: list[str] = field(default_factory=list)
    """Segments that say which members are meant: those with them, those without."""
    site: str | None = None
    question: str = ""
    act: str = ""
    verb: str = ""
    """The word that says what is to be done, where that changes something."""
    turned: list[str] = field(default_factory=list)
    """The words that may reverse the sentence."""
    words: list[str] = field(default_factory=list)
    used: set[str] = field(default_factory=set)
    """The words and URLs that were looked up as a name or a source, and found."""
    found_as: dict[str, set[str]] = field(default_factory=dict)
    """For each of *used*, the keys of what it was found as: in a reading of anything else, it stays unread."""
    _held: dict[tuple[int, str], list[str]] = field(default_factory=dict)

    @property
    def plain(self) -> set[str]:
        """Return all words of the text, each as the vocabulary has it."""
        return set(map(bare, self.text.split()))

    @property
    def types(self) -> list[str]:
        """Return the types of rules that the words left name."""
        return [TYPES[word] for word in self.words if word in TYPES]

    @property
    def type_filter(self) -> str | None:
        """Return the first of these types in people's word, as a filter has it; None where no type is named."""
        return next((type_word(each).casefold() for each in self.types), None)

    @property
    def status(self) -> str | None:
        """Return “on” or “off”, where the words left describe rules by their status; else None."""
        return next((STATUSES[word] for word in self.words if word in STATUSES), None)

    @property
    def is_question(self) -> bool:
        """Whether the text is a question, which begins as one or ends as one."""
        begins = bool(self.typed) and bare(self.typed[0].text) == self.question
        return bool(self.question) and (begins or self.text.endswith("?"))

    @property
    def names_rules(self) -> bool:
        """Whether the rules are named one by one: all of them are meant, not one of them."""
        return bool(self.rows or self.rules)

    @property
    def names_segments(self) -> bool:
        """Whether the text names segments: they say which members are meant, or what somebody gets or loses."""
        return bool(self.segments or self.having or self.lacking)

    @property
    def is_about_members(self) -> bool:
        """Whether the text is about members: by its command, by a word for them and none for rules, or by what it names."""
        by_word = not self.plain.isdisjoint(MEMBERS) and self.plain.isdisjoint({"rule", "rules"})
        return self.root == "members" or by_word or bool(self.emails) or self.names_segments

    @property
    def phrase(self) -> str:
        """Return the words that may be a part of a name: those left, without the fillers around them."""
        words = list(self.words)
        while words and words[0] in FILLERS:
            words.pop(0)
        while words and words[-1] in FILLERS:
            words.pop()
        return " ".join(words)

    def segment(self, word: str) -> str | None:
        """Return the segment that *word* names, also in the plural (“the vips”); else None."""
        segments = self.known.segments
        return segments.get(word) or (segments.get(word.removesuffix("s")) if len(word) > MIN_PART else None)

    def find_mentioned(self, names: Names[Any], text: str) -> list[str]:
        """Return what `Names.find_mentioned` does; cached, since the same words are looked up again and again."""
        if (id(names), text) not in self._held:
            self._held[id(names), text] = names.find_mentioned(text)
        return self._held[id(names), text]

    def rule_refs(self, *, loosely: bool = False) -> list[str]:
        """Return the rules that are meant: named as such, by their source, or by a part of a name.

        *loosely*: by any words that are part of a name; the others stay unread.
        """
        if refs := [*self.rows, *self.rules]:
            return [*refs, *self._named_besides(self.known.rules)]
        if self.groups:
            return []
        by_source = [rule for url in self.urls for rule in self.known.rules.find_url(url)]
        for url in self.urls:
            self.use([url], self.known.rules.find_url(url))
        if by_source or self.urls:
            return by_source
        if not (found := self.part_of(self.known.rules)):
            found = self.rules = self._named_apart(self.known.rules)
        return found or (self._part_within(self.known.rules) if loosely else [])

    def people(self, *, anywhere: bool = False, loosely: bool = False) -> list[str]:
        """Return the emails of those who are meant: of a part of a name, those of the site where it fits somebody there.

        *loosely*: as for `rule_refs`.
        """
        if self.emails or self.urls:
            return [*self.emails, *(self._named_besides(self.known.members) if self.emails else ())]
        if self.rows and self.root == "members":
            return self.rows
        fitting = self.part_of(self.known.members)
        if not fitting and (apart := self._named_apart(self.known.members)):
            self.emails = apart
            return apart
        fitting = fitting or (self._part_within(self.known.members) if loosely else [])
        return fitting if anywhere else self._here(fitting)

    def part_of(self, names: Names[Any]) -> list[str]:
        """Return the keys of *names* that the words left are a part of."""
        telling = " ".join(word for word in self.words if word not in FILLERS)
        untyped = " ".join(word for word in telling.split() if word not in TYPES)
        tried = [each for each in (self.phrase, telling, untyped) if len(each) >= MIN_PART and "@" not in each]
        text = next((each for each in tried if self.find_mentioned(names, each)), "")
        keys = self._of_its_type(self.find_mentioned(names, text)) if text else []
        self.use(text.split(), keys)
        return keys

    def _of_its_type(self, keys: list[str]) -> list[str]:
        """Return those of *keys* that are rules of a type that is said (“the checkout redirects”), or all where none is."""
        types, rules = self.types, self.known.by_id
        narrowed = [key for key in keys if key in rules and rules[key].rule_type in types]
        self.use([word for word in self.words if word in TYPES], narrowed)
        return narrowed or keys

    def _named_besides(self, names: Names[Any]) -> list[str]:
        """Return the keys of *names* that other parts of the text name, next to whole names; a part counts if it fits one."""
        found: list[str] = []
        for name, fitting in self._split_joined(names):
            if len(fitting) == 1:
                found += fitting
                self.use(name.split(), fitting)
        return found

    def _named_apart(self, names: Names[Any]) -> list[str]:
        """Return the keys of *names* that “liam and quinn” are: one for each part; nothing where one fits none, or several."""
        joined = self._split_joined(names)
        if len(joined) < 2 or any(len(fitting) != 1 for _, fitting in joined):
            return []
        for name, fitting in joined:
            self.use(name.split(), fitting)
        return [key for _, fitting in joined for key in fitting]

    def _split_joined(self, names: Names[Any]) -> list[tuple[str, list[str]]]:
        """Return each part of the words left that “and” or a comma joins, with the keys of *names* that it fits."""
        parts = groupby(" ".join(self.words).split(), key="and".__eq__)
        texts = [" ".join(word for word in part if word not in FILLERS) for is_and, part in parts if not is_and]
        return [(text, self._here(self.find_mentioned(names, text)) if len(text) >= MIN_PART else []) for text in texts]

    def _part_within(self, names: Names[Any]) -> list[str]:
        """Return the keys of *names* that contain the longest run of the words left which fits at most MAX_READINGS of them."""
        least = MIN_PART if names is self.known.members else MIN_PART + 1  # people have short names, rules long ones
        words = [word for word in self.words if word not in FILLERS and "@" not in word][:MAX_NAME_WORDS]
        runs = [(*self._run_at(names, words[at:], least), at) for at in range(len(words))]
        length, fitting, at = max(runs, key=lambda run: run[0], default=(0, [], 0))
        self.use(words[at : at + length], fitting)
        return fitting

    def find_named(self, names: Names[Any]) -> list[str]:
        """Return the keys of *names* that the text names: whole, or by the longest runs of the words left that fit few enough."""
        known = self.known
        whole = self.emails if names is known.members else self.groups
        found = dict.fromkeys([*self.rows, *self.rules] if names is known.rules else whole)
        left = [*self.words, *self.segments]  # a segment's name may be a part of another's
        words = [word for word in left if word not in FILLERS and word not in ACTS and "@" not in word]
        at = 0
        while at < len(words):
            length, fitting = self._run_at(names, words[at:])
            if not length and (word := names.nearest_word(words[at])):  # with a typo, and so it stays unread
                near = self.find_mentioned(names, word)
                fitting = self._here(near) if len(near) <= MAX_READINGS else []
            found |= dict.fromkeys(fitting)
            self.use(words[at : at + length], fitting)
            at += length or 1
        return list(found)

    def _run_at(self, names: Names[Any], words: Sequence[str], least: int = MIN_PART) -> tuple[int, list[str]]:
        """Return how many of the first of *words*, as many as can be, fit few enough of *names*, and the keys of those.

        They have so many letters at *least*, or are a whole name.
        """
        for length in range(min(MAX_PART_WORDS, len(words)), 0, -1):
            text = " ".join(words[:length])
            is_enough = len(text) >= least or bool(names.find_exact(text))
            if is_enough and 0 < len(fitting := self._here(self.find_mentioned(names, text))) <= MAX_READINGS:
                return length, fitting
        return 0, []

    def _here(self, keys: list[str]) -> list[str]:
        """Return those of *keys* who are people of the site, or all where it has none of them."""
        site = self.site or self.known.site
        return [key for key in keys if site in self.known.sites_of.get(key, ())] or keys

    def use(self, words: Sequence[str], keys: Sequence[str]) -> None:
        """Note that *words*, or URLs, were looked up and found as *keys*."""
        for word in words if keys else ():
            self.used.add(word)
            self.found_as.setdefault(word, set()).update(keys)

    def take_as_theirs(self) -> None:
        """Give the people who are named the segments that would say which members are meant: “let anna have vip”."""
        self.segments += [each for each in self.having if each not in self.segments]
        self.having = []
