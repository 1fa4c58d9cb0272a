"""Undo: take back a change by its reference, or the last thing that a person did in a channel, whatever it was."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from bot.changes.decisions import is_open
from bot.changes.followups import require_undoable
from bot.changes.freezing import find_by_id
from bot.changes.model.change import Change
from bot.changes.model.states import State
from bot.changes.rights import Decision
from bot.gatehouse import Gatehouse
from bot.policy.freezes import ChatFreeze
from handlers.changes import notes_view
from handlers.changes.cards import tally_of
from handlers.changes.freeze_view import scope_in_sentence
from handlers.changes.phrases import phrases
from handlers.changes.times import when
from handlers.changes.titles import request_title
from handlers.errors import NothingToUndo
from handlers.gatehouse.audit_view import ACTIONS, event_text
from handlers.gatehouse.commands import GatehouseUndo, GatehouseUnfreeze
from handlers.grammar.tokens import unquote_reason
from handlers.rules.rule_refs import ACT, find_change
from handlers.slack.registry import Click, clicks, handles
from handlers.slack.reply import Announced, Caller, Private, Reply, ShownFirst
from handlers.slack.running import run

CHANGED: Final = frozenset({"requested", "planned", "approved", "started"})
"""Events of a change by which its requester asked for what it does."""
GIVEN_END: Final = frozenset({"end_moved", "made_permanent"})
"""Events of a change by which somebody gave it another end, or none."""


@dataclass(frozen=True, slots=True)
class Undo:
    """The undo or the withdrawal of a *change*; or, where it *ended* at another time before, that end."""

    change: Change
    ended: datetime | None = None
    ended_as_typed: str = ""


def title_of_undo(found: Undo | ChatFreeze) -> str:
    """Return what will be, for bold text: ``Switch “Old shop” back on``; raises NotUndoable."""
    if isinstance(found, ChatFreeze):
        return f"Lift the freeze of {scope_in_sentence(found)}"
    if found.ended is not None:
        return f"{phrases(found.change).undo} {when(found.ended)}, as before"
    if is_open(found.change, Decision.WITHDRAW):
        title = request_title(found.change)
        what = "plan" if found.change.state is State.PLANNED else "request"
        return f"Withdraw the {what} to {title[0].lower()}{title[1:]}"
    require_undoable(found.change)
    return phrases(found.change).undo


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
        raise NothingToUndo(None, f"you {event_text(act, public=True)}")
    change = await gatehouse.changes.journal.get(act.change_id)
    await rights.require(change, Decision.UNDO, caller.user)
    if act.event in CHANGED and (caller.user == change.request.requester or act.event == "started"):
        return Undo(change)
    if act.event in GIVEN_END and (ended := datetime.fromisoformat(act.detail["ended"])) > gatehouse.now():
        return Undo(change, ended, act.detail["ended_as_typed"])
    did = "withdrawn" if act.event == "cancelled" else ACTIONS.get(act.event, act.event)
    raise NothingToUndo(None, f"*{request_title(change)}*, {did} by you")


@clicks("undo")
async def ask(click: Click, caller: Caller, gatehouse: Gatehouse) -> Reply:
    raise ShownFirst(GatehouseUndo())


@handles(GatehouseUndo)
async def undo(command: GatehouseUndo, caller: Caller, gatehouse: Gatehouse) -> Reply:
    changes, found = gatehouse.changes, await find_undo(command.change, caller, gatehouse)
    if isinstance(found, ChatFreeze):
        return await run(GatehouseUnfreeze(found.id), caller, gatehouse)
    change, by = found.change, caller.user
    if found.ended is not None:
        end: dict[str, Any] = {"ends_at": found.ended, "as_typed": found.ended_as_typed}
        made = await changes.decisions.end_at(change, by=by, request=caller.request, **end, is_back=True)
    elif is_open(change, Decision.WITHDRAW):
        made = await changes.decisions.decide(change, Decision.WITHDRAW, by)
    else:
        more: dict[str, Any] = {"since": caller.asked_at, "reason": unquote_reason(command.because)}
        await changes.followups.undo(change, by=by, channel=caller.channel, by_text=True, **more)
        return Announced()
    link = await gatehouse.store.cards.link(change.id) if made.request.channel == change.request.channel else ""
    return Private(notes_view.decided_message(made, await tally_of(made, gatehouse.store), link))
