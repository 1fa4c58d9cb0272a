"""The title and the sentences of a card: who asked, who decided, the outcome, and what happens next."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Final

from bot.changes.execute import HELD_FOR, LOST_RIGHT, TOO_OLD
from bot.changes.model import Change, Guard, Kind, State
from bot.policy.model import Why
from bot.text.duration import in_words
from bot.text.emails import all_masked, masked
from handlers.blocks.messages import code, esc
from handlers.changes.diff import differences, field_name


def sentence(change: Change) -> str:
    """What has become of *change*, and through whom."""
    return SENTENCES[change.state](change, f"<@{change.requester}>")


def _waiting(change: Change, asker: str) -> str:
    shows = "This is what goes:" if change.kind.destroys else "This is what changes:"
    until = f" Open until {when(change.expires)}." if change.expires else ""
    if change.guard is Guard.CONFIRM:
        return f"{asker} asks. Only {asker} can confirm it.{until} {shows}"
    mentioned = " ".join(map(mention, change.summoned))
    who = mentioned if change.approvers and mentioned else "somebody else of this channel"
    needed = (
        f"{who} must approve" if change.approvals_needed == 1 else f"{change.approvals_needed} of {who} must approve"
    )
    needed += f" ({mentioned})" if mentioned and mentioned != who else ""
    given = ", ".join(f"<@{one.by}>" for one in change.approvals)
    count = f" *{len(change.approvals)} of {change.approvals_needed}:* approved by {given}." if given else ""
    return f"{asker} asks; {needed}.{count}{until} {shows}"


def _done(change: Change, asker: str) -> str:
    late = "" if change.glass_broken else at(change)
    if change.glass_broken:
        signed = f" Signed by <@{change.reviewed_by}>." if change.reviewed_by else ""
        return f":rotating_light: <@{change.decided_by}> did this alone{at(change)}.{signed}{_why(change)}"
    if change.guard is Guard.APPROVE:
        return f"asked by {asker}, approved by {_approvers(change)}{late}"
    return f"by {asker}{late}"


def _held(change: Change, asker: str) -> str:
    ends = when(change.decided_at + HELD_FOR) if change.decided_at else "an hour after that"
    return (
        f"{_by(change, asker)}, but {words(change.waits, 160)}. *Nothing was sent yet.* "
        f"Gatehouse tries again until {ends}."
    )


def _asked(change: Change, asker: str) -> str:
    return (
        _held(change, asker)
        if change.waits and change.state is State.APPROVED
        else f"{_by(change, asker)}; the service is being asked."
    )


def _failed(change: Change, asker: str) -> str:
    if change.refusal == TOO_OLD:
        return f"asked by {asker}. *Nothing was changed*: the approval is more than an hour old. Ask again."
    if change.refusal == LOST_RIGHT:
        return f"asked by {asker}. *Nothing was changed*: {why_not_any_more(change)}."
    said = _said(change) or " Read back, the service shows nothing of it."
    return f"asked by {asker}. *Nothing was changed.*{said}"


LOST: Final = {
    Why.DEACTIVATED: "the account of {who} is deactivated",
    Why.GUEST: "{who} is a guest now",
    Why.SHARED_CHANNEL: "this channel is shared with another company now",
    Why.NOT_ADDED: "Gatehouse is not in this channel any more",
    Why.NO_ROLE: "{who} has no role any more that allows this",
}


def why_not_any_more(change: Change) -> str:
    """Who had lost the right to *change* when it was to be carried out, and how."""
    lost = LOST.get(Why(change.outcome), "{who} may not do this any more")
    return lost.format(who=f"<@{change.lost_right}>")


def _unknown(change: Change, asker: str) -> str:
    return (
        f"asked by {asker}. The service gave no clear answer, so this may or may not have happened. "
        f"Gatehouse keeps looking and will say here.{_said(change)}"
    )


def _unsettled(change: Change, asker: str) -> str:
    shows = (
        "nothing like it is there now; it may have been made, and changed or deleted since"
        if change.kind is Kind.RULE_CREATE
        else "what it shows now is neither the old nor the new"
    )
    return (
        f"asked by {asker}. The service gave no clear answer, and {shows}. *Look at it yourself*: "
        f"Gatehouse will not touch it.{_said(change)}"
    )


def _stale(_: Change, asker: str) -> str:
    return f"asked by {asker}. It is no longer what was shown, so *nothing was changed*. Ask again to see it as it is."


def _cancelled(change: Change, _: str) -> str:
    done = "decided to keep it" if change.kind.destroys else "withdrew this"
    return f"{_decider(change)} {done}{at(change)}. Nothing was changed."


def _denied(change: Change, asker: str) -> str:
    return f"{_decider(change)} said no to {asker}{at(change)}. *Nothing was changed.*{_why(change)}"


def _expired(_: Change, asker: str) -> str:
    return f"asked by {asker}. Nobody decided in time. Nothing was changed."


SENTENCES: Final[dict[State, Callable[[Change, str], str]]] = {
    State.PROPOSED: _waiting,
    State.APPROVED: _asked,
    State.APPLYING: _asked,
    State.APPLIED: _done,
    State.FAILED: _failed,
    State.UNKNOWN: _unknown,
    State.UNSETTLED: _unsettled,
    State.STALE: _stale,
    State.CANCELLED: _cancelled,
    State.DENIED: _denied,
    State.EXPIRED: _expired,
}


def _said(change: Change) -> str:
    return f"\n_The service says:_ {words(change.outcome)}" if change.outcome else ""


def _decider(change: Change) -> str:
    return f"<@{change.decided_by}>" if change.decided_by else "somebody"


def _by(change: Change, asker: str) -> str:
    return f"asked by {asker}" + (f", approved by {_approvers(change)}" if change.guard is Guard.APPROVE else "")


def _approvers(change: Change) -> str:
    return ", ".join(f"<@{one.by}>" for one in change.approvals) or f"<@{change.decided_by}>"


def _why(change: Change) -> str:
    return f"\n_Why:_ {words(change.decision_reason, 500)}" if change.decision_reason else ""


def glass_line(change: Change) -> str:
    """That somebody acted alone, and somebody else has yet to look at it."""
    return f":eyes: *Review due.* Someone other than <@{change.decided_by}> has to review and sign this."


ENDINGS: Final = {
    "changed": ":warning: This was to end {when}, but somebody changed it since. *Gatehouse left it as it is.*",
    "gone": ":information_source: This was to end {when}; what it made is gone already.",
    "refused": ":warning: This was to end {when}, but the service refused. *It is still in force.* Undo tries again.",
    "partly": ":warning: Some of this could not be reverted {when}. The card of the undo says what, and why.",
}


def ending_line(change: Change) -> str:
    """When a temporary change ends, or why it did not."""
    if change.undone_by is not None:
        return ""
    if change.ending and change.ends is not None:
        return ENDINGS[change.ending].format(when=when(change.ends))
    typed = f" ({esc(change.ends_as_typed, 60)})" if change.ends_as_typed else ""
    if change.temporary:
        return f":stopwatch: Ends by itself {when(change.ends)}{typed}"
    if change.state not in {State.PROPOSED, State.APPROVED, State.APPLYING, State.UNKNOWN}:
        return ""
    if change.ends is not None:
        return f":stopwatch: To end by itself {when(change.ends)}{typed}"
    return f":stopwatch: To end by itself {in_words(change.lasts)} after it was done" if change.lasts else ""


def card_link(change: Change, links: Mapping[str, str]) -> str:
    """A link to the card of *change*; its reference, where *links* has none."""
    link = links.get(change.id)
    return f"   <{link}|card>" if link else f"   {code(change.id[:8])}"


def when(moment: datetime | None) -> str:
    """A time, shown in the zone of the reader."""
    if moment is None:
        return "some time"
    return f"<!date^{int(moment.timestamp())}^{{date_short_pretty}} {{time}}|{moment:%Y-%m-%d %H:%M} UTC>"


def at(change: Change) -> str:
    moment = change.finished_at or change.decided_at
    return f", {when(moment)}" if moment else ""


def words(text: str, limit: int = 300) -> str:
    """What a person or a service wrote, for a channel: nothing in it is more than text, and no address is whole."""
    looked_at = 20 * limit
    return esc(all_masked(text, looked_at), limit, more=max(0, len(text) - looked_at))


def mention(name: str) -> str:
    """Somebody, or a user group, so that they are rung."""
    return f"<!subteam^{name}>" if name.startswith("S") else f"<@{name}>"


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
    return _title_of_request(change).replace("`", "")


def _title_of_request(change: Change) -> str:
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
        return f"{_title_of_request(change)}?"
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
