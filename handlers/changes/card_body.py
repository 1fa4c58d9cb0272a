"""The body of a card: what a change deletes, creates or edits, or the progress of each of its items."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Final

from bot.changes.model.change import Change
from bot.changes.model.documents import canonical_form
from bot.changes.model.edits import Kind
from bot.changes.model.items import DONE
from bot.changes.model.states import State
from bot.members.model import Member
from bot.rules.edit import MAX_PAIRS
from bot.rules.model import Groups, Pair, Rule, RuleDraft, why_group_is_off
from handlers.blocks import messages
from handlers.blocks.messages import Block, and_more, esc
from handlers.changes import items_view
from handlers.changes.diff import FIRST_PAIRS, Line, differences, field_changes, render
from handlers.changes.items_view import Progress, counts_text, progress_text
from handlers.changes.subject import ACCESS, new_status
from handlers.members.views import segments_line
from handlers.rules.pairs_view import filters_words, pair_line
from handlers.rules.reasons import off_words, type_word

NOTHING_HAPPENED: Final = frozenset({State.CANCELLED, State.DENIED, State.EXPIRED})
"""States of a request that ended without an approval."""
WARNED: Final = frozenset(
    {State.PROPOSED, State.PLANNED, State.APPROVED, State.APPLYING, State.APPLIED, State.UNKNOWN, State.UNSETTLED}
)
"""States in which the warnings about a change may come true."""
MAX_SHORT_PAIRS: Final = 3
"""Pairs that are shown of a rule that is only switched."""
GROUP_SWITCHED: Final[Mapping[str | None, str]] = {
    "off": "All rules in this group stop working.",
    "on": "Rules in this group that are on work again.",
}


def body(change: Change, groups: Groups | None, progress: Progress | None) -> list[Block]:
    """Return the deleted, created or edited content; of many items, the progress of each. Empty where nothing happened."""
    if change.state in NOTHING_HAPPENED:
        return []
    if progress is not None:
        return _item_blocks(change, progress)
    return [*_one_thing(change, groups), *group_notes(change, groups)]


def _one_thing(change: Change, groups: Groups | None) -> list[Block]:
    """Return the effect of a change of one thing, planned or done; for a stale one, what was found instead."""
    if change.state is State.STALE:
        return _stale_blocks(change)
    if change.state is State.APPLIED and (other := _difference_as_stored(change)):
        return [messages.section(f"*Requested → stored*\n{other}")]
    if change.edit.kind.destroys:
        gone = [messages.context("Before:")] if change.state is State.APPLIED and not change.run.undone else []
        return [*gone, *_whole_thing(change, change.edit.before, groups), *_not_restored(change)]
    if change.edit.kind.creates:
        return [*_whole_thing(change, change.edit.after, groups), *_not_restored(change)]
    return _changed_fields(change, groups)


def _stale_blocks(change: Change) -> list[Block]:
    """Return how the target changed since the request, and what was requested."""
    edit, found = change.edit, change.run.result
    if found is None or edit.kind is Kind.RULE_CREATE:
        return []
    # The title says all of a request that creates, deletes or only switches something.
    is_told = not edit.before or not edit.after or new_status(edit)
    wanted = [] if is_told else differences(edit.before, edit.after)
    shown = {"Then → now": differences(edit.before, found), "Requested": wanted}
    return [messages.section(f"*{head}*\n{render(lines)}") for head, lines in shown.items() if lines]


def _difference_as_stored(change: Change) -> str:
    """Return where what was read back differs from what was requested; empty where it doesn't.

    Fields that the service added don't count.
    """
    if change.edit.after is None or change.run.result is None:
        return ""
    asked = canonical_form(change.edit.after) or {}
    found = canonical_form(change.run.result) or {}
    lines = differences(asked, {name: found.get(name) for name in asked})
    return render([line for line in lines if not _is_added_in_pair(line)])


def is_stored_otherwise(change: Change) -> bool:
    """Whether *change* is applied and not undone, but stored differently from what was requested."""
    return change.state is State.APPLIED and not change.run.undone and bool(_difference_as_stored(change))


def _is_added_in_pair(line: Line) -> bool:
    """Whether the service added the field to a pair, such as an id; an added header or script is what was asked for."""
    return line.pair > 0 and line.before is None and not line.field.rpartition(".")[2].isdigit()


def _changed_fields(change: Change, groups: Groups | None) -> list[Block]:
    """Return what an edit changes, without what its title says; for a rule that is only switched, what the rule does."""
    edit, lines, status = change.edit, field_changes(change.edit), new_status(change.edit)
    if edit.kind is Kind.RULE_UPDATE and status is not None:
        return pair_lines(RuleDraft.model_validate(edit.after or {}), MAX_SHORT_PAIRS)
    is_in_title = status is not None or (edit.kind in ACCESS and len(lines) == 1)
    shown = [] if is_in_title or not lines else [messages.section(render(_with_group_names(change, lines, groups)))]
    if edit.kind is not Kind.RULE_UPDATE or change.state is not State.PROPOSED:
        return shown
    return [*shown, *_unchanged_parts(RuleDraft.model_validate(edit.after or {}))]


def _unchanged_parts(rule: RuleDraft) -> list[Block]:
    """Return the other conditions of an edited rule, for approvers: its filters, and how many pairs `excerpt` left empty."""
    pairs = rule.pairs or ()
    filters = dict.fromkeys(filter(None, map(filters_words, pairs)))
    left = sum(pair == Pair() for pair in pairs) if len(pairs) > MAX_PAIRS else 0
    more = [messages.context(f"…and {messages.plural(left, 'unchanged pair')}")] if left else []
    return [*([messages.context(*filters)] if filters else []), *more]


def _with_group_names(change: Change, lines: Iterable[Line], groups: Groups | None) -> list[Line]:
    """Return *lines* with the names of groups in place of their ids; with both where somebody has to decide."""
    names = {} if groups is None else dict(groups.names)
    if change.state is State.PROPOSED:
        names = {group: f"{name} ({group})" for group, name in names.items()}
    return [
        replace(line, before=names.get(line.before, line.before), after=names.get(line.after, line.after))
        if line.field == "groupId"
        else line
        for line in lines
    ]


def _whole_thing(change: Change, document: Mapping[str, Any] | None, groups: Groups | None) -> list[Block]:
    """Return all that a card shows of a member or a rule that is created or deleted."""
    if document is None:
        return []
    if change.edit.target.service == "members":
        member = Member.model_validate(document)
        return [messages.section(f"*Segments*  {segments_line(member.segments)}")]
    # A rule that is yet to be created has no id, which the model requires.
    rule = Rule.model_validate({"id": change.edit.target.key or "new"} | dict(document))
    held = why_group_is_off(rule, groups)
    status = ("On" if rule.active else "Off") + (f", {off_words([held])}" if held else "")
    description = f"Description: “{esc(rule.description, 400)}”" if rule.description else ""
    about = [description, f"{esc(status, 200)} · {esc(type_word(rule.rule_type), 40)}"]
    is_wide = len(rule.pairs or ()) > MAX_PAIRS  # `excerpt` left some out
    warned_of = [messages.context(f"Warnings are about the first {MAX_PAIRS:,} pairs only")] if is_wide else []
    return [messages.section("\n".join(filter(None, about))), *pair_lines(rule, FIRST_PAIRS), *warned_of]


def pair_lines(rule: RuleDraft, limit: int) -> list[Block]:
    """Return what the pairs of a rule do, with their filters; at most *limit* of them, and how many more there are."""
    pairs = rule.pairs or ()
    lines = [
        (f"{number}. " if len(pairs) > 1 else "") + pair_line(rule.rule_type, pair)
        for number, pair in enumerate(pairs[:limit], 1)
    ]
    lines += filter(None, [and_more(len(pairs) - limit, "pair")])
    return [messages.section(text) for text in messages.pack_lines(lines)]


def _not_restored(change: Change) -> list[Block]:
    """Return the note on what the undo of a deletion can't restore."""
    is_back = bool(change.run.undone if change.edit.kind.destroys else change.request.undoes)
    if not is_back or change.state is not State.APPLIED:
        return []
    if change.edit.target.service == "members":
        return [messages.context("Name and segments are restored; the join date is not.")]
    return [messages.context("It has a new id and creation date. Commands still find it by its old id.")]


def group_notes(change: Change, groups: Groups | None) -> list[Block]:
    """Return notes on which rules are active after an edit of a rule or a group, where its status alone doesn't tell."""
    if change.edit.after is None or change.state not in {State.PROPOSED, State.APPLIED} or change.run.undone:
        return []
    if change.edit.kind is Kind.GROUP_UPDATE:
        rules = GROUP_SWITCHED.get(new_status(change.edit))
        return [messages.context(rules)] if rules is not None else []
    kept = ("status", "groupId") if change.edit.kind is Kind.RULE_UPDATE else ()
    rule = RuleDraft.model_validate({name: change.edit.after.get(name) for name in kept})
    held = why_group_is_off(rule, groups) if rule.active else None
    return [messages.context(f"On, but not active: {esc(off_words([held]), 200)}.")] if held else []


def _item_blocks(change: Change, progress: Progress) -> list[Block]:
    """Return the items; once the change has begun, below a progress bar, and at its end below counts where not all is done."""
    tally, has_begun = progress.tally, change.state not in {State.PROPOSED, State.PLANNED}
    how_far = ""
    if change.state in {State.APPROVED, State.APPLYING}:
        how_far = progress_text(tally)
    elif has_begun and (tally.of(DONE) < tally.total() or change.run.undone):
        how_far = counts_text(tally)
    items = items_view.lines(progress, has_begun=has_begun) if progress.first else []
    return [*([messages.section(how_far)] if how_far else []), *items]
