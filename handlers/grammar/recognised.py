"""What a text names, by what it looks like, in any order: things that exist, URLs, emails, times, and words that ask or act."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import groupby, pairwise
from typing import Final

from rapidfuzz import fuzz, process

from bot.rules.model import KNOWN_TYPES, USUAL_RULE_ID
from bot.rules.secrets import names_secret
from bot.text.times import DAYS, seconds_of
from handlers.grammar.command import Rest
from handlers.grammar.fields import EXPIRY, NUMBER, REASON, Expiry, rows_in
from handlers.grammar.known import MIN_PART, Known, Names, folded, words_of
from handlers.grammar.tokens import WEB, Word, cleaned, split, urls_typed
from handlers.rules.commands import RulesOff

MAX_WORDS: Final = 60
SHORTEST_TYPO: Final = 4
MAX_NAME_WORDS: Final = 12
LIKE_A_VERB: Final = 81
"""Per cent of likeness from which on a word is a verb with a typo."""

LOOSE: Final = words_of(
    "add edit new why check which list show set copy samples make on off delete remove grant revoke offboard "
    "group groups help undo "
)
"""Verbs whose words may mean something else: they are read by what they name, not by where they stand."""

FILLERS: Final = words_of(
    "a an the please pls can could you would i we want wanna need to me my us our of in at from into with and "
    "is are be it its it's that this now just hey hi hello so then for by as rule rules url urls page link "
    "address member members user users customer customers account person people there get getting going go "
    "goes does do did doing has have had was were any some one on all which what who when where how why called "
    "everyone everybody everything right here currently still again cant can't temporarily destination target "
    "many much count every both should able back asap immediately everything anything stuff "
    "touching about involving related oops last change changes "
    "what's where's who's whos "
)
"""Words that name nothing by themselves."""
IDLE: Final = words_of("happens happen wrong points end up away out looping loops redirecting approval open name")
"""Words that may be in a name, and say nothing where they are in none."""
COMPLAINTS: Final = words_of("can't cant cannot couldn't unable")
"""Words of somebody who says what does not work: they ask why."""
CAUTIOUS: Final = words_of(
    "not don't dont never no cannot isn't without except unless only but if unblock undelete instead shouldn't mustn't "
)
"""Words that turn a sentence round: what follows is shown, not done."""
QUESTIONS: Final = words_of(
    "why what what's whats where where's which who who's whos when how is are does do did can was were"
)

ACTS: Final[Mapping[str, str]] = {
    word: act
    for act, words in {
        "off": "off disable deactivate pause stop suspend halt kill mute unplug",
        "on": "on enable activate resume unpause reactivate start",
        "restore": "restore",
        "delete": "delete remove rm del drop destroy erase trash nuke",
        "block": "block cancel deny forbid blacklist",
        "redirect": "redirect send point forward route reroute move map 301 302",
        "make": "make create new add register invite",
        "rename": "rename",
        "set": "change update set",
        "edit": "edit modify adjust correct",
        "copy": "copy clone duplicate replicate",
        "why": "why explain trace debug which test check match",
        "show": "show get view info find search list see display open look lookup ls",
        "history": "history log changed edited touched",
        "give": "give grant upgrade promote allow let whitelist",
        "take": "take revoke downgrade demote strip",
        "offboard": "offboard kick ban fire",
        "undo": "undo revert rollback",
        "pending": "pending waiting approve approval approvals requests",
        "timers": "timers temporary expiring ending expires ends extend keep prolong",
        "status": "status health broken working ok okay up",
        "help": "help",
    }.items()
    for word in words.split()
}
PHRASES: Final[Mapping[str, str]] = {
    "turn off": "off",
    "switch off": "off",
    "shut off": "off",
    "shut down": "down",
    "take down": "down",
    "nobody should": "block",
    "nobody must": "block",
    "turn on": "on",
    "switch on": "on",
    "get rid of": "delete",
    "take back": "undo",
    "roll back": "undo",
    "set up": "make",
    "bring back": "restore",
    "put back": "restore",
    "go live": "on",
    "left the company": "offboard",
    "has left": "offboard",
    "has quit": "offboard",
    "has resigned": "offboard",
    "was fired": "offboard",
} | {f"should {goes} to": "redirect" for goes in ("go", "point", "lead", "redirect", "be redirected", "end up at")}
PARTED: Final[Mapping[str, Mapping[str, str]]] = {
    "turn": {"on": "on", "off": "off"},
    "switch": {"on": "on", "off": "off"},
    "put": {"on": "on", "off": "off", "live": "on", "back": "restore"},
    "bring": {"back": "restore"},
    "make": {"live": "on"},
    "take": {"down": "down"},
}
"""Verbs of two words, of which the second may come behind what they are about."""
OFTEN_NOUNS: Final = words_of(
    "on off ok okay up waiting new log match get look start stop check test route map keep requests open"
)
"""Verbs that are verbs only where they begin what was typed."""
PAST: Final = words_of(
    "turned switched changed deleted removed made created edited touched blocked blocking disabled enabled off "
    "on inactive active working broken redirecting redirected added happened "
)
"""Words of a question on what was done, which name nothing."""
STATUSES: Final[Mapping[str, str]] = dict.fromkeys(["off", "inactive", "disabled", "paused"], "off") | dict.fromkeys(
    ["on", "active", "enabled"], "on"
)
TYPES: Final[Mapping[str, str]] = {
    spelled: name for name in KNOWN_TYPES for spelled in (name.casefold(), f"{name.casefold()}s")
} | {"blocks": "Cancel", "blocked": "Cancel", "blocking": "Cancel"}
BECAUSE: Final = frozenset({"because", "cause", "cuz", "bc", "coz", "since"})
UNTIL: Final = frozenset({"until", "till", "til", "'til"})
ARROWS: Final = frozenset({"->", "-->", "=>", "→", ">"})
AFTER_ALL: Final = ".,;:!?…"
HOST: Final = re.compile(r"(?:[a-z0-9-]+\.)+[a-z]{2,}(?::\d+)?(?:[/?#]\S*)?", re.IGNORECASE)
PATH: Final = re.compile(r"/[^\s/]\S*")
EMAIL: Final = re.compile(r"[^\s@<>]+@[^\s@<>.]+(?:\.[^\s@<>.]+)+")


class Recognised:
    """What a text names, by kind; *words* are those that are left, in their order."""

    def __init__(self, root: str, known: Known) -> None:
        self.root, self.known = root, known
        self.text = ""
        self.reason: str | None = None
        self.expiry: Expiry | None = None
        self.urls: list[str] = []
        """Web URLs and paths, in their order."""
        self.emails: list[str] = []
        self.namesakes = False
        """Whether several people have a name that was said: one of them is meant."""
        self.rows: list[str] = []
        self.rules: list[str] = []
        self.groups: list[str] = []
        self.segments: list[str] = []
        self.site: str | None = None
        self.words: list[str] = []
        self.act = ""
        self.question = ""
        self.cautious = False
        self.used: set[str] = set()
        """The words and URLs that were looked up as a name or a source, and found."""
        self._parts: dict[int, list[str]] = {}

    def take(self, words: list[Word]) -> None:
        """Take everything that is known on its own out of *words*, then what is to be done."""
        self.text = " ".join(word.text for word in words)
        words = self._without_reason(words)
        if len(words) > MAX_WORDS:
            return
        words = self._without_names(words)
        words = self._without_names([part for word in words for part in _parted(word)])
        words = self._without_end(words)
        left = [word for word in words if not self._takes(word)]
        plain = [each for word in left for each in (_bare(word.text), *(["and"] if word.text.endswith(",") else []))]
        self.cautious = any(word in CAUTIOUS for word in plain) and not self._excludes(plain)
        self.question = next((word for word in plain if word not in GREETINGS), "")
        self.question = self.question if self.question in QUESTIONS else "why" if COMPLAINTS & set(plain) else ""
        aside = {*CAUTIOUS, *(PAST if self.question else ())}
        self.words = self._without_act([word for word in plain if word and word not in aside])
        self._take_segments_and_site()

    def _without_reason(self, words: list[Word]) -> list[Word]:
        at = next((i for i, word in enumerate(words) if word.keyword in BECAUSE and 0 < i < len(words) - 1), None)
        if at is None:
            return words
        if words[at].keyword == "since" and _is_time(" ".join(word.text for word in words[at + 1 :])):
            return words
        rest = Rest(RulesOff, [replace(words[at], text="because"), *words[at + 1 :]])
        self.reason = REASON.read(rest)
        return words[:at]

    def _without_end(self, words: list[Word]) -> list[Word]:
        rest = Rest(RulesOff, [replace(word, text="until") if word.keyword in UNTIL else word for word in words])
        self.expiry = EXPIRY.read(rest)
        return rest.words

    def _without_names(self, words: list[Word]) -> list[Word]:
        """Names of several words, or in quotes, the longest first: the words in them mean nothing else."""
        left: list[Word] = []
        lines = [folded(word.text) for word in words]
        at = 0
        while at < len(words):
            length = self._name_at(words, lines, at)
            left += [] if length else [words[at]]
            at += length or 1
        return left

    def _name_at(self, words: Sequence[Word], lines: Sequence[str], at: int) -> int:
        """How many of *words* from *at* on are a name, which is noted; a single word is one only in quotes."""
        known = self.known
        first = lines[at].partition(" ")[0]
        kinds = [each for each in (known.rules, known.groups, known.members) if each.begin(first)]
        least = 1 if words[at].quoted else 2
        for length in range(min(MAX_NAME_WORDS, len(words) - at) if kinds else 0, least - 1, -1):
            name = " ".join(lines[at : at + length]).rstrip("?!,").removesuffix("'s")
            if any(each.has(name) for each in kinds):
                rules, groups = known.rules.called(name), known.groups.called(name)
                self.rules += rules
                self.groups += groups
                people = [] if rules or groups else known.members.called(name)
                self.emails += people
                self.namesakes = self.namesakes or len(people) > 1
                return length
        return 0

    def _takes(self, word: Word) -> bool:
        """Whether *word* is known by what it is."""
        text = word.text
        bare = text.rstrip(AFTER_ALL)
        if WEB.match(text):
            self.urls += urls_typed(text)
        elif EMAIL.fullmatch(bare):
            self.emails.append(bare)
        elif all(NUMBER.fullmatch(row) for row in rows_in(bare)):
            self.rows += rows_in(bare)
        elif USUAL_RULE_ID.fullmatch(bare):
            self.rules.append(bare)
        elif HOST.fullmatch(bare) and ("/" in bare or bare.casefold() in self.known.hosts or _ends_as_a_host(bare)):
            self.urls.append(f"https://{bare}")
        elif PATH.fullmatch(bare):
            self.urls.append(bare)
        elif text in ARROWS:
            self.act = self.act or "redirect"
        else:
            return False
        return True

    def _excludes(self, plain: Sequence[str]) -> bool:
        """Whether “without” is about a segment: that narrows a list and turns nothing round."""
        return any(first in {"without", "no"} and second in self.known.segments for first, second in pairwise(plain))

    def _without_act(self, words: list[str]) -> list[str]:
        """The words without the first that says what is to be done."""
        start = next((i for i, word in enumerate(words) if word not in FILLERS), 0)
        for at, word in enumerate(words):
            for phrase, act in PHRASES.items():
                parts = phrase.split()
                if words[at : at + len(parts)] == parts:
                    self.act = act
                    return words[:at] + words[at + len(parts) :]
            if second := next((one for one in words[at + 1 :] if one in PARTED.get(word, ())), None):
                self.act = PARTED[word][second]
                rest = words[at + 1 :]
                rest.remove(second)
                return words[:at] + rest
            ends = word in {"on", "off"} and at == len(words) - 1 and not self.question
            if word in ACTS and (word not in OFTEN_NOUNS or at <= start or ends):
                self.act = self.act or ACTS[word]
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
        return bool(self.known.rules.holding(text) or self.known.members.holding(text))

    def _take_segments_and_site(self) -> None:
        left = []
        for at, word in enumerate(self.words):
            if word in self.known.segments:
                self.segments += [self.known.segments[word]] if self.known.segments[word] not in self.segments else []
            elif word in self.known.sites and at and self.words[at - 1] in {"on", "in", "at", "site"}:
                self.site = self.known.sites[word]
            else:
                left.append(word)
        self.words = left

    @property
    def phrase(self) -> str:
        """The words that may be a part of a name: those left, without the ones around them that name nothing."""
        words = list(self.words)
        while words and words[0] in FILLERS:
            words.pop(0)
        while words and words[-1] in FILLERS:
            words.pop()
        return " ".join(words)

    def rule_refs(self) -> list[str]:
        """The rules that are meant: named as such, by their source, or by a part of a name."""
        if refs := [*self.rows, *self.rules]:
            return refs
        if self.groups:
            return []
        by_source = [rule for url in self.urls for rule in self.known.sources.get(url.casefold(), ())]
        self.used |= {url for url in self.urls if url.casefold() in self.known.sources}
        if by_source or self.urls:
            return by_source
        if not (found := self.part_of(self.known.rules)):
            found = self.rules = self._named_apart(self.known.rules)
        return found

    def people(self, *, anywhere: bool = False) -> list[str]:
        """The emails of those who are meant: by a part of a name, those of the site where it fits somebody there."""
        if self.emails or self.urls:
            return self.emails
        if self.rows and self.root == "members":
            return self.rows
        fitting = self.part_of(self.known.members)
        if not fitting and (apart := self._named_apart(self.known.members)):
            self.emails = apart
            return apart
        return fitting if anywhere else self._here(fitting)

    def _here(self, keys: list[str]) -> list[str]:
        """Of people those of the site, where it has any of them; all else as it is."""
        return [key for key in keys if self._site() in self.known.sites_of.get(key, ())] or keys

    def _site(self) -> str:
        return self.site or self.known.site

    def part_of(self, names: Names) -> list[str]:
        """The keys of *names* that the words left are a part of."""
        if id(names) not in self._parts:
            phrase, bare = self.phrase, " ".join(word for word in self.words if word not in FILLERS)
            untyped = " ".join(word for word in bare.split() if word not in TYPES)
            tried = [text for text in dict.fromkeys([phrase, bare, untyped]) if len(text) >= MIN_PART]
            self._parts[id(names)] = next((found for text in tried if (found := names.holding(text))), [])
            self.used |= {*self.words} if self._parts[id(names)] else set()
        return self._parts[id(names)]

    def _named_apart(self, names: Names) -> list[str]:
        """The keys of *names* that “liam and quinn” are: one for each part; nothing where one fits none, or several."""
        parts = [list(part) for is_and, part in groupby(self.words, key="and".__eq__) if not is_and]
        named = [" ".join(word for word in part if word not in FILLERS) for part in parts]
        found = [self._here(names.holding(name)) if len(name) >= MIN_PART else [] for name in named]
        if len(found) < 2 or any(len(each) != 1 for each in found):
            return []
        self.used |= {*self.words}
        return [key for each in found for key in each]

    @property
    def several(self) -> bool:
        """Whether the rules are named one by one: all of them are meant, not one of them."""
        return bool(self.rows or self.rules)


GREETINGS: Final = words_of("hey hi hello please gatehouse @gatehouse so ok and")


COMMON_ENDS: Final = words_of("com net org io dev app de eu uk fr us co ch at nl shop example test")


def _ends_as_a_host(text: str) -> bool:
    return text.casefold().rpartition(".")[2] in COMMON_ENDS


def _parted(word: Word) -> list[Word]:
    if word.quoted or WEB.match(word.text) or "," not in word.text.strip(AFTER_ALL):
        return [word]
    *first, last = [part for part in word.text.split(",") if part]
    return [*(replace(word, text=f"{part},") for part in first), replace(word, text=last)]


def _bare(text: str) -> str:
    """A word without the signs of its sentence, and without the ’s of whose something is."""
    word = text.strip(AFTER_ALL).casefold()
    return word if word in QUESTIONS or word in FILLERS else word.removesuffix("'s")


def _verb_like(word: str) -> str | None:
    found = process.extractOne(word, ACTS.keys(), scorer=fuzz.ratio, score_cutoff=LIKE_A_VERB)
    return found[0] if found else None


def _is_time(text: str) -> bool:
    return text.casefold().strip("?") in DAYS or bool(seconds_of(text.strip("?")))


MAX_WORDS_KEPT: Final = 12
MAX_LETTERS: Final = 15
"""Letters of a word that is kept: what is longer may be a secret."""
PLAIN: Final = re.compile(r"[^\W\d_]+(?:['-][^\W\d_]+)*")


def without_names(text: str, known: Known) -> str:
    """*text* as it may be kept: of an email, a URL, an id, a name and all that may be a secret only the kind is left."""
    kept: list[str] = []
    secret = False
    for word in split(cleaned(text))[:MAX_WORDS_KEPT]:
        if word.keyword in BECAUSE:
            return " ".join([*kept, "because <reason>"])
        kept.append("<secret>" if secret else _kind_of(word, known))
        secret = names_secret(word.text)
    return " ".join(kept)


def _kind_of(word: Word, known: Known) -> str:
    """*word* where it is a plain one, else what kind of thing it is."""
    text = word.text.strip(f"{AFTER_ALL}()[]{{}}*_~`")
    plain = PLAIN.fullmatch(text) and len(text) <= MAX_LETTERS and text in {text.lower(), text.upper(), text.title()}
    if text.startswith("<"):
        return "<mention>"
    if "@" in text:
        return "<email>"
    if WEB.match(text) or HOST.fullmatch(text) or PATH.fullmatch(text):
        return "<url>"
    if word.quoted or known.members.has_word(text):
        return "<name>"
    if plain:
        return text.casefold()
    return (
        "<time>"
        if seconds_of(text)
        else "<id>"
        if NUMBER.fullmatch(text) or USUAL_RULE_ID.fullmatch(text)
        else "<other>"
    )
