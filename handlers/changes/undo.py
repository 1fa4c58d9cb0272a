"""Undo: take back a change by its reference, or the last thing that a person did in a channel, whatever it was."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from bot.changes.decisions import is_open
from bot.changes.events import earlier_end
from bot.changes.followups import require_undoable
from bot.changes.freezing import find_by_id
from bot.changes.model.change import Change
from bot.changes.model.parts import Guard
from bot.changes.model.states import State
from bot.changes.rights import Decision
from bot.gatehouse import Gatehouse
from bot.policy.freezes import ChatFreeze
from bot.store.audit import Entry
from handlers.changes import notes_view
from handlers.changes.cards import tally_of
from handlers.changes.freeze_view import scope_in_sentence
from handlers.changes.phrases import phrases
from handlers.changes.times import when
from handlers.changes.titles import request_title
from handlers.errors import NothingToUndo
from handlers.gatehouse.audit_view import act_words
from handlers.gatehouse.commands import GatehouseUndo, GatehouseUnfreeze
from handlers.gatehouse.freezes import unfreeze
from handlers.grammar.tokens import unquote_reason
from handlers.rules.rule_refs import ACT, find_change
from handlers.slack.registry import handles
from handlers.slack.reply import Announced, Caller, Private, Reply

UNDER_WAY: Final = frozenset({State.APPROVED, State.APPLYING, State.APPLIED})
"""States of an undo that has no card of its own, or none yet: the person who typed it is told privately."""
CHANGED: Final = frozenset({"requested", "planned", "approved", "started"})
"""Events of a change by which its requester asked for what it does."""


@dataclass(frozen=True, slots=True)
class Undo:
    """The undo or the withdrawal of a *change*; with *act*, which gave it another end: the end that it had before."""

    change: Change
    act: Entry | None = None


def title_of_undo(found: Undo | ChatFreeze) -> str:
    """Return what will be, for bold text: ``Switch “Old shop” back on``; raises NotUndoable."""
    if isinstance(found, ChatFreeze):
        return f"Lift the freeze of {scope_in_sentence(found)}"
    if found.act is None and is_open(found.change, Decision.WITHDRAW):
        title = request_title(found.change)
        what = "plan" if found.change.state is State.PLANNED else "request"
        return f"Withdraw the {what} to {title[0].lower()}{title[1:]}"
    if found.act is None:
        require_undoable(found.change)
    ends = f" {when(earlier_end(found.act))}, as before" if found.act is not None else ""
    return f"{phrases(found.change).undo}{ends}"


async def find_undo(reference: str | None, caller: Caller, gatehouse: Gatehouse) -> Undo | ChatFreeze:
    """Return what is taken back by *reference*, which `expand` has filled in; a freeze is lifted.

    Raises NothingToUndo, NoFreeze, and as `Rights.require` does.
    """
    rights = gatehouse.changes.decisions.rights
    if reference is not None and not reference.startswith(ACT):
        if (change := await find_change(reference, gatehouse)) is None:
            raise NothingToUndo(reference)
        await rights.require(change, Decision.UNDO, caller.user)
        return Undo(change)
    number = (reference or "").removeprefix(ACT)
    act = await gatehouse.store.audit.last_act(caller.user, caller.channel, int(number)) if number.isdecimal() else None
    if act is None:
        raise NothingToUndo(None)
    if act.event == "froze":
        return find_by_id(await gatehouse.changes.freezes.chat_freezes(), act.detail["id"])
    if not act.change_id:
        raise NothingToUndo(None, act_words(act))
    change = await gatehouse.changes.journal.get(act.change_id)
    await rights.require(change, Decision.UNDO, caller.user)
    if act.event in CHANGED and (caller.user == change.request.requester or act.event == "started"):
        return Undo(change)
    if (ends := earlier_end(act)) is not None and ends > gatehouse.now():
        return Undo(change, act)
    raise NothingToUndo(None, act_words(act, change))


@handles(GatehouseUndo)
async def undo(command: GatehouseUndo, caller: Caller, gatehouse: Gatehouse) -> Reply:
    changes, found = gatehouse.changes, await find_undo(command.change, caller, gatehouse)
    if isinstance(found, ChatFreeze):
        await gatehouse.access.require("freeze", caller.user, caller.channel)
        return await unfreeze(GatehouseUnfreeze(found.id), caller, gatehouse)
    change, why = found.change, unquote_reason(command.because)
    if found.act is not None:
        made = await changes.decisions.restore_end(change, found.act, by=caller.user, request=caller.request)
    elif is_open(change, Decision.WITHDRAW):
        made = await changes.decisions.decide(change, Decision.WITHDRAW, caller.user)
    else:
        by: dict[str, Any] = {"by": caller.user, "channel": caller.channel, "since": caller.asked_at}
        made = await changes.followups.undo(change, **by, reason=why, by_text=True)
        if made.decision.guard is not Guard.NONE or made.state not in UNDER_WAY:
            return Announced()
    link = await gatehouse.store.cards.link(change.id) if made.request.channel == change.request.channel else ""
    return Private(notes_view.decided_message(made, await tally_of(made, gatehouse.store), link))
