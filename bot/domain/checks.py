"""What must be right about a rule or a member before it is sent: the same for a form, a command and a copy.

Of pairs, only what the specification types is judged, and the source that all known types have in common. Everything
else in pairs of other rule types goes through as it is, for the service to judge.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final
from urllib.parse import urlsplit

from rapidfuzz import fuzz, process

from bot.domain.emails import MAX_EMAIL
from bot.domain.rule import ACTIVE, INACTIVE, KNOWN_TYPES, PAIR_FIELDS, Pair, RuleDraft, Source

KEYS: Final = ("Url", "host", "path")
OPERATORS: Final = ("Equals", "Contains", "Matches", "Wildcard_Matches")
"""The spellings that a browser's engine matches; any other is stored and never matches."""

STATUSES: Final = (ACTIVE, INACTIVE)
IN_SOURCE: Final = ("source", "operator", "key")
"""What a person calls the fields of a source."""
MEANT: Final = {
    **dict.fromkeys(("regex", "regexp", "re", "match"), "Matches"),
    **dict.fromkeys(("glob", "startswith", "starts_with", "endswith", "ends_with"), "Wildcard_Matches"),
    **dict.fromkeys(("is", "=", "=="), "Equals"),
    **dict.fromkeys(("includes", "has", "in"), "Contains"),
    **dict.fromkeys(("domain", "hostname"), "host"),
    **dict.fromkeys(("on", "enabled"), ACTIVE),
    **dict.fromkeys(("off", "disabled"), INACTIVE),
}
"""What other products call an operator, a part of the URL or a status."""
MIN_LIKENESS: Final = 60
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
    """What is wrong with *after* and was not with *before*: an old flaw does not stand in the way of another edit.

    Where a pair was added or removed, the others have moved, so an old flaw may have another number.
    """
    moved = len(before.pairs or ()) != len(after.pairs or ())
    known = Counter(replace(problem, pair=None) if moved else problem for problem in problems(before))
    added = []
    for problem in problems(after):
        flaw = replace(problem, pair=None) if moved else problem
        if known[flaw]:
            known[flaw] -= 1
        else:
            added.append(problem)
    return added


def _head(draft: RuleDraft) -> Iterator[Problem]:
    if not (draft.name or "").strip():
        yield Problem("name", "Give the rule a name that others will recognise.")
    if not RULE_TYPE.fullmatch(draft.rule_type or ""):
        yield Problem("ruleType", "Choose a type, such as Redirect, Cancel or Replace.")
    if draft.status is not None and draft.status not in STATUSES:
        yield Problem("status", unknown("status", draft.status, STATUSES))


def _pairs(draft: RuleDraft) -> Iterator[Problem]:
    if not draft.pairs:
        yield Problem("pairs", "A rule needs at least one pair.")
    for number, pair in enumerate(draft.pairs or (), start=1):
        if pair.source is None:
            yield Problem("source", "A pair needs a source: what it is matched against.", number)
            continue
        yield from _source(draft.rule_type, pair, number)
        yield from _foreign(draft.rule_type, pair, number)
        if draft.rule_type == "Redirect":
            yield from _redirect(pair, number)
        if draft.rule_type == "Replace" and not pair.find:
            yield Problem("from", "Say which text is to be found.", number)


def _foreign(rule_type: str | None, pair: Pair, number: int) -> Iterator[Problem]:
    """Fields of another of the types that the specification describes."""
    document = pair.document()
    for name in (field for fields in PAIR_FIELDS.values() for field in fields):
        if not has_field(rule_type, name) and document.get(name) not in (None, ""):
            yield Problem(name, no_field(rule_type, name), number)


def has_field(rule_type: str | None, name: str) -> bool:
    """Whether a pair of this type may have the field *name*; of types that the specification leaves open, any."""
    own = PAIR_FIELDS.get(rule_type or "")
    return own is None or name in own


def no_field(rule_type: str | None, name: str) -> str:
    """Words for a field that pairs of a type do not have, and those that they have."""
    own = ", ".join((*IN_SOURCE, *PAIR_FIELDS.get(rule_type or "", ())))
    return f"A {rule_type} has no field “{name}”. Its pairs have: {own}."


def unknown(what: str, value: str, known: Sequence[str]) -> str:
    """Words for a *value* that is none of those that are *known*, with the one that was likely meant."""
    near = MEANT.get(value.strip().casefold())
    if near not in known:
        found = process.extractOne(
            value[:60], known, scorer=fuzz.ratio, processor=str.casefold, score_cutoff=MIN_LIKENESS
        )
        near = found[0] if found else None
    said = f"There is no {what} “{value[:60]}”."
    return f"{said} Did you mean {near}?" if near else f"{said} Use {', '.join(known[:-1])} or {known[-1]}."


def _source(rule_type: str | None, pair: Pair, number: int) -> Iterator[Problem]:
    source = pair.source or Source()
    value = source.value or ""
    if rule_type in KNOWN_TYPES and source.operator is not None and source.operator not in OPERATORS:
        yield Problem("operator", unknown("operator", source.operator, OPERATORS), number)
    if rule_type in KNOWN_TYPES and source.key is not None and source.key not in KEYS:
        yield Problem("key", unknown("key", source.key, KEYS), number)
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
    from email_validator import EmailNotValidError, validate_email  # noqa: PLC0415  its tables take long to build

    try:
        validate_email(address, check_deliverability=False, test_environment=True)
    except EmailNotValidError as error:
        raise BadEmail(str(error)) from error
    return address
