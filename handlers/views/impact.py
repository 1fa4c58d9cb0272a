"""What a change does to known addresses, and the addresses that a channel keeps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from bot.domain.impact import Fate, Impact, Shift
from handlers.commands.command import slash
from handlers.commands.rules import RulesSamples, RulesWhich
from handlers.views import parts
from handlers.views.parts import Message, clip, code

MOST_SHIFTS: Final = 5
MOST_LISTED: Final = 20


def lines(found: Impact) -> tuple[str, ...]:
    """The preview in plain text: how many change, and the first of those, before and after; nothing to say, no line."""
    if not found.known:
        return ()
    changed = len(found.shifts)
    head = f"{changed} of {parts.plural(found.known, 'known URL')} change{'s' if changed == 1 else ''}"
    told = [
        f"{clip(shift.address, 120)}: {_fate(shift.before, shift)} → {_fate(shift.after, shift)}"
        for shift in found.shifts[:MOST_SHIFTS]
    ]
    more = [f"…and {changed - MOST_SHIFTS} more"] if changed > MOST_SHIFTS else []
    return head, *told, *more


def _fate(fate: Fate, shift: Shift) -> str:
    """Where the address goes; what else acts on it only where nothing but that differs."""
    if fate.blocked:
        return "blocked"
    if fate.results:
        return clip(" or ".join(fate.results), 160)
    goes_the_same = (shift.before.blocked, shift.before.results) == (shift.after.blocked, shift.after.results)
    return f"touched by {clip(', '.join(fate.touched), 120)}" if fate.touched and goes_the_same else "stays"


def samples(urls: Sequence[str], *, said: str, actions: bool) -> Message:
    """The addresses of the channel, each with what to do about it. *said*: what was just done, mrkdwn."""
    count = f"{parts.plural(len(urls), 'URL')}"
    about = f"*{count} of this channel*: every change of a rule is tried on them, and its card says which change."
    blocks = [parts.section(f"{said}\n{about}" if said else about)]
    for number, url in enumerate(urls[:MOST_LISTED]):
        blocks.append(parts.section(code(url, 600)))
        if actions:
            buttons = (
                parts.run_button("Which rule?", RulesWhich(url=url), f"which.{number}"),
                parts.turn_button("Remove", RulesSamples(action="remove", urls=(url,)), f"remove.{number}"),
            )
            blocks += parts.actions(buttons)
    if len(urls) > MOST_LISTED:
        blocks.append(parts.context(f"…and {len(urls) - MOST_LISTED} more"))
    blocks.append(parts.context(f"`{slash('rules samples add URL …')}`   ·   `{slash('rules samples remove URL')}`"))
    return parts.message(f"{count} to try changes on", blocks)
