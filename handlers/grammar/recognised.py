"""What a text names, by what it looks like, in any order: things that exist, URLs, emails, times, and words that ask or act."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import groupby, pairwise
from typing import Any, Final

from rapidfuzz import fuzz, process

from bot.rules.model import USUAL_RULE_ID
from bot.text.names import MIN_PART, folded
from bot.text.time_words import terms_of
from bot.text.times import Kind, Said, said
from handlers.grammar.command import Rest
from handlers.grammar.fields import NUMBER, REASON, Expiry, Start, expiry_in, rows_in, time_at
from handlers.grammar.known import MAX_READINGS, Known, Names, words_of
from handlers.grammar.tokens import WEB, Word, split, urls_typed
from handlers.grammar.vocabulary import (
    ACTS,
    ARROWS,
    BECAUSE,
    CAN,
    CAUTIOUS,
    CHANGING,
    COMPLAINTS,
    CONTRACTED,
    COUNTS,
    ENDS,
    FILES,
    FILLERS,
    GREETINGS,
    HARMLESS,
    HAVING,
    LACKING,
    NAMED,
    OFTEN_NOUNS,
    ONLY,
    ORDINALS,
    PARTED,
    PAST,
    PHRASES,
    PRONOUNS,
    QUESTIONS,
    SAYS,
    STATUSES,
    TYPES,
    WHO_CAN,
)
from handlers.rules.commands import RulesOff

SWITCHED: Final = frozenset({"switched", "turned"})
"""Before “off”: how something is, which “off” alone says, too."""
MAX_WORDS: Final = 60
SHORTEST_TYPO: Final = 4
MAX_NAME_WORDS: Final = 12
MAX_PART_WORDS: Final = 4
LIKE_A_VERB: Final = 81
"""Per cent of likeness from which on a word is a verb with a typo."""


ENDS_OF_CLAUSES: Final = (",", ";", ".", "!", "?", ")", ":")
DASHES: Final = frozenset({"-", "–", "—"})
TICKET: Final = re.compile(r"[a-z]{2,10}-\d{1,7}|#?\d{3,}", re.IGNORECASE)
AND: Final = frozenset({"+", "&"})
ANDS: Final = AND | {"and", "und", "y"}
SAYS_SOMETHING: Final = re.compile(r"[^:\w]*\w.*")
"""A word that isn't only a sign, or an emoji in either of its spellings."""
AFTER_ALL: Final = ".,;:!?…"
HOST: Final = re.compile(r"(?:[a-z0-9-]+\.)+[a-z]{2,}(?::\d+)?(?:[/?#]\S*)?", re.IGNORECASE)
PATH: Final = re.compile(r"/[^\s/]\S*")
EMAIL: Final = re.compile(r"[^\s@<>]+@[^\s@<>.]+(?:\.[^\s@<>.]+)+")


class Sort(StrEnum):
    """What a word is, or is a part of."""

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
    """A word as it was typed, in its place; of a WORD without the signs of its sentence."""

    sort: Sort
    text: str


class Recognised:
    """What a text names, by kind; *words* are those that are left, in their order."""

    def __init__(self, root: str, known: Known) -> None:
        self.root, self.known = root, known
        self.text = ""
        self.reason: str | None = None
        self.expiry: Expiry | None = None
        self.start: Start | None = None
        self.since: Said | None = None
        self.times: list[str] = []
        """Times that nothing takes: a second start or end, “over the weekend”."""
        self.urls: list[str] = []
        """Web URLs and paths, in their order."""
        self.emails: list[str] = []
        self.namesakes = False
        """Whether several rules or several people have a name that was said: one of them is meant."""
        self.rows: list[str] = []
        self.rules: list[str] = []
        self.groups: list[str] = []
        self.segments: list[str] = []
        self.named: str | None = None
        """What something new is to be called."""
        self.names: Mapping[str, str] = {}
        """What people are called whose emails stand behind their names: “Tom Meier <tom@example.com>”."""
        self.asides: list[str] = []
        """The clauses that say why."""
        self.having: list[str] = []
        self.lacking: list[str] = []
        """Segments that say which members are meant: those with them, those without."""
        self.site: str | None = None
        self.words: list[str] = []
        self.act = ""
        self.verb = ""
        """The word that says what is to be done, where that changes something."""
        self.question = ""
        self.turned: list[str] = []
        """The words that turn the sentence round."""
        self.used: set[str] = set()
        """The words and URLs that were looked up as a name or a source, and found."""
        self.tokens: list[Token] = []
        """Every word but those of a reason, in its place."""
        self.typed: list[Word] = []
        """The words as they came."""
        self._sorts: dict[tuple[int, str], Sort] = {}
        self._parts: dict[int, list[str]] = {}
        self._held: dict[tuple[int, str], list[str]] = {}

    def take(self, words: list[Word]) -> None:
        """Take everything that is known on its own out of *words*, then what is to be done."""
        self.text = " ".join(word.text for word in words)
        self.typed = words
        words = typed = self._without_new_name(self._without_reason(words))
        if sum(len(_parted(word)) for word in words) > MAX_WORDS:
            return
        words = self._without_names(words)
        words = self._without_names([part for word in words for part in _parted(word)])
        words = self._without_times(words)
        left = self._without_asides(typed, [word for word in words if not self._takes(word)])
        self.tokens = [*self._in_place(typed, left)]
        plain = [each for word in left for each in (bare(word.text), *(["and"] if word.text.endswith(",") else []))]
        plain = ["and" if word in AND else word for word in plain if word in AND or SAYS_SOMETHING.fullmatch(word)]
        plain = self._without_segments(_without_request(plain))
        self.turned = self._turned(plain)
        self.question = next((word for word in plain if word not in GREETINGS), "")
        self.question = self.question if self.question in QUESTIONS else "why" if COMPLAINTS & set(plain) else ""
        aside = {*CAUTIOUS, *(PAST if self.question else ())}
        plain = [word for word, after in pairwise([*plain, ""]) if not (word in SWITCHED and after in ENDS)]
        self.words = self._without_act([word for word in plain if word and word not in aside])
        self._take_site()

    def _in_place(self, typed: Sequence[Word], left: Sequence[Word]) -> Iterator[Token]:
        """*typed* with what each word was taken for; *left*: those that are words."""
        words = {(word.start, word.text) for word in left}
        for whole in typed:
            for word in [whole] if (whole.start, whole.text) in self._sorts else _parted(whole):
                sort = self._sorts.get((word.start, word.text))
                if sort is not None:
                    typed_url = urls_typed(word.text)[:1] if sort is Sort.URL else []
                    yield Token(sort, (typed_url or [word.text.rstrip(AFTER_ALL)])[0])
                elif (word.start, word.text) in words:
                    plain = bare(word.text)
                    yield Token(Sort.AND, "and") if plain in ANDS else Token(Sort.WORD, plain)
                if word.text.endswith(","):
                    yield Token(Sort.AND, "and")

    def _note_sort(self, sort: Sort, words: Sequence[Word]) -> None:
        self._sorts |= {(word.start, word.text): sort for word in words}

    @property
    def asks(self) -> bool:
        """Whether the text is a question, which begins as one or ends as one."""
        begins = bool(self.typed) and bare(self.typed[0].text) == self.question
        return bool(self.question) and (begins or self.text.endswith("?"))

    def without_quotes(self) -> Recognised:
        """The same text read as if nothing in it were in quotes: what is quoted names things, too."""
        if not any(word.quoted for word in self.typed):
            return self
        found = Recognised(self.root, self.known)
        found.take([part for word in self.typed for part in (split(word.text) if word.quoted else [word])])
        return found

    def _turned(self, plain: Sequence[str]) -> list[str]:
        """The words that turn a sentence round; “only” before a site is none, nor what leads it."""
        turned = []
        for at, word in enumerate(plain):
            following = next((each for each in plain[at + 1 :] if each not in FILLERS and each not in ONLY), "")
            is_idle = word == "instead" and plain[at + 1 : at + 2] != ["of"]
            if word in CAUTIOUS and not is_idle and not (word in ONLY and following in self.known.sites):
                turned.append(word)
        return turned

    def _without_new_name(self, words: list[Word]) -> list[Word]:
        """The words without ``named "NAME"``."""
        at = next((i for i, word in enumerate(words[:-1]) if word.keyword in NAMED and words[i + 1].quoted), None)
        if at is None:
            return words
        self.named = words[at + 1].text
        return [*words[:at], *words[at + 2 :]]

    def _without_asides(self, typed: Sequence[Word], left: list[Word]) -> list[Word]:
        """Without the clauses that name nothing and ask for nothing, such as “, ticket SUP-1”: they say why."""
        kept = {word.start for word in left}
        clauses: list[list[Word]] = [[]]
        for word in typed:
            clauses[-1].append(word)
            if word.text.endswith(ENDS_OF_CLAUSES) or word.text in DASHES:
                clauses.append([])
        aside = [each for each in clauses if each and all(word.start in kept for word in each) and self._says_why(each)]
        if len(aside) == len([each for each in clauses if each]):
            return left
        said = [" ".join(word.text for word in each).strip("-–—,;:.!?() ") for each in aside]
        self.asides = [each for each in said if each and {*each.casefold().split()} - FILLERS - GREETINGS]
        self.reason = "; ".join([*self.asides, *([self.reason] if self.reason else [])]) or None
        starts = {word.start for each in aside for word in each}
        return [word for word in left if word.start not in starts]

    def _says_why(self, clause: Sequence[Word]) -> bool:
        """Whether it says something, or is a ticket, and no word of it names a thing, a time or an act, or counts."""
        plain = [bare(word.text.strip("()")) for word in clause]
        says = any(word in SAYS or TICKET.fullmatch(word) for word in plain)  # else it may be a name that nobody knows
        return says and not any(map(self._counts, plain))

    def _counts(self, word: str) -> bool:
        known = self.known
        if word in FILLERS or not word:
            return word in COUNTS
        if any(letter.isdigit() for letter in word):
            return not TICKET.fullmatch(word)
        told = (CHANGING, CAUTIOUS, ENDS, STATUSES, TYPES, QUESTIONS, PARTED, known.sites)
        named = len(word) > MIN_PART and any(
            self.holding(each, word) for each in (known.rules, known.groups, known.members)
        )
        return (
            named or terms_of(word) is not None or self.segment(word) is not None or any(word in each for each in told)
        )

    def _without_reason(self, words: list[Word]) -> list[Word]:
        at = next((i for i, word in enumerate(words) if word.keyword in BECAUSE and 0 < i < len(words) - 1), None)
        if at is None:
            return words
        if said([word.text for word in words], at) is not None:
            return words  # “since yesterday”
        rest = Rest(RulesOff, [replace(words[at], text="because"), *words[at + 1 :]])
        self.reason = REASON.read(rest)
        return words[:at]

    def _without_times(self, words: list[Word]) -> list[Word]:
        """The words without times: an end or a length, since when, and others, which nothing takes yet."""
        left: list[Word] = []
        for some in _adjacent(words):
            at, texts = 0, ["" if word.quoted else word.text for word in some]
            while at < len(some):
                if (found := time_at(texts, at)) is None:
                    left.append(some[at])
                else:
                    self._note_time(found)
                    self._note_sort(Sort.TIME, some[at : at + found.count])
                at += 1 if found is None else found.count
        return left

    def _note_time(self, found: Said) -> None:
        if found.kind is Kind.SINCE and self.since is None:
            self.since = found
        elif self.expiry is None and (ends := _expiry(found)) is not None and not BY.match(found.text):
            self.expiry = ends
        elif self.start is None and (starts := Start.of(found)) is not None:
            self.start = starts
        else:
            self.times.append(found.text.rstrip(AFTER_ALL))

    def _without_names(self, words: list[Word]) -> list[Word]:
        """Names of several words, or in quotes, the longest first: the words in them mean nothing else."""
        left: list[Word] = []
        lines = [folded(word.text) for word in words]
        at = 0
        while at < len(words):
            length = self._name_at(words, lines, at)
            left += [] if length else [words[at]]
            self._note_sort(Sort.NAME, words[at : at + length])
            at += length or 1
        return left

    def _name_at(self, words: Sequence[Word], lines: Sequence[str], at: int) -> int:
        """How many of *words* from *at* on are a name, which is noted; a single word is one only in quotes."""
        known = self.known
        kinds = (known.rules, known.groups, known.members)
        least = 1 if words[at].quoted else 2
        for length in range(min(MAX_NAME_WORDS, len(words) - at), least - 1, -1):
            name = " ".join(lines[at : at + length]).rstrip("?!,").removesuffix("'s")
            if any(each.called(name) for each in kinds):
                rules, groups = known.rules.called(name), known.groups.called(name)
                self.rules += rules
                self.groups += groups
                people = [] if rules or groups else known.members.called(name)
                self.emails += people
                self.namesakes = self.namesakes or len(people) > 1 or len(rules) > 1
                return length
        return 0

    def _takes(self, word: Word) -> bool:
        """Whether *word* is known by what it is."""
        text = word.text
        bare = text.rstrip(AFTER_ALL)
        if WEB.match(text):
            self.urls += urls_typed(text)
            self._note_sort(Sort.URL, [word])
        elif EMAIL.fullmatch(bare):
            self.emails.append(bare)
            self._note_sort(Sort.EMAIL, [word])
        elif all(NUMBER.fullmatch(row) for row in rows_in(bare)):
            self.rows += rows_in(bare)
            self._note_sort(Sort.ROW, [word])
        elif USUAL_RULE_ID.fullmatch(bare):
            self.rules.append(bare)
            self._note_sort(Sort.NAME, [word])
        elif HOST.fullmatch(bare) and ("/" in bare or bare.casefold() in self.known.hosts or _ends_as_a_host(bare)):
            self.urls.append(f"https://{bare}")
            self._note_sort(Sort.URL, [word])
        elif PATH.fullmatch(bare):
            self.urls.append(bare)
            self._note_sort(Sort.URL, [word])
        elif text in ARROWS:
            self.act = self.act or "redirect"
        else:
            return False
        return True

    def _without_segments(self, plain: Sequence[str]) -> list[str]:
        """The words without those that name segments, and without what leads them: that narrows, and turns nothing round."""
        left: list[str] = []
        led: list[str] = []  # the words since the last that is no filler, which lead a segment or are words like others
        mode = self.segments
        for word in plain:
            if (name := self.segment(word)) is not None:
                mode += [] if name in mode else [name]
                left += [each for each in led if each not in LACKING and each not in HAVING]
                led = []
            elif word in HAVING and mode is self.lacking:
                led.append(word)  # “who don't have”
            elif word in LACKING or word in HAVING:
                mode = self.lacking if word in LACKING else self.having
                left += led
                led = [word]
            elif word in FILLERS:
                led.append(word)
            else:
                mode = self.segments
                left += [*led, word]
                led = []
        return [*left, *led]

    def segment(self, word: str) -> str | None:
        """The segment that *word* names, also as several people who have it: “the vips”."""
        segments = self.known.segments
        return segments.get(word) or (segments.get(word.removesuffix("s")) if len(word) > MIN_PART else None)

    def _without_act(self, words: list[str]) -> list[str]:
        """The words without the first that says what is to be done."""
        file = next((word for word in words if word in FILES), None)
        if file and not any(ACTS.get(word) == "import" for word in words):
            self.act = "export"
            return [word for word in words if word != file]
        start = next((i for i, word in enumerate(words) if word not in FILLERS), 0)
        for at, word in enumerate(words):
            for phrase, act in PHRASES.items():
                parts = phrase.split()
                if words[at : at + len(parts)] == parts:
                    self.act = act
                    self.verb = phrase if act not in HARMLESS else ""
                    return words[:at] + words[at + len(parts) :]
            if second := next((one for one in words[at + 1 :] if one in PARTED.get(word, ())), None):
                self.act = PARTED[word][second]
                self.verb = word if self.act not in HARMLESS else ""
                rest = words[at + 1 :]
                rest.remove(second)
                return words[:at] + rest
            ends = word in ENDS and at == len(words) - 1 and not self.question
            begins = at <= start and word not in FILLERS
            goes_with = ACTS.get(word) in {self.act or ACTS.get(word), "make", "set"}
            if word in ACTS and goes_with and (word not in OFTEN_NOUNS or begins or ends):
                self.act = self.act or ACTS[word]
                self.verb = word if word in CHANGING else ""
                return words[:at] + words[at + 1 :]
        if start < len(words) and not self.act and (near := self._verb_with_a_typo(words, start)):
            self.act = ACTS[near]
            return words[:start] + words[start + 1 :]
        return words

    def _verb_with_a_typo(self, words: Sequence[str], at: int) -> str | None:
        word = words[at]
        if len(word) < SHORTEST_TYPO or word in TYPES or word in FILLERS or self._is_known_part(words):
            return None
        return _verb_like(word)

    def _is_known_part(self, words: Sequence[str]) -> bool:
        text = " ".join(words)
        return bool(self.holding(self.known.rules, text) or self.holding(self.known.members, text))

    def _take_site(self) -> None:
        """The site that is named; where it is about rules, only after a word that leads one."""
        leads = {"on", "in", "at", "site", "from", "of", "to"}
        about_members = self.root == "members" or self.emails or self.segments or self.having or self.lacking
        for at, word in enumerate(self.words):
            if word in self.known.sites and (about_members or (at and self.words[at - 1] in leads)) and not self.site:
                self.site = self.known.sites[word]
                self.words = [*self.words[:at], *self.words[at + 1 :]]
                return

    @property
    def phrase(self) -> str:
        """The words that may be a part of a name: those left, without the ones around them that name nothing."""
        words = list(self.words)
        while words and words[0] in FILLERS:
            words.pop(0)
        while words and words[-1] in FILLERS:
            words.pop()
        return " ".join(words)

    def rule_refs(self, *, loosely: bool = False) -> list[str]:
        """The rules that are meant: named as such, by their source, or by a part of a name.

        *loosely*: by any words that are part of one; the others are left, and told.
        """
        if refs := [*self.rows, *self.rules]:
            return [*refs, *self._named_besides(self.known.rules)]
        if self.groups:
            return []
        by_source = [rule for url in self.urls for rule in self.known.rules.with_url(url)]
        self.used |= {url for url in self.urls if self.known.rules.with_url(url)}
        if by_source or self.urls:
            return by_source
        if not (found := self.part_of(self.known.rules)):
            found = self.rules = self._named_apart(self.known.rules)
        return found or (self._part_within(self.known.rules) if loosely else [])

    def people(self, *, anywhere: bool = False, loosely: bool = False) -> list[str]:
        """The emails of those who are meant: by a part of a name, those of the site where it fits somebody there.

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

    def _here(self, keys: list[str]) -> list[str]:
        """Of people those of the site, where it has any of them; all else as it is."""
        return [key for key in keys if self._site() in self.known.sites_of.get(key, ())] or keys

    def _site(self) -> str:
        return self.site or self.known.site

    def holding(self, names: Names[Any], text: str) -> list[str]:
        """What `Names.holding` says, which is asked again and again of the same words."""
        if (id(names), text) not in self._held:
            self._held[id(names), text] = names.holding(text)
        return self._held[id(names), text]

    def part_of(self, names: Names[Any]) -> list[str]:
        """The keys of *names* that the words left are a part of."""
        if id(names) not in self._parts:
            phrase, bare = self.phrase, " ".join(word for word in self.words if word not in FILLERS)
            untyped = " ".join(word for word in bare.split() if word not in TYPES)
            tried = [
                each for each in dict.fromkeys([phrase, bare, untyped]) if len(each) >= MIN_PART and "@" not in each
            ]
            text = next((each for each in tried if self.holding(names, each)), "")
            self._parts[id(names)] = self._of_its_type(self.holding(names, text)) if text else []
            self.used |= {*text.split()}
        return self._parts[id(names)]

    def _of_its_type(self, keys: list[str]) -> list[str]:
        """Of rules those of the type that is said, where it has any of them: “the checkout redirects”; all else as it is."""
        said = [word for word in self.words if word in TYPES]
        kinds, rules = {TYPES[word] for word in said}, self.known.by_id
        narrowed = [key for key in keys if key in rules and rules[key].rule_type in kinds]
        self.used |= {*said} if narrowed else set()
        return narrowed or keys

    def _named_apart(self, names: Names[Any]) -> list[str]:
        """The keys of *names* that “liam and quinn” are: one for each part; nothing where one fits none, or several."""
        parts = [list(part) for is_and, part in groupby(self.words, key="and".__eq__) if not is_and]
        named = [" ".join(word for word in part if word not in FILLERS) for part in parts]
        found = [self._here(self.holding(names, name)) if len(name) >= MIN_PART else [] for name in named]
        if len(found) < 2 or any(len(each) != 1 for each in found):
            return []
        self.used |= {word for name in named for word in name.split()}
        return [key for each in found for key in each]

    def _part_within(self, names: Names[Any]) -> list[str]:
        """The keys of *names* that have the longest run of the words left in them, of those that fit few enough."""
        least = MIN_PART if names is self.known.members else MIN_PART + 1  # people have short names, rules long ones
        words = [word for word in self.words if word not in FILLERS and "@" not in word][:MAX_NAME_WORDS]
        named = [bool(self.holding(names, word)) for word in words]
        for length in range(min(len(words), MAX_PART_WORDS), 0, -1):
            for at in range(len(words) - length + 1):
                text = " ".join(words[at : at + length])
                if len(text) < least or not all(named[at : at + length]):
                    continue
                if 0 < len(fitting := self.holding(names, text)) <= MAX_READINGS:
                    self.used |= {*words[at : at + length]}
                    return fitting
        return []

    def mentioned(self, names: Names[Any]) -> list[str]:
        """The keys of *names* that the text names: whole, or by the longest runs of words left that fit few enough."""
        known = self.known
        whole = self.emails if names is known.members else self.groups
        found = dict.fromkeys([*self.rows, *self.rules] if names is known.rules else whole)
        left = [*self.words, *self.segments]  # a segment's name may be a part of another's
        words = [word for word in left if word not in FILLERS and word not in ACTS and "@" not in word]
        at = 0
        while at < len(words):
            for length in range(min(MAX_PART_WORDS, len(words) - at), 0, -1):
                text = " ".join(words[at : at + length])
                is_enough = len(text) >= MIN_PART or bool(names.called(text))
                if is_enough and 0 < len(fitting := self._here(self.holding(names, text))) <= MAX_READINGS:
                    found |= dict.fromkeys(fitting)
                    self.used |= {*words[at : at + length]}
                    break
            else:
                near = self.holding(names, word) if (word := names.spelled(words[at])) else []
                found |= dict.fromkeys(self._here(near) if len(near) <= MAX_READINGS else [])  # the word itself is told
            at += length
        return list(found)

    def take_as_theirs(self) -> None:
        """Segments that would say which members are meant are those of the people who are named: “let anna have vip”."""
        self.segments += [each for each in self.having if each not in self.segments]
        self.having = []

    def _named_besides(self, names: Names[Any]) -> list[str]:
        """The keys of *names* that are named by a part beside what is named whole: each part one, or it stays a word."""
        found: list[str] = []
        for part in " ".join("," if word == "and" else word for word in self.words).split(","):
            words = [word for word in part.split() if word not in FILLERS]
            fitting = self._here(self.holding(names, text)) if len(text := " ".join(words)) >= MIN_PART else []
            if len(fitting) == 1:
                found += fitting
                self.used |= {*words}
        return found

    @property
    def several(self) -> bool:
        """Whether the rules are named one by one: all of them are meant, not one of them."""
        return bool(self.rows or self.rules)


ADDRESSEE: Final = re.compile(r"""(?:"([^"]{1,80})"\s*|((?:[^\W\d_][\w.'-]{0,40}\s+){1,3}))<([^<>\s@]+@[^<>\s]+)>""")
"""As mail programs write people."""


def without_addressees(text: str) -> tuple[str, Mapping[str, str]]:
    """*text* with the email alone in the place of ``Tom Meier <tom@example.com>``, and the names by their emails."""
    names: dict[str, str] = {}

    def email(match: re.Match[str]) -> str:
        words = (match[1] or match[2]).split()
        first = 0 if match[1] else next((at for at, word in enumerate(words) if word[:1].isupper()), len(words))
        names[match[3]] = " ".join(words[first:])
        return " ".join([*words[:first], match[3]])

    return ADDRESSEE.sub(email, text), names


COMMON_ENDS: Final = words_of("com net org io dev app de eu uk fr us co ch at nl shop example test")


def _ends_as_a_host(text: str) -> bool:
    return text.casefold().rpartition(".")[2] in COMMON_ENDS


def _without_request(plain: Sequence[str]) -> list[str]:
    """The words without “can you”: who asks so asks for no answer."""
    start = next((at for at, word in enumerate(plain) if word not in GREETINGS), 0)
    asks = len(plain) > start + 1 and plain[start] in CAN and plain[start + 1] in WHO_CAN
    return [*plain[:start], *plain[start + 2 :]] if asks else [*plain]


def _adjacent(words: Sequence[Word]) -> Iterator[list[Word]]:
    """*words* in runs that stood side by side: no time goes on behind a name that was taken out."""
    run: list[Word] = []
    for word in words:
        if run and word.start > run[-1].start + len(run[-1].text) + MAX_SPACE:
            yield run
            run = []
        run.append(word)
    yield run


MAX_SPACE: Final = 2
"""Characters between two words that stand side by side."""


BY: Final = re.compile(r"by\b", re.IGNORECASE)
"""Before a time by which something is to be done: until then, it is not."""


def _expiry(found: Said) -> Expiry | None:
    """The end or the length that was *found*, as commands take it."""
    if found.kind not in {Kind.LENGTH, Kind.END}:
        return None
    keyword = "for" if found.kind is Kind.LENGTH else "until"
    words = found.text.rstrip(AFTER_ALL).split()
    read = filter(None, (expiry_in(keyword, " ".join(some)) for some in (words, words[1:])))
    return next((ends for ends in read if (ends.seconds, ends.until) == (found.seconds, found.wall)), None)


def _parted(word: Word) -> list[Word]:
    if word.quoted or WEB.match(word.text) or "," not in word.text.strip(AFTER_ALL):
        return [word]
    *first, last = [part for part in word.text.split(",") if part]
    return [*(replace(word, text=f"{part},") for part in first), replace(word, text=last)]


def bare(text: str) -> str:
    """A word without the signs of its sentence, and without the ’s of whose something is."""
    word = text.strip(AFTER_ALL).casefold()
    word = CONTRACTED.get(word, word)
    return word if word in QUESTIONS or word in FILLERS else word.removesuffix("'s")


def points(text: str) -> bool:
    """Whether *text* names nothing, and points at what was shown before: “it”, “the second one”."""
    words = {bare(word) for word in text.split()}
    return not words.isdisjoint(PRONOUNS | ORDINALS.keys()) and words <= FILLERS | ORDINALS.keys()


def _verb_like(word: str) -> str | None:
    found = process.extractOne(word, ACTS.keys(), scorer=fuzz.ratio, score_cutoff=LIKE_A_VERB)
    return found[0] if found else None
