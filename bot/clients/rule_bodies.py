"""What one rules service wants in the body of a rule beyond its specification: learned from what it shows and refuses.

The vendor documents ``objectType`` as required, which the specification does not know; and some services refuse keys
that nobody documents, though their own records have them.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import reduce
from typing import Any, Final

from bot.clients.errors import InvalidPayload, Refusal, Refused
from bot.domain.rule import RuleDraft

Body = dict[str, Any]
Mend = Callable[[Body], Body]

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


MENDS: Final[tuple[tuple[Mend, ...], ...]] = (
    (with_object_type,),
    (documented_only,),
    (with_object_type, documented_only),
)
"""What is tried, one after the other, on a body that was refused as a whole."""


class RuleBodies:
    """Bodies as one service takes them. What once mended a refusal is done to every body after it."""

    def __init__(self) -> None:
        self._learned: tuple[Mend, ...] = ()

    def note(self, record: RuleDraft) -> None:
        """Learn from a record of the service itself."""
        if (record.model_extra or {}).get("objectType") == "rule":
            self._learn((with_object_type,))

    async def sent(self, send: Callable[[Body], Awaitable[Body]], body: Body) -> Body:
        """What *send* returns for *body*, or for what a mend makes of it where the service refused it as a whole.

        A refused body did nothing, so another may be sent. Where no mend helps, raises the first refusal.
        """
        body = mended(body, self._learned)
        try:
            return await send(body)
        except (InvalidPayload, Refused) as error:
            if not _is_of_the_whole(error):
                raise
            first = error
        tried = [body]
        for mends in MENDS:
            if (other := mended(body, mends)) in tried:
                continue
            tried.append(other)
            with suppress(InvalidPayload, Refused):
                answer = await send(other)
                self._learn(mends)
                return answer
        raise first

    def _learn(self, mends: tuple[Mend, ...]) -> None:
        self._learned = tuple(dict.fromkeys((*self._learned, *mends)))


def mended(body: Body, mends: tuple[Mend, ...]) -> Body:
    return reduce(lambda made, mend: mend(made), mends, body)


def _is_of_the_whole(error: Refusal) -> bool:
    """Whether a refusal is about the body, and about none of its parts that has an error of its own."""
    return isinstance(error, InvalidPayload) or (isinstance(error, Refused) and error.status == 400)
