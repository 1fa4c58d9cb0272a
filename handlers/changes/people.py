"""Who asked for a change and why, who let it through, and whose approval is missing."""

from __future__ import annotations

from typing import Final

from bot.changes.model.change import Change
from bot.changes.model.parts import Cause, CauseKind, Guard
from bot.changes.model.states import State
from bot.policy.model import Why
from bot.text.emails import mask_emails
from bot.text.times import duration_words
from handlers.blocks.messages import esc, join_words
from handlers.changes.times import when
from handlers.explain.why_not import NOT_SENT, WHY_NOT


def mention(name: str) -> str:
    """Somebody, or a user group, so that they are rung."""
    return f"<!subteam^{name}>" if name.startswith("S") else f"<@{name}>"


def public_text(text: str, limit: int = 300) -> str:
    """What a person or a service wrote, for a channel: nothing in it is more than text, and no address is whole."""
    looked_at = 20 * limit
    return esc(mask_emails(text, looked_at), limit, more=max(0, len(text) - looked_at))


def why_words(why: str, limit: int = 300) -> str:
    """Why an item was not done: in our words where that is a `NotSent`, else as a person or a service wrote it."""
    return NOT_SENT.get(why) or public_text(why, limit)


def author(change: Change) -> str:
    """Who asked for *change*; nobody did where a temporary one came to its end."""
    return "Gatehouse" if change.is_automatic else f"<@{change.request.requester}>"


def requester_line(change: Change) -> str:
    """Who asked for *change*, as a part of a line."""
    return f"Requested by <@{change.request.requester}>"


CAUSES: Final = {
    CauseKind.UNDO: ("to undo {whose} change", "undid {whose} change", "Undone by {who}"),
    CauseKind.EARLY_END: ("to revert it early", "reverted early", "Reverted early by {who}"),
    CauseKind.LATE_END: (
        "to revert it, though it was changed since",
        "reverted, though it was changed since",
        "Reverted by {who}, though it was changed since",
    ),
}
"""What somebody wants to do to a change, and did: as the rest of a sentence about the undo; then on the card of the change."""


def reason_of(change: Change, limit: int = 500, *, public: bool = True) -> str:
    """Why there is *change*: its requester's words in quotes, or what it follows from. *public*: for a channel."""
    request = change.request
    if (cause := request.cause) is not None:
        whose = "their own" if request.requester == cause.requester else f"<@{cause.requester}>’s"
        if cause.is_automatic:
            return how_automatically(cause)
        return CAUSES[cause.kind][change.state is State.APPLIED].format(whose=whose)
    return f"“{public_text(request.reason, limit) if public else esc(request.reason, limit)}”" if request.reason else ""


def how_automatically(cause: Cause) -> str:
    """How a temporary change reverted: as planned, or how late and why."""
    if not cause.late_seconds:
        return "automatically, as planned"
    how = "Gatehouse was down" if cause.tries == 1 else "it didn’t work at first"
    return f"automatically, {duration_words(cause.late_seconds)} late: {how}"


def needs_line(change: Change, where: str = "this channel") -> str:
    """What a request that was made *where* waits for, until when, and which approvals it has."""
    expires = when(change.decision.expires) if change.decision.expires else ""
    if change.decision.guard is Guard.CONFIRM:
        return f"Only <@{change.request.requester}> can confirm it{f' until {expires}' if expires else ''}."
    by = f" by {expires}" if expires else ""
    return f"Needs {missing_approvals(change, where)}{by}.{_approvals_so_far(change)}"


def missing_approvals(change: Change, where: str) -> str:
    """Whose approval is missing: that of those who are asked by name, or of anyone else in the channel."""
    who = " or ".join(map(mention, change.decision.summoned)) or f"someone else in {where}"
    needed = change.decision.approvals_needed
    return f"approval from {who}" if needed == 1 else f"{needed} approvals from {who}"


def _approvals_so_far(change: Change) -> str:
    given = [mention(one.by) for one in change.decision.approvals]
    return f" *{len(given)} of {change.decision.approvals_needed}:* approved by {', '.join(given)}." if given else ""


def approval_words(change: Change) -> str:
    """Who let *change* through; empty where nobody had to, or nobody did."""
    decision = change.decision
    # Who denied or withdrew it is on record as the one who decided, in the place of who let it through before.
    if change.state in {State.DENIED, State.CANCELLED}:
        return ""
    if decision.glass_broken:
        return f"emergency override by <@{decision.decided_by}>"
    if decision.guard is not Guard.APPROVE:
        return ""
    people = [one.by for one in decision.approvals] or list(filter(None, [decision.decided_by]))
    return f"approved by {join_words([f'<@{person}>' for person in people])}" if people else ""


def decision_reason(change: Change, limit: int = 500, *, public: bool = True) -> str:
    """Why it was denied or not waited for, as the rest of a sentence; empty where nobody said. *public*: for a channel."""
    why = change.decision.decision_reason
    return f": “{public_text(why, limit) if public else esc(why, limit)}”" if why else ""


def review_line(change: Change) -> str:
    """The note that somebody acted alone and a review is due."""
    return f"*Review due:* someone other than <@{change.decision.decided_by}> has to review this."


def lost_right_clause(user: str, why: Why) -> str:
    """Who may not do something any more, and *why*, as the rest of a sentence."""
    return WHY_NOT[why].lost.format(who=f"<@{user}>")


def why_not_any_more(change: Change) -> str:
    """Who had lost the right to *change* when it was to be carried out, and how."""
    return lost_right_clause(change.run.lost_right, Why(change.run.outcome))
