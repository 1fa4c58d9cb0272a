"""Type-ahead: what a menu offers for the few letters that somebody has typed so far."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, Final

import structlog

from bot.clients.cache import looked_up
from bot.gatehouse import Gatehouse
from bot.policy.access import NotAllowed
from handlers.blocks import menus
from handlers.blocks.messages import Block
from handlers.errors import NothingPicked
from handlers.explain.table import expected, words_for
from handlers.grammar.command import Command
from handlers.members.commands import MembersShow
from handlers.rules.commands import RulesShow
from handlers.slack import payloads
from handlers.slack.registry import OPTIONS, Click, Typed, clicks, menu_name, offers
from handlers.slack.reply import Caller

log = structlog.get_logger(__name__)

MOST: Final = 100
"""Lines that a menu of Slack's holds."""
SLOW: Final = "The service takes its time. Type on to look again."
PATIENCE: Final = 2.5
"""Seconds that are left of Slack's three when the answer must be on its way."""


async def offered(body: Mapping[str, Any], gatehouse: Gatehouse) -> Sequence[Block]:
    """The options for what was typed; none for whoever may not read, one that says so where nothing can be read."""
    name = menu_name(str(body.get("action_id") or ""))
    if name is None:
        return ()
    caller, typed = payloads.caller_of("typed", body), payloads.typed(body, name)
    route = OPTIONS[name]
    try:
        async with asyncio.timeout(PATIENCE):
            await gatehouse.access.require(route.needs, caller.user, caller.channel)
            return await route.run(typed, caller, gatehouse)
    except NotAllowed:
        return ()
    except Exception as error:  # noqa: BLE001  a menu has no other place to say anything
        log.log(20 if expected(error) else 40, "no_options", error=type(error).__name__, menu=name, user=caller.user)
        return menus.not_read(SLOW if isinstance(error, TimeoutError) else words_for(error).what)


@offers("pick.rule", needs="rule.read")
async def rules(typed: Typed, caller: Caller, gatehouse: Gatehouse) -> Sequence[Block]:
    hits = await looked_up(await gatehouse.rules.index(), typed.text, most=MOST)
    hits.sort(key=lambda hit: (hit.rank, hit.item.title.casefold()))
    gap = None if hits else (await gatehouse.rules.recent()).gap
    return menus.not_read(gap.sentence("rules")) if gap else menus.rule_options(hit.item for hit in hits)


@offers("pick.member", needs="member.read")
async def members(typed: Typed, caller: Caller, gatehouse: Gatehouse) -> Sequence[Block]:
    found = []
    for site in gatehouse.sites.values():
        hits = await looked_up(await site.members.index(), typed.text, most=MOST)
        found += [(hit.rank, hit.item.title.casefold(), site.name, hit.item) for hit in hits]
    found.sort(key=lambda one: one[:3])
    if not found:
        for site in gatehouse.sites.values():
            if (gap := (await site.members.recent()).gap) is not None:
                return menus.not_read(f"{site.name}: {gap.sentence('members')}")
    return menus.member_options(((site, member) for _, _, site, member in found), sites=len(gatehouse.sites))


@clicks("pick.rule")
async def picked_rule(click: Click, caller: Caller, gatehouse: Gatehouse) -> Command:
    return RulesShow(ref=_picked(click))


@clicks("pick.member")
async def picked_member(click: Click, caller: Caller, gatehouse: Gatehouse) -> Command:
    site, _, email = _picked(click).partition(" ")
    return MembersShow(email=email, site=site)


def _picked(click: Click) -> str:
    if click.value in {"", menus.NOT_READ}:
        raise NothingPicked
    return click.value
