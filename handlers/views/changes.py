"""The one card of a change, edited through its life: what, where, who, why, and what may be clicked now."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final

from bot.domain.change import Change, Guard, Kind, State, essence
from bot.domain.group import Groups, held_back
from bot.domain.member import Member, all_masked, masked
from bot.domain.rule import Rule, RuleDraft
from handlers.views import parts
from handlers.views.diff import Line, differences, rendered
from handlers.views.effect import status_name, type_name
from handlers.views.members import segments_line
from handlers.views.parts import Block, Message, code, esc
from handlers.views.rules import pair_blocks
from handlers.views.sentences import ending_line, glass_line, sentence, words

VERBS: Final = {
    Kind.RULE_CREATE: ("create", "created", "Create"),
    Kind.RULE_UPDATE: ("change", "changed", "Change"),
    Kind.RULE_DELETE: ("delete", "deleted", "Delete"),
    Kind.GROUP_UPDATE: ("change", "changed", "Change"),
    Kind.MEMBER_ADD: ("add", "added", "Add"),
    Kind.MEMBER_UPDATE: ("change", "changed", "Change"),
    Kind.MEMBER_GRANT: ("give access to", "was given access", "Give access to"),
    Kind.MEMBER_REVOKE: ("take access from", "lost access", "Take access from"),
    Kind.MEMBER_REMOVE: ("remove", "removed", "Remove"),
}
EDITS: Final = frozenset({Kind.RULE_UPDATE, Kind.GROUP_UPDATE})
"""Whose title says what was changed."""
WARNED: Final = frozenset(
    {State.PROPOSED, State.APPROVED, State.APPLYING, State.APPLIED, State.UNKNOWN, State.UNSETTLED}
)
"""States in which what a change was warned of may come true."""
MARKS: Final = {
    State.PROPOSED: ":wastebasket:",
    State.APPROVED: ":hourglass_flowing_sand:",
    State.APPLYING: ":hourglass_flowing_sand:",
    State.APPLIED: ":white_check_mark:",
    State.FAILED: ":x:",
    State.UNKNOWN: ":grey_question:",
    State.STALE: ":arrows_counterclockwise:",
    State.CANCELLED: ":leftwards_arrow_with_hook:",
    State.DENIED: ":no_entry_sign:",
    State.EXPIRED: ":zzz:",
    State.UNSETTLED: ":grey_question:",
}


def card(change: Change, *, places: Mapping[str, str], groups: Groups | None = None) -> Message:
    """*change* as it stands now, with what the *groups* make of it. Addresses are masked: the card is for the channel."""
    blocks: list[Block] = [parts.section(f"{_mark(change)} *{_title(change)}*\n{sentence(change)}")]
    blocks += [*_body(change, groups), *_held_back(change, groups)]
    if change.warnings and change.state in WARNED:
        blocks.append(parts.section("\n".join(f":warning: {esc(line, 500)}" for line in change.warnings)))
    if change.preview and change.state in WARNED:
        head, *others = (esc(line, 600) for line in change.preview)
        blocks.append(parts.section("\n".join([f":mag: *{head}*", *(f"• {line}" for line in others)])))
    if change.reason:
        blocks.append(parts.section(f":speech_balloon: {words(change.reason, 500)}"))
    if change.review_owed:
        blocks.append(parts.section(glass_line(change)))
    if ending := ending_line(change):
        blocks.append(parts.section(ending))
    blocks += parts.actions(BUTTONS[change.state](change)) if change.state in BUTTONS else []
    if change.undone_by:
        blocks.append(parts.context(f":leftwards_arrow_with_hook: Taken back by change {code(change.undone_by[:8])}"))
    blocks.append(parts.context(_footer(change, places)))
    return parts.message(f"{plain_title(change)}: {WORDS[change.state]}", blocks)


def _mark(change: Change) -> str:
    if change.state is State.PROPOSED and not change.kind.destroys:
        return ":raising_hand:"
    return MARKS[change.state]


WORDS: Final = {
    State.PROPOSED: "waits for a decision",
    State.APPROVED: "under way",
    State.APPLYING: "under way",
    State.APPLIED: "done",
    State.FAILED: "failed, nothing changed",
    State.UNKNOWN: "outcome not known yet",
    State.STALE: "not done: it changed meanwhile",
    State.CANCELLED: "not done, kept",
    State.DENIED: "denied",
    State.EXPIRED: "not done: the request expired",
    State.UNSETTLED: "outcome not known, look at it yourself",
}


def _name(change: Change) -> str:
    """What the change is about, as a channel may see it."""
    document = change.before or change.after or {}
    name = document.get("name")
    if change.target.service == "groups":
        return f"Group {esc(str(name or change.target.key), 150)}"
    if change.target.service == "rules":
        return esc(str(name or change.target.key or "a rule"), 150)
    shown = esc(str(name), 80) if name and "@" not in str(name) else ""
    return f"{shown} {code(masked(change.target.key or ''))}".strip()


def _title(change: Change) -> str:
    infinitive, done, imperative = VERBS[change.kind]
    name = _name(change)
    if change.state is State.PROPOSED:
        return f"{imperative} {name}?"
    if change.state is State.APPLIED:
        return f"{name} {done}" if change.kind not in EDITS else f"{name} {_what_changed(change)}"
    if change.state in {State.APPROVED, State.APPLYING}:
        return f"{name}: under way…"
    if change.state is State.CANCELLED:
        return f"{name} is kept"
    if change.state in {State.UNKNOWN, State.UNSETTLED}:
        return f"{name}: not known" + (" yet" if change.state is State.UNKNOWN else "")
    return f"{name}: " + (f"could not {infinitive}" if change.state in {State.FAILED, State.STALE} else f"not {done}")


def _what_changed(change: Change) -> str:
    """Switching says so; other edits are just changes."""
    lines = differences(change.before, change.after)
    if len(lines) == 1 and lines[0].field == "status":
        return "switched on" if lines[0].after == "Active" else "switched off"
    return "changed"


def plain_title(change: Change) -> str:
    """What is asked, without markup."""
    if change.is_set:
        return esc(all_masked(change.title), 150)
    return f"{VERBS[change.kind][2]} {_name(change).replace('`', '')}"


def _held_back(change: Change, groups: Groups | None) -> list[Block]:
    """What an edit of a rule or a group means for what is in force, where its status alone does not tell."""
    if change.after is None or change.state not in {State.PROPOSED, State.APPLIED} or change.undone_by:
        return []
    if change.kind is Kind.GROUP_UPDATE:
        return [parts.context(":file_folder: A rule of this group is in force while both are Active, rule and group.")]
    rule = RuleDraft.model_validate(change.after) if change.kind is Kind.RULE_UPDATE else RuleDraft()
    held = rule.active and held_back(rule, groups)
    return [parts.context(f"Its status: {status_name(rule, groups)}")] if held else []


def _body(change: Change, groups: Groups | None) -> list[Block]:
    """What goes, what came, or what differs; nothing where nothing happened."""
    if change.state in {State.CANCELLED, State.DENIED, State.EXPIRED}:
        return []
    if change.state is State.STALE:
        return _stale(change)
    if change.state is State.APPLIED and (other := _stored_otherwise(change)):
        return [
            parts.section(
                f":warning: The service stored something else than was asked for.\n*Asked for → stored*\n{other}"
            )
        ]
    if change.kind.destroys:
        gone = [parts.context("This is what it was:")] if change.state is State.APPLIED else []
        return [*gone, *_whole(change, change.before, groups)]
    if change.kind.creates:
        return [*_whole(change, change.after, groups), *_not_restored(change)]
    lines = differences(change.before, change.after)
    return [parts.section(_differing(change, lines))] if lines else []


def _differing(change: Change, lines: list[Line]) -> str:
    """The differences, for a channel."""
    return rendered(lines, shown=all_masked if change.target.service == "members" else str)


def _stored_otherwise(change: Change) -> str:
    """Where what was read back differs from what was asked for; fields that the service added do not count."""
    if change.after is None or change.result is None:
        return ""
    asked = essence(change.after) or {}
    found = essence(change.result) or {}
    lines = differences(asked, {name: found.get(name) for name in asked})
    return _differing(change, [line for line in lines if not _added_in_pair(line)])


def _added_in_pair(line: Line) -> bool:
    """A field that the service added to a pair, such as an id; a header or a script more is no such thing."""
    return line.field.startswith("pair") and line.before is None and not line.field.rpartition(".")[2].isdigit()


def _stale(change: Change) -> list[Block]:
    if change.result is None:
        return [parts.section("Now: it does not exist any more.")]
    then_now = differences(change.before, change.result)
    shown = [parts.section(f"*Shown then → now*\n{_differing(change, then_now)}")] if then_now else []
    wanted = differences(change.before, change.after) if change.before and change.after else []
    return [*shown, parts.section(f"*What was asked*\n{_differing(change, wanted)}")] if wanted else shown


def _not_restored(change: Change) -> list[Block]:
    """What an undo of a delete cannot bring back, said plainly."""
    if not change.undoes or change.state is not State.APPLIED:
        return []
    if change.target.service == "members":
        return [parts.context("Back with name and segments. When they first joined, and where else, is not restored.")]
    return [parts.context("Back under a new id; the old one keeps meaning it here. Its creation date is new.")]


def _whole(change: Change, document: Mapping[str, Any] | None, groups: Groups | None) -> list[Block]:
    if document is None:
        return []
    if change.target.service == "members":
        member = Member.model_validate(document)
        return [parts.section(f"*Segments*\n{segments_line(member.segments)}")]
    rule = Rule.model_validate({"id": change.target.key or "new"} | dict(document))
    about = f"{status_name(rule, groups)}   {type_name(rule)}" + (
        f"   {code(rule.id, 100)}" if change.target.key else ""
    )
    blocks = [parts.section(about)]
    if (rule.description or "").strip():
        blocks.append(parts.section(esc(rule.description or "", 400)))
    return blocks + pair_blocks(rule)


def _proposed(change: Change) -> list[Block | None]:
    """The clicks that are open; who may make them is looked at when they are made."""
    verb = VERBS[change.kind][2]
    if change.guard is Guard.CONFIRM:
        style = "danger" if change.kind.destroys else "primary"
        return [
            parts.decide_button(verb, "confirm", change.id, style=style, confirm=_asked(change, verb)),
            parts.decide_button("Keep", "keep", change.id),
        ]
    approve = (
        {"style": "danger", "confirm": _asked(change, "Approve")} if change.kind.destroys else {"style": "primary"}
    )
    return [
        parts.decide_button("Approve", "approve", change.id, **approve),
        parts.decide_button("Deny…", "deny", change.id),
        parts.decide_button("Ask…", "ask", change.id),
        parts.decide_button("Withdraw", "keep", change.id),
        parts.decide_button("Break the glass…", "glass", change.id) if change.break_glass else None,
    ]


def _asked(change: Change, yes: str) -> Block:
    verb = VERBS[change.kind][2]
    text = f"{verb} {_confirmed_name(change)}? What {'goes' if change.kind.destroys else 'changes'} is on the card."
    return parts.confirm(f"{verb} it?", text, yes, "Not yet", danger=change.kind.destroys)


def _approved(change: Change) -> list[Block | None]:
    return [parts.decide_button("Withdraw", "keep", change.id)] if change.waits else []


def _applied(change: Change) -> list[Block | None]:
    if change.undone_by:
        return []
    sign = parts.decide_button("Sign", "sign", change.id, style="primary") if change.review_owed else None
    if change.temporary:
        return [
            sign,
            parts.decide_button("Extend 1 h", "extend", change.id),
            parts.decide_button("Make it stay", "stay", change.id),
            parts.decide_button("End now", "end", change.id),
        ]
    if change.ending == "changed":
        return [
            sign,
            parts.decide_button("Take back anyway…", "putback", change.id),
            parts.decide_button("Leave it", "stay", change.id),
        ]
    return [sign, parts.decide_button("Undo", "undo", change.id)]


def _outdated(change: Change) -> list[Block | None]:
    """Propose the same on what there is now, where there is something."""
    there = change.result is not None and not change.kind.creates
    return [parts.decide_button("Ask again, as it is now", "afresh", change.id)] if there else []


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
    return parts.clip(f"{document.get('name') or ''} ({change.target.key or 'new'})".strip(), 200)


def _footer(change: Change, places: Mapping[str, str]) -> str:
    site = f" · site {esc(change.target.site, 60)}" if change.target.site else ""
    key = f" · {code(change.target.key, 100)}" if change.target.service != "members" and change.target.key else ""
    place = places.get(change.target.service)
    host = f" at {esc(place, 80)}" if place else ""
    return f"{change.target.service}{host}{site}{key} · change {code(change.id[:8])}"


def elsewhere(message: Message, channel: str) -> Message:
    """The card, for the requester alone, where the channel could not be written to."""
    note = parts.context(
        f":mailbox: This is here because Gatehouse cannot post in <#{channel}>. Add it there with `/invite @Gatehouse`."
    )
    return replace(message, blocks=(*message.blocks[: parts.MOST_BLOCKS - 1], note))
