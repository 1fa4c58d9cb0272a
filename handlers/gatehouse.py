"""What ``/gatehouse`` does: help, status, who am I."""

from __future__ import annotations

from collections.abc import Awaitable, Sequence

from bot.clients.errors import ClientError
from bot.clients.listing import Listing
from bot.domain.member import Member
from bot.gatehouse import Gatehouse
from handlers.commands import GatehouseHelp, GatehouseStatus, GatehouseWhoami
from handlers.reply import Caller, Private, Reply
from handlers.routes import COMMANDS, handles
from handlers.views import gatehouse as views


@handles(GatehouseHelp)
async def show_help(command: GatehouseHelp, caller: Caller, gatehouse: Gatehouse) -> Reply:
    return Private(views.help_page(command.topic, prefix=gatehouse.prefix, may=COMMANDS.__contains__))


@handles(GatehouseStatus)
async def status(command: GatehouseStatus, caller: Caller, gatehouse: Gatehouse) -> Reply:
    parts = dict(await gatehouse.health())
    parts["rules"] = await _says(gatehouse.rules.all())
    for site in gatehouse.sites.values():
        parts[f"members of {site.name}"] = await _says(site.members.all())
    return Private(views.status(parts, places=gatehouse.places))


async def _says(asked: Awaitable[Listing | Sequence[Member]]) -> str:
    """What a service answers to a plain question: "ok" and how many, or what is wrong."""
    try:
        found = await asked
    except ClientError as error:
        return type(error).__name__.lower()
    return f"ok, {len(found.rules if isinstance(found, Listing) else found):,} records"


@handles(GatehouseWhoami)
async def whoami(command: GatehouseWhoami, caller: Caller, gatehouse: Gatehouse) -> Reply:
    return Private(views.whoami(caller.user, sites=tuple(gatehouse.sites)))
