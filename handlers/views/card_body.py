"""The middle of a card: what goes, what came, or what differs, and what that means for what is in force."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bot.domain.change import Change, Kind, State
from bot.domain.essence import essence
from bot.domain.group import Groups, held_back
from bot.domain.member import Member
from bot.domain.rule import Rule, RuleDraft
from handlers.views import parts
from handlers.views.diff import Line, differences, rendered
from handlers.views.effect import status_name, type_name
from handlers.views.members import segments_line
from handlers.views.parts import Block, code, esc
from handlers.views.rules import pair_blocks


def body(change: Change, groups: Groups | None) -> list[Block]:
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
    return [parts.section(rendered(lines))] if lines else []


def _stored_otherwise(change: Change) -> str:
    """Where what was read back differs from what was asked for; fields that the service added do not count."""
    if change.after is None or change.result is None:
        return ""
    asked = essence(change.after) or {}
    found = essence(change.result) or {}
    lines = differences(asked, {name: found.get(name) for name in asked})
    return rendered([line for line in lines if not _added_in_pair(line)])


def _added_in_pair(line: Line) -> bool:
    """A field that the service added to a pair, such as an id; a header or a script more is no such thing."""
    return line.field.startswith("pair") and line.before is None and not line.field.rpartition(".")[2].isdigit()


def _stale(change: Change) -> list[Block]:
    if change.result is None:
        return [parts.section("Now: it does not exist any more.")]
    then_now = differences(change.before, change.result)
    shown = [parts.section(f"*Shown then → now*\n{rendered(then_now)}")] if then_now else []
    wanted = differences(change.before, change.after) if change.before and change.after else []
    return [*shown, parts.section(f"*What was asked*\n{rendered(wanted)}")] if wanted else shown


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


def in_force(change: Change, groups: Groups | None) -> list[Block]:
    """What an edit of a rule or a group means for what is in force, where its status alone does not tell."""
    if change.after is None or change.state not in {State.PROPOSED, State.APPLIED} or change.undone_by:
        return []
    if change.kind is Kind.GROUP_UPDATE:
        return [parts.context(":file_folder: A rule of this group is in force while both are Active, rule and group.")]
    rule = RuleDraft.model_validate(change.after) if change.kind is Kind.RULE_UPDATE else RuleDraft()
    held = rule.active and held_back(rule, groups)
    return [parts.context(f"Its status: {status_name(rule, groups)}")] if held else []
