"""What `/metrics` and `/readyz` say."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

import httpx


async def scrape_metrics(url: str) -> Mapping[str, float]:
    """Every sample that the bot at *url* gives, such as ``gatehouse_backlog{what="timer"}``; 0 for one that it doesn't."""
    async with httpx.AsyncClient(trust_env=False) as client:
        text = (await client.get(f"{url}/metrics")).text
    lines = [line.rpartition(" ") for line in text.splitlines() if not line.startswith("#")]
    return defaultdict(float, {name: float(value) for name, _, value in lines})


async def read_readiness(url: str) -> tuple[int, dict[str, str]]:
    """The status with which the bot at *url* says whether it can work, and what it says of each of its parts."""
    async with httpx.AsyncClient(trust_env=False) as client:
        answer = await client.get(f"{url}/readyz")
    return answer.status_code, dict(answer.json())
