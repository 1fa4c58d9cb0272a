"""The one card of a change set: what is asked, how far it is, what became of each part."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from bot.changes.applying import LOST_RIGHT
from bot.domain.change import Change, Guard, State
from bot.domain.change_set import DONE, NOT_DONE, OPEN, Outcome, Part, Tally
from handlers.views import parts
from handlers.views.card_gaps import actions
from handlers.views.changes import warned
from handlers.views.full_view import change_warnings, part_warnings
from handlers.views.parts import Block, Message, code, esc
from handlers.views.sentences import ending_line, glass_line, sentence, why_not_any_more, words
from handlers.views.set_lines import OUTCOMES, line_of, packed
from handlers.views.titles import MARKS, WORDS, plain_title

SHOWN: Final = 12
"""Parts that a card has a line for."""
MOST_SINGLE: Final = 6
BAR: Final = 20


@dataclass(frozen=True, slots=True)
class Progress:
    """What a card shows of the parts: how many are where, and the first of those that matter now."""

    tally: Tally
    first: Sequence[Part]


def card(change: Change, progress: Progress, *, places: Mapping[str, str]) -> Message:
    """A change set as it stands now. Addresses are masked: the card is for the channel."""
    title = f"{plain_title(change)}{_after_title(change, progress.tally)}"
    blocks: list[Block] = [parts.section(f"{_mark(change, progress.tally)} *{title}*\n{_sentence(change, progress)}")]
    if change.state not in {State.PROPOSED, State.CANCELLED, State.DENIED, State.EXPIRED}:
        blocks.append(parts.section(counted(progress.tally)))
    blocks += _lines(change, progress)
    blocks += warned(change, (*change.warnings, *change_warnings(change), *part_warnings(progress.first[:SHOWN])))
    if change.reason:
        blocks.append(parts.section(f":speech_balloon: {words(change.reason, 500)}"))
    if change.review_owed:
        blocks.append(parts.section(glass_line(change)))
    if ending := ending_line(change):
        blocks.append(parts.section(ending))
    footer = parts.context(_footer(change, progress, places))
    blocks += actions(change, [*blocks, footer], _buttons(change, progress))
    if change.undone_by:
        blocks.append(parts.context(f":leftwards_arrow_with_hook: Taken back by change {code(change.undone_by[:8])}"))
    blocks.append(footer)
    return parts.message(f"{plain_title(change)}: {_in_words(change, progress.tally)}", blocks)


def _mark(change: Change, tally: Tally) -> str:
    if change.state is State.PROPOSED and not change.kind.destroys:
        return ":raising_hand:"
    if change.state is State.APPLIED and tally.of(DONE) < tally.meant:
        return ":warning:"
    return MARKS[change.state]


def _after_title(change: Change, tally: Tally) -> str:
    if change.state is State.PROPOSED:
        return "?"
    return f": {_in_words(change, tally)}"


def _in_words(change: Change, tally: Tally) -> str:
    if change.state is State.APPLIED and tally.of(DONE) < tally.meant:
        return f"{tally.of(DONE):,} of {tally.meant:,} done"
    if change.stopped_by and change.state is State.APPLYING:
        return "being stopped"
    return WORDS[change.state]


def _sentence(change: Change, progress: Progress) -> str:
    if change.state is State.FAILED and change.refusal is None:
        return f"asked by <@{change.requester}>. *Nothing was changed.*"
    stopped = f" Stopped by <@{change.stopped_by}>." if change.stopped_by else ""
    if change.refusal == LOST_RIGHT and change.state is State.APPLIED:
        stopped = f" The rest was not done: {why_not_any_more(change)}."
    left = progress.tally[Outcome.UNKNOWN]
    looking = " Gatehouse keeps looking at what is not known." if left and change.state is State.APPLIED else ""
    return f"{sentence(change)}{stopped}{looking}"


def counted(tally: Tally) -> str:
    """How far it is: a bar, and the numbers in words."""
    ended = tally.meant - tally.left
    filled = BAR * ended // tally.meant if tally.meant else BAR
    bar = "█" * filled + "░" * (BAR - filled)
    counts = "   ".join(
        f"{mark} {tally[outcome]:,} {name}"
        for outcome, (mark, name) in OUTCOMES.items()
        if tally[outcome] and outcome not in OPEN
    )
    return f"{bar}  {ended:,} of {tally.meant:,}\n{counts}".strip()


def _lines(change: Change, progress: Progress) -> list[Block]:
    if change.state in {State.CANCELLED, State.DENIED, State.EXPIRED} or not progress.first:
        return []
    shown = [line_of(part) for part in progress.first[:SHOWN]]
    total = sum(progress.tally.counts.values())
    if total > len(shown):
        shown.append(f"…and {total - len(shown):,} more.")
    return [parts.section(text) for text in packed(shown)]


def _buttons(change: Change, progress: Progress) -> list[Block | None]:
    tally = progress.tally
    if change.state is State.PROPOSED:
        return _proposed(change)
    if change.state in {State.APPROVED, State.APPLYING}:
        return [parts.decide_button("Stop", "stop", change.id)] if not change.stopped_by else []
    rest = tally.of(NOT_DONE)
    again = parts.decide_button(f"Try the other {rest:,} again", "again", change.id) if rest else None
    if change.state is State.FAILED:
        return [again]
    if change.state is not State.APPLIED:
        return []
    sign = parts.decide_button("Sign", "sign", change.id, style="primary") if change.review_owed else None
    if change.undone_by:
        return [sign]
    if change.temporary:
        return [
            sign,
            parts.decide_button("Extend 1 h", "extend", change.id),
            parts.decide_button("Make it stay", "stay", change.id),
            parts.decide_button("End now", "end", change.id),
        ]
    undo = parts.decide_button("Undo", "undo", change.id) if tally[Outcome.APPLIED] else None
    return [sign, again, undo, *_single_undos(progress.first)]


def _single_undos(shown: Sequence[Part]) -> list[Block | None]:
    """Where one person was changed on several sites: a way back for each site alone."""
    done = [part for part in shown if part.outcome is Outcome.APPLIED and part.change_id and part.target.site]
    if len({part.target.key for part in shown}) != 1 or not 1 < len(shown) <= MOST_SINGLE:
        return []
    return [
        parts.decide_button(f"Undo at {part.target.site}", f"undo.{part.number}", part.change_id or "") for part in done
    ]


def _proposed(change: Change) -> list[Block | None]:
    style = "danger" if change.kind.destroys else "primary"
    if change.guard is Guard.CONFIRM:
        return [
            parts.decide_button("Do it", "confirm", change.id, style=style, confirm=_asked(change, "Do it")),
            parts.decide_button("Leave it", "keep", change.id),
        ]
    return [
        parts.decide_button("Approve", "approve", change.id, style=style, confirm=_asked(change, "Approve")),
        parts.decide_button("Deny…", "deny", change.id),
        parts.decide_button("Ask…", "ask", change.id),
        parts.decide_button("Withdraw", "keep", change.id),
        parts.decide_button("Break the glass…", "glass", change.id) if change.break_glass else None,
    ]


def _asked(change: Change, yes: str) -> Block:
    text = f"{change.title}? What it does to each is on the card, or in the full view."
    return parts.confirm("All of it?", text, yes, "Not yet", danger=change.kind.destroys)


def _footer(change: Change, progress: Progress, places: Mapping[str, str]) -> str:
    place = places.get(change.target.service)
    host = f" at {esc(place, 80)}" if place else ""
    many = sum(progress.tally.counts.values())
    return f"{change.target.service}{host} · {parts.plural(many, 'part')} · change {code(change.id[:8])}"
