"""The entries of a change, item by item and field by field, and the look-alike characters in them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Final

from bot.changes.model.change import Change
from bot.changes.model.edits import Kind
from bot.changes.model.items import Item, Outcome
from handlers.blocks.messages import lookalike_warnings
from handlers.changes.diff import Line, Version, every_field, field_name
from handlers.changes.items_view import OUTCOMES
from handlers.changes.subject import THINGS, VERBS

MEMBER_SINCE: Final = "member since"


@dataclass(frozen=True, slots=True)
class Entry:
    """One target of a change: what is done to it, and every field that this concerns, uncut."""

    number: int
    verb: str
    thing: str
    name: str
    key: str
    site: str
    lines: tuple[Line, ...]
    one_sided: bool
    """Whether there is only one version, because the thing is created or deleted: *lines* leave out its
    name and its email, which come first anyway, and what is empty."""
    unchanged: tuple[Line, ...] = ()
    """Fields of an edited rule that stay as they are, and that its card shows."""
    note: str = ""

    @property
    def action(self) -> str:
        """Return the number, the verb and the kind of target: ``3. Delete rule``."""
        return f"{f'{self.number}. ' if self.number else ''}{self.verb} {self.thing}"

    @property
    def warnings(self) -> tuple[str, ...]:
        """Return warnings about characters in it that look like others."""
        return lookalike_warnings(_values(self.name, self.key, self.lines))


def entries_of(change: Change, listed: Iterable[Item] = ()) -> Iterator[Entry]:
    """Yield an entry for the target of *change*; for a bulk change, one for each of its items, *listed* in order."""
    if not change.is_bulk:
        listed = [Item.of(0, change.edit)]
    for item in listed:
        yield _entry(item)


def _entry(item: Item) -> Entry:
    kind, target = item.kind, item.target
    name = str((item.before or item.after or {}).get("name") or "")
    key = target.key or str((item.after or {}).get("email") or "") or ("" if name else item.source)
    is_gone = kind is not None and kind.destroys
    differing = every_field(None, item.before) if is_gone else every_field(item.before, item.after)
    unchanged = tuple(_telling_lines(item, differing))
    word = "" if item.outcome in {Outcome.WAITING, Outcome.SKIPPED} else OUTCOMES[item.outcome].word
    one_sided = kind is None or kind.creates or kind.destroys
    if one_sided:
        in_head = {("name", name), ("email", key)}
        differing = [line for line in differing if line.after not in ("", [], {})]
        differing = [line for line in differing if (line.field, str(line.after)) not in in_head]
    if target.service == "members" and one_sided and kind is not None:
        differing = [_with_date_name(line) for line in differing]
    return Entry(
        number=item.number,
        verb=VERBS[kind][0].capitalize() if kind is not None else "Skipped:",
        thing=THINGS.get(target.service, ""),
        name=name,
        key=key,
        site=target.site or "",
        lines=tuple(differing),
        one_sided=one_sided,
        unchanged=unchanged,
        note=". ".join(filter(None, [word, item.why])),
    )


def _with_date_name(line: Line) -> Line:
    """Return *line*, with its field named in words where it says when somebody became a member."""
    is_moment = line.field == "createdAt" and isinstance(line.after, int) and not isinstance(line.after, bool)
    return replace(line, field=MEMBER_SINCE) if is_moment else line


def _telling_lines(item: Item, differing: Iterable[Line]) -> Iterator[Line]:
    """Yield the fields that say what a switched rule does, or the filters of an edited one."""
    if item.kind is not Kind.RULE_UPDATE:
        return
    changed = {(line.pair, line.field) for line in differing}
    is_switched = changed == {(0, "status")}
    for line in every_field(None, item.after):
        is_needed = is_switched or ".filters." in line.field
        if is_needed and (line.pair, line.field) not in {*changed, (0, "name")} and line.after not in ("", [], {}):
            yield line


def change_warnings(change: Change, listed: Iterable[Item] = ()) -> tuple[str, ...]:
    """Return warnings about characters that look like others, in a change, in its *listed* items, or in its reason."""
    found = [
        f"Item {entry.number}: {line}" if entry.number else line
        for entry in entries_of(change, listed)
        for line in entry.warnings
    ]
    return (*lookalike_warnings([("reason", change.request.reason)]), *found)


def draft_warnings(before: Version, after: Version) -> list[str]:
    """Return the same for a rule that is not saved yet; *before*: the rule it replaces."""
    name = str((after or {}).get("name") or "")
    values = (value for line in every_field(before, after) for value in _values_of(line, name))
    return list(dict.fromkeys(lookalike_warnings([("name", name), *values])))


def _values(name: str, key: str, lines: Iterable[Line]) -> Iterator[tuple[str, str]]:
    yield "name", name
    yield ("email" if "@" in key else "id"), key
    for line in lines:
        yield from _values_of(line, name, key)


def _values_of(line: Line, *told: str) -> Iterator[tuple[str, str]]:
    for value in line.after if isinstance(line.after, list) else [line.after]:
        if isinstance(value, str) and value not in told:
            yield field_name(line), value
