"""``/gatehouse digest``: what changed, what waits and what comes."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Final

from bot.gatehouse import Gatehouse
from bot.store.audit import Filters
from handlers.changes.list_view import unshown_line
from handlers.changes.times import due_at
from handlers.gatehouse import digest_view
from handlers.gatehouse.answers import (
    DAY,
    MAX_LOOKED_THROUGH,
    STEPS,
    changes_behind,
    coming_changes,
    facts_of,
    readable,
    unreadable_services,
    waiting_changes,
)
from handlers.gatehouse.commands import A_DAY, GatehouseDigest
from handlers.gatehouse.digest_view import Digest
from handlers.rules.past import elsewhere_line, moment_of
from handlers.slack.registry import handles
from handlers.slack.reply import Caller, Private, Reply

MAX_ENTRIES: Final = 5_000
"""Entries that a digest counts."""


@handles(GatehouseDigest)
async def digest(command: GatehouseDigest, caller: Caller, gatehouse: Gatehouse) -> Reply:
    since = await moment_of(command.since or A_DAY, caller, gatehouse, "gatehouse digest 24h")
    found = await read_digest(since, caller, gatehouse)
    return Private(digest_view.digest(found, since=since, public=caller.public, command=command))


async def read_digest(since: datetime, caller: Caller, gatehouse: Gatehouse) -> Digest:
    """Return what there is to tell *caller* about the time since then, and about the day to come."""
    unreadable = await unreadable_services(caller, gatehouse)
    wanted = Filters(since=since, without=STEPS, unreadable=unreadable)
    entries = await gatehouse.store.audit.find(wanted, limit=MAX_ENTRIES)
    ended = [entry for entry in entries if entry.event in digest_view.ENDS]
    behind = await changes_behind(ended, gatehouse, as_sets=True)
    changes = list({each.id: each for entry in ended if (each := behind.get(entry.change_id))}.values())
    waiting = await waiting_changes(gatehouse, most=MAX_LOOKED_THROUGH)
    waiting = replace(waiting, changes=readable(waiting.changes, unreadable))
    soon = gatehouse.now() + DAY
    comes = [each for each in await coming_changes(gatehouse) if (at := due_at(each)) is None or at <= soon]
    coming = readable(comes, unreadable)
    return Digest(
        entries=entries,
        has_all=len(entries) < MAX_ENTRIES,
        unread=unshown_line(unreadable) + await elsewhere_line(since, unreadable, gatehouse),
        changes=changes,
        waiting=waiting,
        coming=coming,
        freezes=[each for each in await gatehouse.changes.freezes.all() if each.starts <= soon],
        facts=await facts_of((*changes, *waiting.changes, *coming), gatehouse),
    )
