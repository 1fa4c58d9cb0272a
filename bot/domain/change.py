"""A change: the only shape in which anything is ever written. Its states, its moves, its fingerprint.

The table of moves is the whole machine; the store applies each as one compare-and-set, so a move that is not
in the table cannot be written.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import Any, Final

from pydantic import Field

from bot.domain.essence import essence, fingerprint
from bot.domain.operations import Need, operations_of
from bot.domain.stored import Stored


class State(StrEnum):
    PROPOSED = "proposed"
    APPROVED = "approved"
    APPLYING = "applying"
    APPLIED = "applied"
    FAILED = "failed"
    UNKNOWN = "unknown"
    STALE = "stale"
    CANCELLED = "cancelled"
    DENIED = "denied"
    EXPIRED = "expired"
    UNSETTLED = "unsettled"


class Move(StrEnum):
    APPROVE = "approve"
    CANCEL = "cancel"
    DENY = "deny"
    EXPIRE = "expire"
    OUTDATE = "outdate"
    CLAIM = "claim"
    FINISH = "finish"
    FAIL = "fail"
    LOSE = "lose"
    DEFER = "defer"
    WITHDRAW = "withdraw"
    LEAVE = "leave"


MOVES: Final[Mapping[tuple[State, Move], State]] = {
    (State.PROPOSED, Move.APPROVE): State.APPROVED,
    (State.PROPOSED, Move.CANCEL): State.CANCELLED,
    (State.PROPOSED, Move.DENY): State.DENIED,
    (State.PROPOSED, Move.EXPIRE): State.EXPIRED,
    (State.PROPOSED, Move.OUTDATE): State.STALE,
    (State.APPROVED, Move.CLAIM): State.APPLYING,
    (State.APPROVED, Move.EXPIRE): State.EXPIRED,
    (State.APPROVED, Move.WITHDRAW): State.CANCELLED,
    (State.APPLYING, Move.OUTDATE): State.STALE,
    (State.APPLYING, Move.FINISH): State.APPLIED,
    (State.APPLYING, Move.FAIL): State.FAILED,
    (State.APPLYING, Move.LOSE): State.UNKNOWN,
    (State.APPLYING, Move.DEFER): State.APPROVED,
    (State.UNKNOWN, Move.FINISH): State.APPLIED,
    (State.UNKNOWN, Move.FAIL): State.FAILED,
    (State.UNKNOWN, Move.LEAVE): State.UNSETTLED,
}
"""WITHDRAW: what was approved and waits for its service is no longer wanted. DEFER: nothing was sent, for the service
is away, so it is tried again. LEAVE: reading back settles nothing."""

HOLDING: Final = frozenset({State.APPROVED, State.APPLYING, State.UNKNOWN})
"""States in which a change holds its target: a second one of the same target is refused. A request that waits for a
decision holds nothing, or anybody could keep everybody else from a target by asking for something."""

LIVE: Final = HOLDING | {State.PROPOSED}
"""States of a change that has not ended."""


def sources(move: Move) -> frozenset[State]:
    """The states that *move* may start from."""
    return frozenset(state for state, made in MOVES if made is move)


class Kind(StrEnum):
    RULE_CREATE = "rule.create"
    RULE_UPDATE = "rule.update"
    RULE_DELETE = "rule.delete"
    GROUP_UPDATE = "group.update"
    MEMBER_ADD = "member.add"
    MEMBER_UPDATE = "member.update"
    MEMBER_GRANT = "member.grant"
    MEMBER_REVOKE = "member.revoke"
    MEMBER_REMOVE = "member.remove"

    @property
    def operation(self) -> str:
        """The policy's name for it: a group has no rights of its own, its rules are what changes."""
        return Kind.RULE_UPDATE.value if self is Kind.GROUP_UPDATE else self.value

    @property
    def destroys(self) -> bool:
        return self in {Kind.RULE_DELETE, Kind.MEMBER_REMOVE}

    @property
    def creates(self) -> bool:
        return self in {Kind.RULE_CREATE, Kind.MEMBER_ADD}


class Guard(StrEnum):
    """What stands before a change: nothing, the requester's own click, or somebody else's."""

    NONE = "none"
    CONFIRM = "confirm"
    APPROVE = "approve"
    APPROVE_OR_CONFIRM = "approve-or-confirm"
    """Somebody else's where there is somebody else, the requester's own where there is nobody. Of policies only."""


class Target(Stored):
    """What a change is about. *key* is a rule's or a group's id or a member's e-mail; a rule to be created has none yet."""

    service: str
    site: str | None = None
    key: str | None = None

    def __str__(self) -> str:
        return "/".join(part for part in (self.service, self.site, self.key) if part)


class Approval(Stored):
    """One of the approvals that a change needs."""

    by: str
    at: datetime


class Question(Stored):
    """What somebody wants to know before they decide."""

    by: str
    text: str


class Change(Stored):
    """One recorded change. Times are UTC; *before* and *after* are the target's content, None where it is absent."""

    id: str
    kind: Kind
    target: Target
    before: dict[str, Any] | None
    after: dict[str, Any] | None
    requester: str
    channel: str
    reason: str = ""
    guard: Guard = Guard.NONE
    approvals_needed: int = 1
    approvals: tuple[Approval, ...] = ()
    approvers: tuple[str, ...] = ()
    """Names of the roles that may approve; none means whoever may, of the channel."""
    self_approval: bool = False
    summoned: tuple[str, ...] = ()
    """Ids of the people and user groups that are asked by name."""
    questions: tuple[Question, ...] = ()
    break_glass: tuple[str, ...] = ()
    """Names of the roles whose people may go ahead alone."""
    lasts: int | None = None
    """Seconds after which the change takes itself back; counted from when it was applied."""
    ends: datetime | None = None
    """When it takes itself back, once that is known; None again when it was made to stay."""
    ends_as_typed: str = ""
    """``18:00 Europe/Berlin``: the end as somebody wrote it, with the zone that it was read in."""
    agreed: bool = False
    """Agreed to before, as the end of a temporary change is: nobody's right to it is asked for."""
    ending: str = ""
    """Why a temporary change did not take itself back as agreed: ``changed`` meanwhile, ``gone``, ``refused``."""
    state: State = State.PROPOSED
    created: datetime
    expires: datetime | None = None
    decision_reason: str = ""
    """Why it was denied, or why somebody broke the glass."""
    glass_broken: bool = False
    reviewed_by: str | None = None
    waits: str = ""
    """While approved: why it is not being applied yet."""
    decided_by: str | None = None
    decided_at: datetime | None = None
    finished_at: datetime | None = None
    outcome: str = ""
    """After the end: the service's message or the id of what was created; for people, not for decisions."""
    accepted: bool = False
    """The service said yes, and what it shows does not say so yet: never to be called failed."""
    refusal: str | None = None
    """The name of the error that a service refused with, where one did."""
    lost_right: str = ""
    """Who had no right to it any more when it was to be carried out; *outcome* says why."""
    result: dict[str, Any] | None = None
    """What was read back after the change was applied, or found live when it turned out stale."""
    attempt: int = 0
    """How often it was taken up to be done, or settled, since it was approved or last put back."""
    token: int = Field(default=0, exclude=True)
    """The fencing token: grows with every claim and never shrinks. A column of its own keeps it, not the document."""
    held_until: datetime | None = Field(default=None, exclude=True)
    """When the lease ends that it was claimed with; None where it was only read."""
    undoes: str | None = None
    """The id of the change that this one takes back."""
    undone_by: str | None = None
    """The id of the applied change that took this one back."""
    settles_review: bool = False
    """Of an undo: it is the review of what it takes back, since somebody else who may review it asked for it."""
    size: int = 0
    """Of a change set: how many parts it has; 0 for a change of one thing."""
    kinds: tuple[Kind, ...] = ()
    """Of a change set: every kind among its parts; *kind* is the weightiest."""
    needs_of_parts: tuple[Need, ...] = ()
    """Of a change set: every operation that its parts need, by site; records of older releases have none."""
    title: str = ""
    """Of a change set: what it does, in a few words."""
    columns: tuple[str, ...] = ()
    """Of an imported set: the headings of its table, which whoever asked gets back with an outcome for each row."""
    separator: str = ","
    stopped_by: str | None = None
    """Of a change set: who stopped it before all of its parts were done."""
    part_of: str | None = None
    """The id of the change set that this change is a part of."""
    part_number: int = 0
    warnings: tuple[str, ...] = ()
    """What is wrong with it all the same, one plain sentence each; whoever decides is to see them."""
    preview: tuple[str, ...] = ()
    """What it does to addresses that people know, in plain lines, by the rules as they were when it was asked for."""
    quiet_refusal: bool = False
    """Whoever asked sees a refusal where they typed it, so the channel gets no card of it."""
    ignorable: tuple[str, ...] = ()
    """Names of fields that an older release may act without, though it doesn't know them."""

    @property
    def is_set(self) -> bool:
        return self.size > 0

    @property
    def needs(self) -> tuple[Need, ...]:
        """Every operation of the policy that it takes to ask for this, by site."""
        if self.is_set:
            return self.needs_of_parts or tuple(
                dict.fromkeys((kind.operation, None) for kind in self.kinds or (self.kind,))
            )
        found = operations_of(self.kind.operation, self.before, self.after)
        return tuple((operation, self.target.site) for operation in found)

    @property
    def operations(self) -> tuple[str, ...]:
        """Every operation of the policy that it takes to ask for this."""
        return tuple(dict.fromkeys(operation for operation, _ in self.needs))

    def approved_by(self, person: str, at: datetime) -> Change:
        """This change with the approval of *person*, who counts once."""
        if any(given.by == person for given in self.approvals):
            return self
        return self.model_copy(update={"approvals": (*self.approvals, Approval(by=person, at=at))})

    @property
    def review_owed(self) -> bool:
        """Whether somebody acted alone and nobody else has looked at it since; its end or an undo of theirs is no look."""
        open_ = self.state in {State.APPLIED, State.UNKNOWN, State.UNSETTLED}
        return self.glass_broken and open_ and self.reviewed_by is None

    @property
    def temporary(self) -> bool:
        """Whether it is in force and will take itself back."""
        return self.state is State.APPLIED and self.ends is not None and self.undone_by is None and not self.ending

    @property
    def fingerprint(self) -> str:
        """Of everything that a decider is shown: the same target, before and after give the same text."""
        return fingerprint([self.kind, str(self.target), essence(self.before), essence(self.after)])
