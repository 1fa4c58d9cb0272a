"""The base URL of a service, and the URLs under it.

Two traps, both measured, that this closes: an absolute URL would send the key to another host; ``..`` survives
percent-encoding and would turn the deletion of a rule into the deletion of its parent.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import quote, urlsplit

import ada_url
import httpx

Address = ipaddress.IPv4Address | ipaddress.IPv6Address


class BadUrl(ValueError):
    """A URL that nothing must be sent to; the text says why."""


@dataclass(frozen=True, slots=True)
class Base:
    """The URL that all URLs of a service begin with."""

    scheme: str
    netloc: str
    path: str

    def url(self, segments: Sequence[str], query: Mapping[str, str] | None = None, *, slash: bool = False) -> httpx.URL:
        """Return the URL of *segments*, each percent-encoded, under the base. Raises BadUrl where normalisation changes it."""
        path = "/".join([self.path.rstrip("/"), *(quote(part, safe="@") for part in segments)]) + "/" * slash
        url = httpx.URL(f"{self.scheme}://{self.netloc}{path}", params=dict(query) if query else None)
        raw = url.raw_path.split(b"?")[0].decode("ascii")
        strange = [part for part in segments if part in {"", ".", ".."}]
        if strange or raw != path or url.netloc.decode("ascii") != self.netloc:
            raise BadUrl("the address of the request came out different from what was meant")
        return url


def checked_base(base_url: str, *, insecure_http: bool) -> Base:
    """Return the parts of a service's base URL; raises BadUrl for one that a key must not be sent to."""
    try:
        parts = urlsplit(base_url.strip())
        host, read_as = parts.hostname, ada_url.URL(base_url.strip()).hostname.strip("[]")
        netloc = httpx.URL(f"{parts.scheme}://{parts.netloc}/").netloc.decode("ascii")
    except (ValueError, httpx.InvalidURL):
        raise BadUrl("this is not a URL") from None  # it may hold a password, so its text must not be shown
    if parts.scheme not in {"http", "https"} or not host:
        raise BadUrl("this is not an http or https URL")
    if parts.username is not None or parts.password is not None or parts.query or parts.fragment:
        raise BadUrl("remove the user, query or fragment from the URL")
    if _address(read_as) != _address(host):
        raise BadUrl(f"{host} is another way to write {read_as}: write that")
    if parts.scheme == "http" and not insecure_http and not is_loopback(host):
        raise BadUrl(f"{host} would get the key unencrypted: use https, or set INSECURE_HTTP=true")
    return Base(parts.scheme, netloc, parts.path)


def _address(host: str) -> Address | None:
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None


def is_loopback(host: str) -> bool:
    """Whether *host*, a name or an IP address, is this machine itself."""
    if (address := _address(host)) is not None:
        return address.is_loopback
    return host == "localhost" or host.endswith(".localhost")
