"""Request changes: what a caller wants as a proposal, and when it expires (``for 2h``, ``until 8am`` in their time zone)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Any, Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from bot.changes.model import Change, ChangeRequest, Edit, Kind, Target
from bot.changes.proposals import Proposal, together
from bot.changes.refusals import EndIsPast
from bot.gatehouse import Gatehouse
from bot.text.times import next_time
from handlers.blocks.modals import View, end_of_form
from handlers.errors import EndIsFar
from handlers.grammar.fields import LONGEST_DURATION, Expiry
from handlers.slack.registry import Recorded
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
    """Return what *caller* wants changed; *more*: other fields of the request."""
    return Proposal.of(
        edit=Edit(kind=kind, target=target, before=before, after=after),
        request=ChangeRequest(requester=caller.user, channel=caller.channel, reason=reason or "", **more),
    )


async def submit(proposals: Sequence[Proposal], caller: Caller, gatehouse: Gatehouse, *, title: str = "") -> Reply:
    """Request one change, or several as one bulk change called *title*; announced by their one card."""
    proposal = proposals[0] if len(proposals) == 1 else together(title, proposals)
    await gatehouse.changes.proposer.submit(proposal, idempotency_key=caller.request)
    return Announced()


async def record(
    proposal: Proposal, caller: Caller, gatehouse: Gatehouse, end: Callable[[Change], View] = end_of_form
) -> Recorded:
    """Record what a form asks for, to be gone on with once the form is closed. *end*: what it shows if it is still open."""
    return Recorded(await gatehouse.changes.proposer.record(proposal, idempotency_key=caller.request), end)


async def with_expiry(proposal: Proposal, expiry: Expiry | None, caller: Caller, gatehouse: Gatehouse) -> Proposal:
    """Return *proposal* with the end that *expiry* means to the caller.

    Raises DirectoryUnavailable, EndIsPast and EndIsFar.
    """
    if expiry is None:
        return proposal
    if expiry.seconds is not None:
        return proposal.amended(revert_after=expiry.seconds)
    zone = zone_of((await gatehouse.access.person(caller.user)).tz)
    reverts_at = end_of(expiry, zone, caller.asked_at or gatehouse.now())
    if reverts_at is None or reverts_at <= gatehouse.now():  # or a process died in between
        raise EndIsPast(expiry.as_typed)
    if reverts_at > gatehouse.now() + timedelta(seconds=LONGEST_DURATION):
        raise EndIsFar(expiry.as_typed)
    if expiry.until and expiry.until.zone:
        zone = zone_of(expiry.until.zone)
    return proposal.amended(
        reverts_at=reverts_at, reverts_at_as_typed=f"{reverts_at.astimezone(zone):%H:%M} {zone.key}"
    )


def end_of(expiry: Expiry, zone: ZoneInfo, now: datetime) -> datetime | None:
    """The moment that *expiry* means, said at *now* by somebody in *zone*; None where that is past."""
    return expiry.at if expiry.until is None else next_time(expiry.until, zone, now)


def as_typed(expiry: Expiry | None) -> str:
    """The end as a form shows it: without the word that led it."""
    return "" if expiry is None else expiry.as_typed.partition(" ")[2]


def zone_of(name: str) -> ZoneInfo:
    """The zone called *name*, or UTC where this machine does not know it: what was understood is shown."""
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return ZoneInfo(UTC_NAME)
