"""Requests that were stored before they were acknowledged, each once, until they are done."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa

from bot.store.changes import micros_of
from bot.store.session import Session, insert_new
from bot.store.tables import inbound, moment

KINDS = ("command", "click", "submission", "event")
"""Kinds of requests that this release takes in, and takes up."""
KEPT = timedelta(hours=24)
"""How long a request is remembered by its signature."""
SAME_ACT = timedelta(minutes=10)
"""How long an act is remembered by what it was: Slack's own retries end after five minutes."""
MOST_ATTEMPTS = 10
"""Processes that a request may take down with it; after that it is handed out once more, to be given up in words."""


@dataclass(frozen=True, slots=True)
class Inbound:
    """A stored request: its kind (``command``, ``click``, ``submission``) and Slack's payload."""

    id: str
    kind: str
    payload: dict[str, Any]
    attempt: int
    received: datetime


class InboundRequests:
    def __init__(self, session: Session) -> None:
        self._session = session

    async def take_in(
        self, key: str, natural_key: str, kind: str, payload: Mapping[str, Any], *, owner: str, lease: timedelta
    ) -> Inbound | None:
        """Store a request and hold it for *owner*; None where it is known by either key, and so not to be done again."""
        if kind not in KINDS:
            raise ValueError(kind)
        now = self._session.now()
        row = {
            "id": key,
            "natural_key": natural_key,
            "kind": kind,
            "payload": json.dumps(payload),
            "received": now,
            "done": False,
            "attempt": 1,
            "owner": owner,
            "lease": now + micros_of(lease),
        }
        async with self._session.writing() as tx:
            past = sa.and_(inbound.c.natural_key == natural_key, inbound.c.received < now - micros_of(SAME_ACT))
            await tx.execute(sa.delete(inbound).where(past, inbound.c.done))
            is_new = await insert_new(tx, inbound, row)
        return Inbound(key, kind, dict(payload), 1, moment(now)) if is_new else None

    async def claim_next(self, owner: str, lease: timedelta, *, but: Collection[str] = ()) -> Inbound | None:
        """Take the oldest request whose holder's lease is over; None where there is none that is still remembered.

        Requests of a kind that only a newer release takes in are left to it. *but*: ids of those not to be taken.
        """
        now = self._session.now()
        left = sa.and_(inbound.c.done.is_(False), inbound.c.lease < now, inbound.c.attempt <= MOST_ATTEMPTS)
        query = (
            sa.select(inbound)
            .where(
                left, inbound.c.kind.in_(KINDS), inbound.c.id.not_in(but), inbound.c.received >= now - micros_of(KEPT)
            )
            .order_by(inbound.c.received)
            .limit(1)
        )
        async with self._session.claiming(query) as claim:
            if claim is None:
                return None
            tx, row = claim
            values = {"owner": owner, "lease": now + micros_of(lease), "attempt": row.attempt + 1}
            await tx.execute(sa.update(inbound).where(inbound.c.id == row.id).values(values))
        return Inbound(row.id, row.kind, json.loads(row.payload), row.attempt + 1, moment(row.received))

    async def renew(self, inbound_id: str, owner: str, lease: timedelta) -> bool:
        """Hold a request for longer; False where it is no longer *owner*'s."""
        values = {"lease": self._session.now() + micros_of(lease)}
        return await self._update_held(inbound_id, owner, values)

    async def hand_back(self, inbound_id: str, owner: str) -> None:
        """Leave a request to whoever comes next, at once; a holder that says so did not die of it."""
        await self._update_held(inbound_id, owner, {"lease": 0, "attempt": inbound.c.attempt - 1})

    async def _update_held(self, inbound_id: str, owner: str, values: Mapping[str, Any]) -> bool:
        held = sa.and_(inbound.c.id == inbound_id, inbound.c.owner == owner, inbound.c.done.is_(False))
        async with self._session.writing() as tx:
            return bool((await tx.execute(sa.update(inbound).where(held).values(values))).rowcount)

    async def forget(self) -> None:
        """Drop what need not be remembered any more."""
        async with self._session.writing() as tx:
            await tx.execute(sa.delete(inbound).where(inbound.c.received < self._session.now() - micros_of(KEPT)))

    async def done(self, inbound_id: str) -> None:
        async with self._session.writing() as tx:
            await tx.execute(sa.update(inbound).where(inbound.c.id == inbound_id).values(done=True))
