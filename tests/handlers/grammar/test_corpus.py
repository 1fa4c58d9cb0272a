"""What the reader makes of the corpus: nothing that nobody said, and no word of a change that it leaves out in silence."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import Final

import pytest

from bot.text.times import parse_since
from handlers.gatehouse.commands import GatehouseAudit, GatehouseDigest, GatehouseHelp
from handlers.grammar.command import Command
from handlers.grammar.readings import CARDS, PLACES, spell
from handlers.grammar.vocabulary import (
    FILLERS,
    NEGATIONS,
    PAST,
    SAYING,
    SEVERAL,
    STATUSES,
    TOPICS,
    TYPES,
    VERBS_OF,
    bare,
)
from handlers.rules.commands import RulesHistory
from tests.harness.corpus import GOOD, KNOWN, Answer, Sentence, Verdict, answer_to, sentences, verdict

pytestmark = pytest.mark.xdist_group("corpus")  # one worker reads the sentences
answered: Final = cache(answer_to)
WORKED_WITH: Final = tuple(one for one in sentences() if not one.is_held_out)
LEAST: Final = 89
"""Per cent of the sentences to work with that are understood or well asked about."""
PLACED: Final = SEVERAL.union({"during"}, *PLACES.values())
"""The small words of changes, and of times."""
PUT_IN: Final = ("zebra", "friday", "not", "docs", "17", "delete", "except")
"""A word that nobody knows, and words that say much: a time, a site, a number, another verb."""


def test_no_sentence_becomes_a_change_that_nobody_asked_for() -> None:
    harmful = [one.says for one in sentences() if verdict(one, answered(one)) is Verdict.HARMFUL]

    assert harmful == []


def test_most_sentences_are_understood_or_well_asked_about() -> None:
    good = sum(verdict(one, answered(one)) in GOOD for one in WORKED_WITH)

    assert 100 * good >= LEAST * len(WORKED_WITH)


def changes(answer: Answer) -> list[Command]:
    return [one for one in (*answer.at_once, *answer.offered) if one.writes or one.verb == "edit"]


@cache
def offered() -> list[tuple[Sentence, list[Command]]]:
    return [(one, made) for one in sentences() if (made := changes(answered(one)))]


@pytest.mark.first(3)
@pytest.mark.parametrize("word", PUT_IN)
def test_a_word_that_is_put_into_a_change_makes_it_another_or_is_told(word: str) -> None:
    ignored = []
    for one, before in offered():
        words = one.says.split()
        if word in one.says.casefold() or any(each.verb == word for each in before) or is_named(word, before):
            continue
        for at in range(1, len(words) + 1):
            longer = replace(one, says=" ".join([*words[:at], word, *words[at:]]))
            if changes(answer_to(longer)) == before:
                ignored.append(longer.says)

    assert ignored == [], ignored


def test_a_word_that_is_taken_out_of_a_change_made_it_that_one_or_says_nothing() -> None:
    idle = []
    for one, before in offered():
        words = one.says.split()
        for at, word in enumerate(words):
            shorter = replace(one, says=" ".join([*words[:at], *words[at + 1 :]]))
            is_past = f"instead of {word}" in one.says
            if changes(answer_to(shorter)) == before and not (is_past or says_nothing(word, before)):
                idle.append((word, one.says))

    assert idle == [], idle


HELP: Final = (GatehouseHelp(),)  # whatever it is wanted for


@cache
def questions() -> list[tuple[Sentence, Answer]]:
    made = ((one, answered(one)) for one in WORKED_WITH)
    return [(one, answer) for one, answer in made if answer.at_once not in ((), HELP) and not changes(answer)]


@pytest.mark.first(1)
@pytest.mark.parametrize("word", ["on", "zebra", "not", "last", "my", "except"])
def test_a_word_that_is_put_into_a_question_changes_the_answer_or_is_told(word: str) -> None:
    ignored = []
    for one, before in questions():
        words = one.says.split()
        for at in range(len(words), 0, -3)[: 1 if word == "on" else None]:  # elsewhere a preposition
            longer = replace(one, says=" ".join([*words[:at], word, *words[at:]]))
            if answer_to(longer) == before and not is_shown_anyway(word, before):
                ignored.append(longer.says)

    assert ignored == [], ignored


@pytest.mark.first(1)
@pytest.mark.parametrize("first", range(4))
def test_a_word_that_is_taken_out_of_a_question_changed_the_answer_or_says_nothing(first: int) -> None:
    """Of every fourth question."""
    idle = []
    for one, before in questions()[first::4]:
        words = one.says.split()
        for at, word in enumerate(words):
            shorter = replace(one, says=" ".join([*words[:at], *words[at + 1 :]]))
            is_idle = says_nothing(word, before.at_once) or is_shown_anyway(spell(bare(word), KNOWN), before)
            if answer_to(shorter) == before and not is_idle:
                idle.append((word, one.says))

    assert idle == [], idle


def is_shown_anyway(word: str, answer: Answer) -> bool:
    """Whether *word* is told anyway, or shown: by a card or the history of a thing, by a list of all, or of the latest."""
    (shown,) = answer.at_once
    idle = (
        SAYING | NEGATIONS | PAST
        if isinstance(shown, CARDS)
        else SEVERAL | {*TOPICS, "but", "audit", "only", "nothing", "else", "switched"}
    )
    idle |= {"last", "latest"} if isinstance(shown, GatehouseAudit | GatehouseDigest) else frozenset()
    is_time = (isinstance(shown, RulesHistory) and parse_since(word)) or word in (getattr(shown, "at", None) or "")
    return bool(is_time) or word in idle | {"since", "until", "over"} or word in " ".join(answer.told).casefold()


def says_nothing(word: str, made: Sequence[Command]) -> bool:
    """Whether *word* is a filler or a sign, or says once more what the others say: a verb, a kind, a name, an email."""
    plain = spell(bare(word.strip("\"'„“”()<>").rstrip(",?")), KNOWN)
    is_sign = not any(map(str.isalnum, plain))
    is_verb = any(plain in re.split("[_…]", verb) for verb in VERBS_OF)
    return is_sign or is_verb or is_named(plain, made) or plain in {*FILLERS, *TYPES, *STATUSES, *PLACED, "someone"}


def is_named(word: str, made: Sequence[Command]) -> bool:
    """Whether *word* is a part of the names of what is changed."""
    refs = {
        ref
        for one in made
        for ref in (
            *getattr(one, "refs", ()),
            *getattr(one, "emails", ()),
            getattr(one, "group", ""),
            *(getattr(one, name, "") or "" for name in ("email", "ref", "text", "segment")),
        )
    }
    return any(word in f"{KNOWN.titles.get(ref, '')} {ref}".casefold() for ref in refs)
