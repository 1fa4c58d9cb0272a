"""What a change is called, by its kind and its state: on cards, in lists and in notes."""

from __future__ import annotations

from typing import Final

from bot.domain.change import Change, Kind, State
from bot.domain.member import masked
from handlers.views.diff import differences
from handlers.views.parts import code, esc

VERBS: Final = {
    Kind.RULE_CREATE: ("create", "created", "Create"),
    Kind.RULE_UPDATE: ("change", "changed", "Change"),
    Kind.RULE_DELETE: ("delete", "deleted", "Delete"),
    Kind.GROUP_UPDATE: ("change", "changed", "Change"),
    Kind.MEMBER_ADD: ("add", "added", "Add"),
    Kind.MEMBER_UPDATE: ("change", "changed", "Change"),
    Kind.MEMBER_GRANT: ("give access to", "was given access", "Give access to"),
    Kind.MEMBER_REVOKE: ("take access from", "lost access", "Take access from"),
    Kind.MEMBER_REMOVE: ("remove", "removed", "Remove"),
}
EDITS: Final = frozenset({Kind.RULE_UPDATE, Kind.GROUP_UPDATE})
"""Whose title says what was changed."""
MARKS: Final = {
    State.PROPOSED: ":wastebasket:",
    State.APPROVED: ":hourglass_flowing_sand:",
    State.APPLYING: ":hourglass_flowing_sand:",
    State.APPLIED: ":white_check_mark:",
    State.FAILED: ":x:",
    State.UNKNOWN: ":grey_question:",
    State.STALE: ":arrows_counterclockwise:",
    State.CANCELLED: ":leftwards_arrow_with_hook:",
    State.DENIED: ":no_entry_sign:",
    State.EXPIRED: ":zzz:",
    State.UNSETTLED: ":grey_question:",
}
WORDS: Final = {
    State.PROPOSED: "waits for a decision",
    State.APPROVED: "under way",
    State.APPLYING: "under way",
    State.APPLIED: "done",
    State.FAILED: "failed, nothing changed",
    State.UNKNOWN: "outcome not known yet",
    State.STALE: "not done: it changed meanwhile",
    State.CANCELLED: "not done, kept",
    State.DENIED: "denied",
    State.EXPIRED: "not done: the request expired",
    State.UNSETTLED: "outcome not known, look at it yourself",
}


def mark_of(change: Change) -> str:
    if change.state is State.PROPOSED and not change.kind.destroys:
        return ":raising_hand:"
    return MARKS[change.state]


def plain_title(change: Change) -> str:
    """What is asked, without markup."""
    if change.is_set:
        return esc(change.title, 150)
    return f"{VERBS[change.kind][2]} {_name(change).replace('`', '')}"


def title_of(change: Change) -> str:
    """The head of its card: what is asked, or what has come of it."""
    infinitive, done, imperative = VERBS[change.kind]
    name = _name(change)
    if change.state is State.PROPOSED:
        return f"{imperative} {name}?"
    if change.state is State.APPLIED:
        if change.undoes and change.kind.creates:
            return f"{name} is back"
        return f"{name} {done}" if change.kind not in EDITS else f"{name} {_what_changed(change)}"
    if change.state in {State.APPROVED, State.APPLYING}:
        return f"{name}: under way…"
    if change.state is State.CANCELLED:
        return f"{name} is kept"
    if change.state in {State.UNKNOWN, State.UNSETTLED}:
        return f"{name}: not known" + (" yet" if change.state is State.UNKNOWN else "")
    return f"{name}: " + (f"could not {infinitive}" if change.state in {State.FAILED, State.STALE} else f"not {done}")


def _what_changed(change: Change) -> str:
    """Switching says so; other edits are just changes."""
    lines = differences(change.before, change.after)
    if len(lines) == 1 and lines[0].field == "status":
        return "switched on" if lines[0].after == "Active" else "switched off"
    return "changed"


def _name(change: Change) -> str:
    """What the change is about, as a channel may see it."""
    document = change.before or change.after or {}
    name = document.get("name")
    if change.target.service == "groups":
        return f"Group {esc(str(name or change.target.key), 150)}"
    if change.target.service == "rules":
        return esc(str(name or change.target.key or "a rule"), 150)
    shown = esc(str(name), 80) if name and "@" not in str(name) else ""
    return f"{shown} {code(masked(change.target.key or ''))}".strip()
