"""Decisions about changes, and the one card that each change has in its channel."""

from __future__ import annotations

import re
from dataclasses import dataclass

import structlog

from bot.changes.pipeline import Decision
from bot.domain.change import Change
from bot.gatehouse import Gatehouse
from bot.store.engine import Store
from handlers.commands import GatehouseUndo
from handlers.errors import NothingToUndo
from handlers.reply import Announced, Caller, Reply
from handlers.routes import Click, clicks, handles
from handlers.slack import Slack, SlackRefused
from handlers.views import changes as views
from handlers.views.parts import Message

log = structlog.get_logger(__name__)

ELSEWHERE = frozenset(
    {"not_in_channel", "channel_not_found", "is_archived", "restricted_action", "restricted_action_read_only_channel"}
)
"""Slack's words for a channel that a card cannot go to: then it goes to the one who asked."""

REFERENCE = re.compile(r"[0-9a-fA-F]{6,32}")
"""The beginning of a change's id, as cards show it."""

GONE = frozenset({"message_not_found", "cant_update_message", "edit_window_closed"})


@clicks("decide.confirm", stored=True)
async def confirm(click: Click, caller: Caller, gatehouse: Gatehouse) -> Reply:
    await gatehouse.changes.decide(click.value, Decision.CONFIRM, caller.user)
    return Announced()


@clicks("decide.keep", stored=True)
async def keep(click: Click, caller: Caller, gatehouse: Gatehouse) -> Reply:
    await gatehouse.changes.decide(click.value, Decision.KEEP, caller.user)
    return Announced()


@clicks("decide.undo", stored=True)
async def undo_click(click: Click, caller: Caller, gatehouse: Gatehouse) -> Reply:
    change = await gatehouse.changes.get(click.value)
    await gatehouse.changes.undo(change, by=caller.user, channel=caller.channel)
    return Announced()


@handles(GatehouseUndo)
async def undo(command: GatehouseUndo, caller: Caller, gatehouse: Gatehouse) -> Reply:
    """The change of that reference, else the caller's last one in this channel."""
    change = await _meant(command.change, caller, gatehouse)
    await gatehouse.changes.undo(change, by=caller.user, channel=caller.channel)
    return Announced()


async def _meant(reference: str | None, caller: Caller, gatehouse: Gatehouse) -> Change:
    if reference is not None:
        found = await gatehouse.store.changes.called(reference.lower()) if REFERENCE.fullmatch(reference) else ()
        if len(found) != 1:
            raise NothingToUndo(reference)
        return found[0]
    for change in await gatehouse.store.changes.applied():
        mine = (change.requester, change.channel) == (caller.user, caller.channel)
        if mine and change.undone_by is None and change.undoes is None:
            return change
    raise NothingToUndo(None)


@dataclass(frozen=True, slots=True)
class Cards:
    """Brings the card of a change up to date: posts it once, then edits it."""

    slack: Slack
    store: Store
    places: dict[str, str]

    async def deliver(self, change: Change) -> None:
        """Show *change* as it stands. Raises SlackRefused or SlackUnreachable where it should be tried again."""
        message = views.card(change, places=self.places)
        place = await self.store.cards.get(change.id, "card")
        if place is not None and await self._edited(place, change):
            return
        await self._posted(change, message)

    async def _edited(self, place: tuple[str, str], change: Change) -> bool:
        try:
            await self.slack.edit(*place, views.card(change, places=self.places))
        except SlackRefused as refusal:
            if refusal.code not in GONE | ELSEWHERE:
                raise
            log.warning("card_gone", change=change.id[:8], code=refusal.code)
            return False
        return True

    async def _posted(self, change: Change, message: Message) -> None:
        try:
            channel, ts = await self.slack.post(change.channel or change.requester, message)
        except SlackRefused as refusal:
            if refusal.code not in ELSEWHERE:
                raise
            log.info("card_to_requester", change=change.id[:8], code=refusal.code)
            channel, ts = await self.slack.post(change.requester, views.elsewhere(message, refusal.code))
        async with self.store.transaction() as tx:
            await self.store.cards.put(tx, change.id, channel, ts, "card")
