"""The database of a deployment: opened, checked, brought to this release's schema."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime

import sqlalchemy as sa
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.domain.change import State
from bot.store.aliases import Aliases
from bot.store.audit import Audit
from bot.store.changes import Changes
from bot.store.channel_settings import ChannelSettings
from bot.store.errors import StoreCorrupt, StoreError
from bot.store.inbound import InboundRequests
from bot.store.migrations.run import refuse_other_schema, upgrade_schema
from bot.store.newer import Newer
from bot.store.outbox import Cards, Outbox
from bot.store.parts import Parts
from bot.store.samples import Samples
from bot.store.session import Session, bound, make_engine
from bot.store.shown import Lists
from bot.store.tables import changes, inbound, outbox, timers
from bot.store.timers import Timers


@dataclass(frozen=True, slots=True)
class Store:
    """The parts of the store, over one database."""

    session: Session
    changes: Changes
    inbound: InboundRequests
    outbox: Outbox
    cards: Cards
    lists: Lists
    aliases: Aliases
    timers: Timers
    audit: Audit
    parts: Parts
    channel_settings: ChannelSettings
    samples: Samples
    newer: Newer

    def transaction(self) -> AbstractAsyncContextManager[AsyncConnection]:
        """What belongs together, committed together; raises StoreError and then nothing was written."""
        return self.session.writing()

    async def end_leases(self) -> None:
        """Let whatever is held be taken over at once, and what waits be tried: who held it is known to be dead."""
        past = self.session.now() - 1
        async with self.transaction() as tx:
            for table in (changes, inbound, outbox, timers):
                await tx.execute(sa.update(table).where(table.c.lease > past).values(lease=past))
            left = sa.and_(changes.c.state == State.APPROVED, changes.c.due > past)
            await tx.execute(sa.update(changes).where(left).values(due=past))

    async def left_to_newer_release(self) -> int:
        """How many changes wait for a newer release: this one passes them over."""
        found = [await each.of_newer_release() for each in (self.changes, self.timers, self.outbox)]
        return len(frozenset[str]().union(*found))

    async def health(self) -> dict[str, str]:
        """``{"store": "ok"}``, or in a few words what is wrong."""
        try:
            async with self.session.reading() as connection:
                await connection.execute(sa.text("SELECT 1"))
        except StoreError as error:
            return {"store": str(error)}
        return {"store": "ok"}


@asynccontextmanager
async def open_store(database_url: str, *, now: Callable[[], datetime]) -> AsyncIterator[Store]:
    """The store at *database_url*, with the schema of this release; raises StoreError or StoreCorrupt."""
    engine = make_engine(database_url)
    try:
        await upgrade(database_url)
        session = Session(engine, now)
        audit, newer = Audit(session), Newer()
        yield Store(
            session,
            changes=Changes(session, newer),
            inbound=InboundRequests(session),
            outbox=Outbox(session, newer),
            cards=Cards(session),
            lists=Lists(session),
            aliases=Aliases(session),
            timers=Timers(session, newer),
            audit=audit,
            parts=Parts(session),
            channel_settings=ChannelSettings(session, audit),
            samples=Samples(session),
            newer=newer,
        )
    finally:
        await engine.dispose()


@asynccontextmanager
async def open_audit(database_url: str) -> AsyncIterator[Audit]:
    """The audit of the database at *database_url*, to be read beside a Gatehouse that is running; raises StoreError."""
    engine = make_engine(database_url, read_only=True)
    try:
        session = Session(engine, lambda: datetime.now(UTC))
        async with session.reading() as connection:
            await connection.run_sync(refuse_other_schema)
        yield Audit(session)
    finally:
        await engine.dispose()


async def upgrade(database_url: str) -> None:
    """Check the database and bring it to the schema of this release; two processes may do so at once."""
    engine = make_engine(database_url)
    try:
        async with engine.begin() as connection:
            if connection.dialect.name == "sqlite":
                await _refuse_damage(connection)
            else:
                await connection.execute(sa.text(bound("0", locally=True)))  # another may have much to migrate
                await connection.execute(sa.text("SELECT pg_advisory_xact_lock(7234015)"))
            await connection.run_sync(upgrade_schema)
    except (SQLAlchemyError, OSError, UnicodeError) as error:  # a damaged file garbles even what SQLite says of it
        cause = getattr(error, "orig", None) or error
        raise StoreError(f"the database cannot be opened: {str(cause)[:200]}") from error
    finally:
        await engine.dispose()


async def _refuse_damage(connection: AsyncConnection) -> None:
    said = await connection.scalar(sa.text("PRAGMA quick_check(1)"))
    if said != "ok":
        raise StoreCorrupt(
            f"the database file is damaged ({said}). Nothing was done. Put a backup in its place, or move the file "
            "away to start with an empty one; what was approved and not applied must then be asked for again."
        )
