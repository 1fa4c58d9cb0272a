"""``/rules which URL``: what happens to an address, and why not something else."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from bot.domain.address import Address
from bot.domain.group import Groups
from bot.domain.matching import Explained, explain
from bot.domain.rule import Rule
from bot.gatehouse import Gatehouse
from handlers.commands import RulesWhich
from handlers.grouping import groups_of
from handlers.reply import Caller, Private, Reply
from handlers.routes import handles
from handlers.views import which as views

SLICE = 500
"""Rules that are looked at in one go: with 100,000 of them, others want the loop in between."""


@handles(RulesWhich)
async def which(command: RulesWhich, caller: Caller, gatehouse: Gatehouse) -> Reply:
    address = Address.of(command.url)
    listing = await gatehouse.rules.all()
    groups = await groups_of(listing.rules, gatehouse)
    found = await explained(listing.rules, address, groups)
    return Private(views.explained(found, command=command, unreadable=listing.unreadable, actions=not caller.public))


async def explained(rules: Sequence[Rule], address: Address, groups: Groups | None = None) -> Explained:
    """What *rules* do to *address*, worked out in slices."""
    parts = []
    for start in range(0, max(len(rules), 1), SLICE):
        parts.append(explain(rules[start : start + SLICE], address, groups))
        await asyncio.sleep(0)
    return Explained(
        address,
        acting=tuple(each for part in parts for each in part.acting),
        near=tuple(each for part in parts for each in part.near),
        untold=tuple(each for part in parts for each in part.untold),
    )
