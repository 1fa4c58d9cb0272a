"""A proxy as companies have one, and behind it servers of this machine under names and certificates of their own."""

from __future__ import annotations

import asyncio
import base64
import ssl
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import trustme

USER, PASSWORD = "gatehouse", "canary proxy/password"
PASSWORD_ENCODED: Final = "canary%20proxy%2Fpassword"
TOKEN: Final = base64.b64encode(f"{USER}:{PASSWORD}".encode())


@dataclass(slots=True)
class ConnectProxy:
    """Opens tunnels for those who have its password, and only to the names that it knows. *url* holds the password."""

    url: str = ""
    doors: dict[str, int] = field(default_factory=dict)
    """The ports of this machine at which the names, with their ports, are."""
    asked: list[str] = field(default_factory=list)
    """Where tunnels were to lead, one for each connection."""

    async def accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError, asyncio.IncompleteReadError):
            head = await reader.readuntil(b"\r\n\r\n")
            method, target, _ = head.decode().split(" ", 2)
            self.asked.append(target)
            if b"Proxy-Authorization: Basic " + TOKEN + b"\r\n" not in head:
                writer.write(b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n")
            elif method != "CONNECT" or target not in self.doors:
                writer.write(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n")
            else:
                writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
                await _forward(self.doors[target], reader, writer)
        writer.close()


async def _forward(port: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, mark: bytes = b"") -> None:
    """Carry bytes between a connection and *port* until one of both ends; *mark*: a header for each request."""
    server, to_server = await asyncio.open_connection("127.0.0.1", port)

    async def carry(source: asyncio.StreamReader, target: asyncio.StreamWriter, mark: bytes) -> None:
        with suppress(ConnectionError, ssl.SSLError):
            while data := await source.read(65536):
                target.write(data.replace(b"\r\nHost: ", b"\r\n" + mark + b"Host: ", 1) if mark else data)
                await target.drain()
        target.close()

    await asyncio.gather(carry(reader, to_server, mark), carry(server, writer, b""))


@asynccontextmanager
async def running_proxy(folder: Path, servers: Mapping[str, str]) -> AsyncIterator[tuple[ConnectProxy, Path]]:
    """A proxy to *servers*, their URLs by the names under which they get TLS, and the file of their authority.

    The names exist nowhere else, so whoever reaches one has come through the proxy.
    """
    authority, proxy = trustme.CA(), ConnectProxy()
    ca_file = folder / "ca.pem"
    authority.cert_pem.write_to_path(ca_file)
    async with AsyncExitStack() as stack:
        for name, url in servers.items():
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            authority.issue_cert(name).configure_cert(context)
            end_tls = partial(_forward, urlsplit(url).port or 0, mark=b"X-Forwarded-Proto: https\r\n")
            door = await stack.enter_async_context(await asyncio.start_server(end_tls, "127.0.0.1", 0, ssl=context))
            proxy.doors[f"{name}:443"] = door.sockets[0].getsockname()[1]
        listener = await stack.enter_async_context(await asyncio.start_server(proxy.accept, "127.0.0.1", 0))
        proxy.url = f"http://{USER}:{PASSWORD_ENCODED}@127.0.0.1:{listener.sockets[0].getsockname()[1]}"
        yield proxy, ca_file
