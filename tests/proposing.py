"""A change that is on record and not begun, as a process leaves it that dies right after."""

from __future__ import annotations

from bot.changes.model import Change
from bot.changes.pipeline import Pipeline
from bot.changes.proposals import Proposal


async def record_only(pipeline: Pipeline, proposal: Proposal, *, idempotency_key: str) -> Change:
    proposer = pipeline.proposer
    change = proposal.change(proposer.new_id(), proposer.journal.now())
    if not proposal.agreed:
        change = await proposer._under_guard(change, proposal.guard)
    return await proposer.journal.open(change, idempotency_key)
