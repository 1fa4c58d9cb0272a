"""What changed lately, at a glance: how much, by whom, what went wrong, and what was touched most."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from bot.store.audit import Entry
from handlers.commands.gatehouse import GatehouseAudit, GatehouseDigest, GatehousePending, GatehouseTimers
from handlers.views import parts
from handlers.views.audit import target_name
from handlers.views.parts import Block, Message, esc
from handlers.views.titles import VERBS

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
    blocks: list[Block] = [parts.section(f":newspaper: *The last {esc(span, 20)}*\n{said}{many}")]
    blocks += _done(entries, public=public)
    if left := _left(waiting, ending):
        blocks.append(parts.section(left))
    buttons = [
        parts.run_button("What waits", GatehousePending(), 0) if waiting else None,
        parts.run_button("What ends", GatehouseTimers(), 1) if ending else None,
        parts.run_button("All of it", GatehouseAudit(since=span), 2) if entries else None,
        parts.share_button(command),
    ]
    return parts.message(f"The last {span}", [*blocks, *parts.actions(buttons)])


def _done(entries: Sequence[Entry], *, public: bool) -> list[Block]:
    """What was changed, by whom, and which things; nothing where nothing was."""
    done = [entry for entry in entries if entry.event == "applied"]
    if not done:
        return []
    askers = {one.change_id: one.actor for one in entries if one.event in {"requested", "begun"}}
    return [
        parts.section(f"*What*\n{_counted(map(_what, done))}"),
        parts.section(f"*By whom*\n{_counted(_asker(one, askers) for one in done)}"),
        parts.section(f"*Touched*\n{_counted(target_name(one.target, public=public) for one in done)}"),
    ]


def _what(entry: Entry) -> str:
    """``rule changed``: the kind of a change as people say it."""
    kind = str(entry.detail.get("kind") or "")
    done = next((words[1] for each, words in VERBS.items() if each.value == kind), "")
    return f"{kind.partition('.')[0]} {done}" if done else esc(kind or "change", 40)


def _asker(entry: Entry, askers: Mapping[str, str]) -> str:
    """Whoever asked for a change; what was asked for before that time, or by nobody, is Gatehouse's."""
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
