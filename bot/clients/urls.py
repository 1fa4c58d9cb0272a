"""Where a service is, and the addresses of what it has.

Measured traps that this closes: an absolute URL would carry the key to another host; ``..`` survives percent-encoding
and would turn the deletion of a rule into the deletion of its parent.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote, urlsplit

import ada_url
import httpx

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

FORBIDDEN: Final = [
    ipaddress.ip_network(net)
    for net in (
        "169.254.0.0/16",  # link-local, where most clouds have their metadata
        "100.100.100.200/32",  # Alibaba's
        "168.63.129.16/32",  # Azure's
        "192.0.0.192/32",  # Oracle's
        "fe80::/10",
        "fd00:ec2::254/128",  # Amazon's
        "fd20:ce::254/128",  # Google's
    )
]
"""Where a cloud hands out credentials to anyone who asks, and what is on no network but the nearest."""
METADATA_NAMES: Final = {
    "instance-data",
    "instance-data.ec2.internal",
    "metadata",
    "metadata.goog",
    "metadata.google.internal",
    "metadata.azure.com",
    "metadata.azure.internal",
    "metadata.tencentyun.com",
}
TRANSLATED: Final = {
    ipaddress.IPv6Network("::/96"): 0,
    ipaddress.IPv6Network("::ffff:0:0/96"): 0,
    ipaddress.IPv6Network("::ffff:0:0:0/96"): 0,
    ipaddress.IPv6Network("64:ff9b::/96"): 0,
    ipaddress.IPv6Network("64:ff9b:1::/48"): 0,
    ipaddress.IPv6Network("2002::/16"): 80,
}
"""IPv6 networks whose addresses hold an IPv4 address, and by how many bits it is shifted."""


class BadUrl(ValueError):
    """An address that nothing must be sent to; the text says why."""


@dataclass(frozen=True, slots=True)
class Base:
    """The address that all of a service's begin with."""

    scheme: str
    netloc: str
    path: str

    def url(self, segments: Sequence[str], query: Mapping[str, str] | None = None, *, slash: bool = False) -> httpx.URL:
        """The base and *segments*, each encoded whole. Raises BadUrl where normalisation made anything else of it."""
        path = "/".join([self.path.rstrip("/"), *(quote(part, safe="@") for part in segments)]) + "/" * slash
        url = httpx.URL(f"{self.scheme}://{self.netloc}{path}", params=dict(query) if query else None)
        raw = url.raw_path.split(b"?")[0].decode("ascii")
        strange = [part for part in segments if part in {"", ".", ".."}]
        if strange or raw != path or url.netloc.decode("ascii") != self.netloc:
            raise BadUrl("the address of the request came out different from what was meant")
        return url


def checked_base(base_url: str, *, insecure_http: bool) -> Base:
    """The parts of a service's address; raises BadUrl for one that a key must not be sent to."""
    try:
        parts = urlsplit(base_url.strip())
        host, read_as = parts.hostname or "", ada_url.URL(base_url.strip()).hostname.strip("[]")
        netloc = httpx.URL(f"{parts.scheme}://{parts.netloc}/").netloc.decode("ascii")
    except (ValueError, httpx.InvalidURL):
        raise BadUrl("this is not a URL") from None  # it may hold a password: its text goes nowhere
    if parts.scheme not in {"http", "https"} or not host:
        raise BadUrl("this is not an http or https URL")
    if parts.username is not None or parts.password is not None or parts.query or parts.fragment:
        raise BadUrl("remove the user, query or fragment from the URL")
    if _address(read_as) != _address(host):
        raise BadUrl(f"{host} is another way to write {read_as}: write that")
    if _is_forbidden(host):
        raise BadUrl(f"{host} is a link-local or metadata address, where none of our services is")
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


def _is_forbidden(host: str) -> bool:
    address = _address(host)
    if address is None:
        return host.rstrip(".") in METADATA_NAMES
    return any(
        each in net for each in (address, *_embedded(address)) for net in FORBIDDEN if each.version == net.version
    )


def _embedded(address: Address) -> Iterator[ipaddress.IPv4Address]:
    """The IPv4 addresses that an IPv6 address may be translated to."""
    if isinstance(address, ipaddress.IPv6Address):
        for net, shift in TRANSLATED.items():
            if address in net:
                yield ipaddress.IPv4Address(int(address) >> shift & 0xFFFFFFFF)
        yield from address.teredo or ()
