"""Decisions about changes: clicks on their cards, the forms that ask for a reason, and the full view before a decision."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, Final

from bot.changes.model.change import Change
from bot.changes.model.parts import Guard
from bot.changes.model.states import State
from bot.changes.refusals import AlreadyDecided, UnknownChange
from bot.changes.rights import Decision
from bot.gatehouse import Gatehouse
from handlers.blocks.modals import FULL_CHANGE
from handlers.changes import card_view, full_view, notes_view
from handlers.changes.cards import groups_of, tally_of
from handlers.changes.entries import entries_of
from handlers.changes.notes_view import Reasoned
from handlers.changes.requests import resolve_end, resolve_start
from handlers.changes.times import FOR_GOOD
from handlers.changes.titles import request_title
from handlers.errors import OldButton, OldCard
from handlers.gatehouse.commands import GatehouseInspect
from handlers.grammar.time_fields import parse_expiry, parse_start
from handlers.rules.rule_refs import find_change
from handlers.slack.registry import Click, Form, Recorded, clicks, handles, submits
from handlers.slack.reply import Announced, Attached, Caller, Modal, Private, Reply

MAX_PARTS: Final = 300
"""Items of a bulk change that a modal may show. A longer one becomes a file at once, while Slack still accepts an answer."""


@handles(GatehouseInspect)
async def inspect(command: GatehouseInspect, caller: Caller, gatehouse: Gatehouse) -> Reply:
    """Show all of a change in a modal, or as a private file; once Slack has, the person may decide, there or on the card."""
    if (change := await find_change(command.change, gatehouse)) is None:
        raise UnknownChange(command.change)
    await gatehouse.changes.decisions.rights.require(change, Decision.LOOK, caller.user)
    return await _show_all(change, caller, gatehouse)


async def can_decide(change: Change, user: str, gatehouse: Gatehouse) -> bool:
    """Whether *user* may confirm or approve *change* now, and has not done so yet."""
    if change.state is not State.PROPOSED or user in {one.by for one in change.decision.approvals}:
        return False
    decision = Decision.CONFIRM if change.decision.guard is Guard.CONFIRM else Decision.APPROVE
    return await gatehouse.changes.decisions.rights.is_allowed(change, decision, user)


async def _show_all(change: Change, caller: Caller, gatehouse: Gatehouse) -> Reply:
    listed = [item async for item in gatehouse.store.items.all(change.id)] if change.is_bulk else []
    if len(listed) <= MAX_PARTS:
        below = []
        if await can_decide(change, caller.user, gatehouse):
            below = card_view.decision_blocks(change, await groups_of(change, gatehouse.groups.groups))
        entries = await asyncio.to_thread(lambda: list(entries_of(change, listed)))
        view = full_view.modal(change, entries, below, places=gatehouse.places)
        if view is not None:
            return Modal(view, shows=(change,))
    content = await asyncio.to_thread(b"".join, full_view.file_pieces(change, entries_of(change, listed)))
    return Attached(
        full_view.file_name(change),
        content,
        f"*{request_title(change)}*: everything that it does, in this file.",
        shows=(change,),
    )


LOOKS_FOR_CARD = 10
CARD_PAUSE_SECONDS = 0.1
"""A card is on record within milliseconds of its post; a click in between is looked at again for a second."""


async def change_of_click(click: Click, caller: Caller, gatehouse: Gatehouse) -> Change:
    """Return the change whose card or full view was clicked; raises OldCard where the clicked card is not its current one.

    A button's value only names the change: its content is read from the store, and the card must be where we posted it. A
    quick click may come before the card is on record, so this looks again for a while. A full view was drawn for the person
    who clicked.
    """
    if _is_in_full_view(click):
        return await gatehouse.changes.journal.get(click.value)
    for _ in range(LOOKS_FOR_CARD):
        change = await gatehouse.changes.journal.get(click.value)
        stands = await gatehouse.store.cards.is_message_of(change.id, caller.channel, caller.message)
        if stands is not None:
            break
        await asyncio.sleep(CARD_PAUSE_SECONDS)
    if not stands:
        link, place = await gatehouse.store.cards.link(change.id), (caller.channel, caller.message)
        raise OldCard(link, is_copy=bool(link) and not await gatehouse.store.cards.has_message(*place))
    return change


def _is_in_full_view(click: Click) -> bool:
    return (click.view or {}).get("callback_id") == FULL_CHANGE


def _decision_args(caller: Caller) -> dict[str, Any]:
    return {"by": caller.user, "request": caller.request}


ACTS: Final[dict[str, Callable[[Change, Caller, Gatehouse], Awaitable[Change]]]] = {
    "confirm": lambda change, caller, g: g.changes.decisions.decide(change, Decision.CONFIRM, caller.user),
    "approve": lambda change, caller, g: g.changes.decisions.decide(change, Decision.APPROVE, caller.user),
    "keep": lambda change, caller, g: g.changes.decisions.decide(change, Decision.WITHDRAW, caller.user),
    "undo": lambda change, c, g: g.changes.followups.undo(change, by=c.user, channel=c.channel, since=c.asked_at),
    "end": lambda change, c, g: g.changes.followups.revert_early(change, by=c.user, since=c.asked_at),
    "stop": lambda change, caller, g: g.changes.decisions.stop(change, **_decision_args(caller)),
    "now": lambda change, caller, g: g.changes.decisions.replan(change, by=caller.user, request=caller.request),
    "again": lambda change, c, g: g.changes.followups.request_again(
        change, by=c.user, channel=c.channel, since=c.asked_at
    ),
}
"""What the buttons of a card do at once, without a form."""


def _register_action(name: str) -> None:
    @clicks(f"decide.{name}", stored=True)
    async def act(click: Click, caller: Caller, gatehouse: Gatehouse) -> Reply:
        change = await ACTS[name](await change_of_click(click, caller, gatehouse), caller, gatehouse)
        if not _is_in_full_view(click):
            return Announced()
        return Private(notes_view.decided_message(change, await tally_of(change, gatehouse.store)))


def _register_reason_button(name: str) -> None:
    """Register a button that opens a form for a reason; the right is asked again when the form comes back."""

    @clicks(f"decide.{name}")
    async def ask(click: Click, caller: Caller, gatehouse: Gatehouse) -> Reply:
        change = await change_of_click(click, caller, gatehouse)
        form = notes_view.REASON_FORMS[name]
        if change.state is not form.state:
            raise AlreadyDecided(change)
        await gatehouse.changes.decisions.require(change, form.decision, caller.user)
        return Modal(notes_view.reason_form(name, change, gatehouse.now(), channel=caller.channel))


async def _set_end(change: Change, sent: Reasoned, caller: Caller, gatehouse: Gatehouse) -> Change:
    if sent.words == FOR_GOOD:
        return await gatehouse.changes.decisions.keep(change, **_decision_args(caller))
    if (expiry := parse_expiry(sent.words)) is None:
        raise OldButton
    ends, as_typed = await resolve_end(expiry, caller.asked_at or gatehouse.now(), caller, gatehouse)
    return await gatehouse.changes.decisions.end_at(
        change, **_decision_args(caller), ends_at=ends, as_typed=as_typed, shown_end=sent.shown_end
    )


async def _replan(change: Change, sent: Reasoned, caller: Caller, gatehouse: Gatehouse) -> Change:
    if (start := parse_start(sent.words)) is None:
        raise OldButton
    begins, as_typed = await resolve_start(start, caller, gatehouse)
    return await gatehouse.changes.decisions.replan(
        change, **_decision_args(caller), starts_at=begins, as_typed=as_typed
    )


REASONED: Final[dict[str, Callable[[Change, Reasoned, Caller, Gatehouse], Awaitable[Change]]]] = {
    "deny": lambda change, sent, c, g: g.changes.decisions.decide(change, Decision.DENY, c.user, reason=sent.words),
    "break_glass": lambda change, sent, c, g: g.changes.decisions.decide(
        change, Decision.BREAK_GLASS, c.user, reason=sent.words
    ),
    "replan": _replan,
    "until": _set_end,
}
"""What each form of a card does with the submitted text."""


async def _save(sent: Reasoned, caller: Caller, gatehouse: Gatehouse) -> Recorded:
    if sent.name not in REASONED:
        raise OldButton
    change = await gatehouse.changes.journal.get(sent.change)
    return Recorded(await REASONED[sent.name](change, sent, caller, gatehouse), notes_view.end_view)


for _name in ACTS:
    _register_action(_name)
for _name in REASONED:
    _register_reason_button(_name)
    submits(notes_view.callback(_name), Form(notes_view.read, _save, notes_view.errors))
