"""What a change is called, by its kind and its state: on cards, in lists and in notes."""

from __future__ import annotations

from typing import Final

from bot.domain.change import Change, Kind, State
from bot.domain.member import masked
from handlers.views.diff import differences, field_name
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
EDITS: Final = frozenset({Kind.RULE_UPDATE, Kind.GROUP_UPDATE, Kind.MEMBER_UPDATE})
"""Whose title says what is changed."""
MAX_FIELDS: Final = 3
"""Fields that a title names."""
NOT_DONE: Final = {
    Kind.MEMBER_GRANT: ("access not given", "access could not be given"),
    Kind.MEMBER_REVOKE: ("access not taken away", "access could not be taken away"),
}
"""What a title says of a change that was not made, where its verb alone doesn't: nobody tried, or it didn't work."""
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
    State.CANCELLED: "withdrawn",
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
    return _asked(change).replace("`", "")


def _asked(change: Change) -> str:
    """``Switch off Old shop``, ``Change destination of Old shop``: what an edit changes, where a few words can say it."""
    name = _name(change)
    if (switched := _switched(change)) is not None:
        return f"Switch {switched} {name}"
    fields = _fields(change)
    return f"Change {fields} of {name}" if fields else f"{VERBS[change.kind][2]} {name}"


def title_of(change: Change) -> str:
    """The head of its card: what is asked, or what has come of it."""
    done = VERBS[change.kind][1]
    name = _name(change)
    if change.state is State.PROPOSED:
        return f"{_asked(change)}?"
    if change.state is State.APPLIED:
        if change.undoes and change.kind.creates:
            return f"{name} is back"
        return f"{name} {_what_changed(change)}"
    if change.state in {State.APPROVED, State.APPLYING}:
        return f"{name}: under way…"
    if change.state is State.CANCELLED:
        return f"{name} is kept" if change.kind.destroys else f"{name}: withdrawn"
    if change.state in {State.UNKNOWN, State.UNSETTLED}:
        return f"{name}: not known" + (" yet" if change.state is State.UNKNOWN else "")
    nobody_tried, did_not_work = NOT_DONE.get(change.kind, (f"not {done}", f"could not be {done}"))
    return f"{name}: {did_not_work if change.state in {State.FAILED, State.STALE} else nobody_tried}"


def _what_changed(change: Change) -> str:
    """What came of it: switching says so, and other edits say what they changed."""
    if (switched := _switched(change)) is not None:
        return f"switched {switched}"
    fields = _fields(change)
    return f"{VERBS[change.kind][1]}: {fields}" if fields else VERBS[change.kind][1]


def _switched(change: Change) -> str | None:
    """Return ``on`` or ``off`` where an edit changes only that."""
    lines = differences(change.before, change.after) if change.kind in EDITS else []
    if [line.field for line in lines] != ["status"]:
        return None
    return {"Active": "on", "Inactive": "off"}.get(str(lines[0].after))


def _fields(change: Change) -> str:
    """Return the fields that an edit changes, as people call them; nothing for other changes, or where there are many."""
    lines = differences(change.before, change.after) if change.kind in EDITS else []
    names = list(dict.fromkeys(field_name(line.field) for line in lines))
    if all(len((document or {}).get("pairs") or ()) == 1 for document in (change.before, change.after)):
        names = [name.removeprefix("pair 1 ") for name in names]
    return esc(", ".join(names), 100) if len(names) <= MAX_FIELDS else ""


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
