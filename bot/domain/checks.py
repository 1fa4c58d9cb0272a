"""What must be right about a rule or a member before it is sent: the same for a form, a command and a copy.

Only what the specification types is judged. Pairs of other rule types go through as they are, for the service to judge.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from email_validator import EmailNotValidError, validate_email

from bot.domain.emails import MAX_EMAIL
from bot.domain.rule import ACTIVE, INACTIVE, Pair, RuleDraft

KEYS: Final = ("Url", "host", "path")
OPERATORS: Final = ("Equals", "Contains", "Matches", "Wildcard_Matches")
"""The spellings that a browser's engine matches; any other is stored and never matches."""

STATUSES: Final = (ACTIVE, INACTIVE)
NEEDS_SOURCE: Final = frozenset({"Redirect", "Cancel", "Delay", "Request", "Response"})
"""Types for which the real service's own forms refuse an empty source: it would be every URL."""
MAX_SOURCE: Final = 4_000
"""Characters of a source: no browser's engine needs more, and each of them is looked at for every URL."""
SCHEMES: Final = frozenset({"http", "https", "ftp"})
RULE_TYPE: Final = re.compile(r"[A-Za-z][A-Za-z0-9]{0,31}")
CAPTURE: Final = re.compile(r"\$[0-9]")


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing to put right. *field* is the service's name of it; *pair* counts from 1 where it belongs to a pair."""

    field: str
    words: str
    pair: int | None = None


def problems(draft: RuleDraft) -> list[Problem]:
    """Everything that is wrong with *draft*, in the order of its fields; empty where it may be sent."""
    return [*_head(draft), *_pairs(draft)]


def introduced(before: RuleDraft, after: RuleDraft) -> list[Problem]:
    """What is wrong with *after* and was not with *before*: an old flaw does not stand in the way of another edit."""
    known = set(problems(before))
    return [problem for problem in problems(after) if problem not in known]


def _head(draft: RuleDraft) -> Iterator[Problem]:
    if not (draft.name or "").strip():
        yield Problem("name", "Give the rule a name that others will recognise.")
    if not RULE_TYPE.fullmatch(draft.rule_type or ""):
        yield Problem("ruleType", "Choose a type, such as Redirect, Cancel or Replace.")
    if draft.status is not None and not draft.status.strip():
        yield Problem("status", "Choose Active or Inactive.")


def _pairs(draft: RuleDraft) -> Iterator[Problem]:
    if not draft.pairs:
        yield Problem("pairs", "A rule needs at least one pair.")
    for number, pair in enumerate(draft.pairs or (), start=1):
        if pair.source is None:
            yield Problem("source", "A pair needs a source: what it is matched against.", number)
            continue
        yield from _source(draft.rule_type, pair, number)
        if draft.rule_type == "Redirect":
            yield from _redirect(pair, number)
        if draft.rule_type == "Replace" and not pair.find:
            yield Problem("from", "Say which text is to be found.", number)


def _source(rule_type: str | None, pair: Pair, number: int) -> Iterator[Problem]:
    value = (pair.source and pair.source.value) or ""
    if rule_type in NEEDS_SOURCE and not value:
        yield Problem("value", "An empty source would match every URL. Say which one is meant.", number)
    if len(value) > MAX_SOURCE:
        yield Problem("value", f"This source has {len(value):,} characters. Use at most {MAX_SOURCE:,}.", number)


def _redirect(pair: Pair, number: int) -> Iterator[Problem]:
    destination = (pair.destination or "").strip()
    if not destination:
        yield Problem("destination", "Say where the redirect goes.", number)
    elif pair.leads_to_url and not is_destination(destination):
        yield Problem("destination", "Write a whole address, such as https://shop.example.com/new.", number)


def is_destination(text: str) -> bool:
    """Whether a browser could be sent to *text*: a whole http, https or ftp address, or a capture at its start."""
    if CAPTURE.match(text):
        return True
    try:
        parts = urlsplit(text)
    except ValueError:
        return False
    return parts.scheme in SCHEMES and bool(parts.netloc) and text.split() == [text]


class BadEmail(ValueError):
    """Not an address; the text says why, for people."""


def checked_email(text: str) -> str:
    """*text* as typed, less surrounding space; raises BadEmail. The spelling is kept: services may tell cases apart."""
    address = text.strip()
    if len(address) > MAX_EMAIL:
        raise BadEmail(f"It has {len(address):,} characters. An email has at most 254.")
    try:
        validate_email(address, check_deliverability=False, test_environment=True)
    except EmailNotValidError as error:
        raise BadEmail(str(error)) from error
    return address
