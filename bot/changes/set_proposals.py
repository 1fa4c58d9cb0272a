"""Change sets that may be proposed: several changes as one, the inverse of a set, and its parts that were not done."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from bot.changes.effects import Document, Snapshot
from bot.changes.proposals import Proposal, Terms, afresh, inverse
from bot.domain.change import Change, Guard, Kind, State, Target
from bot.domain.change_set import Part, weightiest

MOST: Final = 20_000
"""Parts of one set."""


class NothingInSet(Exception):
    """A set without a part that is to be done."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SetProposal(Terms):
    """Several changes, to be decided as one. *title*: what it does, in a few words that a channel may see."""

    title: str
    parts: Sequence[Part]
    columns: tuple[str, ...] = ()
    """The headings of the table that the parts come from."""
    separator: str = ","

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """Every kind that is to be done, the weightiest first; raises NothingInSet."""
        if not (kinds := weightiest(part.kind for part in self.parts if part.kind is not None)):
            raise NothingInSet(self.title)
        return kinds

    def change(self, id_: str, created: datetime) -> Change:
        """The change that stands for all parts, with no guard before it yet; raises NothingInSet."""
        kinds = self.kinds
        return Change(
            id=id_,
            kind=kinds[0],
            kinds=kinds,
            needs_of_parts=tuple(dict.fromkeys(need for part in self.parts for need in part.needs)),
            size=len(self.parts),
            title=self.title,
            target=Target(service=self.parts[0].target.service),
            before=None,
            after=None,
            columns=self.columns,
            separator=self.separator,
            created=created,
            **self.kept(),
        )


def set_of(title: str, proposals: Sequence[Proposal]) -> SetProposal:
    """Proposals of one person as one set, with the reason and the end of the first."""
    first = proposals[0]
    return SetProposal(
        title=title,
        parts=[part_of(number, proposal) for number, proposal in enumerate(proposals, 1)],
        requester=first.requester,
        channel=first.channel,
        reason=first.reason,
        lasts=first.lasts,
        ends=first.ends,
        ends_as_typed=first.ends_as_typed,
        warnings=tuple(dict.fromkeys(line for proposal in proposals for line in proposal.warnings)),
    )


def part_of(number: int, proposal: Proposal, source: str = "") -> Part:
    return Part(
        number=number,
        kind=proposal.kind,
        target=proposal.target,
        before=proposal.before,
        after=proposal.after,
        undoes=proposal.undoes,
        source=source,
    )


def inverse_of(
    whole: Change, done: Iterable[tuple[Change, Document | None]], *, by: str, channel: str, reason: str = ""
) -> SetProposal:
    """What takes back those parts of *whole* that were *done*, on what there is now of each, the last one first."""
    proposals = [inverse(change, live, by=by, channel=channel, reason=reason) for change, live in done]
    return SetProposal(
        title=f"Undo: {whole.title}" if whole.undoes is None else whole.title.removeprefix("Undo: "),
        parts=[part_of(number, proposal) for number, proposal in enumerate(reversed(proposals), 1)],
        requester=by,
        channel=channel,
        reason=reason or f"undo of {whole.id[:8]}",
        undoes=whole.id,
    )


def again(whole: Change, failed: Iterable[tuple[Part, Snapshot]], *, by: str, channel: str) -> SetProposal:
    """Once more what was not done, on what there is now and until the same end.

    Parts whose target is gone, or there already, are left out. Where a target is no longer what was shown, the
    requester is asked first.
    """
    proposals = []
    for part, snapshot in failed:
        live = snapshot.live(part.target)
        if part.kind is not None and (live is not None) != part.kind.creates:
            proposals.append((_renewed(whole, part, live, by=by, channel=channel), part.source))
    if not proposals:
        raise NothingInSet(whole.title)
    parts = [part_of(number, proposal, source) for number, (proposal, source) in enumerate(proposals, 1)]
    asks = any(proposal.guard is Guard.CONFIRM for proposal, _ in proposals)
    return replace(
        set_of(whole.title, [proposal for proposal, _ in proposals]),
        parts=parts,
        guard=Guard.CONFIRM if asks else None,
    )


def _renewed(whole: Change, part: Part, live: Document | None, *, by: str, channel: str) -> Proposal:
    change = whole.model_copy(
        update={"kind": part.kind, "target": part.target, "before": part.before, "after": part.after, "size": 0}
    )
    return afresh(change, live, by=by, channel=channel)


def begun(whole: Change, part: Part, *, change_id: str, now: datetime) -> Change:
    """The change that a part of *whole* is, as it is written down just before it is sent."""
    if part.kind is None:
        raise ValueError("a part that is only on record")
    return Change(
        id=change_id,
        kind=part.kind,
        target=part.target,
        before=part.before,
        after=part.after,
        requester=whole.requester,
        channel=whole.channel,
        reason=whole.reason,
        guard=whole.guard,
        approvals=whole.approvals,
        decided_by=whole.decided_by,
        decided_at=whole.decided_at,
        created=now,
        state=State.APPLYING,
        attempt=1,
        undoes=part.undoes,
        part_of=whole.id,
        part_number=part.number,
        quiet_refusal=True,
    )
