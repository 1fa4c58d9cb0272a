"""Build the audit events and log lines of a change, as it is requested, moved and ended."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import structlog

from bot.changes.model.change import Change
from bot.changes.model.moves import GATEHOUSE, Claim, Move
from bot.changes.model.states import LIVE, State
from bot.metrics import ENDED_CHANGES
from bot.store.audit import Event

log = structlog.get_logger(__name__)


def actor_of(change: Change) -> str:
    """Return who is on record as having requested *change*: Gatehouse, where it came about automatically."""
    return GATEHOUSE if change.is_automatic else change.request.requester


def event_of(name: str, change: Change, by: str, **detail: Any) -> Event:
    """Return the audit event *name* of *change*, with the details that each event has, and *detail*."""
    reason = change.decision.decision_reason or change.request.reason
    known = {"kind": change.edit.kind, "reason": reason, "guard": change.decision.guard}
    if change.request.cause is not None:
        known["cause"] = change.request.cause.kind
    if change.request.agent:
        known["agent"] = change.request.agent
    return Event(name, by, change.request.channel, change.id, str(change.edit.target), known | detail)


def event_of_move(move: Move, moved: Change) -> Event:
    """Return the event that *move* was made of a change, which is *moved* now."""
    return event_of(move.event, moved, move.by, **_end_details(moved))


def event_of_claim(change: Change) -> Event:
    """Return the event that a process claimed *change* to execute it."""
    return event_of(Claim.event, change, GATEHOUSE, attempt=change.run.attempt)


def event_of_request(change: Change) -> Event:
    """Return the event that *change* was requested, with what it is to do."""
    detail: dict[str, Any] = {"before": change.edit.before, "after": change.edit.after}
    if (bulk := change.bulk).purpose is not None:
        detail = {"purpose": asdict(bulk.purpose), "items": bulk.size, "kinds": list(bulk.kinds)}
    return event_of("requested", change, actor_of(change), **detail)


def _end_details(change: Change) -> dict[str, Any]:
    """Return the audit details of an end: the service's words, the target as it is now, and as it was before."""
    known = {
        "outcome": "" if change.state is State.APPLIED else change.run.refusal.words,
        "undoes": change.request.undoes,
    }
    details: dict[str, Any] = {name: value for name, value in known.items() if value}
    if change.state in {State.APPLIED, State.STALE, State.FAILED}:
        details |= {"before": change.edit.before, "now": change.run.result}
    if change.decision.glass_broken:
        details["glass_broken"] = True
    return details


def count_ends(changes: Sequence[Change]) -> None:
    """Count those of *changes*, which were moved and committed, that ended or are not confirmed."""
    for change in changes:
        if change.state is State.UNKNOWN or change.state not in LIVE:
            ENDED_CHANGES.labels(change.state, "bulk" if change.is_bulk else change.edit.kind.value).inc()
