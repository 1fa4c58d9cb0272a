"""Freeze hosts, groups, sites or everything for a while, lock a rule, and lift both."""

from __future__ import annotations

import glob
from collections.abc import Sequence
from typing import Any

from bot.changes.freezing import Frozen, NoFreeze
from bot.changes.model.edits import Edit, Kind, Target
from bot.gatehouse import Gatehouse
from bot.policy.freezes import LISTS, ChatFreeze
from bot.policy.model import FREEZE
from handlers.blocks.messages import ListPage
from handlers.changes import freeze_view
from handlers.changes.list_view import MAX_LISTED
from handlers.changes.requests import resolve_end, resolve_start
from handlers.gatehouse.answers import facts_of
from handlers.gatehouse.commands import Covered, GatehouseFreeze, GatehouseFreezes, GatehouseUnfreeze, parse_covered
from handlers.grammar.tokens import unquote_reason
from handlers.rules.commands import RulesLock, RulesUnlock
from handlers.rules.rule_edit import find_group, list_groups
from handlers.rules.rule_refs import find_rule
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
    return await _make(command, caller, gatehouse, title=title, **named)


@handles(RulesLock)
async def lock(command: RulesLock, caller: Caller, gatehouse: Gatehouse) -> Reply:
    rule = await find_rule(command.ref, gatehouse)
    as_it_is = Edit(
        kind=Kind.RULE_UPDATE, target=Target(service="rules", key=rule.id), before=rule.document(), after=None
    )
    # A person who may not change the rule would only lock out those who may.
    if (holds := await gatehouse.changes.freezes.find_for_edits([as_it_is], gatehouse.now(), caller.user)) is not None:
        raise Frozen(holds)
    rules = (glob.escape(rule.id),)
    about = {"title": f"“{rule.title}”", "rules": rules, "in_group": rule.group_id or ""}
    return await _make(command, caller, gatehouse, **about, is_lock=True)


async def _make(command: GatehouseFreeze | RulesLock, caller: Caller, gatehouse: Gatehouse, **covered: Any) -> Reply:
    """Freeze what is *covered*; the answer names the plans that it holds back."""
    freezes, starts = gatehouse.changes.freezes, gatehouse.now()
    if isinstance(command, GatehouseFreeze) and command.start is not None:
        starts, _ = await resolve_start(command.start, caller, gatehouse)
    until, _ = await resolve_end(command.expiry, starts, caller, gatehouse)
    by = {"id": caller.request[-24:], "by": caller.user, "channel": caller.channel, "made": gatehouse.now()}
    made = ChatFreeze(**by, starts=starts, until=until, why=unquote_reason(command.reason), **covered)
    plans = await freezes.planned_changes_in(made)
    await freezes.make(made)
    has_override = any(rule.break_glass for rule in gatehouse.access.policy().guards)
    facts = await facts_of(plans, gatehouse)
    return Posted(freeze_view.freeze_message(made, plans, facts, has_override=has_override))


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
    return await _lift(found, caller, gatehouse)


@handles(RulesUnlock)
async def unlock(command: RulesUnlock, caller: Caller, gatehouse: Gatehouse) -> Reply:
    rule = await find_rule(command.ref, gatehouse)
    known = [each for each in await gatehouse.changes.freezes.all() if isinstance(each, ChatFreeze)]
    locks = [each for each in known if each.is_lock and glob.escape(rule.id) in each.rules]
    return await _lift(locks, caller, gatehouse)


async def _lift(found: Sequence[ChatFreeze], caller: Caller, gatehouse: Gatehouse) -> Reply:
    """Lift one of *found*, first one that somebody wants lifted; raises NoFreeze, NotAllowed and DirectoryUnavailable."""
    if not found:
        raise NoFreeze
    wanted = min(found, key=lambda each: not each.lifted_by)
    if not wanted.is_lock:
        await gatehouse.access.require(FREEZE, caller.user, caller.channel)
    freeze, is_lifted = await gatehouse.changes.freezes.lift(wanted.id, caller.user, caller.channel)
    if is_lifted:
        lifted = freeze_view.lifted_message(freeze, caller.user)
        return Posted(lifted, clicked=lifted)
    return Posted(
        freeze_view.lift_request_message(freeze, caller.user), clicked=freeze_view.replaced_card(freeze, caller.user)
    )
