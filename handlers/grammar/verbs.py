"""Find what a text asks for: the act of its verb, whether it is a question, and which words may reverse it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import pairwise
from typing import Final

from rapidfuzz import fuzz, process

from handlers.grammar.recognised import Recognised
from handlers.grammar.vocabulary import (
    ACTS,
    CAN,
    CAUTIOUS,
    COMPLAINTS,
    ENDS,
    FILES,
    FILLERS,
    GREETINGS,
    HARMLESS,
    OFTEN_NOUNS,
    ONLY,
    PARTED,
    PAST,
    PHRASES,
    QUESTIONS,
    TYPES,
    WHO_CAN,
)

SWITCHED: Final = frozenset({"switched", "turned"})
"""Participles before “on” or “off”, to which they add nothing in a question or a wish; else they report what is done."""
WISHES: Final = frozenset({"want", "need", "needs", "should", "must", "have", "get", "like", "please", "pls"})
IS: Final = frozenset({"is", "are", "was", "were", "ist", "sind", "war"})
LEADS: Final = frozenset({"redirects", "goes", "leads", "points"})
"""Verbs that tell where a URL leads now, before “to”."""
ENDINGS: Final = ("d", "ed", "s", "es", "ing")
"""Endings that make a verb a report of what is done, or by whom, and no request."""
MIN_TYPO_LENGTH: Final = 4
DELIBERATIONS: Final = tuple(f"{verb} {who} " for verb in ("should", "must", "shall", "may") for who in ("i", "we"))
LIKE_A_VERB: Final = 81
"""Similarity in per cent from which on a word counts as a verb with a typo."""


def without_request(words: Sequence[str]) -> list[str]:
    """Return *words* without “can you”, which makes a request, not a question."""
    start = next((at for at, word in enumerate(words) if word not in GREETINGS), 0)
    asks = len(words) > start + 1 and words[start] in CAN and words[start + 1] in WHO_CAN
    return [*words[:start], *words[start + 2 :]] if asks else [*words]


def find_question(words: Sequence[str]) -> str:
    """Return the word that makes *words* a question: the first, or “why” of a complaint; empty where they are none."""
    first = next((word for word in words if word not in GREETINGS), "")
    if first in QUESTIONS or " ".join(words).startswith(DELIBERATIONS):
        return first
    return "" if COMPLAINTS.isdisjoint(words) else "why"


def take_verb(found: Recognised, words: Sequence[str]) -> list[str]:
    """Note in *found* what *words* ask for, and return the others."""
    found.turned = _find_turning(words, found.known.sites)
    if not found.question and WISHES.isdisjoint(words):
        found.turned += [f"{word} {after}" for word, after in pairwise(words) if word in SWITCHED and after in ENDS]
    if not found.question and len(found.urls) > 1:
        found.turned += [f"{word} to" for word, after in pairwise(words) if word in LEADS and after == "to"]
    found.turned += [">"] if found.text.startswith(">") else []  # somebody else's words
    idle = CAUTIOUS | (PAST if found.question else frozenset())
    left = [
        word
        for word, after in pairwise([*words, ""])
        if word and word not in idle and not (word in SWITCHED and after in ENDS)
    ]
    if (file := next((word for word in left if word in FILES), None)) and "import" not in map(ACTS.get, left):
        found.act = "export"
        return [word for word in left if word != file]
    start = next((at for at, word in enumerate(left) if word not in FILLERS), len(left))
    for at in range(len(left)):
        if spoken := _verb_at(found, left, at, start):
            found.act, verb, left = spoken
            found.verb = "" if found.act in HARMLESS else verb
            return left
    if not found.act and (near := _verb_with_a_typo(found, left, start)):
        found.act = ACTS[near]
        return [*left[:start], *left[start + 1 :]]
    return left


def _find_turning(words: Sequence[str], sites: Collection[str]) -> list[str]:
    """Return the words that may reverse the sentence; “only” before the name of a site doesn't."""
    turning = []
    for at, word in enumerate(words):
        following = next((each for each in words[at + 1 :] if each not in FILLERS and each not in ONLY), "")
        is_idle = word == "instead" and words[at + 1 : at + 2] != ["of"]
        if word in CAUTIOUS and not is_idle and not (word in ONLY and following in sites):
            turning.append(word)
    return turning


def _verb_at(found: Recognised, words: list[str], at: int, start: int) -> tuple[str, str, list[str]] | None:
    """Return the act of the verb at *at* in *words*, the verb, and the words left; else None. *start*: the first that counts."""
    word, before, after = words[at], words[:at], words[at + 1 :]
    for phrase, act in PHRASES.items():
        parts = phrase.split()
        if words[at : at + len(parts)] == parts:
            return act, phrase, [*before, *words[at + len(parts) :]]
    if second := next((each for each in after if each in PARTED.get(word, ())), None):
        after.remove(second)
        return PARTED[word][second], word, [*before, *after]
    if word not in ACTS or (found.act and ACTS[word] not in {found.act, "make", "set"}):
        return None
    begins = at <= start and word not in FILLERS
    # “Old shop is off” and “Old shop off?” tell and ask, and want nothing.
    is_told = IS.intersection(before[-1:]) or found.text.endswith("?")
    ends = word in ENDS and not after and not found.question and not is_told
    return (found.act or ACTS[word], word, [*before, *after]) if begins or ends or word not in OFTEN_NOUNS else None


def _verb_with_a_typo(found: Recognised, words: Sequence[str], at: int) -> str | None:
    """Return the verb that the word at *at* is similar to, if *words* are not part of a name; else None."""
    if at == len(words) or len(words[at]) < MIN_TYPO_LENGTH or words[at] in TYPES:
        return None
    text = " ".join(words)
    if found.find_mentioned(found.known.rules, text) or found.find_mentioned(found.known.members, text):
        return None
    near = process.extractOne(words[at], ACTS.keys(), scorer=fuzz.ratio, score_cutoff=LIKE_A_VERB)
    if near is None or words[at][0] != near[0][0] or not words[at].isalpha():
        return None  # “unsuspend” is no “suspend”, and “~delete~” is struck out
    return None if words[at] in {f"{near[0]}{ending}" for ending in ENDINGS} else near[0]
