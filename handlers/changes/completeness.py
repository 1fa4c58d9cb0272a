"""Whether a card has room for all that its change does: by how much that is, never by what was drawn."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from bot.changes.model.change import Change
from bot.changes.model.edits import Edit
from bot.changes.model.items import Item
from bot.text.secrets import MARK
from handlers.changes.diff import FIRST_PAIRS, MAX_LINES, Line, every_field
from handlers.changes.field_text import texts_of
from handlers.changes.subject import new_status

MAX_TEXT: Final = 80
"""Characters of a value that a card shows whole wherever it stands."""
SHOWN: Final = frozenset(
    {"name", "status", "ruleType", "description", "source.key", "source.operator", "source.value", "destination"}
)
"""Fields of a rule that its creation's and its deletion's card shows; any other asks for a look."""
TYPES: Final = frozenset({"Redirect", "Cancel"})
"""Types of rules whose pairs consist of those fields."""


def is_short(change: Change, items: Sequence[Item] = ()) -> bool:
    """Whether a card shows all of *change*; of a bulk change, *items* are those that have a line on it.

    It may say no where a card does show all, which only asks for a look that was not needed.
    """
    if change.edit.target.service == "members":  # their emails are masked
        return False
    if change.is_bulk:
        return change.bulk.size == len(items) and all(map(_has_room, items))
    return _is_short(change.edit)


def _has_room(item: Item) -> bool:
    """Whether the line of *item* shows all of it: a switch, or a rule of one pair that is created or deleted."""
    if item.kind is None or new_status(item.edit):
        return _is_plain(item.name)
    document = item.before if item.kind.destroys else item.after
    pairs = (document or {}).get("pairs") or ()
    is_bare = item.kind.destroys or (item.kind.creates and not (document or {}).get("description"))
    return is_bare and len(pairs) == 1 and _is_short(item.edit)


def _is_short(edit: Edit) -> bool:
    if _is_wide(edit):
        return False
    lines = every_field(edit.before, edit.after)
    if len(lines) > MAX_LINES or not all(map(_is_plain, _texts(lines))):
        return False
    if edit.before is not None and edit.after is not None:
        return True
    document = edit.after if edit.before is None else edit.before
    is_known = edit.target.service != "rules" or (document or {}).get("ruleType") in TYPES
    return is_known and all(
        line.field in SHOWN
        or (line.field == "destinationType" and "url" in (line.before, line.after))  # goes without saying
        for line in lines
    )


def _is_wide(edit: Edit) -> bool:
    """Whether a rule has so many pairs that they are not looked at one by one: that would take long for what no card shows."""
    return any(len((document or {}).get("pairs") or ()) > FIRST_PAIRS for document in (edit.before, edit.after))


def _texts(lines: Iterable[Line]) -> Iterable[str]:
    return (
        text for line in lines for value in (line.before, line.after) if value is not None for text in texts_of(value)
    )


def _is_plain(text: str) -> bool:
    """Whether *text* is shown as it is: short, without an email to mask, and with no secret left out of it."""
    return len(text) <= MAX_TEXT and "@" not in text and MARK not in text and "…" not in text
