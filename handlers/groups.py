"""Groups of rules: which there are, and switching a whole one, which is one change."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from bot.changes.proposals import Proposal
from bot.clients.listing import Listing
from bot.domain.change import Kind, Target
from bot.domain.group import Group
from bot.gatehouse import Gatehouse
from handlers.commands.rules import RulesGroup, RulesGroups
from handlers.errors import NoGroups, NothingToChange, NotOneGroup
from handlers.lasting import lasting
from handlers.refs import is_bare_number
from handlers.reply import Announced, Caller, Private, Reply
from handlers.routes import handles
from handlers.views import groups as views


@handles(RulesGroups)
async def show_groups(command: RulesGroups, caller: Caller, gatehouse: Gatehouse) -> Reply:
    groups = await _listed(gatehouse)
    listing = await gatehouse.rules.all()
    rules = Counter(rule.group_id for rule in listing.known if rule.group_id)
    on = Counter(rule.group_id for rule in listing.known if rule.group_id and rule.active)
    found = sorted(groups.known, key=lambda group: group.title.casefold())
    gaps = {"groups": groups.gap, "rules": listing.gap}
    return Private(views.group_list(found, rules, on, gaps, command=command, actions=not caller.public))


@handles(RulesGroup)
async def switch_group(command: RulesGroup, caller: Caller, gatehouse: Gatehouse) -> Reply:
    group = _meant(command.group, (await _listed(gatehouse)).whole())
    after = group.switched(on=command.switch == "on")
    if after == group.body():
        raise NothingToChange([group.title], group.status)
    proposal = Proposal(
        kind=Kind.GROUP_UPDATE,
        target=Target(service="groups", key=group.id),
        before=group.document(),
        after=after,
        requester=caller.user,
        channel=caller.channel,
        reason=command.because or "",
    )
    proposal = await lasting(proposal, command.lasts, caller, gatehouse)
    await gatehouse.changes.submit(proposal, origin=caller.request)
    return Announced()


async def _listed(gatehouse: Gatehouse) -> Listing[Group]:
    groups = await gatehouse.groups.listed()
    if groups is None:
        raise NoGroups
    return groups


def _meant(ref: str, groups: Sequence[Group]) -> Group:
    """The one group that *ref* fits in the first way in which it fits any: id, name, part of name; else NotOneGroup.

    A number alone is never a part of a name.
    """
    wanted = ref.strip().casefold()
    ways = (
        lambda group: group.id == ref.strip(),
        lambda group: group.title.casefold() == wanted,
        lambda group: wanted in group.title.casefold(),
    )
    for way in ways[:2] if is_bare_number(ref) else ways:
        if found := [group for group in groups if way(group)]:
            if len(found) > 1:
                raise NotOneGroup(ref, found)
            return found[0]
    raise NotOneGroup(ref, ())
