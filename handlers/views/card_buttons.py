"""What may be clicked on a card now; who may click it is looked at when it is clicked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from bot.domain.change import Change, Guard, Kind, State
from bot.domain.member import masked
from handlers.commands.rules import RulesOff
from handlers.views import parts
from handlers.views.parts import Block
from handlers.views.titles import VERBS


def _proposed(change: Change) -> list[Block | None]:
    """The clicks that are open; who may make them is looked at when they are made."""
    verb = VERBS[change.kind][2]
    if change.guard is Guard.CONFIRM:
        style = "danger" if change.kind.destroys else "primary"
        return [
            parts.decide_button(verb, "confirm", change.id, style=style, confirm=_asked(change, verb)),
            parts.decide_button("Keep", "keep", change.id),
        ]
    approve = (
        {"style": "danger", "confirm": _asked(change, "Approve")} if change.kind.destroys else {"style": "primary"}
    )
    return [
        parts.decide_button("Approve", "approve", change.id, **approve),
        parts.decide_button("Deny…", "deny", change.id),
        parts.decide_button("Ask…", "ask", change.id),
        parts.decide_button("Withdraw", "keep", change.id),
        parts.decide_button("Break the glass…", "glass", change.id) if change.break_glass else None,
        _switch_off(change),
    ]


def _switch_off(change: Change) -> Block | None:
    """Stop a rule at once that somebody else has yet to agree to delete, such as one that was made by mistake."""
    is_on = (change.before or {}).get("status") == "Active"
    if change.kind is not Kind.RULE_DELETE or not is_on or change.is_set:
        return None
    return parts.run_button("Switch off instead", RulesOff(refs=(change.target.key or "",)), "off")


def _asked(change: Change, yes: str) -> Block:
    verb = VERBS[change.kind][2]
    text = f"{verb} {_confirmed_name(change)}? What {'goes' if change.kind.destroys else 'changes'} is on the card."
    return parts.confirm(f"{verb} it?", text, yes, "Not yet", danger=change.kind.destroys)


def _approved(change: Change) -> list[Block | None]:
    return [parts.decide_button("Withdraw", "keep", change.id)] if change.waits else []


def _applied(change: Change) -> list[Block | None]:
    sign = parts.decide_button("Sign", "sign", change.id, style="primary") if change.review_owed else None
    if change.undone_by:
        return [sign]
    if change.temporary:
        return [
            sign,
            parts.decide_button("Extend 1 h", "extend", change.id),
            parts.decide_button("Make it stay", "stay", change.id),
            parts.decide_button("End now", "end", change.id),
        ]
    if change.ending == "changed":
        return [
            sign,
            parts.decide_button("Take back anyway…", "putback", change.id),
            parts.decide_button("Leave it", "stay", change.id),
        ]
    return [sign, parts.decide_button("Undo", "undo", change.id)]


def _outdated(change: Change) -> list[Block | None]:
    """Propose the same on what there is now, where there is something."""
    there = change.result is not None and not change.kind.creates
    return [parts.decide_button("Ask again, as it is now", "afresh", change.id)] if there else []


BUTTONS: Final[dict[State, Callable[[Change], list[Block | None]]]] = {
    State.PROPOSED: _proposed,
    State.APPROVED: _approved,
    State.APPLIED: _applied,
    State.STALE: _outdated,
}


def _confirmed_name(change: Change) -> str:
    document = change.before or change.after or {}
    if change.target.service == "members":
        return masked(change.target.key or "")
    return parts.clip(f"{document.get('name') or ''} ({change.target.key or 'new'})".strip(), 200)
