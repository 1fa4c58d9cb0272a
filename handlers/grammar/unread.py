"""Find what none of the readings of a text accounts for: words, things that exist, times."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import Final

from handlers.grammar.command import Command
from handlers.grammar.parser import refs_of
from handlers.grammar.recognised import Recognised
from handlers.grammar.roles import find_idle_words, may_change
from handlers.grammar.time_fields import TypedTime, time_in_reason
from handlers.grammar.vocabulary import AFTER_ALL, FILLERS, IDLE, NAMED, STATUSES, TYPES, bare, points
from handlers.rules.commands import RulesList, RulesMake, RulesWhich

MAX_BETWEEN: Final = 2
"""Fillers between two words that weren't understood, which are quoted together with them."""


def find_unread(found: Recognised, readings: Sequence[Command]) -> tuple[str, ...]:
    """Return what *found* has that none of *readings* accounts for: things that exist, words, a time, a name, a site.

    Readings that only show something may ignore words that name nothing; a change has to account for every word that counts.
    """
    text = " ".join(_without_reason(each).write() for each in readings).casefold()
    writes = any(map(may_change, readings))
    elsewhere = {word for word, keys in found.found_as.items() if not any(_is_named(found, key, text) for key in keys)}
    used = found.used - elsewhere
    unread = [*_things(found, used, text), *_words(found, readings, used, text)]
    unread += _untaken(readings, expiry=found.expiry, start=found.start)
    unread += [*found.times, *filter(None, (time_in_reason(each) for each in readings if each.writes))]
    unread += _untaken(readings, name=found.new_name, because=found.reason if writes else None)
    if found.since is not None and found.since.text not in found.used:
        unread.append(found.since.text.rstrip(AFTER_ALL))
    unread += _untaken(readings, site=found.site) if readings else []
    return tuple(dict.fromkeys(unread))


def _untaken(readings: Sequence[Command], **values: TypedTime | str | None) -> list[str]:
    """Return, as they were typed, those of *values* that none of *readings* has in the field of that name."""
    return [
        value.as_typed if isinstance(value, TypedTime) else value
        for field, value in values.items()
        if value and not any(getattr(each, field, None) == value for each in readings)
    ]


def _without_reason(command: Command) -> Command:
    return command.with_fields(because=None) if getattr(command, "because", None) else command


def _is_named(found: Recognised, key: str, text: str) -> bool:
    """Whether *text*, which is all readings as text, names the thing of *key*."""
    return any(name.casefold() in text for name in (key, found.known.titles.get(key, key)))


def _things(found: Recognised, used: Collection[str], text: str) -> list[str]:
    """Return the names of the recognised things that aren't in *text*, and were not *used* for it."""
    things = [*found.urls, *found.emails, *found.rows, *found.rules, *found.groups]
    things += [*found.segments, *found.having, *found.lacking]
    unread = [thing for thing in things if thing not in used and not _is_named(found, thing, text)]
    return [found.known.titles.get(thing, thing) for thing in unread]


def _words(found: Recognised, readings: Sequence[Command], used: Collection[str], text: str) -> list[str]:
    """Return the words left that aren't in *text*, were not *used* for it, and may not be ignored."""
    taken = {*re.split(r"[\s\"':=,]+", text), *used}
    taken |= find_idle_words(found, readings) if any(map(may_change, readings)) else FILLERS | IDLE
    taken |= _types_of(found, readings)
    shows_types = RulesList | RulesWhich if found.question else RulesList
    taken |= {*STATUSES, *TYPES} if any(isinstance(each, shows_types) for each in readings) else frozenset()
    taken -= NAMED if any(isinstance(each, RulesMake) for each in readings) else frozenset()
    taken |= {str(len(getattr(each, "refs", ()))) for each in readings}
    return [word for word in found.words if word not in taken]


def _types_of(found: Recognised, readings: Sequence[Command]) -> set[str]:
    """Return the words for the types of the rules that *readings* are about: “the old shop redirect”."""
    rules = [found.known.by_id[ref] for each in readings for ref in refs_of(each) if ref in found.known.by_id]
    kinds = {rule.rule_type for rule in rules} | {getattr(each, "type", None) for each in readings}
    return {word for word, kind in TYPES.items() if kind in kinds}


def join_unread(unread: Sequence[str], found: Recognised) -> tuple[str, ...]:
    """Return what is *unread* as it was typed: adjacent words are joined, with the fillers between them."""
    single = {each for each in unread if " " not in each}
    runs: list[list[str]] = []
    run: list[str] = []
    between: list[str] = []
    for typed in found.text.split():
        word = bare(typed)
        if word in single and not points(word):
            run, between = [*run, *between, typed], []
        elif run and word in FILLERS - single and len(between) < MAX_BETWEEN:
            between.append(typed)
        else:
            runs += [run, [typed] if word in single else []]
            run, between = [], []
    joined = [" ".join(each) for each in [*runs, run] if each]
    words = {bare(word) for each in joined for word in each.split()}
    others = [each for each in unread if each not in words]
    return tuple(dict.fromkeys([*(each.strip(AFTER_ALL) for each in joined), *others]))
