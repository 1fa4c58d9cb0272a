"""Decisions about changes: the clicks on their cards, and the small forms that ask for a reason."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from bot.changes.deciding import Decision
from bot.changes.errors import AlreadyDecided
from bot.domain.change import Change, State
from bot.gatehouse import Gatehouse
from handlers.commands.gatehouse import GatehouseUndo
from handlers.errors import NothingToUndo, OldButton, OldCard
from handlers.full_view import require_seen
from handlers.refs import change_called
from handlers.reply import Announced, Caller, Modal, Reply, View
from handlers.routes import Click, Form, clicks, handles, submits
from handlers.views import decision_form, forms
from handlers.views.titles import plain_title

LOOKS_FOR_CARD = 10
CARD_PAUSE_SECONDS = 0.1
"""A card is on record within milliseconds of its post; a click in between is looked at again for a second."""

EXTENSION = 3600
"""Seconds that one click on *Extend* adds."""


async def clicked(click: Click, caller: Caller, gatehouse: Gatehouse) -> Change:
    """The change whose card was clicked; raises OldCard where it was not the one card that speaks for it.

    A button's value says no more than which change is meant: what it is about is read from the store, and where the
    card stands must be where we put it. Somebody quick may click on a card in the moment before it is on record.
    The card of a part is that of its change set.
    """
    change = await gatehouse.changes.get(click.value)
    card = change.part_of or change.id
    for _ in range(LOOKS_FOR_CARD):
        stands = await gatehouse.store.cards.stands(card, caller.channel, caller.message)
        if stands is not None:
            break
        await asyncio.sleep(CARD_PAUSE_SECONDS)
    if not stands:
        raise OldCard(await gatehouse.store.cards.link(card))
    return change


def _decides(name: str, decision: Decision) -> None:
    """A button that takes *decision* at once."""

    @clicks(f"decide.{name}", stored=True)
    async def decide(click: Click, caller: Caller, gatehouse: Gatehouse) -> Reply:
        change = await clicked(click, caller, gatehouse)
        if decision is not Decision.KEEP:
            await require_seen(change, decision, caller, gatehouse)
        await gatehouse.changes.decide(change.id, decision, caller.user)
        return Announced()


_decides("confirm", Decision.CONFIRM)
_decides("approve", Decision.APPROVE)
_decides("keep", Decision.KEEP)


@clicks("decide.undo", stored=True)
async def undo_click(click: Click, caller: Caller, gatehouse: Gatehouse) -> Reply:
    change = await clicked(click, caller, gatehouse)
    await gatehouse.changes.undo(change, by=caller.user, channel=caller.channel, since=caller.asked_at)
    return Announced()


@clicks("decide.end", stored=True)
async def end_now(click: Click, caller: Caller, gatehouse: Gatehouse) -> Reply:
    """The end of a temporary change was agreed to with its beginning; only whoever may begin one may end it early."""
    change = await clicked(click, caller, gatehouse)
    await gatehouse.access.require_all(change, caller.user)
    reason = f"{change.id[:8]} was ended early"
    await gatehouse.changes.revert(change, by=caller.user, reason=reason, since=caller.asked_at)
    return Announced()


@clicks("decide.extend", stored=True)
async def extend(click: Click, caller: Caller, gatehouse: Gatehouse) -> Reply:
    change = await clicked(click, caller, gatehouse)
    await gatehouse.changes.extend(change, by=caller.user, seconds=EXTENSION, request=caller.request)
    return Announced()


@clicks("decide.stay", stored=True)
async def stay(click: Click, caller: Caller, gatehouse: Gatehouse) -> Reply:
    change = await clicked(click, caller, gatehouse)
    await gatehouse.changes.keep(change, by=caller.user, request=caller.request)
    return Announced()


@clicks("decide.putback", stored=True)
async def put_back(click: Click, caller: Caller, gatehouse: Gatehouse) -> Reply:
    change = await clicked(click, caller, gatehouse)
    await gatehouse.changes.put_back(change, by=caller.user, channel=caller.channel, origin=caller.request)
    return Announced()


@clicks("decide.afresh", stored=True)
async def afresh(click: Click, caller: Caller, gatehouse: Gatehouse) -> Reply:
    change = await clicked(click, caller, gatehouse)
    await gatehouse.changes.afresh(change, by=caller.user, channel=caller.channel, origin=caller.request)
    return Announced()


@clicks("decide.again", stored=True)
async def again(click: Click, caller: Caller, gatehouse: Gatehouse) -> Reply:
    change = await clicked(click, caller, gatehouse)
    await gatehouse.changes.again(change, by=caller.user, channel=caller.channel, origin=caller.request)
    return Announced()


@clicks("decide.stop", stored=True)
async def stop(click: Click, caller: Caller, gatehouse: Gatehouse) -> Reply:
    change = await clicked(click, caller, gatehouse)
    await gatehouse.changes.stop(change, by=caller.user, request=caller.request)
    return Announced()


@clicks("decide.sign", stored=True)
async def sign(click: Click, caller: Caller, gatehouse: Gatehouse) -> Reply:
    change = await clicked(click, caller, gatehouse)
    await gatehouse.changes.review(change, by=caller.user, request=caller.request)
    return Announced()


def _asks(name: str) -> None:
    """A button that opens a form for a reason; the right is looked at when the form comes back."""

    @clicks(f"decide.{name}")
    async def ask(click: Click, caller: Caller, gatehouse: Gatehouse) -> Reply:
        change = await clicked(click, caller, gatehouse)
        if change.state is not State.PROPOSED:
            raise AlreadyDecided(change)
        return Modal(decision_form.opened(name, change, title=plain_title(change), channel=caller.channel))


async def _deny(change: Change, reason: str, caller: Caller, gatehouse: Gatehouse) -> str:
    await gatehouse.changes.decide(change.id, Decision.DENY, caller.user, reason=reason)
    return ":no_entry_sign: Denied. The card says so, and why."


async def _break_glass(change: Change, reason: str, caller: Caller, gatehouse: Gatehouse) -> str:
    await gatehouse.changes.decide(change.id, Decision.BREAK_GLASS, caller.user, reason=reason)
    return ":rotating_light: Done alone, and on record. Somebody else still has to look at it: the card says so."


async def _comment(change: Change, text: str, caller: Caller, gatehouse: Gatehouse) -> str:
    await gatehouse.changes.ask(change, by=caller.user, text=text)
    return ":speech_balloon: Asked, in the thread of the card."


REASONED: dict[str, Callable[[Change, str, Caller, Gatehouse], Awaitable[str]]] = {
    "deny": _deny,
    "ask": _comment,
    "glass": _break_glass,
}


async def _save(view: View, caller: Caller, gatehouse: Gatehouse) -> View:
    name, change_id, text = decision_form.read(view)
    if name not in REASONED:
        raise OldButton
    change = await gatehouse.changes.get(change_id)
    return forms.done("Gatehouse", await REASONED[name](change, text, caller, gatehouse))


for _name in REASONED:
    _asks(_name)
    submits(decision_form.callback(_name), Form(decision_form.errors, decision_form.working, _save))


@handles(GatehouseUndo)
async def undo(command: GatehouseUndo, caller: Caller, gatehouse: Gatehouse) -> Reply:
    """The change of that reference; without one the caller's last in this channel, which `expand` has put in."""
    change = None if command.change is None else await change_called(command.change, gatehouse)
    if change is None:
        raise NothingToUndo(command.change)
    await gatehouse.changes.undo(change, by=caller.user, channel=caller.channel, since=caller.asked_at)
    return Announced()
