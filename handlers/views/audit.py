"""What was done, by whom, when: lines of the audit, and the history of one rule."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from bot.domain.change import Change
from bot.domain.member import masked
from bot.store.audit import Entry, Filters
from handlers.commands.command import Command
from handlers.commands.gatehouse import GatehouseAudit
from handlers.views import parts
from handlers.views.parts import Block, Message, code, esc
from handlers.views.sentences import when, words
from handlers.views.titles import WORDS, mark_of, plain_title

SIGNS: Final = {
    "exported": ":outbox_tray:",
    "applied": ":white_check_mark:",
    "failed": ":x:",
    "denied": ":no_entry_sign:",
    "refused": ":no_entry:",
    "unknown": ":grey_question:",
    "unsettled": ":grey_question:",
    "stale": ":arrows_counterclockwise:",
    "expired": ":zzz:",
}


def entries(
    found: Sequence[Entry],
    links: Mapping[str, str],
    filters: Filters,
    *,
    more: bool,
    public: bool,
    command: GatehouseAudit,
) -> Message:
    """The newest entries first, and what was looked for. In a channel addresses are masked."""
    looked_for = _looked_for(filters, command)
    if not found:
        nothing = ":mag: Nothing like that is on record."
        return parts.message("Nothing is on record", [parts.section(nothing), *looked_for])
    blocks: list[Block] = [
        parts.section(_line(entry, links.get(entry.change_id, ""), public=public)) for entry in found
    ]
    page = command.page or 1
    buttons = (
        parts.turn_button("‹ Newer", replace(command, page=page - 1), "newer") if page > 1 else None,
        parts.turn_button("Older ›", replace(command, page=page + 1), "older") if more else None,
        parts.share_button(command),
    )
    return parts.message("What is on record", [*blocks, *looked_for, *parts.actions(buttons)])


def _looked_for(filters: Filters, command: GatehouseAudit) -> list[Block]:
    """How the filters were understood."""
    said = [
        f"by <@{filters.who}>" if filters.who else "",
        f"since {when(filters.since)}" if filters.since else "",
        f"about {code(command.ref, 100)}" if command.ref else "",
    ]
    return [parts.context(f"What was done {', '.join(filter(None, said))}")] if any(said) else []


def _line(entry: Entry, card: str, *, public: bool) -> str:
    who = f"<@{entry.actor}>" if entry.actor != "gatehouse" else "Gatehouse"
    link = f"   <{card}|card>" if card else ""
    reason = entry.detail.get("reason") or entry.detail.get("why") or ""
    said = f": {words(str(reason), 120) if public else esc(str(reason), 120)}" if reason else ""
    what = f"{esc(str(entry.detail.get('kind') or ''), 40)} {target_name(entry.target, public=public)}".strip()
    change = f" {code(entry.change_id[:8])}" if entry.change_id else ""
    times = f" {entry.detail['count']:,} times" if entry.event == "refused" and "count" in entry.detail else ""
    sign = SIGNS.get(entry.event, ":small_blue_diamond:")
    return (
        f"{sign} *{esc(entry.event.replace('_', ' '), 40)}*  {what}{times}{change}{link}\n{when(entry.at)}  {who}{said}"
    )


def target_name(target: str, *, public: bool) -> str:
    place, _, key = target.rpartition("/")
    return code(f"{place}/{masked(key)}" if public and "@" in key else target, 160) if target else ""


def history(changes: Sequence[Change], links: Mapping[str, str], *, command: Command) -> Message:
    """The changes of one rule, newest first."""
    if not changes:
        return parts.message("No history", [parts.section(":mag: Gatehouse has not changed this rule so far.")])
    blocks: list[Block] = []
    for change in changes:
        link = f"   <{links[change.id]}|card>" if links.get(change.id) else f"   {code(change.id[:8])}"
        undone = f", taken back by {code(change.undone_by[:8])}" if change.undone_by else ""
        reason = f"\n:speech_balloon: {esc(change.reason, 200)}" if change.reason else ""
        moment = change.finished_at or change.decided_at or change.created
        line = f"{mark_of(change)} *{plain_title(change)}*: {WORDS[change.state]}{undone}{link}"
        blocks.append(parts.section(f"{line}\n{when(moment)}  <@{change.requester}>{reason}"))
    return parts.message("History of a rule", [*blocks, *parts.actions([parts.share_button(command)])])
