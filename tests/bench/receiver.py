"""The smallest Slack that a bot can answer: it takes replies, and says who everybody is.

A person and a channel for each number, so that no bot's limits are met. HTTP/1.1 is read just far enough for the
clients of the bots: a server that does more would take the machine's time from them.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

from sandbox.gatehouse import BOT, SHOP
from sandbox.slack.people import Channel, User
from tests.bench.processes import BenchFailed

PEOPLE: Final = 512
CHANNELS: Final = 128
BACKLOG: Final = 1024
"""Connections that may wait to be accepted: a bot that opens one for each reply opens hundreds at once."""


def person(number: int) -> str:
    """The id of one of the people."""
    return f"U0BENCH{number % PEOPLE:04d}"


def channel(number: int) -> str:
    """The id of the channel that this person writes in."""
    return f"C0BENCH{number % CHANNELS:04d}"


async def read_message(reader: asyncio.StreamReader) -> tuple[str, bytes]:
    """The first line and the body of a request or an answer; raises IncompleteReadError at the end."""
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    first, _, headers = head.partition("\r\n")
    length = next((line[15:] for line in headers.split("\r\n") if line[:15].lower() == "content-length:"), "0")
    return first, await reader.readexactly(int(length))


class Receiver:
    """Takes what bots send. *expected*: how often each of these must be in a reply, or it is another one."""

    def __init__(self) -> None:
        self.address = ""
        self.expected: tuple[bytes, int] = (b"", 0)
        self._waiting: dict[str, asyncio.Future[None]] = {}

    def reply_to(self, number: int) -> tuple[str, asyncio.Future[None]]:
        """A response URL, and what is done once the reply to it came."""
        path = f"/reply/{number}"
        self._waiting[path] = asyncio.get_running_loop().create_future()
        return self.address + path, self._waiting[path]

    def _take(self, path: str, body: bytes) -> None:
        waiting = self._waiting.pop(path, None)
        if waiting is None or waiting.done():
            return
        text, times = self.expected
        if body.count(text) < times:
            waiting.set_exception(BenchFailed(f"another reply than expected: {body[:1000].decode(errors='replace')}"))
        else:
            waiting.set_result(None)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer the requests of one connection until it ends."""
        try:
            while True:
                first, body = await read_message(reader)
                writer.write(self._answered(first.split(" ")[1], body))
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    def _answered(self, target: str, body: bytes) -> bytes:
        if not target.startswith("/api/"):
            self._take(target, body)
            return _http(b"ok")
        url = urlsplit(target)
        asked = {name: values[0] for name, values in parse_qs(url.query).items()}
        return _http(json.dumps({"ok": True, **_said(url.path.removeprefix("/api/"), asked)}).encode())


def _http(body: bytes) -> bytes:
    return b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body)


def _said(method: str, asked: Mapping[str, str]) -> dict[str, Any]:
    """What Slack says of a person, a channel or the app itself."""
    if method == "auth.test":
        return {"team_id": SHOP.id, "team": SHOP.name, "user_id": BOT.id, "user": "gatehouse", "bot_id": SHOP.bot_id}
    if method == "users.info":
        user = asked["user"]
        return {"user": User(user, user.lower(), user, "On call", "#333333").profile(SHOP.id, time.time())}
    if method == "conversations.info":
        name = asked["channel"]
        return {"channel": Channel(name, name.lower(), "channel", "", ()).info(SHOP.id, person(0))}
    if method == "conversations.members":
        return {"members": [person(number) for number in range(PEOPLE)]}
    return {}


@asynccontextmanager
async def receiving() -> AsyncIterator[Receiver]:
    """A receiver at work, at a free port of this machine."""
    receiver = Receiver()
    server = await asyncio.start_server(receiver.serve, "127.0.0.1", 0, limit=2**20, backlog=BACKLOG)
    receiver.address = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield receiver
    finally:
        server.close()
