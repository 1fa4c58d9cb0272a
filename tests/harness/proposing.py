"""Changes for tests: one of flat fields, and one on record that is not begun, as a process leaves it that dies then."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from pydantic import TypeAdapter

from bot.changes.model.change import PART_OF, Change
from bot.changes.model.parts import BulkAct, Purpose
from bot.changes.pipeline import Pipeline
from bot.changes.proposals import Proposal

CHANGES: Final = Purpose(act=BulkAct.CHANGE)
"""What a bulk change is for, where that doesn't matter."""
CHECKED: Final = TypeAdapter(Change)


def change_of(fields: Mapping[str, Any]) -> Change:
    """The change with these *fields*, each in the part that has it."""
    document: dict[str, Any] = {}
    for name, value in fields.items():
        part = document.setdefault(PART_OF[name], {}) if PART_OF[name] else document
        part[name] = value
    return CHECKED.validate_python(document)


async def record_only(pipeline: Pipeline, proposal: Proposal, *, idempotency_key: str) -> Change:
    proposer = pipeline.proposer
    change = proposal.change(proposer.new_id(), proposer.journal.now())
    if not change.is_automatic:
        change = await proposer._with_guard(change, proposal)
    return await proposer.journal.open(change, idempotency_key)
