"""What a QueryParam rule makes of a query, in either engine; what no change of it names stays byte for byte."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final
from urllib.parse import parse_qsl, quote_plus

from bot.domain.address import Address, NoAddress
from bot.domain.condition import CannotTell
from bot.domain.engines import Engine
from bot.domain.rule import Pair

MOST_WORK: Final = 1_000_000
"""Characters of queries that are read for one rule on one address."""
PER_CHANGE: Final = 100
"""What a change takes of that beside its query."""
UNESCAPED: Final = "!'()*~"
"""Characters that a browser leaves as they are where the extension puts a text into a query."""

Change = Mapping[str, Any]
Query = str | None
"""What follows the question mark; None where there is none."""


def queried(pairs: Sequence[Pair], address: Address, engine: Engine) -> str:
    """Return the URL that *engine* makes of *address* by the changes of *pairs*; raises CannotTell."""
    base, mark, rest = address.full.partition("?")
    query: Query = rest if mark else None
    for step in _steps(pairs, engine, len(rest)):
        query = _in_the_desktop_app(query, step[0]) if engine is Engine.DESKTOP else _in_the_extension(query, step)
    if query == (rest if mark else None):
        return address.full
    try:
        return Address.of(base if query is None else f"{base}?{query}").full
    except NoAddress as error:
        raise CannotTell("what it makes of the address is too long to be worked out here") from error


def means_the_same(one: str, other: str) -> bool:
    """Whether two URLs with one base carry the same parameters, however they are escaped."""
    first, second = (parse_qsl(url.partition("?")[2], keep_blank_values=True) for url in (one, other))
    return first == second


def _steps(pairs: Sequence[Pair], engine: Engine, length: int) -> Iterator[list[Change]]:
    """The changes one by one, or pair by pair as the extension takes them; raises CannotTell where they are too many."""
    work = 0
    for pair in pairs:
        changes = list(_modifications(pair))
        for step in [[change] for change in changes] if engine is Engine.DESKTOP else [changes]:
            length += sum(len(str(change.get("value") or "")) for change in step)
            work += length + PER_CHANGE * len(step)
            if work > MOST_WORK:
                raise CannotTell("it changes too many parameters to be followed here")
            yield step


def _modifications(pair: Pair) -> Iterator[Change]:
    """The changes of parameters, whatever else may stand there."""
    found = (pair.model_extra or {}).get("modifications")
    for change in found if isinstance(found, list) else [found]:
        if isinstance(change, Mapping):
            yield change


def _in_the_desktop_app(query: Query, change: Change) -> Query:
    """One change: a parameter keeps its place, all of one name come together where the query is written again."""
    kind, name = change.get("type"), _text(change.get("param"))
    if kind == "Remove All":
        return None
    params = _params(query)
    if kind == "Remove" and name in params:
        del params[name]
    elif kind == "Add" and change.get("actionWhenParamExists") != "Ignore":
        overwrites = change.get("actionWhenParamExists") == "Overwrite"
        params[name] = [*([] if overwrites else params.get(name, [])), _value(change)]
    else:
        return query
    return "&".join(name if value is None else f"{name}={value}" for name in params for value in params[name]) or None


def _params(query: Query) -> dict[str, list[str | None]]:
    """The values by name, as they are written; what follows a second ``=`` is lost."""
    params: dict[str, list[str | None]] = {}
    for part in query.split("&") if query else ():
        name, *values = part.split("=")
        params.setdefault(name, []).append(values[0] if values else None)
    return params


def _in_the_extension(query: Query, changes: Sequence[Change]) -> Query:
    """The changes of one pair: whatever is added takes the place of the parameter that is there."""
    added: dict[str, list[str]] = {}
    removed = set()
    for change in changes:
        name = _escaped(_text(change.get("param")))
        match change.get("type"):
            case "Add":
                added.setdefault(name, []).append(f"{name}={_escaped(_value(change) or '')}")
            case "Remove":
                removed.add(name)
            case _:
                return None
    parts = query.split("&") if query else []
    names = [part.partition("=")[0] for part in parts]
    if not added and not removed.intersection(names):
        return query
    kept = [
        added[name].pop(0) if added.get(name) else part
        for name, part in zip(names, parts, strict=True)
        if name not in removed
    ]
    return "&".join([*kept, *(part for left in added.values() for part in left)]) or None


def _value(change: Change) -> str | None:
    value = change.get("value")
    return None if value is None else _text(value)


def _text(value: Any) -> str:
    """*value* as text; half of a pair of surrogates, which no URL carries, is a question mark."""
    return "" if value is None else str(value).encode(errors="replace").decode()


def _escaped(text: str) -> str:
    return quote_plus(text, safe=UNESCAPED)
