"""Read files of rules, as Gatehouse and the real product export them, and write the export."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from datetime import date
from typing import Any, Final

from pydantic import ValidationError

from bot.rules.model import Rule, RuleDraft
from bot.text.documents import TEXTS_ONLY, without_choices
from bot.text.encoding import BadFile, file_text

MAX_RULES: Final = 10_000
MAX_DIGITS: Final = 4_000
"""Digits of an integer: Python itself refuses more than 4,300."""
AN_EXPORT: Final = "Use a JSON file that Gatehouse or the dashboard exported."


def read_rule_file(content: bytes) -> list[Any]:
    """Return the records of a file, unchanged and in order: rules, groups, and any others among them.

    Raises BadFile where it is not a file of rules.
    """
    records = parse_json(file_text(content))
    if not isinstance(records, list):
        raise BadFile("The file is JSON, but not a list of rules.", AN_EXPORT)
    if not records:
        raise BadFile("The file has an empty list.", "Check that the export had any rules.")
    if len(records) > MAX_RULES:
        raise BadFile(f"The file has {len(records):,} records; the limit is {MAX_RULES:,}.", "Split it.")
    return records


def parse_json(text: str) -> Any:
    """Parse the JSON *text*; raises BadFile where it is not JSON, or has an object with the same name twice."""
    try:
        return json.loads(text, object_pairs_hook=_unique_names, parse_int=_parse_integer)
    except json.JSONDecodeError as error:
        raise BadFile(
            f"Line {error.lineno:,}, column {error.colno:,}: this is not JSON. {error.msg}.",
            "Usually an extra comma, or an unclosed or typographic quote.",
        ) from error
    except RecursionError as error:
        raise BadFile("The JSON is nested too deeply.") from error


def _unique_names(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise BadFile(f"“{name[:40]}” comes twice in one object.", "Remove one of them.")
        found[name] = value
    return found


def _parse_integer(digits: str) -> int | float:
    """Parse an integer; one with too many digits becomes infinite, so that it is reported with its record."""
    return int(digits) if len(digits) <= MAX_DIGITS else float("inf")


def export_lines(rules: Sequence[Rule]) -> Iterator[bytes]:
    """Write the file record by record: each rule as the service gave it, field for field, and that it is one.

    The product's import skips records without a type, and the specified service's records have none.
    """
    before = "[\n"
    for rule in rules:
        record = {**rule.document()}
        record.setdefault("objectType", "rule")
        yield f"{before}  {json.dumps(record, ensure_ascii=False)}".encode("utf-8", "surrogatepass")
        before = ",\n"
    yield b"[]\n" if before == "[\n" else b"\n]\n"


def export_name(day: date) -> str:
    """Return the file name of an export made on *day*."""
    return f"rules_{day:%Y-%m-%d}.json"


MAX_DEPTH: Final = 40
"""Levels of lists and objects in one rule; real ones have about seven."""


def fit_draft(record: Any) -> RuleDraft | str:
    """Return *record* as a draft with all of its fields, or what is wrong with its shape, as the rest of a sentence."""
    if not isinstance(record, dict):
        return "not an object"
    if unfit := _unfit(record):
        return unfit
    try:
        return RuleDraft.model_validate(record, context=TEXTS_ONLY)
    except ValidationError as error:
        return _wrong_field(without_choices(error.errors(include_url=False, include_input=False)[0]["loc"]))


def _unfit(record: dict[str, Any]) -> str:
    """Return why *record* can't be sent at all; empty where it can."""
    try:
        text = json.dumps(record, ensure_ascii=False, allow_nan=False)
        text.encode()
    except RecursionError:
        return TOO_DEEP
    except ValueError:  # an infinite number or a lone surrogate, which JSON can't carry
        return "it has a number or a character that can’t be sent"
    brackets = text.count("[") + text.count("{")  # an upper bound of the depth, so that few rules are walked
    return TOO_DEEP if brackets > MAX_DEPTH and _is_deeper_than(record, MAX_DEPTH) else ""


TOO_DEEP: Final = "nested too deeply for a rule"


def _is_deeper_than(value: Any, levels: int) -> bool:
    if not isinstance(value, dict | list):
        return False
    inner = value.values() if isinstance(value, dict) else value
    return levels == 0 or any(_is_deeper_than(each, levels - 1) for each in inner)


def _wrong_field(path: tuple[int | str, ...]) -> str:
    """Return that the field at *path* has the wrong type."""
    pair = ""
    if len(path) > 1 and path[0] == "pairs" and isinstance(path[1], int):
        pair = f" of pair {path[1] + 1}"
        path = path[2:] or ("pair",)
    return f"{'.'.join(map(str, path))}{pair} is of the wrong type"
