"""The card of a change, edited through its life: title, body, buttons, and what it does not show."""

from __future__ import annotations

import html
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from bot.changes.model import NOT_CONTENT, Change, Guard, Kind, State, canonical_form
from bot.members.model import Member
from bot.rules.model import Groups, Rule, RuleDraft, why_group_is_off
from bot.rules.secrets import MARK
from bot.text.emails import masked
from handlers.blocks import messages
from handlers.blocks.masking import masked_part
from handlers.blocks.messages import WORD_JOINER, Block, Message, code, esc, visible
from handlers.changes.diff import Document, Line, differences, every_field, rendered
from handlers.changes.full_view import THINGS, change_warnings, text_of
from handlers.changes.sentences import (
    VERBS,
    WORDS,
    ending_line,
    glass_line,
    mark_of,
    plain_title,
    sentence,
    title_of,
    words,
)
from handlers.gatehouse.commands import GatehouseInspect
from handlers.members.views import segments_line
from handlers.rules.commands import RulesOff
from handlers.rules.pairs_view import status_name, type_name
from handlers.rules.views import pair_blocks


def body(change: Change, groups: Groups | None) -> list[Block]:
    """What goes, what came, or what differs; nothing where nothing happened."""
    if change.state in {State.CANCELLED, State.DENIED, State.EXPIRED}:
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
    return [messages.section(rendered(lines))] if lines else []


def _stored_otherwise(change: Change) -> str:
    """Where what was read back differs from what was asked for; fields that the service added do not count."""
    if change.after is None or change.result is None:
        return ""
    asked = canonical_form(change.after) or {}
    found = canonical_form(change.result) or {}
    lines = differences(asked, {name: found.get(name) for name in asked})
    return rendered([line for line in lines if not _added_in_pair(line)])


def _added_in_pair(line: Line) -> bool:
    """A field that the service added to a pair, such as an id; a header or a script more is no such thing."""
    return line.field.startswith("pair") and line.before is None and not line.field.rpartition(".")[2].isdigit()


def _stale(change: Change) -> list[Block]:
    if change.result is None:
        return [messages.section("Now: it does not exist any more.")]
    then_now = differences(change.before, change.result)
    shown = [messages.section(f"*Shown then → now*\n{rendered(then_now)}")] if then_now else []
    wanted = differences(change.before, change.after) if change.before and change.after else []
    return [*shown, messages.section(f"*What was asked*\n{rendered(wanted)}")] if wanted else shown


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
    verb = VERBS[change.kind][2]
    if change.guard is Guard.CONFIRM:
        style = "danger" if change.kind.destroys else "primary"
        return [
            messages.decide_button(verb, "confirm", change.id, style=style, confirm=_asked(change, verb)),
            messages.decide_button("Keep", "keep", change.id),
        ]
    approve = (
        {"style": "danger", "confirm": _asked(change, "Approve")} if change.kind.destroys else {"style": "primary"}
    )
    return [
        messages.decide_button("Approve", "approve", change.id, **approve),
        messages.decide_button("Deny…", "deny", change.id),
        messages.decide_button("Ask…", "ask", change.id),
        messages.decide_button("Withdraw", "keep", change.id),
        messages.decide_button("Break the glass…", "glass", change.id) if change.break_glass else None,
        _switch_off(change),
    ]


def _switch_off(change: Change) -> Block | None:
    """Stop a rule at once that somebody else has yet to agree to delete, such as one that was made by mistake."""
    is_on = (change.before or {}).get("status") == "Active"
    if change.kind is not Kind.RULE_DELETE or not is_on or change.is_set:
        return None
    return messages.run_button("Switch off instead", RulesOff(refs=(change.target.key or "",)), "off")


def _asked(change: Change, yes: str) -> Block:
    verb = VERBS[change.kind][2]
    text = f"{verb} {_confirmed_name(change)}? What {'goes' if change.kind.destroys else 'changes'} is on the card."
    return messages.confirm(f"{verb} it?", text, yes, "Not yet", danger=change.kind.destroys)


def _approved(change: Change) -> list[Block | None]:
    return [messages.decide_button("Withdraw", "keep", change.id)] if change.waits else []


def _applied(change: Change) -> list[Block | None]:
    sign = messages.decide_button("Sign", "sign", change.id, style="primary") if change.review_owed else None
    if change.undone_by:
        return [sign]
    if change.temporary:
        return [
            sign,
            messages.decide_button("Extend 1 h", "extend", change.id),
            messages.decide_button("Make it stay", "stay", change.id),
            messages.decide_button("End now", "end", change.id),
        ]
    if change.ending == "changed":
        return [
            sign,
            messages.decide_button("Take back anyway…", "putback", change.id),
            messages.decide_button("Leave it", "stay", change.id),
        ]
    return [sign, messages.decide_button("Undo", "undo", change.id)]


def _outdated(change: Change) -> list[Block | None]:
    """Propose the same on what there is now, where there is something."""
    there = change.result is not None and not change.kind.creates
    return [messages.decide_button("Ask again, as it is now", "afresh", change.id)] if there else []


BUTTONS: Final[dict[State, Callable[[Change], list[Block | None]]]] = {
    State.PROPOSED: _proposed,
    State.APPROVED: _approved,
    State.APPLIED: _applied,
    State.STALE: _outdated,
}


def _confirmed_name(change: Change) -> str:
    document = change.before or change.after or {}
    if change.target.service == "members":
        return masked(change.target.key or "")
    return messages.clip(f"{document.get('name') or ''} ({change.target.key or 'new'})".strip(), 200)


UNSAID: Final = frozenset({("source.key", "Url"), ("source.operator", "Equals"), ("destinationType", "url")})
"""Fields and values that a card leaves out because they go without saying."""
SHOWN: Final = NOT_CONTENT | {field.alias or name for name, field in Rule.model_fields.items()}
"""Fields of a rule that its deletion's card shows in words, or that say nothing."""


def hides(change: Change, blocks: Iterable[Block]) -> bool:
    """Whether a card made of *blocks* leaves out or masks anything that its change does.

    Whatever is cut leaves a ``…``, so one that somebody typed only makes us ask for a look that was not needed.
    """
    drawn = list(blocks)
    text = "\n".join(_texts(drawn))
    if is_masked(drawn):
        return True
    if change.target.service == "members" or "…" in text:
        return True
    if change.kind is Kind.RULE_DELETE:
        return not says(text, {name: value for name, value in (change.before or {}).items() if name not in SHOWN}, None)
    return not (change.is_set or change.kind.destroys or says(text, change.before, change.after))


def is_masked(blocks: list[Block]) -> bool:
    """Whether a channel sees less of *blocks* than is in them, or a secret was left out of them."""
    return masked_part(blocks) != blocks or any(MARK in text for text in _texts(blocks))


def says(text: str, before: Document, after: Document) -> bool:
    """Whether each value that differs between *before* and *after* is in *text*, a message's mrkdwn, somewhere whole."""
    shown = _comparable(html.unescape(text).replace(WORD_JOINER, "").replace("ˋ", "`"))
    for line in every_field(before, after):
        for value in filter(None, (line.before, line.after)):
            if any(line.field.endswith(field) and value == known for field, known in UNSAID):
                continue
            if any(_comparable(visible(one)) not in shown for one in text_of(value)):
                return False
    return True


def _comparable(text: str) -> str:
    return text.replace("_", " ").casefold().strip()


def _texts(blocks: Iterable[Block]) -> Iterator[str]:
    for block in blocks:
        if block["type"] in {"section", "context"}:
            yield from (one["text"] for one in (block.get("text"), *block.get("elements", ())) if one)


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


def card(change: Change, *, places: Mapping[str, str], groups: Groups | None = None) -> Message:
    """*change* as it stands now, with what the *groups* make of it. Addresses are masked: the card is for the channel."""
    blocks: list[Block] = [messages.section(f"{mark_of(change)} *{title_of(change)}*\n{sentence(change)}")]
    blocks += [*body(change, groups), *is_effective(change, groups)]
    blocks += warned(change, (*change.warnings, *change_warnings(change)))
    if change.preview and change.state in WARNED:
        head, *others = (esc(line, 600) for line in change.preview)
        blocks.append(messages.section("\n".join([f":mag: *{head}*", *(f"• {line}" for line in others)])))
    if change.reason:
        blocks.append(messages.section(f":speech_balloon: {words(change.reason, 500)}"))
    if change.review_owed:
        blocks.append(messages.section(glass_line(change)))
    if ending := ending_line(change):
        blocks.append(messages.section(ending))
    footer = messages.context(_footer(change, places))
    blocks += actions(change, [*blocks, footer], BUTTONS[change.state](change) if change.state in BUTTONS else [])
    if change.undone_by:
        blocks.append(
            messages.context(f":leftwards_arrow_with_hook: Taken back by change {code(change.undone_by[:8])}")
        )
    blocks.append(footer)
    return messages.message(f"{plain_title(change)}: {WORDS[change.state]}", blocks)


def warned(change: Change, lines: Sequence[str]) -> list[Block]:
    """What is wrong with *change*, while it may come true; of many lines the first."""
    if not lines or change.state not in WARNED:
        return []
    left = len(lines) - MAX_WARNINGS
    more = f"\n…and {messages.plural(left, 'more warning')}" if left > 0 else ""
    return [messages.section("\n".join(f":warning: {esc(line, 500)}" for line in lines[:MAX_WARNINGS]) + more)]


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
    note = messages.context(f":mailbox: This is here because {why}")
    return replace(message, blocks=(*message.blocks[: messages.MOST_BLOCKS - 1], note))
