"""Requests from Slack: the inbox, claimed under leases."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

import sqlalchemy as sa

from bot.store.db import CommitUnknown, Session, StoreError, insert_new
from bot.store.leases import Leases
from bot.store.tables import inbox, moment

KINDS = ("command", "click", "submission", "event")
"""Kinds of requests that this release stores and does."""
REMEMBERED_FOR = timedelta(hours=26)
"""How long a request is remembered: Slack may tell an event again for 24 hours, and be late."""
MAX_ATTEMPTS: Final = 10
"""How many processes may begin a request and die; then it is handed out once more, to tell the person that it failed."""


OPEN: Final[sa.ColumnElement[bool]] = sa.literal_column("done IS FALSE")
"""Condition for requests that are not done, spelled as in their index: SQLite uses the index only for this spelling."""


@dataclass(frozen=True, slots=True)
class StoredRequest:
    """A stored request that *owner* is to do: its kind (``command``, ``click``, ``submission``) and Slack's payload.

    *attempts*: how many processes began it before and did not finish.
    """

    id: str
    kind: str
    payload: dict[str, Any]
    attempts: int
    received: datetime
    owner: str


class Inbox:
    def __init__(self, session: Session) -> None:
        self._session = session
        self.leases = Leases(session, inbox, inbox.c.attempt)

    async def take_in(
        self, key: str, kind: str, payload: Mapping[str, Any], *, owner: str, lease: timedelta
    ) -> StoredRequest | None:
        """Store a request, claimed and begun by *owner*; None where its *key* is known, so it must not be done again.

        Raises StoreError where it was not stored, and CommitUnknown where it may have been.
        """
        if kind not in KINDS:
            raise ValueError(kind)
        now = self._session.now()
        row = {
            "id": key,
            "kind": kind,
            "payload": json.dumps(payload),
            "received": now,
            "done": False,
            "attempt": 1,
            "owner": owner,
            "lease": self._session.now(lease),
        }
        try:
            is_new = await self._insert(row)
        except CommitUnknown as unclear:
            is_new = await self._insert_again(row, unclear)
        return StoredRequest(key, kind, dict(payload), 0, moment(now), owner) if is_new else None

    async def _insert(self, row: Mapping[str, Any]) -> bool:
        async with self._session.writing() as tx:
            return await insert_new(tx, inbox, row)

    async def _insert_again(self, row: Mapping[str, Any], unclear: CommitUnknown) -> bool:
        """Insert *row* again: unlike a read, that waits for a first insert which PostgreSQL is still committing."""
        this = sa.select(inbox.c.id).filter_by(id=row["id"], owner=row["owner"], received=row["received"])
        try:
            if await self._insert(row):
                return True
            return bool(await self._session.rows(this))
        except StoreError:
            raise unclear from None

    async def claim(self, owner: str, lease: timedelta, *, but: Collection[str] = ()) -> StoredRequest | None:
        """Claim the oldest unfinished request without a lease; None where there is none that is still remembered.

        *but*: ids of requests to skip.
        """
        left = sa.and_(OPEN, inbox.c.attempt <= MAX_ATTEMPTS)
        remembered = inbox.c.received >= self._session.now(-REMEMBERED_FOR)
        query = sa.select(inbox).where(left, remembered, inbox.c.id.not_in(but)).order_by(inbox.c.received)
        for row in await self.leases.claim(query.limit(1), owner, lease, list):
            return self._request(row, owner)
        return None

    async def get(self, request_id: str) -> StoredRequest | None:
        """Return the request, done or not; None where it is no longer remembered."""
        remembered = inbox.c.received >= self._session.now(-REMEMBERED_FOR)
        query = sa.select(inbox).where(inbox.c.id == request_id, remembered)
        return next((self._request(row, row.owner) for row in await self._session.rows(query)), None)

    async def list_unfinished(self) -> Sequence[StoredRequest]:
        """Return the requests that are still remembered and not done, the oldest first."""
        query = sa.select(inbox).where(OPEN, inbox.c.received >= self._session.now(-REMEMBERED_FOR))
        rows = await self._session.rows(query.order_by(inbox.c.received))
        return [self._request(row, row.owner) for row in rows]

    async def attach(self, request_id: str, more: Mapping[str, Any]) -> None:
        """Add *more* to the payload of a request, for as long as the request is remembered."""
        async with self._session.writing() as tx:
            payload = await tx.scalar(sa.select(inbox.c.payload).where(inbox.c.id == request_id).with_for_update())
            if payload is not None:
                values = {"payload": json.dumps(json.loads(payload) | dict(more))}
                await tx.execute(sa.update(inbox).where(inbox.c.id == request_id).values(values))

    async def begin(self, request: StoredRequest) -> bool:
        """Count an attempt at a request that was claimed, right before it is made; False where another process has it.

        The claim doesn't count it: a request may wait for its turn while its process dies of something else.
        """
        async with self._session.writing() as tx:
            begun = {"attempt": request.attempts + 1}
            return await self.leases.write(tx, _is_request(request), request.owner, begun)

    async def renew(self, request: StoredRequest, lease: timedelta) -> bool:
        """Renew the lease on a request by *lease*; False where another process has it."""
        return await self.leases.renew(_is_request(request), request.owner, lease)

    async def backlog(self) -> tuple[int, float]:
        """Return how many requests are not done yet, and the age of the oldest in seconds."""
        return await self._session.backlog(inbox.c.received, OPEN)

    async def give_back(self, request: StoredRequest) -> None:
        """Release a request to the next process at once, without counting the attempt: this process did not die of it."""
        await self.leases.release(_is_request(request), request.owner, attempt=request.attempts)

    async def forget(self) -> None:
        """Delete the requests that need not be remembered any more."""
        async with self._session.writing() as tx:
            await tx.execute(sa.delete(inbox).where(inbox.c.received < self._session.now(-REMEMBERED_FOR)))

    async def mark_done(self, request_id: str) -> None:
        async with self._session.writing() as tx:
            await tx.execute(sa.update(inbox).where(inbox.c.id == request_id).values(done=True))

    def _request(self, row: sa.Row[Any], owner: str) -> StoredRequest:
        with self._session.decoding("request", row.id):
            payload = dict(json.loads(row.payload))
            return StoredRequest(row.id, row.kind, payload, row.attempt, moment(row.received), owner)


def _is_request(request: StoredRequest) -> sa.ColumnElement[bool]:
    return sa.and_(inbox.c.id == request.id, inbox.c.done.is_(False))
