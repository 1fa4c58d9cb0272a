"""Post and edit the card of a change, and the few messages in its thread that notify somebody."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

import structlog
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.changes.effects import find_closing, find_closing_of_items
from bot.changes.freezing import Freezes
from bot.changes.model.change import Change
from bot.changes.model.items import NOT_DONE, Item, Outcome, Tally
from bot.changes.notify import Pace
from bot.policy.inquiry import Directory
from bot.rules.model import Groups
from bot.rules.secrets import hide_secrets
from bot.store.audit import Event
from bot.store.db import StoreError
from bot.store.engine import Store
from bot.store.leases import Note
from bot.store.outbox import Purpose
from handlers.blocks.messages import Message
from handlers.changes import card_buttons, card_view, items_view, notes_view
from handlers.changes.diff import excerpt, without_secrets
from handlers.slack.client import Slack, SlackRefused

log = structlog.get_logger(__name__)

WRONG: Final = NOT_DONE | {Outcome.UNKNOWN, Outcome.UNSETTLED}
ReadGroups = Callable[[], Awaitable[Groups | None]]


async def draw_card(change: Change, store: Store, groups: ReadGroups, freezes: Freezes) -> Message:
    """Return the card of *change*, as a channel may see it."""
    change = without_secrets(change)
    progress = await _progress(change, store) if change.is_bulk else None
    since = await find_closing(store, change)
    in_group = await groups_of(change, groups)
    freeze = await freezes.find_for_start(change)
    return card_view.card(change, progress=progress, groups=in_group, since=since, freeze=freeze)


async def _progress(whole: Change, store: Store) -> items_view.Progress:
    """Return the progress of a bulk change; of a long one, the failed items first."""
    tally = await store.items.tally(whole.id)
    if whole.bulk.size <= items_view.SHOWN:
        first = await store.items.find(whole.id, set(Outcome), items_view.SHOWN)
    else:
        wrong = await store.items.find(whole.id, WRONG, items_view.SHOWN)
        others = await store.items.find(whole.id, set(Outcome) - WRONG, items_view.SHOWN - len(wrong))
        first = [*wrong, *others]
    return items_view.Progress(tally, [*map(as_shown, first)], await find_closing_of_items(store, first))


def as_shown(item: Item) -> Item:
    """Return *item* with what a card shows of it, and its secrets hidden."""
    before, after = hide_secrets(*excerpt(item.before, item.after))
    return replace(item, before=before, after=after)


async def tally_of(change: Change, store: Store) -> Tally | None:
    """Return the outcomes of the items of *change*; None where it is not a bulk change."""
    return await store.items.tally(change.id) if change.is_bulk else None


async def groups_of(change: Change, groups: ReadGroups) -> Groups | None:
    """Return the groups where *change* is about a rule in one, since that group may be off; else None."""
    in_group = any((document or {}).get("groupId") for document in (change.edit.before, change.edit.after))
    return await groups() if in_group else None


NO_THREAD: Final = frozenset({"thread_not_found", "cannot_reply_to_message"})
"""Slack's error codes for a reply in the thread of a card that is gone."""


@dataclass(frozen=True, slots=True)
class Cards:
    """Posts and updates what Slack shows of a change.

    Raises SlackRefused, SlackUnreachable or DirectoryUnavailable; the outbox then tries again.
    """

    slack: Slack
    store: Store
    directory: Directory
    pace: Pace
    groups: ReadGroups
    freezes: Freezes

    async def deliver(self, change: Change, purpose: str, is_plain: bool) -> Note | None:
        """Deliver the message of *purpose*: post or update the card of *change*, or send a note, each once.

        *is_plain*: draw the card without the content of the change.

        Returns the note that records where the message is; None where that is on record, or nothing was sent.
        """
        if purpose == Purpose.CARD:
            return await self._deliver_card(change, is_plain=is_plain)
        if await self.store.cards.get(change.id, purpose) is not None:
            return None
        is_notice = purpose.partition("-")[0] == Purpose.NOTIFY
        return await (self._notify if is_notice else self._deliver_note)(change, purpose)

    async def _draw(self, change: Change) -> tuple[Message, bool]:
        """Return the card and whether it shows all of *change*; a plain card where drawing it fails."""
        try:
            card = await draw_card(change, self.store, self.groups, self.freezes)
        except StoreError:
            raise
        except Exception:  # one that is tried again would fail again
            log.exception("card_not_drawn", change=change.id[:8])
            return card_view.plain_card(change), False
        return card, card_buttons.shows_all(card)

    async def _deliver_card(self, change: Change, *, is_plain: bool) -> Note | None:
        if not is_plain:
            try:
                return await self._put_card(change, *await self._draw(change))
            except SlackRefused as refusal:
                if not refusal.is_of_content:
                    raise
                log.warning("card_refused", change=change.id[:8], code=refusal.code, errors=refusal.errors)
        return await self._put_card(change, card_view.plain_card(change), complete=False, is_plain=True)

    async def _put_card(self, change: Change, card: Message, complete: bool, is_plain: bool = False) -> Note | None:
        """Post or update *card*. Where Slack doesn't take its content, a *is_plain* one goes to the requester."""
        place = await self.store.cards.get(change.id, Purpose.CARD)
        message = card
        # A card that went to the requester keeps its note on why it is there, however often it is updated.
        if place is not None and place[0] != change.request.channel:
            message = await self._elsewhere_message(message, change)
        if place is not None and await self._edit(place, change, message, is_plain=is_plain):
            return self._seen_note(change, place[0], complete)
        self.pace.take(change.request.channel)
        channel, ts = await self._post(change, card, is_plain=is_plain)
        # Before the link is asked for: a process that dies with an unrecorded card makes the next one post a second.
        async with self.store.transaction() as tx:
            await self.store.cards.put(tx, change.id, channel, ts, Purpose.CARD)
            await self._seen_note(change, channel, complete)(tx)
        link = await self.slack.permalink(channel, ts)

        async def announce(tx: AsyncConnection) -> None:
            await self.store.cards.put(tx, change.id, channel, ts, Purpose.CARD, link)
            event = Event("announced", "gatehouse", channel, change.id, str(change.edit.target))
            await self.store.audit.append(tx, event)

        return announce

    def _seen_note(self, change: Change, channel: str, complete: bool) -> Note:
        """Return the note that records whether the card in *channel* shows all of *change*."""
        viewer = channel if channel == change.request.channel else change.request.requester
        return partial(self.store.changes.note_seen, change=change, viewer=viewer, seen_all=complete)

    async def _edit(self, place: tuple[str, str], change: Change, message: Message, *, is_plain: bool) -> bool:
        # Not updated where another company could read it now: then a new card goes to the requester.
        if place[0] == change.request.channel and await self._is_shared(change):
            return False
        try:
            await self.slack.edit(*place, message)
        except SlackRefused as refusal:
            if not refusal.is_final or (refusal.is_of_content and not is_plain):
                raise
            log.warning("card_gone", change=change.id[:8], code=refusal.code)
            return False
        return True

    async def _post(
        self, change: Change, message: Message, *, thread: str | None = None, is_plain: bool = True
    ) -> tuple[str, str]:
        """Post to the channel, or to the requester if *message* can't or must not go there; return the place of the message."""
        if await self._is_shared(change):
            return await self.slack.post(change.request.requester, await self._elsewhere_message(message, change))
        try:
            return await self.slack.post(change.request.channel or change.request.requester, message, thread=thread)
        except SlackRefused as refusal:
            if not refusal.is_final or refusal.code in NO_THREAD or (refusal.is_of_content and not is_plain):
                raise
            log.info("to_requester", change=change.id[:8], code=refusal.code)
            return await self.slack.post(change.request.requester, await self._elsewhere_message(message, change))

    async def _elsewhere_message(self, message: Message, change: Change) -> Message:
        return card_view.explain_place(message, change.request.channel, shared=await self._is_shared(change))

    async def _is_shared(self, change: Change) -> bool:
        """Whether people of another company can read the channel now: changes are for our own people only."""
        return (await self.directory.place(change.request.channel)).shared

    async def _deliver_note(self, change: Change, purpose: str) -> Note | None:
        message = notes_view.note(change, purpose, await tally_of(change, self.store))
        if message is None:
            return None
        self.pace.take(change.request.channel)
        place = await self.store.cards.get(change.id, Purpose.CARD)
        thread = place[1] if place is not None and place[0] == change.request.channel else None
        try:
            channel, ts = await self._post(change, message, thread=thread)
        except SlackRefused as refusal:
            if refusal.code in NO_THREAD:
                async with self.store.transaction() as tx:
                    await self.store.outbox.enqueue(tx, change.id, Purpose.CARD)  # there again by the next try
            raise
        return partial(self.store.cards.put, change_id=change.id, channel=channel, ts=ts, purpose=purpose)

    async def _notify(self, change: Change, purpose: str) -> Note | None:
        """Notify the requester of the outcome of *change*, unless they can't get any message."""
        kind = purpose.partition("-")[2]
        link = await self.store.cards.link(change.id)
        message = notes_view.notice(change, kind, await tally_of(change, self.store), link=link)
        if message is None or (await self.directory.person(change.request.requester)).barred is not None:
            return None
        self.pace.take(change.request.requester)
        try:
            channel, ts = await self.slack.post(change.request.requester, message)
        except SlackRefused as refusal:
            if not refusal.is_final:
                raise
            log.warning("requester_unreachable", change=change.id[:8], code=refusal.code)
            return None
        return partial(self.store.cards.put, change_id=change.id, channel=channel, ts=ts, purpose=purpose)
