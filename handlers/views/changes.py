"""The one card of a change, edited through its life: what, where, who, why, and what may be clicked now."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from bot.domain.change import Change, State
from bot.domain.group import Groups
from handlers.views import parts
from handlers.views.card_body import body, in_force
from handlers.views.card_buttons import BUTTONS
from handlers.views.card_gaps import actions
from handlers.views.full_view import change_warnings
from handlers.views.parts import Block, Message, code, esc
from handlers.views.sentences import ending_line, glass_line, sentence, words
from handlers.views.titles import WORDS, mark_of, plain_title, title_of

MAX_WARNINGS: Final = 8
WARNED: Final = frozenset(
    {State.PROPOSED, State.APPROVED, State.APPLYING, State.APPLIED, State.UNKNOWN, State.UNSETTLED}
)
"""States in which what a change was warned of may come true."""


def card(change: Change, *, places: Mapping[str, str], groups: Groups | None = None) -> Message:
    """*change* as it stands now, with what the *groups* make of it. Addresses are masked: the card is for the channel."""
    blocks: list[Block] = [parts.section(f"{mark_of(change)} *{title_of(change)}*\n{sentence(change)}")]
    blocks += [*body(change, groups), *in_force(change, groups)]
    blocks += warned(change, (*change.warnings, *change_warnings(change)))
    if change.preview and change.state in WARNED:
        head, *others = (esc(line, 600) for line in change.preview)
        blocks.append(parts.section("\n".join([f":mag: *{head}*", *(f"• {line}" for line in others)])))
    if change.reason:
        blocks.append(parts.section(f":speech_balloon: {words(change.reason, 500)}"))
    if change.review_owed:
        blocks.append(parts.section(glass_line(change)))
    if ending := ending_line(change):
        blocks.append(parts.section(ending))
    footer = parts.context(_footer(change, places))
    blocks += actions(change, [*blocks, footer], BUTTONS[change.state](change) if change.state in BUTTONS else [])
    if change.undone_by:
        blocks.append(parts.context(f":leftwards_arrow_with_hook: Taken back by change {code(change.undone_by[:8])}"))
    blocks.append(footer)
    return parts.message(f"{plain_title(change)}: {WORDS[change.state]}", blocks)


def warned(change: Change, lines: Sequence[str]) -> list[Block]:
    """What is wrong with *change*, while it may come true; of many lines the first."""
    if not lines or change.state not in WARNED:
        return []
    left = len(lines) - MAX_WARNINGS
    more = f"\n…and {parts.plural(left, 'more warning')}" if left > 0 else ""
    return [parts.section("\n".join(f":warning: {esc(line, 500)}" for line in lines[:MAX_WARNINGS]) + more)]


def _footer(change: Change, places: Mapping[str, str]) -> str:
    site = f" · site {esc(change.target.site, 60)}" if change.target.site else ""
    key = f" · {code(change.target.key, 100)}" if change.target.service != "members" and change.target.key else ""
    place = places.get(change.target.service)
    host = f" at {esc(place, 80)}" if place else ""
    return f"{change.target.service}{host}{site}{key} · change {code(change.id[:8])}"


def elsewhere(message: Message, channel: str, *, shared: bool) -> Message:
    """The card, for the requester alone, where the channel can't be written to or is *shared* with another company."""
    why = (
        f"<#{channel}> is shared with another company now."
        if shared
        else f"Gatehouse cannot post in <#{channel}>. Add it there with `/invite @Gatehouse`."
    )
    note = parts.context(f":mailbox: This is here because {why}")
    return replace(message, blocks=(*message.blocks[: parts.MOST_BLOCKS - 1], note))
