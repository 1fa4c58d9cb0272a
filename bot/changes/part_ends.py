"""What became of a part: by what its service said, and by what was read back."""

from __future__ import annotations

from dataclasses import dataclass

from bot.changes.applying import said
from bot.changes.effects import Document, Reading, Truth
from bot.changes.set_ledger import Ended
from bot.clients.errors import ClientError, NotFound, OutcomeUnknown
from bot.domain.change import Change, Kind, Move


@dataclass(frozen=True, slots=True)
class Sent:
    """What became of one part that was to be sent: the answer of its service, its error, or that it was left."""

    part: Change
    answer: str = ""
    error: ClientError | None = None
    moved_to: tuple[Document | None] | None = None
    """What its target had become, where it was not sent for that."""

    @property
    def named(self) -> Change:
        """The part with the id that its creation got."""
        if self.part.kind is not Kind.RULE_CREATE or not self.answer:
            return self.part
        return self.part.model_copy(update={"target": self.part.target.model_copy(update={"key": self.answer})})


def is_to_be_taken_up(sent: Sent, reading: Reading | None) -> bool:
    """Whether the answer was lost, and nothing shows that the write happened: a service that is slow for a while is no
    reason to fail one of many. It stays under way, and is looked at and sent again like that of a process that died.

    Not a create, which must not be made twice: what came of it may show later.
    """
    lost = isinstance(sent.error, OutcomeUnknown) and sent.part.kind is not Kind.RULE_CREATE
    return lost and (reading is None or reading.truth is Truth.NOT_DONE)


def ending(sent: Sent, reading: Reading | None) -> Ended:
    """The part with its last move, by what was said of it and by what was read back, if that could be read."""
    part, error = sent.named, sent.error
    if sent.moved_to is not None:
        return part.model_copy(update={"result": sent.moved_to[0]}), Move.OUTDATE
    if isinstance(error, NotFound) and part.after is None:
        return part.model_copy(update=said(error)), Move.OUTDATE
    if error is not None and not isinstance(error, OutcomeUnknown):
        return part.model_copy(update=said(error)), Move.FAIL
    if reading is not None:
        stored = error is None and reading.truth is Truth.NEITHER and None not in (reading.live, part.after)
        if reading.truth is Truth.DONE or stored:
            key = part.target.key or (reading.live or {}).get("id")
            target = part.target.model_copy(update={"key": key})
            return part.model_copy(
                update={"result": reading.live, "outcome": sent.answer, "target": target}
            ), Move.FINISH
    known = {"outcome": sent.answer, "accepted": True} if error is None else said(error)
    return part.model_copy(update=known), Move.LOSE
