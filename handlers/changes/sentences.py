"""The lines below the title of a card: what became of a change, why, and what happens next."""

from __future__ import annotations

from dataclasses import replace
from typing import Final, assert_never

from bot.changes.consequences import HELD_LONGEST
from bot.changes.execute import END_PASSED, HELD_FOR, TOO_OLD
from bot.changes.model.change import Change
from bot.changes.model.edits import Kind
from bot.changes.model.moves import GATEHOUSE
from bot.changes.model.obligation import with_parts
from bot.changes.model.parts import Frozen, Guard, Held, Undone
from bot.changes.model.states import State
from bot.clients.errors import REFUSALS, Failing, OutcomeUnknown, Unreachable
from handlers.changes.people import (
    CAUSES,
    approval_words,
    author,
    decision_reason,
    how_automatically,
    needs_line,
    public_text,
    reason_of,
    requester_line,
    why_not_any_more,
)
from handlers.changes.phrases import phrases
from handlers.changes.subject import THINGS, changed_fields, shown_email
from handlers.changes.times import temporary_line, time_of, times_as_typed, until, when
from handlers.changes.titles import REVERT_FAILURES, STATES


def sentence(change: Change) -> str:
    """Return the lines below the title of a card: who asked, why, who decided, and what happens next."""
    if change.state is State.APPLIED:
        return _applied_lines(change)
    approval = "" if change.state is State.PROPOSED else approval_words(change)
    if approval and change.decision.glass_broken:
        approval += decision_reason(change)
    request = _request_line(change, approval, times_as_typed(change), _time_changed(change))
    match change.state:
        case State.PROPOSED:
            return _lines(request, needs_line(change))
        case State.PLANNED:
            return _lines(held_line(change), request)
        case State.APPROVED | State.APPLYING:
            return _lines(request, temporary_line(change), _retry_line(change))
        case State.UNKNOWN:
            unclear = "The service gave no clear answer. Gatehouse keeps checking and updates this card."
            return _lines(unclear, request, temporary_line(change))
        case State.FAILED | State.UNSETTLED | State.STALE | State.CANCELLED | State.DENIED | State.EXPIRED:
            return _lines(end_line(change), request)
        case never:
            assert_never(never)


def end_line(change: Change) -> str:
    """Return how a change that was not applied ended, and why; empty for any other."""
    match change.state:
        case State.FAILED:
            return f"{_failure_reason(change)} *Nothing was changed.*".strip()
        case State.UNSETTLED:
            return _unsettled_line(change)
        case State.STALE:
            return _stale_line(change)
        case State.CANCELLED | State.DENIED:
            decider = f"<@{change.decision.decided_by}>" if change.decision.decided_by else "someone"
            by = _line(f"{decider}{decision_reason(change)}", time_of(change))
            return f"*{STATES[change.state].word.capitalize()}* by {by}"
        case State.EXPIRED:
            words = expired_words(change)
            return f"{words[:1].upper()}{words[1:]}."
        case _:
            return ""


def expired_words(change: Change) -> str:
    """Return what an expired change was still waiting for, as the rest of a sentence."""
    given, needed = len(change.decision.approvals), change.decision.approvals_needed
    if change.run.held:
        return "nobody said in time when it should start"
    if given >= needed:  # but somebody had no right any more, or its target was busy
        return "it was approved, and couldn’t be done in time"
    return f"only {given} of {needed} approvals came in time" if given else "nobody decided in time"


def _line(*parts: str) -> str:
    return " · ".join(filter(None, parts))


def _lines(*parts: str) -> str:
    return "\n".join(filter(None, parts))


def _request_line(change: Change, *more: str) -> str:
    return _line(shown_email(change), requester_line(change), reason_of(change), *more)


def _retry_line(change: Change) -> str:
    """Return why an approved change is not applied yet, and until when it is tried; empty where nothing delays it."""
    if not change.run.waits or change.state is not State.APPROVED:
        return ""
    since = change.run.started_at or change.decision.decided_at
    until = when(since + HELD_FOR) if since else "an hour later"
    return f"*Nothing was changed yet:* {public_text(change.run.waits, 160)}. Gatehouse tries again until {until}."


def _applied_lines(change: Change) -> str:
    """Return how an applied change was undone later, and below that, how it was applied."""
    undone = change.run.undone
    return _lines(_undone_line(undone) if undone is not None else "", _done_lines(change))


def _done_lines(change: Change) -> str:
    """Return who requested an applied change, who approved it, and when."""
    decision = change.decision
    if decision.glass_broken:
        alone = f"*Emergency override* by <@{decision.decided_by}>{decision_reason(change)}"
        return _lines(_line(alone, time_of(change)), _request_line(change))
    if decision.guard is Guard.APPROVE:
        return _request_line(change, approval_words(change), time_of(change), _time_changed(change))
    is_over = change.run.undone is not None
    who = requester_line(change) if is_over or change.is_automatic else author(change)
    return _line(shown_email(change), who, reason_of(change), time_of(change), _time_changed(change))


def _time_changed(change: Change) -> str:
    """Return who changed the start or the end of *change*, unless that was its requester; empty where nobody did."""
    by = change.run.time_changed_by
    if by in {"", change.request.requester}:
        return ""
    is_kept = change.state is State.APPLIED and change.request.reverts_at is None
    return f"{'kept' if is_kept else 'time changed'} by <@{by}>"


def _undone_line(undone: Undone) -> str:
    """Return how a change was undone, when and by whom."""
    cause = undone.cause
    how = (
        f"A{how_automatically(cause)[1:]}"
        if cause.is_automatic
        else CAUSES[cause.kind][2].format(who=f"<@{undone.by}>")
    )
    return _line(how, f"“{public_text(undone.reason)}”" if undone.reason else "", when(undone.at))


def held_line(change: Change) -> str:
    """Return why a planned change did not start at its time; empty where it did, or will."""
    expires = f"Expires {when((change.run.held_at or change.created) + HELD_LONGEST)}."
    match change.run.held:
        case Held.NOT:
            return ""
        case Held.LATE:
            why = "Gatehouse, Slack or the service was away then, or another change came first. Choose what to do."
        case Held.RIGHT:
            why = f"{why_not_any_more(change)}."
        case Held.POLICY:
            why = "the policy asks for more than it did when this was planned."
        case Held.FROZEN:
            why = "it was frozen then. Choose a time after the freeze."
        case never:
            assert_never(never)
    return f"It couldn’t start {when(change.request.starts_at)}: {why} {expires}"


def _failure_reason(change: Change) -> str:
    """Return why *change* failed: in the service's words if it refused; empty for a bulk change, whose items say it."""
    if isinstance(frozen := change.run.why_not, Frozen):
        return f"It was frozen before it could be done, until {when(frozen.until)}."
    if lost := why_not_any_more(change):
        return f"{lost if lost.startswith('<') else lost[:1].upper() + lost[1:]}."
    refusal = change.run.refusal.code
    if refusal == END_PASSED:
        return (
            f"It was to last{until(change)}, which passed before it could be done. Request it again with a later end."
        )
    if refusal == TOO_OLD:
        is_approved = change.decision.guard is Guard.APPROVE
        late = "The approval was more than an hour old" if is_approved else "It couldn’t be done within an hour"
        return f"{late}. Request it again."
    if not change.run.refusal.words:
        return "" if change.is_bulk else "The service shows no sign of it."
    why = public_text(change.run.refusal.words)
    if refusal in REFUSALS:
        return f"The service says: “{why}”."
    if refusal == OutcomeUnknown.code:
        return f"The service gave no clear answer ({why}), and shows no sign of it."
    if refusal in {Unreachable.code, Failing.code}:
        return f"The service isn’t available ({why})."
    return f"It couldn’t be sent: {why}."


def _unsettled_line(change: Change) -> str:
    if change.edit.kind is Kind.RULE_CREATE:
        shows = "It isn’t there now; it may have been created, and changed or deleted since."
    elif change.run.result is None:
        shows = "It couldn’t be read, or is gone."
    else:
        shows = "What the service shows is neither the old state nor the new one."
    lead = "*Check it yourself:* the service gave no clear answer, and Gatehouse has stopped checking."
    ends = change.request.reverts_at if change.is_temporary else None
    stays = f" At its end, {when(ends)}, Gatehouse looks again and reverts what it finds." if ends is not None else ""
    return f"{lead} {shows}{stays}"


def _stale_line(change: Change) -> str:
    thing = "what this is about" if change.is_bulk else f"the {THINGS.get(change.edit.target.service, 'thing')}"
    who = f"<@{change.run.overtaken_by}>" if change.run.overtaken_by else "someone"
    if change.run.overtaken_by == GATEHOUSE:
        return f"A temporary change of {thing} ended after the request, so Gatehouse left it alone."
    if change.run.result is None and not change.is_bulk:
        why = f"{thing} no longer exists. *Nothing was changed.*"
    elif change.request.starts_at is not None and not change.run.overtaken_by:
        # It may have been planned for what a revert or another plan was to leave.
        why = f"{thing} isn’t what this was planned for, so Gatehouse left it alone."
    else:
        did = CREATED[change.edit.target.service] if change.edit.kind.creates and not change.is_bulk else "edited"
        why = f"{who} {did} {thing} after the request, so Gatehouse left it alone."
    return f"{why[:1].upper()}{why[1:]}"


CREATED: Final = {"rules": "created", "members": "added"}
"""By service, what somebody did who was faster to create what a request was to create."""


def revert_failure_line(change: Change) -> str:
    """Return why a temporary change was not reverted as planned; empty where it was, or will be."""
    if change.run.undone is not None or not change.run.revert_failure or change.request.reverts_at is None:
        return ""
    left, edit = "some items were edited first, or refused", change.edit
    if edit.before is not None and edit.after is not None:
        before = with_parts(change.open_parts, edit.before, edit, edit.after)
        left = f"someone edited {changed_fields(replace(change, edit=replace(edit, before=before)))} first"
    return REVERT_FAILURES[change.run.revert_failure][1].format(when=when(change.request.reverts_at), left=left)


def overtaken_line(change: Change, since: Change) -> str:
    """Return what a later change, *since*, did to the target of a temporary *change*, and what the end of that means now."""
    by, what = f"<@{since.request.requester}>", "the deletion"
    said = f"Deleted by {by}"
    if not since.edit.kind.destroys:
        said, what = f"*{phrases(since).done}*, by {by}", "that"  # whatever became of it later
    ends = f"Its end {when(change.request.reverts_at)} changes nothing unless {what} is undone first."
    return f"{_line(said, time_of(since))}\n{ends}\n{_applied_lines(change)}"
