"""The buttons of a card: what can be decided, undone or tried again in each state, and the one that shows everything."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

from bot.changes.followups import may_succeed_later
from bot.changes.model.change import Change
from bot.changes.model.edits import Kind
from bot.changes.model.items import DONE, NOT_DONE, Item, Outcome
from bot.changes.model.parts import Guard, Held
from bot.changes.model.states import State
from handlers.blocks import messages
from handlers.blocks.buttons import VISIBLE, ask_button, decide_button, run_button, with_menu
from handlers.blocks.messages import Block, Message
from handlers.changes.completeness import is_short
from handlers.changes.confirmations import confirm_label, question, thing_of, undo_question
from handlers.changes.items_view import Progress
from handlers.changes.subject import new_status
from handlers.changes.titles import is_reverted
from handlers.gatehouse.commands import GatehouseInspect
from handlers.rules.commands import RulesOff, RulesShow

FULL: Final = "full"
"""Ends the action id of the button that opens everything, on a card that leaves something out: `shows_all` looks for it."""
APPROVE: Final = {Kind.RULE_DELETE: "Approve deletion", Kind.MEMBER_REMOVE: "Approve removal"}


def buttons_of(change: Change, progress: Progress | None, *, is_frozen: bool = False) -> list[Block | None]:
    """Return the buttons for *change* in its current state; None for one that it lacks. *is_frozen*: a freeze blocks it."""
    match change.state:
        case State.PROPOSED:
            return decision_buttons(change, is_frozen=is_frozen)
        case State.PLANNED:
            return _plan_buttons(change)
        case State.APPLIED:
            return _undo_buttons(change, progress)
        case State.APPROVED | State.APPLYING if progress is not None:
            return [] if change.run.stopped_by else [decision_button(change, "Stop", "stop")]
        case State.FAILED if progress is not None:
            return [_retry_button(change, progress)]
        case State.FAILED if may_succeed_later(change) and not change.is_automatic:
            return [decision_button(change, "Try again", "again")]
        case State.APPROVED if change.run.waits:
            return [decision_button(change, "Withdraw", "keep")]
        case State.STALE if progress is None and change.run.result is not None and not change.edit.kind.creates:
            return [decision_button(change, "Request again", "again")]
        case _:
            return []


def decision_buttons(change: Change, *, is_frozen: bool = False) -> list[Block | None]:
    """Return the buttons that decide about a request: the override where that is what is left, then yes, then no, then the rest.

    Rights are checked at the click. *is_frozen*: a freeze blocks it.
    """
    destroys, is_own = change.edit.kind.destroys, change.decision.guard is Guard.CONFIRM
    yes = confirm_label(change) if is_own else APPROVE.get(change.edit.kind, "Approve")
    style, asked = "danger" if destroys else "primary", question(change, yes)
    override = decision_button(change, "Emergency override…", "break_glass") if change.decision.break_glass else None
    if is_own:
        no = f"Keep {thing_of(change)}" if destroys and not change.is_bulk else "Withdraw"
        return [
            override if is_frozen else None,
            decision_button(change, yes, "confirm", style=style, confirm=asked),
            decision_button(change, no, "keep"),
        ]
    # Nobody who could approve was found.
    is_blocked = is_frozen or not change.decision.summoned
    return [
        override if is_blocked else None,
        decision_button(change, yes, "approve", style=style, confirm=asked),
        decision_button(change, "Deny…", "deny"),
        decision_button(change, "Withdraw", "keep"),
        _switch_off_button(change),
        None if is_blocked else override,
    ]


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
    again = change.decision.guard is Guard.APPROVE and not change.decision.glass_broken
    asked = None if again else question(change, confirm_label(change))
    return [
        decision_button(change, "Ask to do it now" if again else "Do it now", "now", confirm=asked),
        decision_button(change, "Change time…", "replan"),
        withdraw,
    ]


def _undo_buttons(change: Change, progress: Progress | None) -> list[Block | None]:
    """Return the buttons that undo or keep an applied change; for one that was undone, those that make it again.

    Of a bulk change, items that were not done can be tried again.
    """
    if change.request.undoes:
        return [_retry_button(change, progress)] if progress is not None else []
    if change.run.undone:
        return [
            _switch_off_again_button(change)
            if is_reverted(change)
            else decision_button(change, "Request again", "again")
        ]
    if change.is_temporary:
        return _end_buttons(change)
    deletes = undo_question(change) if change.edit.kind.creates else None
    undo = decision_button(change, "Undo", "undo", confirm=deletes)
    if progress is None:
        rest = decision_button(change, "Remove the old one", "old") if change.request.moved_from else None
        return [rest, undo]
    is_any_done = progress.tally[Outcome.APPLIED] > 0
    return [_retry_button(change, progress), undo if is_any_done else None]


def _end_buttons(change: Change) -> list[Block | None]:
    """Return the buttons that revert a temporary change now, or change its end."""
    switched = new_status(change.edit)
    revert = "Revert now" if switched is None else f"Switch {'on' if switched == 'off' else 'off'} now"
    return [decision_button(change, revert, "end"), decision_button(change, "Change end…", "until")]


def overtaken_buttons(change: Change, since: Change) -> list[Block | None]:
    """Return the buttons of a temporary change of which *since* left nothing: one that shows the rule as it is now."""
    if since.edit.kind.destroys or change.edit.target.service != "rules":
        return []
    return [run_button("Show rule", RulesShow(ref=change.edit.target.key or ""), "show")]


def _switch_off_again_button(change: Change) -> Block | None:
    """Return the button that switches a rule off again once that was reverted at its end; its form asks for how long."""
    if new_status(change.edit) != "off" or change.edit.target.service != "rules":
        return None
    return ask_button("Switch off again…", RulesOff(refs=(change.edit.target.key or "",)), "again")


def _retry_button(change: Change, progress: Progress) -> Block | None:
    rest, done = progress.tally.of(NOT_DONE), progress.tally.of(DONE)
    others = "one" if rest == 1 else f"{rest:,}"
    which = f"the {others} that failed" if progress.tally[Outcome.FAILED] == rest else f"the other {others}"
    return decision_button(change, f"Retry {which}" if done else "Try again", "again") if rest else None


def decision_button(change: Change, label: str, decision: str, **more: Any) -> Block | None:
    """Return a button that takes *decision* about *change*; *more*: as for `decide_button`."""
    return decide_button(label, decision, change.id, **more)


def actions(
    change: Change, blocks: Iterable[Block], buttons: Sequence[Block | None], items: Sequence[Item] = ()
) -> list[Block]:
    """Return *buttons* and the one that opens everything, which also shows the ids and the host that no card has.

    While somebody has to decide about more than *blocks* have room for, that one comes first, below a line that says so.
    *items*: those of a bulk change that the card lists.
    """
    inspect = GatehouseInspect(change.id)
    short = rows([*buttons, run_button("Details", inspect, "details")])
    if change.state is State.PROPOSED and (not is_short(change, items) or messages.is_too_long([*blocks, *short])):
        is_of_member = change.edit.target.service == "members"
        why = "Emails are masked in channels" if is_of_member else "This card doesn’t show everything"
        words = f"{why}. Press *Details* before you decide."
        return [messages.context(words), *rows([run_button("Details", inspect, FULL), *buttons])]
    return short


def shows_all(message: Message) -> bool:
    """Whether a card that waits for a decision shows all of its change; else it has the button that does."""
    elements = (element for block in message.blocks for element in block.get("elements", ()))
    return all(element.get("action_id") != f"v1.run.{FULL}" for element in elements)


def rows(buttons: Sequence[Block | None]) -> list[Block]:
    """Return the first of *buttons* in a row, and the others in a menu at its end; before them, the one that shows everything."""
    drawn = [one for one in buttons if one is not None]
    is_full = any(one["action_id"] == f"v1.run.{FULL}" for one in drawn[:1])
    return messages.actions(with_menu(drawn, VISIBLE + is_full))
