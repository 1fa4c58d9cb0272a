"""What people say, each sentence with what it means, and what Gatehouse makes of it: ``make corpus``.

A file of `CORPUS` has sentences of one kind of speaker or several, written by people who had not seen the reader:

    says = "pls turn of old shop, its looping"      # as it is typed
    in = "/rules"                                   # after which command, or in a mention: @Gatehouse
    by = "on a phone"
    means = ["/rules off Redirect_x1old"]           # exact commands: each of them would be right; none where there is none
    about = ["Redirect_x1old"]                      # what it names
    tells = ["its looping"]                         # what an answer must name where it can't be done as it was said

Three of ten sentences are held out, by their text: no code is written for them. Of a file with ``is_seen`` none is.
"""

from __future__ import annotations

import hashlib
import re
import sys
import tomllib
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, datetime
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Final
from zoneinfo import ZoneInfo

from bot.members.model import Member
from bot.rules.model import Rule
from bot.rules.pair_fields import KNOWN_TYPES
from bot.text.names import Meant, named_rule, resolve_name
from bot.text.times import moment_since, parse_since
from handlers.changes.requests import resolve_moment
from handlers.gatehouse.commands import GatehouseHelp, GatehouseUndo, GatehouseWhoami
from handlers.grammar.command import Command, Unclear
from handlers.grammar.known import Known
from handlers.grammar.parser import parse, parse_mention
from handlers.grammar.readings import CARDS, read, runs_at_once, says_better
from handlers.grammar.time_fields import Expiry, Start
from handlers.grammar.tokens import escape_entities
from handlers.members.commands import MembersList
from handlers.rules.commands import RulesList
from handlers.rules.reasons import type_word
from sandbox.services.seed import GROUPS, RULES, members

CORPUS: Final = Path(__file__).parent.parent / "handlers" / "grammar" / "corpus"
REFERENCE: Final = re.compile(r"(?=.*\d)[0-9a-f]{6,32}")
SHOWN_BY: Final = frozenset({"refs", "emails", "source", "destination", "url", "others"})
"""Fields of a command that name what it shows or changes."""
HELD_OUT: Final = 3
"""Of ten."""
NOW: Final = datetime(2026, 11, 23, 10, tzinfo=UTC)
SAID_ELSEWHERE: Final = frozenset({"because", "name", "as_typed", "page", "sort", "start", "expiry", "at"})
"""Fields in which right readings may differ, and those of `_time_fields`."""


class Verdict(StrEnum):
    """How a sentence was answered."""

    UNDERSTOOD = "understood"
    ASKED = "well asked"
    MISSED = "missed"
    """Refused, or asked without what it is about."""
    WRONG = "wrong"
    """Another question was answered."""
    HARMFUL = "harmful"
    """A button, or no button at all, for a change that nobody asked for."""


GOOD: Final = frozenset({Verdict.UNDERSTOOD, Verdict.ASKED})


@dataclass(frozen=True, slots=True)
class Sentence:
    says: str
    where: str
    by: str
    means: tuple[str, ...]
    about: tuple[str, ...] = ()
    tells: tuple[str, ...] = ()
    is_seen: bool = False
    """Whether all of its file was read by those who work with it."""

    @property
    def is_held_out(self) -> bool:
        return not self.is_seen and hashlib.sha256(f"{self.where} {self.says}".encode()).digest()[0] % 10 < HELD_OUT


@dataclass(frozen=True, slots=True)
class Answer:
    """What a sentence comes to: what is done or answered at once, what is offered, what is told as unread."""

    at_once: tuple[Command, ...] = ()
    offered: tuple[Command, ...] = ()
    told: tuple[str, ...] = ()
    nearest: tuple[Command, ...] = field(default=(), compare=False)
    forms: tuple[Command, ...] = ()


@cache
def sentences() -> tuple[Sentence, ...]:
    """Every sentence of the corpus."""
    return tuple(_sentences())


def _sentences() -> Iterator[Sentence]:
    for path in sorted(CORPUS.glob("*.toml")):
        file = tomllib.loads(path.read_text("utf-8"))
        for one in file["sentence"]:
            lists = {name: tuple(one.get(name, ())) for name in ("means", "about", "tells")}
            yield Sentence(one["says"], one["in"], one["by"], **lists, is_seen=file.get("is_seen", False))


THE_RULES: Final = tuple(Rule.model_validate(each) for each in RULES)
PEOPLE: Final = {
    site: [Member.model_validate(each) for each in members(key)]
    for site, key in (("blog", "site_1"), ("docs", "site_2"))
}
KNOWN: Final = replace(
    Known.of(
        rules=THE_RULES,
        groups={key: name for key, name, _ in GROUPS},
        members=PEOPLE,
    ),
    hosts=["shop.example.com"],
    site="blog",
)


def answer_to(sentence: Sentence) -> Answer:
    """What Gatehouse makes of *sentence*, with the sample data."""
    root = "" if sentence.where.startswith("@") else sentence.where.removeprefix("/")
    text = escape_entities(sentence.says)  # as Slack sends it
    try:
        command = parse(root, text) if root else parse_mention(text)
        if _is_clear(command):
            return Answer(at_once=(command,))
        error = None
    except Unclear as unclear:
        error = unclear
    try:
        readings = read(root, text, KNOWN)
    except Unclear as unclear:
        return Answer(told=(unclear.what,))
    if error is not None and says_better(error, readings):
        return Answer(told=(error.what,))
    no = readings.impossible
    told = (*readings.unread, readings.nothing, *((" ".join(no.words), no.says) if no else ()))
    told, forms = tuple(filter(None, told)), tuple(each for each in readings.nearest if each.has("because"))
    if (alone := runs_at_once(readings)) is not None:
        searched = filter(
            None, [getattr(alone, "text", None)]
        )  # the list says so above its rows, and where it has none
        return Answer(at_once=(alone,), nearest=readings.nearest, forms=forms, told=(*told, *searched))
    return Answer(offered=readings.commands, nearest=readings.nearest, forms=forms, told=told)


def _is_clear(command: Command) -> bool:
    """Whether each thing that *command* names is one that there is, so that it is carried out as it was typed."""
    refs = [*getattr(command, "refs", ()), *filter(None, [getattr(command, "ref", None)])]
    for ref in refs:
        found = _match_rules(ref)
        if len(found.things) != 1 or (command.writes and not found.is_sure):
            return False
    emails = [*getattr(command, "emails", ()), *filter(None, [getattr(command, "email", None)])]
    segments = [*getattr(command, "segments", ()), *filter(None, [getattr(command, "segment", None)])]
    if any("@" not in email for email in emails) or any(each.casefold() not in KNOWN.segments for each in segments):
        return False
    if (group := getattr(command, "group", None)) and not KNOWN.groups.find_mentioned(group):
        return False
    if isinstance(command, GatehouseUndo) and command.change and not REFERENCE.fullmatch(command.change):
        return False
    text = getattr(command, "text", None)
    return not text or bool(KNOWN.rules.find_mentioned(text) or KNOWN.members.find_mentioned(text))


def verdict(sentence: Sentence, answer: Answer) -> Verdict:
    """How good *answer* is."""
    means = {normal_form(parse_exact(one)) for one in sentence.means}
    about = {_normal_name(each) for each in sentence.about}
    said = [*answer.at_once, *answer.offered]
    if any(one.writes and normal_form(one) not in means for one in said) and not _asks_which(answer, about):
        return Verdict.HARMFUL
    if means & {normal_form(one) for one in said}:
        return Verdict.UNDERSTOOD
    shown = {_normal_name(each) for one in said for each in _named_things(one)}
    told = {*re.split(r"\W+", " ".join(answer.told).casefold())}
    is_shown = bool(about) and about <= shown
    if answer.at_once and _is_about_another(sentence, answer, means):
        return Verdict.WRONG
    is_told = bool(sentence.tells) and all(told & {*re.split(r"\W+", each.casefold())} for each in sentence.tells)
    if not sentence.means:
        return Verdict.ASKED if is_told or (is_shown and (answer.told or len(said) > 1)) else Verdict.MISSED
    if (is_shown or means & {normal_form(one) for one in answer.nearest}) and not any(
        one.writes for one in answer.at_once
    ):
        return Verdict.ASKED
    answers_another = answer.at_once and not answer.told and not isinstance(answer.at_once[0], GatehouseHelp)
    return Verdict.WRONG if answers_another else Verdict.MISSED


def _is_about_another(sentence: Sentence, answer: Answer, means: Collection[object]) -> bool:
    """Whether what was not meant is answered at once: a list or a view under no word on what wasn't understood, or other things
    than those that the sentence names.
    """
    (said,) = answer.at_once
    if normal_form(said) in means or isinstance(said, GatehouseHelp):
        return False
    named = {_normal_name(each) for one in sentence.means for each in _named_things(parse_exact(one))}
    things = {_normal_name(each) for each in _named_things(said) if not each.startswith("site:")}
    shown = {each for each in things if each not in sentence.says.casefold()}
    is_card = isinstance(said, CARDS)
    return (not is_card and not answer.told) or (is_card and not shown <= named | {*map(_normal_name, sentence.about)})


def _asks_which(answer: Answer, about: Collection[str]) -> bool:
    """Whether the answer is a question: which one of the things that the sentence names, each with its own button?"""
    things = [
        {_normal_name(each) for each in _named_things(one) if not each.startswith("site:")} for one in answer.offered
    ]
    kinds = {type(one) for one in answer.offered}
    is_a_choice = len(things) > 1 == len(kinds) and not answer.at_once
    return is_a_choice and all(len(one) == 1 and one <= {*about} for one in things)


def _normal_name(text: str) -> str:
    return text.casefold().partition("://")[2].rstrip("/") or text.casefold().rstrip("/")


def parse_exact(text: str) -> Command:
    """The command that *text* is; the name of a rule that is made may be left out."""
    root, _, rest = text.removeprefix("/").partition(" ")
    what, because, reason = rest.partition(" because ")
    named = ' named "any"' if what.startswith("make ") and " named " not in what else ""
    return parse(root, what + named + because + reason)


def _named_things(command: Command) -> list[str]:
    """The ids, emails and URLs that *command* names; of a list, those that it has."""
    match command:
        case RulesList():
            kinds = [each for each in KNOWN_TYPES if type_word(each).casefold() == (command.type or "").casefold()]
            active = None if command.status is None else command.status == "on"
            listed = [
                rule.id
                for rule in THE_RULES
                if (not kinds or rule.rule_type in kinds) and (active is None or rule.active is active)
            ]
            texts = [each for each in (command.text, command.url) if each]
            group = KNOWN.groups.find_mentioned(command.group) if command.group else None
            return [*(group or ()), *filter(None, [command.url])] + [
                rule.id
                for rule in THE_RULES
                if rule.id in listed
                and (group is None or rule.group_id in group)
                and all(each.casefold() in str(rule.model_dump()).casefold() for each in texts)
            ]
        case MembersList():
            listed = [
                member.email
                for member in PEOPLE[command.site or KNOWN.site]
                if (not command.segment or command.segment in (member.segments or ()))
                and command.without_segment not in (member.segments or ())
            ]
            return [each for each in listed if not command.text or each in KNOWN.members.find_mentioned(command.text)]
        case _:
            pass
    named = [each for name, value in _command_fields(command) if name in SHOWN_BY for each in value]
    return [*named, f"site:{getattr(command, 'site', None) or KNOWN.site}"]


def normal_form(command: Command) -> tuple[object, ...]:
    """Return *command* as what it comes to: the same for two ways to say one thing."""
    if isinstance(command, GatehouseWhoami) and command.who == "@me":
        command = GatehouseWhoami()
    return (type(command), *(pair for pair in _command_fields(command) if pair[1]), *_time_fields(command))


def _command_fields(command: Command) -> Iterator[tuple[str, tuple[str, ...]]]:
    for each in fields(command):
        if not each.compare or each.name in SAID_ELSEWHERE:
            continue
        value = getattr(command, each.name)
        match each.name:
            case "refs" | "ref":
                refs = value if isinstance(value, tuple) else [value or ""]
                yield "refs", tuple(sorted(found for ref in refs for found in _rule_ids(ref)))
            case "emails" | "email":
                emails = value if isinstance(value, tuple) else [value or ""]
                yield "emails", tuple(sorted(one.casefold() for one in emails if one))
            case "since" if value:
                yield "since", (_resolve_time(value),)
            case "site":
                yield "site", ((value,) if value and value != KNOWN.site else ())
            case "group" if value:
                yield "group", tuple(KNOWN.groups.find_mentioned(value)) or (value,)
            case "source" | "destination" | "url" if value:
                yield each.name, (_normal_name(value),)
            case "fields":
                yield "fields", tuple(f"{name}={_normal_name(text)}" for name, text in value)
            case _:
                texts = value if isinstance(value, tuple) else [value]
                yield each.name, tuple(sorted(str(one).casefold() for one in texts if one))


def _time_fields(command: Command) -> Iterator[tuple[str, tuple[str, ...]]]:
    """From when on and until when, as what it comes to."""
    if getattr(command, "at", None):
        yield "at", ("a moment",)  # which one, is held elsewhere
    start: Start | None = getattr(command, "start", None)
    expiry: Expiry | None = getattr(command, "expiry", None)
    if start is not None:
        yield "start", (str(resolve_moment(start, ZoneInfo("UTC"), NOW)),)
        expiry = expiry or start.end
    if expiry is not None:
        yield "expiry", (_resolve_time(expiry, start),)


def _resolve_time(said: Expiry | str, start: Start | None = None) -> str:
    """A time as what it comes to, of an end after its *start*."""
    if isinstance(said, str):
        since = parse_since(said)
        return str((since and moment_since(since, ZoneInfo("UTC"), NOW)) or said)
    begins = (resolve_moment(start, ZoneInfo("UTC"), NOW) if start is not None else None) or NOW
    ends = resolve_moment(said, ZoneInfo("UTC"), NOW, begins) if said.wall or said.at else None
    return str(ends or said.seconds)


def _rule_ids(ref: str) -> Sequence[str]:
    found = _match_rules(ref).things
    return [rule.id for rule in found] if len(found) == 1 else [ref] if ref else []


def _match_rules(ref: str) -> Meant[Rule]:
    return resolve_name(ref, map(named_rule, THE_RULES))


@dataclass(slots=True)
class Figures:
    """How many sentences were answered how."""

    counts: Counter[Verdict] = field(default_factory=Counter)

    def line(self, name: str) -> str:
        """One line, such as ``held out: 130 sentences, 86 % good (…)``."""
        total = self.counts.total()
        good = sum(self.counts[each] for each in GOOD)
        each = ", ".join(f"{self.counts[one]} {one}" for one in Verdict)
        return f"{name}: {total} sentences, {100 * good / max(total, 1):.0f} % good ({each})"


def figures(some: Sequence[Sentence]) -> Figures:
    return Figures(Counter(verdict(one, answer_to(one)) for one in some))


def _first(by: str) -> str:
    return by.partition(",")[0]


def main(argv: Sequence[str]) -> None:
    """Print the figures of what is worked with and of what is held out; ``bad``: and each sentence that isn't answered well."""
    known = [one for one in sentences() if not one.is_held_out]
    if "bad" in argv:
        for one in known:
            answer = answer_to(one)
            if (found := verdict(one, answer)) not in GOOD:
                said = [each.write() for each in (*answer.at_once, *answer.offered)]
                sys.stdout.write(
                    f"{found:10} {one.where} {one.says}\n{'':10} means {list(one.means)}, came {said} told {answer.told}\n"
                )
    held = [one for one in sentences() if one.is_held_out]
    sys.stdout.write(f"{figures(known).line('to work with')}\n{figures(held).line('held out')}\n")
    for by in sorted({_first(one.by) for one in sentences()}):
        sys.stdout.write(f"{figures([one for one in sentences() if _first(one.by) == by]).line(by)}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
