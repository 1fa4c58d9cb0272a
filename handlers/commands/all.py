"""All commands, for help, the README's table and the grammar."""

from __future__ import annotations

from handlers.commands.command import Command
from handlers.commands.gatehouse import GatehouseCommand
from handlers.commands.members import MembersCommand
from handlers.commands.rules import RulesCommand

ALL: tuple[type[Command], ...] = tuple(
    kind for base in (RulesCommand, MembersCommand, GatehouseCommand) for kind in base.__subclasses__()
)
"""Every command, in the order of help."""


def of_service(service: str) -> tuple[type[Command], ...]:
    """Those of one service, in the same order."""
    return tuple(kind for kind in ALL if kind.service == service)
