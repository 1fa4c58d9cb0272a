"""One pair of a rule in a form: its fields by the type of the rule, each an input or kept as it is."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from bot.domain.checks import KEYS, OPERATORS
from bot.domain.rule import PAIR_FIELDS
from handlers.views import fields
from handlers.views.forms import View, section
from handlers.views.json_pairs import Document

LABELS: Final = {
    "key": "Part of the URL",
    "operator": "Operator",
    "value": "Source",
    "destinationType": "Destination type",
    "destination": "Destination",
    "from": "Find",
    "to": "Replace with",
}
OPTIONS: Final = {"key": KEYS, "operator": OPERATORS, "destinationType": ("url", "map_local", "mock_or_file_picker")}
PLACEHOLDERS: Final = {"value": "https://shop.example.com/old", "destination": "https://shop.example.com/new"}
NEW_PAIR: Final[Document] = {"source": {"key": "Url", "operator": "Equals", "value": ""}, "destinationType": "url"}


@dataclass(frozen=True, slots=True)
class FormPair:
    """One pair in the form. *key* is its place in block ids: ``o3`` was the rule's pair 3, ``n1`` is new."""

    key: str
    document: Document

    def read(self, name: str) -> Any:
        if name in {"key", "operator", "value"}:
            return (self.document.get("source") or {}).get(name)
        return self.document.get(name)

    def with_field(self, name: str, value: str) -> FormPair:
        if name in {"key", "operator", "value"}:
            return FormPair(self.key, self.document | {"source": {**(self.document.get("source") or {}), name: value}})
        return FormPair(self.key, self.document | {name: value})

    @property
    def is_new(self) -> bool:
        return self.key.startswith("n")

    def block_id(self, name: str) -> str:
        return f"p.{self.key}.{name}"

    def only(self, names: tuple[str, ...]) -> Document:
        """Without what belongs to another type of rule: typed before this one was chosen, or stored wrongly."""
        return {name: value for name, value in self.document.items() if name not in LABELS or name in names}


def numbered(document: Document) -> tuple[FormPair, ...]:
    """The pairs of a rule's body."""
    return tuple(FormPair(f"o{number}", pair) for number, pair in enumerate(document.get("pairs") or (), start=1))


RUN: Final = re.compile(r"([on])([0-9]{1,6})(?:-([0-9]{1,6}))?")


def packed(keys: Iterable[str]) -> str:
    """Write *keys* as runs, ``o1-1000,n1``: a view keeps 3,000 characters for us, and a rule may have any number of pairs."""
    runs: list[tuple[str, int, int]] = []
    for key in keys:
        kind, number = key[0], int(key[1:])
        if runs and (kind, number) == (runs[-1][0], runs[-1][2] + 1):
            runs[-1] = (kind, runs[-1][1], number)
        else:
            runs.append((kind, number, number))
    return ",".join(f"{kind}{first}" if first == last else f"{kind}{first}-{last}" for kind, first, last in runs)


def unpacked(text: str) -> list[str]:
    """The keys that `packed` wrote."""
    runs = (match.groups() for match in RUN.finditer(text))
    return [f"{kind}{number}" for kind, first, last in runs for number in range(int(first), int(last or first) + 1)]


def names_of(rule_type: str) -> tuple[str, ...]:
    """The fields of a pair in a rule of this type."""
    return ("key", "operator", "value", *PAIR_FIELDS.get(rule_type, ()))


def fits(pair: FormPair, rule_type: str) -> bool:
    """Whether Slack's inputs hold every field of *pair*."""
    return all(_holds(name, pair.read(name)) for name in names_of(rule_type))


def _holds(name: str, value: Any) -> bool:
    if value is None:
        return True
    return (
        isinstance(value, str) and fields.holds(value) and (name not in OPTIONS or len(value) <= fields.LONGEST_OPTION)
    )


def size_of(pair: FormPair, rule_type: str) -> int:
    """Characters that the texts of *pair* take in a view, however Slack writes them down."""
    return len(json.dumps([pair.read(name) for name in names_of(rule_type)]))


def pair_blocks(pair: FormPair, number: int, rule_type: str, *, removable: bool) -> list[View]:
    """The inputs of *pair*, the one of this *number*, under its head."""
    head: View = section(f"*Pair {number}*") | {"block_id": f"head.{pair.key}"}
    if removable:
        head["accessory"] = button("Remove pair", f"v1.form.remove.{pair.key}", pair.key)
    return [head, *(_field(pair, name, rule_type) for name in names_of(rule_type))]


def _field(pair: FormPair, name: str, rule_type: str) -> View:
    block_id, value = pair.block_id(name), pair.read(name)
    if name in OPTIONS:
        return fields.select(block_id, LABELS[name], OPTIONS[name], value or OPTIONS[name][0])
    optional = name == "to" or (name == "value" and rule_type == "Replace")
    hint = "The whole address as a browser sends it: https://shop.example.com/ with its last slash."
    return fields.text(
        block_id,
        LABELS[name],
        value,
        optional=optional,
        placeholder=PLACEHOLDERS.get(name),
        hint=hint if name == "value" else None,
    )


def button(label: str, action_id: str, value: str) -> View:
    return {"type": "button", "action_id": action_id, "value": value, "text": fields.plain(label)}
