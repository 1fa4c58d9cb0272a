"""Requests and answers as they are on the wire: enough of HTTP/1.1 for a proxy that breaks it."""

from __future__ import annotations

import asyncio
import socket
import struct
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Message:
    """A request or an answer."""

    start: str
    fields: dict[str, str]
    body: bytes = b""

    @property
    def method(self) -> str:
        return self.start.split(" ")[0]

    @property
    def path(self) -> str:
        return self.start.split(" ")[1]

    @property
    def yes(self) -> bool:
        """Whether this answer of a stand-in says that something was done."""
        return self.start.split(" ")[1].startswith("2") and b'"success":false' not in self.body

    def head(self, length: int) -> bytes:
        """The head, with a body of so many bytes announced, and the connection's end after it."""
        fields = self.fields | {"content-length": str(length), "connection": "close"}
        lines = [self.start, *(f"{name}: {value}" for name, value in fields.items()), "", ""]
        return "\r\n".join(lines).encode("latin-1")

    def raw(self) -> bytes:
        return self.head(len(self.body)) + self.body


def answer(status: str, body: bytes = b"", **fields: str) -> Message:
    return Message(f"HTTP/1.1 {status}", {"content-type": "application/json"} | fields, body)


async def read_message(reader: asyncio.StreamReader) -> Message:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    start, *lines = head.strip().split("\r\n")
    fields = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    return Message(start, fields, await reader.readexactly(int(fields.get("content-length", "0"))))


@dataclass(frozen=True, slots=True)
class Line:
    """The connection to whoever asked."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    async def send(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()

    def reset(self) -> None:
        """Break off with an RST, as a machine does that lost its power and came back."""
        self.writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.writer.transport.abort()

    async def given_up(self) -> None:
        """Wait until the other side has closed."""
        await self.reader.read()


def bound(port: int) -> socket.socket:
    """A socket at *port* of loopback, or at a free one where it is 0; others of ours may be bound there too."""
    found = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    found.bind(("127.0.0.1", port))
    return found
