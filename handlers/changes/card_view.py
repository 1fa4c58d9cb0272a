"""The card of a change of one item or many, edited through its life: title, body, buttons, and what it does not show."""

from __future__ import annotations

import html
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from bot.changes.execute import LOST_RIGHT
from bot.changes.model.change import Change
from bot.changes.model.documents import canonical_form
from bot.changes.model.edits import Kind
from bot.changes.model.items import DONE, NOT_DONE, Item, Outcome, Tally
from bot.changes.model.parts import CauseKind, Guard, Held, RevertFailure
from bot.changes.model.states import State
from bot.members.model import Member
from bot.policy.freezes import Freeze
from bot.rules.edit import MAX_PAIRS
from bot.rules.model import Groups, Pair, Rule, RuleDraft, why_group_is_off
from bot.text.emails import masked
from handlers.blocks import messages
from handlers.blocks.messages import Block, Message, and_more, code, esc, listed
from handlers.changes import items_view
from handlers.changes.diff import FIRST_PAIRS, Line, differences, field_changes, render
from handlers.changes.freeze_view import freeze_line
from handlers.changes.full_view import change_warnings, hides, is_masked
from handlers.changes.items_view import Progress, counts_text, pair_words, progress_text
from handlers.changes.people import review_line, why_not_any_more
from handlers.changes.sentences import deleted_line, is_off_instead, revert_failure_line, sentence
from handlers.changes.subject import ACCESS, THINGS, VERBS, is_offboarding, is_switched, takes_away
from handlers.changes.times import extension
from handlers.changes.titles import (
    STATES,
    deleted_title,
    is_partly_done,
    is_reverted,
    mark_of,
    plain_title,
    request_title,
    title_of,
)
from handlers.gatehouse.commands import GatehouseInspect
from handlers.members.views import segments_line
from handlers.rules.commands import RulesOff
from handlers.rules.pairs_view import filters_words
from handlers.rules.reasons import off_words, type_word

FULL: Final = "full"
"""What the button that opens everything is numbered with, where the card leaves something out."""
MAX_SHORT_PAIRS: Final = 3
"""Of a rule that is only switched."""

NOTHING_HAPPENED: Final = frozenset({State.CANCELLED, State.DENIED, State.EXPIRED})


def body(change: Change, groups: Groups | None, progress: Progress | None) -> list[Block]:
    """What goes, what came, or what differs; of many items, how far each is. Nothing where nothing happened."""
    if change.state in NOTHING_HAPPENED:
        return []
    if progress is not None:
        return _items(change, progress)
    return [*_one(change, groups), *_group_notes(change, groups)]


def _one(change: Change, groups: Groups | None) -> list[Block]:
    if change.state is State.STALE:
        return _stale(change)
    if change.state is State.APPLIED and (other := _stored_otherwise(change)):
        return [messages.section(f"*Requested → stored*\n{other}")]
    if change.edit.kind.destroys:
        gone = [messages.context("Before:")] if change.state is State.APPLIED and not change.run.undone_by else []
        return [*gone, *_whole(change, change.edit.before, groups), *_not_restored(change)]
    if change.edit.kind.creates:
        return [*_whole(change, change.edit.after, groups), *_not_restored(change)]
    return _differing(change, groups)


def _with_group_names(change: Change, lines: Iterable[Line], groups: Groups | None) -> list[Line]:
    """The *lines*, with what people call a group for its id; beside that where somebody has to decide about all of it."""
    names = {} if groups is None else dict(groups.names)
    if change.state is State.PROPOSED:
        names = {group: f"{name} ({group})" for group, name in names.items()}
    return [
        replace(line, before=names.get(line.before, line.before), after=names.get(line.after, line.after))
        if line.field == "groupId"
        else line
        for line in lines
    ]


def _differing(change: Change, groups: Groups | None) -> list[Block]:
    """What an edit changes, and while somebody has to decide, what else a rule depends on; less what its title says."""
    lines = field_changes(change.edit)
    is_in_title = is_switched(change.edit) or (change.edit.kind in ACCESS and len(lines) == 1)
    lines = _with_group_names(change, lines, groups)
    shown = [] if is_in_title else [messages.section(render(lines))] if lines else []
    if change.edit.kind is not Kind.RULE_UPDATE or not (is_switched(change.edit) or change.state is State.PROPOSED):
        return shown
    rule = RuleDraft.model_validate(change.edit.after or {})
    if is_switched(change.edit):
        return pair_lines(rule, MAX_SHORT_PAIRS)
    filters = dict.fromkeys(filter(None, (filters_words(pair) for pair in rule.pairs or ())))
    left = sum(pair == Pair() for pair in rule.pairs or ()) if len(rule.pairs or ()) > MAX_PAIRS else 0
    more = [messages.context(f"…and {messages.plural(left, 'unchanged pair')}")] if left else []
    return [*shown, *([messages.context(*filters)] if filters else []), *more]


def _stored_otherwise(change: Change) -> str:
    """Where what was read back differs from what was asked for; fields that the service added do not count."""
    if change.edit.after is None or change.run.result is None:
        return ""
    asked = canonical_form(change.edit.after) or {}
    found = canonical_form(change.run.result) or {}
    lines = differences(asked, {name: found.get(name) for name in asked})
    return render([line for line in lines if not _added_in_pair(line)])


def _is_otherwise(change: Change) -> bool:
    """Whether what was made of *change* is not what was asked for, and still there."""
    return change.state is State.APPLIED and not change.run.undone_by and bool(_stored_otherwise(change))


def _added_in_pair(line: Line) -> bool:
    """A field that the service added to a pair, such as an id; an added header or script is not."""
    return line.field.startswith("pair") and line.before is None and not line.field.rpartition(".")[2].isdigit()


def _stale(change: Change) -> list[Block]:
    if change.run.result is None or is_off_instead(change):
        return []
    then_now = differences(change.edit.before, change.run.result)
    shown = [messages.section(f"*Then → now*\n{render(then_now)}")] if then_now else []
    wanted = differences(change.edit.before, change.edit.after) if change.edit.before and change.edit.after else []
    return (
        [*shown, messages.section(f"*Requested*\n{render(wanted)}")]
        if wanted and not is_switched(change.edit)
        else shown
    )


def _not_restored(change: Change) -> list[Block]:
    """What the undo of a delete cannot bring back, said plainly."""
    is_back = bool(change.run.undone_by if change.edit.kind.destroys else change.request.undoes)
    if not is_back or change.state is not State.APPLIED:
        return []
    if change.edit.target.service == "members":
        return [messages.context("Name and segments are restored; the join date is not.")]
    return [messages.context("It has a new id and creation date. Commands still find it by its old id.")]


def _whole(change: Change, document: Mapping[str, Any] | None, groups: Groups | None) -> list[Block]:
    if document is None:
        return []
    if change.edit.target.service == "members":
        member = Member.model_validate(document)
        return [messages.section(f"*Segments*  {segments_line(member.segments)}")]
    rule = Rule.model_validate({"id": change.edit.target.key or "new"} | dict(document))
    held = why_group_is_off(rule, groups)
    status = ("On" if rule.active else "Off") + (f", {off_words([held])}" if held else "")
    description = f"Description: “{esc(rule.description, 400)}”" if rule.description else ""
    about = [description, f"{esc(status, 200)} · {esc(type_word(rule.rule_type), 40)}"]
    is_wide = len(rule.pairs or ()) > MAX_PAIRS  # `excerpt` left some out
    warned_of = [messages.context(f"Warnings are about the first {MAX_PAIRS:,} pairs only")] if is_wide else []
    return [messages.section("\n".join(filter(None, about))), *pair_lines(rule, FIRST_PAIRS), *warned_of]


def pair_lines(rule: RuleDraft, limit: int) -> list[Block]:
    """What the pairs of a rule do, with what limits them; of more than *limit* the first, and how many more."""
    pairs = rule.pairs or ()
    lines = [
        (f"{number}. " if len(pairs) > 1 else "") + pair_words(rule.rule_type, pair)
        for number, pair in enumerate(pairs[:limit], 1)
    ]
    lines += filter(None, [and_more(len(pairs) - limit, "pair")])
    return [messages.section(text) for text in messages.packed(lines)]


def _group_notes(change: Change, groups: Groups | None) -> list[Block]:
    """What an edit of a rule or a group means for what is active, where its status alone does not tell."""
    if change.edit.after is None or change.state not in {State.PROPOSED, State.APPLIED} or change.run.undone_by:
        return []
    if change.edit.kind is Kind.GROUP_UPDATE:
        rules = GROUP_SWITCHED.get(is_switched(change.edit))
        return [messages.context(rules)] if rules is not None else []
    kept = ("status", "groupId") if change.edit.kind is Kind.RULE_UPDATE else ()
    rule = RuleDraft.model_validate({name: change.edit.after.get(name) for name in kept})
    held = why_group_is_off(rule, groups) if rule.active else None
    return [messages.context(f"On, but not active: {esc(off_words([held]), 200)}.")] if held else []


GROUP_SWITCHED: Final[Mapping[str | None, str]] = {
    "off": "All rules in this group stop working.",
    "on": "Rules in this group that are on work again.",
}
FIRST_ROW: Final = 3
"""Buttons in the first row of two."""
ONE_ROW: Final = 4
"""Buttons that have room in one row."""


def _proposed(change: Change) -> list[Block | None]:
    """The clicks that are open; who may make them is looked at when they are made."""
    style = "danger" if takes_away(change) else "primary"
    if change.decision.guard is Guard.CONFIRM:
        yes = _verb(change)
        no = f"Keep {_thing(change)}" if takes_away(change) and not change.is_bulk else "Withdraw"
        return [
            _decide(change, yes, "confirm", style=style, confirm=_question(change, yes)),
            _decide(change, no, "keep"),
            _override(change) if change.request.frozen_until is not None else None,
        ]
    yes = APPROVE.get(change.edit.kind, "Approve") if takes_away(change) else "Approve"
    asked = _question(change, yes) if change.is_bulk or change.edit.kind.destroys else None
    return [
        _decide(change, yes, "approve", style=style, confirm=asked),
        _decide(change, "Deny…", "deny"),
        _decide(change, "Approve for later", "later") if change.request.starts_at is None else None,
        _decide(change, "Withdraw", "keep"),
        _decide(change, "Ask…", "ask"),
        _switch_off(change),
        _override(change),
    ]


def _override(change: Change) -> Block | None:
    return _decide(change, "Emergency override…", "break_glass") if change.decision.break_glass else None


def decision_blocks(change: Change, groups: Groups | None) -> list[Block]:
    """The card's yes and no, below what it says of groups: for the full view, where its reader can decide."""
    return [*_group_notes(change, groups), *messages.actions(_proposed(change)[:2])]


APPROVE: Final = {Kind.RULE_DELETE: "Approve deletion", Kind.MEMBER_REMOVE: "Approve removal"}


def _decide(change: Change, label: str, decision: str, **more: Any) -> Block | None:
    return messages.decide_button(label, decision, change.id, **more)


def _thing(change: Change) -> str:
    return THINGS[change.edit.target.service]


def _shown_title(change: Change) -> str:
    """The title where Slack shows text as it is."""
    return html.unescape(plain_title(change)).replace(messages.WORD_JOINER, "")


def _verb(change: Change) -> str:
    """The verb and the object of the button that confirms *change*."""
    if change.bulk.in_steps:
        return "Change email"
    if change.is_bulk:
        title = _shown_title(change)
        if len(title) <= MAX_CONFIRM and "@" not in title:
            return title
        if is_offboarding(change):
            return "Remove from every site" if change.edit.kind.destroys else "Put back on all sites"
        verb = VERBS[change.edit.kind][0].capitalize() if len(change.bulk.kinds) == 1 else "Change"
        return f"{verb} all {change.bulk.size:,}"
    if (switched := is_switched(change.edit)) is not None:
        return f"Switch {switched}"
    if change.edit.kind in ACCESS:
        return "Grant access" if change.edit.kind is Kind.MEMBER_GRANT else "Revoke access"
    return f"{VERBS[change.edit.kind][0].capitalize()} {_thing(change)}"


MAX_CONFIRM: Final = 30
"""Characters of the buttons in Slack's own question."""


def _question(change: Change, yes: str) -> Block:
    follows, starts = _consequence(change), change.request.starts_at
    if change.state is State.PROPOSED and starts is not None:  # no time follows the zone of the reader there
        follows = follows.replace(" at once", f" on {messages.plain_moment(int(starts.timestamp()) * 1000)} UTC")
    return messages.confirm(
        f"{messages.clip(_shown_title(change), 90)}?", follows, yes, "Cancel", danger=takes_away(change)
    )


def _consequence(change: Change) -> str:
    """What happens after a click, for Slack's own question."""
    before = change.edit.before or {}
    pairs, is_on = len(before.get("pairs") or ()), before.get("status") == "Active"
    if change.bulk.in_steps:
        return "The new email has access before the old one is removed. Undo turns that round."
    if change.edit.kind is Kind.RULE_DELETE and change.is_bulk:
        rules = messages.plural(change.bulk.size, "rule")
        return f"{rules} stop working at once. Undo creates them again, under new ids."
    if change.edit.kind is Kind.RULE_DELETE:
        goes = f"All {pairs:,} pairs are deleted. " if pairs > 1 else ""
        return f"{goes}{'It stops working at once. ' if is_on else ''}Undo creates it again, under a new id."
    if change.edit.kind is Kind.MEMBER_REMOVE and change.is_bulk:
        restored = "name and segments on each site" if is_offboarding(change) else "names and segments"
        return f"Access ends at once. Undo restores {restored}."
    if change.edit.kind is Kind.MEMBER_REMOVE:
        site = f" to {change.edit.target.site}" if change.edit.target.site else ""
        return f"{masked(change.edit.target.key or '')} loses all access{site}. Undo restores name and segments."
    if change.edit.kind is Kind.MEMBER_ADD and change.request.undoes:
        return "Restores name and segments at once. You can undo it."
    return "It takes effect at once. You can undo it."


def _applied(change: Change, progress: Progress | None) -> list[Block | None]:
    """How a change that was applied can be undone, or kept; where it came to its end, made once more for some time.

    Of many items, those that were not done can be tried again, and one can be undone alone.
    """
    if change.run.undone_by:
        return [_switch_off_again(change), _redo(change)]
    if change.is_temporary:
        buttons = {"end": "Revert now", "extend": extension(change)[1], "stay": "Keep"}
        if (switched := is_switched(change.edit)) is not None:
            other = "on" if switched == "off" else "off"
            buttons = {"end": f"Switch {other} now", "extend": extension(change)[1], "stay": f"Keep {switched}"}
        buttons |= {"until": "Other time…"}
    elif change.run.revert_failure is RevertFailure.CHANGED and not change.is_bulk:
        buttons = {"putback": "Revert anyway", "stay": "Keep"}
    else:
        buttons = {"undo": "Undo"}
    deletes = _deletes_again(change, "Undo") if change.edit.kind.creates else None
    back = [
        _decide(change, label, decision, confirm=deletes if decision == "undo" else None)
        for decision, label in buttons.items()
    ]
    if progress is None or change.is_temporary:
        return back
    is_done = progress.tally[Outcome.APPLIED] > 0
    return [_try_again(change, progress), *(back if is_done else []), *_single_undos(progress.first)]


def _redo(change: Change) -> Block | None:
    """A click that undoes the undo; what is temporary has its buttons for that."""
    undone = change.run.undone
    if undone is None or undone.cause.kind is not CauseKind.UNDO or change.request.reverts_at is not None:
        return None
    deletes = _deletes_again(change, "Redo") if takes_away(change) else None
    return messages.decide_button("Redo", "undo", change.run.undone_by or "", confirm=deletes)


def _deletes_again(change: Change, verb: str) -> Block:
    """Slack's own question before the undo, or redo, that deletes; whose approval it takes is the policy's."""
    title = messages.in_quotes(_shown_title(change), 80)
    gone = "removed" if change.edit.target.service == "members" else "deleted"
    goes = "All of it is" if change.is_bulk else f"The {_thing(change)} is"
    return messages.confirm(f"{verb} {title}?", f"{goes} {gone} again.", verb, "Cancel")


def _try_again(change: Change, progress: Progress) -> Block | None:
    rest, done = progress.tally.of(NOT_DONE), progress.tally.of(DONE)
    others = "one" if rest == 1 else f"{rest:,}"
    which = f"the {others} that failed" if progress.tally[Outcome.FAILED] == rest else f"the other {others}"
    return _decide(change, f"Retry {which}" if done else "Try again", "again") if rest else None


def _buttons(change: Change, progress: Progress | None) -> list[Block | None]:
    sign = _decide(change, "Mark as reviewed", "sign", style="primary") if change.review_due else None
    match change.state:
        case State.PROPOSED:
            return _proposed(change)
        case State.PLANNED:
            return _planned(change)
        case State.APPLIED:
            return [sign, *_applied(change, progress)]
        case State.APPROVED | State.APPLYING if progress is not None:
            return [] if change.run.stopped_by else [_decide(change, "Stop", "stop")]
        case State.FAILED if progress is not None:
            return [_try_again(change, progress)]
        case State.APPROVED if change.run.waits:
            return [_decide(change, "Withdraw", "keep")]
        case State.STALE if progress is None and change.run.result is not None and not change.edit.kind.creates:
            return [_decide(change, "Request again", "again")]
    return []


def _planned(change: Change) -> list[Block | None]:
    """The clicks of what waits for its time, or was not begun at it."""
    withdraw = _decide(change, "Withdraw", "keep")
    if change.run.held in {Held.RIGHT, Held.POLICY}:
        return [_decide(change, "Request again", "again"), withdraw]
    yes = _verb(change)
    is_for_a_time = change.decision.guard is Guard.APPROVE and change.run.held is not Held.WORD
    again = is_for_a_time and not change.decision.glass_broken
    asked = _question(change, yes) if not again and (change.is_bulk or change.edit.kind.destroys) else None
    return [
        _decide(change, "Ask to do it now" if again else "Do it now", "now", confirm=asked),
        _decide(change, "Other time…", "replan"),
        withdraw,
    ]


def _switch_off_again(change: Change) -> Block | None:
    """Asks how long, since what is over was temporary."""
    if not is_reverted(change) or is_switched(change.edit) != "off" or change.edit.target.service != "rules":
        return None
    return messages.temporary_button("Switch off again…", RulesOff(refs=(change.edit.target.key or "",)), "again")


def _switch_off(change: Change) -> Block | None:
    """Stop a rule at once that somebody else has yet to agree to delete, such as one that was made by mistake."""
    is_on = (change.edit.before or {}).get("status") == "Active"
    if change.edit.kind is not Kind.RULE_DELETE or not is_on:
        return None
    return messages.run_button("Switch off instead", RulesOff(refs=(change.edit.target.key or "",)), "off")


MOST_SINGLE: Final = 6


def _single_undos(shown: Sequence[Item]) -> list[Block | None]:
    """Where one person was changed on several sites: a way back for each site alone."""
    done = [item for item in shown if item.outcome is Outcome.APPLIED and item.change_id and item.target.site]
    if len({item.target.key for item in shown}) != 1 or not 1 < len(shown) <= MOST_SINGLE:
        return []
    return [
        messages.decide_button(f"Undo on {item.target.site}", f"undo.{item.number}", item.change_id or "")
        for item in done
    ]


def label(change: Change) -> str:
    """What the button that shows everything is called."""
    if change.state is not State.PROPOSED and not change.review_due:
        return "Show to me"
    if not change.is_bulk or change.bulk.in_steps or is_offboarding(change):
        return "Show full change"
    thing = _thing(change)
    return f"Show all {change.bulk.size:,} {thing}s" if change.bulk.size > 1 else f"Show the {thing}"


def actions(change: Change, blocks: Iterable[Block], buttons: Sequence[Block | None]) -> list[Block]:
    """The buttons below *blocks*, and the one that opens everything, with the ids and the host that no card has.

    While somebody has to decide and the card leaves something out, that one comes first, below a line that says so.
    """
    drawn = list(blocks)
    full = messages.run_button(label(change), GatehouseInspect(change.id), FULL)
    if change.state is State.PROPOSED and hides(change, drawn):
        why = "Some values are hidden in channels" if is_masked(drawn) else "This card doesn’t show everything"
        why = "Emails are masked in channels" if change.edit.target.service == "members" else why
        words = f"{why}. Press *{label(change)}* before you decide."
        return [messages.context(words), *_rows([full, *buttons])]
    if change.review_due or (change.edit.target.service == "rules" and is_masked(drawn)):
        return _rows([*buttons, full])
    return _rows([*buttons, messages.run_button("Details", GatehouseInspect(change.id), "details")])


def shows_all(message: Message) -> bool:
    """Whether a card that waits for a decision shows all of its change; else it has the button that does."""
    elements = (element for block in message.blocks for element in block.get("elements", ()))
    return all(element.get("action_id") != f"v1.run.{FULL}" for element in elements)


def _rows(buttons: Sequence[Block | None]) -> list[Block]:
    drawn = [one for one in buttons if one is not None]
    first = ONE_ROW if len(drawn) <= ONE_ROW else FIRST_ROW
    return [*messages.actions(drawn[:first]), *messages.actions(drawn[first:])]


MAX_WARNINGS: Final = 8

WARNED: Final = frozenset(
    {State.PROPOSED, State.PLANNED, State.APPROVED, State.APPLYING, State.APPLIED, State.UNKNOWN, State.UNSETTLED}
)
"""States in which what a change was warned of may come true."""


def card(
    change: Change,
    *,
    progress: Progress | None = None,
    groups: Groups | None = None,
    deleted: Change | None = None,
    freeze: Freeze | None = None,
) -> Message:
    """*change* as it stands now: of one item, with what the *groups* make of it; of many, with their *progress*.

    *deleted*: what deleted the thing that a temporary change is about. *freeze*: what will keep it from beginning. Addresses
    are masked: the card is for the channel.
    """
    tally = progress.tally if progress is not None else None
    if deleted is not None:
        title, said, blocks = deleted_title(change), deleted_line(change, deleted), list[Block]()
    else:
        title = title_of(change, tally)
        title = f"{request_title(change)}: not stored as requested" if _is_otherwise(change) else title
        said, blocks = sentence(change), body(change, groups, progress)
    mark = ":wastebasket:" if deleted is not None else _mark(change, tally)
    blocks = [
        messages.section(f"{mark} *{title}*\n{said}"),
        *([messages.section(freeze_line(freeze))] if freeze is not None else []),
        *_warnings(change, progress),
        *(messages.section(line) for line in _remarks(change, progress)),
        *blocks,
    ]
    if change.request.preview and change.state in WARNED:
        head, *others = (esc(line, 600) for line in change.request.preview)
        blocks.append(messages.section("\n".join([f"*{head}*", *(f"• {line}" for line in others)])))
    buttons = [] if deleted is not None else _buttons(change, progress)
    blocks += [*actions(change, blocks, buttons)]
    return messages.message(title.replace("`", ""), blocks)


def plain_card(change: Change) -> Message:
    """The card of a change that can't be drawn: what it is and how it stands, and nothing of what it is about."""
    key = change.edit.target.key or ""
    name = masked(key) if change.edit.target.service == "members" else key
    title = f"{_verb(change)} {code(name, 100) if name and not change.is_bulk else ''}".strip()
    words = f"Requested by <@{change.request.requester}> · {STATES[change.state].word}"
    about, buttons = "Gatehouse can’t show what this changes", list[Block | None]()
    if change.state is State.PROPOSED:
        about += ", so nobody can decide about it. Withdraw it, and request it in smaller parts"
        buttons = [_decide(change, "Withdraw", "keep")]
    blocks = [messages.section(f"{mark_of(change)} *{title}*\n{words}"), messages.section(f"{about}.")]
    return messages.message(
        title.replace("`", ""), [*blocks, *_rows(buttons), messages.context(f"change {code(change.id[:8])}")]
    )


def _remarks(change: Change, progress: Progress | None) -> Iterator[str]:
    """What else there is to know before a click."""
    if change.review_due:
        yield review_line(change)
    if ending := revert_failure_line(change):
        yield ending
    if progress is None or change.state is not State.APPLIED:
        return
    if change.run.refusal == LOST_RIGHT:
        yield f"*The rest was not done:* {why_not_any_more(change)}."
    elif change.run.stopped_by:
        yield f"*Stopped* by <@{change.run.stopped_by}>."
    if progress.tally[Outcome.UNKNOWN]:
        yield "Gatehouse keeps checking what is not confirmed yet, and updates this card."


def _mark(change: Change, tally: Tally | None) -> str:
    return ":warning:" if is_partly_done(change, tally) or _is_otherwise(change) else mark_of(change)


def _items(change: Change, progress: Progress) -> list[Block]:
    """The items; once they were begun, how far that is: a bar while it goes on, then the counts where not all is done."""
    tally, has_begun = progress.tally, change.state not in {State.PROPOSED, State.PLANNED}
    how_far = ""
    if change.state in {State.APPROVED, State.APPLYING}:
        how_far = progress_text(tally)
    elif has_begun and (tally.of(DONE) < sum(tally.counts.values()) or change.run.undone_by):
        how_far = counts_text(tally)
    items = items_view.lines(progress, has_begun=has_begun) if progress.first else []
    return [*([messages.section(how_far)] if how_far else []), *items, *_not_moved(change, progress)]


MOVED: Final = frozenset({"name", "email", "allowedSegments"})
"""Fields of a member that somebody can be added with."""


def _not_moved(change: Change, progress: Progress) -> list[Block]:
    """Which fields of a member don't come along to another email, while that is to be decided, and once it is done."""
    removed = [item.before or {} for item in progress.first if item.kind is Kind.MEMBER_REMOVE]
    lost = [name for each in removed for name, value in each.items() if name not in MOVED and value not in EMPTY]
    if not change.bulk.in_steps or not lost or change.state not in WARNED or change.run.undone_by:
        return []
    names = [LOST.get(name) or code(name, 60) for name in lost]
    return [messages.context(f"Name and segments are carried over. Lost: {listed(names, most=MAX_LOST)}.")]


EMPTY: Final[tuple[Any, ...]] = (None, "", [], {})
LOST: Final = {"createdAt": "the join date"}
"""What people call it."""
MAX_LOST: Final = 6


def _warnings(change: Change, progress: Progress | None) -> list[Block]:
    """What is wrong with *change*, while it may come true; of many lines the first."""
    listed = progress.first[: items_view.SHOWN] if progress is not None else ()
    lines = (*change.request.warnings, *change_warnings(change, listed))
    if not lines or change.state not in WARNED:
        return []
    shown = [f"*Warning:* {esc(line, 500)}" for line in lines[:MAX_WARNINGS]]
    return [messages.section("\n".join(filter(None, [*shown, and_more(len(lines) - MAX_WARNINGS, "warning")])))]


def elsewhere(message: Message, channel: str, *, shared: bool) -> Message:
    """The card, for the requester alone, where the channel can't be written to or is *shared* with another company."""
    why = (
        f"<#{channel}> is shared with another company now."
        if shared
        else f"Gatehouse can’t post in <#{channel}>. Add it there with `/invite @Gatehouse`."
    )
    note = messages.context(f"You get this here because {why}")
    return replace(message, blocks=(*message.blocks[: messages.MOST_BLOCKS - 1], note))
