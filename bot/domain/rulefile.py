"""Rules as a file: the list of JSON objects that the real product's own export gives and its import takes."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from typing import Any, Final

from bot.domain.rule import Rule

RULE: Final = {"objectType": "rule"}
"""The product's import skips a record that does not say what it is; the specified service's records do not."""


def exported(rules: Sequence[Rule], groups: Sequence[Mapping[str, Any]] = ()) -> bytes:
    """The file: rules as the service gave them, field for field, then groups without their children."""
    return b"".join(pieces(rules, groups))


def pieces(rules: Sequence[Rule], groups: Sequence[Mapping[str, Any]] = ()) -> Iterator[bytes]:
    """The same, record by record: a large list need not be made in one go."""
    before = "[\n"
    for rule in rules:
        yield _line(before, rule.document(), RULE)
        before = ",\n"
    for group in groups:
        yield _line(before, {**group, "children": []}, {"objectType": "group"})
        before = ",\n"
    yield b"[]\n" if before == "[\n" else b"\n]\n"


def _line(before: str, record: Mapping[str, Any], kind: Mapping[str, str]) -> bytes:
    known = record if "objectType" in record else {**record, **kind}
    return f"{before}  {json.dumps(known, ensure_ascii=False)}".encode("utf-8", "surrogatepass")


def file_name(day: date) -> str:
    """What the product calls its own exports."""
    return f"requestly_export_{day:%d_%m_%Y}.json"
