"""Read text that isn't a command: what it names is taken out of it, then one verb; what is left over isn't understood.

A change is offered only where nothing is left over. Everything else is answered with what the text names. Nothing is run from
here: `runs_at_once` says which reading may be run without being shown first.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby, islice, pairwise, takewhile
from typing import Any, Final
from urllib.parse import urlsplit

from rapidfuzz import process
from rapidfuzz.distance import OSA

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
    GatehousePending,
    GatehousePlanned,
    GatehouseStatus,
    GatehouseUndo,
    GatehouseWhoami,
)
from handlers.grammar.command import FILTER, Command, Unclear
from handlers.grammar.fields import NUMBER, expand_rows, reason_in
from handlers.grammar.known import MAX_READINGS, Known, Names, word_set
from handlers.grammar.nearest import KINDS, WEIGHTS, rank_commands
from handlers.grammar.parser import LISTS, parse, refs_of
from handlers.grammar.time_fields import Expiry, Start, time_at, wish_in_reason
from handlers.grammar.tokens import WEB, Word, clean_text, split, strip_email, urls_typed
from handlers.grammar.vocabulary import (
    AFTER_ALL,
    ASKING,
    BEING,
    EXCEPT,
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
    SPARING,
    SPELLED,
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
    RulesList,
    RulesMake,
    RulesOff,
    RulesOn,
    RulesSet,
    RulesShow,
    RulesWhich,
    name_of_urls,
)
from handlers.rules.reasons import type_word
from handlers.rules.rule_refs import NotOne

MAX_WORDS: Final = 60
"""Nothing in a longer text is looked up, since names are searched for at each of its words."""
ENDING: Final = re.compile(r"(?<=\w{3})(?:ing|ed|es|s|e|d)$")
WEEKDAY: Final = re.compile(r"^(?:on )?(?=(?:mon|tues|wednes|thurs|fri|satur|sun)day)")
EMAIL: Final = re.compile(r"[^\s@<>]+@[^\s@<>.]+(?:\.[^\s@<>.]+)+")
BACK: Final = re.compile(
    r"(?i)\b(on|off|kill|disable|stop|pause)\b((?:(?!\b(?:because|since)\b|[?\"]).)*?)(?:,| and| then)(?: and| then| i'll| we'll"
    r"| turn| switch| put| it| them| comes| goes)* (?!(?:back )?\1)"
    r"(?:back (?:on|off)|(?:on|off) (?:again|back)) (?:on |at )?(?=in the |noon|midnight|tomorrow|tonight|(?:\w+day )?\d)"
)
"""What says when a switch is turned back: “off now and back on at 18:00”."""
EXPLAINING: Final = word_set("i i'm i've we we're we've she she's he he's they they're it it's its")
"""The first words of what explains a wish, in a clause of its own."""
NAME: Final = re.compile(r"(?=.{3})[^\W\d_]+(?:[-’'][^\W\d_]+)*")
ADDRESS: Final = re.compile(r"\d{1,3}(?:\.\d{1,3}){3}(?:/\d+)?")
HOST: Final = re.compile(r"(?:[a-z0-9-]+\.)+[a-z]{2,}(?::\d+)?(?:[/?#]\S*)?", re.IGNORECASE)
FILTERS: Final = {part.shown.partition(":")[0]: name for kind in LISTS for name, part in kind.parts().items()}
MENTION: Final = re.compile(r"<@[^<>]+>|@(?!gatehouse)[\w.-]+", re.IGNORECASE)
ALL: Final = (RulesList(), MembersList())
RECORDS: Final = (RulesHistory, GatehouseAudit, GatehouseDigest)
CARDS: Final = (RulesShow, RulesWhich, RulesHistory, MembersShow, MembersWhy)
"""Commands that show all of one thing, or of each that is named."""
VIEWS: Final[tuple[type[Command], ...]] = (
    *(RulesCheck, MembersSegments, RulesGroups, GatehousePending, GatehousePlanned, GatehouseFreezes),
    *(GatehouseDigest, GatehouseAudit, GatehouseStatus, GatehouseWhoami),
)
SURELY: Final = 0.4
"""How likely a view is at least that is answered at once, or of which no word was said: it has nothing that a text names."""


@dataclass(frozen=True, slots=True)
class Readings:
    """The commands that a text may mean; where words are left over (*unread*), none that changes anything."""

    commands: tuple[Command, ...] = ()
    unread: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    """The services and sites whose names could not be read in time."""
    impossible: Impossible | None = None
    """What the text asks for, or has a word of, and can't be done."""
    nothing: str = ""
    """Words of the text that look like a name, and that nothing known has."""
    is_guess: bool = False
    """Whether the commands may be about something else than the text, so that they are only offered."""
    nearest: tuple[Command, ...] = ()
    """What people mostly ask for in such words, where not all is understood; a form asks for what is missing or empty."""
    has_form: bool = False
    """Whether one of them is a change that is whole but for the unread words."""


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
    stranger: str = ""
    """Such a part with the words beside it that may belong to the name: of somebody else, then."""
    named: set[str] = field(default_factory=set)
    """The words that are parts of names."""
    spoken: list[str] = field(default_factory=list)
    """The words that are neither in quotes nor a whole name."""
    filters: dict[str, tuple[str, str]] = field(default_factory=dict)
    """What a list can be narrowed down by: for each field of commands, its value, and the words that say it."""
    groups: list[str] = field(default_factory=list)
    segments: list[str] = field(default_factory=list)
    lacking: list[str] = field(default_factory=list)
    site: str | None = None
    act: str = ""
    verb: str = ""
    question: str = ""
    chances: Mapping[type[Command], float] = field(default_factory=dict)
    """How likely it asks for each command: of those that are likely at all, the likeliest first."""

    def add(self, typed: str) -> None:
        self.typed.append(typed)
        self.words.append(spell(bare(typed), self.known))
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

    def text(self, run: range) -> str:
        """Return the words at *run* as they were typed."""
        return " ".join(self.typed[run.start : run.stop]).strip(AFTER_ALL)

    def may_name(self, at: int) -> bool:
        """Return whether there is a word at *at* that may belong to a name."""
        word = self.words[at] if 0 <= at < len(self.words) else ""
        return word not in NO_NAMES | {""} and bool(NAME.fullmatch(self.typed[at].strip(AFTER_ALL)))

    @property
    def kinds(self) -> str:
        """The kinds of things that are named, as `CHANGES` has them."""
        there = {"group": self.groups, "person": self.people, "rule": self.rules}
        there |= {"segment": self.segments, "lack": self.lacking}
        return " ".join([*(kind for kind, things in there.items() if things), *("url" for _ in self.urls)])

    @property
    def is_about_members(self) -> bool:
        has_word = MEMBERS & {*self.words} and {"rule", "rules"}.isdisjoint(self.words)
        return self.root == "members" or bool(self.people or self.segments or (has_word and self.root != "rules"))

    @property
    def included(self) -> list[str]:
        """The words before those that say what is to be left out."""
        return self.words[: next((at for at, word in enumerate(self.words) if word in EXCEPT), None)]

    @property
    def choices(self) -> list[tuple[str, ...]]:
        """The keys of all rules, or of all people, that are named; of a single unclear one, each of its keys, to choose from."""
        mentions = self.rules or self.people
        unclear = [mention for mention in mentions if len(mention) > 1]
        if not unclear or not (SEVERAL - {"both"}).isdisjoint(self.words):
            return [tuple(dict.fromkeys(key for mention in mentions for key in mention))] if mentions else []
        return [(key,) for key in unclear[0]] if len(mentions) == 1 else []

    def likeliest(self, *kinds: type[Command]) -> Any:
        """Return which of *kinds* it asks for, the first of them where that isn't known."""
        return max(kinds, key=lambda kind: self.chances.get(kind, 0))

    def find_left(self, idle: Collection[str]) -> list[str]:
        """Return the words left over that aren't *idle*, as they were typed; adjacent ones are joined."""
        pairs = groupby(zip(self.words, self.typed, strict=True), key=lambda pair: pair[0] in {"", ",", *idle})
        runs = (" ".join(typed for _, typed in run) for is_taken, run in pairs if not is_taken)
        return [text for run in runs if (text := run.strip(AFTER_ALL))]


def read(root: str, text: str, known: Known) -> Readings:
    """Return the commands that *text* after ``/root`` may mean, the likeliest first; none where it isn't understood.

    *root* is empty where none was given. Raises Unclear for a time that could mean several things, and for what lacks a rule.
    """
    if len(split(clean_text(text))) + text.count(",") > MAX_WORDS:
        return Readings()
    said = take_apart(root, text, known)
    changes = _find_changes(said)
    unread = _unread(said, changes, _idle_in_changes(said, changes))
    if not unread and not {type(each) for each in changes} <= {*KINDS} - said.chances.keys():
        return Readings(changes)
    readings, likeliest = _answer(said), next(iter(said.chances), Command)
    if likeliest.writes and not (readings.commands or readings.impossible or said.find_left(FILLERS | PRONOUNS)):
        parse(likeliest.service, likeliest.verb)  # which asks for what is missing
    if readings.commands and not (readings.unread or readings.is_guess):
        return readings
    nearest = tuple(_find_nearest(said, readings, changes))
    has_form = not said.stranger and not ({*changes} - {GatehouseUndo()}).isdisjoint(nearest)
    return replace(readings, unread=unread if has_form else readings.unread, nearest=nearest, has_form=has_form)


def clues_of(said: Sentence) -> frozenset[str]:
    """Return what tells which command a text asks for: its words, but no names, and marks for the kinds of what it has."""
    names = {*said.named, *said.known.sites, *map(str.casefold, (*said.segments, *said.lacking))}
    parts = ("expiry", "start", "since", "question", "because")
    is_new = not {key for mention in said.people for key in mention} <= said.known.sites_of.keys()
    marks = [f"/{said.root}", *said.kinds.split(), said.act, *(name for name in parts if getattr(said, name))]
    marks += ["new"] * is_new + ["several"] * (len(said.people or said.rules) > 1)
    words = [word for word in said.spoken if word.replace("'", "").isalpha() and word not in names]
    marks += [f"1 {word}" for word in words[:1]]
    return frozenset([*(ENDING.sub("", word) for word in words), *(f"<{mark}>" for mark in marks)])


def _find_nearest(said: Sentence, readings: Readings, changes: Sequence[Command]) -> list[Command]:
    """Return what else is asked for, where that is likelier than what is answered; with what is named, or as in *changes*."""
    there, answer = {*map(type, readings.commands)}, type(runs_at_once(readings))
    likelier = takewhile(lambda kind: kind is not answer, said.chances)
    others = (kind for kind in likelier if kind not in there and not (kind.writes and said.question in {"who", "when"}))
    topics = {topic for topic, at in TOPICS.find(said.included) if said.words[at[0]] in " ".join(readings.unread)}
    likely = dict.fromkeys([*islice(others, 3), *(view for view in VIEWS if view.verb in topics and view not in there)])
    made = [(RulesEdit if isinstance(each, RulesSet) else type(each), each) for each in changes]
    near = [one for kind in likely for one in [each for of, each in made if of is kind] or begin(said, kind)]
    left = [word for word in " ".join(readings.unread).split() if word.isalpha() and len(word) > MIN_PART]
    left = [word.casefold() for word in left if said.is_about_members or word.islower()]  # “what did Bob change”
    rare = [word for word in left if word not in SPELLED]
    rare.sort(key=lambda word: (word not in said.known.contents, ENDING.sub("", word) in WEIGHTS))
    word = _find_said(said) or (rare[0] if rare and {RulesList, MembersList} & {*said.chances} else "")
    search = [MembersList(word) if said.is_about_members else RulesList(word)] if word else []
    return [*(each for each in search if each not in readings.commands), *near[:4]]


def begin(said: Sentence, kind: type[Command]) -> list[Command]:
    """Return the command of *kind* with what the text has for it, for each of its choices; what it needs besides is empty."""
    named = said.choices or dict.fromkeys((key,) for mention in said.rules or said.people for key in mention)
    spared = (SPARING if SEVERAL & {*said.spoken} else SPARING - {"but"}) & {*said.spoken}  # “all but David”
    named = [()] if kind.writes and spared else [*named] or [()]
    return [*dict.fromkeys(_begin(said, kind, each) for each in named)]


def _begin(said: Sentence, kind: type[Command], keys: Collection[str]) -> Command:
    rules, people = (keys, ()) if said.rules else ((), keys)
    segments = said.segments if len(said.segments) < 2 or ("and" in said.spoken and len(said.people) < 2) else []
    named = {"refs": rules, "emails": people, "email": people, "segments": segments, "segment": segments}
    named |= {"source": said.urls, "destination": said.urls[1:], "url": [url for url in said.urls if "://" in url]}
    refs = keys if kind is GatehouseAudit else rules if kind is not RulesWhich else ()
    named |= {"ref": refs, "group": [said.known.titles[key] for key in said.groups]}
    named |= {"switch": [said.act] * (said.act in {"on", "off"}), "what": _find_frozen(said)}
    values: dict[str, Any] = {}
    for name, part in kind.parts().items():
        things = tuple(named.get(name, ()))
        if things or part.missing:
            values[name] = things if name in {"refs", "emails", "segments"} else next(iter(things), "")
    return _fill(said, kind(**values))


def runs_at_once(readings: Readings) -> Command | None:
    """Return the command that may be run without being shown first: the only reading, where it changes nothing."""
    if readings.missing or readings.is_guess or len(readings.commands) != 1:
        return None
    (command,) = readings.commands
    return None if command.writes else command


def says_better(error: Exception | None, readings: Readings) -> bool:
    """Whether *error*, on what a command lacks or what is like it, helps more than *readings* of the same text."""
    is_search = readings.commands and all(getattr(each, "text", "") for each in readings.commands)
    if readings.impossible or readings.has_form or not (readings.unread or is_search):
        return False
    if isinstance(error, NotOne):
        return bool(error.near or error.gap or is_search)
    has_card = any(isinstance(each, CARDS) for each in readings.commands)
    if isinstance(error, Unclear):
        is_asked = error.lacks == RulesMake.parts()["type"].missing and RulesWhich in map(type, readings.commands)
        is_asked |= any(kind.writes and kind.verb in readings.unread for kind in error.about)
        asks = readings.commands and any(kind.verb in ASKING for kind in error.about)
        return error.has_verb and not asks and (is_asked or not has_card)
    name = error.name if isinstance(error, BadEmail) else ""
    return not (name and (has_card or bare(name) in NO_NAMES))


# What a text names, the surest first.


def take_apart(root: str, text: str, known: Known) -> Sentence:
    """Return what *text* after ``/root`` names, and its other words."""
    said, words = Sentence(root, known), split(BACK.sub(r"\1\2 until ", clean_text(text)))
    left = _take_names(said, _take_reason(said, words))
    said.spoken = ["" if word.quoted else spell(bare(word.text), known) for word in left]
    for word in _take_times(said, left):
        said.add("," if not word.quoted and _take_form(said, word) else word.text)
    _take_question(said, is_asked=bool(words) and words[-1].text.endswith("?"))
    _take_verb(said)
    _take_segments(said)
    _take_parts(said)
    said.chances = rank_commands(clues_of(said))
    return said


def spell(word: str, known: Known) -> str:
    """Return *word*, or the only known one that it is with a letter more or less within it, or two swapped; not a short one."""
    there = (SPELLED, known.rules.by_word, known.segments, known.members.by_word, known.sites, known.contents)
    if len(word) <= MIN_PART + 1 or not word.isalpha() or any(word in each for each in there):
        return word
    names = [*known.rules.words, *known.segments]
    near = {each for each, *_ in process.extract(word, [*SPELLED, *names], scorer=OSA.distance, score_cutoff=1)}
    ends = word[0] + word[-1]  # “disabled” is another word than “disable”
    like = [
        each for each in near if each[0] + each[-1] == ends and (len(each) != len(word) or sorted(each) == sorted(word))
    ]
    return like[0] if len(like) == 1 and len(like[0]) > MIN_PART + 1 else word


def _take_reason(said: Sentence, words: Sequence[Word]) -> Sequence[Word]:
    """Take what follows a “because”, or a clause of its own that explains: one that names nothing that could be done."""
    because, known = word_set("because cause cuz bc coz since"), said.known
    names = {*known.segments, *known.sites, *known.members.words}
    wishes = names | word_set("should at back") | REVERSING | VERBS_OF.keys() - OFTEN_NOUNS  # “it comes back at 6”
    for at, word in enumerate(words[1:-1], 1):
        is_led = word.keyword in because
        rest, before = words[at + is_led :], {bare(each.text) for each in words[:at]}
        if is_led:
            is_reason = rest[0].keyword not in ASKING and parse_time([each.text for each in words], at) is None
        else:
            is_reason = words[at - 1].text[-1:] in {*",.;!?"} and word.keyword in EXPLAINING and not before <= IDLE
            is_reason = is_reason and wishes.isdisjoint(bare(each.text) for each in rest)
        if is_reason and words[-1].text[-1:] != "?":
            said.because = reason_in([replace(word, text="because"), *rest])
            return words[:at]
    return words


def _take_names(said: Sentence, words: Sequence[Word]) -> list[Word]:
    """Take whole names of several words, or in quotes, the longest first."""
    left: list[Word] = []
    lines = [fold_name(word.text) for word in words]
    at = 0
    while at < len(words):
        least = 1 if words[at].quoted else 2
        lengths = range(len(words) - at, least - 1, -1)
        length = next((n for n in lengths if _take_name(said, " ".join(lines[at : at + n]))), 0)
        left += [replace(words[at], text=",", quoted=False)] if length else [words[at]]
        at += max(length, 1)
    return left


def _take_name(said: Sentence, text: str) -> bool:
    name = text.rstrip(AFTER_ALL).removesuffix("'s")
    for names, mentions in ((said.known.rules, said.rules), (said.known.members, said.people)):
        if keys := names.find_exact(name) or names.find_exact(name.strip("()'")):
            mentions.append(keys)
            return True
    said.groups += (groups := said.known.groups.find_exact(name))
    return bool(groups)


def _take_times(said: Sentence, words: Sequence[Word]) -> list[Word]:
    left: list[Word] = []
    texts = ["" if word.quoted else "from" if word.keyword == "starting" else word.text for word in words]
    at, names = 0, " ".join(said.known.titles.values()).casefold()
    while at < len(words):
        pair = [*map(bare, texts[max(0, at - 1) : at + 1])]
        is_of_name = at and all(pair) and NO_NAMES.isdisjoint(pair) and " ".join(pair) in names
        time = None if is_of_name else time_at(texts, at)  # “black friday”
        if time is None or (time.kind is Kind.VAGUE and time.count == 1):  # “launch weekend”
            left.append(words[at])
        else:
            turned = {word.keyword for word in left} & {"turn", "switch", "put", "on", "off"}
            follows = {*texts[at + 1 : at + 2]} & {"from", "until", "for", "at"}
            is_on = turned in ({"turn"}, {"switch"}, {"put"}) or follows
            left += [words[at]] if is_on and texts[at] == "on" else []  # “turn it on friday”
            _note_time(said, time)
            if left and texts[at + time.count - 1].endswith(","):
                left[-1] = replace(left[-1], text=f"{left[-1].text},")
        at += time.count if time is not None else 1
    return left


def _note_time(said: Sentence, time: ParsedTime) -> None:
    text = time.text.rstrip(AFTER_ALL)
    if time.kind is Kind.SINCE and said.since is None:
        said.since = text
    elif said.expiry is None and (ends := Expiry.of(time)) is not None and not text.casefold().startswith("by "):
        said.expiry = ends
    elif said.start is None and "left" not in said.spoken and (starts := Start.of(time)) is not None:
        said.start = starts  # of nothing that is told: “she left on friday”
    else:
        said.other_times.append(text)


def _take_form(said: Sentence, word: Word) -> bool:
    """Take a URL, an email, a row or an id, which are known by their form; return whether *word* is one."""
    plain = word.text.rstrip(AFTER_ALL)
    is_web, people = bool(WEB.match(word.text)), said.known.members.find_exact(plain) if "." in plain else []
    is_host = HOST.fullmatch(plain) and not people and (said.root != "members" or "/" in plain)
    if is_web or is_host or (plain.startswith("/") and len(plain) > 1):
        urls = urls_typed(word.text) if is_web else [plain if plain.startswith("/") else f"https://{plain}"]
        said.led += [next((each for each in reversed(said.words) if each not in {"the", "our"}), "")] * len(urls)
        said.urls += urls
    elif people or EMAIL.fullmatch(strip_email(plain)):
        said.people.append(people or [strip_email(plain)])
    elif all(NUMBER.fullmatch(row) for row in expand_rows(plain)):
        (said.people if said.root == "members" else said.rules).extend([row] for row in expand_rows(plain))
    elif USUAL_RULE_ID.fullmatch(plain) and plain.partition("_")[0].casefold() in TYPES:
        said.rules.append([plain])
    else:
        return False
    return True


def _take_question(said: Sentence, *, is_asked: bool) -> None:
    """Note the word that makes a text a question: “can you …” makes none, and a complaint asks why."""
    led_in = (FILLERS - ASKING) | {"", ",", "since", "until"}  # “since when”
    first = next((at for at, word in enumerate(said.words) if word not in led_in), 0)
    after = said.words[first : first + 2]
    can, somebody = word_set("can could would will"), word_set("you u we someone somebody")
    asks = next((at for at, word in enumerate(said.words) if word in can and said.after(at) in somebody), None)
    if asks is not None and said.before(asks) not in ASKING:
        said.take(asks, 2)
    elif after and after[0] in ASKING and after != ["is", "now"]:
        said.question = after[0]
    elif re.search(r"\b(did|has|have) (some|any)(one|body)\b", " ".join(said.words)):
        said.question = "did"
    elif is_asked or not {"can't", "cant", "cannot", "couldn't", "unable"}.isdisjoint(said.words):
        said.question = "why"


def _take_verb(said: Sentence) -> None:
    """Take one verb. A word that is often a part of a name is one only at the beginning or at the end."""
    words = said.words
    places = [at for at, word in enumerate(words) if word not in FILLERS | {"", ","} or word in VERBS_OF]
    first, last = (places[0], places[-1]) if places else (len(words), -1)
    for at in range(len(words)):
        is_end = at == last or said.typed[at].endswith(",") or said.after(at) == ","
        may_be_noun = (at != first and not is_end) or (at > 0 and said.question not in {"", "can", "could"})
        is_no_verb = words[at] == "on" and at != first and said.after(at) in {"", "that", "this", "the", "our", "my"}
        if is_no_verb or (words[at] in STATUSES and _is_state(said, at)):
            continue
        act, places = VERBS_OF.find_at(words, at) or ("", [])
        if said.act and (act not in CHANGES or said.act != act or len(places) < 2):
            continue  # “he has left, remove him everywhere” has one verb twice
        if act and not (may_be_noun and len(places) == 1 and words[at] in OFTEN_NOUNS):
            said.act, said.verb = act, " ".join([said.verb, *(words[place] for place in places)]).strip()
            for place in places:
                said.take(place)


def _is_state(said: Sentence, at: int) -> bool:
    """Whether “on” or “off” at *at* says what something is: “that is off”, “are switched off”, “off rules”."""
    before, after = said.before(at - 1 if said.before(at) in {"switched", "turned"} else at), said.after(at)
    is_of_after = said.words[at] == "on" and after and after not in NO_NAMES  # “is on call”
    return (before in BEING and not is_of_after) or after in LISTED


def _take_segments(said: Sentence) -> None:
    """Take segments, those that somebody lacks, and the site after a preposition."""
    lacks, segments = False, said.known.segments
    for at, word in enumerate(word.strip("()") for word in said.words):
        name = segments.get(word) or (segments.get(word.removesuffix("s")) if len(word) > MIN_PART else None)
        here, others = (said.lacking, said.segments) if lacks else (said.segments, said.lacking)
        if name and said.typed[at][0] not in {*"-–−+"} and name not in others:
            here += [name] * (name not in here)
            said.take(at)
        elif word in said.known.sites and (said.is_about_members or {*said.words[max(0, at - 2) : at]} & SITES_AFTER):
            is_kept = said.site is not None and said.act in CHANGES  # the second of two sites: a question is about both
            is_more = not {"too", "also"}.isdisjoint(said.words[max(0, at - 4) : at + 2])  # “on docs too”
            said.site = said.site if is_kept else said.known.sites[word] if said.site is None and not is_more else ""
            said.words[at] = word if is_kept or is_more else ""
            near = slice(max(0, at - 2), at)
            said.words[near] = ["" if each in SITES_AFTER else each for each in said.words[near]]
        still = lacks and word in {*IDLE, "have", "has", "on", "in"}
        lacks = still or (word in LACKING and said.before(at) != "nothing")


def _take_parts(said: Sentence) -> None:
    """Take parts of names, the longest first, where no whole name was found; further ones of the same kind only after “and”."""
    for at, word in enumerate(said.words):
        find = said.known.groups.find_mentioned if said.after(at) == "group" else said.known.groups.find_exact
        if word and word not in NO_NAMES and (groups := find(word)):
            said.groups += groups
            said.take(at)
    is_whole = said.act not in {"redirect", "set", "move"}
    if (said.groups and said.act != "move") or said.act == "freeze" or (said.people and is_whole):
        return
    least = 2 if said.urls and is_whole else 1
    kinds: list[tuple[Names[Any], list[list[str]]]] = [
        (said.known.rules, said.rules),
        (said.known.members, said.people),
    ]
    if said.people or said.root == "members" or (said.act in {"grant", "revoke", "offboard"} and said.root != "rules"):
        kinds = kinds[:0:-1] if said.root == "members" else kinds[::-1]
    for names, mentions in kinds:
        while keys := _take_longest_part(said, names, is_first=len(mentions) < 1 + (said.act == "move"), least=least):
            mentions.append(keys)
        if mentions is said.rules and len(mentions) == 1 and "one" in said.words and said.act in CHANGES:
            left = {word for word in said.words if word not in NO_NAMES - TOPICS.keys() and len(word) > MIN_PART}
            others = [key for word in left & {*names.words} for key in names.find_mentioned(word)]
            mentions[0] = [*dict.fromkeys([*mentions[0], *others])][:MAX_READINGS]  # “the gift card one with the audit”
        if mentions:
            return
    said.groups += _take_longest_part(said, said.known.groups, is_first=True, least=least)


def _take_longest_part(said: Sentence, names: Names[Any], *, is_first: bool, least: int) -> list[str]:
    """Take the longest part of a name, of *least* words; return the keys that it may mean. A word after a comma names no rule."""
    is_all = names is said.known.members or (said.act in CHANGES and {*said.included} <= NO_NAMES | {""})
    words = said.words if is_all else said.included
    never = FILLERS | REVERSING | SEVERAL | {"", ","}
    for length in range(min(4, len(words)), least - 1, -1):
        joins = {"and", "off", "+", "&", *("," if said.part and (length > 1 or names is said.known.members) else "")}
        for at in range(len(words) - length + 1):
            some = said.words[at : at + length]
            text = " ".join(some).replace("-", " ")  # “gift-cards”
            is_common = {some[0], some[-1]} & never or TYPES.keys() | TOPICS.keys() | {"new", "old"} >= {*some}
            is_part = not names.find_exact(text)
            is_verb = some[0] in VERBS_OF and (not is_first or (length == 1 and is_part and said.after(at) != "rules"))
            is_short = len(text) < MIN_PART and is_part
            short = {word for word in some if len(word) < MIN_PART}  # “im new” is no image
            if is_common or is_verb or is_short or not (is_first or said.before(at) in joins):
                continue
            found = names.find_mentioned(text)
            if not found and text.removesuffix("s") in names.words and not said.known.groups.find_mentioned(text):
                found = names.find_mentioned(text := text.removesuffix("s"))  # “pauls access”
            found = [key for key in found if short <= {*said.known.titles.get(key, text).casefold().split()}]
            if 0 < len(keys := _nearest(said, found)) <= MAX_READINGS:
                begins, end = at - said.may_name(at - 1), at + length + said.may_name(at + length)
                if end - begins > length and (names is said.known.members or length == 1):
                    said.stranger = said.text(range(begins, end))  # “paul quist”, who left
                said.take(at, length)
                said.part = " ".join(some)
                said.named |= {*some}
                return keys
    return []


def _nearest(said: Sentence, keys: Sequence[str]) -> list[str]:
    """Return those of *keys* that are on the site of a change, or of a type, that is meant; all where none is."""
    site = said.site or (said.known.site if said.act in CHANGES.keys() - {"offboard"} else "")
    rules, types = said.known.by_id, {TYPES[word] for word in said.included if word in TYPES}
    there = [key for key in keys if site in said.known.sites_of.get(key, ())]
    there += [key for key in keys if key in rules and rules[key].rule_type in types]
    return there or [*keys]


# What is offered.

PLACES: Final[Mapping[str, frozenset[str]]] = {
    "rules": word_set("for from back instead to into at go goes open under everyone everybody new destination -> => →"),
    "members": word_set("to into on in as with new has email mail her his their"),
    "leaving": word_set("from out away off completely"),
    "gatehouse": word_set("to on any change changes last that it what just did"),
}
"""The small words that changes have a place for: those of each service, and those that take something away."""


def _find_changes(said: Sentence) -> tuple[Command, ...]:
    """Return the changes that *said* asks for, if it has no word that says more; none where it asks for none."""
    act = said.act or "grant" * (next(iter(said.chances), None) is MembersGrant)  # “anna vip for 7d”
    make = None if said.question else CHANGES.get(act, {}).get(said.kinds)
    changes = _read_back(said, make(said)) if make else ()
    # A change is of one site; “Hugo vip and Mona beta” gives neither both, and “remove gold from Ines” takes no member away.
    turns = {"from", "for", "instead", *ASKING} & {*said.words}
    is_unclear = len(said.segments) > 1 and bool(turns or len(said.people) > 1)
    is_unclear |= (act == "delete" and "from" in said.words) or not SPARING.isdisjoint(said.spoken)
    if len(changes) > MAX_READINGS or said.site == "" or is_unclear:
        return ()
    firsts = {said.known.titles.get(ref, "").casefold().partition(" ")[0] for each in changes for ref in refs_of(each)}
    in_names = {*map(VERBS_OF.get, firsts - {*said.part.split()})} if said.part and "off" not in said.verb else set()
    emails = [(email, each) for each in changes for email in each.emails if email.isprintable()]  # an odd one is told
    is_stranger = not said.known.missing and not all(_is_there(said, email, each) for email, each in emails)
    return () if is_stranger or (said.act in in_names and said.verb != "rename") else changes


def _is_there(said: Sentence, email: str, change: Command) -> bool:
    homes = {site for key in said.known.members.find_exact(email) for site in said.known.sites_of[key]}
    return (change.site or said.known.site) in homes if change.has("site") else bool(homes)


def _idle_in_changes(said: Sentence, changes: Sequence[Command]) -> set[str]:
    rules = [said.known.by_id.get(ref) for each in changes for ref in refs_of(each)]
    types = {rule.rule_type for rule in rules if rule} | {getattr(each, "type", None) for each in changes}
    idle = {*IDLE, *(word for word, kind in TYPES.items() if kind in types)}
    idle |= {word for rule in rules if rule and said.part for word in fold_name(rule.title).split()}
    for each in changes:
        idle |= PLACES[each.service] | ({"for"} if each.has("segments") else set())
        idle |= PLACES["leaving"] if isinstance(each, MembersRevoke | MembersRemove | MembersOffboard) else frozenset()
        idle |= SEVERAL | MEMBERS | {"rules"} if len(refs_of(each)) > 1 else frozenset()
        idle |= word_set("all any anything everything") if not (refs_of(each) or each == GatehouseUndo()) else set()
    idle |= {"everything", "on", "rules"} if said.urls and said.act in {"on", "off"} else set()
    return idle


def _read_back(said: Sentence, commands: Iterable[Command]) -> tuple[Command, ...]:
    """Return *commands* with what was said besides, as parsed from their own text: a button does what was shown. Those that
    can't be parsed are left out.
    """
    read: dict[Command, None] = {}
    for command in commands:
        try:
            again = parse(command.service, _fill(said, command).write())
        except (Unclear, ValueError):
            continue
        if type(again) is type(command):
            read[again] = None
    return tuple(read)


def _fill(said: Sentence, command: Command) -> Command:
    """Return *command* with the times, the reason, the site and the filters that were said."""
    is_timed = not (command.writes and (said.other_times or any(map(WEEKDAY.match, said.words))))  # no other day’s hour
    names = ("because", "site", *(("expiry", "start") if is_timed else ()))
    common = {name: value for name in names if (value := getattr(said, name))}
    past = "last " if {"did", "was", "were", "had"} & {*said.spoken} else "on "
    starts = WEEKDAY.sub(past, said.start.as_typed) if said.start and not said.expiry else None
    common |= {"at": said.since or starts}
    is_sorted = not {"recently", "recent", "newest", "latest", "oldest", "last"}.isdisjoint(said.spoken)
    common |= {"since": _look_back(said), "sort": "changed" if is_sorted else None}
    common |= {name: value for name, (value, _) in said.filters.items()}
    full = command.with_fields(**{name: value for name, value in common.items() if command.has(name)})
    homes = {site for email in full.emails for site in said.known.sites_of.get(email, ())}
    if full.writes and full.has("site") and not full.site and said.known.site not in homes and len(homes) == 1:
        return full.with_fields(site=homes.pop())
    return full


def _unread(said: Sentence, commands: Sequence[Command], idle: Collection[str]) -> tuple[str, ...]:
    """Return what none of *commands* accounts for, as it was typed."""
    is_past = any(getattr(each, "at", None) or isinstance(each, RECORDS) for each in commands)
    names = ("expiry", "because", "site", *(() if is_past and said.act not in CHANGES else ("start", "since")))
    unused = [
        getattr(value, "as_typed", value)
        for name in names
        if (value := getattr(said, name))
        and not any(getattr(each, name, None) or getattr(each, "what", "") == f"site:{value}" for each in commands)
    ]
    in_reasons = filter(None, (wish_in_reason(each) for each in commands if each.writes))
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


def _block(said: Sentence) -> list[Command]:
    """Return one block for each reach, of which the person chooses."""
    urls = _with_host(said.urls[0], said)
    reaches = (None, *REACHES) if len(urls) == 1 else (None,)
    reaches = reaches if urlsplit(said.urls[0]).path else reaches[::-1]  # a host is all of it, rather than one page
    return [RulesMake("Cancel", url, None, name_of_urls(url, None), reach) for url in urls for reach in reaches]


def _redirect(said: Sentence) -> list[Command]:
    """Return the change of each redirect that has the first of two URLs as its source, or a new one."""
    first, second = reversed(said.urls) if said.led[0] in TO else said.urls
    made: list[Command] = []
    beside = second if urlsplit(second).netloc in said.known.hosts[:1] else ""
    for source in _with_host(first, said, beside):
        (destination,) = _with_host(second, said, source)
        refs = said.known.rules.find_url(source) or said.known.rules.find_url(f"{source}/")
        found = (said.known.by_id[ref] for ref in refs)
        there = [rule.id for rule in found if rule.rule_type == "Redirect" and len(rule.pairs or ()) == 1]
        made += [RulesSet((ref,), (("destination", destination),)) for ref in there]
        if not there:
            reach = "below" if {"everything", "under"} & {*said.words} else None
            made.append(RulesMake("Redirect", source, destination, name_of_urls(source, destination), reach))
    return made


def _set(said: Sentence, name: str, values: Sequence[str]) -> list[Command]:
    return [RulesSet(refs, ((name, value),)) for refs in said.choices for value in values]


def _set_destination(said: Sentence) -> list[Command]:
    """Return the change of the destination of redirects, “instead of” the one that they have; others may take no URL there."""
    rules = [said.known.by_id[ref] for refs in said.choices for ref in refs if ref in said.known.by_id]
    pairs = [pair for rule in rules for pair in rule.pairs or ()]
    is_so = all(any((pair.destination or "").endswith(url) for pair in pairs) for url in said.urls[1:])
    if (
        said.led[0] not in TO | {"at"}
        or not is_so
        or any(rule.rule_type != "Redirect" or len(rule.pairs or ()) > 1 for rule in rules)
    ):
        return []  # “update sitemap.xml after the catalogue change”
    there = [url for pair in pairs[:1] for url in (pair.destination, pair.source and pair.source.value) if url]
    values = [url for beside in there or [""] for url in _with_host(said.urls[0], said, beside)]
    return _set(said, "destination", [*dict.fromkeys(values)])  # of two hosts, which one is asked


def _set_name(said: Sentence) -> list[Command]:
    """Return the change of the name of a rule; its form where the new one is missing."""
    at = said.words.index("to") if said.verb == "rename" and "to" in said.words else len(said.words)
    quoted = [each for each in said.typed[at + 1 : at + 2] if " " in each]
    is_open = {",", "and"} & {*said.words[at:]}  # a part was taken for a rule, or a second wish follows
    name = next(iter(quoted), "" if is_open else said.text(range(at + 1, len(said.words))))
    said.take(at, 2 if quoted else len(said.words) - at if name else 0)
    return _set(said, "name", [name]) if name else _of_one(RulesEdit)(said)


def _set_group(said: Sentence) -> list[Command]:
    is_into = {"out", "from"}.isdisjoint(said.words)
    return _set(said, "group", [said.known.titles[key] for key in said.groups if is_into and len(said.groups) == 1])


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
    here = () if said.verb.endswith(("offboard", "everywhere")) and everywhere else (MembersRemove,)
    return _of_all(*everywhere, *here)(said)


def _freeze(said: Sentence) -> list[Command]:
    """Return the freeze of the hosts or the group that is named, or of everything; none without an end."""
    named, has_end = _find_frozen(said), said.expiry or (said.start and said.start.end)
    return [GatehouseFreeze(" ".join(named), said.expiry)] if named and has_end else []


def _find_frozen(said: Sentence) -> list[str]:
    groups = [f"group:{said.known.titles[key]}" for key in said.groups[:1]]
    named = [urlsplit(url).netloc for url in said.urls] or groups or [f"segment:{each}" for each in said.segments]
    named = named or [f"site:{said.site}"] * bool(said.site)
    return named or ["everything"] * ("everything" in said.words)


Make = Callable[[Sentence], list[Command]]
Shown = tuple[list[Command], frozenset[str]]
CHANGES: Final[Mapping[str, Mapping[str, Make]]] = {
    "off": {"rule": _of_all(RulesOff), "url": _of_sources(RulesOff), "group": _of_groups},
    "on": {"rule": _of_all(RulesOn), "url": _of_sources(RulesOn), "group": _of_groups},
    "delete": {
        "rule": _of_all(RulesDelete),
        "person": _of_all(MembersRemove),
        "person segment": _of_segments(MembersRevoke),
    },
    "block": {"url": _block},
    "redirect": {"url url": _redirect, "rule url": _set_destination, "rule url url": _set_destination},
    "make": {"url url": _redirect, "person": _add, "person segment": _add},
    "set": {
        "rule": _set_name,
        "rule url": _set_destination,
        "url url": _redirect,
        "person": lambda said: _move(said) or _of_one(MembersEdit)(said),
    },
    "edit": {"rule": _of_one(RulesEdit), "person": _of_one(MembersEdit)},
    "copy": {"rule": _of_one(RulesCopy)},
    "move": {
        "person": _move,
        "url url": _redirect,
        "group rule": _set_group,
        "person segment": _of_segments(MembersGrant),
    },
    "grant": {"person segment": _of_segments(MembersGrant)},
    "revoke": {"person segment": _of_segments(MembersRevoke)},
    "offboard": {"person": _offboard},
    "freeze": dict.fromkeys(("url", "group", "segment", ""), _freeze),
    "undo": {"": lambda _: [GatehouseUndo()]},
}
"""For each verb, the kinds of things that it takes, and what it then makes of a sentence. What isn't here isn't offered."""


# What is shown.


def _answer(said: Sentence) -> Readings:
    """Return commands that show what a text names or asks about, or that search for what it may name."""
    _take_filters(said)
    commands, words = _look_at(said)
    name, is_of_members = _find_said(said), said.is_about_members
    if name and not said.kinds and {*commands} <= {*ALL}:
        search = MembersList(name) if is_of_members else RulesList(name)
        commands, words = [search, *_show_views(said)[0]], frozenset(map(bare, name.split()))
    shown = _read_back(said, commands)[:MAX_READINGS]
    unread = _find_unread(said, shown, words)
    impossible = find_impossible(said) if unread or len(shown) != 1 or len(said.segments) > 1 else None
    if said.site == "" and not said.people and said.is_about_members:
        impossible = impossible or IMPOSSIBLE["not_on_site"]
    asks_may = unread and GatehouseWhoami() in shown and not said.kinds
    if asks_may and not re.search(r"\b(can|may|am|are|do|could) (i|we)\b|\b(i|we) can\b", " ".join(said.spoken)):
        impossible = impossible or IMPOSSIBLE["who_may"]
    if impossible and not (_is_card(shown) and said.act not in CHANGES and said.question not in {"can", "could"}):
        shown = tuple(each for each in shown if each not in ALL)
        if impossible.nearest:
            shown = tuple(dict.fromkeys([*shown, parse(*impossible.nearest.split(" ", 1))]))
        rest = _find_unread(said, shown, words | {*impossible.words})
        unread = tuple(each for each in rest if each not in {*impossible.words, said.verb})
        return Readings(shown, unread, impossible=impossible, is_guess=True)
    is_guess, nothing = _is_guess(said, shown, unread), said.stranger
    unread = tuple(each for each in unread if not {*each.split()} <= {*nothing.split()})
    return Readings(shown, unread, impossible=impossible, is_guess=is_guess, nothing=nothing)


def _find_said(said: Sentence) -> str:
    """Return what may be searched for: two words left over that look like a name of a person, or the word that fewest rules say,
    or have in their names; none that many do.
    """
    left = [word if word not in NO_NAMES and len(word) >= MIN_PART else "" for word in said.words]
    if said.is_about_members:
        named = [each if word and each.istitle() else "" for word, each in zip(left, said.typed, strict=True)]
        return next((f"{first} {last}".strip(AFTER_ALL) for first, last in pairwise(named) if first and last), "")
    there = [word for word in left if word and word in said.known.contents and (said.stranger or not said.rules)]
    found = {word: len(re.findall(rf"(?<!\w){re.escape(word)}", said.known.contents)) for word in there}
    few = (word for word in there if 0 < found[word] <= MAX_READINGS)
    return min(few, key=lambda word: (found[word], word.isalpha()), default="")


def _find_unread(said: Sentence, shown: Sequence[Command], words: frozenset[str]) -> tuple[str, ...]:
    """Return what *shown* and *words* don't account for: a verb of a change, filters that aren't there, and what is left over."""
    is_card = _is_card(shown)
    is_wish = said.act in CHANGES and not said.question  # “switch it on and tell the customers”
    idle = (
        (IDLE | SITES_AFTER if is_wish else FILLERS) - PRONOUNS - REVERSING - (frozenset() if is_card else SAYING)
    ) | words
    is_past = any(isinstance(each, RECORDS) for each in shown)
    idle |= {"until", *({"since"} if is_past else ()), *(NEGATIONS if is_card else ())} if said.question else set()
    idle -= set() if is_past else {"when", "why", "each", "just", *({"who"} if is_card else ())} - {said.question}
    idle -= {"who"} if all(each.service == "rules" for each in shown) and not is_past else set()
    no_reasons = {"why"} if {RulesList, MembersList, RulesShow} & {*map(type, shown)} else set()
    looks = LOOKING - (set() if is_past else {"history"}) - no_reasons
    is_told = said.act not in {"", *looks} and not (said.question and said.verb in TYPES)
    has = {"status", "type", "who"} if is_card else set()
    has |= {name for name in said.filters if any(getattr(each, name, None) for each in shown)}
    filters = [typed for name, (_, typed) in said.filters.items() if name not in has]
    used = {getattr(each, name, None) for each in shown for name in ("segment", "without_segment")}
    more = [name for name in said.segments if name not in used]
    more += [f"not {name}" for name in said.lacking if name not in used]
    told = [*([said.verb] if is_told else []), *filters, *more]
    return tuple(dict.fromkeys([*told, *_unread(said, shown, idle)]))


def _is_guess(said: Sentence, shown: Sequence[Command], unread: Sequence[str]) -> bool:
    """Whether *shown* may be about something else than the text, of which *unread* is not understood."""
    is_stranger = said.stranger and (said.people or _is_card(shown))
    if any({said.root, each.service} == {"rules", "members"} for each in shown) or is_stranger:
        return True
    if unread and ((said.rules and said.part and " " not in said.part) or len(said.people) > 1):
        return True
    if _is_card(shown) or (len(shown) != 1 and not unread):
        return False
    least = 0.9 if unread else SURELY if isinstance(shown[0], VIEWS) else 0.1
    is_of_one = not unread and any(getattr(shown[0], name, None) for name in ("ref", "text"))
    is_likely = len(shown) == 1 and (is_of_one or said.chances.get(type(shown[0]), 0) >= least)
    return not is_likely or bool(unread and shown[0] in ALL)


def _is_card(shown: Sequence[Command]) -> bool:
    return bool(shown) and all(isinstance(each, CARDS) for each in shown)


def find_impossible(said: Sentence) -> Impossible | None:
    """Return what a text asks for and can't be done; a word in quotes, or of a name that is known, asks for nothing."""
    spoken = ["" if word in said.named else word for word in said.spoken]
    spoken = ["ip" if ADDRESS.fullmatch(word) else "percent" if word[-1:] == "%" else word for word in spoken]
    if said.people and (said.act == "block" or said.verb == "suspend"):
        return Impossible("A member can’t be blocked: revoke access, or remove the member.", "", (said.verb,))
    found = IMPOSSIBLE.find(spoken)
    is_given = not said.question and (said.act in CHANGES or not {"get", "gets", "into"}.isdisjoint(spoken))
    if len(said.segments) > 1 and not said.people and (is_given or not found):
        told = Impossible("A list shows members of one site, with one segment and without another.", "")
        return IMPOSSIBLE["give…everyone"] if is_given else told
    places = [place for told, some in found if told == found[0][0] for place in some]
    return replace(found[0][0], words=tuple(said.spoken[place] for place in places)) if found else None


def _take_filters(said: Sentence) -> None:
    """Take what a list can be narrowed down by, with a “not” right before it; and prepositions of what is named."""
    is_of_rules = not said.is_about_members or not {"rule", "rules"}.isdisjoint(said.spoken)
    others = PRONOUNS | word_set("go goes going went log sign")
    turning = (REVERSING | EXCEPT | word_set("incl include includes including even")) - {"only"}
    states = {*STATUSES} & {*said.spoken} if is_of_rules and not {"on", "off"} <= {*said.spoken} else frozenset()
    for at, word in enumerate(said.words):
        before, after = said.before(at), said.after(at)
        is_turned = not turning.isdisjoint(said.words[max(0, at - 5) : at])
        is_state = _is_state(said, at)
        is_mine = word == "i" and before in {"did", "have"} and said.question and after not in {"miss", "missed"}
        is_type = is_of_rules and word in TYPES and ({*said.spoken} & LISTED or TYPES[word] in {"Redirect", "Cancel"})
        if word in {"on", "by"} and after == "":
            said.take(at)
        elif word in states and (is_state or word not in {"on", "off", "live"} or after is None):
            if before in others or (is_turned and before not in NEGATIONS):  # “who turned it on”
                continue
            status = STATUSES[word] if before not in NEGATIONS else {"on": "off", "off": "on"}[STATUSES[word]]
            begins = at - (before in NEGATIONS | {"switched", "turned"} and is_state)
            _take_filter(said, "status", status, begins, at + 1)
        elif is_type and not is_turned and said.words[max(0, at - 2) : at] != ["too", "many"] and said.led != ["to"]:
            _take_filter(said, "type", type_word(TYPES[word]).casefold(), at, at + 1)
        elif (typed := FILTER.fullmatch(said.typed[at])) and (field := FILTERS.get(typed[1].lower())):
            _take_filter(said, field, typed[2].strip('"'), at, at + 1)
        elif MENTION.fullmatch(said.typed[at].strip(AFTER_ALL)):
            _take_filter(said, "who", said.typed[at].strip(AFTER_ALL), at - (before == "by"), at + 1)
        elif is_mine or word == "mine" or (word == "my" and after in {*TOPICS, "own"}) or f"{before} {word}" == "by me":
            _take_filter(said, "who", "@me", at - (before == "by"), at + 1)


def _take_filter(said: Sentence, name: str, value: str, at: int, end: int) -> None:
    if name not in said.filters:
        said.filters[name] = (value, " ".join(said.typed[at:end]).strip(AFTER_ALL))
        said.take(at, end - at)


def _look_at(said: Sentence) -> Shown:
    """Return commands that show each thing that is named, or what is asked for; and the words of the text that they show."""
    (things, words), (views, topics) = _show_things(said), _show_views(said)
    if things and not (views and said.part and said.likeliest(*map(type, [*things, *views])) in map(type, views)):
        return things, words
    is_filtered = said.filters.keys() - {"who"}
    is_list = said.segments or said.lacking or said.act == "export" or is_filtered or not views
    lists, listed = _show_lists(said) if is_list and not things else (things, words)
    return [*views, *lists], topics | listed if lists else topics


def _show_things(said: Sentence) -> Shown:
    is_list = "why" not in said.spoken and bool({*said.spoken} & {*LISTED, "everything", "anything", "whats", "what's"})
    is_led_to = said.led == ["to"] or (said.led == ["at"] and {"point", "points", "pointing"} & {*said.spoken})
    is_source = is_list or (said.urls and said.urls[0][0] == "/") or not {"which", "redirects"}.isdisjoint(said.spoken)
    if is_led_to and is_source and not said.rules:
        return [RulesList(url=said.urls[0])], frozenset(TYPES) | {"send", "sends"}
    there = [_with_host(typed, said) for typed in said.urls]
    urls = [url for hosts in there for url in [*filter(said.known.rules.find_url, hosts)] or hosts]
    asks_page = not {"where", "why"}.isdisjoint(said.spoken) and not is_list
    lists = [url for url in said.urls if not asks_page and not urlsplit(url).path]
    shown: list[Command] = [RulesList(url=url.removeprefix("https://")) for url in lists]
    shown = shown or [RulesWhich(url) for url in urls]
    shown += [RulesList(group=said.known.titles[key]) for key in said.groups]
    searches = said.part and said.act in {"", "show"} and len(said.rules) == 1
    if searches := searches and (is_list or (len(said.rules[0]) > 1 and not said.question)):
        shown.append(RulesList(said.part))
    else:
        of_rule = RulesHistory if said.since and said.act not in CHANGES else said.likeliest(RulesShow, RulesHistory)
        shown += [of_rule(key) for mention in said.rules for key in mention]
    shown.sort(key=lambda each: isinstance(each, RulesWhich))  # a path may be one of many hosts
    is_shown = (said.rules and not searches) or said.urls
    words = PAST | ({*TYPES, *(STATUSES if said.question else ())} if is_shown else {"segments"})
    # Neither a list nor who has a segment says what was done.
    return [*shown, *_show_people(said)], frozenset() if lists or searches or said.segments else words


def _show_people(said: Sentence) -> list[Command]:
    """Return why those who are named get in; who they are, or what was done to them, where that is likelier."""
    segment = next(iter([*said.segments, *said.lacking]), None)
    people = [mention[0] for mention in said.people if len(mention) == 1]
    together = [tuple(people)] if len(people) == len(said.people) else [(key,) for each in said.people for key in each]
    kind = said.likeliest(MembersShow, MembersWhy, GatehouseAudit)
    if kind is GatehouseAudit:
        return [GatehouseAudit(ref=email) for emails in together for email in emails]
    homes = (home for email in people for home in said.known.sites_of.get(email, ()))
    is_one = said.site or said.act in CHANGES or {*homes} <= {said.known.site}  # or all sites are looked at
    is_card = kind is MembersShow and is_one and said.site != "" and "sites" not in said.words
    return [
        MembersShow(emails) if is_card and (not segment or said.act in CHANGES) else MembersWhy(emails, segment)
        for emails in together
        if emails
    ]


def _show_views(said: Sentence) -> Shown:
    """Return the view of each topic that is mentioned: what changed, what waits, what is wrong."""
    found = TOPICS.find(said.included)
    topics = {topic for topic, _ in found} | ({"freezes"} if said.act == "freeze" else set())
    views = [view() for view in VIEWS if said.chances.get(view, 0) >= (0.1 if view.verb in topics else SURELY)]
    shown = {view.verb for view in views}
    words = {said.words[place] for topic, places in found if topic in shown for place in places}
    return views, SEVERAL | words


def _look_back(said: Sentence) -> str | None:
    """Return since when a text asks what happened, in words that `GatehouseAudit` takes."""
    texts = [said.since, said.start and said.start.as_typed, *said.other_times] * ("between" not in said.words)
    for words in [text.replace("the weekend", "saturday").split() for text in texts if text]:
        since = " ".join(words[words[0] in {"since", "on", "at", "over"} :])
        if parse_since(since) and {"tomorrow", "next"}.isdisjoint(words):
            return since
    return None


def _show_lists(said: Sentence) -> Shown:
    """Return the list, or the file, of rules or members, where that is what a text asks for."""
    having, lacking = next(iter(said.segments), None), next(iter(said.lacking), None)
    if said.act == "export":
        return [MembersExport(None, having, lacking) if said.is_about_members else RulesExport()], SEVERAL | {"list"}
    sites = [*said.known.sites.values()] if said.site == "" or "sites" in said.words else [None]
    if having or lacking:
        is_once = sum(word in LACKING - {"but"} for word in said.words) == 1  # “not without” isn't understood
        words = SEVERAL | LACKING if lacking and is_once else SEVERAL - {"both"}
        lists = [MembersList(segment=each, without_segment=lacking) for each in said.segments or (None,)]
        return [replace(each, site=site) for each in lists for site in sites], words | {"both", "sites"}
    if said.filters.keys() - {"who"}:
        is_of_members = said.is_about_members and said.filters.keys() <= MembersList.parts().keys()
        return [MembersList() if is_of_members else RulesList()], word_set("all every ones only nothing else")
    if said.is_about_members and (said.act == "show" or not MEMBERS.isdisjoint(said.words)):
        return [MembersList(site=site) for site in sites], SEVERAL
    is_of_rules = "rules" in said.words or ("all" in said.words and (said.root == "rules" or said.question != ""))
    return ([RulesList()], SEVERAL) if is_of_rules else ([], frozenset())
