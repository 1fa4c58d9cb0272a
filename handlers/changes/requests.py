"""Request changes: what a caller wants as a proposal, and when it expires (``for 2h``, ``until 18:00`` in their time zone)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from bot.changes.model import Kind, Target
from bot.changes.proposals import Proposal, set_of
from bot.gatehouse import Gatehouse
from handlers.errors import EndIsPast
from handlers.grammar.fields import Lasts
from handlers.slack.reply import Announced, Caller, Reply

Document = dict[str, Any]

UTC_NAME: Final = "UTC"


def propose(
    caller: Caller,
    kind: Kind,
    target: Target,
    before: Document | None,
    after: Document | None,
    reason: str | None,
    **more: Any,
) -> Proposal:
    """Return what *caller* wants changed; *more*: other fields of a Proposal."""
    return Proposal(
        kind=kind,
        target=target,
        before=before,
        after=after,
        requester=caller.user,
        channel=caller.channel,
        reason=reason or "",
        **more,
    )


async def submit(proposals: Sequence[Proposal], caller: Caller, gatehouse: Gatehouse, *, title: str = "") -> Reply:
    """Request one change, or several as one bulk change called *title*; announced by their one card."""
    proposal = proposals[0] if len(proposals) == 1 else set_of(title, proposals)
    await gatehouse.changes.proposer.submit(proposal, origin=caller.request)
    return Announced()


async def with_expiry(proposal: Proposal, lasts: Lasts | None, caller: Caller, gatehouse: Gatehouse) -> Proposal:
    """Return *proposal* with the end that *lasts* means to the caller; raises DirectoryUnavailable and EndIsPast."""
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
