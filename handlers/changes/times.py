"""When a change starts and ends, and how long it lasts, as a card says it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Final

from bot.changes.model.change import Change
from bot.changes.model.states import State
from bot.text.times import duration_words
from handlers.blocks.messages import esc
from handlers.blocks.messages import moment as date_token
from handlers.changes.subject import new_status
from handlers.grammar.time_fields import Expiry


def when(moment: datetime | None) -> str:
    """Return a time, shown in the zone of the reader."""
    return "some time" if moment is None else date_token(int(moment.timestamp()) * 1000)


def due_at(change: Change) -> datetime | None:
    """Return when *change* starts or reverts; None where it could not start, or somebody has yet to say when."""
    if change.state is not State.PLANNED:
        return change.request.reverts_at
    return None if change.run.held else change.request.starts_at


def due_order(change: Change) -> tuple[bool, datetime]:
    """Return the key that sorts changes by when they start or revert; first those of which nobody has said when."""
    return due_at(change) is not None, due_at(change) or change.created


def time_of(change: Change) -> str:
    """Return when *change* ended or was decided; empty before that."""
    moment = change.run.finished_at or change.decision.decided_at
    return when(moment) if moment else ""


def until(change: Change) -> str:
    """Return when a change is to be reverted, as the end of a sentence; empty for one that is not temporary."""
    moment, typed = change.request.reverts_at, change.request.reverts_at_as_typed
    if moment is None:
        return ""
    return f" until {when(moment)} ({esc(typed, 60)})" if typed else f" until {when(moment)}"


def duration_text(change: Change) -> str:
    """Return how long a change that is not applied yet is to last, as the end of a sentence."""
    seconds = change.request.revert_after if change.request.reverts_at is None else None
    return f" for {duration_words(seconds)}" if seconds else until(change)


def temporary_line(change: Change) -> str:
    """Return the note that a change is temporary, and for how long; empty for one that is not."""
    return f"Temporary{lasting}" if (lasting := duration_text(change)) else ""


def times_as_typed(change: Change) -> str:
    """Return the times of a plan in the zone in which they were typed; the title has them in the zone of the reader."""
    request = change.request
    if change.state not in {State.PROPOSED, State.PLANNED} or request.starts_at is None or change.run.held:
        return ""
    starts, ends = request.starts_at_as_typed, request.reverts_at_as_typed
    clock, _, zone = starts.rpartition(" ")
    return " – ".join(filter(None, [clock if clock and ends.endswith(f" {zone}") else starts, ends]))


MORE: Final[Mapping[bool, Mapping[str, timedelta]]] = {
    False: {"1 hour more": timedelta(hours=1), "2 hours more": timedelta(hours=2)},
    True: {"1 day more": timedelta(days=1), "7 days more": timedelta(days=7), "30 days more": timedelta(days=30)},
}
"""How much longer a change may last by a click; of a member, in days."""
TOMORROW: Final = {"until tomorrow 9:00": "Until tomorrow, 9:00"}
FOR_GOOD: Final = "good"


def other_ends(change: Change, now: datetime) -> dict[str, str]:
    """Return the ends to choose from for a temporary *change*, as texts with their labels; they count from its end *now*."""
    is_member, switched = change.edit.target.service == "members", new_status(change.edit)
    # A time is written to the minute, and must not be sooner than the label says.
    ends = max(change.request.reverts_at or now, now) + timedelta(minutes=1, microseconds=-1)
    return {
        **{Expiry.at_moment(ends + more).as_typed: label for label, more in MORE[is_member].items()},
        **({} if is_member else TOMORROW),
        FOR_GOOD: f"Keep {switched}" if switched else "Keep for good",
    }
