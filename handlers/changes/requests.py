"""Request changes: what a caller wants as a proposal, and when it expires (``for 2h``, ``until 8am`` in their time zone)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Final, NoReturn
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from bot.changes.freezing import Frozen
from bot.changes.model.change import Change
from bot.changes.model.documents import Document, canonical_form
from bot.changes.model.edits import Edit, Kind, Target
from bot.changes.model.parts import ChangeRequest, Purpose
from bot.changes.proposals import Proposal, combine
from bot.changes.refusals import EndsBeforeStart, TimeIsPast
from bot.gatehouse import Gatehouse
from bot.policy.freezes import Freeze
from bot.text.documents import NestedTooDeep, ServiceRecord
from bot.text.wall_times import end_time, is_skipped, next_time
from handlers.blocks import messages
from handlers.blocks.messages import Block, esc, join_words
from handlers.blocks.modals import View, end_of_form
from handlers.changes.coverage import find_covered
from handlers.changes.freeze_view import freeze_line, frozen_words
from handlers.changes.list_view import coming_blocks, coming_line
from handlers.changes.people import author
from handlers.changes.times import due_order, when
from handlers.changes.titles import request_title
from handlers.errors import AlreadySo, NothingToChange, Refusal, TimeIsFar, TimeIsSkipped, Words
from handlers.grammar.command import Command
from handlers.grammar.time_fields import MAX_DURATION_SECONDS, Expiry, Start, TypedTime
from handlers.grammar.tokens import unquote_reason
from handlers.slack.registry import Recorded
from handlers.slack.reply import Announced, Caller, Reply, ShownFirst


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
        request=ChangeRequest(requester=caller.user, channel=caller.channel, reason=unquote_reason(reason), **more),
    )


async def submit(
    proposals: Sequence[Proposal],
    command: Command,
    caller: Caller,
    gatehouse: Gatehouse,
    *,
    purpose: Purpose | None = None,
    already: Sequence[str] = (),
    loops: Sequence[str] = (),
) -> Reply:
    """Request one change, or several as one bulk change with *purpose*, with the start and the end of *command*.

    *already*: names of what was asked for, too, and is so already. *loops*: those that it makes, in plain text. The card of the
    change is the answer. Raises ShownFirst where it takes over much or loops, FrozenNow, Rehearsed for a caller who only
    tries it, and as `with_times` and `submit` of the proposer do.
    """
    proposal = proposals[0] if purpose is None or len(proposals) == 1 else combine(purpose, proposals)
    if already:
        warnings = (*proposal.request.warnings, f"Already so, and left out: {join_words(already, most=MAX_LEFT_OUT)}.")
        proposal = replace(proposal, request=replace(proposal.request, warnings=warnings))
    proposal = await with_times(proposal, caller, gatehouse, start=command.start, expiry=command.expiry)
    edits = (edit for each in proposals for edit in each.edits)
    covered = await find_covered(edits, gatehouse.rules.recent, gatehouse.groups.groups)
    if (shown := [*covered, *loops[:MAX_LOOPS]]) and not caller.confirmed:
        refs = {"refs": tuple(each.edit.target.key for each in proposals)} if command.has("refs") else {}
        raise ShownFirst(command.with_fields(**refs), "\n".join(f":warning: {esc(line, 500)}" for line in shown))
    warnings = (*covered, *proposal.request.warnings)
    proposal = replace(proposal, request=replace(proposal.request, warnings=warnings, agent=caller.agent))
    try:
        if caller.rehearses:
            raise Rehearsed(proposal, await gatehouse.changes.proposer.draft(proposal))
        change = await gatehouse.changes.proposer.submit(proposal, idempotency_key=caller.request)
    except Frozen as error:
        raise FrozenNow(error.freeze, command, proposal.request.reverts_at) from error
    return Announced(request_title(change) if caller.replacing else "")


class Rehearsed(Exception):
    """A request was only tried: *change* is what its *proposal* would be recorded as, and nothing was written."""

    def __init__(self, proposal: Proposal, change: Change) -> None:
        super().__init__()
        self.proposal = proposal
        self.change = change


MAX_LEFT_OUT: Final = 10
MAX_LOOPS: Final = 3
"""That a preview names."""


class FrozenNow(Refusal):
    """The target of *command* is frozen at the time of the change, which was to be reverted at *ends*."""

    freeze: Freeze
    command: Command
    ends: datetime | None = None

    def words(self) -> Words:
        after = self.freeze.until + timedelta(minutes=1, microseconds=-1)  # a start is said to the minute
        is_over = self.ends is not None and self.ends <= after
        then = {"start": Start.at_moment(after)} if self.command.has("start") and not is_over else {}
        again = {"Plan it for then": self.command.with_fields(**then)} if then else {}
        return replace(frozen_words(self.freeze), again=again)


async def record(
    proposal: Proposal, caller: Caller, gatehouse: Gatehouse, end: Callable[[Change], View] = end_of_form
) -> Recorded:
    """Record the proposal of a form, to be applied once the form is closed. *end*: the view that it shows if it is still open."""
    return Recorded(await gatehouse.changes.proposer.record(proposal, idempotency_key=caller.request), end)


async def outlook_blocks(target: Target, now: ServiceRecord, gatehouse: Gatehouse) -> list[Block]:
    """Return what waits for a decision on *target*, which is so *now*, or will change it automatically, and its freezes."""
    waiting = [each for each in await gatehouse.store.changes.list_open() if each.edit.target == target]
    changes = [*waiting, *await upcoming_changes(target, gatehouse)]
    links = {each.id: await gatehouse.store.cards.link(each.id) for each in changes}
    frozen = "\n".join(map(freeze_line, await _freezes_on(target, now, gatehouse)))
    return [*([messages.section(frozen)] if frozen else []), *coming_blocks(changes, links)]


async def upcoming_changes(target: Target, gatehouse: Gatehouse) -> Sequence[Change]:
    """Return the changes that will start or be reverted automatically on *target*, the next one first."""
    # A rule that was deleted and restored has a new id; older changes name the old one.
    ids = await gatehouse.store.former_ids.all_of(target.key) if target.service == "rules" and target.key else ()
    former = [target.with_key(each) for each in ids]
    return sorted(await gatehouse.store.changes.list_upcoming(former or [target]), key=due_order)


async def _freezes_on(target: Target, now: ServiceRecord, gatehouse: Gatehouse) -> Sequence[Freeze]:
    kind = Kind.MEMBER_UPDATE if target.service == "members" else Kind.RULE_UPDATE
    try:
        document = now.document()
    except NestedTooDeep:  # nobody can change it anyhow
        return []
    return await gatehouse.changes.freezes.all_for_edit(Edit(kind=kind, target=target, before=document, after=document))


@dataclass(frozen=True, slots=True)
class Thing:
    """A target that is already as somebody wants it: its title, and its content now."""

    title: str
    target: Target
    document: Document


async def refuse_unchanged(things: Sequence[Thing], so: AlreadySo, gatehouse: Gatehouse) -> NoReturn:
    """Raise NothingToChange, with what is due on the first of *things* that has it, or who made the only one as it is."""
    for each in things:
        if upcoming := await upcoming_changes(each.target, gatehouse):
            note = coming_line(upcoming[0], await gatehouse.store.cards.link(upcoming[0].id))
            break
    else:
        note = await _last_change(things[0], gatehouse) if len(things) == 1 else ""
    raise NothingToChange([each.title for each in things], so, note)


async def _last_change(thing: Thing, gatehouse: Gatehouse) -> str:
    """Return who made *thing* as it is and when, as a sentence, for the person who came second."""
    last = await gatehouse.store.changes.last_applied_to(thing.target)
    if last is None or canonical_form(last.run.result) != canonical_form(thing.document):
        return ""
    return f"Last changed by {author(last)}, {when(last.run.finished_at)}."


async def with_times(
    proposal: Proposal,
    caller: Caller,
    gatehouse: Gatehouse,
    *,
    start: Start | None = None,
    expiry: Expiry | None = None,
) -> Proposal:
    """Return *proposal* with *start* and *expiry* as moments in the caller's zone; an end counts from the start.

    Raises DirectoryUnavailable, TimeIsPast, EndsBeforeStart and TimeIsFar.
    """
    now, request = caller.asked_at or gatehouse.now(), proposal.request
    if start is not None:
        now, read = await resolve_start(start, caller, gatehouse)
        request = replace(request, starts_at=now, starts_at_as_typed=read)
        expiry = expiry or start.end
    if expiry is not None and expiry.seconds is not None:
        request = replace(request, revert_after=expiry.seconds)
    elif expiry is not None:
        ends, read = await resolve_end(expiry, now, caller, gatehouse)
        request = replace(request, reverts_at=ends, reverts_at_as_typed=read)
    return replace(proposal, request=request)


async def resolve_end(expiry: Expiry, starts: datetime, caller: Caller, gatehouse: Gatehouse) -> tuple[datetime, str]:
    """Return the moment that *expiry* means to *caller* for what begins at *starts*, and how their clocks show it.

    Raises TimeIsPast, EndsBeforeStart and TimeIsFar.
    """
    said_at = caller.asked_at or gatehouse.now()
    ends, read = await _resolve_time(expiry, said_at, caller, gatehouse, starts)
    if ends <= starts:
        raise EndsBeforeStart
    return ends, read


async def resolve_start(start: Start, caller: Caller, gatehouse: Gatehouse) -> tuple[datetime, str]:
    """Return the moment that *start* means to *caller*, and how their clocks show it; raises as `with_times` does."""
    return await _resolve_time(start, caller.asked_at or gatehouse.now(), caller, gatehouse)


async def _resolve_time(
    time: TypedTime,
    said_at: datetime,
    caller: Caller,
    gatehouse: Gatehouse,
    starts: datetime | None = None,
) -> tuple[datetime, str]:
    zone = zone_of((await gatehouse.access.directory.person(caller.user)).tz)
    moment, now = resolve_moment(time, zone, said_at, starts), gatehouse.now()
    if moment is None or moment <= now:  # it may have passed before a request whose process died was resumed
        raise TimeIsPast(time.as_typed)
    if moment > now + timedelta(seconds=MAX_DURATION_SECONDS):
        raise TimeIsFar(time.as_typed, moment.astimezone(zone))
    shown = zone_of(time.wall.zone) if time.wall is not None and time.wall.zone else zone
    return moment, f"{moment.astimezone(shown):%H:%M} {shown.key}"


def resolve_moment(time: TypedTime, zone: ZoneInfo, now: datetime, starts: datetime | None = None) -> datetime | None:
    """Return the moment that *time* means, said at *now* by somebody in *zone*; None where that is past.

    *starts*: for an end, when the change begins.
    Raises TimeIsSkipped for a start that the clocks skip: an hour later, it might be after its end.
    """
    if (wall := time.wall) is not None:
        moment = next_time(wall, zone, now) if starts is None else end_time(wall, zone, now, starts)
        if isinstance(time, Start) and moment is not None and is_skipped(wall, zone, moment):
            raise TimeIsSkipped(time.as_typed, moment.astimezone(zone_of(wall.zone or zone.key)))
        return moment
    return time.at if time.seconds is None else (starts or now) + timedelta(seconds=time.seconds)


def time_text(time: TypedTime | None) -> str:
    """Return the time as a form shows it: an end without the word that led it."""
    if time is None:
        return ""
    return time.as_typed if isinstance(time, Start) else time.as_typed.partition(" ")[2]


def zone_of(name: str) -> ZoneInfo:
    """Return the time zone called *name*, or UTC where this machine doesn't know it; people see which one was used."""
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return ZoneInfo("UTC")
