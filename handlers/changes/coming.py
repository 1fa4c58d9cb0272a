"""Changes that are due automatically, and how they affect a new request."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NoReturn, Self

from bot.changes import forecast
from bot.changes.model.change import Change
from bot.changes.model.documents import Document, canonical_form
from bot.changes.model.edits import Edit, Target
from bot.changes.model.states import State
from bot.gatehouse import Gatehouse
from bot.rules.model import Rule
from bot.text.emails import mask_email
from handlers.changes.people import author
from handlers.changes.requests import zone_of
from handlers.changes.times import when
from handlers.errors import AlreadySo, NothingToChange, Refusal, Words, show_title
from handlers.grammar.time_fields import MAX_DURATION_SECONDS
from handlers.slack.reply import Caller


async def events_until(until: datetime, gatehouse: Gatehouse) -> Sequence[forecast.Event]:
    """Return what is due to happen automatically until then, in that order."""
    changes = await gatehouse.store.changes.list_all_upcoming()
    return forecast.events([(change, await _edits_of(change, gatehouse)) for change in changes], until)


async def _edits_of(change: Change, gatehouse: Gatehouse) -> Sequence[Edit]:
    """Return the edits of a planned *change*; of an applied one, those that are done and not undone, with their results."""
    if change.state is State.PLANNED:
        return await gatehouse.changes.freezes.edits_of(change)
    done = [change]
    if change.is_bulk:
        ids = [item.change_id async for item in gatehouse.store.items.all(change.id) if item.change_id]
        done = [*(await gatehouse.store.changes.list_many(ids)).values()]
    there = [each for each in done if each.state is State.APPLIED and each.run.undone_by is None]
    return [each.edit.model_copy(update={"after": each.run.result}) for each in there]


async def document_at(
    target: Target, document: Document, moment: datetime | None, gatehouse: Gatehouse
) -> Document | None:
    """Return what *target*, now *document*, will be at *moment*; as it is for None, or where nothing is due."""
    if moment is None:
        return document
    happens = forecast.predict_document(target, document, await events_until(moment, gatehouse))
    return happens[-1][1] if happens else document


@dataclass(frozen=True, slots=True)
class Thing:
    """A target that is already as somebody wants it: its title, and its content now."""

    title: str
    target: Target
    document: Document

    @classmethod
    def of_rule(cls, rule: Rule) -> Self:
        return cls(rule.title, Target(service="rules", key=rule.id), rule.document())


async def refuse_unchanged(things: Sequence[Thing], so: AlreadySo, gatehouse: Gatehouse) -> NoReturn:
    """Raise NothingToChange, or SoForAWhile where one of *things* won't stay so."""
    due = await events_until(gatehouse.now() + timedelta(seconds=MAX_DURATION_SECONDS), gatehouse)
    for each in things:
        if happens := forecast.predict_document(each.target, each.document, due):
            event, _ = happens[0]
            link = await gatehouse.store.cards.link(event.part[0])
            raise SoForAWhile(each.title, so, event.at, link, is_end=event.is_end)
    raise NothingToChange([each.title for each in things], so, await _last_change(things, gatehouse))


async def _last_change(things: Sequence[Thing], gatehouse: Gatehouse) -> str:
    """Return who made the one thing as it is and when, as a sentence: whoever comes second asks that next. Empty for several."""
    if len(things) != 1:
        return ""
    last = await gatehouse.store.changes.last_applied_to(things[0].target)
    if last is None or canonical_form(last.run.result) != canonical_form(things[0].document):
        return ""
    return f"Last changed by {author(last)}, {when(last.run.finished_at)}."


async def left_out_names(things: Sequence[Thing], caller: Caller, gatehouse: Gatehouse) -> Sequence[str]:
    """Return the names of *things* that are as *caller* wants them, for a card; of what won't stay so, until when."""
    if not things:
        return ()
    zone = zone_of((await gatehouse.access.person(caller.user)).tz)  # a warning is stored without Slack's dates
    due = await events_until(gatehouse.now() + timedelta(seconds=MAX_DURATION_SECONDS), gatehouse)
    names = []
    for each in things:
        name = mask_email(each.title) if each.target.service == "members" else each.title
        happens = forecast.predict_document(each.target, each.document, due)
        until = f" (so until {happens[0][0].at.astimezone(zone):%d %b, %H:%M} {zone.key})" if happens else ""
        names.append(f"{name}{until}")
    return names


class SoForAWhile(Refusal):
    """*title* is already as requested, but only *until* a change that is due; *is_end*: that is a revert, not a start."""

    title: str
    so: AlreadySo
    until: datetime
    link: str
    is_end: bool

    def words(self) -> Words:
        card = f"<{self.link}|its card>" if self.link else "its card"
        buttons = f"*{self.so.keep if self.is_end else 'Withdraw'}* and *Other time…*"
        why = "when that is reverted" if self.is_end else "when a planned change starts"
        return Words(
            f"{show_title(self.title)} {self.so.one}, until {when(self.until)}, {why}.",
            next=f"To change that, use {buttons} on {card}.",
        )
