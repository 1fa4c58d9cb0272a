"""The form that gives a temporary change another end: later, sooner, or none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from bot.changes.model.change import Change
from bot.gatehouse import Gatehouse
from handlers.blocks import inputs, modals
from handlers.blocks.messages import section
from handlers.blocks.modals import View, done_view, frame, metadata
from handlers.changes.command_form import FOR_GOOD, LENGTH
from handlers.changes.decisions import change_of_click
from handlers.changes.requests import resolve_end
from handlers.changes.subject import new_status
from handlers.changes.times import when
from handlers.changes.titles import request_title
from handlers.errors import OldButton
from handlers.grammar.time_fields import Expiry, parse_expiry
from handlers.slack.registry import Click, Form, Recorded, clicks, submits
from handlers.slack.reply import Caller, Modal, Reply

CALLBACK: Final = "v1.end.form"
MORE: Final[Mapping[bool, Mapping[str, timedelta]]] = {
    False: {"1 hour more": timedelta(hours=1), "2 hours more": timedelta(hours=2)},
    True: {"1 day more": timedelta(days=1), "7 days more": timedelta(days=7), "30 days more": timedelta(days=30)},
}
"""How much longer a change may last by a click; of a member, in days."""
TOMORROW: Final = {"until tomorrow 9:00": "Until tomorrow, 9:00"}


@clicks("decide.until")
async def ask(click: Click, caller: Caller, gatehouse: Gatehouse) -> Reply:
    change = await change_of_click(click, caller, gatehouse)
    await gatehouse.changes.decisions.require_end_changeable(change, caller.user)
    return Modal(view(change, gatehouse.now(), caller.channel))


def view(change: Change, now: datetime, channel: str) -> View:
    """Return the form for *change*, whose choices count from the end that it has *now*."""
    is_member, switched = change.edit.target.service == "members", new_status(change.edit)
    ends = change.request.reverts_at or now
    choices = {
        **{_later(max(ends, now) + more): words for words, more in MORE[is_member].items()},
        **({} if is_member else TOMORROW),
        FOR_GOOD: f"Keep {switched}" if switched else "Keep for good",
    }
    blocks = [
        section(f"*{request_title(change)}*: reverts at {when(ends)}."),
        inputs.radios(LENGTH, "New end", choices),
        inputs.expiry("", "Or until"),
    ]
    about = {"change": change.id, "end": ends.isoformat(), "channel": channel}
    return frame("Change end", blocks, callback_id=CALLBACK, submit="Change end", metadata=about)


def _later(moment: datetime) -> str:
    """Return *moment* as text, to the minute, and never sooner."""
    return Expiry.at_moment(moment + timedelta(minutes=1, microseconds=-1)).as_typed


@dataclass(frozen=True, slots=True)
class Submitted:
    """The *end* of the *change* with this id, as it was typed or chosen, in the place of the *shown* one."""

    change: str
    shown: str
    end: str


def read(sent: View) -> Submitted:
    about, values = metadata(sent), inputs.values_of(sent)
    end = (inputs.typed_value(values, inputs.EXPIRY) or "").strip() or inputs.typed_value(values, LENGTH) or ""
    return Submitted(str(about.get("change")), str(about.get("end")), end)


def errors(sent: Submitted) -> dict[str, str]:
    return {} if sent.end == FOR_GOOD else modals.time_errors("", sent.end)


async def _save(sent: Submitted, caller: Caller, gatehouse: Gatehouse) -> Recorded:
    decisions = gatehouse.changes.decisions
    change = await gatehouse.changes.journal.get(sent.change)
    if sent.end == FOR_GOOD:
        return Recorded(await decisions.keep(change, by=caller.user, request=caller.request), _end_view)
    if (expiry := parse_expiry(sent.end)) is None:
        raise OldButton
    ends, as_typed = await resolve_end(expiry, caller.asked_at or gatehouse.now(), caller, gatehouse)
    shown = datetime.fromisoformat(sent.shown)
    moved = await decisions.end_at(
        change, by=caller.user, ends_at=ends, as_typed=as_typed, request=caller.request, shown_end=shown
    )
    return Recorded(moved, _end_view)


def _end_view(_: Change) -> View:
    return done_view("Gatehouse", ":alarm_clock: *Time changed.* See its card.")


submits(CALLBACK, Form(read, _save, errors))
