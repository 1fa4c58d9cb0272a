"""``/gatehouse digest``: what changed, what waits and what comes, as an answer, as a file, or every day in a channel."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy.ext.asyncio import AsyncConnection

from bot.changes.execute import Failpoint
from bot.changes.notify import Pace
from bot.changes.timers import LATE_AFTER
from bot.clients.errors import ClientError
from bot.gatehouse import Gatehouse
from bot.policy.limits import EXPORT_RATE
from bot.policy.model import SETTINGS, Why
from bot.rules.lint.findings import Finding
from bot.store.audit import Entry, Filters
from bot.store.channel_settings import DIGEST, DIGEST_UNTIL, DigestTimes
from bot.store.leases import Note
from bot.store.outbox import Purpose
from handlers.blocks.messages import Message
from handlers.changes.cards import ELSEWHERE
from handlers.changes.requests import zone_of
from handlers.changes.times import due_at, when
from handlers.gatehouse import digest_view
from handlers.gatehouse.answers import (
    MAX_LOOKED_THROUGH,
    STEPS,
    changes_behind,
    coming_changes,
    facts_of,
    filter_readable,
    filter_waiting,
    moment_of,
    waiting_changes,
)
from handlers.gatehouse.commands import A_DAY, OFF, GatehouseDigest
from handlers.gatehouse.digest_view import Digest
from handlers.rules.commands import RulesCheck
from handlers.rules.rule_check import findings_about
from handlers.slack.client import Slack, SlackRefused
from handlers.slack.registry import handles
from handlers.slack.reply import Attached, Caller, Private, Reply

MAX_ENTRIES: Final = 5_000
"""Entries that a digest counts."""
AHEAD: Final = timedelta(hours=24)


@handles(GatehouseDigest)
async def digest(command: GatehouseDigest, caller: Caller, gatehouse: Gatehouse) -> Reply:
    if command.at is not None:
        return await _set_times(command.at, caller, gatehouse)
    since = await moment_of(command.since or A_DAY, caller, gatehouse, "gatehouse digest 24h")
    if command.as_file:
        gatehouse.limits.take(EXPORT_RATE, caller.user)
    found = await read_digest(since, caller, gatehouse)
    if not command.as_file:
        return Private(digest_view.digest(found, since=since, public=caller.public, command=command))
    texts = digest_view.digest_texts(found, since=since, public=True, most=digest_view.MAX_ROWS_IN_FILE)
    people = sorted(digest_view.people_in(texts))
    names = {user: (await gatehouse.access.person(user)).name for user in people}
    content = await asyncio.to_thread(digest_view.digest_file, texts, names)
    name = f"handover-{gatehouse.now():%Y-%m-%d-%H%M}.md"
    comment = f":newspaper: *Since {when(since)}*, as Markdown to pass on: no email and no secret in it is whole."
    return Attached(name, content.encode(), comment, exports=("audit", len(found.entries)))


async def read_digest(since: datetime, caller: Caller, gatehouse: Gatehouse) -> Digest:
    """Return what there is to tell *caller* about the time since then, and about the day to come."""
    entries = await gatehouse.store.audit.find(Filters(since=since, without=STEPS), limit=MAX_ENTRIES)
    ended = [entry for entry in entries if entry.event in digest_view.ENDS]
    behind = await changes_behind(ended, gatehouse, as_sets=True)
    changes = list({each.id: each for entry in ended if (each := behind.get(entry.change_id))}.values())
    findings = await _findings(ended, caller, gatehouse)
    waiting = await filter_waiting(await waiting_changes(gatehouse, most=MAX_LOOKED_THROUGH), caller, gatehouse)
    soon = gatehouse.now() + AHEAD
    comes = [each for each in await coming_changes(gatehouse) if (at := due_at(each)) is None or at <= soon]
    coming = await filter_readable(comes, caller, gatehouse)
    return Digest(
        entries=entries,
        has_all=len(entries) < MAX_ENTRIES,
        changes=changes,
        waiting=waiting,
        coming=coming,
        findings=findings,
        freezes=[each for each in await gatehouse.changes.freezes.all() if each.starts <= soon],
        facts=await facts_of((*changes, *waiting.changes, *waiting.reviews, *coming), gatehouse),
    )


RULES: Final = "rules/"
"""Begins the targets of rules and of their groups."""


async def _findings(ended: Sequence[Entry], caller: Caller, gatehouse: Gatehouse) -> Sequence[Finding] | None:
    """Return what is wrong now with the rules that were changed; None where it could not be looked at."""
    changed = {entry.target.removeprefix(RULES) for entry in ended if entry.target.startswith(RULES)}
    if not changed or await gatehouse.access.refusal(RulesCheck.needs, caller.user, caller.channel) is not None:
        return ()
    try:
        return await findings_about(changed, gatehouse)
    except ClientError:
        return None


async def _set_times(wanted: str, caller: Caller, gatehouse: Gatehouse) -> Reply:
    """Set when the channel gets its digest, by the clock of *caller*."""
    await gatehouse.access.require(SETTINGS, caller.user, caller.channel)
    store, channel = gatehouse.store, caller.channel
    held = await store.channel_settings.get(channel)
    zone = zone_of((await gatehouse.access.person(caller.user)).tz).key
    days, _, clock = wanted.partition(" at ")
    hour, _, minute = clock.partition(":")
    times = None if wanted == OFF else DigestTimes(days, int(hour), int(minute), zone, caller.user)

    async def enqueue(tx: AsyncConnection) -> None:
        until = times.last_until(gatehouse.now()).isoformat() if times else ""
        await store.channel_settings.put(tx, channel, DIGEST_UNTIL, until)
        if times is None:
            await store.outbox.drop_for_later(tx, channel, Purpose.DIGEST)
        else:
            await store.outbox.enqueue(tx, channel, Purpose.DIGEST, due=times.next_after(gatehouse.now()))

    before, after = {DIGEST: held.get(DIGEST, "")}, {DIGEST: times.dump() if times else ""}
    await store.channel_settings.change(channel, before, after, by=caller.user, note=enqueue)
    return Private(digest_view.times_message(times, channel, now=gatehouse.now()))


LATEST: Final = timedelta(hours=12)
"""Maximum delay at which a digest is still posted, once; after that, the next digest includes its content."""


@dataclass(frozen=True, slots=True)
class ChannelDigests:
    """Posts the digests of channels that set a time for them."""

    gatehouse: Gatehouse
    slack: Slack
    pace: Pace
    failpoint: Failpoint

    async def deliver(self, channel: str) -> tuple[Note | None, datetime | None]:
        """Post the digest that is due in *channel*; return what records that it was posted, and when the next one is due.

        It covers the time since the one before. Raises as the delivery of a card does: then it is tried again.
        """
        settings, now = self.gatehouse.store.channel_settings, self.gatehouse.now()
        stored = await settings.get(channel)
        if (times := DigestTimes.load(stored)) is None:
            return None, None
        due = times.last_until(now)
        since = datetime.fromisoformat(stored[DIGEST_UNTIL])
        if since >= due or now - due > LATEST:
            return None, times.next_after(now)
        access = self.gatehouse.access
        refused = await access.refusal(GatehouseDigest.needs, times.by, channel)
        if (await access.directory.place(channel)).shared:
            refused = Why.SHARED_CHANNEL
        if refused is None:
            caller = Caller(times.by, channel, request="", public=True)
            found = await read_digest(since, caller, self.gatehouse)
            message = digest_view.channel_digest(found, since=since, late=now - due if now - due > LATE_AFTER else None)
        else:
            message = digest_view.digest_off_message(times, channel, refused)
        self.pace.take(channel)
        self.failpoint("digest")
        # People of another company must not even see that there is a digest.
        await self._post(times.by if refused is Why.SHARED_CHANNEL else channel, times.by, message)
        self.failpoint("digested")

        async def note(tx: AsyncConnection) -> None:
            name, value = (DIGEST_UNTIL, now.isoformat()) if refused is None else (DIGEST, "")
            await settings.put(tx, channel, name, value)

        return note, None if refused is not None else times.next_after(now)

    async def _post(self, channel: str, by: str, message: Message) -> None:
        """Post to the channel, or to the person who set the digest (*by*) if Slack takes no messages for the channel any more."""
        try:
            await self.slack.post(channel, message)
        except SlackRefused as refusal:
            if refusal.code not in ELSEWHERE:
                raise
            await self.slack.post(by, message)
