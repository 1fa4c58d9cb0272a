"""Connections to Slack: opened once, kept, and nothing lost or said twice where Slack closes one that is kept."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import pytest

from bot.server.manifest import document
from bot.server.slack import open_slack
from bot.settings import Settings
from handlers.blocks.messages import Message
from handlers.slack.client import Slack
from handlers.slack.reply import Caller
from sandbox.gatehouse import ALICE, SHOP
from sandbox.slack.running import TOKEN, LocalSlack, running_slack
from tests.conftest import OPS, until

MANY = 100
SETTINGS: dict[str, Any] = {
    "slack_bot_token": TOKEN,
    "slack_signing_secret": "not asked for",
    "rules_base_url": "https://rules.example.com",
    "rules_api_key": "none",
    "members_base_url": "https://members.example.com",
    "members_api_key": "none",
    "members_sites": {"blog": "site_1"},
}


@dataclass(slots=True)
class Door:
    """Passes on what comes for the server at the port *upstream*, and counts the connections that were opened."""

    upstream: int
    opened: int = 0
    lines: set[asyncio.StreamWriter] = field(default_factory=set)
    _doomed: set[asyncio.StreamWriter] = field(default_factory=set)

    async def let_in(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.opened += 1
        self.lines.add(writer)
        server, to_server = await asyncio.open_connection("127.0.0.1", self.upstream)
        back = asyncio.create_task(_pass_on(server, writer))
        while (data := await reader.read(65536)) and writer not in self._doomed:
            to_server.write(data)
        to_server.close()
        await back
        self.lines.discard(writer)

    def close_all(self) -> None:
        """Close every connection, as Slack does with those that were idle for long."""
        for line in self.lines:
            line.close()

    def close_at_the_next_request(self) -> None:
        """Close each of the connections just as something comes through it; nothing of that is passed on."""
        self._doomed |= self.lines


async def _pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(ConnectionError):
        while data := await reader.read(65536):
            writer.write(data)
    writer.close()


@pytest.fixture
async def local() -> AsyncIterator[LocalSlack]:
    async with running_slack(document("http://127.0.0.1"), SHOP) as local:
        yield local


@pytest.fixture
async def door(local: LocalSlack) -> AsyncIterator[Door]:
    """What Gatehouse takes for Slack."""
    door = Door(urlsplit(local.page_url).port or 0)
    async with await asyncio.start_server(door.let_in, "127.0.0.1", 0) as server:
        local.acting.answers.address = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        yield door


@pytest.fixture
async def slack(local: LocalSlack, door: Door) -> AsyncIterator[Slack]:
    settings = Settings(slack_api_url=f"{local.acting.answers.address}/api/", **SETTINGS)
    async with open_slack(settings, TOKEN) as slack:
        yield slack
    await until(lambda: not door.lines)


async def whisper(slack: Slack, local: LocalSlack) -> None:
    url = local.acting.answers.new_url(ALICE.id, OPS, None)
    await slack.whisper(Caller(ALICE.id, OPS, "a request", response_url=url), Message("for you", ()))


@pytest.mark.slow
async def test_a_hundred_answers_and_a_hundred_calls_take_one_connection_each(
    slack: Slack, local: LocalSlack, door: Door
) -> None:
    for _ in range(MANY):
        await whisper(slack, local)
        await slack.ask("auth.test")

    assert door.opened == 2


@pytest.mark.threat("C1")
@pytest.mark.parametrize("when", ["while idle", "as a request comes"])
async def test_a_connection_that_slack_closes_costs_no_message_and_doubles_none(
    slack: Slack, local: LocalSlack, door: Door, when: str
) -> None:
    await whisper(slack, local)
    await slack.post(OPS, Message("for all", ()))

    if when == "while idle":
        door.close_all()
        await until(lambda: not door.lines)
    else:
        door.close_at_the_next_request()
    await asyncio.gather(whisper(slack, local), slack.post(OPS, Message("for all", ())))

    said = sorted((one.text, one.visible_to) for one in local.state.messages)
    assert said == [("for all", None)] * 2 + [("for you", ALICE.id)] * 2
    assert door.opened == 4
    assert "chat.postEphemeral" not in {one["what"] for one in local.state.traffic}
