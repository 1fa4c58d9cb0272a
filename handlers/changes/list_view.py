"""Lists of changes: pending, temporary, history, audit, Home. Each change has the same row in all of them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from bot.changes.model.change import Change
from bot.changes.model.edits import Kind
from bot.changes.model.items import DONE, Outcome, Tally
from bot.changes.model.parts import Guard
from bot.changes.model.states import State
from bot.rules.model import RuleDraft
from bot.text.emails import mask_emails
from handlers.blocks import messages
from handlers.blocks.buttons import decide_button, share_button, turn_button, turn_buttons
from handlers.blocks.messages import Block, ListPage, Message, and_more, first_few
from handlers.changes.diff import differences, values_of, without_secrets
from handlers.changes.people import approval_words, author, decision_reason, missing_approvals, reason_of
from handlers.changes.subject import EDITS, new_status, shown_email
from handlers.changes.times import when
from handlers.changes.titles import is_partly_done, mark_of, outcome_word, request_title, title_of
from handlers.grammar.command import Command
from handlers.rules.pairs_view import first_pair_line

MAX_LISTED: Final = 20
"""Rows of a page."""
MAX_COMING: Final = 5
"""Changes to come that are shown with their target."""
MAX_REASON: Final = 150


@dataclass(frozen=True, slots=True)
class RowFacts:
    """What rows say of changes that the changes don't have, by the ids of the changes."""

    links: Mapping[str, str] = field(default_factory=dict)
    """Links to their cards."""
    tallies: Mapping[str, Tally] = field(default_factory=dict)
    """The outcomes of the items of bulk changes."""
    overtaking: Mapping[str, Change] = field(default_factory=dict)
    """The later changes that left nothing of temporary ones."""


def rows(
    changes: Sequence[Change],
    facts: RowFacts,
    *,
    public: bool,
    decidable: Collection[str] = (),
) -> list[Block]:
    """Return a row for each of *changes*. *decidable*: ids of those that the reader can decide."""
    told = (row(each, facts, public=public, waits=each.id in decidable) for each in changes)
    return [messages.section(text) for text in told]


WHOLE_RULES: Final = frozenset({Kind.RULE_CREATE, Kind.RULE_DELETE})
"""Changes whose title has no more than the name of the rule."""


def row(change: Change, facts: RowFacts, *, public: bool, more: str = "", waits: bool = False) -> str:
    """Return the row of *change*: its title and state, and a line of facts below.

    These are: requester and reason, who approved it or has to, *more*, time, channel, and a link to its card. *waits*: for the
    reader, who is told what it is about instead of how it stands.
    """
    if public:
        change = without_secrets(change)
    link, tally, since = facts.links.get(change.id), facts.tallies.get(change.id), facts.overtaking.get(change.id)
    below = (
        _request_text(change, public=public),
        "" if waits else _decision_text(change, public=public),
        more,
        when(change.run.finished_at or change.decision.decided_at or change.created),
        "" if waits else f"<#{change.request.channel}>",
        f"<{link}|card>" if link else "",
    )
    is_so = change.is_temporary and not is_partly_done(change, tally)
    title = title_of(change) if is_so else request_title(change)  # what is so now, and until when
    is_whole = waits and change.edit.kind in WHOLE_RULES and not change.is_bulk
    rule = RuleDraft.model_validate(change.edit.after or change.edit.before or {}) if is_whole else None
    about = first_pair_line(rule, 60) if rule is not None else ""
    what = " ".join(filter(None, [f"*{title}*", shown_email(change, public=public), about]))
    if since is not None:
        standing = f" · {'deleted' if since.edit.kind.destroys else 'changed'} since by {author(since)}"
    else:
        standing = "" if is_so or waits else f" · {_state_text(change, tally)}"
    return f"{what}{_values(change, public=public)}{standing}\n{' · '.join(filter(None, below))}"


def _values(change: Change, *, public: bool) -> str:
    """Return the old value and the new one, where an edit changes one field; nothing where the title says so already."""
    edit = change.edit
    lines = differences(edit.before, edit.after) if edit.kind in EDITS and not new_status(edit) else []
    if len(lines) != 1 or lines[0].field == "allowedSegments":
        return ""
    return f": {values_of(lines[0], 60, shown=mask_emails if public else str)}"


def _state_text(change: Change, tally: Tally | None = None) -> str:
    """Return how far *change* is, and what happens next automatically."""
    word = outcome_word(change)
    if tally is not None and is_partly_done(change, tally) and not change.run.undone:
        done, undone, failed, unclear = tally.of(DONE), tally[Outcome.UNDONE], tally[Outcome.FAILED], tally.of(UNCLEAR)
        others = {"failed": failed, "not done": tally.meant - done - failed - unclear, "not confirmed": unclear}
        so_far = f"{undone or done:,} of {tally.meant:,} {'undone' if undone else 'done'}"
        word = ", ".join([so_far, *(f"{count:,} {what}" for what, count in others.items() if count)])
    if change.state is State.PROPOSED and change.decision.expires:
        return f"{word}, expires {when(change.decision.expires)}"
    if change.state is State.PLANNED:
        return f"{word}, not started" if change.run.held else f"{word}, starts {when(change.request.starts_at)}"
    if change.state in {State.DENIED, State.CANCELLED}:
        return f"{word} by <@{change.decision.decided_by}>"
    return f"{word}, reverts {when(change.request.reverts_at)}" if change.is_temporary else word


UNCLEAR: Final = (Outcome.UNKNOWN, Outcome.UNSETTLED)


def _request_text(change: Change, *, public: bool) -> str:
    because = reason_of(change, MAX_REASON, public=public)
    return f"{author(change)}{', ' if change.request.cause else ': ' if because else ''}{because}"


def _decision_text(change: Change, *, public: bool) -> str:
    """Return who approved *change*, or has to; for an emergency override, also why."""
    decision = change.decision
    if decision.glass_broken and (override := approval_words(change)):
        return f"{override}{decision_reason(change, MAX_REASON, public=public)}"
    if change.state is State.PROPOSED:
        if decision.guard is Guard.CONFIRM:
            return f"only <@{change.request.requester}> can confirm it"
        return ", ".join(filter(None, [f"needs {missing_approvals(change, 'its channel')}", approval_words(change)]))
    return approval_words(change)


def coming_blocks(changes: Sequence[Change], links: Mapping[str, str]) -> list[Block]:
    """Return the first of what *changes* will do automatically to a thing that is shown; nothing where there are none."""
    lines = [coming_line(each, links.get(each.id, "")) for each in changes]
    return [messages.context(*first_few(lines, MAX_COMING))] if lines else []


def coming_line(change: Change, link: str) -> str:
    """Return what *change* will do automatically and when, with the *link* to its card, if there is one."""
    card = f" · <{link}|card>" if link else ""
    return f"{mark_of(change)} {request_title(change)} · {_state_text(change)}{card}"


def open_button(count: int) -> Block | None:
    """Return the button that opens the form about all that the reader can decide, *count* of them on this page; None for none."""
    return decide_button("Decide…", "open", "all") if count else None


def empty_message(mark: str, head: str, more: str = "", command: Command | None = None) -> Message:
    """Return the message for a list with nothing in it; with a button that gives *command* again."""
    again = [turn_button("Refresh", command, 0)] if command is not None else []
    return messages.message(head, [messages.section(f"{mark} *{head}*\n{more}".strip()), *messages.actions(again)])


def unshown_line(unreadable: Collection[str]) -> str:
    """Return the line that says that not all may be shown, where there are services that the reader may not read."""
    return "\nChanges that your roles don’t let you read aren’t shown." if unreadable else ""


def nothing_text(unread: str) -> str:
    """Return the beginning of a sentence that says that there is nothing, or nothing of what the reader may read."""
    return "Nothing that you can read" if unread else "Nothing"


def list_message(
    title: str, blocks: Sequence[Block], page: ListPage[Any], command: Command, *, lead: str = ""
) -> Message:
    """Return one page of a list, with buttons that turn, refresh and share it. *lead*: the text right after its *title*."""
    buttons = (*turn_buttons(page, command), turn_button("Refresh", command, 0), share_button(command))
    return messages.message(
        title,
        [
            messages.section(f"*{title}*{lead}"),
            *blocks,
            *messages.actions(buttons),
        ],
    )


def more_line(count: int) -> list[Block]:
    """Return a line with how many entries there are besides those listed; nothing for none."""
    return [messages.context(and_more(count))] if count > 0 else []
