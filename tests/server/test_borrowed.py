"""What we override in uvicorn, slack_sdk and aiohttp is still what it was when we wrote it: much of it is in no documentation."""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Iterator
from typing import Any, Final

import pytest

from bot.server import process, socket_mode

OURS: Final = (process.Server, socket_mode.Heard, socket_mode.Client)

READ: Final = {
    "uvicorn.server.Server.capture_signals": "e1bbcd4770d1",
    "aiohttp.client_ws.ClientWebSocketResponse.__init__": "10182e0b458e",
    "aiohttp.client_ws.ClientWebSocketResponse.receive": "1b5e7d3d714a",
    "slack_sdk.socket_mode.aiohttp.SocketModeClient.__init__": "b2d991c55e11",
    "slack_sdk.socket_mode.aiohttp.SocketModeClient.is_connected": "7172ec993968",
    "slack_sdk.socket_mode.aiohttp.SocketModeClient.send_message": "ff3412436178",
    "slack_sdk.socket_mode.async_client.AsyncBaseSocketModeClient.connect_to_new_endpoint": "0a8c719d8190",
    "slack_sdk.socket_mode.async_client.AsyncBaseSocketModeClient.issue_new_wss_url": "fe8890087136",
    "slack_sdk.socket_mode.aiohttp.SocketModeClient.close": "16320a852cab",
}
"""The fingerprint of each as it was read last."""


def overridden() -> Iterator[tuple[str, Any]]:
    """The functions of libraries in whose place a class of ours has its own, by their names."""
    for ours in OURS:
        for name, function in vars(ours).items():
            theirs = getattr(ours.__base__, name, None)
            if inspect.isfunction(function) and inspect.isfunction(theirs) and theirs.__module__ != "builtins":
                yield f"{theirs.__module__}.{theirs.__qualname__}", theirs


def fingerprint(function: Any) -> str:
    return hashlib.sha256(inspect.getsource(function).encode()).hexdigest()[:12]


@pytest.mark.parametrize(("name", "function"), [pytest.param(*each, id=each[0]) for each in overridden()])
def test_what_ours_stands_for_is_as_we_read_it(name: str, function: Any) -> None:
    assert READ.get(name) == fingerprint(function), (
        f"{name} is another by now. Read it, see that what `bot/server` makes of it still holds, and note it here."
    )


def test_nothing_is_noted_that_we_no_longer_override() -> None:
    assert READ.keys() == {name for name, _ in overridden()}
