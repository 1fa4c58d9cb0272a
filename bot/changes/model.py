"""Changes and bulk changes: the only shape in which anything is written, with their states, moves and fingerprints."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, Final, NamedTuple, Self, TypeAlias

from pydantic import Field

from bot.rules.model import SERVER_FIELDS
from bot.text.documents import Stored

NOT_CONTENT: Final = SERVER_FIELDS | {"objectType", "schemaVersion", "isSample"}
"""Fields that services add, drop or renumber by themselves: no sign that a person changed anything."""


Document = dict[str, Any]
"""A rule, a group or a member, as its service has it."""


def canonical_form(document: Mapping[str, Any] | None) -> Document | None:
    """What makes two readings of one rule or member the same to a person; None where it is absent."""
    if document is None:
        return None
    kept = {name: value for name, value in document.items() if name not in NOT_CONTENT}
    if isinstance(pairs := kept.get("pairs"), list):
        kept["pairs"] = [
            {name: value for name, value in pair.items() if name != "id"} if isinstance(pair, dict) else pair
            for pair in pairs
        ]
    if isinstance(segments := kept.get("allowedSegments"), list):
        kept["allowedSegments"] = sorted(segments, key=str)
    return kept


def fingerprint(content: object) -> str:
    """SHA-256 of *content* in one canonical JSON form, so that key order and spacing don't matter."""
    canonical = json.dumps(content, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(canonical.encode("utf-8", "surrogatepass")).hexdigest()


Need: TypeAlias = tuple[str, str | None]
"""An operation of the policy, and the site of the members that it is needed for; None for rules."""


def operations_of(operation: str, before: Mapping[str, Any] | None, after: Mapping[str, Any] | None) -> tuple[str, ...]:
    """Return every operation that it takes to make *after* of *before*; *operation* is the one of its kind.

    A form or an undo may rename a member, give access and take access, all at once; a row of a file renames nobody. Each
    of these is an operation of its own, so no other way to ask for it passes by its right or its guard.
    """
    if not operation.startswith("member.") or (before is None and after is None):
        return (operation,)
    had, has = _segments(before), _segments(after)
    needed = {
        "member.add": before is None,
        "member.remove": after is None,
        "member.update": before is not None and after is not None and before.get("name") != after.get("name"),
        "member.grant": bool(has - had),
        "member.revoke": after is not None and bool(had - has),
    }
    return tuple(name for name, is_needed in needed.items() if is_needed) or (operation,)


def _segments(member: Mapping[str, Any] | None) -> frozenset[str]:
    return frozenset((member or {}).get("allowedSegments") or ())


def has_access_of(live: Mapping[str, Any] | None, other: Mapping[str, Any] | None) -> bool:
    """Whether the member *live* is there and has every segment of the *other*."""
    return live is not None and _segments(live) >= _segments(other)


class State(StrEnum):
    PROPOSED = "proposed"
    PLANNED = "planned"
    """Decided, and its time has not come."""
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
    PLAN = "plan"
    START = "start"
    REPLAN = "replan"
    CANCEL = "cancel"
    DENY = "deny"
    EXPIRE = "expire"
    INVALIDATE = "invalidate"
    CLAIM = "claim"
    FINISH = "finish"
    FAIL = "fail"
    MARK_UNKNOWN = "mark_unknown"
    DEFER = "defer"
    WITHDRAW = "withdraw"
    GIVE_UP = "give_up"


MOVES: Final[Mapping[tuple[State, Move], State]] = {
    (State.PROPOSED, Move.APPROVE): State.APPROVED,
    (State.PROPOSED, Move.PLAN): State.PLANNED,
    (State.PROPOSED, Move.CANCEL): State.CANCELLED,
    (State.PROPOSED, Move.DENY): State.DENIED,
    (State.PROPOSED, Move.EXPIRE): State.EXPIRED,
    (State.PROPOSED, Move.INVALIDATE): State.STALE,
    (State.PLANNED, Move.START): State.APPROVED,
    (State.PLANNED, Move.REPLAN): State.PROPOSED,
    (State.PLANNED, Move.WITHDRAW): State.CANCELLED,
    (State.PLANNED, Move.EXPIRE): State.EXPIRED,
    (State.PLANNED, Move.INVALIDATE): State.STALE,
    (State.APPROVED, Move.CLAIM): State.APPLYING,
    (State.APPROVED, Move.EXPIRE): State.EXPIRED,
    (State.APPROVED, Move.WITHDRAW): State.CANCELLED,
    (State.APPLYING, Move.INVALIDATE): State.STALE,
    (State.APPLYING, Move.FINISH): State.APPLIED,
    (State.APPLYING, Move.FAIL): State.FAILED,
    (State.APPLYING, Move.MARK_UNKNOWN): State.UNKNOWN,
    (State.APPLYING, Move.DEFER): State.APPROVED,
    (State.UNKNOWN, Move.FINISH): State.APPLIED,
    (State.UNKNOWN, Move.FAIL): State.FAILED,
    (State.UNKNOWN, Move.GIVE_UP): State.UNSETTLED,
}
"""PLAN: it is approved for later. START: its time has come. REPLAN: it is to be approved for another time. WITHDRAW: what
was approved and waits for its time or its service is no longer wanted. DEFER: nothing was sent, for the service
is away, so it is tried again. MARK_UNKNOWN: it may have been done or not, so it is reconciled. GIVE_UP: reconciling has
found nothing out."""

HOLDING: Final = frozenset({State.APPROVED, State.APPLYING, State.UNKNOWN})
"""States in which a change holds its target: a second one of the same target is refused. A request that waits for a
decision or for its time holds nothing, or anybody could keep everybody else from a target by asking for something."""

LIVE: Final = HOLDING | {State.PROPOSED, State.PLANNED}
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
    """What a change is about. *key* is a rule's or a group's id or a member's email; a rule to be created has none yet."""

    service: str
    site: str | None = None
    key: str | None = None

    @property
    def place(self) -> tuple[str, str | None]:
        """The service and the site, whose targets are read and written together."""
        return self.service, self.site

    def __str__(self) -> str:
        return "/".join(filter(None, (self.service, self.site, self.key)))


class Approval(Stored):
    """One of the approvals that a change needs."""

    by: str
    at: datetime
    for_later: bool = False
    """It is to wait until somebody says when."""


class Question(Stored):
    """What somebody wants to know before they decide."""

    by: str
    text: str


class Edit(Stored):
    """What is to be written: *before* and *after* are the target's content, None where it is absent."""

    kind: Kind
    target: Target
    before: Document | None
    after: Document | None

    @property
    def name(self) -> str:
        """What people call the thing; empty where they don't, such as a member known by email alone."""
        return str((self.before or self.after or {}).get("name") or "")

    @property
    def needs(self) -> tuple[Need, ...]:
        """Every operation of the policy that it takes to ask for this, by site."""
        found = operations_of(self.kind.operation, self.before, self.after)
        return tuple((operation, self.target.site) for operation in found)


class CauseKind(StrEnum):
    """How a change came to undo another one."""

    UNDO = "undo"
    """Somebody undid it."""
    END = "end"
    """It was temporary, and its end was reached."""
    EARLY_END = "early end"
    """Somebody reverted it before its end."""
    LATE_END = "late end"
    """Somebody reverted it after its end, at which it was left because others had changed it since."""


class Cause(Stored):
    """What a change that undoes another one follows from. Nobody has typed a reason for it."""

    kind: CauseKind
    requester: str
    """Who asked for what is undone."""
    late_seconds: int = 0
    """Of an end that was begun late: how much."""
    tries: int = 1
    """Of an end: which try it is."""

    @property
    def is_automatic(self) -> bool:
        """Whether nobody did it: then the requester of the change is the one who agreed to its end."""
        return self.kind is CauseKind.END


class Undone(Stored):
    """How a change was undone: when, at whose request, and why."""

    at: datetime
    by: str
    cause: Cause


class Redone(Stored):
    """How a change came to count again after it was undone: its undo was undone by the *change*, at whose request and when."""

    change: str
    by: str
    at: datetime


class ChangeRequest(Stored):
    """Who asks for a change, where and why, what they say of it, and how long it is to last."""

    requester: str
    channel: str
    reason: str = ""
    warnings: tuple[str, ...] = ()
    """What is wrong with it although it may be made, one plain sentence each, for those who decide."""
    preview: tuple[str, ...] = ()
    """What it does to addresses that people know, in plain lines, by the rules as they were when it was asked for."""
    frozen_until: datetime | None = None
    """Until when what it changes was frozen as it was asked for: till then only the emergency override lets it through."""
    quiet_refusal: bool = False
    """The requester sees a refusal where they typed, so the channel gets no card of it."""
    agreed: bool = False
    """Agreed to before, as the end of a temporary change is: nobody's right to it is asked for."""
    undoes: str | None = None
    """The id of the change that this one undoes."""
    cause: Cause | None = None
    """Of a change that undoes another one: how it came to that."""
    undoes_own: bool = False
    """Whether it undoes what its requester did alone, a short while before."""
    settles_review: bool = False
    """Of an undo: it is the review of what it undoes, since somebody else who may review it asked for it."""
    starts_at: datetime | None = None
    """When it is to be done; None for at once."""
    starts_at_as_typed: str = ""
    """``on Friday 9:00 Europe/Berlin``: the start as somebody wrote it, with the zone that it was read in."""
    revert_after: int | None = None
    """Seconds after which the change takes itself back; counted from when it was applied."""
    reverts_at: datetime | None = None
    """When it takes itself back, once that is known; None again when it was made to stay."""
    reverts_at_as_typed: str = ""
    """``18:00 Europe/Berlin``: the end as somebody wrote it, with the zone that it was read in."""


class ChangeDecision(Stored):
    """What stands before a change, and what people have decided about it."""

    guard: Guard = Guard.NONE
    approvals_needed: int = 1
    approvers: tuple[str, ...] = ()
    """Names of the roles that may approve; none means whoever may, of the channel."""
    self_approval: bool = False
    break_glass: tuple[str, ...] = ()
    """Names of the roles whose people may go ahead alone."""
    summoned: tuple[str, ...] = ()
    """Ids of the people and user groups that are asked by name."""
    expires: datetime | None = None
    questions: tuple[Question, ...] = ()
    approvals: tuple[Approval, ...] = ()
    decided_by: str | None = None
    decided_at: datetime | None = None
    decision_reason: str = ""
    """Why it was denied, or why somebody used the emergency override."""
    glass_broken: bool = False
    reviewed_by: str | None = None

    @property
    def asked(self) -> dict[str, Any]:
        """What stands before the change, by the names of the fields."""
        return {name: getattr(self, name) for name in ASKED}

    def asks_the_same(self, other: ChangeDecision) -> bool:
        """Whether the same stands before this change as before the *other*."""
        return self.asked == other.asked


ASKED: Final = ("guard", "approvals_needed", "approvers", "self_approval", "break_glass", "summoned")
"""The fields of a decision that say what stands before the change; the others say what people have decided."""


class RevertFailure(StrEnum):
    """Why a temporary change did not take itself back at its end, as agreed."""

    NONE = ""
    """It did, or will."""
    CHANGED = "changed"
    """Somebody edited its target meanwhile."""
    GONE = "gone"
    REFUSED = "refused"
    """The service said no."""
    UNSENT = "unsent"
    """It can't be sent at all."""
    UNCONFIRMED = "unconfirmed"
    PARTLY = "partly"
    """Of a bulk change, not every item."""


class Held(StrEnum):
    """Why what was planned is not begun: somebody has to say what is to happen."""

    NOT = ""
    """It is begun, or will be."""
    LATE = "late"
    """Nobody could begin it within `LATE_START`: Gatehouse or its service was away."""
    RIGHT = "right"
    """Somebody who asked or approved has no right to it any more."""
    POLICY = "policy"
    """The policy asks for more by now."""
    FROZEN = "frozen"
    """It may not be changed at that time."""
    WORD = "word"
    """Somebody approved it for later: it has no time, and begins when somebody says so."""


class Run(Stored):
    """How far a change has come since it was let through, and what came of it."""

    held: Held = Held.NOT
    held_at: datetime | None = None
    started_at: datetime | None = None
    """When what was planned was begun, or somebody said that it be done now."""
    waits: str = ""
    """While approved: why it is not being applied yet."""
    attempt: int = 0
    """How often it was claimed, to be done or reconciled, since it was approved or last deferred."""
    resends: int = 0
    """How often a process that took it over began to send it again."""
    token: int = Field(default=0, exclude=True)
    """The fencing token: grows with every claim and never shrinks. A column of its own keeps it, not the document."""
    leased_until: datetime | None = Field(default=None, exclude=True)
    """When the lease ends that it was claimed with; None where it was only read."""
    lookalikes: tuple[str, ...] | None = None
    """Of a rule to be created: the ids of those that looked just like it before it was sent; None until somebody looked."""
    accepted: bool = False
    """The service said yes, and what it shows does not say so yet: never to be called failed."""
    refusal: str | None = None
    """The name of the error that a service refused with, where one did."""
    lost_right: str = ""
    """Who had no right to it any more when it was to be carried out; *outcome* says why."""
    outcome: str = ""
    """After the end: the service's message or the id of what was created; for people, not for decisions."""
    result: Document | None = None
    """The target as it was last seen: read back after the change was applied, or found live when it turned out stale."""
    finished_at: datetime | None = None
    overtaken_by: str = ""
    """Of a request that went stale while it waited: who changed its target, where that was done here."""
    stopped_by: str | None = None
    """Of a bulk change: who stopped it before all of its items were done."""
    undone_by: str | None = None
    """The id of the applied change that took this one back."""
    undone: Undone | None = None
    """How it was taken back."""
    redone: Redone | None = None
    """How it came to count again, where it was undone before."""
    revert_failure: RevertFailure = RevertFailure.NONE


class Bulk(Stored):
    """What a bulk change is beside its items."""

    size: int = 0
    """How many items it has; 0 for a change of one thing."""
    kinds: tuple[Kind, ...] = ()
    """Every kind among its items, the weightiest first."""
    needs_of_items: tuple[Need, ...] = ()
    """Every operation that its items need, by site."""
    title: str = ""
    """What it does, in a few words."""
    columns: tuple[str, ...] = ()
    """Of an import: the headings of its table, which its requester gets back with the outcome of each row."""
    separator: str = ","
    in_steps: bool = False
    """Its items are steps of one thing: each is sent only where what those before it made is confirmed, and still there."""


class Change(Stored):
    """One recorded change: what is to be written, who asked for it, who decided about it, and what came of it.

    Times are UTC. No two of its parts have a field of the same name.
    """

    id: str
    created: datetime
    state: State = State.PROPOSED
    edit: Edit
    """Of a bulk change: the weightiest of its kinds and the service that it is for; it is about no one thing there."""
    request: ChangeRequest
    decision: ChangeDecision = ChangeDecision()
    run: Run = Run()
    bulk: Bulk = Bulk()
    set_id: str | None = None
    """The id of the bulk change that this change is an item of."""
    item_number: int = 0

    def changed(self, **fields: Any) -> Change:
        """A copy with *fields* set, each in the part that has it; raises KeyError for a name that none has."""
        update: dict[str, Any] = {}
        parts: dict[str, dict[str, Any]] = {}
        for name, value in fields.items():
            if part := PART_OF[name]:
                parts.setdefault(part, {})[name] = value
            else:
                update[name] = value
        for part, of_part in parts.items():
            update[part] = getattr(self, part).model_copy(update=of_part)
        return self.model_copy(update=update)

    def approved_by(self, person: str, at: datetime, *, for_later: bool = False) -> Change:
        """This change with the approval of *person*, who counts once."""
        given = self.decision.approvals
        if any(approval.by == person for approval in given):
            return self
        return self.changed(approvals=(*given, Approval(by=person, at=at, for_later=for_later)))

    @property
    def is_bulk(self) -> bool:
        return self.bulk.size > 0

    @property
    def needs(self) -> tuple[Need, ...]:
        """Every operation of the policy that it takes to ask for this, by site."""
        return self.bulk.needs_of_items if self.is_bulk else self.edit.needs

    @property
    def operations(self) -> tuple[str, ...]:
        """Every operation of the policy that it takes to ask for this."""
        return tuple(dict.fromkeys(operation for operation, _ in self.needs))

    @property
    def reading(self) -> str:
        """The operation of the policy that it takes to be shown such things."""
        return f"{self.edit.kind.operation.partition('.')[0]}.read"

    @property
    def review_due(self) -> bool:
        """Whether somebody acted alone and nobody else has looked at it since; its end or an undo of theirs is no look."""
        open_ = self.state in {State.APPLIED, State.UNKNOWN, State.UNSETTLED}
        return self.decision.glass_broken and open_ and self.decision.reviewed_by is None

    @property
    def temporary(self) -> bool:
        """Whether it was applied and will be reverted."""
        run = self.run
        ends = self.request.reverts_at is not None and not run.revert_failure
        return self.state is State.APPLIED and ends and run.undone_by is None

    @property
    def fingerprint(self) -> str:
        """Of everything that a decider is shown: the same target, before and after give the same text."""
        edit = self.edit
        return fingerprint([edit.kind, str(edit.target), canonical_form(edit.before), canonical_form(edit.after)])


def _names_of_parts() -> Iterator[tuple[str, str]]:
    for own, field in Change.model_fields.items():
        if isinstance(part := field.annotation, type) and issubclass(part, Stored):
            yield from ((name, own) for name in part.model_fields)
        else:
            yield own, ""


PART_OF: Final = dict(_names_of_parts())
"""For the name of each field, the part of a change that has it; nothing for a field of the change itself."""


class Ended(NamedTuple):
    """A change that its owner moves: as it was, the move, and the fields that are set with it."""

    change: Change
    move: Move
    fields: Mapping[str, Any]
    due: datetime | None = None
    """When one that is approved again is taken up."""


class Outcome(StrEnum):
    """How far an item has come; once it was begun, by the name of its change's state."""

    WAITING = "waiting"
    APPLYING = "applying"
    APPLIED = "applied"
    UNDONE = "undone"
    """Done, and undone since."""
    FAILED = "failed"
    STALE = "stale"
    UNKNOWN = "unknown"
    UNSETTLED = "unsettled"
    BUSY = "busy"
    """Another change held its target, so it was not begun."""
    STOPPED = "stopped"
    """Somebody stopped the bulk change first."""
    SKIPPED = "skipped"
    """Nothing was to be done, or could be: known before the bulk change was asked for."""


DONE: Final = frozenset({Outcome.APPLIED, Outcome.UNDONE})
OPEN: Final = frozenset({Outcome.WAITING, Outcome.APPLYING})
"""Items that are not at their end: waiting, or at work, maybe left by a process that died."""
NOT_DONE: Final = frozenset({Outcome.FAILED, Outcome.STALE, Outcome.BUSY, Outcome.STOPPED})
"""Items that may be asked for again: nothing of them happened."""


class NotSent(StrEnum):
    """Why a step of a bulk change was not sent, where no service said why."""

    THERE_ALREADY = "there_already"
    """It need not be done."""
    NOT_CONFIRMED = "not_confirmed"
    """What a step before it made is not confirmed, or not there."""
    NEXT_CHANGED = "next_changed"
    """What a step after it is about is not as it was shown."""


class Item(Stored):
    """One thing of a bulk change: what a change of it would be, and what became of it."""

    number: int
    kind: Kind | None = None
    """None for an item that is only on record, because nothing was to be done."""
    target: Target
    before: Document | None = None
    after: Document | None = None
    undoes: str | None = None
    """The change that this item undoes."""
    source: str = ""
    """Where the item comes from, such as the line of a file."""
    cells: tuple[str, ...] = ()
    """The row that it came from, under the columns of the bulk change."""
    follows: int = 0
    """The number of the item that it is done together with, if it is."""
    outcome: Outcome = Outcome.WAITING
    change_id: str | None = None
    why: str = ""
    """Why it was not done: a `NotSent`, in a word of who asked for it, or in the service's words."""

    @classmethod
    def of(cls, number: int, edit: Edit, **about: Any) -> Self:
        """The item that is to do *edit*."""
        return cls(number=number, kind=edit.kind, target=edit.target, before=edit.before, after=edit.after, **about)

    @property
    def edit(self) -> Edit:
        """What it is to do; raises ValueError for an item that is only on record."""
        if self.kind is None:
            raise ValueError(self.number)
        return Edit(kind=self.kind, target=self.target, before=self.before, after=self.after)

    @property
    def name(self) -> str:
        """What people call the thing; may be an address."""
        document = self.before or self.after or {}
        return str(document.get("name") or self.target.key or "")


@dataclass(frozen=True, slots=True)
class Tally:
    """How many items of a bulk change are where."""

    counts: Mapping[Outcome, int]

    def __getitem__(self, outcome: Outcome) -> int:
        return self.counts.get(outcome, 0)

    def of(self, outcomes: Iterable[Outcome]) -> int:
        return sum(self[outcome] for outcome in outcomes)

    @property
    def meant(self) -> int:
        """Items that were to be done."""
        return sum(self.counts.values()) - self[Outcome.SKIPPED]

    @property
    def left(self) -> int:
        return self.of(OPEN)


WEIGHT: Final = (
    Kind.MEMBER_REMOVE,
    Kind.RULE_DELETE,
    Kind.MEMBER_REVOKE,
    Kind.RULE_CREATE,
    Kind.MEMBER_ADD,
    Kind.MEMBER_GRANT,
)


def weightiest(kinds: Iterable[Kind | None]) -> tuple[Kind, ...]:
    """The *kinds*, each once, those that take away first; without None, which is that of an item only on record."""
    found = {kind for kind in kinds if kind is not None}
    return tuple(sorted(found, key=lambda kind: (WEIGHT.index(kind) if kind in WEIGHT else len(WEIGHT), kind)))
