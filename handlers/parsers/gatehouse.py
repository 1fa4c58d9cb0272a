"""The words after ``/gatehouse VERB`` -> a Command."""

from __future__ import annotations

import re
from typing import Final

from bot.domain.duration import DAYS, seconds_of
from handlers.commands import gatehouse as c
from handlers.commands.command import Command
from handlers.parsers.rest import Parser, Rest, alone, page_in

PERSON: Final = re.compile(r"<@[^<>]+>|@?me", re.IGNORECASE)


def _audit(rest: Rest) -> Command:
    """What is no filter by its name may be one by what it is: a mention is a person, ``yesterday`` is a time."""
    filters = rest.filters("who", "since", "page")
    page = page_in(filters, rest)
    who = filters.get("who") or rest.take(1, PERSON.fullmatch)
    times = (rest.take(count, _time_in) for count in (3, 2, 1))
    since = filters.get("since") or _time_in(next(filter(None, times), ""))
    return c.GatehouseAudit(who, since, rest.rest() or None, page)


def _time_in(text: str) -> str | None:
    """The time that ``yesterday``, ``since yesterday`` or ``last 24h`` is."""
    time = text.casefold().removeprefix("since ")
    bare = time.removeprefix("last ")
    return time if time in DAYS else bare if seconds_of(bare) else None


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
