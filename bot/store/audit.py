"""The audit: everything that was requested, decided, done or refused.

Each event is also a line of the log, once it is committed: a log that is shipped
is a record that nobody changes who can write to the database.
"""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from functools import partial
from typing import Any, Final

import sqlalchemy as sa
import structlog
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.changes.model.moves import GATEHOUSE
from bot.store.db import Session, after_commit
from bot.store.tables import audit, cards, changes, micros, moment

log = structlog.get_logger(__name__)

NO_ACTS: Final = ("begun", "refused", "exporting", "exported")
"""Events of a person that are no acts of theirs: what they read or were refused, and the items of what they requested."""
CHUNK: Final = 500
LIKE_SIGN: Final = re.compile(r"[!%_]")
ESCAPED: Final = re.compile(r"\\u[0-9a-f]{4}")


@dataclass(frozen=True, slots=True)
class Event:
    """Something that was requested, decided, done or refused. *actor*: a Slack user, or ``gatehouse``."""

    event: str
    actor: str
    channel: str
    change_id: str = ""
    target: str = ""
    detail: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Entry:
    """An event as it was recorded. *permalink* leads to the card in Slack, where it was known at that time."""

    seq: int
    at: datetime
    event: str
    change_id: str
    target: str
    actor: str
    channel: str
    permalink: str
    detail: Mapping[str, Any]

    def dump(self) -> dict[str, Any]:
        """Return the entry as one JSON object, with times in ISO 8601."""
        return asdict(self) | {"at": self.at.isoformat(), "detail": dict(self.detail)}


@dataclass(frozen=True, slots=True)
class Filters:
    """The entries that are wanted; None means all."""

    who: str | None = None
    """A person: what they did, and what Gatehouse did about their requests."""
    since: datetime | None = None
    ref: str | None = None
    """A part of a target, or the beginning of a change's id."""
    reason: str | None = None
    """A part of a reason, in upper or lower case."""
    targets: tuple[str, ...] | None = None
    """Only entries about exactly these targets."""
    unreadable: tuple[str, ...] = ()
    """Services whose changes are left out, since the reader may not read them."""
    only: tuple[str, ...] = ()
    """Events that are wanted; none means all."""
    without: tuple[str, ...] = ()
    """Events that are left out."""
    last_of_each: bool = False
    """Only the newest entry of each change, and one of a bulk change; all entries that are about no change."""


class Audit:
    def __init__(self, session: Session) -> None:
        self._session = session

    async def append(self, tx: AsyncConnection, *events: Event) -> None:
        """Record *events* within *tx*, and log them once it is committed."""
        if not events:
            return
        links = await self._links(tx, {event.change_id for event in events if event.change_id})
        rows = [self._row(event, links.get(event.change_id, "")) for event in events]
        await tx.execute(sa.insert(audit), rows)
        after_commit(tx, partial(_log, events))

    async def _links(self, tx: AsyncConnection, change_ids: Collection[str]) -> Mapping[str, str]:
        """Return the permalinks of the cards of these changes, by id; without changes that have none yet."""
        query = sa.select(cards.c.change_id, cards.c.permalink).where(
            cards.c.change_id.in_(change_ids), cards.c.purpose == "card"
        )
        return {row.change_id: row.permalink for row in await tx.execute(query)} if change_ids else {}

    def _row(self, event: Event, permalink: str) -> dict[str, Any]:
        return {
            "at": self._session.now(),
            "event": event.event,
            "change_id": event.change_id,
            "target": event.target,
            "actor": event.actor,
            "channel": event.channel,
            "permalink": permalink,
            "detail": json.dumps(dict(event.detail), sort_keys=True),
        }

    async def find(self, filters: Filters, limit: int = 50, *, skip: int = 0) -> Sequence[Entry]:
        """Return up to *limit* entries that match, newest first, after the first *skip*."""
        query = _select(filters).order_by(audit.c.at.desc(), audit.c.seq.desc()).limit(limit).offset(skip)
        return [self._entry(row) for row in await self._session.rows(query)]

    async def last_act(self, person: str, channel: str, seq: int | None = None) -> Entry | None:
        """Return the last thing that *person* did in *channel*, or the one with that *seq*; None where they did nothing."""
        query = sa.select(audit).filter_by(actor=person, channel=channel).where(audit.c.event.not_in(NO_ACTS))
        query = query if seq is None else query.where(audit.c.seq == seq)
        rows = await self._session.rows(query.order_by(audit.c.seq.desc()).limit(1))
        return next(map(self._entry, rows), None)

    async def find_targets(self, name: str) -> Sequence[str]:
        """Return the rules and members that were recorded under a name that begins with *name*, in upper or lower case."""
        # Without the closing quote, so that longer names which begin like this are found.
        field = f'"name": {json.dumps(name)[:-1]}'
        pattern = ESCAPED.sub(
            r"\\u____", LIKE_SIGN.sub(r"!\g<0>", field)
        )  # both cases of a letter have an escape of their own
        query = sa.select(audit.c.target, audit.c.detail).where(audit.c.detail.ilike(f"%{pattern}%", escape="!"))
        rows = await self._session.rows(query.distinct())
        # LIKE found too many, since its pattern takes any letter for an escape: here the names themselves are compared.
        wanted = f'"name": {json.dumps(name, ensure_ascii=False)[:-1]}'.casefold()
        with self._session.decoding("entries"):
            details = ((row.target, json.dumps(json.loads(row.detail), ensure_ascii=False).casefold()) for row in rows)
            return list(dict.fromkeys(target for target, detail in details if wanted in detail))

    async def all(self, filters: Filters) -> AsyncIterator[Entry]:
        """Yield every entry that matches, oldest first, read in pages; without what is being recorded at that moment."""
        last = 0
        while True:
            query = _select(filters).where(audit.c.seq > last).order_by(audit.c.seq).limit(CHUNK)
            rows = await self._session.rows(query)
            for row in rows:
                yield self._entry(row)
            if not rows:
                return
            last = rows[-1].seq

    def _entry(self, row: sa.Row[Any]) -> Entry:
        with self._session.decoding("entry", str(row.seq)):
            return Entry(**{**row._mapping, "at": moment(row.at), "detail": dict(json.loads(row.detail))})


def _log(events: Sequence[Event]) -> None:
    """Log *events* without their details, which hold whole records of the services, and with them emails and secrets."""
    for event in events:
        about = {"change": event.change_id[:8], "target": event.target, "channel": event.channel}
        log.info(
            "audit", what=event.event, actor=event.actor, **{name: value for name, value in about.items() if value}
        )


def _select(filters: Filters) -> sa.Select[Any]:
    query = sa.select(audit)
    if filters.last_of_each:
        of_set = sa.select(sa.func.nullif(changes.c.set_id, "")).where(changes.c.id == audit.c.change_id)
        about = sa.func.coalesce(of_set.scalar_subquery(), audit.c.change_id)
        # Entries about no change, such as refusals, have nothing in common: each stands for itself.
        each = sa.case((audit.c.change_id == "", sa.cast(audit.c.seq, sa.String)), else_=about)
        plain = _select(replace(filters, last_of_each=False))
        newest = plain.with_only_columns(sa.func.max(audit.c.seq)).group_by(each)
        return query.where(audit.c.seq.in_(newest))
    if filters.who is not None:
        asked = sa.select(changes.c.id).where(changes.c.requester == filters.who)
        answered = sa.and_(audit.c.actor == GATEHOUSE, audit.c.change_id.in_(asked))
        query = query.where(sa.or_(audit.c.actor == filters.who, answered))
    if filters.targets is not None:
        query = query.where(audit.c.target.in_(filters.targets))
    if filters.reason is not None:
        said = LIKE_SIGN.sub(r"!\g<0>", json.dumps(filters.reason)[1:-1])
        query = query.where(audit.c.detail.ilike(f'%"reason": "%{said}%', escape="!"))
    if filters.since is not None:
        query = query.where(audit.c.at >= micros(filters.since))
    for service in filters.unreadable:
        query = query.where(sa.or_(audit.c.change_id == "", sa.not_(audit.c.target.startswith(service))))
    if filters.only:
        query = query.where(audit.c.event.in_(filters.only))
    if filters.without:
        query = query.where(audit.c.event.not_in(filters.without))
    if filters.ref:
        target = audit.c.target.icontains(filters.ref, autoescape=True)
        query = query.where(sa.or_(target, audit.c.change_id.startswith(filters.ref.lower(), autoescape=True)))
    return query
