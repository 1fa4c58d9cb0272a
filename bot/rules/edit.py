"""Edit single fields of a rule by the names that people type, and check a rule before it is sent."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Final
from urllib.parse import urlsplit

from bot.rules.model import ACTIVE, INACTIVE, Pair, Rule, RuleDraft, Source
from bot.rules.pair_fields import KEY, KNOWN_TYPES, OPERATOR, PAIR_FIELDS, TYPES, UNKNOWN, Document, has_field

STATUSES: Final = (ACTIVE, INACTIVE)
KNOWN: Final = {"operator": tuple(OPERATOR.options), "key": tuple(KEY.options), "status": STATUSES}
"""The allowed values of the fields that have a fixed set, in the spelling that the engines know."""
IN_SOURCE_FIELDS: Final = ("source", "operator", "key")
"""The names that people use for the fields of a source."""
STATUS_WORDS: Final = {"on": ACTIVE, "enabled": ACTIVE, "off": INACTIVE, "disabled": INACTIVE}
"""What people write for a status, beside the service's own words."""
MAX_SOURCE: Final = 4_000
"""Characters of a source: no engine needs more, and each source is tested against every URL."""
MAX_PAIRS: Final = 1_000
"""Pairs of a rule that Gatehouse writes: each is compared, searched and drawn whenever somebody opens the rule."""
SCHEMES: Final = frozenset({"http", "https", "ftp"})
RULE_TYPE: Final = re.compile(r"[A-Za-z][A-Za-z0-9]{0,31}")
CAPTURE: Final = re.compile(r"\$[0-9]")


class ProblemKind(StrEnum):
    """What can be wrong with a draft, or with an edit of one field."""

    NO_NAME = "no name"
    NO_TYPE = "no type"
    NO_PAIRS = "no pairs"
    MANY_PAIRS = "too many pairs"
    NO_SOURCE = "no source"
    NO_FIND = "no find"
    NO_DESTINATION = "no destination"
    NOT_A_URL = "not a URL"
    EMPTY_SOURCE = "empty source"
    LONG_SOURCE = "source too long"
    UNKNOWN_VALUE = "unknown value"
    OTHER_TYPES_FIELD = "foreign field"
    TYPE_IS_FIXED = "type is fixed"
    UNKNOWN_FIELD = "unknown field"
    RULE_FIELD = "rule field"
    WHICH_PAIR = "which pair"
    UNKNOWN_PAIR = "unknown pair"


@dataclass(frozen=True, slots=True)
class Problem:
    """One problem to fix. *pair*: the number of its pair, from 1; None where it is about the whole rule."""

    kind: ProblemKind
    field: str
    """The service's name of the field; in an edit, the name as it was typed."""
    pair: int | None = None
    value: str = ""
    """The wrong value, or the rule type that doesn't have the field."""
    count: int = 0
    """The number of characters of a source, or of pairs of the rule."""


def problems(draft: RuleDraft) -> list[Problem]:
    """Return all problems of *draft*, in the order of its fields; empty where it may be sent."""
    return [*_head(draft), *_pairs(draft)]


def new_problems(before: RuleDraft, after: RuleDraft) -> list[Problem]:
    """Return the problems of *after* that *before* does not have, so that an existing problem does not block another edit.

    Too many pairs is no problem where their number did not grow. Where a pair was added or removed, the others have new
    numbers, so problems are compared without them.
    """
    had, has = len(before.pairs or ()), len(after.pairs or ())
    moved = had != has
    known = Counter(replace(problem, pair=None) if moved else problem for problem in problems(before))
    added = []
    for problem in problems(after):
        flaw = replace(problem, pair=None) if moved else problem
        if problem.kind is ProblemKind.MANY_PAIRS and has <= had:
            continue
        if known[flaw]:
            known[flaw] -= 1
        else:
            added.append(problem)
    return added


def _head(draft: RuleDraft) -> Iterator[Problem]:
    if not (draft.name or "").strip():
        yield Problem(ProblemKind.NO_NAME, "name")
    if not RULE_TYPE.fullmatch(draft.rule_type or ""):
        yield Problem(ProblemKind.NO_TYPE, "ruleType")
    if draft.status is not None and draft.status not in STATUSES:
        yield Problem(ProblemKind.UNKNOWN_VALUE, "status", value=draft.status)


def _pairs(draft: RuleDraft) -> Iterator[Problem]:
    if not draft.pairs:
        yield Problem(ProblemKind.NO_PAIRS, "pairs")
    if (count := len(draft.pairs or ())) > MAX_PAIRS:
        yield Problem(ProblemKind.MANY_PAIRS, "pairs", count=count)
        return
    for number, pair in enumerate(draft.pairs or (), start=1):
        if pair.source is None:
            yield Problem(ProblemKind.NO_SOURCE, "source", number)
            continue
        yield from _source(draft.rule_type, pair, number)
        yield from _foreign_fields(draft.rule_type, pair, number)
        if draft.rule_type == "Redirect":
            yield from _redirect(pair, number)
        if draft.rule_type == "Replace" and not pair.find:
            yield Problem(ProblemKind.NO_FIND, "from", number)


def _foreign_fields(rule_type: str | None, pair: Pair, number: int) -> Iterator[Problem]:
    """Yield a problem for each field that belongs to another rule type in the specification."""
    document = pair.document()
    for name in (field for fields in PAIR_FIELDS.values() for field in fields):
        if not has_field(rule_type, name) and document.get(name) not in (None, ""):
            yield Problem(ProblemKind.OTHER_TYPES_FIELD, name, number, rule_type or "")


def _source(rule_type: str | None, pair: Pair, number: int) -> Iterator[Problem]:
    source = pair.source or Source()
    value = source.value or ""
    if rule_type in KNOWN_TYPES and source.operator is not None and source.operator not in KNOWN["operator"]:
        yield Problem(ProblemKind.UNKNOWN_VALUE, "operator", number, source.operator)
    if rule_type in KNOWN_TYPES and source.key is not None and source.key not in KNOWN["key"]:
        yield Problem(ProblemKind.UNKNOWN_VALUE, "key", number, source.key)
    if TYPES.get(rule_type or "", UNKNOWN).needs_source and not value:
        yield Problem(ProblemKind.EMPTY_SOURCE, "value", number)
    if len(value) > MAX_SOURCE:
        yield Problem(ProblemKind.LONG_SOURCE, "value", number, count=len(value))


def _redirect(pair: Pair, number: int) -> Iterator[Problem]:
    destination = (pair.destination or "").strip()
    if not destination:
        yield Problem(ProblemKind.NO_DESTINATION, "destination", number)
    elif pair.leads_to_url and not _is_destination(destination):
        yield Problem(ProblemKind.NOT_A_URL, "destination", number)


def _is_destination(text: str) -> bool:
    """Whether a browser could be sent to *text*: a whole http, https or ftp URL, or a capture at its start."""
    if CAPTURE.match(text):
        return True
    try:
        parts = urlsplit(text)
    except ValueError:
        return False
    return parts.scheme in SCHEMES and bool(parts.netloc) and text.split() == [text]


HEAD: Final = {
    "name": "name",
    "description": "description",
    "status": "status",
    "group": "groupId",
    "groupid": "groupId",
}
IN_PAIR: Final = {
    "destination": "destination",
    "destinationtype": "destinationType",
    "from": "from",
    "to": "to",
}
IN_SOURCE: Final = {"source": "value", "url": "value", "value": "value", "key": "key", "operator": "operator"}
OWN_WORDS: Final = {"Redirect": {"to": "destination", "from": "source"}, "Cancel": {"from": "source"}}
"""By rule type, names that people use for its fields though they are the names of another type's fields."""
FIELD: Final = re.compile(r"(?:pair(?P<pair>[1-9][0-9]{0,3})\.)?(?:source\.)?(?P<name>[a-z]+)", re.IGNORECASE)

SETTABLE: Final = ("name", "description", "status", "destination", "source", "operator", "key", "from", "to", "group")


class BadField(ValueError):
    """A field can't be set to a value; *problem* says why."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.kind)
        self.problem = problem


def with_fields(rule: Rule, fields: tuple[tuple[str, str], ...]) -> Document:
    """Return the body of *rule* with *fields* set and everything else unchanged; raises BadField."""
    body = rule.body()
    for field, value in fields:
        _set(body, field, value)
    return body


def with_status(rule: Rule, *, on: bool) -> Document:
    """Return the body of *rule*, switched on or off."""
    return rule.body() | {"status": ACTIVE if on else INACTIVE}


def _set(body: Document, field: str, value: str) -> None:
    match = FIELD.fullmatch(field.strip())
    name = match["name"].lower() if match else ""
    if name in {"type", "ruletype"}:
        raise BadField(Problem(ProblemKind.TYPE_IS_FIXED, field))
    rule_type = str(body.get("ruleType") or "")
    name = OWN_WORDS.get(rule_type, {}).get(name, name)
    if match is None or name not in {*HEAD, *IN_PAIR, *IN_SOURCE}:
        raise BadField(Problem(ProblemKind.UNKNOWN_FIELD, field))
    if name in IN_PAIR and not has_field(rule_type, IN_PAIR[name]):
        raise BadField(Problem(ProblemKind.OTHER_TYPES_FIELD, IN_PAIR[name], value=rule_type))
    if name in HEAD and match["pair"] is None:
        if name == "status" and (status := status_of(value)) is None:
            raise BadField(Problem(ProblemKind.UNKNOWN_VALUE, "status", value=value))
        body[HEAD[name]] = status if name == "status" else value
        return
    pair = _pair(body, field, match["pair"])
    if name in IN_PAIR:
        if rule_type in KNOWN_TYPES and rule_type not in PAIR_FIELDS and IN_PAIR[name] not in pair:
            raise BadField(Problem(ProblemKind.OTHER_TYPES_FIELD, IN_PAIR[name], value=rule_type))
        pair[IN_PAIR[name]] = value
    elif name in IN_SOURCE:
        pair["source"] = {**(pair.get("source") or {}), IN_SOURCE[name]: value}
    else:
        raise BadField(Problem(ProblemKind.RULE_FIELD, name))


def status_of(word: str) -> str | None:
    """Return the status that *word* means; None where it does not name one."""
    plain = word.strip().casefold()
    return next((known for known in STATUSES if known.casefold() == plain), STATUS_WORDS.get(plain))


def _pair(body: Document, field: str, number: str | None) -> Document:
    pairs: list[Document] = body.get("pairs") or []
    if number is None and len(pairs) > 1:
        raise BadField(Problem(ProblemKind.WHICH_PAIR, field, count=len(pairs)))
    index = int(number or 1) - 1
    if index >= len(pairs):
        raise BadField(Problem(ProblemKind.UNKNOWN_PAIR, field, index + 1, count=len(pairs)))
    return pairs[index]


def source_reaching(url: str, reach: str | None) -> dict[str, str]:
    """Return the source that matches *url*. *reach*: ``query`` for any query, ``below`` for every path below; None: exactly."""
    if reach is None:
        return {"key": "Url", "operator": "Equals", "value": url}
    base = re.escape(re.split(r"[?#]", url, maxsplit=1)[0].rstrip("/")).replace("/", r"\/")
    return {"key": "Url", "operator": "Matches", "value": f"/^{base}{REACHES[reach]}$/"}


REACHES: Final = {"query": r"\/?(\?.*)?", "below": r"([\/?].*)?"}
"""By reach, the end of the expression after the URL."""


def reach_of(key: Any, operator: Any, value: str) -> tuple[str, str] | None:
    """Return the URL and the reach for which `source_reaching` makes this source; None where it makes no such source."""
    if operator != "Matches" or not value.startswith("/^"):
        return None
    for reach, rest in REACHES.items():
        base = value.removeprefix("/^").removesuffix(f"{rest}$/")
        url = re.sub(r"\\(.)", r"\1", base)
        if source_reaching(url, reach) == {"key": key, "operator": operator, "value": value}:
            return url, reach
    return None
