"""The full view: everything that a change does, privately, for those who may decide about it."""

from __future__ import annotations

from typing import Final

from bot.changes.deciding import Decision
from bot.changes.errors import UnknownChange
from bot.clients.parsing import gently
from bot.domain.change import Change, State
from bot.gatehouse import Gatehouse
from handlers.commands.gatehouse import GatehouseInspect
from handlers.drawing import drawn
from handlers.errors import LookFirst
from handlers.refs import change_called
from handlers.reply import Attached, Caller, Modal, Reply
from handlers.routes import handles
from handlers.views import full_view as views
from handlers.views.card_gaps import hides
from handlers.views.titles import plain_title

MAX_PARTS: Final = 300
"""Of a set that is shown in a modal; a longer one is a file at once, while Slack still takes an answer to the click."""


@handles(GatehouseInspect)
async def inspect(command: GatehouseInspect, caller: Caller, gatehouse: Gatehouse) -> Reply:
    """Everything in a modal, or as a file to the person alone; from then on they may decide."""
    if (change := await change_called(command.change, gatehouse)) is None:
        raise UnknownChange(command.change)
    await gatehouse.changes.require_look(change, caller.user)
    reply = await _shown(change, gatehouse)
    await gatehouse.changes.note_look(change, caller.user)
    return reply


async def _shown(change: Change, gatehouse: Gatehouse) -> Reply:
    listed = [part async for part in gatehouse.store.parts.all(change.id)] if change.is_set else []
    title = plain_title(change)
    if len(listed) <= MAX_PARTS:
        view = views.modal(change, list(views.entries(change, listed)), title)
        if view is not None:
            return Modal(view)
    content = b"".join(await gently(views.file_pieces(change, views.entries(change, listed))))
    return Attached(views.file_name(change), content, f":mag: Everything that this change does: *{title}*")


async def require_seen(change: Change, decision: Decision, caller: Caller, gatehouse: Gatehouse) -> None:
    """Return where the card shows all of *change*, or the caller has seen the rest; else raises LookFirst.

    Somebody who may not decide is refused for that, whatever they have seen.
    """
    expired = change.expires is not None and gatehouse.now() >= change.expires
    if change.state is not State.PROPOSED or expired or await gatehouse.changes.has_looked(change, caller.user):
        return
    card = await drawn(change, gatehouse.store, gatehouse.groups, gatehouse.places)
    if hides(change, card.blocks):
        await gatehouse.changes.require_decision(change, decision, caller.user)
        raise LookFirst(change)
