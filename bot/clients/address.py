"""Where a service is, and the addresses of what it has.

Measured traps that this closes: an absolute URL would carry the key to another host; ``..`` survives percent-encoding
and would turn the deletion of a rule into the deletion of its parent.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import quote, urlsplit

import httpx


class BadAddress(ValueError):
    """An address that nothing must be sent to; the text says why."""


@dataclass(frozen=True, slots=True)
class Base:
    """The address that all of a service's begin with."""

    scheme: str
    netloc: str
    path: str

    def url(self, segments: Sequence[str], query: Mapping[str, str] | None = None, *, slash: bool = False) -> httpx.URL:
        """The base and *segments*, each encoded whole. Raises BadAddress where normalisation made anything else of it."""
        path = "/".join([self.path.rstrip("/"), *(quote(part, safe="@") for part in segments)]) + "/" * slash
        url = httpx.URL(f"{self.scheme}://{self.netloc}{path}", params=dict(query) if query else None)
        raw = url.raw_path.split(b"?")[0].decode("ascii")
        strange = [part for part in segments if part in {"", ".", ".."}]
        if strange or raw != path or url.netloc.decode("ascii") != self.netloc:
            raise BadAddress("the address of the request came out different from what was meant")
        return url


def checked_base(base_url: str, *, insecure_http: bool) -> Base:
    """The parts of a service's address; raises BadAddress for one that a key must not be sent to."""
    parts = urlsplit(base_url.strip())
    host = parts.hostname or ""
    if parts.scheme not in {"http", "https"} or not host:
        raise BadAddress(f"{base_url!r} is not an http or https address")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise BadAddress("no user, query or fragment belongs into a service's address")
    if parts.scheme == "http" and not insecure_http and not _is_loopback(host):
        raise BadAddress(f"the key would travel to {host} unencrypted: use https, or set INSECURE_HTTP=true")
    if _is_link_local(host):
        raise BadAddress(f"{host} is a link-local address, which no service of ours has")
    netloc = httpx.URL(f"{parts.scheme}://{parts.netloc}/").netloc.decode("ascii")
    return Base(parts.scheme, netloc, parts.path)


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def _is_link_local(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_link_local
    except ValueError:
        return False
