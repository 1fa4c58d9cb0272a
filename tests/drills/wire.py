"""Slack's requests as bytes, sent to one replica of several, at a moment of the test's choosing."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, urlencode

from bot.changes.model.change import Change
from handlers.blocks import inputs
from handlers.changes import notes_view
from handlers.slack.payloads import natural_key
from sandbox.slack import payloads
from sandbox.slack.elements import elements_of
from sandbox.slack.message import Message
from sandbox.slack.running import LocalSlack
from sandbox.slack.tickets import ResponseUrl

PATIENCE = 3.0
"""Seconds after which Slack tells the person that it did not work."""


class NoButton(Exception):
    """The card has been edited since: it has no such button any more."""


@dataclass(frozen=True, slots=True)
class Signed:
    """One request of Slack's, ready to be sent."""

    body: bytes
    headers: Mapping[str, str]

    @property
    def key(self) -> str:
        """Under which the bot stores it."""
        fields = dict(parse_qsl(self.body.decode(), keep_blank_values=True))
        return (
            natural_key("command", fields)
            if "command" in fields
            else natural_key("click", json.loads(fields["payload"]))
        )

    @property
    def request(self) -> bytes:
        lines = [f"{name}: {value}" for name, value in self.headers.items()]
        head = ["POST /slack/events HTTP/1.1", "Host: bot", "Connection: close", f"Content-Length: {len(self.body)}"]
        kind = "Content-Type: application/x-www-form-urlencoded"
        return "\r\n".join([*head, kind, *lines, "", ""]).encode() + self.body


def _signed(slack: LocalSlack, payload: Mapping[str, Any]) -> Signed:
    return _form(slack, {"payload": json.dumps(payload)})


def _form(slack: LocalSlack, fields: Mapping[str, str]) -> Signed:
    body = urlencode(fields).encode()
    return Signed(body, slack.delivery.signature_headers(body))


def command(slack: LocalSlack, user: str, channel: str, text: str) -> tuple[Signed, ResponseUrl]:
    """*user* types ``/name and more``; with where the answer goes, which counts how often it was used."""
    name, _, rest = text.partition(" ")
    number = slack.state.new_response_url(user, channel, None)
    url = f"{slack.acting.answers.address}/response/{number}"
    return _form(slack, payloads.command(slack.state, user, channel, name, rest, url)), slack.state.response_urls[
        number
    ]


def click(slack: LocalSlack, user: str, message: Message, decision: str) -> Signed:
    """*user* takes *decision* by a button or a menu of *message*: a new act each time. Raises NoButton."""
    wanted, found = f"v1.decide.{decision}", None
    for block in message.blocks:
        for one in elements_of(block):
            common = {"action_id": one["action_id"], "type": one["type"], "block_id": block["block_id"]}
            if one["action_id"] == wanted:
                found = common | {"value": one["value"]}
            for option in one.get("options", ()):
                if option["value"].startswith(f"{wanted} "):
                    found = common | {"selected_option": option}
    if found is None:
        raise NoButton(decision)
    action = found | {"action_ts": slack.state.new_ts()}
    name = slack.state.new_response_url(user, message.channel, message.ts)
    url = f"{slack.acting.answers.address}/response/{name}"
    return _signed(slack, payloads.message_click(slack.state, user, message, action, {}, url))


def denial(slack: LocalSlack, user: str, change: Change, words: str) -> Signed:
    """*user* sends the form that *Deny…* opens."""
    form = notes_view.reason_form("deny", change, change.created, channel=change.request.channel)
    view = slack.state.make_view(form, user)
    typed = {inputs.action_id(notes_view.BLOCK): {"type": "plain_text_input", "value": words}}
    values = {notes_view.BLOCK: typed}
    return _signed(slack, payloads.submission(slack.state, user, view, values))


@dataclass(frozen=True, slots=True)
class Line:
    """A connection to a replica for one request."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    def send(self, signed: Signed) -> None:
        self.writer.write(signed.request)

    async def acknowledged(self) -> bool:
        """Whether a whole 200 came back in time: what Slack counts as taken."""
        with contextlib.suppress(OSError, TimeoutError):
            async with asyncio.timeout(PATIENCE):
                answer = await self.reader.read()
            return answer.startswith(b"HTTP/1.1 200 ")
        return False


@asynccontextmanager
async def connected(port: int) -> AsyncIterator[Line]:
    """A line to whoever listens at *port*; raises OSError where nobody does."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        yield Line(reader, writer)
    finally:
        writer.close()
        with contextlib.suppress(OSError):
            await writer.wait_closed()


async def delivered(port: int, signed: Signed) -> bool:
    """Send it; whether it was acknowledged."""
    try:
        async with connected(port) as line:
            line.send(signed)
            return await line.acknowledged()
    except OSError:
        return False
