"""What must be true after every step, whatever happened: the design's promises 1 and 2, and the invariants I1 to I12."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from operator import attrgetter
from typing import Any, Final

import sqlalchemy as sa

from bot.changes.consequences import HELD_LONGEST, LATE_START
from bot.changes.model.change import Change
from bot.changes.model.edits import Kind
from bot.changes.model.items import OPEN, Item, Outcome, Tally
from bot.changes.model.parts import CauseKind, Guard, RevertFailure
from bot.changes.model.states import State
from bot.clients.errors import PERMANENT_CODES
from bot.policy.freezes import ChatFreeze
from bot.store.db import TargetBusy
from bot.text.documents import load
from tests.changes.world import DAN, SITE, Sent, World, content, holds
from tests.harness.truth import find_wrongly_due

LONG: Final = timedelta(minutes=40)
"""How long an end takes at most: it is tried, isn't clear, is given up, and is told."""
ENDS: Final = frozenset({"applied", "failed", "stale", "cancelled", "denied", "expired", "unsettled"})
NOTHING_DONE: Final = ENDS - {"applied", "unsettled"}
HOLDS_ITS_TARGET: Final = frozenset({State.APPROVED, State.APPLYING, State.UNKNOWN})
"""A request that waits for a decision holds nothing: nobody may keep others from a target by asking for something."""

MAY_BECOME: Final[Mapping[str, frozenset[str]]] = {
    "proposed": frozenset(State),
    "planned": frozenset(State) - {"denied"},
    "approved": frozenset(State) - {"proposed", "planned", "denied"},
    "applying": frozenset(State) - {"proposed", "planned", "denied", "cancelled"},
    "unknown": frozenset({"unknown", "applied", "failed", "unsettled"}),
} | {end: frozenset({end}) for end in ENDS}
"""Where a change may be a step later, by where it was."""

TOLD_AS: Final[Mapping[str, frozenset[str]]] = {
    "proposed": frozenset({"requested", "replanned"}),
    "planned": frozenset({"planned"}),
    "approved": frozenset({"requested", "approved", "started", "deferred"}),
    "applying": frozenset({"applying", "begun"}),
    "cancelled": frozenset({"cancelled", "withdrawn"}),
} | {name: frozenset({name}) for name in (ENDS | {"unknown"}) - {"cancelled"}}
"""The event that must be on record for each state."""

FIXED: Final = ("id", "created", "edit.kind", "edit.before", "edit.after", "bulk")
FIXED_OF_REQUEST: Final = ("requester", "channel", "reason", "undoes", "revert_after")
FIXED_OF_ITEMS: Final = ("set_id", "item_number")
DONE: Final = (Outcome.APPLIED, Outcome.UNKNOWN, Outcome.UNSETTLED)
SEGMENTS_OF: Final = "allowedSegments"
UNTOUCHED: Final = frozenset({Outcome.WAITING, Outcome.BUSY, Outcome.FAILED, Outcome.STOPPED, Outcome.SKIPPED})
"""What an item may be that never became a change."""
FIXED_AT_THE_END: Final = ("state", "edit.target", "decision.decided_by")
FIXED_OF_RUN: Final = ("result", "why_not", "finished_at", "attempt")

LEAST: Final[Mapping[str, Mapping[str, Guard]]] = {
    "default": {"rule.delete": Guard.CONFIRM, "member.remove": Guard.CONFIRM},
    "free": {},
    "confirm": dict.fromkeys(Kind, Guard.CONFIRM),
    "approve": dict.fromkeys(Kind, Guard.APPROVE),
    "two": dict.fromkeys(Kind, Guard.APPROVE),
    "leads": {kind: Guard.APPROVE for kind in Kind if kind.startswith("member.")}
    | {"rule.delete": Guard.APPROVE, "rule.update": Guard.CONFIRM, "group.update": Guard.CONFIRM},
}
"""What stands at least before each kind of change, by policy; nothing where it is not named."""

STRENGTH: Final = (Guard.NONE, Guard.CONFIRM, Guard.APPROVE)

EVERYTHING: Final = sa.text(
    "SELECT 'change' AS what, id, attempt AS number, state, target, document FROM changes"
    " UNION ALL SELECT 'item', set_id, number, outcome, change_id, document FROM items"
    " UNION ALL SELECT 'card', change_id, version, '', '', '' FROM outbox WHERE purpose = 'card'"
    " UNION ALL SELECT 'event', change_id, seq, event, '', '' FROM audit WHERE seq > :last"
)
"""All that a step may have written, in one query: of all that a step costs, questions to the database cost most."""


@dataclass(slots=True)
class Promises:
    """Looks at the store and the services after every step, and compares with how they were before it."""

    world: World
    policy: str
    seen: dict[str, Change] = field(default_factory=dict)
    by_timer: bool = False
    """Whether the step is a timer's."""
    by_click: bool = False
    """Whether somebody says in the step that what was planned is to be done now."""
    entries: int = 0
    applied: Counter[str] = field(default_factory=Counter)
    reverts: set[str] = field(default_factory=set)
    """What takes temporary changes back, at their end or when somebody ends them early."""
    frozen: list[ChatFreeze] = field(default_factory=list)
    """What was frozen or locked before the step."""
    items: dict[tuple[str, int], Item] = field(default_factory=dict)
    """The items of all bulk changes, by change and number."""
    _documents: dict[str, str] = field(default_factory=dict)
    _versions: dict[str, int] = field(default_factory=dict)
    _now: dict[str, Change] = field(default_factory=dict)
    """What the step that was moved or asked for, as it now is."""

    async def kept(self) -> None:
        """Raise where one is broken."""
        assert self.world.calls_that_write() == self.world.writes, "something was sent that belongs to no change"
        rows, versions, events = await self._read()
        moved = (row for row in rows if row.document != self._documents.get(row.id))
        self._now = {row.id: load(Change, row.document) for row in moved}
        for row in rows:
            if row.document != self._documents.get(row.id):
                self._moved(row, self.seen.get(row.id), versions, events[row.id])
        self._versions = versions
        live = Counter(row.target for row in rows if row.state in HOLDS_ITS_TARGET and row.target)
        assert not live or max(live.values()) == 1, f"two live changes of one target: {live}"
        self._parts_are_as_their_changes()
        self._creations_are_their_own()

    async def _read(self) -> tuple[list[Any], dict[str, int], defaultdict[str, list[str]]]:
        """All changes, the version of each card, and what is new on record; notes how the items of sets are."""
        changes, versions, events = [], {}, defaultdict(list)
        async with self.world.store.session.reading() as connection:
            rows = (await connection.execute(EVERYTHING, {"last": self.entries})).all()
        for row in sorted(rows, key=lambda row: (row.number if row.what == "event" else 0, row.id)):
            match row.what:
                case "change":
                    changes.append(row)
                case "item":
                    self._note_part(row)
                case "card":
                    versions[row.id] = row.number
                case "event":
                    assert row.number > self.entries  # a transaction that was begun again leaves a gap
                    self.entries = row.number
                    events[row.id].append(row.state)
                case _:
                    pass
        return changes, versions, events

    def _note_part(self, row: Any) -> None:
        key = row.id, row.number
        item = self.items.get(key) or load(Item, row.document)
        self.items[key] = replace(item, outcome=Outcome(row.state), change_id=row.target)

    def _parts_are_as_their_changes(self) -> None:
        """Each item became one change at most, which is what was decided on; and its outcome is that change's."""
        sizes = Counter(set_id for set_id, _ in self.items)
        assert sizes == {change.id: change.bulk.size for change in self.seen.values() if change.is_bulk}
        begun = [change for change in self.seen.values() if change.set_id]
        assert len({(change.set_id, change.item_number) for change in begun}) == len(begun), "a part was begun twice"
        for (set_id, _), item in self.items.items():
            if item.change_id is None:
                assert item.outcome in UNTOUCHED, f"{item.outcome}, without a change"
                continue
            change = self.seen[item.change_id]
            assert item.outcome is (Outcome.UNDONE if change.run.undone else Outcome(change.state))
            assert (change.set_id, change.item_number) == (set_id, item.number)
            assert (change.edit.kind, change.edit.before, change.edit.after) == (item.kind, item.before, item.after)
            assert change.edit.target == item.target or item.kind is Kind.RULE_CREATE

    def _creations_are_their_own(self) -> None:
        """No rule is claimed by two creations."""
        made = Counter(
            change.edit.target.key
            for change in self.seen.values()
            if change.edit.kind is Kind.RULE_CREATE and change.state is State.APPLIED and not change.is_bulk
        )
        assert not made or max(made.values()) == 1, f"made twice: {made}"

    def tally(self, whole: Change) -> Tally:
        return Tally(item.outcome for (set_id, _), item in self.items.items() if set_id == whole.id)

    def _moved(self, row: Any, old: Change | None, versions: dict[str, int], events: list[str]) -> None:
        new = load(Change, row.document)
        assert (row.state, row.number) == (new.state, new.run.attempt)
        if old is None:
            self._begun(new)
        else:
            self._the_same(old, new)
        if old is None or old.state is not new.state:
            cards = [new.set_id or new.id]
            if _is_done_end(new):
                cards.append(new.request.undoes or "")  # the card of what was temporary tells it
            self._told(new, any(self._versions.get(card, 0) < versions.get(card, 0) for card in cards), events)
            if _passed_a_decision(old, new):
                self._decided(new)
                self._not_frozen(old, new)
            if new.state in ENDS:
                self._ended(new)
        self.applied[new.id] += events.count("applied")
        assert self.applied[new.id] == (new.state is State.APPLIED)
        self.seen[new.id], self._documents[new.id] = new, row.document

    def _not_frozen(self, old: Change | None, new: Change) -> None:
        """What nobody may change at its time is let through by nobody, but for ends, undos of one's own, and an override."""
        was_let_through = new.state in {
            *HOLDS_ITS_TARGET,
            State.PLANNED,
            State.APPLIED,
            State.APPLYING,
            State.UNSETTLED,
        }
        is_free = new.is_automatic or new.set_id or new.decision.glass_broken
        if not was_let_through or is_free or (old is None and self._takes_back_own(new)):
            return
        begins = old is not None and old.state is State.PLANNED
        times = [self.world.step_began, self.world.clock()]
        if new.request.starts_at is not None and not begins:
            times = [max(new.request.starts_at, at) for at in times]
        items = [item.edit for (whole, _), item in self.items.items() if whole == new.id]
        for freeze in self.frozen:
            covers = any(freeze.covers(edit) for edit in items or [new.edit])
            if covers and all(map(freeze.holds_at, times)):
                raise AssertionError(f"let through, though {freeze.title} was frozen")

    def _begun(self, new: Change) -> None:
        """A request is its requester's to make, and the policy's guard stands before it."""
        if self.by_timer or _is_agreed(new):
            self.reverts.add(new.id)
            taken_back = self.seen[new.request.undoes or ""]
            assert taken_back.request.reverts_at is not None, "its end, though it was to stay"
            assert not self.by_timer or taken_back.request.reverts_at <= self.world.clock(), "taken back too early"
            return
        if new.set_id:
            whole = self.seen[new.set_id]
            assert whole.run.stopped_by is None, "begun, though the set was stopped"
            assert whole.state not in {State.PROPOSED, State.CANCELLED, State.DENIED, State.EXPIRED}
            return
        assert self.world.may(new.request.requester)
        if new.decision.guard is Guard.NONE and self._takes_back_own(new):
            return
        for kind in new.bulk.kinds or (new.edit.kind,):
            self._guarded(new, kind)

    def _takes_back_own(self, new: Change) -> bool:
        """Whether somebody undoes what nobody else had a hand in, within an hour."""
        done = self.seen.get(new.request.undoes or "")
        if done is None or done.run.finished_at is None or (done.set_id or done.id) in self.reverts:
            return False
        hands = {done.request.requester, done.decision.decided_by, *(given.by for given in done.decision.approvals)}
        return hands == {new.request.requester} and new.created - done.run.finished_at <= timedelta(hours=1)

    def _guarded(self, new: Change, kind: Kind) -> None:
        """No weaker guard stands before it than the policy has for this *kind*, which may be one of several."""
        least = LEAST[self.policy].get(kind, Guard.NONE)
        assert STRENGTH.index(new.decision.guard) >= STRENGTH.index(least)
        rule = self.world.policy.guard_for(kind.operation, SITE)
        if rule.guard is Guard.APPROVE:
            assert new.decision.approvals_needed >= rule.approvals
            assert rule.self_approval or not new.decision.self_approval, "approved by who asked"
            assert not rule.approvers or (new.decision.approvers and {*new.decision.approvers} <= {*rule.approvers}), (
                "by others"
            )
        if rule.guard is not Guard.NONE:
            assert {*new.decision.break_glass} <= {*rule.break_glass}

    def _the_same(self, old: Change, new: Change) -> None:
        """I5: what was asked for never changes, nor where it came to its end."""
        assert new.state in MAY_BECOME[old.state], f"{old.state} became {new.state}"
        at_the_end = (*FIXED_AT_THE_END, *(f"run.{name}" for name in FIXED_OF_RUN)) if old.state in ENDS else ()
        for name in (*FIXED, *FIXED_OF_ITEMS, *(f"request.{name}" for name in FIXED_OF_REQUEST), *at_the_end):
            assert attrgetter(name)(old) == attrgetter(name)(new), f"{name} of a change that was {old.state}"
        self._no_weaker(old, new)
        if (old.state, new.state) != (State.PLANNED, State.PROPOSED):
            assert new.decision.expires == old.decision.expires
            assert new.decision.approvals[: len(old.decision.approvals)] == old.decision.approvals
        else:
            assert new.decision.approvals == (), "approved for another time"
        self._at_its_time(old, new)
        assert old.edit.target == new.edit.target or (new.edit.kind is Kind.RULE_CREATE and old.edit.target.key is None)

    def _at_its_time(self, old: Change, new: Change) -> None:
        """What is planned begins no sooner than it was to, unless somebody says so, and not long after it by itself."""
        starts = old.request.starts_at
        if old.state is not State.PLANNED or new.state not in {
            State.APPROVED,
            State.APPLYING,
            *NOTHING_DONE,
            "applied",
        }:
            return
        if new.run.started_at is not None and not self.by_click:
            assert starts is not None
            assert starts <= new.run.started_at <= starts + LATE_START, "begun at another time than was planned"
            assert not old.run.held, "begun, though it was held"

    def refused(self, error: Exception) -> None:
        """Nobody is kept from a target by what only waits for a decision, unless it is their own."""
        if isinstance(error, TargetBusy):
            assert error.change.state in HOLDS_ITS_TARGET, f"kept from it by one that is {error.change.state}"

    def ends_came(self) -> None:
        """With nothing in the way for a while: what was to end before is gone, or it is said why not."""
        long_ago = self.world.clock() - LONG
        held = {str(change.edit.target) for change in self.seen.values() if change.state in HOLDS_ITS_TARGET}
        held |= {str(item.target) for (set_id, _), item in self.items.items() if item.outcome in OPEN}
        for change in self.seen.values():
            if not change.is_temporary or change.request.reverts_at is None or change.request.reverts_at > long_ago:
                continue
            in_force = {str(done.edit.target) for done in self._in_force(change)}
            assert in_force <= held, f"its end has come, and it is still in force: {change.edit.kind}"

    def _no_weaker(self, old: Change, new: Change) -> None:
        """What stands before a change only ever becomes stricter, and nothing once it was decided."""
        assert STRENGTH.index(new.decision.guard) >= STRENGTH.index(old.decision.guard)
        assert new.decision.approvals_needed >= old.decision.approvals_needed
        assert not old.decision.approvers or (
            new.decision.approvers and {*new.decision.approvers} <= {*old.decision.approvers}
        )
        assert old.decision.self_approval or not new.decision.self_approval
        assert {*new.decision.break_glass} <= {*old.decision.break_glass}
        if old.state is not State.PROPOSED:
            for name in ("guard", "approvals_needed", "approvers", "self_approval", "break_glass"):
                assert getattr(new.decision, name) == getattr(old.decision, name), f"{name} after the decision"

    def _told(self, new: Change, owed: bool, events: list[str]) -> None:
        """I8, and half of I4: the audit has it, and the channel hears of it, unless only the one who asked should."""
        assert TOLD_AS[new.state] & set(events), f"{new.state} without an event: {events}"
        at_work = new.state is State.APPLYING or (new.state is State.APPROVED and new.decision.guard is Guard.NONE)
        assert owed or at_work or _is_vain_end(new), f"{new.state}, and nobody is told"

    def _decided(self, new: Change) -> None:
        """I2: whoever decided had the right to, in time, and is not who asked."""
        by, world = new.decision.decided_by or "", self.world
        if new.set_id:
            assert by == self.seen[new.set_id].decision.decided_by
            return
        was = self.seen.get(new.id)
        if was is not None and was.state is State.PLANNED:
            self._no_more_planned(was, new)
            return
        if new.decision.guard is Guard.NONE:
            assert by == new.request.requester
            return
        if new.state is State.STALE and new.decision.decided_by is None:
            assert self._overtaken(new), "out of date, though nothing was done"
            return
        assert new.decision.expires is not None
        if new.state is State.EXPIRED:
            assert world.clock() >= new.decision.expires
            return
        if new.state is State.CANCELLED:
            assert by == new.request.requester or (new.decision.guard is Guard.CONFIRM and world.may(by))
            return
        assert world.step_began < new.decision.expires, "decided too late"
        if new.state is State.DENIED:
            assert world.may(by) if new.decision.guard is Guard.CONFIRM else world.may_approve(new, by)
        elif new.decision.glass_broken:
            assert by == DAN
            assert world.may(by)
        elif new.decision.guard is Guard.CONFIRM:
            assert by == new.request.requester
            assert world.may(by)
        else:
            self._approved(new)

    def _no_more_planned(self, was: Change, new: Change) -> None:
        """What waited for its time begins while those who decided about it still may, or ends without having begun."""
        if new.state is State.EXPIRED:
            assert was.run.held_at is not None
            assert self.world.clock() >= was.run.held_at + HELD_LONGEST
        elif new.state is State.CANCELLED:
            by = new.decision.decided_by or ""
            assert by == new.request.requester or self.world.may(by)
        elif new.state is not State.STALE and new.decision.guard is Guard.APPROVE and not new.decision.glass_broken:
            self._approved(new)

    def _overtaken(self, request: Change) -> bool:
        """Whether something that was done meanwhile left nothing of a *request* to decide."""
        done = [change for change in (self.seen | self._now).values() if change.state is State.APPLIED]
        return any(
            change.edit.target == request.edit.target
            or (request.request.undoes is not None and change.request.undoes == request.request.undoes)
            for change in done
        )

    def _approved(self, new: Change) -> None:
        by = [approval.by for approval in new.decision.approvals]
        assert new.decision.decided_by in by
        assert self.world.has_approvals(new), f"{by} are too few people who may"
        assert self.world.may(new.request.requester)

    def _ended(self, new: Change) -> None:
        if new.is_bulk:
            self._set_ended(new)
        else:
            self._thing_ended(new)

    def _set_ended(self, whole: Change) -> None:
        tally = self.tally(whole)
        assert tally.left == 0, "ended, with something left to do"
        if whole.state in {State.APPLIED, State.FAILED}:
            assert (tally.of(DONE) > 0) is (whole.state is State.APPLIED)
        else:
            left = tally[Outcome.STOPPED] + tally[Outcome.SKIPPED]
            assert tally.of(Outcome) == left, f"{whole.state}, but begun"

    def _thing_ended(self, new: Change) -> None:
        sent, live = self.world.sent.get(new.id, Sent()), self.world.left_by(new)
        if new.state in NOTHING_DONE:
            assert sent.effects == 0 or self.world.meddled(new), f"{new.state}, but it was done"
        if new.state is State.STALE:
            # The undo of a removed rule is a new one, which nothing shows to be out of date but what it was to undo.
            assert content(live) != content(new.edit.before) or self._overtaken(new), (
                "stale, but it is just what was shown"
            )
        if new.state is State.APPLIED:
            assert holds(live, new.edit.after), "applied, it says, but it is not so"
            assert content(live) == content(new.run.result)
            if new.request.undoes:
                self._taken_back(new, self.seen[new.request.undoes])

    def _taken_back(self, undo: Change, change: Change) -> None:
        """I12: each part of what was taken back is as it was before, but for those that somebody else took away first.

        What was there for a time only, which is over, doesn't come back either.
        """
        live, before, made = self.world.left_by(undo), change.edit.before, change.run.result
        left = {*change.run.closed}
        for each in self.seen.values():
            left |= {part for part, closing in each.run.closed.items() if closing == change.id}
        if before is None or "" in left:
            assert live is None or "" in left
            return
        had, has, now = ({*(each or {}).get(SEGMENTS_OF, ())} for each in (before, made, live))
        theirs = {part.removeprefix(f"{SEGMENTS_OF}:") for part in left}
        assert not (has - had - theirs) & now or made is None, "taken back, but what was given is still there"
        assert had - has - theirs <= now, "taken back, but what was taken is still gone"
        was, then, is_so = content(before) or {}, content(made), content(live) or {}
        for name in was.keys() - left - {SEGMENTS_OF, "createdAt"}:
            if then is None or then.get(name) != was[name]:
                assert is_so.get(name) == was[name], f"taken back, but {name} is not as it was"

    def _in_force(self, change: Change) -> list[Change]:
        """What was done of a *change*, and not undone on its own: itself, or items of it."""
        begun = [item for item in self.seen.values() if item.set_id == change.id] if change.is_bulk else [change]
        return [done for done in begun if done.state is State.APPLIED and done.run.undone is None]

    async def end(self) -> None:
        """Once everything has calmed down: nothing is stuck, nobody is left without an answer."""
        assert (await self.world.store.outbox.backlogs())["message"][0] == 0
        assert (await self.world.store.outbox.backlogs())["given_up"][0] == 0
        assert not await find_wrongly_due(self.world.store)
        for change in self.seen.values():
            self._settled(change)

    def _settled(self, change: Change) -> None:
        if change.state is State.UNKNOWN:
            live = self.world.live(change.edit.target)
            clear = change.edit.target.key and (
                holds(live, change.edit.after) or content(live) == content(change.edit.before)
            )
            assert not clear, "unknown, though anybody can see how it is"
        else:
            assert change.state in ENDS, f"stuck: {change.state}"
        card, quiet = self.world.cards.get(change.id), _is_vain_end(change) or bool(change.set_id)
        if change.state is State.UNSETTLED and _is_vain_end(change):
            undone = self.seen[change.request.undoes or ""]
            assert undone.run.revert_failure is RevertFailure.UNCONFIRMED, "nothing tells that the end is not confirmed"
        assert quiet or card is not None
        assert card is None or not _is_vain_end(change), "a card for each try"
        assert quiet or card is None or card.state is change.state, "the card tells of another end"
        if change.is_bulk:
            assert self.tally(change).of(OPEN) == 0
            if card is not None:
                assert self.world.tallies[change.id] == self.tally(change), "the card tells of other ends"
            if not self._in_force(change):
                return
        if (
            change.is_temporary
            and change.request.reverts_at is not None
            and change.request.reverts_at <= self.world.clock()
        ):
            states = [undo.state.value for undo in self.seen.values() if undo.request.undoes == change.id]
            # A change of the same target whose outcome nobody knows yet keeps the end waiting.
            targets = [done.edit.target for done in self._in_force(change)]
            states += [other.state.value for other in self.seen.values() if other.edit.target in targets]
            assert "unknown" in states, (
                f"its time is over, and it is still in force: {change.edit.kind}, undos {states}"
            )


def _is_agreed(change: Change) -> bool:
    """Whether that it ends was agreed to with it, at its time or earlier."""
    cause = change.request.cause
    return change.set_id is None and cause is not None and cause.kind in {CauseKind.END, CauseKind.EARLY_END}


def _is_done_end(change: Change) -> bool:
    return _is_agreed(change) and change.state is State.APPLIED and not change.is_bulk


def _is_vain_end(change: Change) -> bool:
    """Whether it is a try of an automatic end that came to nothing and was not refused, which what was to end tells."""
    return change.is_automatic and change.state is not State.APPLIED and change.run.refusal.code not in PERMANENT_CODES


def _passed_a_decision(old: Change | None, new: Change) -> bool:
    """Whether somebody, or time, decided in the step that was."""
    waited = old is None or old.state in {State.PROPOSED, State.PLANNED}
    return waited and new.state is not State.PROPOSED and (old is None or old.state is not new.state)
