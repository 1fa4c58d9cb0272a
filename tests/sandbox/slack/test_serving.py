"""A server of a test leaves no connection open when it ends, however far that had come."""

from __future__ import annotations

import asyncio
import socket
from contextlib import closing, suppress

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from sandbox.slack.serving import serving

LONG = 5_000_000
"""Characters of an answer: more than a connection holds that nobody reads."""
ASKED = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"


async def _long(_: Request) -> PlainTextResponse:
    return PlainTextResponse("x" * LONG)


def _comes_to_an_end(client: socket.socket) -> bool:
    """Whether the other side has closed it: the event loop stands still while this reads."""
    with suppress(ConnectionResetError):
        while client.recv(1_000_000):
            pass
    return True


@pytest.mark.parametrize(
    ("sent", "answering"),
    [(b"", False), (ASKED[:5], False), (ASKED, False), (ASKED, True)],
    ids=["just connected", "half a request", "a request", "half an answer"],
)
async def test_a_server_that_ends_closes_its_connections(sent: bytes, answering: bool) -> None:
    with closing(socket.socket()) as client:
        async with serving(Starlette(routes=[Route("/", _long)])) as url:
            client.connect(("127.0.0.1", int(url.rpartition(":")[2])))
            client.send(sent)
            if answering:
                client.setblocking(False)
                await asyncio.get_running_loop().sock_recv(client, 1)
        client.settimeout(5)

        assert _comes_to_an_end(client)
