"""What commands take where a service has much, beside the same with little."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Final

from tests.bench.processes import GATEHOUSE, people_with
from tests.bench.sites import OF_THE_SERVICE, new_member, rule, rule_id
from tests.bench.table import Row

MEMBER: Final = new_member(42)["email"]
LISTS: Final = ("/rules list", "/members list")
"""Given first, so that the lists are there."""
COMMANDS: Final = (
    "/rules which https://shop5.example.com/campaign/5",
    "/rules campaign 42 of shop",
    f"/rules off {rule_id(42)}",
    f"/members why {MEMBER}",
    f"/members grant {MEMBER} vip",
)


async def measure(*, rules: int, members: int, few: int) -> list[Row]:
    """Give each command where there are so many *rules* and *members*, and where there are *few* of both."""
    little, much = await _took(few, few), await _took(rules, members)
    return [Row(f"large site: `{each}`", much[each], f"with {few}", little[each], "ms") for each in COMMANDS]


async def _took(rules: int, members: int) -> Mapping[str, float]:
    """Milliseconds until the reply to each command."""
    took = {}
    kept = (rule(number) | OF_THE_SERVICE for number in range(rules))
    present = (new_member(number) | {"createdAt": number} for number in range(members))
    async with people_with(GATEHOUSE, rules=kept, members=present) as (alice, _):
        for command in (*LISTS, *COMMANDS):
            began = time.perf_counter()
            await alice.replied(command)
            took[command] = (time.perf_counter() - began) * 1000
    return took
