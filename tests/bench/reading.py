"""Reading everything that a service has: what that costs, and how long it keeps others from being answered."""

from __future__ import annotations

import json
import time
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Any, Final

from bot.clients.http import CallLimits, Service
from bot.clients.members import MembersClient
from bot.clients.rules import RulesClient
from tests.bench import measuring
from tests.bench.measuring import Watching, best, run_watched
from tests.bench.sheets import Report, Sheet
from tests.bench.standins import answering

LIMITS: Final = CallLimits(deadline=600, max_bytes=1_000_000_000)
READS: Final = 3
"""Each lets go of what the one before it brought."""


def report(sizes: Sequence[int]) -> Report:
    """Seconds as so many times what `json.loads` takes for the same body; of members only for the largest of *sizes*."""
    rows = [(f"{size:,} rules", *_read_rules(size)) for size in sizes]
    members = [member.document() for member in measuring.members(sizes[-1])]
    rows.append((f"{sizes[-1]:,} members", *_read(members, lambda service: MembersClient(service, "site_1").all)))
    columns = ("", "of json.loads", "in all", "longest work in one go")
    about = "Reading everything that a service has, beside `json.loads` of the same body."
    return Report("Reading", about, [Sheet("Read everything", columns, rows)])


def _read_rules(size: int) -> tuple[str, str, str]:
    rules = [rule.document() for rule in measuring.rules(size)]
    return _read(rules, lambda service: RulesClient(service).all)


def _read(records: Sequence[Any], reader: Callable[[Service], Callable[[], Awaitable[object]]]) -> tuple[str, str, str]:
    body = json.dumps({"success": True, "data": records}).encode()
    alone = best(partial(json.loads, body))
    with answering(body) as address:
        took, longest = run_watched(partial(_taken, address, reader))
    return f"{took / alone:.1f}", f"{took * 1000:.0f} ms", f"{longest * 1000:.0f} ms"


async def _taken(
    address: str, reader: Callable[[Service], Callable[[], Awaitable[object]]], watching: Watching
) -> tuple[float, float]:
    took = []
    async with Service("bench", address, {}, limits=LIMITS) as service:
        read = reader(service)
        watching.longest = 0.0
        for _ in range(READS):
            began = time.perf_counter()
            await read()
            took.append(time.perf_counter() - began)
    return min(took), watching.longest
