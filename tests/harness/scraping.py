"""What `/metrics` and `/readyz` say, and what a collector of traces gets."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

import httpx
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from sandbox.slack.serving import serving


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


@asynccontextmanager
async def collecting() -> AsyncIterator[tuple[Mapping[str, str], list[bytes]]]:
    """A collector of traces (OTLP): the variables with which a bot sends it some, and the bodies that it gets."""
    received: list[bytes] = []

    async def collect(request: Request) -> Response:
        received.append(await request.body())
        return Response()

    async with serving(Starlette(routes=[Route("/v1/traces", collect, methods=["POST"])])) as url:
        yield {"OTEL_EXPORTER_OTLP_ENDPOINT": url, "OTEL_EXPORTER_OTLP_COMPRESSION": "none"}, received
