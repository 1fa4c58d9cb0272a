"""Words for a change that cannot be begun, decided or taken back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from bot.changes.errors import (
    AlreadyDecided,
    NothingToReview,
    NotTemporary,
    NotUndoable,
    NotYours,
    PolicyTightened,
    TooManyQuestions,
    TooManyRequests,
    UnknownChange,
)
from bot.changes.set_proposals import NothingInSet
from bot.domain.change import State
from bot.store.errors import NewerRelease, TargetBusy
from handlers.commands.command import slash
from handlers.commands.gatehouse import GatehouseInspect, GatehousePending
from handlers.error_words.words import Table, Words
from handlers.errors import LookFirst, NothingToChange, NothingToUndo, OldCard
from handlers.views.card_gaps import label
from handlers.views.parts import code, esc
from handlers.views.titles import WORDS as WORDS_OF_STATES

STANDS: Final = {
    State.APPROVED: "approved",
    State.APPLYING: "approved, and is being done",
    State.APPLIED: "approved and done",
    State.DENIED: "denied",
    State.CANCELLED: "withdrawn",
    State.EXPIRED: "expired",
}


def _already(error: AlreadyDecided) -> Words:
    change = error.change
    by = f" by <@{change.decided_by}>" if change.decided_by else ""
    moment = change.decided_at
    at = f" <!date^{int(moment.timestamp())}^at {{time}}|at {moment:%H:%M} UTC>" if moment else ""
    if change.state is State.PROPOSED:
        return Words("You have approved this already; it waits for somebody else.", unchanged=None)
    return Words(f"Already {STANDS.get(change.state, f'settled: {change.state}')}{by}{at}.", unchanged=None)


def _not_yours(error: NotYours) -> Words:
    change = error.change
    if change.glass_broken:
        return Words("Whoever acted alone cannot sign it too.", next="Somebody else who may approve has to.")
    return Words(f"Only <@{change.requester}> can settle this: it is their request.", next="Ask them.")


def _not_temporary(error: NotTemporary) -> Words:
    name = f"Change `{error.change.id[:8]}`"
    if error.change.temporary:
        return Words(
            f"{name} is being reverted, or its end was just changed.", next="Look at its card.", unchanged=None
        )
    return Words(f"{name} is no longer temporary.", unchanged=None)


def _busy(error: TargetBusy) -> Words:
    other = error.change
    return Words(
        f"Another change of the same target is under way (`{other.id[:8]}`, {other.state}, by <@{other.requester}>).",
        next="Finish or withdraw that one on its card, then ask again.",
    )


MAX_NAMED: Final = 10


def _listed(titles: Sequence[str]) -> str:
    """The *titles*, as the subject of a sentence, with its verb."""
    named = [f"*{esc(title, 150)}*" for title in titles[:MAX_NAMED]]
    named += [f"{len(titles) - MAX_NAMED:,} more"] * (len(titles) > MAX_NAMED)
    return f"{', '.join(named[:-1])} and {named[-1]} are" if len(named) > 1 else f"{named[0]} is"


WORDS: Final[Table] = {
    NothingToChange: lambda e: Words(f"{_listed(e.titles)} already {esc(e.status) if e.status else 'as you asked'}."),
    NothingInSet: lambda _: Words(
        "There is nothing left to do.", "What was to be done is done, or its target is gone."
    ),
    TargetBusy: _busy,
    TooManyRequests: lambda e: Words(
        f"{'This channel has' if e.channel else 'You have'} {e.count} requests waiting for a decision.",
        next="Withdraw one or wait until one is decided.",
        again={"Show what waits": GatehousePending()},
    ),
    TooManyQuestions: lambda e: Words(
        f"This request has {len(e.change.questions)} questions already.",
        next="Write in the thread of its card.",
        unchanged=None,
    ),
    NewerRelease: lambda _: Words(
        "A newer release of Gatehouse recorded this change, and this one can't act on it.",
        "Gatehouse is being updated, or was put back to an older release.",
        "Try again in some minutes. If that doesn't help, ask your Gatehouse admin to finish the update.",
    ),
    UnknownChange: lambda _: Words(
        "Gatehouse has no record of that change.", "The card is from another installation, or its record was deleted."
    ),
    AlreadyDecided: _already,
    NotYours: _not_yours,
    PolicyTightened: lambda _: Words(
        "The policy is stricter now than when this was requested.",
        next="The card says who must approve it now. If nobody can, withdraw it and ask again.",
    ),
    NotUndoable: lambda e: Words(
        f"Change `{e.change.id[:8]}` has already been undone."
        if e.change.undone_by
        else f"Change `{e.change.id[:8]}` can’t be undone: only a change that was applied can. "
        f"State of this one: {WORDS_OF_STATES[e.change.state]}."
    ),
    NothingToUndo: lambda e: Words(
        f"No change has the reference {code(e.asked)}." if e.asked else "You have no change in this channel to undo.",
        next=f"Press *Undo* on its card, or take the reference from there: `{slash('gatehouse undo 1a2b3c4d')}`.",
    ),
    NotTemporary: _not_temporary,
    NothingToReview: lambda e: Words(f"Change `{e.change.id[:8]}` has already been reviewed.", unchanged=None),
    LookFirst: lambda e: Words(
        "This card doesn’t show everything. Look at the full change first.",
        next="Then decide on the card.",
        again={label(e.change): GatehouseInspect(e.change.id)},
    ),
    OldCard: lambda e: Words(
        "That message no longer speaks for its change.",
        next=f"Use the newer one: {e.link}" if e.link else "Use the newer one, a moment from now, in the channel.",
    ),
}
