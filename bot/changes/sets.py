"""The work of change sets: which one is next, that all of it gets done, and its end. How is in `carrying.py`."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

import structlog

from bot.changes.applying import TOO_OLD, Applier
from bot.changes.carrying import Carrier
from bot.changes.leases import Hold, Lost
from bot.changes.loops import Wake, worked_off
from bot.changes.patience import Patience
from bot.changes.portions import Portions
from bot.changes.set_ledger import SetLedger
from bot.domain.change import Change, Move
from bot.domain.change_set import Outcome
from bot.inquiry import DirectoryUnavailable
from bot.store.change_queries import SERVICES
from bot.store.errors import NewerRelease

log = structlog.get_logger(__name__)

SETS_AT_ONCE: Final = 4
"""Sets of one service."""


@dataclass(frozen=True, slots=True)
class Sets:
    """Does the work of change sets. Any replica may; a claim with a lease decides who does."""

    ledger: SetLedger
    applier: Applier
    new_id: Callable[[], str]
    wake: Wake
    patience: Callable[[], Patience] = Patience
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep

    async def run(self, *, every: float) -> None:
        """Carry sets out until cancelled, several at a time, so that a long one holds up no short one."""
        claim, do = self.ledger.claim, self._carry_out
        await worked_off("sets", SERVICES, claim, do, width=SETS_AT_ONCE, every=every, wake=self.wake)

    async def _carry_out(self, whole: Change) -> None:
        """Where it fails, it stays claimed until its lease ends, and is then taken over."""
        try:
            await self.carry_out(whole)
        except* Lost:
            log.warning("set_lost", change=whole.id[:8])
        except* NewerRelease:
            self.ledger.ledger.store.newer.pass_over(whole.id)

    async def carry_out(self, whole: Change) -> None:
        """Do every part of a set that this process holds, and end it; raises Lost where another took it over."""
        parts = self.ledger.ledger.store.parts
        too_old = self.applier.too_old(whole)
        try:
            lost = None if too_old else await self.applier.lost_right(whole)
        except DirectoryUnavailable as error:
            await self._wait(whole, error)
            return
        if lost or too_old:
            async with self.ledger.ledger.store.transaction() as tx:
                await parts.stop(tx, whole.id)
        async with Hold(self.ledger.ledger, whole) as hold:
            portions = Portions(parts, whole.id)
            carrier = Carrier(
                whole, hold, portions, self.ledger, self.applier, self.new_id, self.patience, self.sleep, bool(lost)
            )
            while await parts.left(whole.id, 1):
                await carrier.carry_out()
            self.applier.reached("end of set")
            await self._end(whole, lost or {})

    async def _wait(self, whole: Change, error: DirectoryUnavailable) -> None:
        """Slack cannot be asked: try again later. What was begun already is looked at again when the lease is over."""
        log.warning("set_waits", change=whole.id[:8], error=str(error))
        tally = await self.ledger.ledger.store.parts.tally(whole.id)
        if tally[Outcome.WAITING] == tally.meant:
            await self.applier.wait(whole, f"Slack does not say {error}")

    async def _end(self, whole: Change, lost: Mapping[str, str]) -> None:
        """Done where anything was, or may have been; the card has the outcome of each part."""
        tally = await self.ledger.ledger.store.parts.tally(whole.id)
        now = self.ledger.ledger.now()
        done = tally.of((Outcome.APPLIED, Outcome.UNKNOWN, Outcome.UNSETTLED)) > 0
        late = self.applier.too_old(whole) and whole.attempt <= 1
        fields: dict[str, Any] = {"finished_at": now, **lost}
        if done and whole.lasts is not None:
            fields["ends"] = now + timedelta(seconds=whole.lasts)
        if not done and late and not lost:
            fields["refusal"] = TOO_OLD
        await self.ledger.ledger.move(whole, Move.FINISH if done else Move.FAIL, fenced=True, **fields)
