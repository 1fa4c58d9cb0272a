"""A file of rules, from bytes to records: the real product's export, a service's answer, one rule alone.

The shapes are those that exports and answers really have: an array of rules and groups, ``{"rules": [...]}``,
``{"success": true, "data": [...]}``, and a single rule.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Final

from bot.domain.file_text import BadFile, FileKind, WrongKind, file_text

MOST_RULES: Final = 10_000
MOST_DIGITS: Final = 4_000
"""Of a whole number: Python itself refuses more than 4,300."""
LISTS: Final = ("rules", "data")
"""Names under which an object may hold its rules."""


class BrokenJson(BadFile):
    """No JSON. *line* and *column* count from 1; *why* is the parser's word."""

    def __init__(self, line: int, column: int, why: str) -> None:
        super().__init__(f"line {line}, column {column}: {why}")
        self.line = line
        self.column = column
        self.why = why


class NameTwice(BadFile):
    """An object holds one name twice: whichever value were taken, another reader takes the other."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name


class NestedTooDeep(BadFile):
    """So many lists within lists that it cannot be a file of rules."""


class NotRules(BadFile):
    """JSON, but no rules. *keys*: the first names of the object that it holds, where it is one."""

    def __init__(self, keys: tuple[str, ...] = ()) -> None:
        super().__init__(", ".join(keys))
        self.keys = keys


class NoRules(BadFile):
    """The right shape, with no rule in it."""


class TooManyRules(BadFile):
    def __init__(self, count: int, most: int) -> None:
        super().__init__(f"{count}, at most {most}")
        self.count = count
        self.most = most


@dataclass(frozen=True, slots=True)
class RuleFile:
    """The records of a file, in its order and as they stand there: rules, groups, and what else may be among them."""

    records: tuple[Any, ...]


def read_rule_file(content: bytes) -> RuleFile:
    """The records of a file of rules; raises a subclass of BadFile where it is none."""
    records = _records(_parsed(file_text(content).text))
    if not records:
        raise NoRules
    if len(records) > MOST_RULES:
        raise TooManyRules(len(records), MOST_RULES)
    if not any(map(_is_ours, records)):
        first = records[0]
        raise NotRules(_keys(first) if isinstance(first, dict) else ())
    return RuleFile(tuple(records))


def _parsed(text: str) -> Any:
    try:
        return json.loads(text, object_pairs_hook=_of_one_mind, parse_int=_whole)
    except json.JSONDecodeError as error:
        if error.pos <= len(text) - len(text.lstrip()) and _is_table(text):
            raise WrongKind(FileKind.TABLE) from error
        raise BrokenJson(error.lineno, error.colno, error.msg) from error
    except RecursionError as error:
        raise NestedTooDeep from error


def _is_table(text: str) -> bool:
    """Whether the first line looks like one of a table, not like one of JSON."""
    line = text.lstrip().partition("\n")[0]
    return any(mark in line for mark in ",;\t") and not any(mark in line for mark in "[]{}")


def _of_one_mind(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise NameTwice(name)
        found[name] = value
    return found


def _whole(digits: str) -> int | float:
    """A whole number; an absurd one becomes infinite, which is found fault with where it stands."""
    return int(digits) if len(digits) <= MOST_DIGITS else float("inf")


def _records(document: Any) -> list[Any]:
    if isinstance(document, list):
        return document
    if not isinstance(document, dict):
        raise NotRules
    if _is_ours(document):
        return [document]
    for name in LISTS:
        match document.get(name):
            case list() as records:
                return records
            case dict() as record if _is_ours(record):
                return [record]
    raise NotRules(_keys(document))


def _is_ours(record: Any) -> bool:
    """Whether it could be a rule or a group, however wrong."""
    if not isinstance(record, dict):
        return False
    return "ruleType" in record or "pairs" in record or record.get("objectType") in {"rule", "group"}


def _keys(document: dict[str, Any]) -> tuple[str, ...]:
    return tuple(list(document)[:5])
