"""Read what people type before they know the grammar: things by what they are, in any order, and what is to happen to them.

Nothing is run from here. Whoever asks gets the commands that a text may mean, and `runs_at_once` says which of them
may be run without being shown first: a single one that changes nothing.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Final
from urllib.parse import urlsplit

from rapidfuzz import fuzz, process

from bot.members.model import Member
from bot.rules.model import KNOWN_TYPES, USUAL_RULE_ID, Rule
from bot.text.duration import DAYS, seconds_of
from handlers.gatehouse.commands import (
    GatehouseAudit,
    GatehouseDigest,
    GatehouseHelp,
    GatehousePending,
    GatehouseStatus,
    GatehouseTimers,
    GatehouseUndo,
    GatehouseWhoami,
)
from handlers.grammar.command import Command, Rest, Unclear
from handlers.grammar.fields import EXPIRY, NUMBER, REASON, Lasts, rows_in
from handlers.grammar.parser import VERBS, parse
from handlers.grammar.tokens import MOST, WEB, Word, addresses_typed, cleaned, split
from handlers.members.commands import (
    MembersAdd,
    MembersEdit,
    MembersGrant,
    MembersList,
    MembersOffboard,
    MembersRemove,
    MembersRevoke,
    MembersShow,
    MembersWhy,
)
from handlers.rules.commands import (
    REACHES,
    RulesCopy,
    RulesDelete,
    RulesEdit,
    RulesGroup,
    RulesHistory,
    RulesList,
    RulesMake,
    RulesNew,
    RulesOff,
    RulesOn,
    RulesSet,
    RulesShow,
    RulesWhich,
)

MAX_READINGS: Final = 5
"""Readings that are offered: with more, nobody knows what was meant."""
MIN_PART: Final = 3
"""Letters of a part of a name from which on it may name what is changed."""
MAX_WORDS: Final = 60
SHORTEST_TYPO: Final = 4
MAX_NAME_WORDS: Final = 12
LIKE_A_VERB, LIKE_A_NAME = 81, 85
"""Per cent of likeness from which on a word is a verb with a typo, and some words are a name with one."""


def words_of(text: str) -> frozenset[str]:
    return frozenset(text.split())


def folded(text: str) -> str:
    return " ".join(text.split()).casefold()


class Names:
    """Names of things that exist, each with the key of its thing, ready to be looked for."""

    def __init__(self, named: Iterable[tuple[str, str]]) -> None:
        self._keys: list[str] = []
        self._exact: dict[str, list[str]] = {}
        self._lines: list[str] = []
        for name, key in named:
            self._exact.setdefault(line := folded(name), []).append(key)
            self._lines.append(line)
            self._keys.append(key)
        self._text = "\n".join(self._lines)
        self._begins = {line.partition(" ")[0] for line in self._lines}
        self._starts = [0]
        self._by_length: dict[int, list[int]] = {}
        for place, line in enumerate(self._lines):
            self._by_length.setdefault(len(line), []).append(place)
            self._starts.append(self._starts[-1] + len(line) + 1)

    def called(self, name: str) -> list[str]:
        """The keys of what is called exactly so, in any case of letters."""
        return self._exact.get(folded(name), [])

    def has(self, line: str) -> bool:
        """Whether something has this name, which is folded already."""
        return line in self._exact

    def begin(self, word: str) -> bool:
        """Whether a name begins with *word*."""
        return word.casefold() in self._begins

    def holding(self, text: str) -> list[str]:
        """The keys of what is called exactly so, or else has each word of *text* in its name; some of very many."""
        if exact := self.called(text):
            return exact
        words = sorted(set(folded(text).split()), key=len, reverse=True)
        if not words or not all(word in self._text for word in words):
            return []
        first, *others = sorted(words, key=self._text.count) if len(words) > 1 else words
        found: dict[str, None] = {}
        at = self._text.find(first)
        while at >= 0 and len(found) <= MAX_READINGS:
            place = bisect_right(self._starts, at) - 1
            if all(word in self._lines[place] for word in others):
                found[self._keys[place]] = None
            at = self._text.find(first, self._starts[place + 1])
        return list(found)

    def alike(self, text: str) -> list[str]:
        """The keys of what has nearly this name; an email is nobody's but by the letter."""
        wanted = folded(text)
        if "@" in wanted:
            return []
        lengths = range(len(wanted) * 3 // 4, len(wanted) * 4 // 3 + 1)
        places = [place for length in lengths for place in self._by_length.get(length, ())]
        lines = [self._lines[place] for place in places]
        found = process.extract(wanted, lines, scorer=fuzz.ratio, score_cutoff=LIKE_A_NAME, limit=2)
        return list(dict.fromkeys(self._keys[places[at]] for _, _, at in found))


@dataclass(frozen=True, slots=True)
class Known:
    """What exists, by its names: what a text may be about."""

    rules: Names = field(default_factory=lambda: Names(()))
    groups: Names = field(default_factory=lambda: Names(()))
    members: Names = field(default_factory=lambda: Names(()))
    titles: Mapping[str, str] = field(default_factory=dict)
    """The name of each rule and group, by its id."""
    redirects: frozenset[str] = frozenset()
    """The ids of the rules that redirect one source: those whose destination can be changed alone."""
    sources: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """The ids of the rules that have a URL as their source."""
    segments: Mapping[str, str] = field(default_factory=dict)
    sites: Mapping[str, str] = field(default_factory=dict)
    site: str = ""
    """The site that is meant where none is named."""
    sites_of: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """The sites that know a member, by their email."""
    hosts: Sequence[str] = ()

    @classmethod
    def of(
        cls,
        *,
        rules: Sequence[Rule] = (),
        groups: Mapping[str, str] | None = None,
        members: Mapping[str, Sequence[Member]] | None = None,
        segments: Iterable[str] = (),
        hosts: Sequence[str] = (),
    ) -> Known:
        sources: dict[str, list[str]] = {}
        for rule in rules:
            for pair in rule.pairs or ():
                if pair.source and pair.source.value:
                    sources.setdefault(pair.source.value.casefold(), []).append(rule.id)
        sites_of: dict[str, list[str]] = {}
        people: dict[str, str] = {}
        for site, there in (members or {}).items():
            for member in there:
                sites_of.setdefault(member.email, []).append(site)
                people[member.email] = member.name or ""
        return cls(
            rules=Names((rule.title, rule.id) for rule in rules),
            groups=Names((name, key) for key, name in (groups or {}).items()),
            members=Names(pair for email, name in people.items() for pair in ((name, email), (email, email))),
            titles={rule.id: rule.title for rule in rules} | dict(groups or {}),
            redirects=frozenset(
                rule.id for rule in rules if rule.rule_type == "Redirect" and len(rule.pairs or ()) == 1
            ),
            sources=sources,
            segments={name.casefold(): name for name in segments},
            sites={name.casefold(): name for name in members or ()},
            sites_of=sites_of,
            hosts=hosts,
        )


def runs_at_once(readings: Sequence[Command]) -> Command | None:
    """The command that may be run without being shown first: the only reading, where it changes nothing."""
    return readings[0] if len(readings) == 1 and not readings[0].writes else None


def read(root: str, text: str, known: Known) -> tuple[Command, ...]:
    """Return the commands that *text* after ``/root`` may mean, the likeliest first; nothing where nobody can tell.

    *root* is empty where none was given. Raises Unclear for a time that could mean several things.
    """
    if len(text) > MOST:
        return ()
    words = split(cleaned(text))
    while words and words[0].keyword.lstrip("/") in ROOTS:
        root, words = words[0].keyword.lstrip("/"), words[1:]
    if (spelled := _under_another_root(root, words)) is not None:
        return (spelled,)
    found = _Found(root, known)
    found.take(words)
    readings = list(dict.fromkeys(each for meant in _meant(found) if (each := _read_back(meant)) is not None))
    if found.cautious:
        readings = [each for each in readings if not each.writes] or list(dict.fromkeys(_shown(found)))
    elif _asks_for_a_change(root, words) and not any(each.writes for each in readings):
        return ()
    return tuple(readings) if len(readings) <= MAX_READINGS else ()


ROOTS: Final = frozenset(VERBS)


def _read_back(command: Command) -> Command | None:
    """*command* as its own text is read: what a button does is what was shown. None where it can't be written."""
    try:
        found = parse(command.service, command.write())
    except (Unclear, ValueError):
        return None
    return found if type(found) is type(command) else None


def _asks_for_a_change(root: str, words: Sequence[Word]) -> bool:
    """Whether the verb is one that changes something, spelled right: to show something instead would be no answer."""
    kind = VERBS.get(root, {}).get(words[0].keyword) if words else None
    return kind is not None and kind.writes


def _under_another_root(root: str, words: Sequence[Word]) -> Command | None:
    """The command that the words are, spelled right, under whichever root takes them; that of *root* comes first."""
    verb = words[0].keyword if words else ""
    text = " ".join(f'"{word.text}"' if word.quoted else word.text for word in words)
    for service in sorted(ROOTS, key=lambda one: (one != root, one)):
        kind = VERBS[service].get(verb)
        if kind is None or kind.verb in LOOSE:
            continue
        try:
            return parse(service, text)
        except Unclear:
            continue
    return None


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
    "many much count every both "
)
"""Words that name nothing by themselves."""
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
        "edit": "edit modify adjust",
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
    "shut down": "off",
    "take down": "off",
    "turn on": "on",
    "switch on": "on",
    "get rid of": "delete",
    "take back": "undo",
    "roll back": "undo",
    "set up": "make",
}
PARTED: Final = frozenset({"turn", "switch", "put"})
"""Verbs whose “on” or “off” may come behind what they are about."""
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


class _Found:
    """What a text names, by kind; *words* are those that are left, in their order."""

    def __init__(self, root: str, known: Known) -> None:
        self.root, self.known = root, known
        self.text = ""
        self.reason: str | None = None
        self.lasts: Lasts | None = None
        self.urls: list[str] = []
        """Web addresses and paths, in their order."""
        self.turned = False
        """Whether the first URL is where it leads: “to B from A”."""
        self.emails: list[str] = []
        self.rows: list[str] = []
        self.rules: list[str] = []
        self.groups: list[str] = []
        self.segments: list[str] = []
        self.site: str | None = None
        self.words: list[str] = []
        self.act = ""
        self.question = ""
        self.cautious = False
        self._parts: dict[int, list[str]] = {}

    def take(self, words: list[Word]) -> None:
        """Take everything that is known by itself out of *words*, then what is to be done."""
        self.text = " ".join(word.text for word in words)
        words = self._without_reason(words)
        if len(words) > MAX_WORDS:
            return
        words = self._without_names(words)
        words = self._without_names([part for word in words for part in _parted(word)])
        words = self._without_end(words)
        left = [word for word in words if not self._takes(word)]
        plain = [word.text.strip(AFTER_ALL).casefold() for word in left]
        self.cautious = any(word in CAUTIOUS for word in plain) and not self._excludes(plain)
        self.question = next((word for word in plain if word not in GREETINGS), "")
        self.question = self.question if self.question in QUESTIONS else ""
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
        self.lasts = EXPIRY.read(rest)
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
            name = " ".join(lines[at : at + length]).rstrip("?!")
            if any(each.has(name) for each in kinds):
                rules, groups = known.rules.called(name), known.groups.called(name)
                self.rules += rules
                self.groups += groups
                self.emails += [] if rules or groups else known.members.called(name)
                return length
        return 0

    def _takes(self, word: Word) -> bool:
        """Whether *word* is known by what it is."""
        text = word.text
        bare = text.rstrip(AFTER_ALL)
        if WEB.match(text):
            self.urls += addresses_typed(text)
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
            if word in PARTED and (switch := next((one for one in words[at + 1 :] if one in {"on", "off"}), None)):
                self.act = switch
                rest = words[at + 1 :]
                rest.remove(switch)
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
        return by_source or (self.part_of(self.known.rules) if not self.urls else [])

    def people(self, *, anywhere: bool = False) -> list[str]:
        """The emails of those who are meant: by a part of a name, those of the site where it fits somebody there."""
        if self.emails or self.urls:
            return self.emails
        if self.rows and self.root == "members":
            return self.rows
        fitting = self.part_of(self.known.members)
        here = [email for email in fitting if self._site() in self.known.sites_of.get(email, ())]
        return fitting if anywhere else here or fitting

    def _site(self) -> str:
        return self.site or self.known.site

    def part_of(self, names: Names) -> list[str]:
        """The keys of *names* that the words left are a part of."""
        if id(names) not in self._parts:
            phrase, bare = self.phrase, " ".join(word for word in self.words if word not in FILLERS)
            found = names.holding(phrase) if len(phrase) >= MIN_PART else []
            self._parts[id(names)] = found or (names.holding(bare) if bare != phrase and len(bare) >= MIN_PART else [])
        return self._parts[id(names)]

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
    return [replace(word, text=part) for part in word.text.split(",") if part]


def _verb_like(word: str) -> str | None:
    found = process.extractOne(word, ACTS.keys(), scorer=fuzz.ratio, score_cutoff=LIKE_A_VERB)
    return found[0] if found else None


def _is_time(text: str) -> bool:
    return text.casefold().strip("?") in DAYS or bool(seconds_of(text.strip("?")))


def _meant(found: _Found) -> list[Command]:
    if _is_how_to(found):
        return [GatehouseHelp(topic=found.text)]
    if found.question:
        return _asked(found)
    if found.act:
        return READERS[found.act](found)
    return _bare(found)


def _is_how_to(found: _Found) -> bool:
    start = found.text.casefold().split()[:3]
    return start[:1] == ["how"] and bool({"do", "to", "can", "would", "does"} & set(start[1:])) and not found.urls


def _asked(found: _Found) -> list[Command]:
    """What a question is about: none of it changes anything."""
    if found.urls:
        return _leading_to(found) or _which(found)
    if found.emails:
        return _why_people(found, found.emails)
    if found.several:
        return _about_rules(found, found.rule_refs())
    return _about_gatehouse(found) or _about_names(found) or _bare(found)


LEADS_TO: Final = re.compile(r"\b(?:redirects?|goes?|leads?|points?|sends?) to ")


def _leading_to(found: _Found) -> list[Command]:
    """The rules that lead to a URL, where a question asks for what does."""
    asks = found.question in {"what", "which", "who"} and LEADS_TO.search(found.text.casefold())
    return [RulesList(url=found.urls[0])] if asks and len(found.urls) == 1 and " does " not in found.text else []


def _about_gatehouse(found: _Found) -> list[Command]:
    text = found.text.casefold()
    if any(words in text for words in ("can i do", "may i", "who am i", "allowed to do")):
        return [GatehouseWhoami()]
    if any(words in text for words in ("changed", "happened", "did what")) and not found.rule_refs():
        since = _since(found)
        return [GatehouseAudit(since=since)] if found.question == "who" else [GatehouseDigest(since=since)]
    if found.act in {"pending", "timers"}:
        return READERS[found.act](found)
    everything = found.act == "status" or {"everything", "gatehouse"} & set(text.split())
    return [GatehouseStatus()] if everything and found.question in {"is", "are"} else []


def _about_names(found: _Found) -> list[Command]:
    words = set(found.text.casefold().rstrip("?").split())
    if found.segments and not found.phrase:
        return _members_of(found)
    if (
        not found.phrase
        and ("on" not in words or {"rule", "rules"} & words)
        and (status := next((STATUSES[word] for word in STATUSES if word in words), None))
    ):
        return [RulesList(status=status)]
    if people := found.people(anywhere=found.question not in IDENTITY):
        return _why_people(found, people)
    return _about_rules(found, found.rule_refs())


def _since(found: _Found) -> str | None:
    return next((word for word in found.words if word in DAYS or seconds_of(word)), None)


def _about_rules(found: _Found, refs: Sequence[str]) -> list[Command]:
    """Who and when and why are on record; what it is, the rule shows."""
    past = found.question in {"who", "who's", "when"} or (found.question == "why" and _switched(found))
    kind: type[RulesHistory | RulesShow] = RulesHistory if past or found.act == "history" else RulesShow
    return [kind(ref) for ref in refs]


def _switched(found: _Found) -> bool:
    return bool(set(found.text.casefold().rstrip("?").split()) & {*STATUSES, "changed", "deleted", "gone"})


IDENTITY: Final = frozenset({"who", "who's", "what", "is"})


def _why_people(found: _Found, people: Sequence[str]) -> list[Command]:
    if found.question in IDENTITY and not found.segments:
        return [MembersShow(email, found.site) for email in people]
    segment = next(iter(found.segments), None)
    return [MembersWhy(email, segment, found.site) for email in people]


LACKING: Final = frozenset({"without", "no", "not", "lacks", "lack"})


def _members_of(found: _Found) -> list[Command]:
    if set(found.text.casefold().split()) & LACKING:
        return [MembersList(without_segment=found.segments[0], site=found.site)]
    return [MembersList(segment=found.segments[0], site=found.site)]


def _bare(found: _Found) -> list[Command]:
    """Things without a word on what to do: they are looked up; two URLs with an arrow are a redirect."""
    if len(found.urls) == 2 and found.rule_refs() == [] and {"to", "into"} & set(found.words):
        return _redirect(found)
    if found.urls:
        return _which(found)
    if found.emails and found.segments:
        grants: list[Command] = [_grant(found, email) for email in found.emails]
        return grants
    if found.emails:
        return [MembersWhy(email, site=found.site) for email in found.emails]
    if found.several:
        return [RulesShow(ref) for ref in found.rule_refs()]
    if found.rules:
        return [RulesShow(ref) for ref in found.rules]
    if found.groups:
        return [RulesList(group=found.known.titles[key]) for key in found.groups]
    if {"hi", "hello", "hey"} & set(found.text.casefold().split()) and not found.phrase:
        return [GatehouseHelp(topic="hi")]
    return _search(found)


def _search(found: _Found) -> list[Command]:
    """What words alone are: a filter, a name, a part of one; of nearly a name, what has it."""
    words = [word for word in (*found.words, *([found.act] if found.act in STATUSES else [])) if word not in FILLERS]
    if found.segments and set(words) <= LACKING:
        return _members_of(found)
    if words and all(word in STATUSES or word in TYPES for word in words):
        status = next((STATUSES[word] for word in words if word in STATUSES), None)
        return [RulesList(status=status, type=next((TYPES[word] for word in words if word in TYPES), None))]
    if len(text := found.phrase) < MIN_PART:
        return []
    order = (_find_members, _find_rules) if found.root == "members" else (_find_rules, _find_members)
    for find in order:
        if commands := find(found, text):
            return commands
    near: list[Command] = [RulesShow(rule) for rule in found.known.rules.alike(text)]
    return near or [MembersShow(email) for email in found.known.members.alike(text)]


def _find_rules(found: _Found, text: str) -> list[Command]:
    rules = found.part_of(found.known.rules)
    if len(rules) > 1:
        return [RulesList(text=text)]
    if not rules and (groups := found.part_of(found.known.groups)):
        return [RulesList(group=found.known.titles[key]) for key in groups]
    return [RulesShow(rule) for rule in rules]


def _find_members(found: _Found, text: str) -> list[Command]:
    people = found.people()
    if len(people) > 1:
        return [MembersList(text=text, site=found.site)]
    return [MembersShow(email, found.site) for email in people]


def _shown(found: _Found) -> list[Command]:
    """What a text is about, where what it says of it can't be told."""
    if found.urls:
        return _which(found)
    if refs := found.rule_refs():
        return [RulesShow(ref) for ref in refs]
    return [MembersShow(email, found.site) for email in found.people()]


def _whole(url: str, found: _Found, beside: str = "") -> list[str]:
    """*url* as a whole URL: a path is one of the host of *beside*, or of each host that is known."""
    if not url.startswith("/"):
        return [url if urlsplit(url).path else f"{url}/"]
    if beside and not beside.startswith("/"):
        return [f"https://{urlsplit(beside).netloc}{url}"]
    return [f"https://{host}{url}" for host in found.known.hosts[:MAX_READINGS]]


def _which(found: _Found) -> list[Command]:
    if len(found.urls) > 1 and not any(url.startswith("/") for url in found.urls):
        return [RulesWhich(found.urls[0], tuple(found.urls[1:]))]
    url = found.urls[0]
    return [RulesWhich(each) for each in (_whole(url, found) if url.startswith("/") else [url])]


def _block(found: _Found) -> list[Command]:
    """How much is blocked is asked: exactly this URL, with any query, everything below."""
    if len(found.urls) != 1:
        if found.urls:
            return []
        if refs := found.rule_refs():
            return [RulesShow(ref) for ref in refs]
        return _offboard(found) or ([GatehouseUndo(), GatehousePending()] if "cancel" in found.text.casefold() else [])
    made = [
        RulesMake("Cancel", url, name=f"Block {_short(url)}", lasts=found.lasts, because=found.reason)
        for url in _whole(found.urls[0], found)
    ]
    return [replace(one, match=reach) for one in made for reach in (None, *REACHES)] if len(made) == 1 else [*made]


def _short(url: str) -> str:
    return url.partition("://")[2].rstrip("/")[:120]


def _redirect(found: _Found) -> list[Command]:
    """A rule that there is gets another destination; of two URLs a new one is made."""
    if len(found.urls) == 1:
        url = found.urls[0]
        named = [*found.rows, *found.rules] or found.part_of(found.known.rules)
        sets: list[Command] = [
            RulesSet((ref,), (("destination", url),), found.lasts, found.reason)
            for ref in named
            if ref.startswith("#") or ref in found.known.redirects
        ]
        if sets or url.startswith("/"):
            return sets
        return [RulesNew("Redirect", url, lasts=found.lasts, because=found.reason)] if not named else []
    if len(found.urls) != 2:
        return []
    first, second = reversed(found.urls) if _is_turned(found) else found.urls
    there = [rule for rule in found.known.sources.get(first.casefold(), ()) if rule in found.known.redirects]
    made: list[Command] = []
    for source in _whole(first, found, second):
        destination = _whole(second, found, source)[0]
        made += [RulesSet((rule,), (("destination", destination),), found.lasts, found.reason) for rule in there]
        name = f"{_short(source)} to {_short(destination)}"
        made.append(RulesMake("Redirect", source, destination, name, lasts=found.lasts, because=found.reason))
    return made


def _is_turned(found: _Found) -> bool:
    """Whether the destination was said first: “redirect to B from A”."""
    words = found.text.casefold().split()
    return "to" in words and "from" in words and words.index("to") < words.index("from")


def _make(found: _Found) -> list[Command]:
    if found.urls and {"block", "cancel"} & set(found.words):
        return _block(found)
    if len(found.urls) == 2:
        return _redirect(found)
    if len(found.urls) == 1:
        return [RulesNew(source=url, lasts=found.lasts, because=found.reason) for url in _whole(found.urls[0], found)]
    if found.segments:
        return _give(found)
    return [MembersAdd(email, site=found.site, lasts=found.lasts, because=found.reason) for email in found.emails]


Acting = Callable[["_Found"], list[Command]]


def _switch(kind: type[RulesOn | RulesOff]) -> Acting:
    def reader(found: _Found) -> list[Command]:
        if found.act == "off" and len(found.urls) == 1 and not found.rule_refs():
            return _which(found)
        groups: list[Command] = [RulesGroup(kind.verb, key, found.lasts, found.reason) for key in _groups_of(found)]
        return [*groups, *_each(found, lambda refs: kind(refs, found.lasts, found.reason))]

    return reader


def _groups_of(found: _Found) -> list[str]:
    if found.groups or found.several:
        return found.groups
    rules = found.part_of(found.known.rules)
    return [] if rules else found.part_of(found.known.groups)


ALL_OF: Final = re.compile(r"\b(?:all|every|both)\b")


def _each(found: _Found, command: Callable[[tuple[str, ...]], Command]) -> list[Command]:
    """One command for all rules that are named; where a part of a name fits several, one for each."""
    refs = tuple(dict.fromkeys(found.rule_refs()))
    every = len(refs) <= MAX_READINGS and ALL_OF.search(found.text.casefold())
    if refs and (found.several or every):
        return [command(refs)]
    return [command((ref,)) for ref in refs]


def _delete(found: _Found) -> list[Command]:
    if found.segments and found.people():
        return _take(found)
    if found.emails or (found.root == "members" and found.people()):
        return [MembersRemove(email, found.site, found.reason) for email in found.people()]
    return _each(found, lambda refs: RulesDelete(refs, found.reason))


def _grant(found: _Found, email: str) -> MembersGrant:
    return MembersGrant(email, tuple(found.segments), found.site, found.lasts, found.reason)


def _give(found: _Found) -> list[Command]:
    if found.urls:
        return _which(found)
    people = found.people()
    if not found.segments:
        return [MembersWhy(email, site=found.site) for email in people]
    return [_grant(found, email) for email in people]


def _take(found: _Found) -> list[Command]:
    people = found.people()
    if not found.segments:
        return [MembersShow(email, found.site) for email in people]
    return [MembersRevoke(email, tuple(found.segments), found.site, found.reason) for email in people]


def _offboard(found: _Found) -> list[Command]:
    if found.urls:
        return _block(found)
    if found.segments:
        return _take(found)
    people = found.people(anywhere=True)
    everywhere: list[Command] = [MembersOffboard(email, found.reason) for email in people]
    if "offboard" in found.text.casefold():
        return everywhere
    return [*everywhere, *(MembersRemove(email, found.site, found.reason) for email in people)]


def _rename(found: _Found) -> list[Command]:
    """Everything after “to” is the new name, as it was typed."""
    _, _, rest = found.text.partition(" ")
    old, to, new = rest.rpartition(" to ")
    if not to or not new.strip():
        return [RulesEdit(ref) for ref in found.rule_refs()]
    rules = found.known.rules.holding(old) if len(old.strip()) >= MIN_PART else []
    refs = [old.strip()] if NUMBER.fullmatch(old.strip()) or USUAL_RULE_ID.fullmatch(old.strip()) else rules
    if not refs:
        return [MembersEdit(email) for email in found.known.members.holding(old)]
    return [RulesSet((ref,), (("name", new.strip()),), None, found.reason) for ref in refs]


def _set(found: _Found) -> list[Command]:
    return _redirect(found) if found.urls else _edit(found)


def _edit(found: _Found) -> list[Command]:
    if found.emails or (found.root == "members" and found.people()):
        return [MembersEdit(email, found.site) for email in found.people()]
    return [RulesEdit(ref) for ref in found.rule_refs()]


def _show(found: _Found) -> list[Command]:
    if found.emails:
        return [MembersShow(email, found.site) for email in found.emails]
    if not found.urls and not found.groups and not found.several and not found.segments and not found.phrase:
        return [MembersList()] if found.root == "members" else [RulesList()]
    return _bare(found)


def _why(found: _Found) -> list[Command]:
    if found.urls:
        return _which(found)
    if refs := found.rule_refs():
        return [RulesShow(ref) for ref in refs]
    return _why_people(found, found.people(anywhere=True)) or _bare(found)


def _history(found: _Found) -> list[Command]:
    if refs := found.rule_refs():
        return [RulesHistory(ref) for ref in refs]
    people: list[Command] = [GatehouseAudit(ref=email) for email in found.people()]
    return people or ([] if found.phrase else [GatehouseAudit(since=_since(found))])


def _restore(found: _Found) -> list[Command]:
    return _switch(RulesOn)(found) or [GatehouseUndo()]


def _undo(found: _Found) -> list[Command]:
    """A change is taken back by its card or reference: of a rule, its history shows which there are."""
    if refs := found.rule_refs():
        return [RulesHistory(ref) for ref in refs]
    return [GatehouseUndo(next((word for word in found.words if REFERENCE.fullmatch(word)), None))]


REFERENCE: Final = re.compile(r"(?=.*\d)[0-9a-f]{6,32}")
"""The beginning of a change's id, as cards show it."""


READERS: Final[Mapping[str, Acting]] = {
    "off": _switch(RulesOff),
    "on": _switch(RulesOn),
    "restore": _restore,
    "delete": _delete,
    "block": _block,
    "redirect": _redirect,
    "make": _make,
    "rename": _rename,
    "set": _set,
    "edit": _edit,
    "copy": lambda found: [RulesCopy(ref) for ref in found.rule_refs()],
    "why": _why,
    "show": _show,
    "history": _history,
    "give": _give,
    "take": _take,
    "offboard": _offboard,
    "undo": _undo,
    "pending": lambda _: [GatehousePending()],
    "timers": lambda _: [GatehouseTimers()],
    "status": lambda found: _shown(found) or [GatehouseStatus()],
    "help": lambda found: [GatehouseHelp(topic=found.text)],
}
"""What a text comes to that says what is to be done: an act, with what it may mean."""
