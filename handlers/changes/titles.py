"""The head of a card: its mark, its title, and the words for each state."""

from __future__ import annotations

import html
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from bot.changes.model.change import Change
from bot.changes.model.edits import Kind
from bot.changes.model.items import DONE, Outcome, Tally
from bot.changes.model.parts import RevertFailure
from bot.changes.model.states import State
from handlers.blocks.messages import WORD_JOINER
from handlers.changes.phrases import Phrases, phrases
from handlers.changes.subject import new_status, subject
from handlers.changes.times import duration_text, until, when


@dataclass(frozen=True, slots=True)
class StateWords:
    """The words for a change in one state: its emoji (*mark*), the *word* for the state, and the end of a sentence (*clause*)."""

    mark: str
    word: str
    clause: str


HOURGLASS, UNCLEAR = ":hourglass_flowing_sand:", ":grey_question:"
STATES: Final[Mapping[str, StateWords]] = {
    State.PROPOSED: StateWords(":wastebasket:", "waiting for a decision", "is waiting for a decision"),
    State.PLANNED: StateWords(":alarm_clock:", "planned", "is planned"),
    State.APPROVED: StateWords(HOURGLASS, "under way", "is under way"),
    State.APPLYING: StateWords(HOURGLASS, "under way", "is under way"),
    State.APPLIED: StateWords(":white_check_mark:", "done", "is done"),
    State.FAILED: StateWords(":x:", "failed", "failed"),
    State.UNKNOWN: StateWords(UNCLEAR, "not confirmed yet", "is not confirmed yet"),
    State.UNSETTLED: StateWords(UNCLEAR, "never confirmed", "was never confirmed"),
    State.STALE: StateWords(":arrows_counterclockwise:", "out of date", "is out of date"),
    State.CANCELLED: StateWords(":leftwards_arrow_with_hook:", "withdrawn", "was withdrawn"),
    State.DENIED: StateWords(":no_entry_sign:", "denied", "was denied"),
    State.EXPIRED: StateWords(":zzz:", "expired", "expired"),
}
"""The words for each state, by its name in the database and the audit."""


def is_reverted(change: Change) -> bool:
    """Whether *change* was temporary and was reverted automatically at its end."""
    return change.run.undone is not None and change.run.undone.cause.is_automatic


def outcome_word(change: Change) -> str:
    """Return the state of *change*, in a word or two."""
    if change.run.undone:
        return "reverted" if is_reverted(change) else "undone"
    return STATES[change.state].word


def is_partly_done(change: Change, tally: Tally | None) -> bool:
    """Whether a bulk *change* is applied, though not all of its items are done, or some of them are undone again."""
    if change.state is not State.APPLIED or tally is None:
        return False
    return tally.of(DONE) < tally.meant or (tally[Outcome.UNDONE] > 0 and not change.run.undone)


def mark_of(change: Change, tally: Tally | None = None) -> str:
    """Return the emoji for the state of *change*; of a bulk change, by the *tally* of its items."""
    if is_partly_done(change, tally):
        return ":warning:"
    if change.state is State.PROPOSED and not change.edit.kind.destroys:
        return ":raising_hand:"
    if change.run.held and change.state is State.PLANNED:
        return ":warning:"
    if change.state is not State.APPLIED:
        return STATES[change.state].mark
    if change.run.undone:
        return STATES[change.state].mark if is_reverted(change) else ":leftwards_arrow_with_hook:"
    if change.decision.glass_broken:
        return ":rotating_light:"
    if change.run.revert_failure or change.request.warnings:
        return ":warning:"
    return ":double_vertical_bar:" if new_status(change.edit) == "off" else STATES[change.state].mark


def plain_title(change: Change) -> str:
    """Return what is requested, without code: ``Switch off “Old shop”``, ``Change the destination of “Old shop”``."""
    return request_title(change).replace("`", "")


def bare_title(change: Change) -> str:
    """Return the same for places where Slack shows text as it is, without entities."""
    return bare_text(request_title(change))


def bare_text(text: str) -> str:
    """Return bold *text* for the same places."""
    return html.unescape(text.replace("`", "")).replace(WORD_JOINER, "")


def request_title(change: Change) -> str:
    """Return the same for bold text, with a masked email as code: its asterisks would end the bold otherwise."""
    return phrases(change).request


def title_of(change: Change, tally: Tally | None = None) -> str:
    """Return the title of the card of *change*: the request, or its outcome; of a bulk change, by the *tally* of its items."""
    said = phrases(change)
    match change.state:
        case State.PROPOSED | State.PLANNED:
            return _waiting_title(change, said.request)
        case State.APPROVED if change.run.waits and tally is None:
            return f"{said.request}: waiting for the service"
        case State.APPROVED | State.APPLYING if change.run.stopped_by:
            return f"{said.request}: stopping"
        case State.APPLIED:
            return _applied_title(change, said, tally)
        case State.CANCELLED if change.request.starts_at is not None:
            return f"{said.request}: plan withdrawn"
        case _:
            return f"{said.request}: {STATES[change.state].word}"


def _waiting_title(change: Change, what: str) -> str:
    """Return the title of a change that waits for a decision or its start, or is held; *what*: what is to be done."""
    request, held = change.request, change.run.held
    if held:
        return f"{what}: not started"
    ending = "?" if change.state is State.PROPOSED else ""
    if request.starts_at is None:
        return f"{what}{duration_text(change)}{ending}"
    starts = f"planned for {when(request.starts_at)}"
    ends = f" until {when(request.reverts_at)}" if request.reverts_at is not None else duration_text(change)
    return f"{what}{',' if ending else ':'} {starts}{',' if ends else ''}{ends}{ending}"


def _applied_title(change: Change, said: Phrases, tally: Tally | None) -> str:
    """Return the title of an applied change, which may have been undone since, or not been reverted at its end."""
    if tally is not None and (partial := _partial_title(change, said, tally)):
        return partial
    if change.run.undone:
        return said.undone
    if change.run.revert_failure and tally is None:
        head, _ = REVERT_FAILURES[change.run.revert_failure]
        return head.format(request=said.request, done=said.done)
    if not change.is_temporary:
        return said.done
    if change.edit.kind is Kind.RULE_CREATE:
        return f"{said.done}, to be deleted {when(change.request.reverts_at)}"
    return said.done + until(change)


def _partial_title(change: Change, said: Phrases, tally: Tally) -> str:
    """Return the title of a bulk change of which not all is done, or undone; empty where all of it is.

    ``2 of 3 rules switched off``, where its title counts its items; else the request, and how much of it is done.
    """
    done, meant, unclear = tally.of(DONE), tally.meant, tally[Outcome.UNKNOWN]
    if change.run.undone:
        return "" if tally[Outcome.UNDONE] == meant else f"{said.request}: undone"
    if not is_partly_done(change, tally):
        return ""
    if tally[Outcome.UNDONE]:
        return f"{said.request}: {tally[Outcome.UNDONE]:,} of {meant:,} undone"
    more = f", {unclear:,} not confirmed yet" if unclear else ""
    is_counted = said.done.startswith(f"{meant:,} ")
    return f"{done:,} of {said.done}{more}" if is_counted else f"{said.request}: {done:,} of {meant:,} done{more}"


REVERT_FAILURES: Final[Mapping[RevertFailure, tuple[str, str]]] = {
    RevertFailure.CHANGED: (
        "{request}: not reverted",
        "*Not reverted* at {when}: someone edited it first, so Gatehouse left it alone.",
    ),
    RevertFailure.GONE: ("{request}: nothing to revert", "*Nothing is left to revert.* Its end was at {when}."),
    RevertFailure.REFUSED: (
        "{done}: not reverted",
        "*Not reverted* at {when}: it was refused. Undo it to try again, or to see why.",
    ),
    RevertFailure.UNCONFIRMED: (
        "{request}: its end is not confirmed",
        "*Check it yourself:* it was to be reverted at {when}, and the service gave no clear answer.",
    ),
    RevertFailure.PARTLY: (
        "{request}: not all reverted",
        "*Not all of it was reverted* at {when}: {left}, so Gatehouse left that alone.",
    ),
}
"""The title and the explanation on the card of a temporary change that was not reverted; the title has ``{done}`` only where
nobody edited the target since. ``{left}``: why a part of it is left."""


def overtaken_title(change: Change, since: Change) -> str:
    """Return the title of the card of a temporary *change* of which a later one, *since*, left nothing."""
    if not since.edit.kind.destroys:
        return f"{request_title(change)}: changed since"
    return f"{subject(change)} was {'removed' if change.edit.target.service == 'members' else 'deleted'}"
