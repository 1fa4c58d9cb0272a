"""What a change owes: the parts of its difference, and whether each of them is still there to be put back."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from enum import StrEnum
from typing import Final

from bot.changes.model.documents import Document, canonical_form, segments_of
from bot.changes.model.edits import Edit
from bot.rules.model import SERVER_FIELDS

EXISTENCE: Final = ""
"""The part that a creation or a deletion changes."""
SEGMENTS: Final = "allowedSegments"
"""The field of a member that is a set: each of its segments is a part of its own, called ``allowedSegments:vip``."""


class Standing(StrEnum):
    """What a look at its target shows of a part."""

    THERE = "there"
    """It is as the change left it."""
    BACK = "back"
    """It is as it was before the change."""
    GONE = "gone"
    """The target doesn't exist."""
    OTHER = "other"
    """It is neither as the change left it nor as it was before."""


def parts_of(edit: Edit) -> frozenset[str]:
    """Return the names of the parts that *edit* changes: fields, segments, or the existence of its target."""
    if edit.before is None or edit.after is None:
        return frozenset({EXISTENCE})
    before, after = canonical_form(edit.before) or {}, canonical_form(edit.after) or {}
    fields = {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}
    if edit.target.service != "members":
        return frozenset(fields)
    segments = segments_of(before) ^ segments_of(after)
    return frozenset(fields - {SEGMENTS}) | {f"{SEGMENTS}:{name}" for name in segments}


def standings(edit: Edit, made: Document | None, live: Document | None) -> Mapping[str, Standing]:
    """Return what *live*, the target of *edit*, shows of each part; *made*: what the service made of the edit, if known."""
    if edit.before is None or edit.after is None:
        return {EXISTENCE: Standing.THERE if (live is None) is (edit.after is None) else Standing.BACK}
    if live is None:
        return dict.fromkeys(parts_of(edit), Standing.GONE)
    before, after, now = (canonical_form(each) or {} for each in (edit.before, edit.after, live))
    left = canonical_form(made) or after
    found = {}
    for part in parts_of(edit):
        if (segment := _segment(part)) is not None:
            found[part] = (
                Standing.BACK if (segment in segments_of(before)) is (segment in segments_of(now)) else Standing.THERE
            )
        elif now.get(part) == before.get(part):
            found[part] = Standing.BACK
        else:
            found[part] = Standing.THERE if now.get(part) in (left.get(part), after.get(part)) else Standing.OTHER
    return found


def with_parts(parts: Collection[str], of: Document, edit: Edit, live: Document) -> Document:
    """Return *live*, the target of *edit*, as it is sent, with these *parts* as *of* has them, and all else as it is."""
    done = {name: live[name] for name in live if edit.target.service == "members" or name not in SERVER_FIELDS}
    for part in sorted(parts):
        if (segment := _segment(part)) is not None:
            others = [name for name in done.get(SEGMENTS) or [] if name != segment]
            done[SEGMENTS] = [*others, segment] if segment in segments_of(of) else others
        elif part in of:
            done[part] = of[part]
        else:
            done.pop(part, None)
    return done


def _segment(part: str) -> str | None:
    segment = part.removeprefix(f"{SEGMENTS}:")
    return None if segment == part else segment
