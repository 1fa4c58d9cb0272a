"""A change: the only shape in which anything is written, whether to one thing or to many."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

from bot.changes.model.documents import Document
from bot.changes.model.edits import Edit, Need, Target
from bot.changes.model.obligation import Standing, parts_of, standings
from bot.changes.model.parts import Approval, Bulk, ChangeDecision, ChangeRequest, Run
from bot.changes.model.states import IN_EFFECT, State


@dataclass(frozen=True, kw_only=True)
class Change:
    """One recorded change: what is to be written, who asked for it, who decided about it, and what came of it.

    Times are UTC.
    """

    id: str
    created: datetime
    state: State = State.PROPOSED
    edit: Edit
    """Of a bulk change: the weightiest of its kinds, and its service as the target."""
    request: ChangeRequest
    decision: ChangeDecision = field(default_factory=ChangeDecision)
    run: Run = field(default_factory=Run)
    bulk: Bulk = field(default_factory=Bulk)
    set_id: str | None = None
    """The id of the bulk change that this change is an item of."""
    item_number: int = 0

    def with_target(self, target: Target) -> Change:
        """Return this change with another *target*, such as the one with the key that it has now."""
        return replace(self, edit=replace(self.edit, target=target))

    def with_approval(self, person: str, at: datetime) -> Change:
        """Return this change with the approval of *person*, who counts once."""
        given = self.decision.approvals
        if any(approval.by == person for approval in given):
            return self
        approvals = (*given, Approval(by=person, at=at))
        return replace(self, decision=replace(self.decision, approvals=approvals))

    @property
    def is_bulk(self) -> bool:
        return self.bulk.size > 0

    @property
    def is_automatic(self) -> bool:
        """Whether Gatehouse made it automatically, because a temporary change came to its end: that was agreed to with it."""
        return self.request.cause is not None and self.request.cause.is_automatic

    @property
    def needs(self) -> tuple[Need, ...]:
        """Return everything that a person needs to request this."""
        return self.bulk.needs_of_items if self.is_bulk else self.edit.needs

    @property
    def read_operation(self) -> str:
        """Return the operation of the policy that a person needs to see such targets."""
        return f"{self.edit.kind.operation.partition('.')[0]}.read"

    @property
    def is_temporary(self) -> bool:
        """Whether anything of it is still to be put back at its end; what was never confirmed may be there, too."""
        run = self.run
        has_end = self.state in IN_EFFECT and self.request.reverts_at is not None
        return has_end and run.undone is None and not run.revert_failure and self.closed_by is None

    @property
    def open_parts(self) -> frozenset[str]:
        """Return the parts of its difference that no later change of ours took away, or gave for good."""
        return parts_of(self.edit) - self.run.closed.keys()

    @property
    def closed_by(self) -> str | None:
        """Return the id of the later change that left nothing of it to be put back; None while something is."""
        return None if self.open_parts or not self.run.closed else list(self.run.closed.values())[-1]

    def shown_by(self, live: Document | None) -> Mapping[str, Standing]:
        """Return what *live*, its target, shows of each of its open parts."""
        shown = standings(self.edit, self.run.result, live)
        return {part: found for part, found in shown.items() if part in self.open_parts}
