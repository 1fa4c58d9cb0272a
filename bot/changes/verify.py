"""Compare a target with what it was and what it should be: right before a write, and as read back after it.

What became of a change is classified here, too: by what its service answered, and by what was read back.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import Enum, auto
from typing import Any, Final, Protocol, TypeAlias

from bot.changes.model.change import Change
from bot.changes.model.documents import Document, canonical_form, has_access_of
from bot.changes.model.edits import Kind, Target
from bot.changes.model.items import Item, NotSent, Outcome
from bot.changes.model.states import Move
from bot.clients.errors import ClientError, NotFound, OutcomeUnknown, RateLimited, Refusal
from bot.clients.gate import CallContext, Priority

AT_A_TIME: Final = 50
"""Changes that are verified in one go, before others are let in between."""


class Verification(Enum):
    """The result of reading back the target of a change."""

    DONE = auto()
    NOT_DONE = auto()
    DIVERGED = auto()
    """The target is neither as it was nor as it should be: somebody must look."""
    UNREADABLE = auto()


@dataclass(frozen=True, slots=True)
class Reading:
    """The target as it was read back, and the verification that follows."""

    verification: Verification
    live: Document | None = None

    @property
    def is_done(self) -> bool:
        return self.verification is Verification.DONE

    @property
    def is_undone(self) -> bool:
        return self.verification is Verification.NOT_DONE


SEVERAL: Final = Reading(Verification.DIVERGED)
"""Of things that were created, where there should be one: somebody must look."""
UNREADABLE: Final = Reading(Verification.UNREADABLE)


class Snapshot(Protocol):
    """The state of one service as it was read at one moment, for many changes at once."""

    def live(self, target: Target) -> Document | None:
        """The target as it then was, or None where it did not exist."""

    def lookalikes(self, change: Change) -> list[str]:
        """Keys of the things that look just like what *change* would create."""


class Adapter(Protocol):
    """How changes to one service are read and written. Both methods raise the clients' errors."""

    async def snapshot(self, targets: Sequence[Target]) -> Snapshot:
        """These targets as they are now; one without a key, that is to be created, among all there is."""

    async def write(self, change: Change) -> Answer:
        """Send the change once, and return what the service answered.

        A refusal that is raised means that nothing was done: OutcomeUnknown where a part was, or may have been.
        """


@dataclass(frozen=True, slots=True)
class Answer:
    """A service's answer to a write that it accepted."""

    text: str
    """For people; of a thing that was created its key."""
    made: Document | None = None
    """The thing that was created, as the answer has it."""


AdapterOf = Callable[[Target, CallContext], Adapter]
"""The adapter that a target's service and site need, and that sends with this context; raises Unsendable where no setting names
the site any more."""
LOOKING: Final = CallContext(Priority.CHANGE)
"""Outside a lease, targets are only looked at: somebody decides, or counts on what is due, whatever others look up."""


async def read_live(adapter: Adapter, target: Target) -> Document | None:
    """Read one target as it is now; None, without a look, where it is yet to be created."""
    return None if target.key is None else (await adapter.snapshot([target])).live(target)


async def read_back(adapter: Adapter, sent: Sequence[Sent]) -> Sequence[tuple[Sent, Reading]]:
    """Read the targets of changes that were sent, all together; each with what that shows of it.

    What one change created is looked for among all there is, also where its key is known: a gateway may have sent the
    request twice, and then one of the two is too many.
    """
    first = sent[0].change
    alone = first.edit.kind is Kind.RULE_CREATE and first.set_id is None
    targets = [_with_key(first.edit.target, None)] if alone else [each.change.edit.target for each in sent]
    snapshot = await adapter.snapshot(targets)
    readings = []
    for number, each in enumerate(sent):
        # Comparing thousands of documents takes a while; the event loop lets others in.
        if number % AT_A_TIME == 0:
            await asyncio.sleep(0)
        named = await _read_named(adapter, each.change, snapshot)
        if _is_ours(each, named):
            readings.append((each, judge(each.change, snapshot, named)))
        else:
            # Then the rule that was created is looked for by its content, as if there had been no answer.
            lost = discard_answer(each, "the answer names another rule")
            snapshot = await adapter.snapshot([lost.change.edit.target])
            readings.append((lost, judge(lost.change, snapshot)))
    return readings


async def _read_named(adapter: Adapter, change: Change, snapshot: Snapshot) -> Document | None:
    """What reads under the key that the answer gave to what *change* created; alone, where the list lags behind."""
    if change.edit.kind is not Kind.RULE_CREATE:
        return None
    return snapshot.live(change.edit.target) or await read_live(adapter, change.edit.target)


def _is_ours(sent: Sent, live: Document | None) -> bool:
    """Whether *live*, which the answer named, is what was created: an answer meant for another names another's rule."""
    if sent.answer is None or sent.answer.made is None:
        return True
    now, after, made = map(canonical_form, (live, sent.change.edit.after, sent.answer.made))
    return (contains_all(now, after) or now == made) and sent.answer.text not in known_lookalikes(sent.change)


def discard_answer(sent: Sent, why: str) -> Sent:
    """Return *sent*; a creation as if its answer were lost, for *why*: what it made is yet to be found."""
    if sent.answer is None or sent.answer.made is None:
        return sent
    target = sent.change.edit.target
    return Sent(sent.change.with_fields(target=_with_key(target, None)), error=OutcomeUnknown(target.service, why))


def judge(change: Change, snapshot: Snapshot, named: Document | None = None) -> Reading:
    """Say what *snapshot* shows of a change that was sent; *named*: what reads under the key of what it created.

    Beside an item of a bulk change, another item may have made its like.
    """
    target = change.edit.target
    if change.edit.kind is not Kind.RULE_CREATE:
        return verdict(change, snapshot.live(target))
    if target.key is not None and change.set_id is not None:
        return verdict(change, named or snapshot.live(target))
    born = _new_lookalikes(change, snapshot)
    live = named if target.key is not None else snapshot.live(_with_key(target, next(iter(born), None)))
    return SEVERAL if len(born) > 1 else verdict(change, live)


def _new_lookalikes(change: Change, snapshot: Snapshot) -> list[str]:
    """The keys of what looks just like the thing that *change* creates, and was not there before."""
    known = known_lookalikes(change)
    return [key for key in snapshot.lookalikes(change) if key not in known]


def _with_key(target: Target, key: str | None) -> Target:
    return target.model_copy(update={"key": key})


def known_lookalikes(change: Change) -> Sequence[str]:
    """The keys of what looked just like the thing to be created before it was: noted by the executor."""
    return change.run.lookalikes or ()


def replaces(change: Change) -> bool:
    """Whether the write puts a whole in the place of what is there: what somebody did since the look would be lost.

    Of a member, only a new name does, since PATCH may replace the segments that it takes along. A grant or a revocation
    names the segments that come or go, so what others gave or took since the look stays. A removal, or an addition at a
    service that takes it for an update, would lose that. Both come by the thousand, and the service has no read of one
    member, so for them a look some seconds old has to do.
    """
    if change.edit.target.service != "members":
        return True
    renamed = (change.edit.before or {}).get("name") != (change.edit.after or {}).get("name")
    return change.edit.kind is Kind.MEMBER_UPDATE and renamed


LOOK_FACTOR: Final = 10
"""Times as long as a look: where the list is long, or slow, it is not read more often than pays."""
SHORTEST, LONGEST = 2.0, 10.0
"""Seconds for which a look at many members counts."""


def look_lifetime(look: float) -> float:
    """Seconds for which a look counts that took *look* seconds: a long list is not read more often than pays."""
    return max(SHORTEST, min(LONGEST, LOOK_FACTOR * look))


@dataclass(slots=True)
class Look:
    """The targets of changes to one service and site: read together, and each as it is when it is its turn.

    The services know no precondition: an edit between the last look and the write is lost, so nothing waits there.
    """

    adapter_of: Callable[[Target], Adapter]
    targets: Sequence[Target]
    now: Callable[[], datetime]
    _taken: tuple[Snapshot, datetime] | None = None
    """What was read, and until when it counts."""
    _reading: asyncio.Lock = field(default_factory=asyncio.Lock)

    @property
    def adapter(self) -> Adapter:
        """The adapter that all of the targets share; raises as `AdapterOf` does."""
        return self.adapter_of(self.targets[0])

    async def take(self) -> Snapshot:
        """Read all targets together; raises the clients' errors."""
        began = time.monotonic()
        snapshot = await self.adapter.snapshot(self.targets)
        self._taken = snapshot, self.now() + timedelta(seconds=look_lifetime(time.monotonic() - began))
        return snapshot

    async def live(self, change: Change) -> Document | None:
        """The target of *change* as it is now; raises the clients' errors.

        One of many whose write replaces nothing is as it was some seconds ago: members can only be read all together, and
        that once for each of them would take longer than all that is to be done.
        """
        if len(self.targets) == 1 or replaces(change):
            return await read_live(self.adapter, change.edit.target)
        # One reads for all: the others wait, and find what it read.
        async with self._reading:
            if self._taken is not None and self.now() < self._taken[1]:
                return self._taken[0].live(change.edit.target)
            return (await self.take()).live(change.edit.target)


def key_of(change: Change) -> str:
    """Return the key of a target that exists already; raises ValueError where it has none."""
    if change.edit.target.key is None:
        raise ValueError(f"{change.edit.kind} without a key")
    return change.edit.target.key


def verdict(change: Change, live: Document | None) -> Reading:
    """Judge *change* by *live*, its target. An unchanged target means NOT_DONE, even where the change only removes fields."""
    live = None if _is_twin(change, live) else live
    now, before, after = canonical_form(live), canonical_form(change.edit.before), canonical_form(change.edit.after)
    # Where nothing was to change, being as before is being done.
    if now == before != after:
        return Reading(Verification.NOT_DONE, live)
    done = now == after or (contains_all(now, after) and not _has_leftover(before, after, now))
    return Reading(Verification.DONE if done else Verification.DIVERGED, live)


def _is_twin(change: Change, live: Document | None) -> bool:
    """Whether *live* is another member than the one to be changed: their emails differ in case, and both were there."""
    if live is None or change.edit.target.service != "members":
        return False
    key = change.edit.target.key
    return live.get("email") != key and (change.edit.before or {}).get("email") == key


def _has_leftover(before: Any, after: Any, now: Any) -> bool:
    """Whether *now* has a field that was there *before* and is not to be there *after*."""
    if isinstance(before, Mapping) and isinstance(after, Mapping) and isinstance(now, Mapping):
        gone = before.keys() - after.keys()
        return bool(gone & now.keys()) or any(
            _has_leftover(before[name], after[name], now.get(name)) for name in before.keys() & after.keys()
        )
    if isinstance(before, list) and isinstance(after, list) and isinstance(now, list):
        # Elements are compared by their places, which say nothing once one was added or taken out.
        return len(before) == len(after) and any(map(_has_leftover, before, after, now))
    return False


def contains_all(live: Any, wanted: Any) -> bool:
    """Whether *live* has all that was *wanted*; a service may add fields of its own to what it was sent."""
    if isinstance(wanted, Mapping) and isinstance(live, Mapping):
        return all(contains_all(live.get(name), value) for name, value in wanted.items())
    if isinstance(wanted, list) and isinstance(live, list):
        return len(live) == len(wanted) and all(map(contains_all, live, wanted))
    return bool(live == wanted)


class Differs(Exception):
    """The target is not as it was shown, so nothing was sent."""

    code: Final = "Differs"

    def __init__(self, live: Document | None) -> None:
        super().__init__("the target is no longer as it was shown")
        self.live = live


class EndPassed(Exception):
    """The change was to last until a moment that is past, so nothing was sent."""

    code: Final = "EndPassed"


class OutOfTurn(Exception):
    """A step whose turn it isn't, so nothing was sent: its text is a `NotSent`."""

    code: Final = "OutOfTurn"


def require_turn(number: int, steps: Iterable[Item], now: Snapshot) -> None:
    """Raise OutOfTurn unless it is the turn of the step with that *number*: what those before it made is confirmed, and
    there *now*; and what those after it are about is as it was shown, so that they won't be left undone.
    """
    for step in steps:
        live = now.live(step.target)
        is_in_place = step.outcome in {Outcome.APPLIED, Outcome.SKIPPED} and has_access_of(live, step.after)
        if step.number < number and not is_in_place:
            raise OutOfTurn(NotSent.NOT_CONFIRMED)
        if step.number > number and canonical_form(live) != canonical_form(step.before):
            raise OutOfTurn(NotSent.NEXT_CHANGED)


SendError: TypeAlias = ClientError | Differs | EndPassed | OutOfTurn
"""Why a change was not sent, or how the call failed."""


@dataclass(frozen=True, slots=True)
class Sent:
    """The result of sending a change: the answer of its service, or why there is none."""

    change: Change
    answer: Answer | None = None
    error: SendError | None = None

    @property
    def is_open(self) -> bool:
        """Whether the service may have done it, so that reading back must tell.

        What an earlier process sent may still come, whatever this one is answered; a creation is not sent twice.
        """
        sent_before = self.change.run.attempt > 1 and self.change.edit.kind is not Kind.RULE_CREATE
        return sent_before or self.error is None or isinstance(self.error, OutcomeUnknown)


def classify(sent: Sent, reading: Reading) -> tuple[Move, dict[str, Any]] | None:
    """Return the move that a change is to make, and what is noted with it.

    An answer is believed once the target reads as it should, or as what the service made of it. None: the answer for an
    item was lost, and nothing shows that it was done. A service that is slow for a while is no reason to fail one of many, so
    it stays under way, and is taken over and sent again like that of a process that died; but for a creation, of which
    the second would be one too many.
    """
    change, error = sent.change, sent.error
    if not sent.is_open:
        if isinstance(error, Differs):
            return Move.INVALIDATE, {"result": error.live}
        # To delete what somebody else has deleted is no failure: the request is out of date.
        gone = isinstance(error, NotFound) and change.edit.after is None
        return Move.INVALIDATE if gone else Move.FAIL, error_fields(error)
    diverged = reading.verification is Verification.DIVERGED
    # The service took it and made something of its own of it; a deletion has nothing to be altered.
    altered = sent.answer is not None and diverged and None not in (reading.live, change.edit.after)
    if reading.is_done or altered:
        target = _with_key(change.edit.target, change.edit.target.key or (reading.live or {}).get("id"))
        answer = {} if sent.answer is None else {"outcome": sent.answer.text}
        return Move.FINISH, {"result": reading.live, "target": target} | answer
    if sent.answer is not None:
        return Move.MARK_UNKNOWN, {"outcome": sent.answer.text, "accepted": True, "target": change.edit.target}
    refused = isinstance(error, Refusal | OutOfTurn) and not isinstance(error, RateLimited)
    if change.set_id is not None and change.edit.kind is not Kind.RULE_CREATE and not diverged and not refused:
        return None
    return Move.MARK_UNKNOWN, error_fields(error)


def error_fields(error: SendError | None) -> dict[str, Any]:
    """The fields that record *error*: what the service said, or what became of the call, and its code."""
    return {} if error is None else {"outcome": str(error)[:300], "refusal": error.code}


async def accept_if_done(refused: Refusal, adapter: Adapter, change: Change) -> Answer:
    """Raise *refused*, unless the target is as it should be: then return the service's words.

    The target was read a moment before the write. If it is "not found" for a deletion, or "there already" for an
    addition, the likely reason is a gateway that sent our request twice, and passed on what the second one got.
    """
    try:
        ((_, reading),) = await read_back(adapter, [Sent(change)])
    except ClientError as error:
        raise OutcomeUnknown(refused.service, f"{refused}; and then it could not be read: {error}") from error
    if not reading.is_done:
        raise refused
    return Answer(str(refused))
