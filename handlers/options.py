"""Type-ahead: what a menu offers for the few letters that somebody has typed so far."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, Final

import structlog

from bot.access import NotAllowed
from bot.gatehouse import Gatehouse
from handlers import inputs
from handlers.errors import expected
from handlers.routes import OPTIONS, menu_name
from handlers.views.parts import Block

log = structlog.get_logger(__name__)

PATIENCE: Final = 2.5
"""Seconds that are left of Slack's three when the answer must be on its way."""


async def offered(body: Mapping[str, Any], gatehouse: Gatehouse) -> Sequence[Block]:
    """The options for what was typed; none for whoever may not read, one that says so where nothing can be read."""
    name = menu_name(str(body.get("action_id") or ""))
    if name is None:
        return ()
    caller, typed = inputs.caller_of_typing(body), inputs.typed(body, name)
    route = OPTIONS[name]
    try:
        async with asyncio.timeout(PATIENCE):
            await gatehouse.access.require(route.needs, caller.user, caller.channel)
            return await route.run(typed, caller, gatehouse)
    except NotAllowed:
        return ()
    except Exception as error:  # noqa: BLE001  a menu has no other place to say anything
        log.log(20 if expected(error) else 40, "no_options", error=type(error).__name__, menu=name, user=caller.user)
        return ()
