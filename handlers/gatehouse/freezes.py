"""Freeze hosts, groups, sites or everything for a while, and lift that."""

from __future__ import annotations

import asyncio
import glob
from collections.abc import Iterable, Sequence

from bot.changes.freezing import NoFreeze
from bot.changes.model.documents import Document
from bot.changes.model.edits import Edit, Kind, Target
from bot.clients.errors import ClientError
from bot.gatehouse import Gatehouse
from bot.policy.freezes import LISTS, ChatFreeze, Freeze
from bot.rules.lint.coverage import hosts_of
from bot.text.documents import NestedTooDeep
from handlers.blocks import menus
from handlers.blocks.messages import Block, ListPage
from handlers.changes import freeze_view
from handlers.changes.list_view import MAX_LISTED
from handlers.changes.requests import resolve_end, resolve_start
from handlers.gatehouse.commands import (
    HOST,
    Covered,
    GatehouseFreeze,
    GatehouseFreezes,
    GatehouseUnfreeze,
    parse_covered,
)
from handlers.grammar.tokens import unquote_reason
from handlers.members.member_refs import all_segments
from handlers.rules.rule_edit import find_group, list_groups
from handlers.slack.registry import handles, offers
from handlers.slack.reply import Caller, Posted, Private, Reply, ShownFirst


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
    until, _ = await resolve_end(command.ends, starts, caller, gatehouse)
    by = {"id": caller.request[-24:], "by": caller.user, "channel": caller.channel, "made": gatehouse.now()}
    why = unquote_reason(command.because)
    made = ChatFreeze.model_validate({**by, "title": title, "from": starts, "to": until, "why": why, **named})
    plans = await freezes.planned_changes_in(made)
    if not caller.confirmed:
        raise ShownFirst(command, freeze_view.facts_before(await _count_covered(made, gatehouse), len(plans)))
    await freezes.make(made)
    has_override = any(rule.break_glass for rule in gatehouse.access.policy().guards)
    return Posted(freeze_view.freeze_message(made, plans, has_override=has_override))


async def _count_covered(freeze: Freeze, gatehouse: Gatehouse) -> dict[str, int | None]:
    """Return how many rules and sites *freeze* covers, by their noun; None for what can't be read."""

    def count(targets: Iterable[tuple[Target, Document | None]]) -> int:
        edits = (Edit(kind=Kind.RULE_UPDATE, target=to, before=now, after=now) for to, now in targets)
        return sum(map(freeze.covers, edits))

    sites = count((Target(service="members", site=name), None) for name in gatehouse.sites)
    try:
        listed = (await gatehouse.rules.recent()).known
        now = ((Target(service="rules", key=rule.id), rule.document()) for rule in listed)
        # In a thread: of thousands of rules, it takes a while.
        return {"rule": await asyncio.to_thread(count, now), "site": sites}
    except (ClientError, NestedTooDeep):
        return {"rule": None, "site": sites}


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


@offers("pick.scope", needs="freeze")
async def offer_scopes(typed: str, caller: Caller, gatehouse: Gatehouse) -> Sequence[Block]:
    """Offer what a freeze may cover: everything, what was typed where that is a host, hosts of rules, groups, sites, segments."""
    rules, groups = (await gatehouse.rules.recent()).known, await gatehouse.groups.groups()
    named = {
        "group": groups.names.values() if groups is not None else (),
        "site": gatehouse.sites,
        "segment": await all_segments(gatehouse),
    }
    hosts = {host for rule in rules for host in hosts_of(rule)} | ({typed} if HOST.fullmatch(typed) else set())
    scopes = {"everything": freeze_view.EVERYTHING} | {host: host for host in sorted(hosts)}
    scopes |= {f"{kind}:{name}": f"{name} ({kind})" for kind, names in named.items() for name in names}
    return menus.named_options(typed, scopes)


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
