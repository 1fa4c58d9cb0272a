"""Pairs as JSON in a form: what stands there at first, and what was typed, read back or refused with its place."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate
from typing import Any, Final

from handlers.views import fields

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
    """A text that is no list of pairs. The words are for people, and say where."""


def skeleton(rule_type: str, source: Mapping[str, Any]) -> Document:
    """A new pair of *rule_type* to start from; one of an unknown type has its source and nothing else."""
    value = source.get("value") or PLACEHOLDER
    return {"source": {**source, "value": value}, **SKELETONS.get(rule_type, {})}


def written(pairs: Sequence[Mapping[str, Any]]) -> str | None:
    """The pairs as a person can edit them: a line a field, or a line a pair; None where a form cannot hold them."""
    lines = ",\n".join(json.dumps(pair, ensure_ascii=False) for pair in pairs)
    for text in (json.dumps(list(pairs), indent=1, ensure_ascii=False), f"[\n{lines}\n]"):
        if fields.holds(text):
            return text
    return None


def fitting(pairs: Sequence[Document]) -> list[Document]:
    """The first of *pairs*, as many as a form holds with a line for each."""
    ends = accumulate(fields.length(json.dumps(pair, ensure_ascii=False)) + 2 for pair in pairs)
    return [pair for pair, end in zip(pairs, ends, strict=True) if end <= fields.MOST_TYPED - 2]


def read(text: str) -> list[Document]:
    """The pairs in *text*, exactly as written; raises NotPairs."""
    try:
        pairs = DECODER.decode((text.strip() and text) or "[]")
    except json.JSONDecodeError as error:
        raise NotPairs(_place(error)) from error
    except RecursionError as error:
        raise NotPairs("This is nested too deep.") from error
    if not isinstance(pairs, list) or not all(isinstance(pair, dict) for pair in pairs):
        raise NotPairs("The pairs are a JSON list of objects: [ { … }, { … } ]")
    return pairs


def _place(error: json.JSONDecodeError) -> str:
    found = error.doc[error.pos : error.pos + 1]
    hint = f" {found} is a typographic quote; JSON wants a straight one." if found and found in QUOTES else ""
    return f"Line {error.lineno}, column {error.colno}: this is not JSON. {error.msg}.{hint}"


def _once(fields: Iterable[tuple[str, Any]]) -> Document:
    found: Document = {}
    for name, value in fields:
        if name in found:
            raise NotPairs(f"{name[:40]} comes twice in one object; only one of them could be kept.")
        found[name] = value
    return found


def _no_constant(name: str) -> Any:
    raise NotPairs(f"{name} is not JSON.")


def _number(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise NotPairs(f"{text[:20]} is larger than a number can be.")
    return value


DECODER: Final = json.JSONDecoder(parse_constant=_no_constant, parse_float=_number, object_pairs_hook=_once)
