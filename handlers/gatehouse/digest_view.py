"""The digest of a period: what changed, what waits and what comes, as a message."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Final, TypeVar

from bot.changes.model.change import Change
from bot.changes.model.states import State
from bot.policy.freezes import Freeze
from bot.store.audit import Entry
from handlers.blocks import messages
from handlers.blocks.buttons import run_button, share_button
from handlers.blocks.messages import Message, and_more, esc, plural
from handlers.changes.freeze_view import freeze_line
from handlers.changes.list_view import RowFacts, row
from handlers.changes.times import when
from handlers.changes.titles import STATES, is_partly_done
from handlers.gatehouse.commands import A_DAY, GatehouseAudit, GatehouseDigest, GatehousePending, GatehousePlanned
from handlers.gatehouse.views import Waiting

T = TypeVar("T")
ENDS: Final = (State.APPLIED, State.FAILED, State.STALE, State.UNSETTLED, State.DENIED, State.EXPIRED)
PARTLY: Final = "partly"
TOLD: Final[dict[str, str]] = {
    PARTLY: "partly done",
    **{state.value: STATES[state].word for state in ENDS},
    "refused": "refused",
    "replanned": "planned for another time",
    "made_permanent": "kept",
    "froze": "frozen",
    "exported": "exported",
    "exporting": "not confirmed as exported",
}
"""What a digest calls events, the first to be told first; others have their own names."""
UNTOLD: Final = frozenset(
    {
        "requested",
        "approval",
        "approved",
        "started",
        "begun",
        "applying",
        "deferred",
        "unknown",
    }
)
"""Events that a digest leaves out, since the state of the change says as much. Any other event is listed, even an unknown one."""
MAX_ROWS: Final = 10
"""Changes in each part of a digest in Slack."""
SUMMARY: Final = "What changed, what is waiting, and what is next"
"""The digest in a notification."""


@dataclass(frozen=True, slots=True)
class Digest:
    """What a digest tells, all of it such as its reader may read."""

    entries: Sequence[Entry] = ()
    """What happened; of a bulk change, an entry for each item."""
    has_all: bool = True
    """Whether these are all entries of its time."""
    unread: str = ""
    """The lines about changes that its reader may not read, or that were made elsewhere."""
    changes: Sequence[Change] = ()
    """The finished changes, newest first; a bulk change as one."""
    waiting: Waiting = field(default_factory=Waiting)
    coming: Sequence[Change] = ()
    """What starts or reverts in the day to come, the next first; before it what could not start."""
    freezes: Sequence[Freeze] = ()
    """The freezes of now and of the next day."""
    facts: RowFacts = field(default_factory=RowFacts)


def digest(found: Digest, *, since: datetime, public: bool, command: GatehouseDigest) -> Message:
    """Return the digest as a message."""
    texts = digest_texts(found, since=since, public=public)
    buttons = [
        run_button("Show pending", GatehousePending(), 0) if found.waiting.changes else None,
        run_button("Show what is planned", GatehousePlanned(), 1) if found.coming else None,
        run_button("Details", GatehouseAudit(since=command.since or A_DAY), 2) if found.entries else None,
        share_button(command),
    ]
    blocks = [messages.section(text) for text in texts]
    return messages.message(SUMMARY, [*blocks, *messages.actions(buttons)])


def digest_texts(found: Digest, *, since: datetime, public: bool) -> list[str]:
    """Return the parts of a digest, each with at most so many changes; one line where there is nothing to tell."""
    title = f"Since {when(since)}"
    line = partial(row, facts=found.facts, public=public)
    waiting = found.waiting
    parts = [
        _part("", _sort_by_urgency(found), line),
        _part(f"*{plural(waiting.count, 'pending change')}*", waiting.changes, line, waiting.unlisted),
        _part("*In the next 24 hours*", found.coming, line),
        _part("*Frozen*", found.freezes, freeze_line),
    ]
    said = _counts_text(found)
    if not said and not any(parts):
        said = "nothing happened through Gatehouse, nothing is waiting, and nothing is planned for the next 24 hours."
        return [f":newspaper: *{title}:* {said}{found.unread}"]
    many = "" if found.has_all else f"\nThis counts only the last {len(found.entries):,} entries."
    head = f":newspaper: *{title}*\n{said or 'Nothing happened through Gatehouse.'}{many}{found.unread}"
    return [head, *(text for part in parts for text in part)]


def _counts_text(found: Digest) -> str:
    """Return how many of what is listed came to which end, and how many else there is of each event."""
    counts = Counter(
        PARTLY if is_partly_done(each, found.facts.tallies.get(each.id)) else each.state.value for each in found.changes
    )
    counts.update(each.event for each in found.entries if each.event not in ENDS)
    # Each export has an entry before it is sent, too: what is left had no clear answer.
    counts["exporting"] = max(0, counts["exporting"] - counts["exported"])
    names = TOLD | {event: esc(event.replace("_", " "), 40) for event in counts if event not in TOLD}
    return " · ".join(
        f"*{counts[event]:,}* {name}" for event, name in names.items() if counts[event] and event not in UNTOLD
    )


FAILED: Final = frozenset({State.FAILED, State.STALE, State.UNSETTLED})


def _sort_by_urgency(found: Digest) -> list[Change]:
    """Return the changes: what somebody did alone, then what failed, wholly or in part, then the others."""

    def rank(change: Change) -> int:
        if change.decision.glass_broken:
            return 0
        return 1 if change.state in FAILED or is_partly_done(change, found.facts.tallies.get(change.id)) else 2

    return sorted(found.changes, key=rank)


def _part(title: str, found: Sequence[T], line_of: Callable[[T], str], unlisted: int = 0) -> list[str]:
    """Return a line for each of the first that were *found* below *title*, as few texts; nothing where there are none."""
    lines = [f"• {line_of(each)}" for each in found[:MAX_ROWS]]
    lines += filter(None, [and_more(len(found) - len(lines) + unlisted)])
    return messages.pack_lines(filter(None, [title, *lines])) if lines else []
