"""What may be proposed: something new, the inverse of what was done, or the same again on what there is now."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final

from bot.changes.effects import Document
from bot.domain.change import Change, Guard, Kind, Target
from bot.domain.essence import NOT_CONTENT, essence
from bot.domain.rule import Rule, RuleDraft

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
    lasts: int | None = None
    """Seconds after which it takes itself back, counted from when it was applied."""
    ends: datetime | None = None
    """When it takes itself back."""
    ends_as_typed: str = ""
    agreed: bool = False
    """Agreed to before, as the end of a temporary change is: nobody's right is asked again."""
    settles_review: bool = False
    """Of an undo: the person who asks for it may review what it takes back, and so does."""

    def kept(self) -> dict[str, Any]:
        """What the record of a change keeps of these."""
        return {
            "requester": self.requester,
            "channel": self.channel,
            "reason": self.reason,
            "warnings": self.warnings,
            "undoes": self.undoes,
            "settles_review": self.settles_review,
            "lasts": self.lasts,
            "ends": self.ends,
            "ends_as_typed": self.ends_as_typed,
            "agreed": self.agreed,
        }


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


def afresh(change: Change, live: Document | None, *, by: str, channel: str) -> Proposal:
    """What *change* asked for, on its target as it is now: what it meant to change, and nothing else.

    Where the target is no longer what was shown, the requester is asked first.
    """
    after = change.after
    if live is not None and change.before is not None and after is not None:
        base = Rule.model_validate(live).body() if change.target.service == "rules" else live
        after = applied_to(base, change.before, after)
    moved = essence(live) != essence(change.before)
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
        lasts=change.lasts,
        ends=None if change.lasts else change.ends,
        ends_as_typed=change.ends_as_typed,
    )


def is_there(change: Change, live: Document | None) -> bool:
    """Whether *live* still has what *change* made, so that it can be taken back without touching what others did."""
    if essence(live) == essence(change.result):
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
