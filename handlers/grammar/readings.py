"""Read text that isn't a command: what it names is taken out of it, then one verb; what is left over isn't understood.

A change is offered only where nothing is left over. Everything else is answered with what the text names. Nothing is run from
here: `runs_at_once` says which reading may be run without being shown first.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final
from urllib.parse import urlsplit

from bot.rules.lint.coverage import to_switch
from bot.rules.model import USUAL_RULE_ID
from bot.text.emails import BadEmail
from bot.text.names import MIN_PART, fold_name
from bot.text.times import Kind, ParsedTime, parse_since, parse_time
from handlers.gatehouse.commands import (
    GatehouseAudit,
    GatehouseDigest,
    GatehouseFreeze,
    GatehouseFreezes,
    GatehouseHelp,
    GatehousePending,
    GatehousePlanned,
    GatehouseStatus,
    GatehouseUndo,
    GatehouseWhoami,
)
from handlers.grammar.command import FILTER, Command, Unclear
from handlers.grammar.fields import NUMBER, expand_rows, reason_in
from handlers.grammar.known import MAX_READINGS, Known, Names, word_set
from handlers.grammar.parser import VERBS, parse, refs_of
from handlers.grammar.time_fields import Expiry, Start, expiry_in, time_at, time_in_reason
from handlers.grammar.tokens import WEB, Word, clean_text, split, strip_email, urls_typed
from handlers.grammar.vocabulary import (
    AFTER_ALL,
    ASKING,
    AT_ONCE,
    BECAUSE,
    BEING,
    EXCEPT,
    FILES,
    FILLERS,
    IDLE,
    IMPOSSIBLE,
    LACKING,
    LISTED,
    LOOKING,
    MEMBERS,
    NEGATIONS,
    NO_NAMES,
    OFTEN_NOUNS,
    PAST,
    PRONOUNS,
    REVERSING,
    SAYING,
    SEVERAL,
    SITES_AFTER,
    STATUSES,
    TO,
    TOPICS,
    TYPES,
    VERBS_OF,
    Impossible,
    bare,
)
from handlers.members.commands import (
    MembersAdd,
    MembersEdit,
    MembersExport,
    MembersGrant,
    MembersImport,
    MembersList,
    MembersMove,
    MembersOffboard,
    MembersRemove,
    MembersRevoke,
    MembersSegments,
    MembersShow,
    MembersWhy,
)
from handlers.rules.commands import (
    REACHES,
    RulesCheck,
    RulesCopy,
    RulesDelete,
    RulesEdit,
    RulesExport,
    RulesGroup,
    RulesGroups,
    RulesHistory,
    RulesImport,
    RulesList,
    RulesMake,
    RulesNew,
    RulesOff,
    RulesOn,
    RulesSet,
    RulesShow,
    RulesWhich,
)
from handlers.rules.reasons import type_word
from handlers.rules.rule_refs import NotOne

MAX_WORDS: Final = 60
"""Nothing in a longer text is looked up, since names are searched for at each of its words."""
MAX_NAME_WORDS: Final = 12
MAX_PART_WORDS: Final = 4
MAX_URL_IN_NAME: Final = 120
EMAIL: Final = re.compile(r"[^\s@<>]+@[^\s@<>.]+(?:\.[^\s@<>.]+)+")
HOST: Final = re.compile(r"(?:[a-z0-9-]+\.)+[a-z]{2,}(?::\d+)?(?:[/?#]\S*)?", re.IGNORECASE)
ADDRESSEE: Final = re.compile(r"""(?:"[^"]{1,80}"|(?:[^\W\d_a-z][\w.'-]{0,40} ){1,3}) ?<([^<>\s@]+@[^<>\s]+)>""")
"""A person as mail programs write one: ``Tom Meier <tom@example.com>``."""

TIME: Final = r"(?=\d|(?:mon|tue|wed|thu|fri|sat|sun|tom|noon|midn))"
TURNED: Final = re.compile(
    rf"(?i)(?:,|\band|\bthen) (?:(?:then|put|turn|switch|it|back) )*(?:off|back|on(?= at | again ))(?: again)?(?: at| on)? {TIME}"
)
"""Before the end of “on at 9 and off again at 10”."""


@dataclass(frozen=True, slots=True)
class Readings:
    """The commands that a text may mean, and the words that none of them accounts for (*unread*).

    *meant*: the changes that it would mean without the unread words; then *commands* only show what they are about.
    """

    commands: tuple[Command, ...] = ()
    unread: tuple[str, ...] = ()
    meant: tuple[Command, ...] = ()
    missing: tuple[str, ...] = ()
    """The services and sites whose names could not be read in time."""
    impossible: Impossible | None = None
    """What the text asks for, or has a word of, and can't be done."""
    is_guess: bool = False
    """Whether the commands may be about something else than the text, so that they are only offered."""


@dataclass(slots=True)
class Sentence:
    """The parts of a text. *words*: those left over, as the tables have them, empty where one was taken; *typed*: the same as
    typed. Of *rules* and *people*, each mention has the keys that it may mean.
    """

    root: str
    known: Known
    typed: list[str] = field(default_factory=list)
    words: list[str] = field(default_factory=list)
    because: str | None = None
    expiry: Expiry | None = None
    start: Start | None = None
    since: str | None = None
    other_times: list[str] = field(default_factory=list)
    urls: list[str] = field(default_factory=list)
    led: list[str] = field(default_factory=list)
    """The word before each URL."""
    rules: list[list[str]] = field(default_factory=list)
    people: list[list[str]] = field(default_factory=list)
    part: str = ""
    """The words of the last mention that is only a part of a name."""
    stranger: bool = False
    """Whether such a part stands beside another word that may belong to the name: of somebody else, then."""
    named: set[str] = field(default_factory=set)
    """The words that are parts of names."""
    spoken: list[str] = field(default_factory=list)
    """The words that are neither in quotes nor a whole name."""
    asked: list[str] = field(default_factory=list)
    """Those up to the end of the first sentence with a verb: what follows explains."""
    filters: dict[str, tuple[str, str]] = field(default_factory=dict)
    """What a list can be narrowed down by: for each field of commands, its value, and the words that say it."""
    groups: list[str] = field(default_factory=list)
    segments: list[str] = field(default_factory=list)
    lacking: list[str] = field(default_factory=list)
    site: str | None = None
    act: str = ""
    verb: str = ""
    question: str = ""
    is_quoted: bool = False
    """Whether it has somebody else's words."""

    def add(self, typed: str) -> None:
        self.typed.append(typed)
        self.words.append(bare(typed))
        if typed.endswith(","):
            self.typed.append("")
            self.words.append(",")

    def take(self, at: int, count: int = 1) -> None:
        self.words[at : at + count] = [""] * count

    def before(self, at: int) -> str:
        """Return the word before that at *at*."""
        return self.words[at - 1] if at else ""

    def after(self, at: int) -> str | None:
        """Return the word after that at *at*; None at the end."""
        return self.words[at + 1] if at + 1 < len(self.words) else None

    @property
    def kinds(self) -> str:
        """The kinds of things that are named, as `CHANGES` has them."""
        there = {"group": self.groups, "person": self.people, "rule": self.rules}
        there |= {"segment": self.segments, "lack": self.lacking}
        return " ".join([*(kind for kind, things in there.items() if things), *("url" for _ in self.urls)])

    @property
    def at(self) -> str | None:
        """The moment that a question is about."""
        return self.since or (self.start.as_typed if self.start and not self.expiry else None)

    @property
    def is_about_members(self) -> bool:
        return self.root == "members" or bool(self.people or self.segments or not MEMBERS.isdisjoint(self.words))

    @property
    def included(self) -> list[str]:
        """The words before those that say what is to be left out."""
        return self.words[: next((at for at, word in enumerate(self.words) if word in EXCEPT), None)]

    @property
    def choices(self) -> list[tuple[str, ...]]:
        """The keys of all rules, or of all people, that are named; of a single unclear one, each of its keys, to choose from."""
        mentions = self.rules or self.people
        unclear = [mention for mention in mentions if len(mention) > 1]
        is_both = "both" in self.words and {len(mention) for mention in unclear} == {2}
        if not unclear or is_both or not (SEVERAL - {"both"}).isdisjoint(self.words):
            return [tuple(dict.fromkeys(key for mention in mentions for key in mention))] if mentions else []
        return [(key,) for key in unclear[0]] if len(mentions) == 1 else []

    def find_left(self, idle: Collection[str]) -> list[str]:
        """Return the words left over that aren't *idle*, as they were typed; adjacent ones, and what is between, are joined."""
        runs: list[list[str]] = [[]]
        between: list[str] = []
        for word, typed in zip(self.words, self.typed, strict=True):
            if word in {"", ","}:
                runs, between = [*runs, []], []
            elif word in idle:
                between.append(typed)
            else:
                runs[-1] += [*(between if runs[-1] else []), typed]
                between = []
        return [text for run in runs if (text := " ".join(run).strip(AFTER_ALL))]


def read(root: str, text: str, known: Known) -> Readings:
    """Return the commands that *text* after ``/root`` may mean, the likeliest first; none where it isn't understood.

    *root* is empty where none was given. Raises Unclear for a time that could mean several things, and for what lacks a rule.
    """
    words = split(TURNED.sub(" until ", ADDRESSEE.sub(r"\1", clean_text(text))))
    while words and words[0].keyword.lstrip("/") in VERBS.keys() - {root}:
        root, words = words[0].keyword.lstrip("/"), words[1:]
    if len(words) + text.count(",") > MAX_WORDS:
        return Readings()
    said = _take_apart(Sentence(root, known), words)
    return _offer(said) or _answer(said)


def runs_at_once(readings: Readings) -> Command | None:
    """Return the command that may be run without being shown first: the only reading, where it changes nothing."""
    if readings.meant or readings.missing or readings.is_guess or len(readings.commands) != 1:
        return None
    (command,) = readings.commands
    return None if command.writes else command


def says_better(error: Exception | None, readings: Readings) -> bool:
    """Whether *error*, which says what a command lacks, or what isn't there and what is like it, helps more than incomplete
    *readings* of the same text.
    """
    if not readings.unread or readings.meant or readings.impossible:
        return False
    if isinstance(error, BadEmail) and error.name:  # not where it has few words of a name, as in “why did my change …”
        names = [bare(each) not in NO_NAMES for each in error.name.split()]
        return sum(names) * 2 >= len(names) and not any(isinstance(each, CARDS) for each in readings.commands)
    if isinstance(error, Unclear):
        if any(kind.verb in ASKING for kind in error.about):  # “which colleague …” asks for no URL
            return error.has_verb and not readings.commands
        # Of “grant anna for 7d”, all is read but what is missing.
        is_begun = error.lacks and all(each in VERBS_OF or parse_time(each.split(), 0) for each in readings.unread)
        is_begun = is_begun or any(kind.writes and kind.verb in readings.unread for kind in error.about)
        return error.has_verb and (bool(is_begun) or not _is_card(readings.commands))
    return not isinstance(error, NotOne) or bool(error.near or error.gap)


# What a text names, the surest first.


def _take_apart(said: Sentence, words: Sequence[Word]) -> Sentence:
    left = _take_names(said, [part for word in _take_reason(said, words) for part in _split_at_commas(word)])
    said.spoken = ["" if word.quoted else bare(word.text) for word in left]
    marks = zip([word.text[-1:] for word in left], [*said.spoken[1:], ""], strict=True)
    explains = PRONOUNS | {"i", "we"}  # “…, he asks me every day”
    ends = (at for at, (mark, after) in enumerate(marks, 1) if mark in {*".?!"} or (mark == "," and after in explains))
    said.asked = said.spoken[: next((at for at in ends if (VERBS_OF.keys() | ASKING) & {*said.spoken[:at]}), None)]
    said.is_quoted = any(word.quoted or (word.text.startswith(">") and word.start == 0) for word in left)
    for word in _take_times(said, left):
        said.add("," if not word.quoted and _take_form(said, word) else word.text)
    _take_question(said, is_asked=bool(words) and words[-1].text.endswith("?"))
    _take_verb(said)
    _take_segments(said)
    _take_parts(said)
    return said


def _take_reason(said: Sentence, words: Sequence[Word]) -> Sequence[Word]:
    at = next((i for i, word in enumerate(words) if word.keyword in BECAUSE and 0 < i < len(words) - 1), None)
    if at is None or words[at + 1].keyword in ASKING or parse_time([word.text for word in words], at) is not None:
        return words  # “since when”, “since yesterday”
    said.because = reason_in([replace(words[at], text="because"), *words[at + 1 :]])
    return words[:at]


def _split_at_commas(word: Word) -> list[Word]:
    if word.quoted or WEB.match(word.text) or "," not in word.text.strip(AFTER_ALL):
        return [word]
    *first, last = [part for part in word.text.split(",") if part]
    return [*(replace(word, text=f"{part},") for part in first), replace(word, text=last)]


def _take_names(said: Sentence, words: Sequence[Word]) -> list[Word]:
    """Take whole names of several words, or in quotes, the longest first."""
    left: list[Word] = []
    lines = [fold_name(word.text) for word in words]
    at = 0
    while at < len(words):
        least = 1 if words[at].quoted else 2
        lengths = range(min(MAX_NAME_WORDS, len(words) - at), least - 1, -1)
        length = next((n for n in lengths if _take_name(said, " ".join(lines[at : at + n]))), 0)
        left += [replace(words[at], text=",", quoted=False)] if length else [words[at]]
        at += max(length, 1)
    return left


def _take_name(said: Sentence, text: str) -> bool:
    name = text.rstrip("?!,.").removesuffix("'s")
    for names, mentions in ((said.known.rules, said.rules), (said.known.members, said.people)):
        if keys := names.find_exact(name) or names.find_exact(name.strip("()")):
            mentions.append(keys)
            return True
    said.groups += (groups := said.known.groups.find_exact(name))
    return bool(groups)


def _take_times(said: Sentence, words: Sequence[Word]) -> list[Word]:
    left: list[Word] = []
    texts, at = ["" if word.quoted else word.text for word in words], 0
    window = {"between": "from", "and": "to"} if "between" in texts else {}  # as a change has it
    clocks = [window.get(text, text) for text in texts]
    while at < len(words):
        time = time_at(clocks, at)
        if time is None:
            left.append(words[at])
        else:
            while left and left[-1].keyword in {"but", "only", "just"}:
                left.pop()
            turned = {word.keyword for word in left} & {"turn", "switch", "put", "on", "off"}
            is_on = turned in ({"turn"}, {"switch"}, {"put"}) or {*texts[at + 1 : at + 2]} & word_set(
                "from until till for"
            )
            left += [words[at]] if texts[at] == "on" and is_on else []  # “turn it on friday”
            _note_time(said, replace(time, text=" ".join(texts[at : at + time.count])))
            left += [replace(words[at], text=",")] if texts[at + time.count - 1].endswith(",") else []
        at += time.count if time is not None else 1
    return left


def _note_time(said: Sentence, time: ParsedTime) -> None:
    text = time.text.rstrip(AFTER_ALL)
    if time.kind is Kind.SINCE and said.since is None:
        said.since = text
    elif said.expiry is None and (ends := _expiry(time)) is not None and not text.casefold().startswith("by "):
        said.expiry = ends
    elif said.start is None and (starts := Start.of(time)) is not None:
        said.start = starts
    else:
        said.other_times.append(text)


def _expiry(time: ParsedTime) -> Expiry | None:
    if time.kind not in {Kind.LENGTH, Kind.END}:
        return None
    keyword, words = "for" if time.kind is Kind.LENGTH else "until", time.text.rstrip(AFTER_ALL).split()
    ends = filter(None, (expiry_in(keyword, " ".join(some)) for some in (words, words[1:])))
    return next((each for each in ends if (each.seconds, each.wall) == (time.seconds, time.wall)), None)


def _take_form(said: Sentence, word: Word) -> bool:
    """Take a URL, an email, a row or an id, which are known by their form; return whether *word* is one."""
    plain = word.text.rstrip(AFTER_ALL)
    is_web = bool(WEB.match(word.text))
    is_host = HOST.fullmatch(plain) and (said.root != "members" or "/" in plain)
    if is_web or is_host or (plain.startswith("/") and len(plain) > 1):
        urls = urls_typed(word.text) if is_web else [plain if plain.startswith("/") else f"https://{plain}"]
        said.led += [said.before(len(said.words))] * len(urls)
        said.urls += urls
    elif EMAIL.fullmatch(strip_email(plain)):
        said.people.append([strip_email(plain)])
    elif all(NUMBER.fullmatch(row) for row in expand_rows(plain)):
        (said.people if said.root == "members" else said.rules).extend([row] for row in expand_rows(plain))
    elif USUAL_RULE_ID.fullmatch(plain):
        said.rules.append([plain])
    else:
        return False
    return True


LED_IN: Final = (FILLERS - ASKING) | {"", ",", "since", "until"}
"""Words that may come before the first one of a question: “since when”, “by whom”."""


def _take_question(said: Sentence, *, is_asked: bool) -> None:
    """Note the word that makes a text a question: “can you …” makes none, and a complaint asks why."""
    first = next((at for at, word in enumerate(said.words) if word not in LED_IN), 0)
    after = said.words[first : first + 2]
    if {*after[:1]} & {"can", "could", "would", "will"} and {*after[1:]} & {"you", "we", "someone", "somebody"}:
        said.take(first, 2)
    elif after and after[0] in ASKING and after != ["is", "now"]:
        said.question = after[0]
    elif is_asked or not {"can't", "cant", "cannot", "couldn't", "unable"}.isdisjoint(said.words):
        said.question = "why"


def _take_verb(said: Sentence) -> None:
    """Take one verb. A word that is often a part of a name is one only at the beginning or at the end."""
    words = said.words
    if (file := next((word for word in words if word in FILES), "")) and {"import", "upload"}.isdisjoint(words):
        said.act, said.verb = "export", file
        said.take(words.index(file))
        return
    begins = (at for at, word in enumerate(words) if word not in FILLERS | {"", ","} or word in VERBS_OF)
    first = next(begins, len(words))
    last = max((at for at, word in enumerate(words) if word not in FILLERS | {"", ","} or word in VERBS_OF), default=-1)
    for at in range(len(words)):
        is_end = at == last or said.typed[at].endswith(",")
        may_be_noun = (at != first and not is_end) or (at > 0 and said.question not in {"", "can", "could"})
        is_no_verb = words[at] == "on" and ((at != first and said.after(at) == "") or said.before(at) in GOING)
        if is_no_verb or (words[at] in STATUSES and _is_state(said, at)):
            continue
        act, places = VERBS_OF.find_at(words, at) or ("", [])
        if said.root == "members" and act in {"block", "redirect", "copy"}:
            continue  # “anna wants to cancel, remove her”
        if act and not (may_be_noun and len(places) == 1 and words[at] in OFTEN_NOUNS):
            said.act, said.verb = act, " ".join(words[place] for place in places)
            if act in CHANGES and said.question in said.verb.split():
                said.question = ""  # “anna has a new mail”
            for place in places:
                said.take(place)
            return


def _is_state(said: Sentence, at: int) -> bool:
    """Whether “on” or “off” at *at* says what something is: “that is off”, “are switched off”, “off rules”."""
    before, after = said.before(at - 1 if said.before(at) in {"switched", "turned"} else at), said.after(at)
    is_of_after = said.words[at] == "on" and after and after not in NO_NAMES  # “is on call”
    return (before in BEING and not is_of_after) or after in LISTED


def _take_segments(said: Sentence) -> None:
    """Take segments, those that somebody lacks, and the site after a preposition."""
    lacks, segments = False, said.known.segments
    for at, word in enumerate(said.words):
        name = segments.get(word) or (segments.get(word.removesuffix("s")) if len(word) > MIN_PART else None)
        if name:
            (said.lacking if lacks else said.segments).append(name)
            said.take(at)
        elif word in said.known.sites and (said.is_about_members or said.before(at) in SITES_AFTER) and not said.site:
            said.site = said.known.sites[word]
            said.take(at)
        lacks = word in LACKING or (lacks and word in IDLE | {"have", "has", "on", "in"})


def _take_parts(said: Sentence) -> None:
    """Take parts of names, the longest first, where no whole name was found; further ones of the same kind only after “and”."""
    for at, word in enumerate(said.words):
        if word and (groups := said.known.groups.find_exact(word)):
            said.groups += groups
            said.take(at)
    is_whole = (said.people or said.urls) and said.act not in {"redirect", "set", "move"}
    if said.groups or said.act == "freeze" or is_whole:
        return
    kinds: list[tuple[Names[Any], list[list[str]]]] = [
        (said.known.rules, said.rules),
        (said.known.members, said.people),
    ]
    if said.rules:
        kinds = kinds[:1]
    elif said.segments and not said.act and said.root != "rules":
        kinds = kinds[1:]
    elif said.people or said.root == "members" or (said.act in OF_PEOPLE and said.root != "rules"):
        kinds = kinds[:0:-1] if said.root == "members" else kinds[::-1]
    for names, mentions in kinds:
        while keys := _take_longest_part(said, names, is_first=not mentions):
            mentions.append(keys)
        if mentions:
            return
    said.groups += _take_longest_part(said, said.known.groups, is_first=True)


OF_PEOPLE: Final = word_set("grant revoke offboard")
NEVER_NAMES: Final = FILLERS | REVERSING | SEVERAL | {"", ","}


def _take_longest_part(said: Sentence, names: Names[Any], *, is_first: bool) -> list[str]:
    """Take the longest part of a name, and return the keys that it may mean."""
    joins = {"and", "off", *("," if said.part else "")}  # a comma also stands for a whole name
    is_all = names is said.known.members or (said.act in CHANGES and {*said.included} <= NO_NAMES | {""})
    words = said.words if is_all else said.included
    for length in range(min(MAX_PART_WORDS, len(words)), 0, -1):
        for at in range(len(words) - length + 1):
            some = said.words[at : at + length]
            text = " ".join(some).replace("-", " ")  # “gift-cards”
            is_common = {some[0], some[-1]} & NEVER_NAMES or TYPES.keys() | TOPICS.keys() | {"new", "old"} >= {*some}
            is_common = is_common or (text in said.known.sites and said.before(at) in SITES_AFTER)
            is_part = not names.find_exact(text)
            is_common = is_common or (some[0] in VERBS_OF and (not is_first or (length == 1 and is_part)))
            is_short = len(text) < MIN_PART and is_part
            short = {word for word in some if len(word) < MIN_PART}  # “im new” is no image
            if is_common or is_short or not (is_first or said.before(at) in joins):
                continue
            found = names.find_mentioned(text)
            if not found and len(text) > MIN_PART and not said.known.groups.find_mentioned(text):
                found = names.find_mentioned(text := text.removesuffix("s"))  # “pauls access”
            found = [key for key in found if short <= {*said.known.titles.get(key, text).casefold().split()}]
            if 0 < len(keys := _nearest(said, found)) <= MAX_READINGS:
                beside = {said.before(at), said.after(at + length - 1) or ""} - NO_NAMES  # “paul quist”, who left
                said.stranger |= (names is said.known.members or length == 1) and any(map(str.isalpha, beside))
                said.take(at, length)
                said.part = text
                said.named |= {*some}
                return keys
    return []


def _nearest(said: Sentence, keys: Sequence[str]) -> list[str]:
    """Return those of *keys* that are on the site, or of a type, that is meant; all where none is.

    Who can't get into a site may be on another one.
    """
    site = said.site or ("" if said.act == "offboard" else said.known.site) if said.act in CHANGES else ""
    rules, types = said.known.by_id, {TYPES[word] for word in said.included if word in TYPES}
    there = [key for key in keys if site in said.known.sites_of.get(key, ())]
    there += [key for key in keys if key in rules and rules[key].rule_type in types]
    return there or [*keys]


# What is offered.

PLACES: Final[Mapping[type[Command], frozenset[str]]] = {
    RulesOff: word_set("for from"),
    RulesOn: word_set("for back"),
    RulesGroup: word_set("for from all back"),
    RulesDelete: word_set("for from"),
    RulesMake: word_set("go goes from for to into everyone everybody all any anything able open new -> --> => →"),
    RulesNew: word_set("from for to new"),
    RulesSet: word_set("from to into at destination"),
    MembersAdd: word_set("to into on new as with"),
    MembersGrant: word_set("to into for on in"),
    MembersRevoke: word_set("from for on in out away off"),
    MembersRemove: word_set("from on in"),
    MembersOffboard: word_set("from everywhere"),
    MembersMove: word_set("from to email mail new her his their"),
    GatehouseFreeze: word_set("to on all any everything change changes"),
    GatehouseUndo: word_set("last change that it what just did"),
}
"""The small words that each kind of change has a place for."""


def _offer(said: Sentence) -> Readings | None:
    """Return the changes that *said* asks for, or, where something is left over, would ask for; None where it asks for none."""
    asks = said.question and (said.act in {"", *LOOKING} or said.question not in {"can", "could"})
    asks = asks or "loop" in said.words or (said.act == "redirect" and not LISTED.isdisjoint(said.words))
    is_grant = said.expiry or not {"need", "needs"}.isdisjoint(said.words)
    act = said.act or ("redirect" if said.urls and said.expiry else "grant" if is_grant else "")  # “anna vip for 7d”
    make = None if asks else CHANGES.get(act, {}).get(said.kinds)
    changes = _read_back(said, make(said)) if make else ()
    if not 0 < len(changes) <= MAX_READINGS:
        return None
    idle = _idle_in_changes(said, changes)
    strangers = _strangers(said.known, changes)
    unread = (*_unread(said, changes, idle), *strangers)
    words = {bare(word) for text in unread for word in re.sub(r"\bon (?=\S)", "", text).split()}
    verbs = {VERBS_OF.get(word, said.act) for word in words & {*said.asked}} | words & {"who", "when", "why", *SEVERAL}
    is_one = verbs <= {said.act, *LOOKING, *(["set"] if said.act == "move" else [])}
    is_one = is_one and REVERSING.isdisjoint({*said.words} & {*said.asked})
    if (said.is_quoted or not is_one) and said.verb != "rename":
        return None  # “old shop off and chat widget on” asks for two changes
    if not unread:
        return Readings(changes)
    is_joined = not {"and", "both", "&", "+"}.isdisjoint(said.spoken) or all(len(refs_of(each)) < 2 for each in changes)
    is_another = not is_joined or (said.part and (said.stranger or _unknown_name(said)))
    if (said.start and not said.expiry) or len(said.segments) > 1 or is_another:
        return None  # “revoke it, she left on friday”: the time may be a part of what isn't understood
    if impossible := find_impossible(said):
        unread = (*_unread(said, changes, idle | {*impossible.words}), *strangers)
    shown = _read_back(said, _look_at(said)[0])[:MAX_READINGS]
    return Readings(shown, unread, changes, impossible=impossible, is_guess=bool(impossible))


def _unknown_name(said: Sentence) -> str:
    """Return the words that aren't understood before “rule” or a type, as in “the outlet redirect”, or alone in a question."""
    for at, word in enumerate(said.words):
        begins = at
        while word in {*TYPES, "rule"} - LISTED and begins and said.words[begins - 1] not in NO_NAMES | {""}:
            begins -= 1
        if begins < at and said.before(begins) not in {"a", "an", "any"}:
            return " ".join(said.typed[begins:at])
    left = said.find_left(NO_NAMES) if said.act in {"", "show"} and not said.kinds else []
    longest = {1} if said.is_about_members else {0, 1, 2, 3}
    if len(left) != 1 or ":" in left[0] or left[0].count(" ") not in longest:
        return ""
    is_rule = "rule" in said.words and not {"for", "about", "called", "named"}.isdisjoint(said.words)
    return left[0] if said.root == "members" or is_rule or (said.is_about_members and left[0].istitle()) else ""


def _strangers(known: Known, changes: Sequence[Command]) -> tuple[str, ...]:
    """Return the emails of which *changes* take it that they are those of members, and no site knows them."""
    if known.missing:
        return ()
    named = dict.fromkeys(email for each in changes for email in each.emails if email not in known.sites_of)
    there = {each.casefold() for each in known.sites_of} if named else set()
    # Of an invisible character in an email something better is told.
    return tuple(email for email in named if email.casefold() not in there and email.isprintable())


def _idle_in_changes(said: Sentence, changes: Sequence[Command]) -> set[str]:
    rules = [said.known.by_id.get(ref) for each in changes for ref in refs_of(each)]
    types = {rule.rule_type for rule in rules if rule} | {getattr(each, "type", None) for each in changes}
    idle = {*IDLE, *(word for word, kind in TYPES.items() if kind in types)}
    idle |= {word for rule in rules if rule for word in fold_name(rule.title).split()}
    idle |= AT_ONCE if said.start is None else frozenset()
    idle |= SEVERAL | {"on", "rules"} if said.urls and said.act in {"on", "off"} else set()
    for each in changes:
        idle |= PLACES.get(type(each), frozenset())
        idle |= SEVERAL | MEMBERS | {"rules"} if len(refs_of(each)) > 1 else frozenset()
    return idle


def _read_back(said: Sentence, commands: Iterable[Command]) -> tuple[Command, ...]:
    """Return *commands* with the times, the reason and the site that were said, as parsed from their own text: a button does
    what was shown. Those that can't be parsed are left out.
    """
    common = {name: value for name in ("expiry", "start", "because", "site", "at") if (value := getattr(said, name))}
    common |= {"since": _look_back(said)} | {name: value for name, (value, _) in said.filters.items()}
    read: dict[Command, None] = {}
    for command in commands:
        try:
            full = command.with_fields(**{name: value for name, value in common.items() if command.has(name)})
            again = parse(command.service, full.write())
        except (Unclear, ValueError):
            continue
        if type(again) is type(command):
            read[again] = None
    return tuple(read)


def _unread(said: Sentence, commands: Sequence[Command], idle: Collection[str]) -> tuple[str, ...]:
    """Return what none of *commands* accounts for, as it was typed."""
    is_past = any(getattr(each, "at", None) or isinstance(each, RECORDS) for each in commands)
    is_past &= not (said.start and (said.start.end or said.since))  # no answer has an end, or two beginnings
    names = ("expiry", "because", "site") if is_past else ("expiry", "start", "because", "site", "since")
    unused = [
        getattr(value, "as_typed", value)
        for name in names
        if (value := getattr(said, name)) and not any(getattr(each, name, None) for each in commands)
    ]
    in_reasons = filter(None, (time_in_reason(each) for each in commands if each.writes))
    return tuple(dict.fromkeys([*said.find_left(idle), *unused, *said.other_times, *in_reasons]))


def _of_all(*kinds: Callable[[tuple[str, ...]], Command]) -> Make:
    return lambda said: [kind(keys) for kind in kinds for keys in said.choices]


def _of_one(kind: Callable[[str], Command]) -> Make:
    return lambda said: [kind(keys[0]) for keys in said.choices if len(keys) == 1]


def _of_sources(kind: Callable[[tuple[str, ...]], Command]) -> Make:
    def make(said: Sentence) -> list[Command]:
        hosts = [url.removeprefix("https://") for url in said.urls]
        if there := to_switch(said.known.by_id.values(), hosts, on=kind is RulesOn):
            return [kind(there)]
        return [kind((ref,)) for url in said.urls for ref in said.known.rules.find_url(url)]

    return make


def _of_groups(said: Sentence) -> list[Command]:
    return [RulesGroup(said.act, key) for key in said.groups]


def _of_segments(kind: type[MembersGrant | MembersRevoke]) -> Make:
    return lambda said: [kind(emails, tuple(said.segments)) for emails in said.choices]


def _with_host(url: str, said: Sentence, beside: str = "") -> list[str]:
    """Return *url* as a whole URL: a path is one of the host of *beside*, or of each host that is known."""
    if not url.startswith("/"):
        return [url if urlsplit(url).path else f"{url}/"]
    hosts = [urlsplit(beside).netloc] if "://" in beside else said.known.hosts[:MAX_READINGS]
    return [f"https://{host}{url}" for host in hosts]


def _short(url: str) -> str:
    return url.partition("://")[2].rstrip("/")[:MAX_URL_IN_NAME]


def _block(said: Sentence) -> list[Command]:
    """Return one block for each reach, of which the person chooses."""
    urls = _with_host(said.urls[0], said)
    reaches = (None, *REACHES) if len(urls) == 1 else (None,)
    return [RulesMake("Cancel", url, name=f"Block {_short(url)}", match=reach) for url in urls for reach in reaches]


def _redirect(said: Sentence) -> list[Command]:
    """Return the change of each redirect that has the first of two URLs as its source, or a new one."""
    first, second = reversed(said.urls) if said.led[0] in TO else said.urls
    made: list[Command] = []
    for source in _with_host(first, said, second):
        (destination,) = _with_host(second, said, source)
        there = [ref for ref in said.known.rules.find_url(source) if said.known.is_redirect(ref)]
        made += [RulesSet((ref,), (("destination", destination),)) for ref in there]
        if not there:
            made.append(RulesMake("Redirect", source, destination, f"{_short(source)} to {_short(destination)}"))
    return made


def _set_destination(said: Sentence) -> list[Command]:
    return [RulesSet(refs, (("destination", said.urls[0]),)) for refs in said.choices]


def _new_rule(said: Sentence) -> list[Command]:
    """Return the form of a new rule, of the type that is named."""
    types = [TYPES[word] for word in said.words if word in TYPES] or ["Redirect"]
    return [RulesNew(types[0], url) for url in _with_host(said.urls[0], said)]


def _add(said: Sentence) -> list[Command]:
    """Return the form of each new member; a grant where all are members already."""
    new = [email for emails in said.choices for email in emails]
    known = [email in said.known.sites_of for email in new]
    if any(known):
        return _of_segments(MembersGrant)(said) if all(known) and said.segments else []
    return [MembersAdd(email, segments=tuple(said.segments)) for email in new]


def _move(said: Sentence) -> list[Command]:
    """Return the change of an email to another one that nobody has."""
    emails = [mention[0] for mention in said.people if len(mention) == 1]
    old = [email for email in emails if email in said.known.sites_of]
    new = [email for email in emails if "@" in email and email not in old]
    return [MembersMove(old[0], new[0])] if len(old) == len(new) == 1 and len(said.people) == 2 else []


def _offboard(said: Sentence) -> list[Command]:
    everywhere = () if said.site else (MembersOffboard,)
    here = () if said.verb == "offboard" and everywhere else (MembersRemove,)
    return _of_all(*everywhere, *here)(said)


def _freeze(said: Sentence) -> list[Command]:
    """Return the freeze of the hosts or the group that is named, or of everything; none without an end."""
    groups = [f"group:{said.known.titles[key]}" for key in said.groups[:1]]
    named = [urlsplit(url).netloc for url in said.urls] or groups or ["everything"] * ("everything" in said.words)
    return [GatehouseFreeze(" ".join(named), said.expiry)] if named and said.expiry else []


Make = Callable[[Sentence], list[Command]]
CHANGES: Final[Mapping[str, Mapping[str, Make]]] = {
    "off": {"rule": _of_all(RulesOff), "url": _of_sources(RulesOff), "group": _of_groups},
    "on": {"rule": _of_all(RulesOn), "url": _of_sources(RulesOn), "group": _of_groups},
    "delete": {
        "rule": _of_all(RulesDelete),
        "person": _of_all(MembersRemove),
        "person segment": _of_segments(MembersRevoke),
    },
    "block": {"url": _block},
    "redirect": {"url": _new_rule, "url url": _redirect, "rule url": _set_destination},
    "make": {"url": _new_rule, "url url": _redirect, "person": _add, "person segment": _add},
    "set": {
        "rule": _of_one(RulesEdit),
        "rule url": _set_destination,
        "url url": _redirect,
        "person": lambda said: _move(said) or _of_one(MembersEdit)(said),
    },
    "edit": {"rule": _of_one(RulesEdit), "person": _of_one(MembersEdit)},
    "copy": {"rule": _of_one(RulesCopy)},
    "move": {"person": _move, "url url": _redirect},
    "grant": {"person segment": _of_segments(MembersGrant)},
    "revoke": {"person segment": _of_segments(MembersRevoke)},
    "offboard": {"person": _offboard, "person segment": _of_segments(MembersRevoke)},
    "freeze": dict.fromkeys(("url", "group", ""), _freeze),
    "undo": {"": lambda _: [GatehouseUndo()]},
}
"""For each verb, the kinds of things that it takes, and what it then makes of a sentence. What isn't here isn't offered."""


# What is shown.


def _answer(said: Sentence) -> Readings:
    """Return commands that show what a text names or asks about; what isn't understood of it is unread.

    They are only offered where they may be about something else: other people of a part of a name, another service than the one
    that is asked, a list from which something is to be left out.
    """
    unknown = _unknown_name(said)
    _take_filters(said)
    commands, words = _look_at(said)
    if unknown and not said.kinds:
        kind = MembersList if said.is_about_members else RulesList
        commands, said.named = [kind(unknown), *_show_views(said)[0]], {bare(word) for word in unknown.split()}
        words = frozenset(said.named if said.act not in CHANGES else ())
    shown = _read_back(said, commands)[:MAX_READINGS]
    unread = _find_unread(said, shown, words)
    impossible = find_impossible(said) if unread or not shown or isinstance(shown[0], GatehouseHelp) else None
    is_lost = said.act in {"off", "on", "delete", "edit", "copy"} and not impossible and said.root != "members"
    if not shown and is_lost and not said.find_left(FILLERS | PRONOUNS):
        parse("rules", said.act)  # which asks for the rule
    if impossible and not (_is_card(shown) and said.act not in CHANGES and said.question not in {"can", "could"}):
        shown = tuple(each for each in shown if each not in (GatehouseHelp(), RulesList(), MembersList()))
        if impossible.nearest:
            shown = tuple(dict.fromkeys([*shown, parse(*impossible.nearest.split(" ", 1))]))
        rest = _find_unread(said, shown, words | {*impossible.words})
        unread = tuple(each for each in rest if each not in {*impossible.words, said.verb})
        return Readings(shown, unread, impossible=impossible, is_guess=True)
    return Readings(shown, unread, impossible=impossible, is_guess=_is_guess(said, shown, unread))


def _find_unread(said: Sentence, shown: Sequence[Command], words: frozenset[str]) -> tuple[str, ...]:
    """Return what *shown* and *words* don't account for: a verb of a change, filters that aren't there, and what is left over."""
    is_card = _is_card(shown)
    asks_how = any(isinstance(each, GatehouseHelp) for each in shown)
    idle = (FILLERS - PRONOUNS - REVERSING - (frozenset() if is_card else SAYING)) | words
    idle |= {"since", "until", *(NEGATIONS if is_card else ())} if said.question else set()
    is_past = any(isinstance(each, RECORDS) for each in shown)
    idle -= set() if is_past else {"when", "why", *({"who"} if is_card else ())} - {said.question}
    looks = LOOKING if is_past else LOOKING - {"history"}
    is_told = said.act not in {"", *looks} and not asks_how and not (said.question and said.verb in TYPES)
    has = {"status", "type", "who"} if is_card or asks_how else set()
    has |= {name for name in said.filters if any(getattr(each, name, None) for each in shown)}
    filters = [typed for name, (_, typed) in said.filters.items() if name not in has]
    used = {getattr(each, name, None) for each in shown for name in ("segment", "without_segment")}
    more = [name for name in (*said.segments, *said.lacking) if name not in used]
    more += [said.known.titles[key] for key in said.groups if not any(getattr(each, "group", None) for each in shown)]
    told = [*([said.verb] if is_told else []), *filters, *more]
    return tuple(dict.fromkeys([*told, *_unread(said, shown, idle)]))


def _is_guess(said: Sentence, shown: Sequence[Command], unread: Sequence[str]) -> bool:
    """Whether *shown* may be about something else than the text, of which *unread* is not understood."""
    if any({said.root, each.service} == {"rules", "members"} for each in shown) or (said.stranger and said.people):
        return True
    if not unread:
        return False
    if not _is_card(shown):
        # “Nothing is pending” answers no half of a question, nor does a list without what to leave out of it.
        is_search = said.act not in CHANGES and all(isinstance(each, RulesList) or each.ref for each in shown)
        return not is_search or bool(REVERSING & {bare(word) for each in unread for word in each.split()})
    is_asked = (said.question or said.act == "why" or said.segments) and len(said.people) == 1
    is_part = bool(said.part) and " " not in said.part
    return bool((said.rules and is_part) or (said.people and (is_part or len(said.people) > 1) and not is_asked))


def _is_card(shown: Sequence[Command]) -> bool:
    return bool(shown) and all(isinstance(each, CARDS) for each in shown)


RECORDS: Final = (RulesHistory, GatehouseAudit, GatehouseDigest)
CARDS: Final = (RulesShow, RulesWhich, RulesHistory, MembersShow, MembersWhy)
"""Commands that show all of one thing, or of each that is named."""


def find_impossible(said: Sentence) -> Impossible | None:
    """Return what a text asks for and can't be done; a word in quotes, or of a name that is known, asks for nothing."""
    spoken = ["" if word in said.named else word for word in said.asked]
    spoken = ["site" if word in said.known.sites else word for word in spoken]
    spoken = ["percent" if PERCENT.fullmatch(word) else "ip" if ADDRESS.fullmatch(word) else word for word in spoken]
    is_list = said.act not in CHANGES  # “make ben vip, but not on docs” compares nobody
    found = [each for each in IMPOSSIBLE.find(spoken) if is_list or not each[0].nearest.endswith(" list")]
    places = [place for told, some in found if told == found[0][0] for place in some]
    return replace(found[0][0], words=tuple(said.spoken[place] for place in places)) if found else None


PERCENT: Final = re.compile(r"\d+(?:[.,]\d+)?%")
ADDRESS: Final = re.compile(r"\d{1,3}(?:\.\d{1,3}){3}(?:/\d+)?")
"""An IP address, or a range of them."""


def _take_filters(said: Sentence) -> None:
    """Take what a list can be narrowed down by, with a “not” right before it; and prepositions of what is named."""
    is_of_rules = not said.is_about_members or not {"rule", "rules"}.isdisjoint(said.spoken)
    states = {*STATUSES} & {*said.spoken} if is_of_rules and not {"on", "off"} <= {*said.spoken} else frozenset()
    for at, word in enumerate(said.words):
        before, after = said.before(at), said.after(at)
        is_turned = not (REVERSING - {"only"}).isdisjoint(said.words[max(0, at - 3) : at])
        is_state = _is_state(said, at)
        is_mine = (
            word == "i" and before in {"did", "have"} and said.question and {"miss", "missed"}.isdisjoint(said.words)
        )
        is_type = is_of_rules and word in TYPES and ({word, after} & LISTED or TYPES[word] in {"Redirect", "Cancel"})
        if word in {"on", "by"} and after == "":
            said.take(at)
        elif word in states and (is_state or word not in {"on", "off", "live"} or after is None):
            if before in GOING | PRONOUNS or (is_turned and before not in NEGATIONS):  # “who turned it on”
                continue
            status = STATUSES[word] if before not in NEGATIONS else {"on": "off", "off": "on"}[STATUSES[word]]
            begins = at - (before in NEGATIONS | {"switched", "turned"} and is_state)
            _take_filter(said, "status", status, begins, at + 1)
        elif is_type and not is_turned and said.led != ["to"]:
            _take_filter(said, "type", type_word(TYPES[word]).casefold(), at, at + 1)
        elif (typed := FILTER.fullmatch(said.typed[at])) and (field := FILTERS.get(typed[1].lower())):
            _take_filter(said, field, typed[2].strip('"'), at, at + 1)
        elif MENTION.fullmatch(said.typed[at].strip(AFTER_ALL)):
            _take_filter(said, "who", said.typed[at].strip(AFTER_ALL), at - (before == "by"), at + 1)
        elif is_mine or word in {"my", "mine"} or (word == "me" and before == "by"):
            _take_filter(said, "who", "@me", at - (before == "by"), at + 1)


LISTS: Final = (RulesList, MembersList)
FILTERS: Final = {part.shown.partition(":")[0]: name for kind in LISTS for name, part in kind.parts().items()}
MENTION: Final = re.compile(r"<@[^<>]+>|@(?!gatehouse)[\w.-]+", re.IGNORECASE)
GOING: Final = word_set("go goes going went log sign include including")
"""Words before “on” and “live” that make something else of these."""


def _take_filter(said: Sentence, name: str, value: str, at: int, end: int) -> None:
    if name not in said.filters:
        said.filters[name] = (value, " ".join(said.typed[at:end]).strip(AFTER_ALL))
        said.take(at, end - at)


def _look_at(said: Sentence) -> Shown:
    """Return commands that show each thing that is named, or what is asked for; and the words of the text that they show.

    A part of a name, or a segment, may be said by the way: of “is the shop frozen”, the freezes are shown as well.
    """
    (things, words), (views, topics) = _show_things(said), _show_views(said)
    if said.segments and said.people and {"all", "everyone", "everybody"} & {*said.words}:
        things = [MembersList(segment=said.segments[0]), *things]  # “everyone with beta, except olga”
    if said.rules and RulesCheck() in views:
        return [RulesCheck(key) for mention in said.rules for key in mention], topics
    if things and (not views or not said.part or (" " in said.part and not (said.since and said.question == "what"))):
        return things, words
    is_list = bool(said.segments or said.lacking or said.act in {"export", "import"} or not views)
    lists, listed = _show_lists(said) if is_list and not things else (things, words)
    return [*views, *lists], topics | listed if lists else topics


Shown = tuple[list[Command], frozenset[str]]


LEADING: Final = word_set(
    "redirect redirects redirecting point points lead leads leading go goes going send sends sending land arrive arrives"
)
"""Words in a question about what has a URL as its destination."""


def _show_things(said: Sentence) -> Shown:
    is_led_to = len(said.urls) == 1 and ("there" in said.spoken or said.led[0] in {"to", "on", "at"})
    is_led_to = is_led_to and not said.rules and ("why" not in said.spoken or said.urls[0][0] == "/")
    if is_led_to and LEADING & {*said.words, said.verb}:
        return [RulesList(url=said.urls[0])], LEADING
    is_list = said.question != "why" and bool({*said.spoken} & {*LISTED, "everything", "anything", "whats", "what's"})
    asked = [url for url, led in zip(said.urls, said.led, strict=True) if said.question and led not in TO] or said.urls
    urls = [url for typed in asked for url in _with_host(typed, said)]
    urls = [url for url in urls if said.known.rules.find_url(url)] or urls
    asks_page = not {"where", "why"}.isdisjoint(said.spoken) and not is_list
    lists = [url for url in asked if not asks_page and not urlsplit(url).path]
    shown: list[Command] = [RulesList(url=url.removeprefix("https://")) for url in lists]
    shown = shown or [RulesWhich(url) for url in urls]
    if said.act in CHANGES:  # it may have to change
        shown = [*(RulesShow(key) for mention in said.rules for key in mention), *shown]
    names = {"", *(said.known.titles[key].casefold() for key in said.groups)}
    first = next((at for at, word in enumerate(said.spoken) if word in names), None)
    is_turned = not (REVERSING - {"only"}).isdisjoint(said.spoken[:first])  # “except those of a group”
    shown += [RulesList(group=said.known.titles[key]) for key in said.groups if not is_turned]
    is_when = said.question == "when" and {"until", "till", "does", "will"}.isdisjoint(said.spoken)
    asks = said.question or "who" in said.spoken
    past = PAST - {{"is": "done", "did": "did"}.get(said.question, "")}  # “is that done”, “did she pay”
    happened = said.act in {"history", "undo"} or is_when or bool(asks and past & {*said.words})
    searches = said.part and said.act in {"", "show"} and len(said.rules) == 1
    if searches := searches and (is_list or (len(said.rules[0]) > 1 and not said.question)):
        states = {"on" if rule.active else "off" for key in said.rules[0] if (rule := said.known.by_id.get(key))}
        if states.isdisjoint(said.filters.get("status", states)):
            del said.filters["status"]  # “no rules” would be no answer: each row tells its state
        shown.append(RulesList(said.part))
    else:
        is_past = happened or (said.act not in CHANGES and (said.since or said.question in {"was", "were", "had"}))
        of_rule: type[RulesHistory | RulesShow] = RulesHistory if is_past else RulesShow
        shown += [of_rule(key) for mention in said.rules for key in mention]
    words = PAST | {*STATUSES, *TYPES} if (said.rules and not searches) or said.urls else PAST | {"segments"}
    # Neither a list nor who has a segment says what was done.
    return [*shown, *_show_people(said, happened=happened)], frozenset() if lists or said.segments else words


def _show_people(said: Sentence, *, happened: bool) -> list[Command]:
    """Return why those who are named get in; who they are, or what was done to them, where that is asked."""
    segment = next(iter([*said.segments, *said.lacking]), None)
    people = [mention[0] for mention in said.people if len(mention) == 1]
    together = [tuple(people)] if len(people) == len(said.people) else [(key,) for each in said.people for key in each]
    if happened:
        return [GatehouseAudit(ref=email) for emails in together for email in emails]
    if said.act == "make" and not said.known.sites_of.keys() & {*people}:
        return [MembersAdd(email) for email in people]
    asks_who = said.act != "why" and (said.act or said.question in {"who", "who's", "what", "is"})
    return [
        MembersShow(emails) if asks_who and (not segment or said.act in CHANGES) else MembersWhy(emails, segment)
        for emails in together
        if emails
    ]


def _show_views(said: Sentence) -> Shown:
    """Return the view of each topic that is mentioned: what changed, what waits, what is wrong."""
    found = TOPICS.find(said.included)
    topics = {topic for topic, _ in found} | ({"freezes"} if said.act == "freeze" else set())
    words = {said.words[place] for _, places in found for place in places} | SEVERAL | {"or"}
    is_of_rights = said.act in CHANGES and said.question in {"may", "can", "am", "do", "why"}
    topics |= {"whoami"} if is_of_rights and ("i" in said.words or "who" in said.filters) else set()
    back = _look_back(said)
    happened = said.filters.get("who", ("@me",))[0] != "@me" or said.act == "history" or PAST & {*said.words}
    topics |= {"audit"} if happened or said.since or (back and said.question) else set()
    # “Temporary changes” are about one thing.
    topics -= {"audit"} if len(topics) > 1 and (not back or "digest" in topics) else set()
    topics -= {"pending"} if said.question == "who" or "whoami" in topics else set()  # “who can approve”
    if "help" in topics:
        return [GatehouseHelp()], frozenset(said.words)
    words |= {"did", "last", "latest"} if "audit" in topics else set()
    return [view() for view in VIEWS if view.verb in topics], frozenset(words)


def _look_back(said: Sentence) -> str | None:
    """Return since when a text asks what happened, in words that `GatehouseAudit` takes."""
    texts = [said.since, said.start and said.start.as_typed, *said.other_times]
    if said.start and said.start.end and (begins := said.start.wall):
        texts = [f"{begins.day} {begins.hour}:{begins.minute:02}"]
    for words in [text.replace("the weekend", "saturday").split() for text in texts if text]:
        since = " ".join(words[words[0] in {"since", "on", "at", "over"} :])
        if parse_since(since) and {"tomorrow", "next"}.isdisjoint(words):
            return since
    return None


VIEWS: Final[Sequence[type[Command]]] = (
    *(RulesCheck, MembersSegments, RulesGroups, GatehousePending, GatehousePlanned, GatehouseFreezes),
    *(GatehouseDigest, GatehouseAudit, GatehouseStatus, GatehouseWhoami),
)


def _show_lists(said: Sentence) -> Shown:
    """Return the list, or the file, of rules or members, where that is what a text asks for."""
    having, lacking = next(iter(said.segments), None), next(iter(said.lacking), None)
    if said.act == "export":
        return [MembersExport(segment=having) if said.is_about_members else RulesExport()], SEVERAL | {"list"}
    if said.act == "import":
        return [MembersImport() if said.is_about_members else RulesImport()], frozenset()
    if having or lacking:
        is_once = sum(word in LACKING - {"but"} for word in said.words) == 1  # “not without” isn't understood
        words = SEVERAL | LACKING if lacking and is_once else SEVERAL - {"both"}
        return [MembersList(segment=having, without_segment=lacking)], words
    if said.act not in {"", "show"} and not said.filters:
        return [], frozenset()
    if said.filters.keys() - {"who"} and not PRONOUNS & {*said.words}:
        return [RulesList()], word_set("all every ones only nothing else")
    if (said.act == "show" and said.is_about_members) or not MEMBERS.isdisjoint(said.words):
        return [MembersList()], SEVERAL
    return ([RulesList()], SEVERAL) if {"rules", "all"} & {*said.words} else ([], frozenset())
