"""``for 2h`` and ``until 18:00``: when a change ends, in the time zone of whoever wrote it."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from bot.changes.proposals import Proposal
from bot.gatehouse import Gatehouse
from handlers.errors import EndIsPast
from handlers.grammar.fields import Lasts
from handlers.slack.reply import Caller

UTC_NAME: Final = "UTC"


async def lasting(proposal: Proposal, lasts: Lasts | None, caller: Caller, gatehouse: Gatehouse) -> Proposal:
    """*proposal*, with the end that *lasts* means to the caller; raises DirectoryUnavailable and EndIsPast."""
    if lasts is None:
        return proposal
    if lasts.until is None:
        return replace(proposal, lasts=lasts.seconds)
    zone = zone_of((await gatehouse.access.person(caller.user)).tz)
    ends = next_at(*lasts.until, zone, caller.asked_at or gatehouse.now())
    if ends <= gatehouse.now():  # a process died in between
        raise EndIsPast(lasts.as_typed)
    return replace(proposal, ends=ends, ends_as_typed=f"{lasts.until[0]:02d}:{lasts.until[1]:02d} {zone.key}")


def as_typed(lasts: Lasts | None) -> str:
    """The end as a form shows it: without the word that led it."""
    return "" if lasts is None else lasts.as_typed.partition(" ")[2]


def zone_of(name: str) -> ZoneInfo:
    """The zone called *name*, or UTC where this machine does not know it: what was understood is shown."""
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return ZoneInfo(UTC_NAME)


def next_at(hour: int, minute: int, zone: ZoneInfo, now: datetime) -> datetime:
    """The next time that clocks in *zone* show *hour*:*minute*, in UTC; after *now*.

    When clocks are set back they show it twice. When they are set forward past it, it is what they would have shown.
    """
    today = now.astimezone(zone).replace(hour=hour, minute=minute, second=0, microsecond=0)
    times = (each for day in (today, today + timedelta(days=1)) for each in _shown(day))
    return next(each for each in times if each > now)


def _shown(wall: datetime) -> tuple[datetime, datetime]:
    """When clocks show *wall*, in UTC: the first time and the last, which are nearly always the same.

    They are compared in UTC: within a zone, Python compares what clocks show.
    """
    first, last = (wall.replace(fold=fold).astimezone(ZoneInfo(UTC_NAME)) for fold in (0, 1))
    return first, max(first, last)
