"""The people of a change: who requested it and why, who approved it, and whose approval is missing."""

from __future__ import annotations

from typing import Final

from bot.changes.model.change import Change
from bot.changes.model.parts import Cause, CauseKind, Guard, LostRight
from bot.changes.model.states import State
from bot.policy.model import Why
from bot.text.emails import mask_emails
from bot.text.times import duration_words
from handlers.blocks.messages import esc, join_words, quote
from handlers.changes.times import when
from handlers.explain.why_not import WHY_NOT


def mention(name: str) -> str:
    """Return a mention of a person or a user group, which notifies them; *name*: their id."""
    return f"<!subteam^{name}>" if name.startswith("S") else f"<@{name}>"


def public_text(text: str, limit: int = 300) -> str:
    """Return what a person or a service wrote, for a channel: escaped, with emails masked, cut at *limit* characters."""
    looked_at = 20 * limit
    return esc(mask_emails(text, looked_at), limit, more=max(0, len(text) - looked_at))


def author(change: Change) -> str:
    """Return a mention of the requester of *change*, or “Gatehouse” for the automatic revert of a temporary one."""
    return "Gatehouse" if change.is_automatic else f"<@{change.request.requester}>{_by_agent(change)}"


def _by_agent(change: Change) -> str:
    return f", proposed by the agent {quote(change.request.agent)}" if change.request.agent else ""


def requester_line(change: Change) -> str:
    """Return who requested *change*, as a part of a line."""
    return f"Requested by <@{change.request.requester}>{_by_agent(change)}"


CAUSES: Final = {
    CauseKind.UNDO: ("to undo {whose} change", "undid {whose} change", "Undone by {who}"),
    CauseKind.EARLY_END: ("to revert it early", "reverted early", "Reverted early by {who}"),
}
"""Words for the causes of an undo: what it is to do and what it did, as clauses; then the line on the card of what it undid."""


def reason_of(change: Change, limit: int = 500, *, public: bool = True) -> str:
    """Return the reason of *change*: its requester's words in quotes, or its cause. *public*: for a channel."""
    request = change.request
    words = ""
    if request.reason:
        words = f"“{public_text(request.reason, limit) if public else esc(request.reason, limit)}”"
        words += f" (<{request.reason_url}|open>)" if request.reason_url else ""
    if (cause := request.cause) is not None:
        whose = "their own" if request.requester == cause.requester else f"<@{cause.requester}>’s"
        if cause.is_automatic:
            return how_automatically(cause)
        undone = CAUSES[cause.kind][change.state is State.APPLIED].format(whose=whose)
        return f"{undone}: {words}" if words else undone
    return words


def how_automatically(cause: Cause) -> str:
    """Return how a temporary change was reverted automatically: as planned, or how late and why."""
    if not cause.late_seconds:
        return "automatically, as planned"
    how = "Gatehouse was down" if cause.tries == 1 else "it didn’t work at first"
    return f"automatically, {duration_words(cause.late_seconds)} late: {how}"


def needs_line(change: Change, where: str = "this channel") -> str:
    """Return what a request waits for, until when, and which approvals it has; *where*: the place that it was made in."""
    expires = when(change.decision.expires) if change.decision.expires else ""
    if change.decision.guard is Guard.CONFIRM:
        return f"Only <@{change.request.requester}> can confirm it{f' until {expires}' if expires else ''}."
    by = f" by {expires}" if expires else ""
    told = (
        "" if change.decision.approvers_summoned else "".join(f" {mention(each)}" for each in change.decision.summoned)
    )
    return f"Needs {missing_approvals(change, where)}{by}.{_approvals_so_far(change)}{told}"


def missing_approvals(change: Change, where: str) -> str:
    """Return whose approval is missing: that of the people who are mentioned, of a role, or of anyone else in the channel."""
    decision, needed = change.decision, change.decision.approvals_needed
    who = " or ".join(map(mention, decision.summoned)) if decision.approvers_summoned else ""
    if not who:
        roles = " or ".join(map(esc, decision.approvers))
        who = f"someone with the role {roles}" if roles else f"someone else in {where}"
    return f"approval from {who}" if needed == 1 else f"{needed} approvals from {who}"


def _approvals_so_far(change: Change) -> str:
    given = [mention(one.by) for one in change.decision.approvals]
    return f" *{len(given)} of {change.decision.approvals_needed}:* approved by {', '.join(given)}." if given else ""


def approval_words(change: Change) -> str:
    """Return who approved or overrode *change*; empty where nobody had to, or nobody did."""
    decision = change.decision
    # Then `decided_by` is the person who denied or withdrew it, and no longer the one who approved it before.
    if change.state in {State.DENIED, State.CANCELLED}:
        return ""
    if decision.glass_broken:
        return f"emergency override by <@{decision.decided_by}>"
    if decision.guard is not Guard.APPROVE:
        return ""
    people = [one.by for one in decision.approvals] or list(filter(None, [decision.decided_by]))
    return f"approved by {join_words([f'<@{person}>' for person in people])}" if people else ""


def decision_reason(change: Change, limit: int = 500, *, public: bool = True) -> str:
    """Return why it was denied or overridden, as the rest of a sentence; empty where nobody said. *public*: for a channel."""
    why = change.decision.decision_reason
    return f": “{public_text(why, limit) if public else esc(why, limit)}”" if why else ""


def lost_right_clause(user: str, why: Why) -> str:
    """Return that *user* lost a right, and *why*, as the rest of a sentence."""
    return WHY_NOT[why].lost.format(who=f"<@{user}>")


def why_not_any_more(change: Change) -> str:
    """Return who had lost the right to *change* when it was to be executed, and why; empty where nobody had."""
    lost = change.run.why_not
    return lost_right_clause(lost.who, Why(lost.why)) if isinstance(lost, LostRight) else ""
