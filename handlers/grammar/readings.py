"""Read text that isn't a command: find the things that it names, in any order, and what it asks for.

Nothing is run from here: `read` returns the commands that a text may mean, and `runs_at_once` says which of them may be run
without being shown first: a single one that changes nothing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from handlers.gatehouse.commands import GatehouseUndo
from handlers.grammar.acts import read_act
from handlers.grammar.command import Command, Unclear
from handlers.grammar.fallback import show_pointed_at, show_subjects
from handlers.grammar.known import MAX_READINGS, Known
from handlers.grammar.lookups import show_views
from handlers.grammar.member_acts import move
from handlers.grammar.parser import VERBS, parse
from handlers.grammar.questions import answer, answer_how_to
from handlers.grammar.recognised import Recognised
from handlers.grammar.recognition import recognise, without_addressees
from handlers.grammar.roles import find_twists, may_change
from handlers.grammar.time_fields import Start
from handlers.grammar.tokens import MAX_COMMAND, Word, clean_text, split
from handlers.grammar.unread import find_unread, join_unread
from handlers.grammar.vocabulary import ACTS, CAN, EACH, FILLERS, LOOSE, NEGATIONS, PARTED, PRONOUNS, QUESTIONS, bare
from handlers.members.commands import MembersExport, MembersImport, MembersList, MembersShow, MembersWhy
from handlers.rules.commands import (
    RulesCopy,
    RulesDelete,
    RulesEdit,
    RulesExport,
    RulesHistory,
    RulesImport,
    RulesList,
    RulesOff,
    RulesOn,
    RulesShow,
    RulesWhich,
)

THAT_ARE: Final = re.compile(
    r"\b((?:rule|redirect|block|member|user|customer|one)s?|those|everything|anything) that (?:(?:is|are) |(?=has|have))",
    re.IGNORECASE,
)
"""A “that” which doesn't refer to what was shown before: “rules that are off”."""
LOOKING: Final = frozenset({"", "show", "history", "status", "why"})
"""Acts of a text that may only ask for a view."""


FILES_AND_FORMS: Final = (RulesExport, RulesImport, MembersExport, MembersImport)
"""Commands that change nothing, and whose answer is no message."""


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


def read(root: str, text: str, known: Known) -> Readings:
    """Return the commands that *text* after ``/root`` may mean, the likeliest first; none where it isn't understood.

    *root* is empty where none was given. Raises Unclear for a time that could mean several things, and for what lacks a rule.
    """
    if len(text) > MAX_COMMAND:
        return Readings()
    text, names = without_addressees(THAT_ARE.sub(r"\1 ", clean_text(text)))
    words = split(text)
    while words and words[0].keyword.lstrip("/") in VERBS:
        root, words = words[0].keyword.lstrip("/"), words[1:]
    if (spelled := _parse_under_any_root(root, words)) is not None:
        return Readings((spelled,))
    found = recognise(root, words, known, names)
    readings = _read(found, words)
    if not readings.commands and not readings.meant and (kind := _lacks_only_a_rule(found, readings.unread)):
        raise Unclear("Which rule?", about=(kind,))
    return replace(readings, unread=join_unread(readings.unread, found))


NEED_A_RULE: Final[Mapping[str, type[Command]]] = {
    "off": RulesOff,
    "on": RulesOn,
    "delete": RulesDelete,
    "edit": RulesEdit,
    "copy": RulesCopy,
    "history": RulesHistory,
}
"""What each act does to a rule."""


def _lacks_only_a_rule(found: Recognised, unread: Sequence[str]) -> type[Command] | None:
    """Return the command that *found* asks for and names no rule for: “turn it off” before any was shown."""
    times = {each.as_typed for each in (found.expiry, found.start) if each is not None}
    said = {bare(word) for each in unread if each not in times for word in each.split()}
    names_nothing = said <= FILLERS | PRONOUNS | ACTS.keys() | PARTED.keys() and found.plain.isdisjoint(EACH)
    return NEED_A_RULE.get(found.act) if names_nothing and found.root != "members" else None


def runs_at_once(readings: Readings) -> Command | None:
    """Return the command that may be run without being shown first: the only reading, where it changes nothing.

    A file or a form has no place for what was not understood, so such a command is run only where all of it was.
    """
    if readings.meant or readings.missing or len(readings.commands) != 1:
        return None
    (command,) = readings.commands
    return None if command.writes or (readings.unread and isinstance(command, FILES_AND_FORMS)) else command


def says_better(error: Unclear, readings: Readings, text: str) -> bool:
    """Whether *error* helps more than *readings* of *text*: for a command that lacks something, or has a typo."""
    if not readings.unread or readings.meant:
        return False
    first = bare(text.partition(" ")[0])
    if first in QUESTIONS and readings.commands:
        return False  # “which colleague …” asks for no URL
    begins = any(each.casefold().startswith(first) for each in readings.unread)
    return error.has_verb or (error.suggestion is not None and begins)


def _parse_under_any_root(root: str, words: Sequence[Word]) -> Command | None:
    """Return the command that the words spell under any root, *root* first; None where none takes them."""
    verb = words[0].keyword if words else ""
    text = " ".join(f'"{word.text}"' if word.quoted else word.text for word in words)
    for service in sorted(VERBS, key=lambda one: (one != root, one)):
        kind = VERBS[service].get(verb)
        if kind is None or kind.verb in LOOSE or (service != root and verb in VERBS.get(root, {})):
            continue  # a verb of *root* that was spelled right lacks something, or has too much
        try:
            return parse(service, text)
        except Unclear:
            continue
    return None


def _read(found: Recognised, words: Sequence[Word]) -> Readings:
    """Return what a text means, or else what it is about: a change is only offered where it accounts for every word."""
    readings = _read_back([_with_start(found.start, each) for each in _interpret(found)])
    if all(isinstance(each, RulesList | MembersList) for each in readings) and show_pointed_at(found):
        readings = ()
    unread = find_unread(found, readings)
    found.turned += find_twists(found, readings)
    # No reading, or too many to choose from.
    if not 0 < len(readings) <= MAX_READINGS:
        looked = _look_at(found, ())
        unread = tuple(dict.fromkeys([*looked.unread, *find_unread(found, looked.commands)]))
        return replace(looked, unread=unread or tuple(filter(None, [found.verb])))
    if not any(map(may_change, readings)):
        if _tells_all(found, readings):
            found.turned = [word for word in found.turned if word not in NEGATIONS]
        else:
            unread = unread or tuple(filter(None, [found.verb]))  # it asks for a change, and no reading makes one
        if found.turned:
            return _look_at(found, unread)
        if _asks_for_a_change(found.root, words):
            return _look_at(found, unread or (words[0].text,))
        return _with_more(found, readings, unread)
    if found.turned or unread:
        return replace(_look_at(found, unread), meant=() if found.turned else readings)
    return Readings(readings)


def _tells_all(found: Recognised, readings: Sequence[Command]) -> bool:
    """Whether *readings* answer a question the same with and without a “not” in it: “why is … not redirected?”."""
    return found.question in QUESTIONS - CAN and all(
        isinstance(each, RulesShow | RulesWhich | MembersShow | MembersWhy) for each in readings
    )


def _interpret(found: Recognised) -> list[Command]:
    """Return what a text may mean, as far as it was understood."""
    if commands := answer_how_to(found) or move(found):
        return commands
    if found.act in LOOKING and not found.verb and not _names_something(found) and (commands := show_views(found)):
        return commands
    return answer(found) if found.question else read_act(found)


def _names_something(found: Recognised) -> bool:
    named = found.urls or found.emails or found.rows or found.groups or found.names_segments
    return bool(named or found.rule_refs() or found.people())


def _with_start(start: Start | None, command: Command) -> Command:
    """Return *command* with *start*, if it can have one."""
    return command.with_fields(start=start) if start is not None and hasattr(command, "start") else command


def _read_back(commands: Sequence[Command]) -> tuple[Command, ...]:
    """Return *commands* as parsed from their own text, so that a button does what was shown; without those that can't be."""
    read: dict[Command, None] = {}
    for command in commands:
        try:
            again = parse(command.service, command.write())
        except (Unclear, ValueError):
            continue
        if type(again) is type(command):
            read[again] = None
    return tuple(read)


def _asks_for_a_change(root: str, words: Sequence[Word]) -> bool:
    """Whether the first word is the verb of a change, spelled right: showing something instead would not be an answer.

    Not for an undo, where it is one: the history of a rule shows what can be undone.
    """
    kind = VERBS.get(root, {}).get(words[0].keyword) if words else None
    return kind is not None and kind.writes and kind is not GatehouseUndo


def _with_more(found: Recognised, readings: tuple[Command, ...], unread: tuple[str, ...]) -> Readings:
    """Return *readings*, with commands that show what else the text names where that leaves less of it unread."""
    looked = _look_at(found, ()).commands if unread and not found.question else ()
    both = tuple(dict.fromkeys([*readings, *looked]))[:MAX_READINGS]
    left = find_unread(found, both)
    return Readings(both, left) if len(left) < len(unread) else Readings(readings, unread)


def _look_at(found: Recognised, unread: Sequence[str]) -> Readings:
    """Return commands that show what a text is about, where it isn't understood as a whole."""
    shown: Sequence[Command] = _read_back(show_subjects(found))
    names_it = any(isinstance(each, RulesShow | MembersShow | MembersWhy | RulesWhich) for each in shown)
    pointed = [] if names_it else [word for word in found.words if word in PRONOUNS]
    views = [] if names_it else show_views(found)
    shown = shown if names_it else [*(show_pointed_at(found) or shown), *views]
    # A view is no answer to a verb that asks for a change: “stop all changes”.
    verb = [found.verb] if views and found.verb else []
    return Readings(tuple(shown[:MAX_READINGS]), tuple(dict.fromkeys([*verb, *found.turned, *pointed, *unread])))
