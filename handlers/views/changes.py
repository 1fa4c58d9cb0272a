"""The one card of a change, edited through its life: what, where, who, why, and what may be clicked now."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from bot.domain.change import Change, Kind, State, essence
from bot.domain.member import Member, masked
from bot.domain.rule import Rule
from handlers.views import parts
from handlers.views.diff import differences, rendered
from handlers.views.effect import status_name, type_name
from handlers.views.members import segments_line
from handlers.views.parts import Block, Message, code, esc
from handlers.views.rules import pair_blocks

VERBS: Final = {
    Kind.RULE_CREATE: ("create", "created", "Create"),
    Kind.RULE_UPDATE: ("change", "changed", "Change"),
    Kind.RULE_DELETE: ("delete", "deleted", "Delete"),
    Kind.MEMBER_ADD: ("add", "added", "Add"),
    Kind.MEMBER_UPDATE: ("change", "changed", "Change"),
    Kind.MEMBER_GRANT: ("give access to", "was given access", "Give access to"),
    Kind.MEMBER_REVOKE: ("take access from", "lost access", "Take access from"),
    Kind.MEMBER_REMOVE: ("remove", "removed", "Remove"),
}
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
}


def card(change: Change, *, places: Mapping[str, str]) -> Message:
    """*change* as it stands now. Addresses are masked: the card is for the channel."""
    title = _title(change)
    blocks: list[Block] = [parts.section(f"{MARKS[change.state]} *{title}*\n{_sentence(change)}")]
    blocks += _body(change)
    if change.reason:
        blocks.append(parts.section(f":speech_balloon: {esc(change.reason, 500)}"))
    if change.state is State.PROPOSED:
        blocks += parts.actions(_decisions(change))
    if change.state is State.APPLIED:
        blocks += _taking_back(change)
    blocks.append(parts.context(_footer(change, places)))
    return parts.message(f"{_plain_title(change)}: {WORDS[change.state]}", blocks)


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
}


def _name(change: Change) -> str:
    """What the change is about, as a channel may see it."""
    document = change.before or change.after or {}
    name = document.get("name")
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
        return f"{name} {done}" if change.kind is not Kind.RULE_UPDATE else f"{name} {_what_changed(change)}"
    if change.state in {State.APPROVED, State.APPLYING}:
        return f"{name}: under way…"
    if change.state is State.CANCELLED:
        return f"{name} is kept"
    return f"{name}: could not {infinitive}" if change.state is not State.UNKNOWN else f"{name}: not known yet"


def _what_changed(change: Change) -> str:
    """Switching says so; other edits are just changes."""
    lines = differences(change.before, change.after)
    if len(lines) == 1 and lines[0].field == "status":
        return "switched on" if lines[0].after == "Active" else "switched off"
    return "changed"


def _plain_title(change: Change) -> str:
    return f"{VERBS[change.kind][2]} {_name(change).replace('`', '')}"


def _sentence(change: Change) -> str:
    asker, decider = f"<@{change.requester}>", f"<@{change.decided_by}>" if change.decided_by else "somebody"
    said = f"\n_The service says:_ {esc(change.outcome)}" if change.outcome else ""
    match change.state:
        case State.PROPOSED:
            return f"{asker} asks. Only {asker} can confirm it. This is what goes:"
        case State.APPLIED:
            return f"by {decider}{_at(change)}"
        case State.APPROVED | State.APPLYING:
            return f"{decider} said yes; the service is being asked."
        case State.FAILED:
            return f"asked by {asker}. *Nothing was changed.*{said or ' It was tried, and read back unchanged.'}"
        case State.UNKNOWN:
            return (
                f"asked by {asker}. The service gave no clear answer, so this may or may not have happened. "
                f"Gatehouse keeps looking and will say here.{said}"
            )
        case State.STALE:
            return f"asked by {asker}. It is no longer what was shown, so *nothing was changed*. Ask again to see it as it is."
        case State.CANCELLED:
            return f"{decider} decided to keep it{_at(change)}. Nothing was changed."
        case State.DENIED:
            return f"{decider} said no{_at(change)}. Nothing was changed."
        case State.EXPIRED:
            return f"asked by {asker}. Nobody decided in time. Nothing was changed."


def _at(change: Change) -> str:
    moment = change.finished_at or change.decided_at
    return (
        f", <!date^{int(moment.timestamp())}^{{date_short_pretty}} {{time}}|{moment:%Y-%m-%d %H:%M} UTC>"
        if moment
        else ""
    )


def _body(change: Change) -> list[Block]:
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
        return [*gone, *_whole(change, change.before)]
    if change.kind.creates:
        return _whole(change, change.after)
    lines = differences(change.before, change.after)
    return [parts.section(rendered(lines))] if lines else []


def _stored_otherwise(change: Change) -> str:
    """Where what was read back differs from what was asked for; fields that the service added do not count."""
    if change.after is None or change.result is None:
        return ""
    asked = essence(change.after) or {}
    found = essence(change.result) or {}
    lines = differences(asked, {name: found.get(name) for name in asked})
    return rendered([line for line in lines if not (line.field.startswith("pair") and line.before is None)])


def _stale(change: Change) -> list[Block]:
    if change.result is None:
        return [parts.section("Now: it does not exist any more.")]
    lines = differences(change.before, change.result)
    return [parts.section(f"*Shown then → now*\n{rendered(lines)}")] if lines else []


def _whole(change: Change, document: Mapping[str, Any] | None) -> list[Block]:
    if document is None:
        return []
    if change.target.service == "members":
        member = Member.model_validate(document)
        return [parts.section(f"*Segments*\n{segments_line(member.segments)}")]
    rule = Rule.model_validate({"id": change.target.key or "new"} | dict(document))
    about = f"{status_name(rule)}   {type_name(rule)}" + (f"   {code(rule.id, 100)}" if change.target.key else "")
    blocks = [parts.section(about)]
    if (rule.description or "").strip():
        blocks.append(parts.section(esc(rule.description or "", 400)))
    return blocks + pair_blocks(rule)


def _decisions(change: Change) -> list[Block | None]:
    verb = VERBS[change.kind][2]
    asked = parts.confirm(
        f"{verb} it?",
        f"{verb} {_confirmed_name(change)}? What goes is shown on the card.",
        verb,
        "Not yet",
    )
    return [
        parts.decide_button(verb, "confirm", change.id, style="danger", confirm=asked),
        parts.decide_button("Keep", "keep", change.id),
    ]


def _taking_back(change: Change) -> list[Block]:
    if change.undone_by:
        return [parts.context(f":leftwards_arrow_with_hook: Taken back by change {code(change.undone_by[:8])}")]
    return parts.actions([parts.decide_button("Undo", "undo", change.id)])


def _confirmed_name(change: Change) -> str:
    document = change.before or change.after or {}
    if change.target.service == "members":
        return masked(change.target.key or "")
    return parts.clip(f"{document.get('name') or ''} ({change.target.key or 'new'})".strip(), 200)


def _footer(change: Change, places: Mapping[str, str]) -> str:
    site = f" · site {esc(change.target.site, 60)}" if change.target.site else ""
    key = f" · {code(change.target.key, 100)}" if change.target.service == "rules" and change.target.key else ""
    place = places.get(change.target.service)
    host = f" at {esc(place, 80)}" if place else ""
    return f"{change.target.service}{host}{site}{key} · change {code(change.id[:8])}"


def elsewhere(message: Message, why: str) -> Message:
    """The card, for the requester alone, where the channel could not be written to."""
    note = parts.context(
        f":mailbox: This is here because Gatehouse cannot post in that channel ({esc(why.replace('_', ' '))}). "
        "Add it there with `/invite @Gatehouse`."
    )
    return replace(message, blocks=(*message.blocks[: parts.MOST_BLOCKS - 1], note))
