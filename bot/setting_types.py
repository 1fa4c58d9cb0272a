"""The types that settings have: how a value is read from text, and what is wrong with one that can't be taken.

Checks that need other settings are in ``bot/settings.py``; only a URL has to know whether http is allowed.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, BeforeValidator, Field, SecretStr, ValidationInfo
from pydantic_settings import NoDecode

from bot.members.model import SITE_ID


def split_commas(text: str) -> tuple[str, ...]:
    """Return the parts of *text* between commas, without the blanks around them and without empty ones."""
    return tuple(part.strip() for part in text.split(",") if part.strip())


def _pairs(text: str) -> dict[str, str]:
    """Return ``name=value,name=value`` as a mapping in the order given; a value may hold ``=``.

    Raises ValueError for a name that comes twice: one of its values would be ignored.
    """
    found: dict[str, str] = {}
    for part in split_commas(text):
        name, _, value = map(str.strip, part.partition("="))
        if name in found:
            raise ValueError(f"has “{name}” twice")
        found[name] = value
    return found


def _keys_by_site(value: Any) -> Any:
    return _pairs(value) if isinstance(value, str) else value


def _ids_by_site(value: Any) -> Any:
    """Return the sites with their ids; a site that is named without an id has its name as its id."""
    return {name: site or name for name, site in _pairs(value).items()} if isinstance(value, str) else value


def _require_site_ids(sites: dict[str, str]) -> dict[str, str]:
    if not sites:
        raise ValueError("names no site")
    names: dict[str, str] = {}
    for number, (name, site) in enumerate(sites.items(), 1):
        if not name or not SITE_ID.fullmatch(site):  # not quoted: somebody may have put the key there
            raise ValueError(f"has an entry, number {number}, that is not a name and an id of letters, digits, _ and -")
        if (other := names.setdefault(site, name)) != name:
            raise ValueError(f"has “{other}” and “{name}” for the same site, “{site}”")
    return sites


def _require_replaced(value: SecretStr) -> SecretStr:
    """Return *value*; raises ValueError where it is still the placeholder of the example."""
    if "…" in value.get_secret_value():
        raise ValueError("is still the placeholder of .env.example")
    return value


def _require_sendable(value: SecretStr) -> SecretStr:
    """Return *value* without blanks around it; raises ValueError where a header can't carry it."""
    text = value.get_secret_value().strip()
    if not text.isascii() or not text.isprintable():
        raise ValueError("has a character that can't be sent in a header")
    return SecretStr(text)


def _require_secure_url(url: str, info: ValidationInfo) -> str:
    from bot.clients.urls import BadUrl, checked_base  # noqa: PLC0415  wrong settings answer without it

    try:
        checked_base(url, insecure_http=info.data.get("insecure_http", True))
    except BadUrl as error:
        raise ValueError(str(error)) from None
    return url


def _with_slash(url: str) -> str:
    return url.rstrip("/") + "/"


def _require_proxy_url(url: str) -> str:
    with suppress(ValueError):  # not a number: the text may be part of a password
        parts = urlsplit(url)
        rest = parts.path.strip("/") or parts.query or parts.fragment
        if parts.scheme == "http" and parts.hostname and parts.port and not rest:
            return url
    raise ValueError("is not a URL such as http://proxy.example.com:3128")


def _require_certificates(path: str) -> str:
    import ssl  # noqa: PLC0415  wrong settings answer without it

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    try:
        context.load_verify_locations(path)
    except ssl.SSLError:
        raise ValueError(f"{path} holds no certificate that can be read") from None
    except OSError as error:
        raise ValueError(f"{path} can't be read: {error.strerror}") from None
    return path


Replaced = Annotated[SecretStr, AfterValidator(_require_replaced)]
"""A secret that is never sent, so it may hold any character."""
Secret = Annotated[Replaced, AfterValidator(_require_sendable)]
Sites = Annotated[dict[str, str], NoDecode, BeforeValidator(_ids_by_site), AfterValidator(_require_site_ids)]
SiteKeys = Annotated[dict[str, Secret], NoDecode, BeforeValidator(_keys_by_site)]
HeaderName = Annotated[str, Field(pattern=r"^[A-Za-z0-9!#$%&'*+.^_`|~-]+$")]
ServiceUrl = Annotated[str, AfterValidator(_require_secure_url)]
SlackUrl = Annotated[ServiceUrl, AfterValidator(_with_slash)]
ProxyUrl = Annotated[str, AfterValidator(_require_proxy_url)]
CaFile = Annotated[str, AfterValidator(_require_certificates)]
LogLevel = Annotated[Literal["DEBUG", "INFO", "WARNING", "ERROR"], BeforeValidator(str.upper)]
CommandPrefix = Annotated[str, Field(pattern=r"^[a-z0-9_-]{0,22}$")]
"""The prefix of the commands; with the longest prefix, the longest command has 32 characters, which is Slack's limit."""
