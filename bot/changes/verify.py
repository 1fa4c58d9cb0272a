"""Say what became of a change: by what its service answered, and by its target as it was read back."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any, Final, TypeAlias

from bot.changes.model.change import Change
from bot.changes.model.documents import Document, canonical_form, contains_all
from bot.changes.model.edits import Kind
from bot.changes.model.moves import Fail, Finish, Invalidate, MarkUnknown, Move
from bot.changes.model.parts import Refused
from bot.changes.targets import Adapter, Differs, EndPassed, Snapshot, read_live
from bot.clients.errors import ClientError, NotFound, OutcomeUnknown, RateLimited, Refusal

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


async def read_back(adapter: Adapter, sent: Sequence[Sent]) -> Sequence[tuple[Sent, Reading]]:
    """Read the targets of changes that were sent, all together; each with what that shows of it.

    What one change created is looked for among all there is, also where its key is known: a gateway may have sent the
    request twice, and then one of the two is too many.
    """
    first = sent[0].change
    alone = first.edit.kind is Kind.RULE_CREATE and first.set_id is None
    targets = [first.edit.target.with_key(None)] if alone else [each.change.edit.target for each in sent]
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
    """Read what *change* created by the key that the answer gave; alone, where the list lags behind."""
    if change.edit.kind is not Kind.RULE_CREATE:
        return None
    return snapshot.live(change.edit.target) or await read_live(adapter, change.edit.target)


def _is_ours(sent: Sent, live: Document | None) -> bool:
    """Whether *live*, which the answer named, is what was created: an answer meant for another names another's rule."""
    if sent.made is None:
        return True
    now, after, made = map(canonical_form, (live, sent.change.edit.after, sent.made))
    return (contains_all(now, after) or now == made) and sent.made["id"] not in (sent.change.run.lookalikes or ())


def discard_answer(sent: Sent, why: str) -> Sent:
    """Return *sent*; a creation as if its answer were lost, for *why*: what it made is yet to be found."""
    if sent.made is None:
        return sent
    target = sent.change.edit.target
    return Sent(sent.change.with_target(target.with_key(None)), error=OutcomeUnknown(target.service, why))


def judge(change: Change, snapshot: Snapshot, named: Document | None = None) -> Reading:
    """Say what *snapshot* shows of a change that was sent; *named*: what reads under the key of what it created.

    Beside an item of a bulk change, another item may have made its like.
    """
    target = change.edit.target
    if change.edit.kind is not Kind.RULE_CREATE:
        return verdict(change, snapshot.live(target))
    if target.key is not None and change.set_id is not None:
        return verdict(change, named or snapshot.live(target))
    born = [key for key in snapshot.lookalikes(change) if key not in (change.run.lookalikes or ())]
    live = named if target.key is not None else snapshot.live(target.with_key(next(iter(born), None)))
    return SEVERAL if len(born) > 1 else verdict(change, live)


def verdict(change: Change, live: Document | None) -> Reading:
    """Return what *live*, its target, shows of *change*: unchanged is NOT_DONE, even where the change only removes fields."""
    live = None if _is_twin(change, live) else live
    now, before, after = canonical_form(live), canonical_form(change.edit.before), canonical_form(change.edit.after)
    # Where nothing was to change, being as before is being done.
    if now == before != after:
        return Reading(Verification.NOT_DONE, live)
    done = now == after or (contains_all(now, after) and not _has_leftover(before, after, now))
    return Reading(Verification.DONE if done else Verification.DIVERGED, live)


def _is_twin(change: Change, live: Document | None) -> bool:
    """Whether *live* is another member than the one that was removed: their emails differ in case, and both were there.

    Of one who was edited, the service may spell the email otherwise from then on.
    """
    key = change.edit.target.key
    is_removed = change.edit.kind is Kind.MEMBER_REMOVE and (change.edit.before or {}).get("email") == key
    return is_removed and live is not None and live.get("email") != key


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


SendError: TypeAlias = ClientError | Differs | EndPassed
"""Why a change was not sent, or how the call failed."""


@dataclass(frozen=True, slots=True)
class Sent:
    """The result of sending a change."""

    change: Change
    accepted: bool = False
    """The service returned success."""
    made: Document | None = None
    """What was created, as the answer has it."""
    error: SendError | None = None

    @property
    def is_open(self) -> bool:
        """Whether the service may have done it, so that reading back must tell.

        What an earlier process sent may still come, whatever this one is answered; a creation is not sent twice.
        """
        sent_before = self.change.run.attempt > 1 and self.change.edit.kind is not Kind.RULE_CREATE
        return sent_before or self.error is None or isinstance(self.error, OutcomeUnknown) or self.is_mixed

    @property
    def is_mixed(self) -> bool:
        """Whether a status of success came with words of failure: which of the two is so, only the target shows."""
        return isinstance(self.error, Refusal) and 200 <= self.error.status < 300


def classify(sent: Sent, reading: Reading) -> Move | None:
    """Return the move that a change is to make.

    An answer is believed once the target reads as it should, or as what the service made of it. None: the answer for an
    item was lost, and nothing shows that it was done. A service that is slow for a while is no reason to fail one of many, so
    it stays under way, and is taken over and sent again like that of a process that died; but for a creation, of which
    the second would be one too many.
    """
    change, error = sent.change, sent.error
    if not sent.is_open:
        if isinstance(error, Differs):
            return Invalidate(live=error.live)
        # To delete what somebody else has deleted is no failure: the request is out of date.
        gone = isinstance(error, NotFound) and change.edit.after is None
        return Invalidate(why=_refusal_of(error)) if gone else Fail(why=_refusal_of(error))
    diverged = reading.verification is Verification.DIVERGED
    # The service took it and made something of its own of it; a deletion has nothing to be altered.
    altered = sent.accepted and diverged and None not in (reading.live, change.edit.after)
    if reading.is_done or altered:
        key = change.edit.target.key or (reading.live or {}).get("id")
        return Finish(live=reading.live, key=key)
    if sent.accepted:
        return MarkUnknown(accepted=True, key=change.edit.target.key)
    if sent.is_mixed and reading.is_undone and change.run.attempt <= 1:
        return Fail(why=_refusal_of(error))
    refused = isinstance(error, Refusal) and not isinstance(error, RateLimited)
    if change.set_id is not None and change.edit.kind is not Kind.RULE_CREATE and not diverged and not refused:
        return None
    return MarkUnknown(why=_refusal_of(error))


def _refusal_of(error: SendError | None) -> Refused | None:
    """Return what is recorded of *error*: what the service said, or what became of the call, and its code."""
    return None if error is None else Refused(code=error.code, words=str(error)[:300])


async def accept_if_done(refused: Refusal, adapter: Adapter, change: Change) -> None:
    """Raise *refused*, unless the target is as it should be.

    The target was read a moment before the write. If it is "not found" for a deletion, or "there already" for an
    addition, the likely reason is a gateway that sent our request twice, and passed on what the second one got.
    """
    try:
        ((_, reading),) = await read_back(adapter, [Sent(change)])
    except ClientError as error:
        raise OutcomeUnknown(refused.service, f"{refused}; and then it could not be read: {error}") from error
    if not reading.is_done:
        raise refused
