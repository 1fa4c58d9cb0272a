"""One pair of a rule in a form: its fields by the type of the rule, each an input or kept as it is."""

from __future__ import annotations

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


def names_of(rule_type: str) -> tuple[str, ...]:
    """The fields of a pair in a rule of this type."""
    return ("key", "operator", "value", *PAIR_FIELDS.get(rule_type, ()))


def fits(pair: FormPair, rule_type: str) -> bool:
    """Whether Slack's inputs hold every field of *pair*."""
    texts = [pair.read(name) for name in names_of(rule_type)]
    if not all(text is None or isinstance(text, str) for text in texts):
        return False
    menus = [pair.read(name) or "" for name in ("key", "operator", "destinationType")]
    return all(len(text or "") <= fields.MOST_TYPED for text in texts) and all(len(text) <= 75 for text in menus)


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
