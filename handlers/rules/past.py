"""What our own record says of the past: what rules were at a moment, and which of them others changed since then."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from bot.changes.model.change import Change
from bot.changes.model.states import State
from bot.changes.past import ended_at, is_elsewhere, rebuild
from bot.clients.errors import ClientError
from bot.gatehouse import Gatehouse
from bot.rules.lint.route import LEADING
from bot.rules.model import Group, Groups, Rule
from bot.rules.pair_fields import KNOWN_TYPES
from bot.store.audit import Filters
from bot.store.db import UnreadableRow
from bot.text.times import moment_since, parse_since
from bot.text.wall_times import WallTime, last_time, next_time
from handlers.blocks import messages
from handlers.blocks.buttons import run_button, share_button
from handlers.blocks.messages import Message, code, first_few, quote, url_code
from handlers.changes.list_view import RowFacts, more_line, rows
from handlers.changes.requests import zone_of
from handlers.changes.times import when
from handlers.errors import BadFilter
from handlers.grammar.command import Certain, slash
from handlers.grammar.time_fields import Start, first_start
from handlers.rules.commands import RulesWhich
from handlers.slack.reply import Caller

SECONDS: Final = 2.0
"""Seconds to wait for rules that only add to an answer."""
MAX_RECORDED: Final = 5_000
"""Changes that are looked through."""
HOUR: Final = timedelta(hours=1)
MAX_SHOWN: Final = 5
"""Rules, and changes, that an answer names."""
HARMLESS: Final = frozenset(KNOWN_TYPES) - LEADING - {"Cancel"}
"""Types of rules that neither redirect nor block."""


@dataclass(frozen=True, slots=True)
class Then:
    """The *rules* and *groups* as they were at *moment*, *shown* as its asker's clocks have it.

    *unknown*: a line for each of which that isn't known; *is_sure*: whether none of these may have redirected or blocked.
    *changes*: ours since then, the last one first.
    """

    moment: datetime
    shown: str
    rules: Sequence[Rule]
    groups: Groups | None
    unknown: Sequence[str]
    is_sure: bool
    changes: Sequence[Change]


async def moment_of(text: str, caller: Caller, gatehouse: Gatehouse, example: str) -> datetime:
    """Return the past moment that *text* means: the last one that clocks showed, of a date the nearest.

    Raises BadFilter, with a command as an *example*.
    """
    if (since := parse_since(text)) is None:
        raise BadFilter(f"“{text[:40]}” isn’t a time. Write 24h, 7d, today, yesterday or last night.", example)
    # Lengths need no answer of Slack’s.
    zone = zone_of((await gatehouse.access.directory.person(caller.user)).tz if since.wall else "UTC")
    moment = moment_since(since, zone, now := gatehouse.now())
    if moment is None and since.wall is not None and since.wall.day == "today":  # “this morning”, at 3:00
        moment = last_time(WallTime(0, 0), zone, now)
    if moment is None:
        raise BadFilter(f"“{text[:40]}” isn’t in the past. Write 24h, 7d, today, yesterday or last night.", example)
    return moment


async def look_back(command: RulesWhich, caller: Caller, gatehouse: Gatehouse) -> Then:
    """Return what was at the moment that *command* asks about; raises BadFilter, NotAllowed, UnreadableRow and a ClientError."""
    await gatehouse.access.require(caller.user, caller.channel, "audit.read")
    zone = zone_of((await gatehouse.access.directory.person(caller.user)).tz)
    now, text = gatehouse.now(), command.at or ""
    start, count = first_start(text.split())
    if start is not None and count == len(text.split()) and _is_ahead(start, zone, now):
        raise Certain(f"“{text[:40]}” is still to come. {code(slash('gatehouse planned'))} lists what starts and ends.")
    moment = start.at if start and start.at else await moment_of(text, caller, gatehouse, "rules which URL at 02:10")
    moment = moment.replace(second=0, microsecond=0)
    changes = await _changes_since(moment, gatehouse)
    known, unknown = rebuild((await gatehouse.rules.all()).known, Rule, changes, moment, now)
    groups, unsure = list[Group](), list[Group]()
    with suppress(ClientError):
        groups, unsure = rebuild((await gatehouse.groups.recent()).whole(), Group, changes, moment, now)
    unsure = [each for each in unsure if any(rule.group_id == each.id for rule in known)]
    others: list[Rule | Group] = [*unknown, *unsure]
    return Then(
        moment,
        f"{when(moment)} ({moment.astimezone(zone):%H:%M} {zone.key})",
        [rule for rule in known if rule.group_id not in {each.id for each in unsure}],
        Groups.of(groups) if groups else None,
        [_unknown_line(each, now) for each in others],
        all(isinstance(each, Rule) and each.rule_type in HARMLESS for each in others),
        changes,
    )


def _is_ahead(start: Start, zone: ZoneInfo, now: datetime) -> bool:
    """Whether *start* means a moment still to come, as a weekday and the nearest of a date do; a time of day is the last one."""
    if (wall := start.wall) is None:
        return start.at is None or start.at > now
    past, ahead = last_time(wall, zone, now), next_time(wall, zone, now)
    if past is None or ahead is None or wall.day in {"", "today"}:
        return past is None
    return not wall.day[0].isdigit() or ahead - now < now - past


async def _changes_since(moment: datetime, gatehouse: Gatehouse) -> list[Change]:
    """Return our changes of rules and groups since *moment*, the last one first."""
    ended = (State.APPLIED, State.UNKNOWN, State.UNSETTLED)
    wanted = Filters(since=moment, unreadable=("members",), only=ended)
    found = await gatehouse.store.audit.find(wanted, MAX_RECORDED)
    if len(found) == MAX_RECORDED:
        raise BadFilter(f"Since then, {MAX_RECORDED:,} changes or more were made: too many.", "rules history #1")
    changes = await gatehouse.store.changes.get_many(list({entry.change_id for entry in found}))
    since = (each for each in changes.values() if not each.is_bulk and ended_at(each) > moment)
    return sorted(since, key=ended_at, reverse=True)


def past_answer(
    outcome: Message, then: Then, changes: Sequence[Change], facts: RowFacts, *, command: RulesWhich, public: bool
) -> Message:
    """Return *outcome*, which the rules of *then* have, as that of then, with the *changes* of these rules since.

    It is not claimed where a rule of which it isn't known what it was may have redirected or blocked.
    """
    head = f":rewind: *As of {then.shown}*"
    if not then.is_sure:
        head = f":warning: *Can’t tell where {url_code(command.url, 200)} went as of {then.shown}*"
    lines = [head, *first_few(then.unknown, MAX_SHOWN), *([] if then.is_sure else ["The other rules alone:"])]
    buttons = [
        run_button("Check URL now", RulesWhich(command.url), "now"),
        share_button(replace(command, at=Start.at_moment(then.moment).as_typed)),
    ]
    blocks = [
        messages.section("\n".join(lines)),
        *messages.without_buttons(outcome.blocks),
        messages.section("*Since then*" if changes else "Since then, Gatehouse has changed no rule that matched."),
        *rows(changes[:MAX_SHOWN], facts, public=public),
        *more_line(len(changes) - MAX_SHOWN),
        messages.context("By Gatehouse’s own record, which lacks rules that were deleted elsewhere since."),
        *messages.actions([] if public else buttons),
    ]
    return messages.message(head.partition(": ")[2].replace("*", ""), blocks)


def _unknown_line(each: Rule | Group, now: datetime) -> str:
    """Return why it isn't known what a rule or a group was."""
    why, modified = "has no date of its last change", each.modified or 0
    if 0 < modified <= now.timestamp() * 1000:
        why = f"was changed outside Gatehouse, {messages.moment(modified)}"
    return f"{'The group ' * isinstance(each, Group)}{quote(each.title, 120)} {why}. What it was before isn’t known."


async def elsewhere_line(since: datetime, unreadable: Collection[str], gatehouse: Gatehouse) -> str:
    """Return the line about the rules that others changed since then, and we not later; empty where none are known.

    Nor are any known to somebody for whom rules are *unreadable*.
    """
    first, last = (int(each.timestamp() * 1000) for each in (since, gatehouse.now()))
    with suppress(ClientError, TimeoutError, BadFilter, UnreadableRow):
        async with asyncio.timeout(SECONDS):
            known = (await gatehouse.rules.recent()).known if "rules" not in unreadable else []
        late = {f"rules/{rule.id}": rule for rule in known if first < (rule.modified or 0) <= last}
        # The service's clock may be behind ours, or ahead: what is ours is looked for before that time as well.
        for change in await _changes_since(since - HOUR, gatehouse) if late else ():
            rule = late.get(str(change.edit.target))
            if rule is not None and not is_elsewhere(rule.modified or 0, [change]):
                del late[str(change.edit.target)]
        found = sorted(late.values(), key=lambda rule: rule.modified or 0, reverse=True)
        named = [f"{quote(rule.title, 80)} {messages.moment(rule.modified or 0)}" for rule in found]
        return f"\n*Changed elsewhere:* {' · '.join(first_few(named, MAX_SHOWN))}" if named else ""
    return ""
