"""The oracle of truth: each end that a change has on record, held against what the services stored and what people did.

A card, a history and a direct message are drawn from a change; `tests/texts` holds their words. Here the change itself is
questioned, at the end of every story, by what it can't influence: the stand-ins tell of each record that a call changed, and
the local Slack of each person who acted.
"""

from __future__ import annotations

import asyncio
import json
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from typing import Any, Final

import sqlalchemy as sa

from bot.changes.consequences import DUE_TIMES
from bot.changes.model.change import Change
from bot.changes.model.documents import canonical_form
from bot.changes.model.edits import Kind
from bot.changes.model.parts import Guard
from bot.changes.model.states import LIVE, State
from bot.store.engine import Store
from bot.store.outbox import FOR_LATER, WAITS, Purpose
from bot.store.tables import audit, changes, outbox
from handlers.blocks.masking import mask_message
from handlers.changes import card_view
from handlers.changes.cards import draw_card
from sandbox.demo import SITES, Sandbox
from sandbox.slack import rendering
from sandbox.slack.message import Message

Record = dict[str, Any]

BEGINS: Final = frozenset({"applying", "begun"})
"""Events after which something may be sent for a change."""
NOTHING_SENT: Final = frozenset({State.CANCELLED, State.DENIED, State.EXPIRED, State.STALE, State.FAILED})
"""Ends that say that nothing was changed."""
CARRIED_OUT: Final = frozenset({State.APPROVED, State.APPLYING, State.APPLIED, State.UNKNOWN, State.UNSETTLED})
"""States of a change that was let through."""
SETTLED_WITHIN: Final = 5.0
"""Seconds that a card, or a timer, may lag behind its change at the end of a story."""
SITE_NAMES: Final = {site: name for name, site in SITES.items()} | {"": None}


@dataclass(frozen=True, slots=True)
class Effect:
    """A record that a call of the bot's changed: None where there was, or is, none."""

    at: datetime
    service: str
    site: str | None
    before: Record | None
    after: Record | None

    @property
    def key(self) -> str:
        record = self.after or self.before or {}
        return str(record.get("id") or record.get("email")).casefold()

    def is_of(self, change: Change) -> bool:
        """Whether it is on the target of *change*; a rule that is created has an id only afterwards."""
        target = change.edit.target
        service = "rules" if target.service == "groups" else target.service
        if (service, target.site) != (self.service, self.site):
            return False
        if change.edit.kind is Kind.RULE_CREATE:
            return self.before is None and (self.after or {}).get("name") == (change.edit.after or {}).get("name")
        return (target.key or "").casefold() == self.key


@dataclass(slots=True)
class Witness:
    """What the services stored and what people did, while it watches."""

    now: Callable[[], datetime]
    effects: list[Effect] = field(default_factory=list)
    acts: dict[str, str] = field(default_factory=lambda: defaultdict(str))
    """All that each person sent, as one text."""

    def note_effect(self, service: str, site: str, before: Record | None, after: Record | None) -> None:
        if canonical_form(before) != canonical_form(after):
            self.effects.append(Effect(self.now(), service, SITE_NAMES[site], before, after))

    def note_act(self, entry: Mapping[str, Any]) -> None:
        if entry["direction"] == "slack_to_bot":
            sent = json.dumps(entry["request"])
            for name in ("user_id", "user"):
                who = entry["request"].get(name)
                user = who.get("id", "") if isinstance(who, dict) else who
                self.acts[user or ""] += sent


@dataclass(frozen=True, slots=True)
class History:
    """A change as it is on record, and the moments between which something was sent for it."""

    change: Change
    began: datetime | None
    ended: datetime | None

    def explains(self, effect: Effect) -> bool:
        """Whether *effect* may be of this change: on its target, while it was carried out."""
        if self.began is None or effect.at < self.began or not effect.is_of(self.change):
            return False
        return self.ended is None or effect.at <= self.ended


async def all_changes(store: Store) -> list[Change]:
    """Every change, oldest first."""
    async with store.session.reading() as connection:
        ids = (await connection.scalars(sa.select(changes.c.id))).all()
    return sorted((await store.changes.get_many(ids)).values(), key=lambda change: change.created)


async def changes_of(store: Store, requester: str, limit: int = 9) -> list[Change]:
    """The changes that *requester* asked for, newest first; bulk changes without their items."""
    mine = sa.select(changes.c.id).where(changes.c.requester == requester, changes.c.set_id == "")
    async with store.session.reading() as connection:
        ids = (await connection.scalars(mine.order_by(changes.c.created.desc()).limit(limit))).all()
    found = await store.changes.get_many(ids)
    return [found[each] for each in ids]


async def histories(store: Store) -> list[History]:
    """Every change that wrote to one target, with its beginning and its end; those of bulk changes are their items."""
    async with store.session.reading() as connection:
        rows = (
            await connection.execute(sa.select(audit.c.change_id, audit.c.event, audit.c.at).order_by(audit.c.seq))
        ).all()
    found = []
    for change in await all_changes(store):
        events = [(row.event, datetime.fromtimestamp(row.at / 1e6, UTC)) for row in rows if row.change_id == change.id]
        began = next((at for event, at in events if event in BEGINS), None)
        ended = [at for event, at in events if event == change.state and change.state not in LIVE]
        if not change.is_bulk:
            found.append(History(change, began, ended[0] if ended else None))
    return found


def check(known: Sequence[History], witness: Witness) -> None:
    """That every effect is explained by one change that owns up to it, and every end by what was stored; else AssertionError."""
    of_change: dict[str, list[Effect]] = defaultdict(list)
    for effect in witness.effects:
        explained = [one.change for one in known if one.explains(effect)]
        assert explained, f"stored, and no change says so: {effect}"
        own_up = [change for change in explained if change.state not in NOTHING_SENT]
        assert own_up, f"stored, and its change is {explained[0].state}: {effect}"
        assert len(own_up) == 1, f"which of them stored it? {effect}"
        of_change[own_up[0].id].append(effect)
    for one in known:
        change, edit = one.change, one.change.edit
        done = of_change[change.id]
        if change.state is State.APPLIED and canonical_form(edit.before) != canonical_form(edit.after):
            assert done, f"applied, it says, and nothing was stored: {change}"
        if edit.kind.creates or edit.kind.destroys:
            assert len(done) <= 1, f"{edit.kind} was stored {len(done)} times"
        check_people(change, witness.acts)


def check_people(change: Change, acts: Mapping[str, str]) -> None:
    """That each person who is said to have decided about *change* sent something that names it."""
    decision = change.decision
    if decision.guard is Guard.NONE or change.set_id is not None:
        return
    said: set[str | None] = {approval.by for approval in decision.approvals}
    if change.state in {State.DENIED, State.APPLIED}:
        said.add(decision.decided_by)
    for user in filter(None, said):
        assert change.id in acts[user], f"{user} is said to have decided, and never clicked: {change}"
    check_approvals(change)


def check_approvals(change: Change) -> None:
    """That what was carried out on approval has as many as its card asks for, of different people, its own requester apart."""
    decision = change.decision
    people = [approval.by for approval in decision.approvals]
    assert len(set(people)) == len(people), f"somebody is counted twice: {change}"
    own = change.request.requester in people and not decision.self_approval
    assert not own, f"its own requester is counted: {change}"
    if decision.guard is Guard.APPROVE and not decision.glass_broken and change.state in CARRIED_OUT:
        assert len(people) >= decision.approvals_needed, f"carried out with {len(people)} approvals: {change}"


async def wait_until_settled(look: Callable[[], Awaitable[str]]) -> None:
    """Look until nothing is found any more; AssertionError with what is still found after `SETTLED_WITHIN`."""
    end = asyncio.get_running_loop().time() + SETTLED_WITHIN
    while found := await look():
        assert asyncio.get_running_loop().time() < end, found
        await asyncio.sleep(0.02)  # no event tells that a worker is done


ONCE: Final = frozenset({Purpose.STARTS, Purpose.OFFER})
"""What is said once, and then is not to come any more."""


async def find_wrongly_due(store: Store) -> str:
    """The first thing that is to come of a change and is not due, or is due and not to come; empty where there is none."""
    async with store.session.reading() as connection:
        is_later = sa.and_(WAITS, outbox.c.purpose.in_(FOR_LATER))
        later = sa.select(outbox.c.change_id, outbox.c.purpose, outbox.c.due).where(is_later)
        rows = (await connection.execute(later)).all()
    due = {(change_id, what): datetime.fromtimestamp(at / 1e6, UTC) for change_id, what, at in rows}
    for change in await all_changes(store):
        for what, due_of in DUE_TIMES.items():
            set_for, at = due.get((change.id, what)), due_of(change)
            is_missing = set_for is None and at is not None and what not in ONCE
            if is_missing or (set_for is not None and (at is None or set_for < at)):
                return f"{what} is due at {set_for}, and should be at {at}: {change}"
    return ""


async def find_stale_card(sandbox: Sandbox) -> str:
    """The first card in its channel that says something else than its change does now, and what; empty where none does."""
    store = sandbox.bot.gatehouse.store
    if (await store.outbox.backlogs())["message"][0] or (await store.outbox.backlogs())["given_up"][0]:
        return ""  # Slack refuses, or the story ended before it was sent
    for change in await all_changes(store):
        place = await store.cards.get(change.id, "card")
        message = sandbox.slack.state.find(*place) if place and place[0] == change.request.channel else None
        if message is not None and (difference := await staleness(sandbox, change, message)):
            return difference
    return ""


async def staleness(sandbox: Sandbox, change: Change, card: Message) -> str:
    """What *card* says and what it would say of *change* now; empty where both are the same."""
    gatehouse = sandbox.bot.gatehouse
    drawn = await draw_card(change, gatehouse.store, gatehouse.groups.groups, gatehouse.changes.freezes)
    there, now, plain = (
        rendering.message("", list(each.blocks))
        for each in (card, mask_message(drawn), mask_message(card_view.plain_card(change)))
    )
    return "" if there in {now, plain} else f"{there}\n\nand now it would be\n{now}"


def ignore_effect(_site: str, _before: Record | None, _after: Record | None) -> None:
    """What a stand-in tells to nobody."""


@asynccontextmanager
async def watching_truth(sandbox: Sandbox, now: Callable[[], datetime]) -> AsyncIterator[None]:
    """Watch while the block lasts, and `check` at its end."""
    witness = Witness(now)
    stages = {"rules": sandbox.services.rules.stage, "members": sandbox.services.members.stage}
    for service, stage in stages.items():
        stage.stored = partial(witness.note_effect, service)
    seen: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
    sandbox.slack.state.watchers.append((None, seen))
    yield
    sandbox.slack.state.watchers.remove((None, seen))
    while not seen.empty():
        event = seen.get_nowait()
        if event["type"] == "traffic":
            witness.note_act(event["entry"])
    for stage in stages.values():
        stage.stored = ignore_effect  # what comes while the histories are read is of changes that aren't among them
    check(await histories(sandbox.bot.gatehouse.store), witness)
    await wait_until_settled(partial(find_wrongly_due, sandbox.bot.gatehouse.store))
    await wait_until_settled(partial(find_stale_card, sandbox))
