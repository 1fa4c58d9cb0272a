"""The buttons of a card: what can be decided, undone or tried again in each state, and the one that shows everything."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

from bot.changes.model.change import Change
from bot.changes.model.edits import Kind
from bot.changes.model.items import DONE, NOT_DONE, Item, Outcome
from bot.changes.model.parts import CauseKind, Guard, Held, RevertFailure
from bot.changes.model.states import State
from handlers.blocks import messages
from handlers.blocks.buttons import decide_button, run_button, temporary_button
from handlers.blocks.messages import Block, Message
from handlers.changes.completeness import hides, is_masked
from handlers.changes.confirmations import confirm_label, question, question_of_second_deletion, thing_of
from handlers.changes.items_view import Progress
from handlers.changes.subject import is_offboarding, new_status, takes_away
from handlers.changes.times import extension
from handlers.changes.titles import is_reverted
from handlers.gatehouse.commands import GatehouseInspect
from handlers.rules.commands import RulesOff, RulesShow

FULL: Final = "full"
"""Ends the action id of the button that opens everything, on a card that leaves something out: `shows_all` looks for it."""
FIRST_ROW: Final = 3
"""Buttons in the first row of two."""
ONE_ROW: Final = 4
"""Buttons that have room in one row."""
APPROVE: Final = {Kind.RULE_DELETE: "Approve deletion", Kind.MEMBER_REMOVE: "Approve removal"}
MAX_SINGLE_UNDOS: Final = 6


def buttons_of(change: Change, progress: Progress | None, *, is_frozen: bool = False) -> list[Block | None]:
    """Return the buttons for *change* in its current state; None for one that it lacks. *is_frozen*: a freeze blocks it."""
    sign = decision_button(change, "Mark as reviewed", "sign", style="primary") if change.review_due else None
    match change.state:
        case State.PROPOSED:
            return decision_buttons(change, is_frozen=is_frozen)
        case State.PLANNED:
            return _plan_buttons(change)
        case State.APPLIED:
            return [sign, *_undo_buttons(change, progress)]
        case State.APPROVED | State.APPLYING if progress is not None:
            return [] if change.run.stopped_by else [decision_button(change, "Stop", "stop")]
        case State.FAILED if progress is not None:
            return [_retry_button(change, progress)]
        case State.APPROVED if change.run.waits:
            return [decision_button(change, "Withdraw", "keep")]
        case State.STALE if progress is None and change.run.result is not None and not change.edit.kind.creates:
            return [decision_button(change, "Request again", "again")]
        case _:
            return []


def decision_buttons(change: Change, *, is_frozen: bool = False) -> list[Block | None]:
    """Return the buttons that decide about a request; rights are checked at the click. *is_frozen*: a freeze blocks it."""
    style = "danger" if takes_away(change) else "primary"
    if change.decision.guard is Guard.CONFIRM:
        yes = confirm_label(change)
        no = f"Keep {thing_of(change)}" if takes_away(change) and not change.is_bulk else "Withdraw"
        return [
            decision_button(change, yes, "confirm", style=style, confirm=question(change, yes)),
            decision_button(change, no, "keep"),
            _override_button(change) if is_frozen else None,
        ]
    yes = APPROVE.get(change.edit.kind, "Approve") if takes_away(change) else "Approve"
    asked = question(change, yes) if change.is_bulk or change.edit.kind.destroys else None
    return [
        decision_button(change, yes, "approve", style=style, confirm=asked),
        decision_button(change, "Deny…", "deny"),
        decision_button(change, "Approve for later", "later") if change.request.starts_at is None else None,
        decision_button(change, "Withdraw", "keep"),
        decision_button(change, "Ask…", "ask"),
        _switch_off_button(change),
        _override_button(change),
    ]


def _override_button(change: Change) -> Block | None:
    return decision_button(change, "Emergency override…", "break_glass") if change.decision.break_glass else None


def _switch_off_button(change: Change) -> Block | None:
    """Return the button that switches off a rule whose deletion waits for an approval, such as one made by mistake."""
    is_on = (change.edit.before or {}).get("status") == "Active"
    if change.edit.kind is not Kind.RULE_DELETE or not is_on:
        return None
    return run_button("Switch off instead", RulesOff(refs=(change.edit.target.key or "",)), "off")


def _plan_buttons(change: Change) -> list[Block | None]:
    """Return the buttons of a planned change, which may be held."""
    withdraw = decision_button(change, "Withdraw", "keep")
    if change.run.held in {Held.RIGHT, Held.POLICY}:
        return [decision_button(change, "Request again", "again"), withdraw]
    yes = confirm_label(change)
    is_for_a_time = change.decision.guard is Guard.APPROVE and change.run.held is not Held.WORD
    again = is_for_a_time and not change.decision.glass_broken
    asked = question(change, yes) if not again and (change.is_bulk or change.edit.kind.destroys) else None
    return [
        decision_button(change, "Ask to do it now" if again else "Do it now", "now", confirm=asked),
        decision_button(change, "Other time…", "replan"),
        withdraw,
    ]


def _undo_buttons(change: Change, progress: Progress | None) -> list[Block | None]:
    """Return the buttons that undo or keep an applied change; for a temporary one that was reverted, those that make it again.

    Of a bulk change, items that were not done can be tried again, and one can be undone alone.
    """
    if change.run.undone_by:
        return [_switch_off_again_button(change), _redo_button(change, progress)]
    if change.is_temporary:
        return _end_buttons(change)
    if change.run.revert_failure is RevertFailure.CHANGED and not change.is_bulk:
        return [decision_button(change, "Revert anyway", "putback"), decision_button(change, "Keep", "stay")]
    deletes = question_of_second_deletion(change, "Undo") if change.edit.kind.creates else None
    undo = decision_button(change, "Undo", "undo", confirm=deletes)
    if progress is None:
        return [undo]
    is_any_done = progress.tally[Outcome.APPLIED] > 0
    return [
        _retry_button(change, progress),
        undo if is_any_done else None,
        *_single_undo_buttons(progress.first),
    ]


def _end_buttons(change: Change) -> list[Block | None]:
    """Return the buttons that revert a temporary change now, extend it, or keep it."""
    revert, keep = "Revert now", "Keep"
    if (switched := new_status(change.edit)) is not None:
        revert, keep = f"Switch {'on' if switched == 'off' else 'off'} now", f"Keep {switched}"
    return [
        decision_button(change, revert, "end"),
        _extend_button(change),
        decision_button(change, keep, "stay"),
        decision_button(change, "Other time…", "until"),
    ]


def _extend_button(change: Change) -> Block | None:
    """Return the button that extends *change* by some time from the end that the card shows, which it is numbered with."""
    ends = change.request.reverts_at
    shown_end = "" if ends is None else f".{int(ends.timestamp())}"
    return decision_button(change, extension(change)[1], f"extend{shown_end}")


def overtaken_buttons(change: Change, since: Change) -> list[Block | None]:
    """Return the buttons of a temporary change of which *since* left nothing: one that shows the rule as it is now."""
    if since.edit.kind.destroys or change.edit.target.service != "rules":
        return []
    return [run_button("Show rule", RulesShow(ref=change.edit.target.key or ""), "show")]


def _redo_button(change: Change, progress: Progress | None) -> Block | None:
    """Return the button that undoes what undid *change*; None for a temporary one, which has other buttons for that.

    None, too, where several undos undid it: the button would make only a part of it again.
    """
    if progress is not None and not progress.is_undone_at_once:
        return None
    undone = change.run.undone
    if undone is None or undone.cause.kind is not CauseKind.UNDO or change.request.reverts_at is not None:
        return None
    deletes = question_of_second_deletion(change, "Redo") if takes_away(change) else None
    return decide_button("Redo", "redo", change.run.undone_by or "", confirm=deletes)


def _switch_off_again_button(change: Change) -> Block | None:
    """Return the button that switches a rule off again once that was reverted at its end; its form asks for how long."""
    if not is_reverted(change) or new_status(change.edit) != "off" or change.edit.target.service != "rules":
        return None
    return temporary_button("Switch off again…", RulesOff(refs=(change.edit.target.key or "",)), "again")


def _retry_button(change: Change, progress: Progress) -> Block | None:
    rest, done = progress.tally.of(NOT_DONE), progress.tally.of(DONE)
    others = "one" if rest == 1 else f"{rest:,}"
    which = f"the {others} that failed" if progress.tally[Outcome.FAILED] == rest else f"the other {others}"
    return decision_button(change, f"Retry {which}" if done else "Try again", "again") if rest else None


def _single_undo_buttons(shown: Sequence[Item]) -> list[Block | None]:
    """Return the buttons that undo a change of one member on several sites, one for each site."""
    done = [item for item in shown if item.outcome is Outcome.APPLIED and item.change_id and item.target.site]
    if len({item.target.key for item in shown}) != 1 or not 1 < len(shown) <= MAX_SINGLE_UNDOS:
        return []
    return [decide_button(f"Undo on {item.target.site}", f"undo.{item.number}", item.change_id or "") for item in done]


def decision_button(change: Change, label: str, decision: str, **more: Any) -> Block | None:
    """Return a button that takes *decision* about *change*; *more*: as for `decide_button`."""
    return decide_button(label, decision, change.id, **more)


def full_label(change: Change) -> str:
    """Return the label of the button that shows everything."""
    if change.state is not State.PROPOSED and not change.review_due:
        return "Show to me"
    if not change.is_bulk or change.bulk.in_steps or is_offboarding(change):
        return "Show full change"
    thing = thing_of(change)
    return f"Show all {change.bulk.size:,} {thing}s" if change.bulk.size > 1 else f"Show the {thing}"


def actions(change: Change, blocks: Iterable[Block], buttons: Sequence[Block | None]) -> list[Block]:
    """Return *buttons* and the one that opens everything, which also shows the ids and the host that no card has.

    While somebody has to decide and *blocks*, or what has room of them, leave something out, that one comes first, below a line
    that says so.
    """
    drawn, inspect = list(blocks), GatehouseInspect(change.id)
    short = rows([*buttons, run_button("Details", inspect, "details")])
    if change.state is State.PROPOSED and (messages.is_too_long([*drawn, *short]) or hides(change, drawn)):
        why = "Some values are hidden in channels" if is_masked(drawn) else "This card doesn’t show everything"
        why = "Emails are masked in channels" if change.edit.target.service == "members" else why
        words = f"{why}. Press *{full_label(change)}* before you decide."
        return [messages.context(words), *rows([run_button(full_label(change), inspect, FULL), *buttons])]
    if change.review_due or (change.edit.target.service == "rules" and is_masked(drawn)):
        return rows([*buttons, run_button(full_label(change), inspect, FULL)])
    return short


def shows_all(message: Message) -> bool:
    """Whether a card that waits for a decision shows all of its change; else it has the button that does."""
    elements = (element for block in message.blocks for element in block.get("elements", ()))
    return all(element.get("action_id") != f"v1.run.{FULL}" for element in elements)


def rows(buttons: Sequence[Block | None]) -> list[Block]:
    """Return the buttons in one row, or in two where there are more than ONE_ROW."""
    drawn = [one for one in buttons if one is not None]
    first = ONE_ROW if len(drawn) <= ONE_ROW else FIRST_ROW
    return [*messages.actions(drawn[:first]), *messages.actions(drawn[first:])]
