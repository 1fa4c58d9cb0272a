"""A lease, renewed for as long as its holder is at work."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Final

import structlog

from bot.store.errors import StoreError

log = structlog.get_logger(__name__)

RENEWALS: Final = 3
"""How often in the time of a lease it is renewed."""


async def renewed(change_id: str, lease: timedelta, renew: Callable[[], Awaitable[None]]) -> None:
    """Call *renew* in time, again and again, until cancelled; what it raises ends this, but for a StoreError."""
    while True:
        await asyncio.sleep(lease.total_seconds() / RENEWALS)
        try:
            await renew()
        except StoreError as error:
            log.warning("lease_not_renewed", change=change_id[:8], error=str(error))
