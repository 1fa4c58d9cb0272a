"""The tokens with which agents ask as people: only their hashes."""

from __future__ import annotations

import hashlib
import secrets

import sqlalchemy as sa

from bot.store.audit import Audit, Event
from bot.store.db import Session
from bot.store.tables import tokens


class Tokens:
    """A person has one token for each agent, by its name in any case of letters."""

    def __init__(self, session: Session, audit: Audit) -> None:
        self._session = session
        self._audit = audit

    async def replace(self, person: str, agent: str, channel: str, *, end: bool) -> str | None:
        """End the token of *agent* for *person*, who asked in *channel*; return the next one unless it is the *end*."""
        token, key = None if end else f"gh_{secrets.token_urlsafe(32)}", {"person": person, "key": agent.casefold()}
        async with self._session.writing() as tx:
            await tx.execute(sa.delete(tokens).filter_by(**key))
            if token is not None:
                await tx.execute(sa.insert(tokens).values(hash=_hash(token), agent=agent, **key))
            event = Event("token_ended" if end else "token_made", person, channel, target=f"agent/{agent}")
            await self._audit.append(tx, event)
        return token

    async def owner_of(self, token: str) -> tuple[str, str] | None:
        """Return the person whose *token* it is, and the name of the agent; None where it is nobody's, or not any more."""
        query = sa.select(tokens.c.person, tokens.c.agent).where(tokens.c.hash == _hash(token))
        return next(((row.person, row.agent) for row in await self._session.rows(query)), None)


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()
