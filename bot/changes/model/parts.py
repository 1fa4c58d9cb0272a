"""The parts of a change besides its edit: its request, its decision, and its run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from typing import Annotated

from pydantic import Field

from bot.changes.model.documents import Document
from bot.changes.model.edits import Kind, Need


class CauseKind(StrEnum):
    """How a change came to undo another one."""

    UNDO = "undo"
    """Somebody undid it."""
    END = "end"
    """It was temporary, and its end was reached."""
    EARLY_END = "early end"
    """Somebody reverted it before its end."""


@dataclass(frozen=True, kw_only=True)
class Cause:
    """Why a change undoes another one: it stands in for a reason, which nobody typed."""

    kind: CauseKind
    requester: str
    """Who asked for what is undone."""
    late_seconds: int = 0
    """How many seconds late a revert at the end was begun."""
    tries: int = 1
    """Of a revert at the end: which try it is, counted from 1."""

    @property
    def is_automatic(self) -> bool:
        """Whether it happened automatically: then the requester of the change is the one who agreed to its end."""
        return self.kind is CauseKind.END


@dataclass(frozen=True, kw_only=True)
class ChangeRequest:
    """Who asks for a change, where and why, and when it is to start and end."""

    requester: str
    channel: str
    reason: str = ""
    reason_url: str = ""
    """Of what the reason names, where the policy says."""
    warnings: tuple[str, ...] = ()
    """What is wrong with it although it may be applied, one plain sentence each, for those who decide."""
    agent: str = ""
    """The agent that proposed it to the requester; empty where none did."""
    undoes: str | None = None
    """The id of the change that this one undoes."""
    cause: Cause | None = None
    """Of a change that undoes another one: why it does."""
    moved_from: str = ""
    """Of a new member: the email that they have had so far, which somebody removes once they have the new one."""
    undoes_own: bool = False
    """Whether it undoes what its requester did alone, shortly before."""
    starts_at: datetime | None = None
    """When it is to be done; None for at once."""
    starts_at_as_typed: str = ""
    """``on Friday 9:00 Europe/Berlin``: the start as somebody wrote it, with the zone that it was read in."""
    revert_after: int | None = None
    """Seconds after which the change is reverted automatically, counted from when it was applied."""
    reverts_at: datetime | None = None
    """When it is reverted automatically, once that is known; None again where somebody kept it."""
    reverts_at_as_typed: str = ""
    """``18:00 Europe/Berlin``: the end as somebody wrote it, with the zone that it was read in."""


class Guard(StrEnum):
    """What a change requires before it is made: nothing, the requester's own click, or somebody else's."""

    NONE = "none"
    CONFIRM = "confirm"
    APPROVE = "approve"
    APPROVE_OR_CONFIRM = "approve-or-confirm"
    """An approval where somebody else can give one, else the requester's own confirmation. Used in policies only."""


@dataclass(frozen=True, kw_only=True)
class Approval:
    """One of the approvals that a change needs."""

    by: str
    at: datetime


@dataclass(frozen=True, kw_only=True)
class ChangeDecision:
    """What a change requires, and what people have decided about it."""

    guard: Guard = Guard.NONE
    approvals_needed: int = 1
    approvers: tuple[str, ...] = ()
    """Names of the roles that may approve; empty means everybody in the channel who may ``approve``."""
    self_approval: bool = False
    break_glass: tuple[str, ...] = ()
    """Names of the roles whose people may go ahead alone."""
    summoned: tuple[str, ...] = ()
    """Ids of the people and user groups that the request mentions."""
    approvers_summoned: bool = True
    """Whether these may approve it; else the policy only wants them to know."""
    expires: datetime | None = None
    approvals: tuple[Approval, ...] = ()
    decided_by: str | None = None
    decided_at: datetime | None = None
    decision_reason: str = ""
    """Why it was denied, or why somebody used the emergency override."""
    glass_broken: bool = False

    def with_requirements_of(self, other: ChangeDecision) -> ChangeDecision:
        """Return the same decisions of people about a change that requires what the *other* one requires."""
        return replace(
            self,
            guard=other.guard,
            approvals_needed=other.approvals_needed,
            approvers=other.approvers,
            self_approval=other.self_approval,
            break_glass=other.break_glass,
            summoned=other.summoned,
            approvers_summoned=other.approvers_summoned,
        )

    def has_requirements_of(self, other: ChangeDecision) -> bool:
        """Whether this change requires the same as the *other*."""
        return self == self.with_requirements_of(other)


class Held(StrEnum):
    """Why a planned change doesn't begin: somebody has to decide what happens to it."""

    NOT = ""
    """Not held: it has begun, or will begin."""
    LATE = "late"
    """Nobody could begin it within `LATE_START`: Gatehouse, Slack or its service was away, or another change came first."""
    RIGHT = "right"
    """Somebody who asked or approved has no right to it any more."""
    POLICY = "policy"
    """The policy requires more now."""
    FROZEN = "frozen"
    """It may not be changed at that time."""


class RevertFailure(StrEnum):
    """Why a temporary change was not reverted at its end, as agreed."""

    NONE = ""
    """It was reverted, or will be."""
    CHANGED = "changed"
    """Somebody edited its target in the meantime."""
    GONE = "gone"
    REFUSED = "refused"
    """The service said no, or it can't be sent at all."""
    UNCONFIRMED = "unconfirmed"
    PARTLY = "partly"
    """Not all was reverted: others edited some of it, or the service refused."""


@dataclass(frozen=True, kw_only=True)
class Undone:
    """How a change was undone: by which other *change*, when, at whose request, and why."""

    change: str
    at: datetime
    by: str
    cause: Cause
    reason: str = ""


@dataclass(frozen=True, kw_only=True)
class Refused:
    """An error kept a change from being done, or keeps anybody from knowing."""

    code: str
    """The name of the error."""
    words: str = ""
    """What the service said, or what became of the call; for people."""


@dataclass(frozen=True, kw_only=True)
class LostRight:
    """*who* no longer had the right to a change when it was to be executed."""

    who: str
    why: str
    """The value of a `bot.policy.model.Why`."""


@dataclass(frozen=True, kw_only=True)
class Frozen:
    """A change was frozen before it could be done."""

    until: datetime


@dataclass(frozen=True, kw_only=True)
class Run:
    """The execution of a change since its approval: claims, errors, outcome, and what happened to it later."""

    held: Held = Held.NOT
    held_at: datetime | None = None
    started_at: datetime | None = None
    """When a planned change began, at its time or because somebody said so."""
    waits: str = ""
    """While approved: why it is not being applied yet."""
    attempt: int = 0
    """How often it was claimed, to be done or reconciled, since it was approved or last deferred."""
    resends: int = 0
    """How often a process that took it over began to resend it."""
    token: Annotated[int, Field(exclude=True)] = 0
    """The fencing token: grows with every claim and never shrinks. A column of its own keeps it, not the document."""
    leased_until: Annotated[datetime | None, Field(exclude=True)] = None
    """When the lease of its claim ends; None where the change was only read."""
    lookalikes: tuple[str, ...] | None = None
    """Of a rule to be created: the ids of those that looked just like it before it was sent; None until somebody looked."""
    accepted: bool = False
    """The service returned success, though reads don't show the change yet: it must never be called failed."""
    why_not: Refused | LostRight | Frozen | None = None
    """Why it was not done, may not have been, or can't begin."""
    result: Document | None = None
    """The target as it was last seen: read back after the change was applied, or found live when it turned out stale."""
    finished_at: datetime | None = None
    overtaken_by: str = ""
    """Of a request that went stale while it waited: who changed its target, where that was done with Gatehouse."""
    time_changed_by: str = ""
    """Who last changed the start of a planned change or the end of a temporary one, or kept it; empty where nobody did."""
    stopped_by: str | None = None
    """Of a bulk change: who stopped it before all of its items were done."""
    undone: Undone | None = None
    closes: tuple[str, ...] = ()
    """The ids of the temporary changes of which it took a part away, or gave one for good."""
    ends_with: str = ""
    """The id of the temporary change that had created its target: what this one did goes with the end of that."""
    closed: Mapping[str, str] = field(default_factory=dict)
    """Of a temporary change: for parts of its difference, the id of the later change that took it away, or gave it for good."""
    revert_failure: RevertFailure = RevertFailure.NONE
    """What the look at its end found, where that put nothing back."""

    @property
    def refusal(self) -> Refused:
        """Return the error that it ended with; one without a code where that was none."""
        return self.why_not if isinstance(self.why_not, Refused) else Refused(code="")


class BulkAct(StrEnum):
    """What a bulk change does to each of its items."""

    SWITCH_ON = "switch_on"
    SWITCH_OFF = "switch_off"
    CHANGE = "change"
    DELETE = "delete"
    REMOVE = "remove"
    OFFBOARD = "offboard"
    """Remove people from every site: it has an item for each site."""
    GRANT = "grant"
    REVOKE = "revoke"
    IMPORT = "import"


@dataclass(frozen=True, kw_only=True)
class Purpose:
    """What a bulk change is for, from which its title is made."""

    act: BulkAct
    about: str = ""
    """What its title names besides the number of its items: the segments, the people, or the file and its site."""
    is_undo: bool = False

    def inverse(self) -> Purpose:
        """Return the purpose of the undo."""
        return replace(self, is_undo=True)


@dataclass(frozen=True, kw_only=True)
class Bulk:
    """The fields of a bulk change besides its items."""

    size: int = 0
    """How many items it has; 0 for a change of one thing."""
    kinds: tuple[Kind, ...] = ()
    """Every kind among its items, the weightiest first."""
    needs_of_items: tuple[Need, ...] = ()
    """Everything that its items need."""
    purpose: Purpose | None = None
    """None for a change of one thing."""
    to_do: int = 0
    """How many of its items are to be done: the others are only on record."""
