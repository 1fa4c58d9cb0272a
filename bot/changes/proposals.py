"""Proposals of one change or many: something new, the inverse of an applied change, or the same request again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final, NamedTuple, Self

from bot.changes.model.change import Change
from bot.changes.model.documents import Document, canonical_form
from bot.changes.model.edits import Edit, Kind, Target, weightiest
from bot.changes.model.items import Item
from bot.changes.model.obligation import Standing, parts_of, with_parts
from bot.changes.model.parts import Bulk, Cause, CauseKind, ChangeDecision, ChangeRequest, Guard, Purpose, Run
from bot.changes.model.states import State
from bot.rules.model import Rule, RuleDraft

UNDONE_BY: Final[Mapping[Kind, Kind]] = {
    Kind.RULE_CREATE: Kind.RULE_DELETE,
    Kind.RULE_UPDATE: Kind.RULE_UPDATE,
    Kind.RULE_DELETE: Kind.RULE_CREATE,
    Kind.GROUP_UPDATE: Kind.GROUP_UPDATE,
    Kind.MEMBER_ADD: Kind.MEMBER_REMOVE,
    Kind.MEMBER_UPDATE: Kind.MEMBER_UPDATE,
    Kind.MEMBER_GRANT: Kind.MEMBER_REVOKE,
    Kind.MEMBER_REVOKE: Kind.MEMBER_GRANT,
    Kind.MEMBER_REMOVE: Kind.MEMBER_ADD,
}
"""For each kind of change, the kind that undoes it."""


class NothingToDo(Exception):
    """The bulk change has no item that is to be done."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """What somebody wants changed: one thing, or many that are decided as one. The *before* of each is what they were shown."""

    items: Sequence[Item]
    request: ChangeRequest
    guard: Guard | None = None
    """The guard that it has at least, whatever the policy says; None leaves it to the policy."""
    purpose: Purpose | None = None
    """What a bulk change is for; None for a change of one thing."""

    @classmethod
    def of(cls, edit: Edit, request: ChangeRequest, guard: Guard | None = None) -> Self:
        """Return the proposal of a change of one thing."""
        return cls(items=(Item.of(1, edit, undoes=request.undoes),), request=request, guard=guard)

    @property
    def edit(self) -> Edit:
        """Return the edit of the one item, or of the first of many."""
        return self.items[0].edit

    @property
    def edits(self) -> list[Edit]:
        """Return the edits of the items that are to be done: others are only on record."""
        return [item.edit for item in self.items if item.kind is not None]

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """Return every kind among the items, the weightiest first; raises NothingToDo where nothing is to be done."""
        if not (kinds := weightiest(item.kind for item in self.items)):
            raise NothingToDo
        return kinds

    @property
    def kind(self) -> Kind:
        """Return the weightiest kind; raises NothingToDo."""
        return self.kinds[0]

    def change(self, id_: str, created: datetime) -> Change:
        """Return the change that this proposes, still without its guard; raises NothingToDo."""
        if self.purpose is None:
            return Change(id=id_, created=created, edit=self.edit, request=self.request)
        kinds = self.kinds
        service = Target(service=self.items[0].target.service)
        return Change(
            id=id_,
            created=created,
            edit=Edit(kind=kinds[0], target=service, before=None, after=None),
            request=self.request,
            bulk=Bulk(
                size=len(self.items),
                kinds=kinds,
                needs_of_items=tuple(dict.fromkeys(need for edit in self.edits for need in edit.needs)),
                purpose=self.purpose,
                to_do=len(self.edits),
            ),
        )


def undo_cause(change: Change, kind: CauseKind = CauseKind.UNDO) -> Cause:
    """Return the cause of an undo of *change*."""
    return Cause(kind=kind, requester=change.request.requester)


class Undoing(NamedTuple):
    """What is to be undone: a change with its target as that is called now, and what that is now, if known."""

    change: Change
    live: Document | None
    ended: Sequence[Change] = ()
    """Temporary changes of which an end is past: what *change* took away of them doesn't come back."""


def inverse(change: Change, done: Iterable[Undoing], *, by: str, channel: str, cause: Cause | None = None) -> Proposal:
    """Return the proposal that undoes *change*: the inverse of each part of it that was *done*, the last one first.

    What would undo nothing is left out; raises NothingToDo where nothing is left.
    """
    is_end = cause is not None and cause.kind is CauseKind.END
    edits = [
        (each.change, _inverse_edit(*each, is_end=is_end))
        for each in sorted(done, key=lambda each: -each.change.item_number)
    ]
    left = [(each, edit) for each, edit in edits if canonical_form(edit.before) != canonical_form(edit.after)]
    if not left:
        raise NothingToDo
    return Proposal(
        purpose=change.bulk.purpose and change.bulk.purpose.inverse(),
        items=[Item.of(number, edit, undoes=each.id) for number, (each, edit) in enumerate(left, 1)],
        request=ChangeRequest(requester=by, channel=channel, undoes=change.id, cause=cause or undo_cause(change)),
    )


def _inverse_edit(change: Change, live: Document | None, ended: Sequence[Change], *, is_end: bool) -> Edit:
    """Return the edit that undoes *change*: it puts back the open parts, and leaves what others did to *live*, its target.

    A part that is neither as *change* left it nor as it was before is left at an end, since nobody has seen it. Any other undo
    then starts from what *change* made, and will be found out of date.
    """
    edit, before, after = change.edit, change.run.result, change.edit.before
    kind, target = UNDONE_BY[edit.kind], edit.target
    if after is not None and target.service == "rules":
        after = RuleDraft.model_validate(after).body()
    elif after is not None and kind is Kind.MEMBER_ADD:
        after = {name: after[name] for name in ("name", "email", "allowedSegments") if name in after}
    shown = change.shown_by(live)
    there = [part for part, found in shown.items() if found is Standing.THERE]
    if there and (is_end or Standing.OTHER not in shown.values()):
        before = live
        if live is not None and after is not None:
            after = with_parts(there, edit.before or {}, edit, live)
    for owed in ended:
        parts = [part for part, closing in owed.run.closed.items() if closing == change.id]
        if after is not None and parts:
            was = owed.edit.before
            after = None if was is None else with_parts(parts, was, owed.edit, after)
    return Edit(
        kind=kind,
        # A rule that comes back gets a new id from its service.
        target=target.with_key(None) if kind is Kind.RULE_CREATE else target,
        before=before if edit.after is not None else None,
        after=after,
    )


def _repeat_request(asked: ChangeRequest, *, by: str, channel: str) -> ChangeRequest:
    return ChangeRequest(
        requester=by,
        channel=channel,
        reason=asked.reason,
        warnings=asked.warnings,
        undoes=asked.undoes,
        moved_from=asked.moved_from,
        # However the first one came about, this one is asked for by a person.
        cause=asked.cause and Cause(kind=CauseKind.UNDO, requester=asked.cause.requester),
        starts_at=asked.starts_at,
        starts_at_as_typed=asked.starts_at_as_typed,
        revert_after=asked.revert_after,
        # An end that was counted from the first time is counted again from this one.
        reverts_at=None if asked.revert_after else asked.reverts_at,
        reverts_at_as_typed=asked.reverts_at_as_typed,
    )


def request_again(change: Change, wanted: Iterable[tuple[Item, Document | None]], *, by: str, channel: str) -> Proposal:
    """Return the proposal of what *change* asked for, applied to the *wanted* items as they are now: the same differences.

    Items whose target is gone, or is as wanted already, are left out. Where a target is no longer as it was shown, the
    requester has to confirm. Raises NothingToDo.
    """
    items, has_moved = list[Item](), False
    for item, live in wanted:
        # What it would create exists already, or what it would change is gone.
        if item.kind is None or (live is None) != item.kind.creates:
            continue
        after = item.after
        if live is not None and after is not None:
            base = Rule.model_validate(live).body() if item.target.service == "rules" else live
            after = with_parts(parts_of(item.edit), after, item.edit, base)
            if canonical_form(after) == canonical_form(base):
                continue
        # A rule that comes back gets a new id from its service.
        target = item.target.with_key(None) if item.kind is Kind.RULE_CREATE else item.target
        edit = Edit(kind=item.kind, target=target, before=live, after=after)
        items.append(Item.of(len(items) + 1, edit, source=item.source, undoes=item.undoes))
        has_moved |= canonical_form(live) != canonical_form(item.before)
    if not items:
        raise NothingToDo
    return Proposal(
        purpose=change.bulk.purpose,
        items=items,
        request=_repeat_request(change.request, by=by, channel=channel),
        guard=Guard.CONFIRM if has_moved else None,
    )


def combine(purpose: Purpose, proposals: Sequence[Proposal]) -> Proposal:
    """Combine *proposals* of one person into one bulk change, with the reason and the end of the first."""
    first = proposals[0].request
    warnings = tuple(dict.fromkeys(line for proposal in proposals for line in proposal.request.warnings))
    return Proposal(
        purpose=purpose,
        items=[replace(proposal.items[0], number=number) for number, proposal in enumerate(proposals, 1)],
        request=replace(_repeat_request(first, by=first.requester, channel=first.channel), warnings=warnings),
    )


def item_change(whole: Change, item: Item, *, change_id: str, now: datetime) -> Change:
    """Return the change of an item of *whole*, as it is stored right before it is sent."""
    return Change(
        id=change_id,
        created=now,
        state=State.APPLYING,
        set_id=whole.id,
        item_number=item.number,
        edit=item.edit,
        request=ChangeRequest(
            requester=whole.request.requester,
            channel=whole.request.channel,
            reason=whole.request.reason,
            agent=whole.request.agent,
            undoes=item.undoes,
            cause=whole.request.cause if item.undoes else None,
        ),
        decision=ChangeDecision(
            guard=whole.decision.guard,
            approvals=whole.decision.approvals,
            decided_by=whole.decision.decided_by,
            decided_at=whole.decision.decided_at,
        ),
        run=Run(attempt=1),
    )
