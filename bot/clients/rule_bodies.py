"""What one rules service wants in the body of a rule beyond its specification: learned from what it shows and refuses.

The vendor documents ``objectType`` as required, which the specification does not know; and some services refuse keys
that nobody documents, though their own records have them.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator
from functools import reduce
from typing import Any, Final

from bot.clients.errors import InvalidPayload, Refusal, Refused
from bot.domain.rule import RuleDraft

Body = dict[str, Any]
Mend = Callable[[Body], Body]
Mends = tuple[Mend, ...]

DOCUMENTED: Final = frozenset({"name", "description", "status", "ruleType", "pairs", "objectType", "groupId"})
"""The fields of a body that the specification or the vendor's documentation names."""
BOOKKEEPING: Final = frozenset(
    {
        "isCharlesImport",
        "isFavourite",
        "isModHeaderImport",
        "isReadOnly",
        "isSample",
        "lastModified",
        "ruleIndexForWhichPickerOpened",
        "schemaVersion",
    }
)
"""Undocumented fields that say nothing of what a rule does: a service that refuses them keeps them by itself."""


def with_object_type(body: Body) -> Body:
    return {"objectType": "rule"} | body


def documented_only(body: Body) -> Body:
    """*body* without its bookkeeping; unchanged where it has other undocumented fields, which must not be lost."""
    undocumented = body.keys() - DOCUMENTED
    return {name: body[name] for name in body if name in DOCUMENTED} if undocumented <= BOOKKEEPING else body


FOR_NEW: Final[tuple[Mends, ...]] = ((), (with_object_type,), (documented_only,), (with_object_type, documented_only))
"""What is tried, one after the other, on the body of a new rule that was refused as a whole."""
FOR_STORED: Final[tuple[Mends, ...]] = ((), (documented_only,))
"""The same for a rule that is there: it has its ``objectType`` where its service wants that."""


class RuleBodies:
    """Bodies as one service takes them. What last mended a refusal is done to every body after it."""

    def __init__(self) -> None:
        self._learned: dict[tuple[Mends, ...], Mends] = {}

    def note(self, record: RuleDraft) -> None:
        """Learn from a record of the service itself."""
        if (record.model_extra or {}).get("objectType") == "rule":
            self._learned.setdefault(FOR_NEW, (with_object_type,))

    async def sent(self, send: Callable[[Body], Awaitable[Body]], body: Body, *, new: bool) -> Body:
        """What *send* returns for *body*, or for what a mend makes of it where the service refused it as a whole.

        A refused body did nothing, so another may be sent. Where no mend helps, raises the first refusal.
        """
        mends = FOR_NEW if new else FOR_STORED
        first: Refusal | None = None
        for sending, each in _different(body, (self._learned.get(mends, ()), *mends)):
            try:
                answer = await send(sending)
            except (InvalidPayload, Refused) as error:
                first = first or error
                if not _is_of_the_whole(first):
                    raise
            else:
                self._learned |= {} if first is None else {mends: each}
                return answer
        raise first or AssertionError("nothing was sent")


def _different(body: Body, ways: Iterable[Mends]) -> Iterator[tuple[Body, Mends]]:
    """What each of *ways* makes of *body*, and what none before it made."""
    seen: list[Body] = []
    for mends in ways:
        made = mended(body, mends)
        if made not in seen:
            seen.append(made)
            yield made, mends


def mended(body: Body, mends: Mends) -> Body:
    return reduce(lambda made, mend: mend(made), mends, body)


def _is_of_the_whole(error: Refusal) -> bool:
    """Whether a refusal is about the body, and about none of its parts that has an error of its own."""
    return isinstance(error, InvalidPayload) or (isinstance(error, Refused) and error.status == 400)
