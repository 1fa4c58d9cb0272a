"""The card of a change of one item or many, edited through its life: title, warnings, body and buttons."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from bot.changes.model.change import Change
from bot.changes.model.items import Outcome, Tally
from bot.changes.model.states import State
from bot.policy.freezes import Freeze
from bot.rules.model import Groups
from bot.text.emails import mask_email
from handlers.blocks import messages
from handlers.blocks.messages import Block, Message, and_more, code, esc
from handlers.changes import items_view
from handlers.changes.card_body import WARNED, body, group_notes, is_stored_otherwise
from handlers.changes.card_buttons import (
    actions,
    buttons_of,
    decision_button,
    decision_buttons,
    overtaken_buttons,
    rows,
)
from handlers.changes.confirmations import confirm_label
from handlers.changes.entries import change_warnings
from handlers.changes.freeze_view import freeze_line
from handlers.changes.items_view import Progress
from handlers.changes.people import reason_of, why_not_any_more
from handlers.changes.sentences import overtaken_line, revert_failure_line, sentence
from handlers.changes.titles import STATES, mark_of, overtaken_title, request_title, title_of

MAX_WARNINGS: Final = 8


def card(
    change: Change,
    *,
    progress: Progress | None = None,
    groups: Groups | None = None,
    since: Change | None = None,
    freeze: Freeze | None = None,
) -> Message:
    """Return the card of *change* as it stands now. *progress*: of a bulk change. *groups*: to tell whether its rule is active.

    *since*: the later change that left nothing of a temporary one. *freeze*: what will block it at its start. Emails are masked,
    since the card is for the channel.
    """
    mark, title, lines = _head(change, progress.tally if progress is not None else None, since)
    is_there = since is None
    blocks = [
        messages.section(f"{mark} *{title}*\n{lines}"),
        *([messages.section(_freeze_lines(change, freeze))] if freeze is not None else []),
        *_warnings(change, progress),
        *(messages.section(line) for line in _remarks(change, progress)),
        *(body(change, groups, progress) if is_there else []),
    ]
    is_frozen = freeze is not None
    buttons = buttons_of(change, progress, is_frozen=is_frozen) if since is None else overtaken_buttons(change, since)
    return messages.message(
        _notification(change, title),
        [*blocks, *actions(change, blocks, buttons, progress.first if progress is not None else ())],
    )


def preview(change: Change, progress: Progress | None, groups: Groups | None) -> list[Block]:
    """Return what *change*, which nobody has requested, would do: its card without its people, its state and its buttons."""
    return [*_warnings(change, progress), *body(change, groups, progress)]


def _notification(change: Change, title: str) -> str:
    """Return what a phone shows of the card; of a request also who asks and why."""
    text = title.replace("`", "")
    if change.state is not State.PROPOSED:
        return text
    return " ".join(filter(None, [f"<@{change.request.requester}>:", text, reason_of(change, 60)]))


def _head(change: Change, tally: Tally | None, since: Change | None) -> tuple[str, str, str]:
    """Return its emoji, its title, and the lines below that."""
    if since is not None:
        mark = ":wastebasket:" if since.edit.kind.destroys else STATES[State.STALE].mark
        return mark, overtaken_title(change, since), overtaken_line(change, since)
    if is_stored_otherwise(change):
        return ":warning:", f"{request_title(change)}: not stored as requested", sentence(change)
    return mark_of(change, tally), title_of(change, tally), sentence(change)


def _freeze_lines(change: Change, freeze: Freeze) -> str:
    """Return what blocks *change* from starting, and how to override that."""
    passes = change.state is State.PROPOSED and change.decision.break_glass
    return f"{freeze_line(freeze)}{'. Until then, only an emergency override gets through.' if passes else ''}"


def plain_card(change: Change) -> Message:
    """Return a minimal card for a change whose card can't be drawn: its kind, its target's id and its state, without content."""
    key = change.edit.target.key or ""
    name = mask_email(key) if change.edit.target.service == "members" else key
    title = f"{confirm_label(change)} {code(name, 100) if name and not change.is_bulk else ''}".strip()
    words = f"Requested by <@{change.request.requester}> · {STATES[change.state].word}"
    about, buttons = "Gatehouse can’t show what this changes", list[Block | None]()
    if change.state is State.PROPOSED:
        about += ", so nobody can decide about it. Withdraw it, and request it in smaller parts"
        buttons = [decision_button(change, "Withdraw", "keep")]
    blocks = [messages.section(f"{mark_of(change)} *{title}*\n{words}"), messages.section(f"{about}.")]
    return messages.message(
        title.replace("`", ""), [*blocks, *rows(buttons), messages.context(f"change {code(change.id[:8])}")]
    )


def _warnings(change: Change, progress: Progress | None) -> list[Block]:
    """Return the first warnings about *change*, in the states in which it may take effect."""
    listed = progress.first[: items_view.SHOWN] if progress is not None else ()
    lines = (*change.request.warnings, *change_warnings(change, listed))
    if not lines or change.state not in WARNED:
        return []
    shown = [f"*Warning:* {esc(line, 500)}" for line in lines[:MAX_WARNINGS]]
    return [messages.section("\n".join(filter(None, [*shown, and_more(len(lines) - MAX_WARNINGS, "warning")])))]


def _remarks(change: Change, progress: Progress | None) -> Iterator[str]:
    """Yield what else to know before a click: a failed revert, what of a bulk change was not done."""
    if (old := change.request.moved_from) and change.state is State.APPLIED and not change.run.undone:
        yield f"{code(mask_email(old))} keeps its access until somebody removes it."
    if change.run.ends_with and not change.run.undone:
        yield "It was created for a while only: its end deletes it with all changes, unless somebody keeps it."
    if ending := revert_failure_line(change):
        yield ending
    if progress is None or change.state is not State.APPLIED:
        return
    if lost := why_not_any_more(change):
        yield f"*The rest was not done:* {lost}."
    elif change.run.stopped_by:
        yield f"*Stopped* by <@{change.run.stopped_by}>."
    if progress.tally[Outcome.UNKNOWN]:
        yield "Gatehouse keeps checking what is not confirmed yet, and updates this card."


def explain_place(message: Message, channel: str, *, shared: bool) -> Message:
    """Return *message* for the requester alone, since *channel* can't be written to or is *shared* with another company."""
    why = f"Gatehouse can’t post in <#{channel}>. Add it there with `/invite @Gatehouse`."
    if shared:
        why = f"<#{channel}> is shared with another company now."
    note = messages.context(f"You get this here because {why}")
    # One block fewer, as the note must not exceed Slack's limit.
    return replace(message, blocks=(*message.blocks[: messages.MAX_BLOCKS - 1], note))


def decision_blocks(change: Change, groups: Groups | None) -> list[Block]:
    """Return the two buttons of a card that decide, below the notes on groups: for a full view whose reader can decide."""
    return [*group_notes(change, groups), *messages.actions(decision_buttons(change)[1:3])]
