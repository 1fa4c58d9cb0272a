"""Freeze hosts, groups, sites or everything for a while, lock a rule, and lift both."""

from __future__ import annotations

import glob
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from bot.changes.freezing import NoFreeze
from bot.gatehouse import Gatehouse
from bot.policy.freezes import ChatFreeze
from bot.policy.model import FREEZE
from bot.rules.model import Rule
from handlers.changes import freeze_view
from handlers.changes.requests import beginning, ending
from handlers.gatehouse.answers import links_to
from handlers.gatehouse.commands import Covered, GatehouseFreeze, GatehouseFreezes, GatehouseUnfreeze, covered
from handlers.rules.commands import RulesLock, RulesUnlock
from handlers.rules.rule_edit import find_group, list_groups
from handlers.rules.rule_refs import find_rule
from handlers.slack.registry import handles
from handlers.slack.reply import Caller, Posted, Private, Reply


@handles(GatehouseFreezes)
async def freezes(command: GatehouseFreezes, caller: Caller, gatehouse: Gatehouse) -> Reply:
    return Private(freeze_view.listing(await gatehouse.changes.freezes.all()))


@handles(GatehouseFreeze)
async def freeze(command: GatehouseFreeze, caller: Caller, gatehouse: Gatehouse) -> Reply:
    freezes = gatehouse.changes.freezes
    starts = gatehouse.now()
    if command.start is not None:
        starts, _ = await beginning(command.start, caller, gatehouse)
    until, _ = await ending(command.expiry, starts, caller, gatehouse)
    named = await _lists_of(command.what, gatehouse)
    title = command.what if any(named.values()) else "Everything"
    made = ChatFreeze(
        starts=starts, until=until, title=title, **_by(caller, gatehouse), why=command.reason or "", **named
    )
    plans = await freezes.planned_in(made)
    links = await links_to(plans, gatehouse)
    if plans and not command.anyway:
        return Private(freeze_view.preview(made, plans, links, replace(command, anyway=True)))
    await freezes.make(made)
    return Posted(freeze_view.made(made, plans, links))


@handles(RulesLock)
async def lock(command: RulesLock, caller: Caller, gatehouse: Gatehouse) -> Reply:
    rule = await find_rule(command, caller, gatehouse)
    starts = gatehouse.now()
    until, _ = await ending(command.expiry, starts, caller, gatehouse)
    made = ChatFreeze(
        starts=starts,
        until=until,
        title=f"“{rule.title}”",
        **_by(caller, gatehouse),
        why=command.reason or "",
        rules=(glob.escape(rule.id),),
        is_lock=True,
    )
    plans = await gatehouse.changes.freezes.planned_in(made)
    await gatehouse.changes.freezes.make(made)
    return Posted(freeze_view.made(made, plans, await links_to(plans, gatehouse)))


def _by(caller: Caller, gatehouse: Gatehouse) -> dict[str, Any]:
    """Who makes a freeze, where, and when."""
    return {"id": caller.request[-24:], "by": caller.user, "channel": caller.channel, "made": gatehouse.now()}


async def _lists_of(what: str, gatehouse: Gatehouse) -> dict[str, tuple[str, ...]]:
    """What the words name, by the lists of a freeze; raises UnknownSite, or as `find_group` does."""
    found = covered(what) or Covered("hosts")
    match found.kind:
        case "":
            return {}
        case "group":
            groups = (await list_groups(gatehouse)).whole()
            return {"groups": (glob.escape(find_group(found.names[0], groups).id),)}
        case "site":
            return {"sites": (glob.escape(gatehouse.site(found.names[0]).name),)}
        case "segment":
            return {"segments": (glob.escape(found.names[0]),)}
        case _:
            return {"hosts": found.names}


@handles(GatehouseUnfreeze)
async def unfreeze(command: GatehouseUnfreeze, caller: Caller, gatehouse: Gatehouse) -> Reply:
    made = await gatehouse.changes.freezes.made()
    found = [each for each in made if command.what in {each.id, each.title}]
    return await _lift(found, caller, gatehouse)


@handles(RulesUnlock)
async def unlock(command: RulesUnlock, caller: Caller, gatehouse: Gatehouse) -> Reply:
    rule = await find_rule(command, caller, gatehouse)
    return await _lift(await _locks_of(rule, gatehouse), caller, gatehouse)


async def _locks_of(rule: Rule, gatehouse: Gatehouse) -> Sequence[ChatFreeze]:
    made = await gatehouse.changes.freezes.made()
    return [each for each in made if each.is_lock and glob.escape(rule.id) in each.rules]


async def _lift(found: Sequence[ChatFreeze], caller: Caller, gatehouse: Gatehouse) -> Reply:
    """Lift the first of *found*; raises NoFreeze, NotAllowed and DirectoryUnavailable."""
    if not found:
        raise NoFreeze
    if not found[0].is_lock:
        await gatehouse.access.require(FREEZE, caller.user, caller.channel)
    freeze, is_lifted = await gatehouse.changes.freezes.lift(found[0].id, caller.user, caller.channel)
    return Posted((freeze_view.lifted if is_lifted else freeze_view.one_more)(freeze, caller.user))
