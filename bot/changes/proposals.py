"""What may be proposed: something new, the inverse of what was done, or the same again on what there is now."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final

from bot.changes.effects import Document
from bot.domain.change import Change, Guard, Kind, Target
from bot.domain.rule import Rule, RuleDraft

UNDONE_BY: Final[Mapping[Kind, Kind]] = {
    Kind.RULE_CREATE: Kind.RULE_DELETE,
    Kind.RULE_UPDATE: Kind.RULE_UPDATE,
    Kind.RULE_DELETE: Kind.RULE_CREATE,
    Kind.GROUP_UPDATE: Kind.GROUP_UPDATE,
    Kind.MEMBER_ADD: Kind.MEMBER_REMOVE,
    Kind.MEMBER_UPDATE: Kind.MEMBER_UPDATE,
    Kind.MEMBER_GRANT: Kind.MEMBER_UPDATE,
    Kind.MEMBER_REVOKE: Kind.MEMBER_UPDATE,
    Kind.MEMBER_REMOVE: Kind.MEMBER_ADD,
}
"""The kind of change that takes one of this kind back."""


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

    def kept(self) -> dict[str, Any]:
        """What the record of a change keeps of these."""
        return {
            "requester": self.requester,
            "channel": self.channel,
            "reason": self.reason,
            "warnings": self.warnings,
            "undoes": self.undoes,
            "lasts": self.lasts,
            "ends": self.ends,
            "ends_as_typed": self.ends_as_typed,
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


def inverse(change: Change, *, by: str, channel: str, agreed: bool = False, reason: str = "") -> Proposal:
    """What takes *change* back: from what it made, to what was before."""
    kind = UNDONE_BY[change.kind]
    after = change.before
    if after is not None and change.target.service == "rules":
        after = RuleDraft.model_validate(after).body()
    elif after is not None and kind is Kind.MEMBER_ADD:
        after = {name: after[name] for name in ("name", "email", "allowedSegments") if name in after}
    return Proposal(
        kind=kind,
        target=change.target.model_copy(update={"key": None}) if kind is Kind.RULE_CREATE else change.target,
        before=change.result if change.after is not None else None,
        after=after,
        requester=by,
        channel=channel,
        reason=reason or f"undo of {change.id[:8]}",
        undoes=change.id,
        agreed=agreed,
    )


def put_back(change: Change, live: Document, *, by: str, channel: str) -> Proposal:
    """The inverse of *change*, though somebody changed its target since: from *live*, and only after a look at it."""
    undo = inverse(change, by=by, channel=channel, reason=f"end of {change.id[:8]}, though it was changed since")
    return replace(undo, before=live, guard=Guard.CONFIRM)


def afresh(change: Change, live: Document | None, *, by: str, channel: str) -> Proposal:
    """What *change* asked for, on its target as it is now: the fields that it meant to change, and no others."""
    after = change.after
    if live is not None and change.before is not None and after is not None:
        meant = {name: value for name, value in after.items() if value != change.before.get(name)}
        base = Rule.model_validate(live).body() if change.target.service == "rules" else live
        after = base | meant
    return Proposal(
        kind=change.kind,
        target=change.target,
        before=live,
        after=after,
        requester=by,
        channel=channel,
        guard=Guard.CONFIRM,
        reason=change.reason,
        lasts=change.lasts,
        ends=change.ends,
        ends_as_typed=change.ends_as_typed,
    )
