"""The target of a change and what is done to it, in a few words that a channel may see."""

from __future__ import annotations

from typing import Final

from bot.changes.model.change import Change
from bot.changes.model.edits import Edit, Kind
from bot.changes.model.parts import BulkAct
from bot.text.emails import mask_email, mask_emails
from handlers.blocks.messages import code, esc, join_words, quote
from handlers.changes.diff import differences, field_changes, line_name

THINGS: Final = {"rules": "rule", "members": "member", "groups": "group"}
"""The word for a target of each service."""
VERBS: Final = {
    Kind.RULE_CREATE: ("create", "created"),
    Kind.RULE_UPDATE: ("change", "changed"),
    Kind.RULE_DELETE: ("delete", "deleted"),
    Kind.GROUP_UPDATE: ("change", "changed"),
    Kind.MEMBER_ADD: ("add", "added"),
    Kind.MEMBER_UPDATE: ("change", "changed"),
    Kind.MEMBER_GRANT: ("grant access to", "access granted"),
    Kind.MEMBER_REVOKE: ("revoke access of", "access revoked"),
    Kind.MEMBER_REMOVE: ("remove", "removed"),
}
"""The verb of each kind of change: for what is to be done, and for what was done."""
EDITS: Final = frozenset({Kind.RULE_UPDATE, Kind.GROUP_UPDATE, Kind.MEMBER_UPDATE})
"""Kinds whose title names the changed fields."""
ACCESS: Final = frozenset({Kind.MEMBER_GRANT, Kind.MEMBER_REVOKE})
MAX_FIELDS: Final = 3
"""Fields that a title names."""
MAX_SEGMENTS: Final = 3
"""Segments that a title names."""


def subject(change: Change) -> str:
    """Return the name of the target of *change*, or a masked email, as a channel may see it."""
    if change.edit.target.service in {"rules", "groups"}:
        return quote(named) if (named := change.edit.name or change.edit.target.key) else "a rule"
    return shown_name(change) or code(mask_email(change.edit.target.key or ""))


def shown_name(change: Change) -> str:
    """Return the name of a member; empty where there is none, or it is an email."""
    name = change.edit.name
    return esc(name, 80) if name and "@" not in name else ""


def shown_email(change: Change, *, public: bool = True) -> str:
    """Return the email of the member, masked for a channel; nothing where the title has it masked already."""
    target = change.edit.target
    email = target.key or "" if target.service == "members" else ""
    if not public:
        return code(email) if email else ""
    return code(mask_email(email)) if email and shown_name(change) else ""


def on_site(change: Change, preposition: str = "on") -> str:
    """Return the site of *change*, as the end of a sentence; empty for rules."""
    return f" {preposition} {esc(change.edit.target.site, 60)}" if change.edit.target.site else ""


def new_status(edit: Edit) -> str | None:
    """Return ``on`` or ``off`` where *edit* changes nothing but that; None for any other."""
    lines = differences(edit.before, edit.after) if edit.kind in EDITS else []
    if [line.field for line in lines] != ["status"]:
        return None
    return {"Active": "on", "Inactive": "off"}.get(str(lines[0].after))


def changed_fields(change: Change) -> str:
    """Return the names of the fields that an edit changes; how many, where there are too many for a title."""
    names = list(dict.fromkeys(line_name(line) for line in field_changes(change.edit)))
    if not names or len(names) > MAX_FIELDS:
        return f"{len(names)} fields" if names else "nothing"
    return f"the {join_words([esc(name, 60) for name in names])}"


def changed_segments(change: Change) -> str:
    """Return the segments that somebody gets or loses, as a channel may see them."""
    had, has = (
        {str(one) for one in (document or {}).get("allowedSegments") or ()}
        for document in (change.edit.before, change.edit.after)
    )
    found = sorted(has - had if change.edit.kind is Kind.MEMBER_GRANT else had - has)
    if not found or len(found) > MAX_SEGMENTS:
        return f"{len(found)} segments" if found else "segments"
    return join_words([quote(mask_emails(one), 60) for one in found])


def is_offboarding(change: Change) -> bool:
    """Whether *change* is an offboarding or its undo: it has more items than people, one for each site."""
    purpose = change.bulk.purpose
    return purpose is not None and purpose.act is BulkAct.OFFBOARD
