"""The card of a change of one item or many, edited through its life: title, body, buttons, and what it does not show."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from bot.changes.execute import LOST_RIGHT
from bot.changes.model import (
    DONE,
    NOT_DONE,
    Change,
    Guard,
    Kind,
    Outcome,
    Part,
    State,
    Tally,
    canonical_form,
)
from bot.members.model import Member
from bot.rules.model import Groups, Rule, RuleDraft, why_group_is_off
from bot.text.emails import masked
from handlers.blocks import messages
from handlers.blocks.messages import Block, Message, code, esc
from handlers.changes import items_view
from handlers.changes.diff import Line, differences, render
from handlers.changes.full_view import THINGS, change_warnings, hides, is_masked, part_warnings
from handlers.changes.items_view import Progress, progress_text
from handlers.changes.sentences import (
    VERBS,
    WORDS,
    ending_line,
    glass_line,
    mark_of,
    plain_title,
    sentence,
    title_of,
    why_not_any_more,
    words,
)
from handlers.gatehouse.commands import GatehouseInspect
from handlers.members.views import segments_line
from handlers.rules.commands import RulesOff
from handlers.rules.pairs_view import status_name, type_name
from handlers.rules.views import pair_blocks

NOTHING_HAPPENED: Final = frozenset({State.CANCELLED, State.DENIED, State.EXPIRED})


def body(change: Change, groups: Groups | None) -> list[Block]:
    """What goes, what came, or what differs; nothing where nothing happened."""
    if change.state in NOTHING_HAPPENED:
        return []
    if change.state is State.STALE:
        return _stale(change)
    if change.state is State.APPLIED and (other := _stored_otherwise(change)):
        return [
            messages.section(
                f":warning: The service stored something else than was asked for.\n*Asked for → stored*\n{other}"
            )
        ]
    if change.kind.destroys:
        gone = [messages.context("This is what it was:")] if change.state is State.APPLIED else []
        return [*gone, *_whole(change, change.before, groups)]
    if change.kind.creates:
        return [*_whole(change, change.after, groups), *_not_restored(change)]
    lines = differences(change.before, change.after)
    return [messages.section(render(lines))] if lines else []


def _stored_otherwise(change: Change) -> str:
    """Where what was read back differs from what was asked for; fields that the service added do not count."""
    if change.after is None or change.result is None:
        return ""
    asked = canonical_form(change.after) or {}
    found = canonical_form(change.result) or {}
    lines = differences(asked, {name: found.get(name) for name in asked})
    return render([line for line in lines if not _added_in_pair(line)])


def _added_in_pair(line: Line) -> bool:
    """A field that the service added to a pair, such as an id; an added header or script is not."""
    return line.field.startswith("pair") and line.before is None and not line.field.rpartition(".")[2].isdigit()


def _stale(change: Change) -> list[Block]:
    if change.result is None:
        return [messages.section("Now: it does not exist any more.")]
    then_now = differences(change.before, change.result)
    shown = [messages.section(f"*Shown then → now*\n{render(then_now)}")] if then_now else []
    wanted = differences(change.before, change.after) if change.before and change.after else []
    return [*shown, messages.section(f"*What was asked*\n{render(wanted)}")] if wanted else shown


def _not_restored(change: Change) -> list[Block]:
    """What an undo of a delete cannot bring back, said plainly."""
    if not change.undoes or change.state is not State.APPLIED:
        return []
    if change.target.service == "members":
        return [
            messages.context("Back with name and segments. When they first joined, and where else, is not restored.")
        ]
    return [messages.context("Back under a new id; the old one keeps meaning it here. Its creation date is new.")]


def _whole(change: Change, document: Mapping[str, Any] | None, groups: Groups | None) -> list[Block]:
    if document is None:
        return []
    if change.target.service == "members":
        member = Member.model_validate(document)
        return [messages.section(f"*Segments*\n{segments_line(member.segments)}")]
    rule = Rule.model_validate({"id": change.target.key or "new"} | dict(document))
    about = f"{status_name(rule, groups)}   {type_name(rule)}" + (
        f"   {code(rule.id, 100)}" if change.target.key else ""
    )
    blocks = [messages.section(about)]
    if (rule.description or "").strip():
        blocks.append(messages.section(esc(rule.description or "", 400)))
    return blocks + pair_blocks(rule)


def is_effective(change: Change, groups: Groups | None) -> list[Block]:
    """What an edit of a rule or a group means for what is in force, where its status alone does not tell."""
    if change.after is None or change.state not in {State.PROPOSED, State.APPLIED} or change.undone_by:
        return []
    if change.kind is Kind.GROUP_UPDATE:
        return [
            messages.context(":file_folder: A rule of this group is in force while both are Active, rule and group.")
        ]
    rule = RuleDraft.model_validate(change.after) if change.kind is Kind.RULE_UPDATE else RuleDraft()
    held = rule.active and why_group_is_off(rule, groups)
    return [messages.context(f"Its status: {status_name(rule, groups)}")] if held else []


def _proposed(change: Change) -> list[Block | None]:
    """The clicks that are open; who may make them is looked at when they are made."""
    style = "danger" if change.kind.destroys else "primary"
    if change.guard is Guard.CONFIRM:
        yes, no = ("Do it", "Leave it") if change.is_set else (VERBS[change.kind][2], "Keep")
        return [_decide(change, yes, "confirm", style=style, confirm=_asked(change, yes)), _decide(change, no, "keep")]
    asked = _asked(change, "Approve") if change.is_set or change.kind.destroys else None
    return [
        _decide(change, "Approve", "approve", style=style, confirm=asked),
        _decide(change, "Deny…", "deny"),
        _decide(change, "Ask…", "ask"),
        _decide(change, "Withdraw", "keep"),
        _decide(change, "Break the glass…", "glass") if change.break_glass else None,
        _switch_off(change),
    ]


def _decide(change: Change, label: str, decision: str, **more: Any) -> Block | None:
    return messages.decide_button(label, decision, change.id, **more)


def _asked(change: Change, yes: str) -> Block:
    if change.is_set:
        title, text = "All of it?", f"{change.title}? What it does to each is on the card, or in the full view."
    else:
        verb, what = VERBS[change.kind][2], "goes" if change.kind.destroys else "changes"
        title, text = f"{verb} it?", f"{verb} {_confirmed_name(change)}? What {what} is on the card."
    return messages.confirm(title, text, yes, "Not yet", danger=change.kind.destroys)


def _applied(change: Change) -> list[Block | None]:
    """How a change that was applied can be taken back, or kept; nothing once it was undone."""
    if change.undone_by:
        return []
    if change.temporary:
        buttons = {"extend": "Extend 1 h", "stay": "Make it stay", "end": "End now"}
    elif change.ending == "changed" and not change.is_set:
        buttons = {"putback": "Take back anyway…", "stay": "Leave it"}
    else:
        buttons = {"undo": "Undo"}
    return [_decide(change, label, decision) for decision, label in buttons.items()]


def _items_applied(change: Change, progress: Progress) -> list[Block | None]:
    """The same for a bulk change, with a way to try again what was not done, and to undo what was done to one item."""
    if change.undone_by or change.temporary:
        return _applied(change)
    undo = _applied(change) if progress.tally[Outcome.APPLIED] else []
    return [_try_again(change, progress), *undo, *_single_undos(progress.first)]


def _try_again(change: Change, progress: Progress) -> Block | None:
    rest = progress.tally.of(NOT_DONE)
    return _decide(change, f"Try the other {rest:,} again", "again") if rest else None


def _buttons(change: Change, progress: Progress | None) -> list[Block | None]:
    sign = _decide(change, "Sign", "sign", style="primary") if change.review_owed else None
    match change.state:
        case State.PROPOSED:
            return _proposed(change)
        case State.APPLIED:
            return [sign, *(_applied(change) if progress is None else _items_applied(change, progress))]
        case State.APPROVED | State.APPLYING if progress is not None:
            return [] if change.stopped_by else [_decide(change, "Stop", "stop")]
        case State.FAILED if progress is not None:
            return [_try_again(change, progress)]
        case State.APPROVED if change.waits:
            return [_decide(change, "Withdraw", "keep")]
        case State.STALE if progress is None and change.result is not None and not change.kind.creates:
            return [_decide(change, "Ask again, as it is now", "afresh")]
    return []


def _switch_off(change: Change) -> Block | None:
    """Stop a rule at once that somebody else has yet to agree to delete, such as one that was made by mistake."""
    is_on = (change.before or {}).get("status") == "Active"
    if change.kind is not Kind.RULE_DELETE or not is_on or change.is_set:
        return None
    return messages.run_button("Switch off instead", RulesOff(refs=(change.target.key or "",)), "off")


MOST_SINGLE: Final = 6


def _single_undos(shown: Sequence[Part]) -> list[Block | None]:
    """Where one person was changed on several sites: a way back for each site alone."""
    done = [part for part in shown if part.outcome is Outcome.APPLIED and part.change_id and part.target.site]
    if len({part.target.key for part in shown}) != 1 or not 1 < len(shown) <= MOST_SINGLE:
        return []
    return [
        messages.decide_button(f"Undo at {part.target.site}", f"undo.{part.number}", part.change_id or "")
        for part in done
    ]


def _confirmed_name(change: Change) -> str:
    document = change.before or change.after or {}
    if change.target.service == "members":
        return masked(change.target.key or "")
    return messages.clip(f"{document.get('name') or ''} ({change.target.key or 'new'})".strip(), 200)


def label(change: Change) -> str:
    """What the button that shows everything is called."""
    if change.state is not State.PROPOSED and not change.review_owed:
        return "Show to me"
    if not change.is_set:
        return "Show full change"
    thing = THINGS.get(change.target.service, "part")
    return f"Show all {change.size:,} {thing}s" if change.size > 1 else f"Show the {thing}"


def actions(change: Change, blocks: Iterable[Block], buttons: Sequence[Block | None]) -> list[Block]:
    """The buttons below *blocks*, with the one that opens everything: while somebody has to decide, and where a rule is masked.

    Where the card is not everything, that one comes first while somebody has to decide, below a line that says so.
    """
    drawn = list(blocks)
    full = messages.run_button(label(change), GatehouseInspect(change.id), "full")
    if change.state is State.PROPOSED and hides(change, drawn):
        words = f":mag: This card doesn’t show everything. Press *{label(change)}* before you decide."
        return [messages.context(words), *messages.actions([full, *buttons])]
    is_open = change.state is State.PROPOSED or change.review_owed
    is_needed = is_open or (change.target.service == "rules" and is_masked(drawn))
    return messages.actions([*buttons, full if is_needed else None])


MAX_WARNINGS: Final = 8

WARNED: Final = frozenset(
    {State.PROPOSED, State.APPROVED, State.APPLYING, State.APPLIED, State.UNKNOWN, State.UNSETTLED}
)
"""States in which what a change was warned of may come true."""


def card(
    change: Change, *, places: Mapping[str, str], progress: Progress | None = None, groups: Groups | None = None
) -> Message:
    """*change* as it stands now: of one item, with what the *groups* make of it; of many, with their *progress*.

    Addresses are masked: the card is for the channel.
    """
    if progress is None:
        title, said, outcome = title_of(change), sentence(change), WORDS[change.state]
        blocks = [*body(change, groups), *is_effective(change, groups)]
    else:
        outcome = _items_outcome(change, progress.tally)
        title = plain_title(change) + ("?" if change.state is State.PROPOSED else f": {outcome}")
        said, blocks = _items_sentence(change, progress), _items_body(change, progress)
    blocks = [messages.section(f"{_mark(change, progress)} *{title}*\n{said}"), *blocks, *_warnings(change, progress)]
    if change.preview and change.state in WARNED:
        head, *others = (esc(line, 600) for line in change.preview)
        blocks.append(messages.section("\n".join([f":mag: *{head}*", *(f"• {line}" for line in others)])))
    if change.reason:
        blocks.append(messages.section(f":speech_balloon: {words(change.reason, 500)}"))
    if change.review_owed:
        blocks.append(messages.section(glass_line(change)))
    if ending := ending_line(change):
        blocks.append(messages.section(ending))
    footer = messages.context(_footer(change, progress, places))
    blocks += actions(change, [*blocks, footer], _buttons(change, progress))
    if change.undone_by:
        blocks.append(
            messages.context(f":leftwards_arrow_with_hook: Taken back by change {code(change.undone_by[:8])}")
        )
    blocks.append(footer)
    return messages.message(f"{plain_title(change)}: {outcome}", blocks)


def _mark(change: Change, progress: Progress | None) -> str:
    return ":warning:" if progress is not None and _is_partial(change, progress.tally) else mark_of(change)


def _is_partial(change: Change, tally: Tally) -> bool:
    return change.state is State.APPLIED and tally.of(DONE) < tally.meant


def _items_outcome(change: Change, tally: Tally) -> str:
    if _is_partial(change, tally):
        return f"{tally.of(DONE):,} of {tally.meant:,} done"
    if change.stopped_by and change.state is State.APPLYING:
        return "being stopped"
    return WORDS[change.state]


def _items_sentence(change: Change, progress: Progress) -> str:
    if change.state is State.FAILED and change.refusal is None:
        return f"asked by <@{change.requester}>. *Nothing was changed.*"
    stopped = f" Stopped by <@{change.stopped_by}>." if change.stopped_by else ""
    if change.refusal == LOST_RIGHT and change.state is State.APPLIED:
        stopped = f" The rest was not done: {why_not_any_more(change)}."
    left = progress.tally[Outcome.UNKNOWN]
    looking = " Gatehouse keeps looking at what is not known." if left and change.state is State.APPLIED else ""
    return f"{sentence(change)}{stopped}{looking}"


def _items_body(change: Change, progress: Progress) -> list[Block]:
    """How far it is, once it was begun, and the items; nothing where nothing happened."""
    if change.state in NOTHING_HAPPENED:
        return []
    how_far = [messages.section(progress_text(progress.tally))] if change.state is not State.PROPOSED else []
    return [*how_far, *(items_view.lines(progress) if progress.first else [])]


def _warnings(change: Change, progress: Progress | None) -> list[Block]:
    """What is wrong with *change*, while it may come true; of many lines the first."""
    of_items = part_warnings(progress.first[: items_view.SHOWN]) if progress is not None else ()
    lines = (*change.warnings, *change_warnings(change), *of_items)
    if not lines or change.state not in WARNED:
        return []
    left = len(lines) - MAX_WARNINGS
    more = f"\n…and {messages.plural(left, 'more warning')}" if left > 0 else ""
    return [messages.section("\n".join(f":warning: {esc(line, 500)}" for line in lines[:MAX_WARNINGS]) + more)]


def _footer(change: Change, progress: Progress | None, places: Mapping[str, str]) -> str:
    place = places.get(change.target.service)
    where = f"{change.target.service} at {esc(place, 80)}" if place else change.target.service
    if progress is not None:
        about = f" · {messages.plural(sum(progress.tally.counts.values()), 'part')}"
    else:
        about = f" · site {esc(change.target.site, 60)}" if change.target.site else ""
        if change.target.service != "members" and change.target.key:
            about += f" · {code(change.target.key, 100)}"
    return f"{where}{about} · change {code(change.id[:8])}"


def elsewhere(message: Message, channel: str, *, shared: bool) -> Message:
    """The card, for the requester alone, where the channel can't be written to or is *shared* with another company."""
    why = (
        f"<#{channel}> is shared with another company now."
        if shared
        else f"Gatehouse cannot post in <#{channel}>. Add it there with `/invite @Gatehouse`."
    )
    note = messages.context(f":mailbox: This is here because {why}")
    return replace(message, blocks=(*message.blocks[: messages.MOST_BLOCKS - 1], note))
