"""What waits for somebody, and what ends by itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bot.domain.change import Change
from handlers.commands.gatehouse import GatehousePending, GatehouseTimers
from handlers.views import parts
from handlers.views.parts import Block, Message, code
from handlers.views.sentences import when
from handlers.views.titles import WORDS, plain_title

MOST = 20


def pending(waiting: Sequence[Change], reviews: Sequence[Change], links: Mapping[str, str], *, total: int) -> Message:
    """Requests that are open, some of *total*, and reviews that are owed; those that wait the longest first."""
    if not waiting and not reviews:
        return _nothing(":white_check_mark: Nothing waits for anybody.", GatehousePending())
    blocks: list[Block] = []
    if waiting:
        shown = sorted(waiting[:MOST], key=lambda change: change.created)
        blocks.append(parts.section(f"*{total:,} open*"))
        blocks += [parts.section(_open(change, links)) for change in shown]
        blocks += _more(total - len(shown))
    if reviews:
        blocks.append(parts.section(f"*{len(reviews)} to be signed*"))
        blocks += [parts.section(_review(change, links)) for change in reviews[:MOST]]
        blocks += _more(len(reviews) - MOST)
    return _listed("What waits for somebody", blocks, GatehousePending())


def _more(count: int) -> list[Block]:
    return [parts.context(f"…and {count:,} more")] if count > 0 else []


def _open(change: Change, links: Mapping[str, str]) -> str:
    until = f", open until {when(change.expires)}" if change.expires else ""
    return (
        f"*{plain_title(change)}*{_link(change, links)}\n{WORDS[change.state]}: asked by <@{change.requester}>{until}"
    )


def _review(change: Change, links: Mapping[str, str]) -> str:
    return f":rotating_light: *{plain_title(change)}*{_link(change, links)}\n<@{change.decided_by}> did this alone"


def timers(ending: Sequence[Change], links: Mapping[str, str]) -> Message:
    """Temporary changes that are in force, the next to end first."""
    if not ending:
        words = ":stopwatch: Nothing ends by itself. Write `for 2h` or `until 18:00` behind a change."
        return _nothing(words, GatehouseTimers())
    lines = [
        parts.section(
            f":stopwatch: *{plain_title(change)}*{_link(change, links)}\nends {when(change.ends)}, by <@{change.requester}>"
        )
        for change in ending[:MOST]
    ]
    return _listed(
        "What ends by itself",
        [parts.section(f"*{parts.plural(len(ending), 'temporary change')}*"), *lines],
        GatehouseTimers(),
    )


def _link(change: Change, links: Mapping[str, str]) -> str:
    link = links.get(change.id)
    return f"   <{link}|card>" if link else f"   {code(change.id[:8])}"


def _nothing(words: str, command: GatehousePending | GatehouseTimers) -> Message:
    again = parts.actions([parts.turn_button("Look again", command, 0)])
    return parts.message(words.partition(" ")[2], [parts.section(words), *again])


def _listed(title: str, blocks: list[Block], command: GatehousePending | GatehouseTimers) -> Message:
    buttons = parts.actions([parts.turn_button("Look again", command, 0), parts.share_button(command)])
    return parts.message(title, [*blocks, *buttons])
