"""The fields of a pair as people read and write them: a text each, and the pair with that text put in. Nothing else moves."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Final

from bot.rules.pair_fields import EMPTY, TYPES, UNKNOWN, Document, FieldKind, PairField, fields_of

MAX_DIGITS: Final = 9


class BadValueKind(StrEnum):
    NOT_A_NUMBER = "not a number"
    NOT_A_CHANGE = "not a change"


class BadValue(ValueError):
    """A text that a field cannot have. *line* counts from 1 where the text has several."""

    def __init__(self, kind: BadValueKind, field: PairField, line: int = 0) -> None:
        super().__init__(kind)
        self.kind, self.field, self.line = kind, field, line


def new_pair(rule_type: str | None, source: Mapping[str, Any]) -> Document:
    """A pair of *rule_type* to start from; one of an unknown type has its source and nothing else."""
    pair: Document = {"source": {**source}}
    for field in TYPES.get(rule_type or "", UNKNOWN).fields:
        if field.start is not None:
            pair = dict(
                _with_value_at(
                    pair, field.path.replace("*", "0").split("."), field.usual if field.start == "" else field.start
                )
            )
    return pair


def text_of(field: PairField, pair: Mapping[str, Any]) -> str | None:
    """What *pair* says in *field*, as a person would write it; None where it holds something else than the field knows."""
    found = _value_at(pair, field.path.split("."))
    return field.usual if found is None else _as_text(field, found)


def with_text(field: PairField, pair: Document, text: str) -> Document:
    """Return *pair* with *text* in *field*; as it was where that says the same. Raises BadValue."""
    before = text_of(field, pair)
    if before is not None and _normalize_breaks(text) == _normalize_breaks(before):
        return pair
    path = field.path.split(".")
    old = _value_at(pair, path)
    return dict(_with_value_at(pair, path, _value(field, text, old)))


def _normalize_breaks(text: str) -> str:
    """Return *text* with the line breaks that a browser makes of others."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _value(field: PairField, text: str, old: Any) -> Any:
    match field.kind:
        case FieldKind.CHANGES:
            return _changes(field, text, old if isinstance(old, list) else [])
        case FieldKind.FLAG:
            return text == "true"
        case FieldKind.NUMBER:
            number = text.strip()
            if number and not (_is_number(number) and field.least <= int(number) <= field.most):
                raise BadValue(BadValueKind.NOT_A_NUMBER, field)
            return int(number) if isinstance(old, int) and number else number
        case FieldKind.LINE | FieldKind.TEXT | FieldKind.CHOICE:
            return text


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= MAX_DIGITS


def _as_text(field: PairField, value: Any) -> str | None:
    text = value if isinstance(value, str) else None
    match field.kind:
        case FieldKind.CHANGES:
            return _change_lines(field, value)
        case FieldKind.FLAG:
            return str(value).lower() if isinstance(value, bool) else None
        case FieldKind.NUMBER:
            return str(value) if value == "" or (not isinstance(value, bool) and _is_number(str(value))) else None
        case FieldKind.CHOICE:
            return field.usual if text == "" else text
        case FieldKind.LINE:
            return None if text is None or len(text.splitlines()) > 1 else text
        case FieldKind.TEXT:
            return text


def _change_lines(field: PairField, value: Any) -> str | None:
    """Return a line for each change; None unless every one of them comes back from its line."""
    entries = value if isinstance(value, list) else [None]
    lines = [_change_line(field, entry) for entry in entries]
    return None if None in lines else "\n".join(line for line in lines if line is not None)


Parts = tuple[str, str, str]
"""Of one change: its operation, the name of what is changed, and the value."""


def _parts(field: PairField, entry: Mapping[str, Any]) -> Parts:
    kind, name, value = (entry.get(key) for key in ("type", field.entry, "value"))
    has_value = value is not None and _takes_value(str(kind))
    return str(kind), "" if _is_all(str(kind)) or name is None else str(name), str(value) if has_value else ""


def _takes_value(kind: str) -> bool:
    return not kind.startswith("Remove")


def _is_all(kind: str) -> bool:
    return kind.endswith(" All")


def _change_line(field: PairField, entry: Any) -> str | None:
    """Return the change as a line, ``Add X-Debug: 1``; None where that would not say all of it."""
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
    """Parse the change in *line*; without a verb, it adds. Raises BadValue."""
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
        raise BadValue(BadValueKind.NOT_A_CHANGE, field, number)
    return first, name, value.strip()


def _changes(field: PairField, text: str, old: list[Any]) -> list[Any]:
    """The list that *text* says. What it leaves as it was, or changes in part, keeps all that the line doesn't show."""
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
"""What stands in the way of a field: a text where an object should be, or an object where a list should."""


def _value_at(inside: Any, path: list[str]) -> Any:
    """Return what is at *path*; None where nothing is, ODD where it can't be."""
    for key in path:
        if inside is None:
            return None
        if isinstance(inside, list) and key.isdigit():
            inside = inside[int(key)] if int(key) < len(inside) else None
        elif isinstance(inside, Mapping) and not key.isdigit():
            inside = inside.get(key)
        else:
            return ODD
    return inside


def _with_value_at(inside: Any, path: list[str], value: Any) -> Any:
    """Return a copy of *inside* with *value* at *path*; what is missing on the way is made."""
    if not path:
        return value
    key, *rest = path
    if key.isdigit():
        entries = [*(inside or ())]
        entries += [None] * (int(key) + 1 - len(entries))
        entries[int(key)] = _with_value_at(entries[int(key)], rest, value)
        return entries
    return {**(inside or {}), key: _with_value_at((inside or {}).get(key), rest, value)}


def other_names(rule_type: str | None, pair: Mapping[str, Any]) -> list[str]:
    """What *pair* and its source hold beside the fields of the table, by name, less the pair's id."""
    known = {"id", *(field.path.partition(".")[0] for field in fields_of(rule_type, pair))}
    others = [name for name, value in pair.items() if name not in known and value not in EMPTY]
    source = pair.get("source")
    if isinstance(source, Mapping):
        others += [name for name, value in source.items() if name not in IN_SOURCE and value not in EMPTY]
    return others


IN_SOURCE: Final = frozenset({"key", "operator", "value"})
