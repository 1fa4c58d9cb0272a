"""What must be true after every step, whatever happened: the design's promises 1 and 2, and the invariants I1 to I12."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import sqlalchemy as sa

from bot.domain.change import Change, Guard, Kind, State
from tests.changes.world import DAN, Sent, World, content, holds

ENDS: Final = frozenset({"applied", "failed", "stale", "cancelled", "denied", "expired", "unsettled"})
NOTHING_DONE: Final = ENDS - {"applied", "unsettled"}
HOLDS_ITS_TARGET: Final = frozenset(set(State) - ENDS)

MAY_BECOME: Final[Mapping[str, frozenset[str]]] = {
    "proposed": frozenset(State),
    "approved": frozenset(State) - {"proposed", "denied"},
    "applying": frozenset(State) - {"proposed", "denied", "cancelled"},
    "unknown": frozenset({"unknown", "applied", "failed", "unsettled"}),
} | {end: frozenset({end}) for end in ENDS}
"""Where a change may be a step later, by where it was."""

TOLD_AS: Final[Mapping[str, frozenset[str]]] = {
    "proposed": frozenset({"requested"}),
    "approved": frozenset({"requested", "approved", "deferred"}),
    "applying": frozenset({"applying"}),
    "cancelled": frozenset({"cancelled", "withdrawn"}),
} | {name: frozenset({name}) for name in (ENDS | {"unknown"}) - {"cancelled"}}
"""The event that must be on record for each state."""

FIXED: Final = ("id", "kind", "requester", "channel", "before", "after", "reason", "guard", "created", "expires")
FIXED_TOO: Final = ("undoes", "lasts", "approvals_needed", "approvers", "self_approval", "quiet_refusal")
FIXED_AT_THE_END: Final = ("state", "result", "outcome", "refusal", "finished_at", "decided_by", "target", "attempt")

LEAST: Final[Mapping[str, Mapping[str, Guard]]] = {
    "default": {"rule.delete": Guard.CONFIRM, "member.remove": Guard.CONFIRM},
    "free": {},
    "confirm": dict.fromkeys(Kind, Guard.CONFIRM),
    "approve": dict.fromkeys(Kind, Guard.APPROVE),
    "two": dict.fromkeys(Kind, Guard.APPROVE),
    "leads": {kind: Guard.APPROVE for kind in Kind if kind.startswith("member.")}
    | {"rule.delete": Guard.APPROVE, "rule.update": Guard.CONFIRM},
}
"""What stands at least before each kind of change, by policy; nothing where it is not named."""

STRENGTH: Final = (Guard.NONE, Guard.CONFIRM, Guard.APPROVE)


@dataclass(slots=True)
class Promises:
    """Looks at the store and the services after every step, and compares with how they were before it."""

    world: World
    policy: str
    seen: dict[str, Change] = field(default_factory=dict)
    by_timer: bool = False
    """Whether the step is a timer's."""
    entries: int = 0
    applied: Counter[str] = field(default_factory=Counter)
    _documents: dict[str, str] = field(default_factory=dict)
    _versions: dict[str, int] = field(default_factory=dict)

    async def kept(self) -> None:
        """Raise where one is broken."""
        assert self.world.calls_that_write() == self.world.writes, "something was sent that belongs to no change"
        rows, versions, events = await self._read()
        for row in rows:
            if row.document != self._documents.get(row.id):
                self._moved(row, self.seen.get(row.id), versions, events[row.id])
        self._versions = versions
        live = Counter(row.target for row in rows if row.state in HOLDS_ITS_TARGET and row.target)
        assert not live or max(live.values()) == 1, f"two live changes of one target: {live}"

    async def _read(self) -> tuple[list[Any], dict[str, int], defaultdict[str, list[str]]]:
        events = defaultdict(list)
        async with self.world.store.session.reading() as connection:
            rows = (
                await connection.execute(
                    sa.text("SELECT id, state, target, attempt, document FROM changes ORDER BY created, id")
                )
            ).all()
            cards = await connection.execute(sa.text("SELECT change_id, version FROM outbox WHERE purpose = 'card'"))
            versions = {row.change_id: row.version for row in cards}
            query = sa.text("SELECT seq, event, change_id FROM audit WHERE seq > :last ORDER BY seq")
            for entry in await connection.execute(query, {"last": self.entries}):
                assert entry.seq == self.entries + 1
                self.entries = entry.seq
                events[entry.change_id].append(entry.event)
        return list(rows), versions, events

    def _moved(self, row: Any, old: Change | None, versions: dict[str, int], events: list[str]) -> None:
        new = Change.model_validate_json(row.document)
        assert (row.state, row.attempt) == (new.state, new.attempt)
        if old is None:
            self._begun(new)
        else:
            self._the_same(old, new)
        if old is None or old.state is not new.state:
            self._told(new, self._versions.get(new.id, 0) < versions.get(new.id, 0), events)
            if _passed_a_decision(old, new):
                self._decided(new)
            if new.state in ENDS:
                self._ended(new)
        self.applied[new.id] += events.count("applied")
        assert self.applied[new.id] == (new.state is State.APPLIED)
        self.seen[new.id], self._documents[new.id] = new, row.document

    def _begun(self, new: Change) -> None:
        """A request is its requester's to make, and the policy's guard stands before it."""
        if self.by_timer:
            taken_back = self.seen[new.undoes or ""]
            assert taken_back.ends is not None
            assert taken_back.ends <= self.world.clock(), "taken back too early"
            return
        assert self.world.may(new.requester)
        least = LEAST[self.policy].get(new.kind, Guard.NONE)
        assert STRENGTH.index(new.guard) >= STRENGTH.index(least)

    def _the_same(self, old: Change, new: Change) -> None:
        """I5: what was asked for never changes, nor where it came to its end."""
        assert new.state in MAY_BECOME[old.state], f"{old.state} became {new.state}"
        for name in (*FIXED, *FIXED_TOO, *(FIXED_AT_THE_END if old.state in ENDS else ())):
            assert getattr(old, name) == getattr(new, name), f"{name} of a change that was {old.state}"
        assert new.approvals[: len(old.approvals)] == old.approvals
        assert old.target == new.target or (new.kind is Kind.RULE_CREATE and old.target.key is None)

    def _told(self, new: Change, owed: bool, events: list[str]) -> None:
        """I8, and half of I4: the audit has it, and the channel hears of it, unless only the one who asked should."""
        assert TOLD_AS[new.state] & set(events), f"{new.state} without an event: {events}"
        quiet = (
            new.quiet_refusal
            and new.guard is Guard.NONE
            and new.attempt <= 1
            and new.state in {State.FAILED, State.STALE}
        )
        at_work = new.state is State.APPLYING or (new.state is State.APPROVED and new.guard is Guard.NONE)
        assert owed or quiet or at_work, f"{new.state}, and nobody is told"

    def _decided(self, new: Change) -> None:
        """I2: whoever decided had the right to, in time, and is not who asked."""
        by, world = new.decided_by or "", self.world
        if new.guard is Guard.NONE:
            assert by == new.requester
            return
        assert new.expires is not None
        if new.state is State.EXPIRED:
            assert world.clock() >= new.expires
            return
        if new.state is State.CANCELLED:
            assert by == new.requester
            return
        assert world.step_began < new.expires, "decided too late"
        if new.state is State.DENIED:
            assert world.may_approve(new, by)
        elif new.glass_broken:
            assert by == DAN
            assert world.may(by)
        elif new.guard is Guard.CONFIRM:
            assert by == new.requester
            assert world.may(by)
        else:
            self._approved(new)

    def _approved(self, new: Change) -> None:
        by = [approval.by for approval in new.approvals]
        assert new.decided_by in by
        assert all(self.world.may_approve(new, user) for user in by), f"approved by {by}"
        people = {min(user for user in by if self.world.same_person(user, each)) for each in by}
        assert len(people) >= new.approvals_needed, f"{by} are too few people"
        assert self.world.may(new.requester)

    def _ended(self, new: Change) -> None:
        sent, live = self.world.sent.get(new.id, Sent()), self.world.live(new.target)
        if new.state in NOTHING_DONE:
            assert sent.effects == 0 or self.world.meddled(new), f"{new.state}, but it was done"
        if new.state is State.STALE:
            assert content(live) != content(new.before), "stale, but it is just what was shown"
        if new.state is State.APPLIED:
            assert holds(live, new.after), "applied, it says, but it is not so"
            assert content(live) == content(new.result)
            if new.undoes:
                self._taken_back(new, self.seen[new.undoes])

    def _taken_back(self, undo: Change, change: Change) -> None:
        """I12: what was taken back is as it was before, but for what only a service can set."""
        live = self.world.live(undo.target)
        if change.before is None:
            assert live is None
        else:
            was = {name: value for name, value in change.before.items() if name != "createdAt"}
            assert holds(live, was), "taken back, but it is not as it was"
            fields = {*(content(live) or {}), "createdAt"} - {"createdAt"}
            assert undo.kind is Kind.MEMBER_ADD or fields - {"createdAt"} == set(content(was) or {}) - {"createdAt"}

    async def end(self) -> None:
        """Once everything has calmed down: nothing is stuck, nobody is left without an answer."""
        assert await self.world.store.audit.verify() is None
        assert await self.world.store.outbox.waiting() == 0
        assert await self.world.store.outbox.undelivered() == 0
        for change in self.seen.values():
            self._settled(change)

    def _settled(self, change: Change) -> None:
        if change.state is State.UNKNOWN:
            live = self.world.live(change.target)
            clear = change.target.key and (holds(live, change.after) or content(live) == content(change.before))
            assert not clear, "unknown, though anybody can see how it is"
        else:
            assert change.state in ENDS, f"stuck: {change.state}"
        card = self.world.cards.get(change.id)
        quiet = (
            change.quiet_refusal
            and change.guard is Guard.NONE
            and change.attempt <= 1
            and change.state in {State.FAILED, State.STALE}
        )
        assert quiet or card is not None
        assert quiet or card is None or card.state is change.state, "the card tells of another end"
        if change.temporary and change.ends is not None and change.ends <= self.world.clock():
            states = [undo.state.value for undo in self.seen.values() if undo.undoes == change.id]
            # A change of the same target whose outcome nobody knows yet keeps the end waiting.
            states += [other.state.value for other in self.seen.values() if other.target == change.target]
            assert "unknown" in states, f"its time is over, and it is still in force: {change.kind}, undos {states}"


def _passed_a_decision(old: Change | None, new: Change) -> bool:
    """Whether somebody, or time, decided in the step that was."""
    return (old is None or old.state is State.PROPOSED) and new.state is not State.PROPOSED
