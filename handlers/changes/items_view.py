"""The items of a bulk change: a line for each, and how far it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from bot.changes.model.change import Change
from bot.changes.model.edits import Kind
from bot.changes.model.items import OPEN, Item, Outcome, Tally
from bot.rules.model import RuleDraft
from bot.text.emails import mask_email, mask_emails
from handlers.blocks import messages
from handlers.blocks.messages import Block, and_more, code, esc
from handlers.changes.diff import field_changes, render
from handlers.changes.people import author, public_text
from handlers.changes.subject import VERBS, new_status
from handlers.members.views import segments_line
from handlers.rules.pairs_view import first_pair_line
from handlers.rules.reasons import type_word

NAME: Final = 70
MAX_URL: Final = 100
MAX_FIELDS: Final = 2


class OutcomeWords(NamedTuple):
    """The words for an outcome: the *mark* that begins an item's line once the bulk change has begun, and the *word*."""

    mark: str
    word: str


OUTCOMES: Final[Mapping[Outcome, OutcomeWords]] = {
    Outcome.APPLIED: OutcomeWords("✓", "done"),
    Outcome.UNDONE: OutcomeWords("•", "undone"),
    Outcome.FAILED: OutcomeWords("✗", "failed"),
    Outcome.STALE: OutcomeWords("✗", "changed since the request, left alone"),
    Outcome.BUSY: OutcomeWords("✗", "left alone because another change is under way"),
    Outcome.UNKNOWN: OutcomeWords("?", "not confirmed yet"),
    Outcome.UNSETTLED: OutcomeWords("?", "not confirmed, check it yourself"),
    Outcome.STOPPED: OutcomeWords("✗", "not started"),
    Outcome.APPLYING: OutcomeWords("…", "under way"),
    Outcome.WAITING: OutcomeWords("◦", "to do"),
    Outcome.SKIPPED: OutcomeWords("•", "skipped"),
}
"""The words for each outcome, in the order in which they are counted."""
AS_PLANNED: Final = frozenset({Outcome.WAITING, Outcome.APPLIED})
"""Outcomes of items whose line only says what is done to them."""


def _verb(item: Item) -> str:
    """Return the verb for what is done to *item*, or was done."""
    return VERBS[item.kind][item.outcome is Outcome.APPLIED] if item.kind is not None else ""


def line_of(item: Item, *, has_begun: bool, since: Change | None = None) -> str:
    """Return the action for *item*, and its outcome once the change has started. *since*: what left nothing of it."""
    mark, word = OUTCOMES[item.outcome]
    if since is not None:
        how = "deleted" if since.edit.kind.destroys else "changed"
        return f"• {item_name(item)}: *{how} since* by {author(since)}"
    line = f"{mark if has_begun else '•'} {item_name(item)}"
    why = public_text(item.why, 160)
    if item.outcome is Outcome.SKIPPED:
        return f"{line}: " + (f"skipped ({why})" if why else "skipped")
    if has_begun and item.outcome is Outcome.WAITING:
        return f"{line}: waiting"
    if item.outcome not in AS_PLANNED:
        return f"{line}: *{word}*" + (f". {why}" if why else "")
    done = _item_text(item)
    return line + (f": {done}" if done else "") + (f". {why}" if why else "")


def item_name(item: Item) -> str:
    """Return the name of the target of *item*, as a channel may see it."""
    site = f" on {esc(item.target.site, 40)}" if item.target.site else ""
    if item.target.service == "members":
        # A name may be the email itself, which a channel must not see unmasked.
        named = f"*{esc(item.name, NAME)}* " if item.name and "@" not in item.name else ""
        email = code(mask_email(item.target.key)) if item.target.key else ""
        return f"{named}{email}{site}" if named or email else f"{esc(item.source or 'a member', 40)}{site}"
    return f"*{esc(item.name or 'a rule', NAME)}*"


def _item_text(item: Item) -> str:
    """Return what is done to *item*, in one line; a ``…`` replaces what has no room there."""
    if item.kind is None:
        return ""
    if item.target.service == "members":
        return _member_text(item)
    if item.kind.destroys or item.kind.creates:
        return _whole_rule(item)
    if switched := new_status(item.edit):
        return f"{switched} ({first_pair_line(RuleDraft.model_validate(item.after or {}), MAX_URL)})"
    return _differences_text(item)


def _member_text(item: Item) -> str:
    document = item.before if item.kind is Kind.MEMBER_REMOVE else item.after
    if item.kind in {Kind.MEMBER_REMOVE, Kind.MEMBER_ADD} and document is not None:
        segments = [mask_emails(str(one)) for one in document.get("allowedSegments") or ()]
        return f"{_verb(item)}, {f'segments {segments_line(segments)}' if segments else 'no segments'}"
    return _differences_text(item)


def _differences_text(item: Item) -> str:
    lines = field_changes(item.edit) if item.before and item.after else []
    if not lines:
        return _verb(item)
    shown = mask_emails if item.target.service == "members" else str
    fields = render(lines[:MAX_FIELDS], shown=shown).replace("\n", ", ")
    return ", ".join(filter(None, [fields, and_more(len(lines) - MAX_FIELDS, "field")]))


def _whole_rule(item: Item) -> str:
    """Return a line for a rule that is created or deleted: its first pair, and how many more it has."""
    rule = RuleDraft.model_validate((item.before if item.before is not None else item.after) or {})
    state = f", {'on' if rule.active else 'off'}, {esc(type_word(rule.rule_type), 40)}" if item.before is None else ""
    return ", ".join([f"{_verb(item)}{state}", first_pair_line(rule, MAX_URL)])


SHOWN: Final = 12
"""Items that a card has a line for."""


@dataclass(frozen=True, slots=True)
class Progress:
    """The items of a bulk change as its card shows them: the *tally* of their outcomes, and the *first* of those to show."""

    tally: Tally
    first: Sequence[Item]
    overtaking: Mapping[int, Change] = field(default_factory=dict)
    """What left nothing of items of a temporary change, by their numbers."""


def progress_text(tally: Tally) -> str:
    """Return the progress of a bulk change: how many of its items have ended, and how."""
    return f"{tally.meant - tally.left:,} of {tally.meant:,}\n{counts_text(tally)}".strip()


def counts_text(tally: Tally) -> str:
    """Return how many items have each final outcome."""
    return " · ".join(
        f"{tally[outcome]:,} {word}"
        for outcome, (_, word) in OUTCOMES.items()
        if tally[outcome] and outcome not in OPEN
    )


def lines(progress: Progress, *, has_begun: bool) -> list[Block]:
    """Return a line for each item that has room, and how many more there are."""
    shown = [
        line_of(item, has_begun=has_begun, since=progress.overtaking.get(item.number)).strip()
        for item in progress.first[:SHOWN]
    ]
    more = and_more(progress.tally.total() - len(shown))
    return [messages.section(text) for text in messages.pack_lines([*shown, *([f"{more}."] if more else [])])]
