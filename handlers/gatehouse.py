"""What ``/gatehouse`` does: help, status, who am I."""

from __future__ import annotations

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
    return Private(views.status(await gatehouse.health(), places=gatehouse.places))


@handles(GatehouseWhoami)
async def whoami(command: GatehouseWhoami, caller: Caller, gatehouse: Gatehouse) -> Reply:
    return Private(views.whoami(caller.user, sites=tuple(gatehouse.sites)))
