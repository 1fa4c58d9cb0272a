"""The fields of a rule's form, pair by pair or as JSON, and the form read back from Slack."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, Final

from bot.rules.model import PAIR_FIELDS
from handlers.blocks import inputs
from handlers.blocks.modals import View, section

Document = dict[str, Any]

SKELETONS: Final[Mapping[str, Document]] = {
    "Headers": {
        "modifications": {"Request": [{"header": "X-Debug", "type": "Add", "value": "1"}], "Response": []},
    },
    "QueryParam": {"modifications": [{"param": "utm_source", "type": "Remove", "value": ""}]},
    "UserAgent": {"userAgent": "Mozilla/5.0 (Phone)"},
    "Request": {"request": {"type": "static", "value": "{}"}},
    "Response": {
        "response": {"type": "static", "value": "{}", "statusCode": "200", "statusText": "", "resourceType": "restApi"}
    },
    "Delay": {"delay": "2000"},
    "Script": {
        "scripts": [{"codeType": "js", "type": "code", "value": "console.log('hello')", "loadTime": "afterPageLoad"}]
    },
}
"""What a new pair of each type looks like in the real service, less its source."""

RULE_FIELDS: Final[Mapping[str, Document]] = {"Headers": {"version": 2}}
"""What a new rule of a type needs beside its pairs: without it the engines read Headers in their oldest form."""

PLACEHOLDER: Final = "https://shop.example.com/"
QUOTES: Final = "“”„‟«»‘’"


class NotPairs(ValueError):
    """A text that is not a list of pairs. The words are for people, and say where it is wrong."""


def skeleton(rule_type: str, source: Mapping[str, Any]) -> Document:
    """A new pair of *rule_type* to start from; one of an unknown type has its source and nothing else."""
    value = source.get("value") or PLACEHOLDER
    return {"source": {**source, "value": value}, **SKELETONS.get(rule_type, {})}


def json_of_pairs(pairs: Sequence[Mapping[str, Any]]) -> str | None:
    """The pairs as a person can edit them: a line a field, or a line a pair; None where a form cannot hold them."""
    lines = ",\n".join(json.dumps(pair, ensure_ascii=False) for pair in pairs)
    for text in (json.dumps(list(pairs), indent=1, ensure_ascii=False), f"[\n{lines}\n]"):
        if inputs.holds(text):
            return text
    return None


def pairs_that_fit(pairs: Sequence[Document]) -> list[Document]:
    """The first of *pairs*, as many as a form holds with a line for each."""
    ends = accumulate(inputs.length(json.dumps(pair, ensure_ascii=False)) + 2 for pair in pairs)
    return [pair for pair, end in zip(pairs, ends, strict=True) if end <= inputs.MOST_TYPED - 2]


def read(text: str) -> list[Document]:
    """The pairs in *text*, exactly as written; raises NotPairs."""
    try:
        pairs = DECODER.decode((text.strip() and text) or "[]")
    except json.JSONDecodeError as error:
        raise NotPairs(_place(error)) from error
    except RecursionError as error:
        raise NotPairs("The JSON is nested too deeply.") from error
    if not isinstance(pairs, list) or not all(isinstance(pair, dict) for pair in pairs):
        raise NotPairs("Enter a JSON list of objects: [ { … }, { … } ]")
    return pairs


def _place(error: json.JSONDecodeError) -> str:
    found = error.doc[error.pos : error.pos + 1]
    hint = f" {found} is a typographic quote; JSON needs straight ones." if found and found in QUOTES else ""
    return f"Line {error.lineno}, column {error.colno}: this is not JSON. {error.msg}.{hint}"


def _once(fields: Iterable[tuple[str, Any]]) -> Document:
    found: Document = {}
    for name, value in fields:
        if name in found:
            raise NotPairs(f"{name[:40]} comes twice in one object. Remove one of them.")
        found[name] = value
    return found


def _no_constant(name: str) -> Any:
    raise NotPairs(f"{name} is not JSON.")


def _number(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise NotPairs(f"{text[:20]} is too large for a number.")
    return value


DECODER: Final = json.JSONDecoder(parse_constant=_no_constant, parse_float=_number, object_pairs_hook=_once)


LABELS: Final = {
    "key": "Compare",
    "operator": "How",
    "value": "From",
    "destinationType": "Kind of destination",
    "destination": "To",
    "from": "Find",
    "to": "Replace with",
}
ORDER: Final = ("value", "destination", "from", "to", "operator", "key", "destinationType")
"""In which the fields of a pair are asked for: what everybody fills in first."""
OPTIONS: Final[Mapping[str, dict[str, str]]] = {
    "key": {"Url": "the whole URL", "host": "the host", "path": "the path"},
    "operator": {
        "Equals": "is exactly",
        "Contains": "contains",
        "Matches": "matches, as a regular expression",
        "Wildcard_Matches": "matches, with * for anything",
    },
    "destinationType": {
        "url": "a URL",
        "map_local": "a local file (desktop app only)",
        "mock_or_file_picker": "a mock, or a file that was picked",
    },
}
"""What can be chosen for a field, the usual first, and what it is called."""
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


def pairs_of_body(document: Document) -> tuple[FormPair, ...]:
    """The pairs of a rule's body."""
    return tuple(FormPair(f"o{number}", pair) for number, pair in enumerate(document.get("pairs") or (), start=1))


RUN: Final = re.compile(r"([on])([0-9]{1,6})(?:-([0-9]{1,6}))?")


def pack_keys(keys: Iterable[str]) -> str:
    """Write *keys* as runs, ``o1-1000,n1``: a view keeps 3,000 characters for us, and a rule may have any number of pairs."""
    runs: list[tuple[str, int, int]] = []
    for key in keys:
        kind, number = key[0], int(key[1:])
        if runs and (kind, number) == (runs[-1][0], runs[-1][2] + 1):
            runs[-1] = (kind, runs[-1][1], number)
        else:
            runs.append((kind, number, number))
    return ",".join(f"{kind}{first}" if first == last else f"{kind}{first}-{last}" for kind, first, last in runs)


def unpack_keys(text: str) -> list[str]:
    """The keys that `pack_keys` wrote."""
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
        isinstance(value, str) and inputs.holds(value) and (name not in OPTIONS or len(value) <= inputs.LONGEST_OPTION)
    )


def size_of(pair: FormPair, rule_type: str) -> int:
    """Characters that the texts of *pair* take in a view, however Slack writes them down."""
    return len(json.dumps([pair.read(name) for name in names_of(rule_type)]))


def is_unusual(pair: FormPair, rule_type: str) -> bool:
    """Whether a menu of *pair* holds something else than its default."""
    return any((pair.read(name) or usual(name)) != usual(name) for name in _menus(rule_type))


def usual(name: str) -> str:
    """What a field with a menu is where nobody chose; empty for another field."""
    return next(iter(OPTIONS.get(name, ())), "")


def _menus(rule_type: str) -> list[str]:
    return [name for name in names_of(rule_type) if name in OPTIONS]


def pair_blocks(pair: FormPair, number: int, rule_type: str, *, removable: bool, more: bool) -> list[View]:
    """The inputs of *pair*, *more* than are often used; under its *number*, where it is not the only one and so *removable*."""
    names = [name for name in names_of(rule_type) if more or name not in OPTIONS]
    fields = [_field(pair, name, rule_type) for name in sorted(names, key=ORDER.index)]
    if not removable:
        return fields
    head: View = section(f"*Pair {number}*") | {"block_id": f"head.{pair.key}"}
    head["accessory"] = button("Remove pair", f"v1.form.remove.{pair.key}", pair.key)
    return [head, *fields]


def _field(pair: FormPair, name: str, rule_type: str) -> View:
    block_id, value = pair.block_id(name), pair.read(name)
    if name in OPTIONS:
        chosen = value or usual(name)
        return inputs.menu(block_id, LABELS[name], OPTIONS[name] | {chosen: OPTIONS[name].get(chosen, chosen)}, chosen)
    optional = name == "to" or (name == "value" and rule_type == "Replace")
    hint = "The full URL, exactly as in the address bar."
    return inputs.text(
        block_id,
        LABELS[name],
        value,
        optional=optional,
        placeholder=PLACEHOLDERS.get(name),
        hint=hint if name == "value" else None,
    )


def button(label: str, action_id: str, value: str) -> View:
    return {"type": "button", "action_id": action_id, "value": value, "text": inputs.plain(label)}
