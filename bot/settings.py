"""Define every setting: its name, its type, its default, and what it is."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from typing import Final
from urllib.parse import urlsplit

from pydantic import Field, SecretStr, ValidationInfo, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from bot.setting_types import (
    CaFile,
    CommandPrefix,
    HeaderName,
    LogLevel,
    ProxyUrl,
    Replaced,
    Secret,
    ServiceUrl,
    SiteKeys,
    Sites,
    SlackUrl,
    split_commas,
)
from bot.text.redaction import passwords_in, redactor, without_passwords


class CannotStart(Exception):
    """Gatehouse cannot run with these settings; the text says what to do."""


class LocalSettings(BaseSettings):
    """The settings that commands need which reach neither Slack nor a service: they work while a token is not set yet."""

    model_config = SettingsConfigDict(env_ignore_empty=True, extra="ignore", frozen=True, hide_input_in_errors=True)

    database_url: str = Field(
        "sqlite:///gatehouse.db", description="sqlite:///path, or postgresql://user:password@host/name."
    )
    policy_file: str | None = Field(None, description="TOML file of roles and guards.")
    command_prefix: CommandPrefix = Field(
        "", description="acme- gives /acme-rules: at most 22 small letters, digits, - and _."
    )


class Settings(LocalSettings):
    """The settings of a deployment. Variables have these names in capitals; `bot/environment.py` reads ``.env``, too.

    A description says what a setting is, and so what to write where its value is wrong.
    """

    insecure_http: bool = Field(  # comes first: the validators of the URLs read it
        False, description="true allows http:// to services and a Slack that are not on this machine."
    )

    slack_bot_token: Secret = Field(
        description="Bot User OAuth Token (xoxb-…) of the installed app, from its page OAuth & Permissions."
    )
    slack_app_token: Secret | None = Field(
        None,
        description="App-level token (xapp-…) with the scope connections:write, from the app's page Basic Information. Set: "
        "Socket Mode is used.",
    )
    slack_signing_secret: Replaced = Field(
        SecretStr(""),
        validate_default=True,
        description="Signing Secret from the app's page Basic Information; not needed with SLACK_APP_TOKEN. During a rotation: "
        "old and new, with a comma.",
    )
    slack_api_url: SlackUrl = Field(
        "https://slack.com/api/", description="Where Slack's Web API is. Leave it out to use Slack itself."
    )

    rules_base_url: ServiceUrl = Field(
        description="URL of the rules service, ending in /v1, such as https://api2.requestly.io/v1."
    )
    rules_api_key: Secret = Field(description="Key that the rules service takes, sent as x-api-key.")

    members_base_url: ServiceUrl = Field(
        description="URL of the membership service, ending in /api/v1, such as https://api.bullet.so/api/v1."
    )
    members_api_key: Secret = Field(description="Key that the membership service takes.")
    members_auth_header: HeaderName = Field("Authorization", description="Name of the header that carries the key.")
    members_auth_scheme: str = Field(
        "Bearer", pattern=r"^[!-~]*$", description="Word before the key, such as Bearer; may be empty."
    )
    members_sites: Sites = Field(
        description="name=site_id, comma separated, such as blog=site_1,docs=site_2; the first is the default site."
    )
    members_api_keys: SiteKeys = Field(
        default_factory=dict,
        description="name=key, comma separated, for sites of MEMBERS_SITES with a key of their own, such as docs=KEY.",
    )
    members_empty_text: str = Field(
        "", description="Text of the 404 with which the service answers for a site without members."
    )
    members_segments: str = Field("", description="Segments to offer even while no member has them, comma separated.")

    list_fields_to_ignore: str = Field(
        "",
        description="Fields and headers of both services' lists that say nothing about more records, comma separated.",
    )

    service_timeout: float = Field(
        15.0, gt=0, le=60, description="Seconds that a service has for a whole answer, at most 60."
    )
    service_max_bytes: int = Field(
        32 * 1024 * 1024,
        ge=1024,
        description="Largest decoded answer that is read, in bytes, 1024 or more. Of a refusal, 64 KiB are read. Give a pod or a "
        "service 256 MiB of memory and 16 times this (768 MiB as it is): that holds ordinary rules with all that is made of "
        "them.",
    )

    outgoing_proxy: ProxyUrl | None = Field(
        None,
        description="Proxy to Slack and both services: http://host:port, or http://user:password@host:port with the password "
        "percent-encoded. Never used for this machine.",
    )
    outgoing_proxy_except: str = Field(
        "", description="Hosts to reach without the proxy, comma separated; .example.com means all its subdomains."
    )
    ca_file: CaFile | None = Field(
        None, description="PEM file of extra certificate authorities to trust for Slack and both services."
    )

    agents: bool = Field(
        False, description="true lets agents ask and propose at /mcp, as the people whom they act for."
    )

    host: str = Field("127.0.0.1", description="Address to listen on.")
    port: int = Field(3000, ge=0, le=65535, description="Port to listen on.")
    log_level: LogLevel = Field("INFO", description="DEBUG, INFO, WARNING or ERROR.")
    log_format: str = Field("text", pattern="^(text|json)$", description="text or json.")

    @property
    def signing_secrets(self) -> tuple[str, ...]:
        """The signing secret, or both during a rotation."""
        return split_commas(self.slack_signing_secret.get_secret_value())

    @property
    def segments(self) -> tuple[str, ...]:
        return split_commas(self.members_segments)

    @property
    def ignored_list_fields(self) -> frozenset[str]:
        return frozenset(name.lower() for name in split_commas(self.list_fields_to_ignore))

    @field_validator("slack_signing_secret")
    @classmethod
    def _require_slack_credential(cls, value: SecretStr, info: ValidationInfo) -> SecretStr:
        if not split_commas(value.get_secret_value()) and info.data.get("slack_app_token", "") is None:
            raise ValueError("is not set, and neither is SLACK_APP_TOKEN")
        return value

    @field_validator("members_api_keys")
    @classmethod
    def _require_known_sites(cls, keys: dict[str, SecretStr], info: ValidationInfo) -> dict[str, SecretStr]:
        for name, key in keys.items():
            if name not in info.data.get("members_sites", keys):
                raise ValueError("has a name that MEMBERS_SITES doesn't have")
            if not key.get_secret_value():
                raise ValueError(f"has no key for “{name}”")
        return keys

    def key_of(self, site: str) -> str:
        """Return the membership service's key for *site*: the site's own where it has one, else the common one."""
        return self.members_api_keys.get(site, self.members_api_key).get_secret_value()

    def proxy_for(self, url: str) -> str | None:
        """Return the proxy that leads to *url*; None where it is reached without one, as everything on this machine is."""
        from bot.clients.urls import is_loopback  # noqa: PLC0415  wrong settings answer without it

        host = urlsplit(url).hostname or ""
        names = split_commas(self.outgoing_proxy_except.lower())
        if is_loopback(host) or any(host == name or (name[0] == "." and host.endswith(name)) for name in names):
            return None
        return self.outgoing_proxy

    def _secrets(self) -> Iterator[str]:
        for value in dict(self).values():
            keys = value.values() if isinstance(value, dict) else [value]
            yield from (key.get_secret_value() for key in keys if isinstance(key, SecretStr))
        yield from self.signing_secrets
        for url in (self.database_url, self.outgoing_proxy or ""):
            yield from passwords_in(url)

    @cached_property
    def _redact(self) -> Callable[[str], str]:
        return redactor(self._secrets())

    def redact(self, text: str) -> str:
        """Return *text*, which others wrote, without any secret of these settings."""
        return self._redact(text)

    def display_value(self, name: str) -> str:
        """Return the setting *name* as it is written in a variable, without secrets; empty where it has no value."""
        value = getattr(self, name)
        if isinstance(value, dict):
            value = ", ".join(f"{key}={each}" for key, each in value.items())
        return "" if value is None else self.redact(without_passwords(str(value)))


DESCRIPTIONS: Final[Mapping[str, str]] = {name: each.description or "" for name, each in Settings.model_fields.items()}
