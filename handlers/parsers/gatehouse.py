"""The words after ``/gatehouse VERB`` -> a Command."""

from __future__ import annotations

from typing import Final

from handlers.commands import gatehouse as c
from handlers.commands.command import Command
from handlers.parsers.rest import Parser, Rest, alone


def _audit(rest: Rest) -> Command:
    filters = rest.filters("who", "since")
    return c.GatehouseAudit(filters.get("who"), filters.get("since"), rest.rest() or None)


PARSERS: Final[dict[type[Command], Parser]] = {
    c.GatehousePending: alone(c.GatehousePending),
    c.GatehouseInspect: lambda rest: c.GatehouseInspect(rest.one("which change")),
    c.GatehouseUndo: lambda rest: c.GatehouseUndo(rest.rest() or None),
    c.GatehouseTimers: alone(c.GatehouseTimers),
    c.GatehouseAudit: _audit,
    c.GatehouseDigest: lambda rest: c.GatehouseDigest(rest.rest() or None),
    c.GatehouseStatus: alone(c.GatehouseStatus),
    c.GatehouseWhoami: alone(c.GatehouseWhoami),
    c.GatehouseHelp: lambda rest: c.GatehouseHelp(rest.rest() or None),
    c.GatehouseSettings: alone(c.GatehouseSettings),
}
