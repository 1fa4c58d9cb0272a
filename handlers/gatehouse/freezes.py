"""Freeze hosts, groups, sites or everything for a while, and lift that."""

from __future__ import annotations

import glob

from bot.changes.freezing import NoFreeze
from bot.gatehouse import Gatehouse
from bot.policy.freezes import LISTS, ChatFreeze
from handlers.blocks.messages import ListPage
from handlers.changes import freeze_view
from handlers.changes.list_view import MAX_LISTED
from handlers.changes.requests import resolve_end, resolve_start
from handlers.gatehouse.answers import facts_of, readable, unreadable_services
from handlers.gatehouse.commands import Covered, GatehouseFreeze, GatehouseFreezes, GatehouseUnfreeze, parse_covered
from handlers.grammar.tokens import unquote_reason
from handlers.rules.rule_edit import find_group, list_groups
from handlers.slack.registry import handles
from handlers.slack.reply import Caller, Posted, Private, Reply


@handles(GatehouseFreezes)
async def freezes(command: GatehouseFreezes, caller: Caller, gatehouse: Gatehouse) -> Reply:
    page = ListPage.of(await gatehouse.changes.freezes.all(), command.page, MAX_LISTED)
    return Private(freeze_view.freeze_list(page, command))


@handles(GatehouseFreeze)
async def freeze(command: GatehouseFreeze, caller: Caller, gatehouse: Gatehouse) -> Reply:
    named = await _freeze_lists(command.what, gatehouse)
    title = command.what if any(named.values()) else freeze_view.EVERYTHING
    freezes, starts = gatehouse.changes.freezes, gatehouse.now()
    if command.start is not None:
        starts, _ = await resolve_start(command.start, caller, gatehouse)
    until, _ = await resolve_end(command.expiry, starts, caller, gatehouse)
    by = {"id": caller.request[-24:], "by": caller.user, "channel": caller.channel, "made": gatehouse.now()}
    why = unquote_reason(command.reason)
    made = ChatFreeze.model_validate({**by, "title": title, "from": starts, "to": until, "why": why, **named})
    plans = await freezes.planned_changes_in(made)
    await freezes.make(made)
    has_override = any(rule.break_glass for rule in gatehouse.access.policy().guards)
    shown = readable(plans, await unreadable_services(caller, gatehouse))
    facts = await facts_of(shown, gatehouse)
    message = freeze_view.freeze_message(made, shown, facts, unshown=len(plans) - len(shown), has_override=has_override)
    return Posted(message)


async def _freeze_lists(what: str, gatehouse: Gatehouse) -> dict[str, tuple[str, ...]]:
    """Return what the words name, by the lists of a freeze; raises UnknownSite, or as `find_group` does."""
    found = parse_covered(what) or Covered("hosts")
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
    made = await gatehouse.changes.freezes.chat_freezes()
    wanted = command.what.strip().casefold()
    found = [each for each in made if wanted in {each.id.casefold(), each.title.strip("“”").casefold()}]
    if not found and parse_covered(command.what) is not None:
        lists = await _freeze_lists(command.what, gatehouse)
        found = [each for each in made if each.lists == {**dict.fromkeys(LISTS, ()), **lists}]
    if not found:
        raise NoFreeze
    first = min(found, key=lambda each: not each.votes)  # one that somebody wants lifted already
    counted, is_lifted = await gatehouse.changes.freezes.lift(first.id, caller.user, caller.channel)
    if is_lifted:
        lifted = freeze_view.lifted_message(counted, caller.user)
        return Posted(lifted, clicked=lifted)
    return Posted(
        freeze_view.lift_request_message(counted, caller.user), clicked=freeze_view.replaced_card(counted, caller.user)
    )
