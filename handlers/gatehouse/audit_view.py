"""What was done, by whom and when: lines of the audit, and the digest of a period."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from bot.changes.model import Change
from bot.store.audit import Entry, Filters
from bot.text.emails import masked
from handlers.blocks import messages
from handlers.blocks.messages import Block, Message, code, esc
from handlers.changes.sentences import VERBS, WORDS, card_link, mark_of, plain_title, when, words
from handlers.gatehouse.commands import GatehouseAudit, GatehouseDigest, GatehousePending, GatehouseTimers
from handlers.grammar.command import Command

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
        return messages.message("Nothing is on record", [messages.section(nothing), *looked_for])
    blocks: list[Block] = [
        messages.section(_line(entry, links.get(entry.change_id, ""), public=public)) for entry in found
    ]
    page = command.page or 1
    buttons = (
        messages.turn_button("‹ Newer", replace(command, page=page - 1), "newer") if page > 1 else None,
        messages.turn_button("Older ›", replace(command, page=page + 1), "older") if more else None,
        messages.share_button(command),
    )
    return messages.message("What is on record", [*blocks, *looked_for, *messages.actions(buttons)])


def _looked_for(filters: Filters, command: GatehouseAudit) -> list[Block]:
    """How the filters were understood."""
    said = [
        f"by <@{filters.who}>" if filters.who else "",
        f"since {when(filters.since)}" if filters.since else "",
        f"about {code(command.ref, 100)}" if command.ref else "",
    ]
    return [messages.context(f"What was done {', '.join(filter(None, said))}")] if any(said) else []


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
        return messages.message("No history", [messages.section(":mag: Gatehouse has not changed this rule so far.")])
    blocks: list[Block] = []
    for change in changes:
        undone = f", taken back by {code(change.undone_by[:8])}" if change.undone_by else ""
        reason = f"\n:speech_balloon: {esc(change.reason, 200)}" if change.reason else ""
        moment = change.finished_at or change.decided_at or change.created
        line = f"{mark_of(change)} *{plain_title(change)}*: {WORDS[change.state]}{undone}{card_link(change, links)}"
        blocks.append(messages.section(f"{line}\n{when(moment)}  <@{change.requester}>{reason}"))
    return messages.message("History of a rule", [*blocks, *messages.actions([messages.share_button(command)])])


TOLD: Final = {
    "applied": (":white_check_mark:", "done"),
    "failed": (":x:", "failed"),
    "stale": (":arrows_counterclockwise:", "not done: changed meanwhile"),
    "unsettled": (":grey_question:", "of unknown outcome"),
    "denied": (":no_entry_sign:", "denied"),
    "expired": (":zzz:", "expired"),
    "refused": (":no_entry:", "refused by the policy"),
}
LONGEST: Final = 8


def digest(
    entries: Sequence[Entry],
    *,
    span: str,
    more: bool,
    waiting: int,
    ending: int,
    public: bool,
    command: GatehouseDigest,
) -> Message:
    """The digest of *entries*; *more*: there were too many to count them all. Of a change set each part counts."""
    entries = [entry for entry in entries if "/" in entry.target or entry.event not in TOLD or entry.event == "refused"]
    counts = Counter(entry.event for entry in entries)
    ends = [f"{mark} *{counts[event]:,}* {name}" for event, (mark, name) in TOLD.items() if counts[event]]
    said = "\n".join(ends) or ":white_check_mark: Nothing was changed, and nobody was refused."
    many = f"\nOf the last {len(entries):,} entries alone." if more else ""
    blocks: list[Block] = [messages.section(f":newspaper: *The last {esc(span, 20)}*\n{said}{many}")]
    blocks += _done(entries, public=public)
    if left := _left(waiting, ending):
        blocks.append(messages.section(left))
    buttons = [
        messages.run_button("What waits", GatehousePending(), 0) if waiting else None,
        messages.run_button("What ends", GatehouseTimers(), 1) if ending else None,
        messages.run_button("All of it", GatehouseAudit(since=span), 2) if entries else None,
        messages.share_button(command),
    ]
    return messages.message(f"The last {span}", [*blocks, *messages.actions(buttons)])


def _done(entries: Sequence[Entry], *, public: bool) -> list[Block]:
    """What was changed, by whom, and which things; nothing where nothing was."""
    done = [entry for entry in entries if entry.event == "applied"]
    if not done:
        return []
    askers = {one.change_id: one.actor for one in entries if one.event in {"requested", "begun"}}
    return [
        messages.section(f"*What*\n{_counted(map(_what, done))}"),
        messages.section(f"*By whom*\n{_counted(_asker(one, askers) for one in done)}"),
        messages.section(f"*Touched*\n{_counted(target_name(one.target, public=public) for one in done)}"),
    ]


def _what(entry: Entry) -> str:
    """``rule changed``: the kind of a change as people say it."""
    kind = str(entry.detail.get("kind") or "")
    done = next((words[1] for each, words in VERBS.items() if each.value == kind), "")
    return f"{kind.partition('.')[0]} {done}" if done else esc(kind or "change", 40)


def _asker(entry: Entry, askers: Mapping[str, str]) -> str:
    """Return who requested a change; Gatehouse, where nobody did or it was requested before that time."""
    actor = askers.get(entry.change_id, entry.actor)
    return "Gatehouse" if actor == "gatehouse" else f"<@{actor}>"


def _counted(names: Iterable[str]) -> str:
    """The most frequent ones, each with how often."""
    found = Counter(name for name in names if name)
    shown = [f"{name} × {many:,}" if many > 1 else name for name, many in found.most_common(LONGEST)]
    others = f"   and {len(found) - LONGEST:,} more" if len(found) > LONGEST else ""
    return ",  ".join(shown) + others


def _left(waiting: int, ending: int) -> str:
    said = []
    if waiting:
        said.append(f":hourglass_flowing_sand: *{waiting}* {'waits' if waiting == 1 else 'wait'} for somebody")
    if ending:
        said.append(
            f":stopwatch: *{ending}* {'ends' if ending == 1 else 'end'} by {'itself' if ending == 1 else 'themselves'}"
        )
    return "\n".join(said)
