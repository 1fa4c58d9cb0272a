"""What ``/gatehouse`` does: help, status, who am I, what waits, what ends, what was done."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import Any, Final

from bot.clients.errors import ClientError
from bot.clients.listing import Incomplete, Listing
from bot.domain.change import LIVE, Change
from bot.gatehouse import Gatehouse
from bot.inquiry import DirectoryUnavailable
from bot.store.audit import Filters
from bot.store.errors import NewerRelease
from bot.store.timers import TimerKind
from handlers.audit import STEPS, moment_of
from handlers.commands.command import Command
from handlers.commands.gatehouse import (
    GatehouseDigest,
    GatehouseHelp,
    GatehousePending,
    GatehouseStatus,
    GatehouseTimers,
    GatehouseWhoami,
)
from handlers.commands.rules import RulesHistory
from handlers.refs import NotOne, find_rule
from handlers.reply import Caller, Private, Reply
from handlers.routes import handles
from handlers.views import audit as audit_views
from handlers.views import digest as digest_views
from handlers.views import gatehouse as views
from handlers.views import pending as pending_views
from handlers.views.parts import plural


@handles(GatehouseHelp)
async def show_help(command: GatehouseHelp, caller: Caller, gatehouse: Gatehouse) -> Reply:
    return Private(views.help_page(command.topic, may=await _may_run(caller, gatehouse)))


async def _may_run(caller: Caller, gatehouse: Gatehouse) -> Callable[[type[Command]], bool]:
    """Whether the caller may give a command here."""
    try:
        allowed = await gatehouse.access.all(caller.user, caller.channel)
    except DirectoryUnavailable:
        return lambda _: True  # help helps, also while Slack does not say who asks

    def may(kind: type[Command]) -> bool:
        return kind.needs is None or any(allowed[name] is None for name in (kind.needs, *kind.or_needs))

    return may


@handles(GatehouseStatus)
async def status(command: GatehouseStatus, caller: Caller, gatehouse: Gatehouse) -> Reply:
    await gatehouse.access.look_at_groups()
    parts = dict(await gatehouse.health())
    parts["rules"] = await _says(gatehouse.rules.all())
    for site in gatehouse.sites.values():
        parts[f"members of {site.name}"] = await _says(site.members.all())
    parts["policy"] = gatehouse.policy_trouble() or "ok"
    undelivered = await gatehouse.store.outbox.undelivered()
    waiting = await gatehouse.store.outbox.waiting()
    late = await gatehouse.store.outbox.late()
    trouble = [f"{undelivered} {'was' if undelivered == 1 else 'were'} never taken by Slack"] * bool(undelivered)
    trouble += [f"{late} {'was' if late == 1 else 'were'} not taken yet and will be sent again"] * bool(late)
    parts["messages"] = ", ".join(trouble) or f"ok, {waiting} on their way"
    if newer := await gatehouse.store.left_to_newer_release():
        parts["release"] = f"{plural(newer, 'change')} of a newer release of Gatehouse, which this one leaves alone"
    counts = await gatehouse.store.changes.counts()
    return Private(views.status(parts, places=gatehouse.places, counts=counts))


async def _says(asked: Awaitable[Listing[Any]]) -> str:
    """What a service answers to a plain question: "ok" and how many, or what is wrong."""
    try:
        found = await asked
    except ClientError as error:
        return type(error).__name__.lower()
    return f"only {found.gap} records could be read" if found.gap else f"ok, {plural(len(found.known), 'record')}"


@handles(GatehouseWhoami)
async def whoami(command: GatehouseWhoami, caller: Caller, gatehouse: Gatehouse) -> Reply:
    person = await gatehouse.access.person(caller.user)
    allowed = await gatehouse.access.all(caller.user, caller.channel)
    guards = gatehouse.access.guards()
    return Private(
        views.whoami(
            person, caller.channel, allowed, guards, sites=tuple(gatehouse.sites), act=gatehouse.access.act_in()
        )
    )


@handles(GatehousePending)
async def pending(command: GatehousePending, caller: Caller, gatehouse: Gatehouse) -> Reply:
    open_changes, reviews = await waiting(gatehouse, most=pending_views.MOST)
    total = await _open_count(gatehouse)
    links = {change.id: await gatehouse.store.cards.link(change.id) for change in (*open_changes, *reviews)}
    return Private(pending_views.pending(open_changes, reviews, links, total=total))


async def waiting(gatehouse: Gatehouse, *, most: int) -> tuple[Sequence[Change], Sequence[Change]]:
    """What waits for somebody: the changes that are open, so *most* of them, and those whose review is due."""
    due = await changes_of(TimerKind.REVIEW, gatehouse)
    return await gatehouse.store.changes.open(limit=most), [change for change in due if change.review_owed]


async def _open_count(gatehouse: Gatehouse) -> int:
    return sum(count for state, count in (await gatehouse.store.changes.counts()).items() if state in LIVE)


@handles(GatehouseTimers)
async def timers(command: GatehouseTimers, caller: Caller, gatehouse: Gatehouse) -> Reply:
    found = [change for change in await changes_of(TimerKind.REVERT, gatehouse) if change.temporary]
    links = {change.id: await gatehouse.store.cards.link(change.id) for change in found}
    return Private(pending_views.timers(found, links))


async def changes_of(kind: TimerKind, gatehouse: Gatehouse) -> list[Change]:
    """The changes that have a timer of this kind, the next to fall due first; none of a newer release."""
    waiting = await gatehouse.store.timers.pending(kind)
    found = []
    for timer in waiting:
        with suppress(NewerRelease):
            found.append(await gatehouse.store.changes.get(timer.change_id))
    return [change for change in found if change is not None]


@handles(GatehouseDigest)
async def digest(command: GatehouseDigest, caller: Caller, gatehouse: Gatehouse) -> Reply:
    """What was done and what was not, by whom, and what still waits or ends by itself."""
    span = command.since or A_DAY
    filters = Filters(since=await moment_of(span, caller, gatehouse), without=STEPS)
    entries = await gatehouse.store.audit.found(filters, limit=MOST_COUNTED)
    waiting = await _open_count(gatehouse)
    ending = [change for change in await changes_of(TimerKind.REVERT, gatehouse) if change.temporary]
    return Private(
        digest_views.digest(
            entries,
            span=span,
            more=len(entries) == MOST_COUNTED,
            waiting=waiting,
            ending=len(ending),
            public=caller.public,
            command=command,
        )
    )


A_DAY: Final = "24h"
MOST_COUNTED: Final = 5_000
"""Entries that a digest counts."""


@handles(RulesHistory)
async def history(command: RulesHistory, caller: Caller, gatehouse: Gatehouse) -> Reply:
    """What was done to a rule, also under the ids that it had before, and also after it was deleted."""
    rule_id, missing = command.ref, None
    try:
        rule_id = (await find_rule(command, caller, gatehouse)).id
    except (Incomplete, NotOne) as error:
        if isinstance(error, NotOne) and error.candidates:
            raise
        missing = error
    ids = await gatehouse.store.aliases.all_of(rule_id)
    changes = await gatehouse.store.changes.for_targets([f"rules/{each}" for each in ids])
    if not changes and missing is not None:
        raise missing
    links = {change.id: await gatehouse.store.cards.link(change.id) for change in changes}
    return Private(audit_views.history(changes, links, command=command))
