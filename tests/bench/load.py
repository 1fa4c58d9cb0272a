"""Signed slash commands in a closed loop: so many people, each of whom waits for the reply before the next command."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from itertools import count
from typing import Final
from urllib.parse import urlencode

from slack_sdk.signature import SignatureVerifier

from sandbox.gatehouse import SHOP
from sandbox.slack.running import SECRET
from tests.bench.processes import BenchFailed, Running
from tests.bench.receiver import PEOPLE, Receiver, channel, person, read_message

MAX_REPLY_SECONDS: Final = 10
"""After which a reply is lost; nobody who typed a command waits any longer."""
WARM_UP_AT_ONCE: Final = 16
NUMBERS: Final = count()
"""No two commands of a run have the same number, and so none the same response URL."""


@dataclass(frozen=True, slots=True)
class Job:
    """A command, and how often its reply must have which text."""

    command: str
    text: str
    expected: tuple[bytes, int]

    def __str__(self) -> str:
        return f"{self.command} {self.text}"


class Connection:
    """A kept-alive connection to a bot, opened again where the bot closed it."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def post(self, body: bytes) -> None:
        """Send *body* as Slack does, and return when it is acknowledged; raises BenchFailed."""
        try:
            first = await self._sent(body)
        except (asyncio.IncompleteReadError, ConnectionError):  # the bot closed it, as it came
            self.close()
            first = await self._sent(body)
        if " 200 " not in first:
            raise BenchFailed(f"a command was answered with {first}")

    async def _sent(self, body: bytes) -> str:
        """The first line of the answer."""
        if self._streams is None or self._streams[0].at_eof():
            self._streams = await asyncio.open_connection("127.0.0.1", self._port)
        reader, writer = self._streams
        writer.write(_request(body))
        return (await read_message(reader))[0]

    def close(self) -> None:
        if self._streams is not None:
            self._streams[1].close()
        self._streams = None


def _request(body: bytes) -> bytes:
    timestamp = str(int(time.time()))
    signature = SignatureVerifier(SECRET).generate_signature(timestamp=timestamp, body=body)
    head = (
        "POST /slack/events HTTP/1.1\r\nHost: bot\r\nContent-Type: application/x-www-form-urlencoded\r\n"
        f"X-Slack-Request-Timestamp: {timestamp}\r\nX-Slack-Signature: {signature}\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


def _form(job: Job, number: int, response_url: str) -> bytes:
    user = person(number)
    fields = {
        "token": "verification",
        "team_id": SHOP.id,
        "team_domain": SHOP.domain,
        "channel_id": channel(number),
        "channel_name": channel(number).lower(),
        "user_id": user,
        "user_name": user.lower(),
        "command": job.command,
        "text": job.text,
        "api_app_id": SHOP.app.id,
        "is_enterprise_install": "false",
        "response_url": response_url,
        "trigger_id": f"{number}.{SHOP.id}.{user.lower()}",
    }
    return urlencode(fields).encode()


async def warm_up(bot: Running, receiver: Receiver, job: Job) -> None:
    """Let each of the PEOPLE give the command once."""
    await _given(bot, receiver, job, WARM_UP_AT_ONCE, iter(range(PEOPLE)))


async def replies_per_second(bot: Running, receiver: Receiver, job: Job, at_once: int, seconds: float) -> float:
    """Give the command for so many *seconds*, *at_once* at a time, and wait for all replies."""
    began = time.perf_counter()
    replies = await _given(bot, receiver, job, at_once, _until(began + seconds))
    return replies / (time.perf_counter() - began)


async def _given(bot: Running, receiver: Receiver, job: Job, at_once: int, left: Iterator[int]) -> int:
    """Give as many commands as there are *left*; return how many that were."""
    receiver.expected = job.expected
    async with AsyncExitStack() as stack:
        connections = [Connection(bot.port) for _ in range(at_once)]
        for one in connections:
            stack.callback(one.close)
        return sum(await asyncio.gather(*(_work(one, receiver, job, left) for one in connections)))


def _until(end: float) -> Iterator[int]:
    """Numbers, until the time is up."""
    while time.perf_counter() < end:
        yield 1


async def _work(connection: Connection, receiver: Receiver, job: Job, left: Iterator[int]) -> int:
    """Give one command after the other, each once the last one has its reply; return how many."""
    done = 0
    for _ in left:
        url, reply = receiver.reply_to(number := next(NUMBERS))
        await connection.post(_form(job, number, url))
        try:
            await asyncio.wait_for(reply, MAX_REPLY_SECONDS)
        except TimeoutError:
            raise BenchFailed(f"{job} had no reply within {MAX_REPLY_SECONDS} seconds") from None
        done += 1
    return done
