"""A field in one line with nothing cut, for a message or for a file."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Final

from bot.rules.url import authority
from handlers.blocks import messages
from handlers.blocks.messages import esc, escape_invisible
from handlers.changes.diff import Line, field_name, value_words
from handlers.changes.entries import MEMBER_SINCE
from handlers.grammar.tokens import escape_entities

MAX_LINE: Final = messages.MAX_TEXT - 100
"""Characters of a message in one block."""
PLAIN_URL: Final = 120
"""Characters of a URL from which on its host is repeated after it."""


def field_line(line: Line, *, one_sided: bool, marked: bool) -> str:
    """Return one field in one line, for a message (*marked*) or for a file."""
    name = field_name(line)
    name = f"*{esc(name, MAX_LINE)}* " if marked else f"{whole(name)}:"
    if one_sided:
        return f"{name} {_value_words(line.field, line.after, marked=marked)}"
    before, after = (_value_words(line.field, value, marked=marked) for value in (line.before, line.after))
    return f"{name} {before} {'→' if marked else '->'} {after}"


def _value_words(path: str, value: Any, *, marked: bool) -> str:
    """Return *value*, in words where its field has a fixed choice."""
    if isinstance(value, WholePair):
        where = f"{value.condition} {_value_text(value.source, marked=marked)}"
        to = "→" if marked else "->"
        return where if value.destination is None else f"{where} {to} {_value_text(value.destination, marked=marked)}"
    if path == MEMBER_SINCE and isinstance(value, int):
        return messages.moment(value, "{date_long}") if marked else f"{messages.plain_moment(value)} UTC"
    return value_words(path, value) or _value_text(value, marked=marked)


def _value_text(value: Any, *, marked: bool) -> str:
    if value is None:
        return "_not set_" if marked else "(not set)"
    if value == []:
        return "_none_" if marked else "(none)"
    joint, quoted = (" ", value_code) if marked else (", ", plain_value)
    host = f" (host: {quoted(found)})" if (found := _host(value)) else ""
    return joint.join(map(quoted, texts_of(value))) + host


def _host(value: Any) -> str:
    """Return the host of a URL in which it is hard to see; nothing for any other value."""
    if not isinstance(value, str) or (place := authority(value)) is None:
        return ""
    clear = len(value) <= PLAIN_URL and not place.user_info and place.host in value.casefold()
    return "" if clear else place.host


def texts_of(value: Any) -> list[str]:
    """Return a value as texts: those of a list one by one, everything but text as JSON."""
    if isinstance(value, list):
        return [text for each in value for text in texts_of(each)]
    return [value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)]


def value_code(text: str) -> str:
    """Return all of *text* as code, for a message."""
    return f"`{escape_entities(whole(text).replace('`', 'ˋ'))}`" if text else "_empty_"


def plain_value(text: str) -> str:
    """Return all of *text*, for a file."""
    return whole(text) or "(empty)"


def whole(text: str) -> str:
    """Return *text* uncut, with line breaks, tabs, and spaces at its ends made visible."""
    kept = text.strip(" ")
    start = len(text) - len(text.lstrip(" "))
    shown = "␣" * start + kept + "␣" * (len(text) - len(kept) - start) if kept else "␣" * len(text)
    return escape_invisible(shown.replace("\r\n", "↵").replace("\n", "↵").replace("\r", "␍").replace("\t", "⇥"))


@dataclass(frozen=True, slots=True)
class WholePair:
    """A pair that fits in one line as a whole: ``the whole URL is exactly SOURCE → DESTINATION``."""

    condition: str
    source: str
    destination: str | None


def with_whole_pairs(lines: Iterable[Line]) -> Iterator[Line]:
    """Yield the *lines* of a single version, with each pair that fits in one line as one."""
    for number, of_pair in groupby(lines, key=lambda line: line.pair):
        fields = [*of_pair]
        pair = _whole_pair(fields) if number else None
        yield from fields if pair is None else [Line("", None, pair, number)]


def _whole_pair(lines: Iterable[Line]) -> WholePair | None:
    values = {line.field: line.after for line in lines}
    if values.pop("destinationType", "url") != "url" or not all(isinstance(one, str) for one in values.values()):
        return None
    if not {"source.key", "source.operator", "source.value"} <= values.keys() or "" in values.values():
        return None
    words = [value_words(name, values.pop(name)) for name in ("source.key", "source.operator")]
    source, destination = values.pop("source.value"), values.pop("destination", None)
    return None if None in words or values else WholePair(" ".join(filter(None, words)), source, destination)
