"""Convert the fields of a pair to the texts that people edit, and back into the pair, with everything else unchanged."""

from __future__ import annotations

import json
from collections.abc import Mapping
from copy import deepcopy
from typing import Any, Final

from bot.rules.files import parse_json
from bot.rules.pair_fields import EMPTY, TYPES, UNKNOWN, Document, FieldKind, PairField, fields_of
from bot.text.encoding import BadFile

MAX_INDENTED: Final = 3_000
"""Characters of JSON with a line for each field, above which it is in one line: an input holds no more."""


class BadValue(ValueError):
    """A text that a field can't have; the message says what to enter."""


def new_pair(rule_type: str | None, source: Mapping[str, Any]) -> Document:
    """Return a new pair of *rule_type* with its defaults; for an unknown type, with its *source* only."""
    known = TYPES.get(rule_type or "", UNKNOWN)
    pair: Document = {"source": {**source}, **deepcopy({**known.example})}
    for field in known.fields:
        if field.kind is not FieldKind.REST:
            pair = dict(_with_value_at(pair, field.path.split("."), field.usual))
    return pair


def text_of(field: PairField, pair: Mapping[str, Any]) -> str | None:
    """Return the value of *field* in *pair* as editable text; None where the value doesn't fit the kind of the field."""
    if field.kind is FieldKind.REST:
        return json_text({name: value for name, value in pair.items() if name != "source"})
    found = _value_at(pair, field.path.split("."))
    return field.usual if found is None else _as_text(field, found)


def with_text(field: PairField, pair: Document, text: str) -> Document:
    """Return *pair* with *text* in *field*, or unchanged where its text is the same. Raises BadValue."""
    before = text_of(field, pair)
    if before is not None and normalize_breaks(text) == normalize_breaks(before):
        return pair
    if field.kind is FieldKind.REST:
        return _with_rest(pair, read_object(text))
    return dict(_with_value_at(pair, field.path.split("."), text))


def normalize_breaks(text: str) -> str:
    """Return *text* with every line break as a line feed, as browsers normalise them."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def json_text(document: Mapping[str, Any]) -> str:
    """Return *document* as JSON to be edited, with a line for each field if that isn't long."""
    text = json.dumps(document, indent=1, ensure_ascii=False)
    return text if len(text) <= MAX_INDENTED else json.dumps(document, ensure_ascii=False)


def read_object(text: str) -> Document:
    """Return the JSON object in *text*, exactly as written; raises BadValue."""
    try:
        found = parse_json(text)
        json.dumps(found, allow_nan=False)
    except BadFile as error:
        raise BadValue(str(error)) from error
    except RecursionError as error:
        raise BadValue("The JSON is nested too deeply.") from error
    except ValueError as error:
        raise BadValue("One of the numbers is NaN, Infinity or too large for a number.") from error
    if not isinstance(found, dict):
        raise BadValue("Enter a JSON object: { … }")
    return found


def _with_rest(pair: Document, rest: Document) -> Document:
    if "source" in rest:
        raise BadValue("The source has inputs of its own, so it can’t be in this JSON.")
    return {name: pair[name] for name in ("source",) if name in pair} | rest


def _as_text(field: PairField, value: Any) -> str | None:
    if not isinstance(value, str):
        return None
    if field.kind is FieldKind.CHOICE:
        return value or field.usual
    return None if len(value.splitlines()) > 1 else value


def _value_at(inside: Any, path: list[str]) -> Any:
    """Return the value at *path*; None where it is missing."""
    for key in path:
        inside = (inside or {}).get(key)
    return inside


def _with_value_at(inside: Any, path: list[str], value: Any) -> Any:
    """Return a copy of *inside* with *value* at *path*; missing objects on the way are created."""
    if not path:
        return value
    key, *rest = path
    return {**(inside or {}), key: _with_value_at((inside or {}).get(key), rest, value)}


def other_names(rule_type: str | None, pair: Mapping[str, Any]) -> list[str]:
    """Return the names of the fields of *pair* and its source that no field of the form holds, without the pair's id."""
    fields = fields_of(rule_type, pair)
    has_rest = any(field.kind is FieldKind.REST for field in fields)
    known = {"id", *(pair if has_rest else (field.path.partition(".")[0] for field in fields))}
    others = [name for name, value in pair.items() if name not in known and value not in EMPTY]
    source = pair.get("source")
    if isinstance(source, Mapping):
        others += [name for name, value in source.items() if name not in IN_SOURCE and value not in EMPTY]
    return others


IN_SOURCE: Final = frozenset({"key", "operator", "value"})
