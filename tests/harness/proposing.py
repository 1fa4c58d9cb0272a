"""Changes for tests: one of flat fields, and one on record that is not begun, as a process leaves it that dies then."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any, Final

from pydantic import TypeAdapter

from bot.changes.model.change import Change
from bot.changes.model.edits import Edit
from bot.changes.model.parts import Bulk, BulkAct, ChangeDecision, ChangeRequest, Purpose, Run
from bot.changes.pipeline import Pipeline
from bot.changes.proposals import Proposal

CHANGES: Final = Purpose(act=BulkAct.CHANGE)
"""What a bulk change is for, where that doesn't matter."""
CHECKED: Final = TypeAdapter(Change)
PARTS: Final = {"edit": Edit, "request": ChangeRequest, "decision": ChangeDecision, "run": Run, "bulk": Bulk}
PART_OF: Final = {each.name: "" for each in fields(Change)} | {
    each.name: part for part, kind in PARTS.items() for each in fields(kind)
}
"""For the name of each field, the part of a change that has it; empty for a field of the change itself."""


def with_fields(change: Change, **given: Any) -> Change:
    """A copy of *change* with the fields *given*, each in the part that has it."""
    for name, value in given.items():
        made = {name: value} if not (part := PART_OF[name]) else {part: replace(getattr(change, part), **{name: value})}
        change = replace(change, **made)
    return change


def change_of(given: Mapping[str, Any]) -> Change:
    """The change with the fields *given*, each in the part that has it."""
    document: dict[str, Any] = {}
    for name, value in given.items():
        part = document.setdefault(PART_OF[name], {}) if PART_OF[name] else document
        part[name] = value
    return CHECKED.validate_python(document)


async def record_only(pipeline: Pipeline, proposal: Proposal, *, idempotency_key: str) -> Change:
    proposer = pipeline.proposer
    change = proposal.change(proposer.new_id(), proposer.journal.now())
    if not change.is_automatic:
        change = await proposer._with_guard(change, proposal)
    return await proposer.journal.open(change, idempotency_key)
