"""Replies to slash commands, and what a bot takes to start, beside the careful bot.

The Slack here is the smallest that a bot can answer: it gives signed commands, takes the replies, and says who everybody is.
HTTP/1.1 is read just far enough for the bots: a Slack that does more would take the machine's time from them.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any, Final
from urllib.parse import parse_qs, urlencode, urlsplit

from slack_sdk.signature import SignatureVerifier

from sandbox.gatehouse import BOT, SHOP
from sandbox.slack.people import Channel, User
from sandbox.slack.running import SECRET
from tests.bench.processes import CAREFUL, GATEHOUSE, Running, running, standing_in
from tests.bench.sites import fill
from tests.bench.table import Row

PEOPLE: Final = 512
CHANNELS: Final = 128
"""A person and a channel for each command, in turn, so that no bot's limits are met."""
BACKLOG: Final = 1024
"""Connections that may wait to be accepted: a bot that opens one for each reply opens hundreds at once."""
MAX_REPLY_SECONDS: Final = 10
"""After which a reply is lost; nobody who typed a command waits any longer."""
TURNS: Final = 3
"""How often the bots take turns: a machine that gets slower in the meantime, or busier, does so for both."""


@dataclass(frozen=True, slots=True)
class Job:
    """A command, and how often its reply must have which text."""

    command: str
    text: str
    says: bytes
    times: int = 1


JOBS: Final = (
    Job("/gatehouse", "whoami", b"U0BENCH"),
    Job("/rules", "list", b"example.com", 20),
)


async def measure(*, seconds: float, at_once: Sequence[int]) -> list[Row]:
    """Give each command for so many *seconds* to each bot, so many *at_once*."""
    async with AsyncExitStack() as stack:
        folder, slack = Path(stack.enter_context(TemporaryDirectory())), Slack()
        fill(folder / "services.db")
        services = stack.enter_context(standing_in(folder / "services.db"))
        url = await slack.open(stack)
        async with running(GATEHOUSE, services, url, folder):
            pass  # its first start, which alone makes the database
        ours, peer = [
            await stack.enter_async_context(running(bot, services, url, folder)) for bot in (GATEHOUSE, CAREFUL)
        ]
        start = Row("from start to ready", ours.start_seconds, CAREFUL.name, peer.start_seconds, "s")
        idle = Row("memory when idle", ours.resident_mebibytes(), CAREFUL.name, peer.resident_mebibytes(), "MiB")
        rows = []
        for job in JOBS:
            # Everybody gives it once before: a bot may remember people, and the rows of their last list.
            for bot in (ours, peer):
                await slack.give(bot, job, at_once=16, most=PEOPLE)
            for many in at_once:
                rates: dict[Running, list[float]] = {ours: [], peer: []}
                for _ in range(TURNS):
                    for bot, found in rates.items():
                        found.append(await slack.give(bot, job, at_once=many, seconds=seconds / TURNS))
                what = f"`{job.command} {job.text}`, {many} at once"
                rows.append(Row(what, median(rates[ours]), CAREFUL.name, median(rates[peer]), "/s"))
        return [*rows, start, idle]


@dataclass(slots=True)
class Slack:
    """Gives commands to a bot and takes what it sends."""

    url: str = ""
    numbers: count[int] = field(default_factory=count)
    """No two commands of a run have the same number, and so none the same response URL."""
    waiting: dict[str, asyncio.Future[bytes]] = field(default_factory=dict)
    """The reply to each command, by the path that it comes to."""

    async def open(self, stack: AsyncExitStack) -> str:
        """Take requests until the end of *stack*; return the URL of the API."""
        server = await asyncio.start_server(self._serve, "127.0.0.1", 0, limit=2**20, backlog=BACKLOG)
        stack.callback(server.close)
        self.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        return f"{self.url}/api/"

    async def give(
        self, bot: Running, job: Job, *, at_once: int, seconds: float = MAX_REPLY_SECONDS * PEOPLE, most: int = 2**31
    ) -> float:
        """Have so many people, *at_once*, give the command, each again once they have their reply, for so many *seconds*
        or until there were *most*; replies per second.
        """
        began, left, given = time.perf_counter(), iter(range(most)), 0

        async def work() -> None:
            nonlocal given
            reader, writer = await asyncio.open_connection("127.0.0.1", bot.port)
            while time.perf_counter() < began + seconds and next(left, None) is not None:
                number = next(self.numbers)
                reply = self.waiting[f"/reply/{number}"] = asyncio.get_running_loop().create_future()
                writer.write(_request(job, number, f"{self.url}/reply/{number}"))
                first, _ = await _read_message(reader)
                assert " 200 " in first, f"a command was answered with {first}"
                body = await asyncio.wait_for(reply, MAX_REPLY_SECONDS)
                assert body.count(job.says) >= job.times, f"another reply than expected: {body[:1000]!r}"
                given += 1
            writer.close()

        await asyncio.gather(*(work() for _ in range(at_once)))
        return given / (time.perf_counter() - began)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer the requests of one connection until it ends."""
        try:
            while True:
                first, body = await _read_message(reader)
                url = urlsplit(first.split(" ")[1])
                if url.path.startswith("/api/"):
                    asked = {name: values[0] for name, values in parse_qs(url.query).items()}
                    said = {"ok": True, **_said(url.path.removeprefix("/api/"), asked)}
                    answer = json.dumps(said).encode()
                else:
                    self.waiting.pop(url.path).set_result(body)
                    answer = b"ok"
                head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
                writer.write(head % len(answer) + answer)
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()


async def _read_message(reader: asyncio.StreamReader) -> tuple[str, bytes]:
    """The first line and the body of a request or an answer; raises IncompleteReadError at the end."""
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    first, _, headers = head.partition("\r\n")
    length = next((line[15:] for line in headers.split("\r\n") if line[:15].lower() == "content-length:"), "0")
    return first, await reader.readexactly(int(length))


def _person(number: int) -> str:
    return f"U0BENCH{number % PEOPLE:04d}"


def _request(job: Job, number: int, response_url: str) -> bytes:
    """The command of a person, as Slack sends it."""
    user, channel, timestamp = _person(number), f"C0BENCH{number % CHANNELS:04d}", str(int(time.time()))
    fields = {
        "token": "verification",
        "team_id": SHOP.id,
        "team_domain": SHOP.domain,
        "channel_id": channel,
        "channel_name": channel.lower(),
        "user_id": user,
        "user_name": user.lower(),
        "command": job.command,
        "text": job.text,
        "api_app_id": SHOP.app.id,
        "is_enterprise_install": "false",
        "response_url": response_url,
        "trigger_id": f"{number}.{SHOP.id}.{user.lower()}",
    }
    body = urlencode(fields).encode()
    signature = SignatureVerifier(SECRET).generate_signature(timestamp=timestamp, body=body)
    head = (
        "POST /slack/events HTTP/1.1\r\nHost: bot\r\nContent-Type: application/x-www-form-urlencoded\r\n"
        f"X-Slack-Request-Timestamp: {timestamp}\r\nX-Slack-Signature: {signature}\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


def _said(method: str, asked: Mapping[str, str]) -> dict[str, Any]:
    """What Slack says of a person, a channel or the app itself."""
    match method:
        case "auth.test":
            of_bot = {"user_id": BOT.id, "user": "gatehouse", "bot_id": SHOP.bot_id}
            return {"team_id": SHOP.id, "team": SHOP.name, **of_bot}
        case "users.info":
            user = asked["user"]
            return {"user": User(user, user.lower(), user, "On call", "#333333").profile(SHOP.id, time.time())}
        case "conversations.info":
            name = asked["channel"]
            return {"channel": Channel(name, name.lower(), "channel", "", ()).info(SHOP.id, _person(0))}
        case "conversations.members":
            return {"members": [_person(number) for number in range(PEOPLE)]}
        case _:
            return {}
