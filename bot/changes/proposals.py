"""What may be proposed, one change or many: something new, the inverse of what was done, or the same again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import datetime
from typing import Any, Final

from bot.changes.model import NOT_CONTENT, Change, Guard, Item, Kind, State, Target, canonical_form, weightiest
from bot.changes.verify import Document, Snapshot
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
"""The kind of change that takes one of this kind back."""

SEGMENTS: Final = "allowedSegments"
"""The field of a member that is a set: what somebody else adds to it or drops from it stays."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """Who asks for something, where and why, what must stand before it, and how long it is to last."""

    requester: str
    channel: str
    reason: str = ""
    guard: Guard | None = None
    """What must stand before it whatever the policy says; None leaves it to the policy."""
    warnings: tuple[str, ...] = ()
    """What is wrong with it all the same, in plain words for its card."""
    undoes: str | None = None
    """The change that this one takes back."""
    revert_after: int | None = None
    """Seconds after which it takes itself back, counted from when it was applied."""
    reverts_at: datetime | None = None
    """When it takes itself back."""
    reverts_at_as_typed: str = ""
    agreed: bool = False
    """Agreed to before, as the end of a temporary change is: nobody's right is asked again."""
    settles_review: bool = False
    """Of an undo: the person who asks for it may review what it takes back, and so does."""

    def kept(self) -> dict[str, Any]:
        """What the record of a change keeps of these."""
        return {each.name: getattr(self, each.name) for each in fields(Terms) if each.name != "guard"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal(Terms):
    """What somebody wants changed. *before* is what they were shown; None for something new."""

    kind: Kind
    target: Target
    before: Document | None
    after: Document | None
    preview: tuple[str, ...] = ()
    """What it does to known addresses, in plain words for its card."""
    quiet_refusal: bool = False
    """The one who asks sees a refusal where they typed, so the channel need not."""

    def change(self, id_: str, created: datetime) -> Change:
        """The change that this asks for, with no guard before it yet."""
        return Change(
            id=id_,
            kind=self.kind,
            target=self.target,
            before=self.before,
            after=self.after,
            preview=self.preview,
            quiet_refusal=self.quiet_refusal,
            created=created,
            **self.kept(),
        )


def inverse(change: Change, live: Document | None = None, *, by: str, channel: str, reason: str = "") -> Proposal:
    """What takes *change* back on *live*, its target as it is now, if that is known: from what it made, to what was before.

    Of a member it is the difference that is taken back, so that segments which somebody gave or took since stay so.
    Where *live* no longer has what the change made, the proposal is for what it made, and will be found out of date.
    """
    kind, before, after = UNDONE_BY[change.kind], change.result, change.before
    if after is not None and change.target.service == "rules":
        after = RuleDraft.model_validate(after).body()
    elif after is not None and kind is Kind.MEMBER_ADD:
        after = {name: after[name] for name in ("name", "email", "allowedSegments") if name in after}
    elif change.target.service == "members" and None not in (before, after, live):
        before = live if is_there(change, live) else before
        after = applied_to(live or {}, change.result or {}, after or {})
    return Proposal(
        kind=kind,
        target=change.target.model_copy(update={"key": None}) if kind is Kind.RULE_CREATE else change.target,
        before=before if change.after is not None else None,
        after=after,
        requester=by,
        channel=channel,
        reason=reason or f"undo of {change.id[:8]}",
        undoes=change.id,
    )


def put_back(change: Change, live: Document, *, by: str, channel: str) -> Proposal:
    """The inverse of *change*, though somebody changed its target since: from *live*, and only after a look at it."""
    undo = inverse(change, live, by=by, channel=channel, reason=f"end of {change.id[:8]}, though it was changed since")
    return replace(undo, before=live, guard=Guard.CONFIRM)


def request_again(change: Change, live: Document | None, *, by: str, channel: str) -> Proposal:
    """What *change* asked for, on its target as it is now: what it meant to change, and nothing else.

    Where the target is no longer what was shown, the requester is asked first.
    """
    after = change.after
    if live is not None and change.before is not None and after is not None:
        base = Rule.model_validate(live).body() if change.target.service == "rules" else live
        after = applied_to(base, change.before, after)
    moved = canonical_form(live) != canonical_form(change.before)
    return Proposal(
        kind=change.kind,
        target=change.target,
        before=live,
        after=after,
        requester=by,
        channel=channel,
        guard=Guard.CONFIRM if moved else None,
        reason=change.reason,
        warnings=change.warnings,
        revert_after=change.revert_after,
        reverts_at=None if change.revert_after else change.reverts_at,
        reverts_at_as_typed=change.reverts_at_as_typed,
    )


def is_there(change: Change, live: Document | None) -> bool:
    """Whether *live* still has what *change* made, so that it can be taken back without touching what others did."""
    if canonical_form(live) == canonical_form(change.result):
        return True
    if change.target.service != "members" or live is None or change.result is None or change.before is None:
        return False
    fields = {name for name, value in change.before.items() if change.result.get(name) != value} - {SEGMENTS}
    untouched = all(live.get(name) == change.result.get(name) for name in fields)
    return untouched and applied_to(live, change.result, change.before) != live


def applied_to(live: Document, before: Document, after: Document) -> Document:
    """*live* with what differs between *before* and *after*: fields whole, segments one by one."""
    changed = {name: value for name, value in after.items() if value != before.get(name)}
    if SEGMENTS in changed:
        had, has = before.get(SEGMENTS) or [], after[SEGMENTS] or []
        now = [name for name in live.get(SEGMENTS) or [] if name in has or name not in had]
        changed[SEGMENTS] = [*now, *(name for name in has if name not in had and name not in now)]
    dropped = {name for name in before if name not in after and name not in NOT_CONTENT}
    return {name: value for name, value in live.items() if name not in dropped} | changed


class NothingInSet(Exception):
    """A set without an item that is to be done."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SetProposal(Terms):
    """Several changes, to be decided as one. *title*: what it does, in a few words that a channel may see."""

    title: str
    items: Sequence[Item]
    columns: tuple[str, ...] = ()
    """The headings of the table that the items come from."""
    separator: str = ","

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """Every kind that is to be done, the weightiest first; raises NothingInSet."""
        if not (kinds := weightiest(item.kind for item in self.items if item.kind is not None)):
            raise NothingInSet(self.title)
        return kinds

    def change(self, id_: str, created: datetime) -> Change:
        """The change that stands for all items, with no guard before it yet; raises NothingInSet."""
        kinds = self.kinds
        return Change(
            id=id_,
            kind=kinds[0],
            kinds=kinds,
            needs_of_items=tuple(dict.fromkeys(need for item in self.items for need in item.needs)),
            size=len(self.items),
            title=self.title,
            target=Target(service=self.items[0].target.service),
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
        items=[item_of(number, proposal) for number, proposal in enumerate(proposals, 1)],
        requester=first.requester,
        channel=first.channel,
        reason=first.reason,
        revert_after=first.revert_after,
        reverts_at=first.reverts_at,
        reverts_at_as_typed=first.reverts_at_as_typed,
        warnings=tuple(dict.fromkeys(line for proposal in proposals for line in proposal.warnings)),
    )


def item_of(number: int, proposal: Proposal, source: str = "") -> Item:
    return Item(
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
    """What takes back those items of *whole* that were *done*, on what there is now of each, the last one first."""
    proposals = [inverse(change, live, by=by, channel=channel, reason=reason) for change, live in done]
    return SetProposal(
        title=f"Undo: {whole.title}" if whole.undoes is None else whole.title.removeprefix("Undo: "),
        items=[item_of(number, proposal) for number, proposal in enumerate(reversed(proposals), 1)],
        requester=by,
        channel=channel,
        reason=reason or f"undo of {whole.id[:8]}",
        undoes=whole.id,
    )


def again(whole: Change, failed: Iterable[tuple[Item, Snapshot]], *, by: str, channel: str) -> SetProposal:
    """Once more what was not done, on what there is now and until the same end.

    Items whose target is gone, or there already, are left out. Where a target is no longer what was shown, the
    requester is asked first.
    """
    proposals = []
    for item, snapshot in failed:
        live = snapshot.live(item.target)
        if item.kind is not None and (live is not None) != item.kind.creates:
            proposals.append((_renewed(whole, item, live, by=by, channel=channel), item.source))
    if not proposals:
        raise NothingInSet(whole.title)
    items = [item_of(number, proposal, source) for number, (proposal, source) in enumerate(proposals, 1)]
    asks = any(proposal.guard is Guard.CONFIRM for proposal, _ in proposals)
    return replace(
        set_of(whole.title, [proposal for proposal, _ in proposals]),
        items=items,
        guard=Guard.CONFIRM if asks else None,
    )


def _renewed(whole: Change, item: Item, live: Document | None, *, by: str, channel: str) -> Proposal:
    change = whole.model_copy(
        update={"kind": item.kind, "target": item.target, "before": item.before, "after": item.after, "size": 0}
    )
    return request_again(change, live, by=by, channel=channel)


def begun(whole: Change, item: Item, *, change_id: str, now: datetime) -> Change:
    """The change that an item of *whole* is, as it is written down just before it is sent."""
    if item.kind is None:
        raise ValueError("a part that is only on record")
    return Change(
        id=change_id,
        kind=item.kind,
        target=item.target,
        before=item.before,
        after=item.after,
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
        undoes=item.undoes,
        set_id=whole.id,
        item_number=item.number,
        quiet_refusal=True,
    )
