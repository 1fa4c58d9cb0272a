"""Signed slash commands in a closed loop: so many people, each of whom waits for the reply before the next command."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import count
from math import nan
from typing import Final
from urllib.parse import urlencode

from slack_sdk.signature import SignatureVerifier

from sandbox.gatehouse import SHOP
from sandbox.slack.running import SECRET
from tests.bench.processes import BenchFailed, Running
from tests.bench.receiver import Receiver, channel, person, read_message

MAX_REPLY_SECONDS: Final = 10
"""After which a reply counts as lost; nobody who typed a command waits any longer."""
WARM_UP_AT_ONCE: Final = 16
NUMBERS: Final = count()
"""No two commands of a run have the same number, and so none the same response URL."""


@dataclass(frozen=True, slots=True)
class Job:
    """A command, and what marks its reply: *text*, at least so many *times*. Without a reply, only the acknowledgement
    is waited for.
    """

    command: str
    text: str
    has_reply: bool = True
    expected: tuple[bytes, int] = (b"", 0)

    def __str__(self) -> str:
        return f"{self.command} {self.text}"


@dataclass(slots=True)
class Taken:
    """Seconds from each command to its acknowledgement and its reply, and from the first command to the last reply."""

    acknowledged: list[float] = field(default_factory=list)
    replied: list[float] = field(default_factory=list)
    seconds: float = 0.0
    lost: int = 0
    cpu_seconds: float = 0.0

    @property
    def done(self) -> int:
        """How many commands were not lost."""
        return len(self.acknowledged) - self.lost

    @property
    def per_second(self) -> float:
        return self.done / self.seconds if self.done else 0.0

    @property
    def lost_share(self) -> float:
        """The share of the commands that had no reply."""
        return self.lost / len(self.acknowledged)

    @property
    def cpu_per_reply(self) -> float:
        return self.cpu_seconds / self.done if self.done else nan


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


async def warm_up(bot: Running, receiver: Receiver, job: Job, commands: int) -> None:
    """Give so many *commands* that are not counted."""
    await _given(bot, receiver, job, WARM_UP_AT_ONCE, iter(range(commands)))


async def loaded(bot: Running, receiver: Receiver, job: Job, at_once: int, seconds: float) -> Taken:
    """Give the command for so many *seconds*, *at_once* at a time; all replies are waited for."""
    return await _given(bot, receiver, job, at_once, _until(time.perf_counter() + seconds))


async def _given(bot: Running, receiver: Receiver, job: Job, at_once: int, left: Iterator[int]) -> Taken:
    """Give as many commands as there are *left*."""
    taken = Taken()
    async with _connections(bot, at_once) as connections:
        cpu, began = bot.cpu_seconds(), time.perf_counter()
        ends = await asyncio.gather(*(_work(one, receiver, job, left, taken) for one in connections))
        taken.seconds = max(ends) - began
        taken.cpu_seconds = bot.cpu_seconds() - cpu
    return taken


@asynccontextmanager
async def _connections(bot: Running, many: int) -> AsyncIterator[list[Connection]]:
    """So *many* connections to *bot*, closed at the end of the block."""
    connections = [Connection(bot.port) for _ in range(many)]
    try:
        yield connections
    finally:
        for one in connections:
            one.close()


def _until(end: float) -> Iterator[int]:
    """Numbers, until the time is up."""
    while time.perf_counter() < end:
        yield 1


async def _work(connection: Connection, receiver: Receiver, job: Job, left: Iterator[int], taken: Taken) -> float:
    """Give one command after the other; return when the last one was done that was not lost."""
    done = 0.0
    for _ in left:
        url, reply = receiver.reply_to(number := next(NUMBERS))
        body = _form(job, number, url)
        began = time.perf_counter()
        await connection.post(body)
        acknowledged = time.perf_counter()
        taken.acknowledged.append(acknowledged - began)
        done = max(done, await _posted(reply, began, taken) if job.has_reply else acknowledged)
    return done


async def _posted(reply: asyncio.Future[float], began: float, taken: Taken) -> float:
    """When the reply to a command that *began* then was posted; 0 where it is lost."""
    try:
        done = await asyncio.wait_for(reply, MAX_REPLY_SECONDS)
    except TimeoutError:
        taken.lost += 1
        return 0.0
    taken.replied.append(done - began)
    return done
