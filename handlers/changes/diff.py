"""The differences between two versions of a rule or a member, field by field."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Any, Final

from bot.changes.model.change import Change
from bot.changes.model.documents import canonical_form
from bot.changes.model.edits import Edit
from bot.rules.edit import MAX_PAIRS
from bot.rules.pair_fields import CHOICES, NOUNS
from bot.rules.secrets import hide_secrets, only_pairs
from handlers.blocks.messages import MAX_SHORTENED, and_more, code, esc, shorten_url
from handlers.rules.pairs_view import FILTER_WORDS, plain_change
from handlers.rules.reasons import TYPE_WORDS

Version = Mapping[str, Any] | None
"""A rule, a group or a member as it was or will be; None where there is none, before it is created or after it is deleted."""
MAX_LINES: Final = 12
FIRST_PAIRS: Final = 12
"""Pairs of a rule that a card shows whether they differ or not."""
MAX_SEGMENTS: Final = 20
NAMES: Final = {
    "name": "name",
    "status": "status",
    "description": "description",
    "ruleType": "type",
    "groupId": "group",
    "allowedSegments": "segments",
    "source.filters": "filters",
    **{f"source.filters.*.{name}": f"only for {words}" for name, words in FILTER_WORDS.items()},
    "modifications.Request": "request header",
    "modifications.Response": "response header",
    "modifications": "modification",
    "scripts": "script",
    "scripts.*.value": "script * code",
    "userAgent": "user agent",
    "request.value": "request body",
    "response.value": "answer's body",
    "response.statusCode": "answer's status",
    **NOUNS,
}
"""The name of each field, by its path; ``*`` stands for a number."""


CHOSEN: Final = {"status": {"Active": "on", "Inactive": "off"}, "ruleType": TYPE_WORDS, **CHOICES}
"""The words for the values of fields with a fixed choice, by path."""


def value_words(path: str, value: Any) -> str | None:
    """Return the words for *value* where the field at *path* has a fixed choice; None for any other field."""
    options = CHOSEN.get(".".join(_generic_path(path)), {})
    return options.get(str(value).lower() if isinstance(value, bool) else str(value))


def _generic_path(path: str) -> list[str]:
    return ["*" if part.isdigit() else part for part in path.split(".")]


@dataclass(frozen=True, slots=True)
class Line:
    """One field that differs; None where it is absent."""

    field: str
    """Its path: in its pair, where it belongs to one, and empty for the whole pair; otherwise in the rule, group or member."""
    before: Any
    after: Any
    pair: int = 0
    """The number of its pair; 0 where it belongs to none."""


def excerpt(*versions: Version) -> list[Version]:
    """Return the *versions* of a rule (before, after, maybe as stored) with only the pairs that a card looks at.

    Up to MAX_PAIRS these are all. Of a longer rule they are the first ones and, for an edit, those that differ. The others are
    emptied, so that each pair keeps its number.
    """
    pairs = [_pair_texts(version) for version in versions if version is not None]
    if max(map(len, pairs), default=0) <= MAX_PAIRS:
        return [*versions]
    looked_at = {*range(1, (MAX_PAIRS if None in versions[:2] else FIRST_PAIRS) + 1)}
    if None not in versions[:2]:
        looked_at |= {number for number, texts in enumerate(zip_longest(*pairs), 1) if len({*texts}) > 1}
    return [version and {**version, "pairs": only_pairs(version.get("pairs") or (), looked_at)} for version in versions]


def without_secrets(change: Change) -> Change:
    """Return *change* as a channel may see it: with secrets hidden, and a long rule cut as by `excerpt`."""
    before, after, result = hide_secrets(*excerpt(change.edit.before, change.edit.after, change.run.result))
    return replace(
        change, edit=replace(change.edit, before=before, after=after), run=replace(change.run, result=result)
    )


def _pair_texts(version: Mapping[str, Any]) -> list[str]:
    """Each pair as text, without the id that the service gives it."""
    pairs = (canonical_form(version) or {}).get("pairs")
    return [json.dumps(pair, sort_keys=True) for pair in pairs] if isinstance(pairs, list) else []


def differences(before: Version, after: Version) -> list[Line]:
    """Return every field of *after* that differs from *before*, and every one that is gone; in the order of the fields."""
    return list(_compare(0, "", canonical_form(before) or {}, canonical_form(after) or {}))


def _compare(pair: int, path: str, before: Any, after: Any) -> Iterator[Line]:
    if before == after:
        return
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        for name in dict.fromkeys([*before, *after]):
            yield from _compare(pair, f"{path}.{name}" if path else str(name), before.get(name), after.get(name))
    elif not pair and path == "pairs" and isinstance(before, list) and isinstance(after, list):
        for number in range(max(len(before), len(after))):
            old = before[number] if number < len(before) else None
            new = after[number] if number < len(after) else None
            yield from _compare(number + 1, "", old, new)
    elif pair and isinstance(before, list) and isinstance(after, list):
        yield from _compare_lists(pair, path, before, after)
    else:
        yield Line(path, before, after, pair)


def _compare_lists(pair: int, path: str, before: list[Any], after: list[Any]) -> Iterator[Line]:
    """Yield the differences of two lists in a pair, such as its headers: entries in both are left out, the others paired up."""
    had, has = ([json.dumps(one, sort_keys=True) for one in each] for each in (before, after))
    stays = {*had} & {*has}
    gone = [(at, one) for at, (one, text) in enumerate(zip(before, had, strict=True), 1) if text not in stays]
    come = [(at, one) for at, (one, text) in enumerate(zip(after, has, strict=True), 1) if text not in stays]
    if not gone and not come:
        yield Line(path, before, after, pair)
    for (_, old), (at, new) in zip(gone, come, strict=False):
        yield from _compare(pair, f"{path}.{at}", old, new)
    yield from (Line(f"{path}.{at}", old, None, pair) for at, old in gone[len(come) :])
    yield from (Line(f"{path}.{at}", None, new, pair) for at, new in come[len(gone) :])


def field_changes(edit: Edit) -> list[Line]:
    """Return every field that *edit* changes; without the number of its pair where the rule has no other."""
    lines = differences(edit.before, edit.after)
    if any(len((document or {}).get("pairs") or ()) != 1 for document in (edit.before, edit.after)):
        return lines
    return [replace(line, pair=0) if line.field else line for line in lines]


def every_field(before: Version, after: Version) -> list[Line]:
    """Every single value that differs, whole and never as JSON: what `differences` says in fewer lines."""
    old, new = dict(_leaves((), canonical_form(before) or {})), dict(_leaves((), canonical_form(after) or {}))
    lines = (_line_at(path, old.get(path), new.get(path)) for path in dict.fromkeys([*old, *new]))
    return [line for line in lines if json.dumps(line.before) != json.dumps(line.after)]


def _leaves(path: tuple[str, ...], value: Any) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield the values in a document, each with its path; a list of plain values is one value."""
    if isinstance(value, Mapping) and (value or not path):
        for name, inner in value.items():
            yield from _leaves((*path, str(name)), inner)
    elif isinstance(value, list) and any(isinstance(one, Mapping | list) for one in value):
        for number, inner in enumerate(value, 1):
            yield from _leaves((*path, str(number)), inner)
    else:
        yield path, value


def _line_at(path: tuple[str, ...], before: Any, after: Any) -> Line:
    if len(path) > 1 and path[0] == "pairs":
        return Line(".".join(path[2:]), before, after, int(path[1]))
    return Line(".".join(path), before, after)


def field_name(line: Line) -> str:
    """Return the name that people use for the field of *line*: ``source.value`` of pair 2 -> ``pair 2 source``."""
    path = line.field
    if line.pair:
        return f"pair {line.pair} {_path_words(path)}".strip()
    return NAMES.get(path) or (_path_words(path) if any(path.startswith(f"{name}.") for name in NAMES) else path)


def _path_words(path: str) -> str:
    """``modifications.Response.2.value`` -> ``response header 2 value``, ``scripts.1.codeType`` -> ``script 1 language``."""
    parts = path.split(".")
    generic = _generic_path(path)
    for size in range(len(parts), 0, -1):
        if noun := NAMES.get(".".join(generic[:size])) or NAMES.get(".".join(parts[:size])):
            number = next((part for part in parts[:size] if part.isdigit()), "")
            return " ".join([noun.replace("*", number), *parts[size:]])
    return " ".join(parts)


def render(lines: list[Line], shown: Callable[[str], str] = str) -> str:
    """Return the differences as mrkdwn: the old value, an arrow, the new one. Segments as those added and those removed.

    *shown*: returns what the readers may see of a value, such as with emails masked.
    """
    more = and_more(len(lines) - MAX_LINES, "field")
    return "\n".join([*(_line_text(line, shown) for line in lines[:MAX_LINES]), *([f"{more}."] if more else [])])


def _line_text(line: Line, shown: Callable[[str], str]) -> str:
    name = esc(line_name(line), 80)
    if line.field == "allowedSegments":
        old, new = set(line.before or ()), set(line.after or ())
        gained = _segments_text("+", new - old, shown)
        lost = _segments_text("−", old - new, shown)
        return f"*{name}*  {gained}  {lost}".strip()
    return f"*{name}*  {values_of(line, shown=shown)}"


def _segments_text(mark: str, segments: set[Any], shown: Callable[[str], str]) -> str:
    ordered = sorted(segments, key=str)
    listed = [f"{mark} {code(shown(str(each)), 60)}" for each in ordered[:MAX_SEGMENTS]]
    return "  ".join(filter(None, [*listed, and_more(len(ordered) - MAX_SEGMENTS)]))


def values_of(line: Line, limit: int = 120, *, shown: Callable[[str], str] = str) -> str:
    """Return ``old → new``, in words or as code; *shown* as for `render`.

    Long values are cut to where they begin to differ, and keep the host of a URL.
    """
    before, after = value_words(line.field, line.before), value_words(line.field, line.after)
    if before and after:
        return f"{before} → {after}"
    if (found := _whole_change(line)) is not None:
        verb, what = found
        lead = "no longer " if line.after is None else ""
        return f"{lead}{verb} {code(shown(shorten_url(what, limit)), MAX_SHORTENED)}"
    old, new = _value_text(line.before), _value_text(line.after)
    is_long = old is not None and new is not None and max(len(old), len(new)) > limit
    at = _common_prefix_length(old or "", new or "") if is_long else 0
    before, after = (
        "_not set_" if text is None else code(shown(shorten_url(text, limit, at)), MAX_SHORTENED) for text in (old, new)
    )
    return f"{before} → {after}"


def line_name(line: Line) -> str:
    """Return the name of the field of *line*; without its number for a header that is added or removed."""
    return field_name(replace(line, field=line.field.rpartition(".")[0]) if _whole_change(line) else line)


def _whole_change(line: Line) -> tuple[str, str] | None:
    """Return the verb and the content of a header or parameter that is added or removed: ``adds``, ``X-Debug: 1``; else None."""
    value = line.after if line.before is None else line.before
    if not isinstance(value, Mapping) or None not in (line.before, line.after):
        return None
    verb = CHANGE_VERBS.get(str(value.get("type")))
    words = plain_change(value)
    return (verb, words.partition(" ")[2]) if verb and words else None


CHANGE_VERBS: Final = {"Add": "adds", "Modify": "changes", "Remove": "removes"}


def _common_prefix_length(one: str, two: str) -> int:
    """Return how many characters both begin with, by binary search: they may be a megabyte long."""
    least, most = 0, min(len(one), len(two))
    while least < most:
        middle = (least + most + 1) // 2
        if one[least:middle] == two[least:middle]:
            least = middle
        else:
            most = middle - 1
    return least


def _value_text(value: Any) -> str | None:
    """Return *value* as people write it: a text as it is, a changed header in a line, all else as JSON."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, Mapping) and (words := plain_change(value)):
        return words
    return json.dumps(value, ensure_ascii=False)
