"""Decisions about changes: clicks on their cards, the forms that ask for a reason, and the full view before a decision."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Final

from bot.changes.decisions import Decision, Decisions
from bot.changes.model import Change, State
from bot.changes.refusals import AlreadyDecided, UnknownChange
from bot.clients.json_stream import cooperatively
from bot.gatehouse import Gatehouse
from handlers.changes import full_view, notes_view
from handlers.changes.cards import draw_card
from handlers.changes.full_view import hides
from handlers.changes.sentences import plain_title
from handlers.errors import LookFirst, NothingToUndo, OldButton, OldCard
from handlers.gatehouse.commands import GatehouseInspect, GatehouseUndo
from handlers.rules.rule_refs import find_change
from handlers.slack.registry import Click, Form, Recorded, clicks, handles, submits
from handlers.slack.reply import Announced, Attached, Caller, Modal, Reply

MAX_PARTS: Final = 300
"""Of a set that is shown in a modal; a longer one is a file at once, while Slack still takes an answer to the click."""


@handles(GatehouseInspect)
async def inspect(command: GatehouseInspect, caller: Caller, gatehouse: Gatehouse) -> Reply:
    """Everything in a modal, or as a file to the person alone; from then on they may decide."""
    if (change := await find_change(command.change, gatehouse)) is None:
        raise UnknownChange(command.change)
    await gatehouse.changes.decisions.require_look(change, caller.user)
    reply = await _show_all(change, gatehouse)
    await gatehouse.changes.decisions.note_look(change, caller.user)
    return reply


async def _show_all(change: Change, gatehouse: Gatehouse) -> Reply:
    listed = [item async for item in gatehouse.store.items.all(change.id)] if change.is_set else []
    title = plain_title(change)
    if len(listed) <= MAX_PARTS:
        view = full_view.modal(change, list(full_view.entries(change, listed)), title)
        if view is not None:
            return Modal(view)
    content = b"".join(await cooperatively(full_view.file_pieces(change, full_view.entries(change, listed))))
    return Attached(full_view.file_name(change), content, f"*{title}*: everything that it does, in this file.")


async def require_seen(change: Change, decision: Decision, caller: Caller, gatehouse: Gatehouse) -> None:
    """Return where the card shows all of *change*, or the caller has seen the rest; else raises LookFirst.

    Somebody who may not decide is refused for that, whatever they have seen.
    """
    expired = change.decision.expires is not None and gatehouse.now() >= change.decision.expires
    if (
        change.state is not State.PROPOSED
        or expired
        or await gatehouse.changes.decisions.has_looked(change, caller.user)
    ):
        return
    card = await draw_card(change, gatehouse.store, gatehouse.groups, gatehouse.places)
    if hides(change, card.blocks):
        await gatehouse.changes.decisions.require_decision(change, decision, caller.user)
        raise LookFirst(change)


LOOKS_FOR_CARD = 10
CARD_PAUSE_SECONDS = 0.1
"""A card is on record within milliseconds of its post; a click in between is looked at again for a second."""

EXTENSION = 3600
"""Seconds that one click on *Extend* adds."""


async def change_of_click(click: Click, caller: Caller, gatehouse: Gatehouse) -> Change:
    """The change whose card was clicked; raises OldCard where it was not the one card that speaks for it.

    A button's value says no more than which change is meant: what it is about is read from the store, and where the
    card stands must be where we put it. Somebody quick may click on a card in the moment before it is on record.
    The card of an item is that of its change set.
    """
    for _ in range(LOOKS_FOR_CARD):
        change = await gatehouse.changes.journal.get(click.value)
        card = change.set_id or change.id
        stands = await gatehouse.store.cards.stands(card, caller.channel, caller.message)
        if stands is not None:
            break
        await asyncio.sleep(CARD_PAUSE_SECONDS)
    if not stands:
        raise OldCard(await gatehouse.store.cards.link(card))
    return change


async def _decide(decision: Decision, change: Change, caller: Caller, gatehouse: Gatehouse) -> None:
    if decision is not Decision.KEEP:
        await require_seen(change, decision, caller, gatehouse)
    await gatehouse.changes.decisions.decide(change, decision, caller.user)


async def _undo(change: Change, caller: Caller, gatehouse: Gatehouse) -> None:
    await gatehouse.changes.followups.undo(change, by=caller.user, channel=caller.channel, since=caller.asked_at)


async def _revert(change: Change, caller: Caller, gatehouse: Gatehouse) -> None:
    """The end of a temporary change was agreed to with its beginning; only those who may begin one may revert it early."""
    await gatehouse.access.require_all(change, caller.user)
    reason = f"{change.id[:8]} was reverted early"
    await gatehouse.changes.followups.revert(change, by=caller.user, reason=reason, since=caller.asked_at)


def _by(caller: Caller) -> dict[str, str]:
    return {"by": caller.user, "request": caller.request}


def _from(caller: Caller) -> dict[str, str]:
    return {"by": caller.user, "channel": caller.channel, "idempotency_key": caller.request}


ACTS: Final[dict[str, Callable[[Change, Caller, Gatehouse], Awaitable[object]]]] = {
    "confirm": partial(_decide, Decision.CONFIRM),
    "approve": partial(_decide, Decision.APPROVE),
    "keep": partial(_decide, Decision.KEEP),
    "undo": _undo,
    "end": _revert,
    "extend": lambda change, caller, g: g.changes.decisions.extend(change, seconds=EXTENSION, **_by(caller)),
    "stay": lambda change, caller, g: g.changes.decisions.keep(change, **_by(caller)),
    "stop": lambda change, caller, g: g.changes.decisions.stop(change, **_by(caller)),
    "sign": lambda change, caller, g: g.changes.decisions.review(change, **_by(caller)),
    "putback": lambda change, caller, g: g.changes.followups.revert_anyway(change, **_from(caller)),
    "afresh": lambda change, caller, g: g.changes.followups.request_again(change, **_from(caller)),
    "again": lambda change, caller, g: g.changes.followups.again(change, **_from(caller)),
}
"""What the buttons of a card do at once."""


def _acts(name: str) -> None:
    @clicks(f"decide.{name}", stored=True)
    async def act(click: Click, caller: Caller, gatehouse: Gatehouse) -> Reply:
        await ACTS[name](await change_of_click(click, caller, gatehouse), caller, gatehouse)
        return Announced()


def _asks(name: str) -> None:
    """A button that opens a form for a reason; the right is looked at when the form comes back."""

    @clicks(f"decide.{name}")
    async def ask(click: Click, caller: Caller, gatehouse: Gatehouse) -> Reply:
        change = await change_of_click(click, caller, gatehouse)
        if change.state is not State.PROPOSED:
            raise AlreadyDecided(change)
        return Modal(notes_view.reason_form(name, change, title=plain_title(change), channel=caller.channel))


REASONED: Final[dict[str, Callable[[Change, str, str, Decisions], Awaitable[Change]]]] = {
    "deny": lambda change, why, by, decisions: decisions.decide(change, Decision.DENY, by, reason=why),
    "ask": lambda change, text, by, decisions: decisions.ask(change, by=by, text=text),
    "break_glass": lambda change, why, by, decisions: decisions.decide(change, Decision.BREAK_GLASS, by, reason=why),
}
"""What is done once a form has asked for words."""


async def _save(sent: notes_view.Reasoned, caller: Caller, gatehouse: Gatehouse) -> Recorded:
    if sent.name not in REASONED:
        raise OldButton
    change = await gatehouse.changes.journal.get(sent.change)
    decided = await REASONED[sent.name](change, sent.words, caller.user, gatehouse.changes.decisions)
    return Recorded(decided, partial(notes_view.end, sent.name))


for _name in ACTS:
    _acts(_name)
for _name in REASONED:
    _asks(_name)
    submits(notes_view.callback(_name), Form(notes_view.read, _save, notes_view.errors))


@handles(GatehouseUndo)
async def undo(command: GatehouseUndo, caller: Caller, gatehouse: Gatehouse) -> Reply:
    """The change of that reference; without one the caller's last in this channel, which `expand` has put in."""
    change = None if command.change is None else await find_change(command.change, gatehouse)
    if change is None:
        raise NothingToUndo(command.change)
    await _undo(change, caller, gatehouse)
    return Announced()
