"""Request changes: what a caller wants as a proposal, and when it expires (``for 2h``, ``until 8am`` in their time zone)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from bot.changes.model import Kind, Target
from bot.changes.proposals import Proposal, set_of
from bot.gatehouse import Gatehouse
from bot.text.times import next_time
from handlers.errors import EndIsFar, EndIsPast
from handlers.grammar.fields import LONGEST_DURATION, Lasts
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
    """Return *proposal* with the end that *lasts* means to the caller.

    Raises DirectoryUnavailable, EndIsPast and EndIsFar.
    """
    if lasts is None:
        return proposal
    if lasts.seconds is not None:
        return replace(proposal, lasts=lasts.seconds)
    zone = zone_of((await gatehouse.access.person(caller.user)).tz)
    ends = end_of(lasts, zone, caller.asked_at or gatehouse.now())
    if ends is None or ends <= gatehouse.now():  # or a process died in between
        raise EndIsPast(lasts.as_typed)
    if ends > gatehouse.now() + timedelta(seconds=LONGEST_DURATION):
        raise EndIsFar(lasts.as_typed)
    return replace(proposal, ends=ends, ends_as_typed=f"{ends.astimezone(zone):%H:%M} {zone.key}")


def end_of(lasts: Lasts, zone: ZoneInfo, now: datetime) -> datetime | None:
    """The moment until which *lasts* is, said at *now* by somebody in *zone*; None where that is past."""
    return lasts.at if lasts.until is None else next_time(lasts.until, zone, now)


def as_typed(lasts: Lasts | None) -> str:
    """The end as a form shows it: without the word that led it."""
    return "" if lasts is None else lasts.as_typed.partition(" ")[2]


def zone_of(name: str) -> ZoneInfo:
    """The zone called *name*, or UTC where this machine does not know it: what was understood is shown."""
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return ZoneInfo(UTC_NAME)
