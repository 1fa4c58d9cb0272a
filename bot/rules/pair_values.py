"""Convert the fields of a pair to the texts that people edit, and back into the pair, with everything else unchanged."""

from __future__ import annotations

import json
from collections.abc import Mapping
from copy import deepcopy
from typing import Any, Final

from bot.rules.files import parse_json
from bot.rules.pair_fields import EMPTY, REST, TYPES, UNKNOWN, Document, FieldKind, PairField, fields_of
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
        if field.start is not None:
            start = field.usual if field.start == "" else field.start
            pair = dict(_with_value_at(pair, field.path.split("."), start))
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
    path = field.path.split(".")
    old = _value_at(pair, path)
    return dict(_with_value_at(pair, path, _value(field, text, old)))


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


def _value(field: PairField, text: str, old: Any) -> Any:
    return _changes(field, text, old if isinstance(old, list) else []) if field.kind is FieldKind.CHANGES else text


def _as_text(field: PairField, value: Any) -> str | None:
    if field.kind is FieldKind.CHANGES:
        return _change_lines(field, value)
    if not isinstance(value, str):
        return None
    if field.kind is FieldKind.CHOICE:
        return value or field.usual
    return None if len(value.splitlines()) > 1 else value


def _change_lines(field: PairField, value: Any) -> str | None:
    """Return one line for each change; None where one of them can't be parsed back from its line."""
    entries = value if isinstance(value, list) else [None]
    lines = [_change_line(field, entry) for entry in entries]
    return None if None in lines else "\n".join(line for line in lines if line is not None)


Parts = tuple[str, str, str]
"""The parts of one change: its operation, the name of what is changed, and the value."""


def _parts(field: PairField, entry: Mapping[str, Any]) -> Parts:
    kind, name, value = (entry.get(key) for key in ("type", field.entry, "value"))
    has_value = value is not None and _takes_value(str(kind))
    return str(kind), "" if _is_all(str(kind)) or name is None else str(name), str(value) if has_value else ""


def _takes_value(kind: str) -> bool:
    return not kind.startswith("Remove")


def _is_all(kind: str) -> bool:
    return kind.endswith(" All")


def _change_line(field: PairField, entry: Any) -> str | None:
    """Return the change as a line, such as ``Add X-Debug: 1``; None where a line can't express it exactly."""
    if not isinstance(entry, Mapping) or str(entry.get("type")) not in field.options:
        return None
    parts = kind, name, value = _parts(field, entry)
    verb = field.options[kind]
    line = f"{verb} {name}{field.joint}{value}" if _takes_value(kind) else f"{verb} {name}"
    try:
        return line.strip() if len(line.splitlines()) == 1 and _parse_change(field, line, 1) == parts else None
    except BadValue:
        return None


def _parse_change(field: PairField, line: str, number: int) -> Parts:
    """Parse the change in *line*; the default verb is the first one, which adds. Raises BadValue."""
    text = line.strip()
    first = next(iter(field.options))
    for kind, verb in sorted(field.options.items(), key=lambda option: -len(option[1])):
        if text.casefold() == verb.casefold() and _is_all(kind):
            return kind, "", ""
        if text.casefold().startswith(f"{verb.casefold()} ") and not _is_all(kind):
            first, text = kind, text[len(verb) :].strip()
            break
    name, joint, value = text.partition(field.joint.strip())
    name = name.strip()
    if not name or len(name.split()) > 1 or bool(joint) != _takes_value(first):
        raise BadValue(f"Line {number} can’t be read. {field.hint}")
    return first, name, value.strip()


def _changes(field: PairField, text: str, old: list[Any]) -> list[Any]:
    """Return the list that *text* describes. Entries of *old* that it keeps, or changes in part, keep their other fields."""
    wanted = [_parse_change(field, line, number) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    left = [entry for entry in old if isinstance(entry, Mapping)]
    entries: list[Any] = [None] * len(wanted)
    for is_meant in (_is_same, _has_same_name, _is_renamed):
        for number, parts in enumerate(wanted):
            at = next((at for at, one in enumerate(left) if is_meant(_parts(field, one), parts)), None)
            if entries[number] is None and at is not None:
                entries[number] = _with_parts(field, left.pop(at), parts)
    return [
        _with_parts(field, {}, parts) if entry is None else entry for entry, parts in zip(entries, wanted, strict=True)
    ]


def _is_same(old: Parts, new: Parts) -> bool:
    return old == new


def _has_same_name(old: Parts, new: Parts) -> bool:
    return old[1] == new[1]


def _is_renamed(old: Parts, new: Parts) -> bool:
    return (old[0], old[2]) == (new[0], new[2])


def _with_parts(field: PairField, entry: Mapping[str, Any], parts: Parts) -> dict[str, Any]:
    if entry and _parts(field, entry) == parts:
        return dict(entry)
    kind, name, value = parts
    return {**entry, field.entry: name, "type": kind, "value": value}


ODD: Final = object()
"""Returned where the path to a field is blocked, by a text or a list instead of an object."""


def _value_at(inside: Any, path: list[str]) -> Any:
    """Return the value at *path*; None where it is missing, ODD where something else than an object is in the way."""
    for key in path:
        if inside is None:
            return None
        if not isinstance(inside, Mapping):
            return ODD
        inside = inside.get(key)
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
    known = {"id", *pair} if REST in fields else {"id", *(field.path.partition(".")[0] for field in fields)}
    others = [name for name, value in pair.items() if name not in known and value not in EMPTY]
    source = pair.get("source")
    if isinstance(source, Mapping):
        others += [name for name, value in source.items() if name not in IN_SOURCE and value not in EMPTY]
    return others


IN_SOURCE: Final = frozenset({"key", "operator", "value"})
