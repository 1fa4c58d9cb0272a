"""``/rules which URL``: what happens to an address, and why not something else."""

from __future__ import annotations

from collections.abc import Sequence

from bot.clients.parsing import gently
from bot.domain.address import SCHEME, Address
from bot.domain.group import Groups
from bot.domain.matching import Explained, explaining, told
from bot.domain.rule import Rule
from bot.gatehouse import Gatehouse
from handlers.commands.rules import RulesWhich
from handlers.grouping import groups_of
from handlers.reply import Caller, Private, Reply
from handlers.routes import handles
from handlers.views import which as views


@handles(RulesWhich)
async def which(command: RulesWhich, caller: Caller, gatehouse: Gatehouse) -> Reply:
    address = Address.typed(command.url)
    listing = await gatehouse.rules.all()
    groups = await groups_of(listing.known, gatehouse)
    found = await explained(listing.known, address, groups)
    return Private(
        views.explained(
            found,
            command=command,
            gap=listing.gap,
            assumed=not SCHEME.match(command.url.strip()),
            actions=not caller.public,
        )
    )


async def explained(rules: Sequence[Rule], address: Address, groups: Groups | None = None) -> Explained:
    """What *rules* do to *address*, with the event loop let in between: some expressions take a millisecond each."""
    return told(address, await gently(explaining(rules, address, groups)))
