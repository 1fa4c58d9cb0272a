"""Define every setting: its name, its type, its default, and how to fix a wrong value."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from dotenv import dotenv_values
from pydantic import Field, SecretStr, ValidationInfo, field_validator
from pydantic_settings import BaseSettings, DotEnvSettingsSource, PydanticBaseSettingsSource, SettingsConfigDict

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


ENV_FILE: Final = ".env"


def read_env_file(path: Path) -> Mapping[str, str | None]:
    """Return the variables of *path* as written: a ``$`` in a value is not expanded, since keys may contain one."""
    return dotenv_values(path, encoding="utf-8", interpolate=False)


class _EnvFile(DotEnvSettingsSource):
    def _load_env_vars(self) -> Mapping[str, str | None]:
        if not isinstance(self.env_file, str) or not (path := Path(self.env_file)).is_file():
            return {}
        return {name.lower(): value for name, value in read_env_file(path).items() if value}


class Variables(BaseSettings):
    """Settings that variables hold: those of the environment, then those of ``.env``."""

    model_config = SettingsConfigDict(
        env_file=ENV_FILE, env_ignore_empty=True, extra="ignore", frozen=True, hide_input_in_errors=True
    )

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        file = dotenv_settings.env_file if isinstance(dotenv_settings, DotEnvSettingsSource) else None
        return init_settings, env_settings, _EnvFile(settings_cls, env_file=file), file_secret_settings


def setting(description: str, *, mend: str, **field: Any) -> Any:
    """Define a setting by what it is and what to do about a wrong value; *field* is what pydantic's `Field` takes besides."""
    return Field(description=description, json_schema_extra={"mend": mend}, **field)


class Settings(Variables):
    """The settings of a deployment. Variables have these names in capitals; ``.env`` in the working folder is read, too."""

    insecure_http: bool = setting(  # comes first: the validators of the URLs read it
        "Allow http:// to services and a Slack that are not on this machine.",
        mend="Write true or false.",
        default=False,
    )

    slack_bot_token: Secret = setting(
        "Bot token (xoxb-…) of the installed app.",
        mend="Copy the Bot User OAuth Token of the installed app from its page OAuth & Permissions; it begins with xoxb-.",
    )
    slack_app_token: Secret | None = setting(
        "App token (xapp-…). Set: Socket Mode is used.",
        mend="Make an app-level token with the scope connections:write on the app's page Basic Information; "
        "it begins with xapp-.",
        default=None,
    )
    slack_signing_secret: Replaced = setting(
        "Signing secret of the app; not needed with SLACK_APP_TOKEN. During a rotation: old and new, with a comma.",
        mend="Copy the Signing Secret from the app's page Basic Information, or set SLACK_APP_TOKEN for Socket Mode.",
        default=SecretStr(""),
        validate_default=True,
    )
    slack_api_url: SlackUrl = setting(
        "Where Slack's Web API is.",
        mend="Leave it out to use Slack itself, or write a URL such as https://slack.com/api/.",
        default="https://slack.com/api/",
    )

    rules_base_url: ServiceUrl = setting(
        "Address of the rules service, ending in /v1.",
        mend="Write the URL of the rules service, such as https://rules.example.com/v1.",
    )
    rules_api_key: Secret = setting("Sent as x-api-key.", mend="Write a key that the rules service takes.")

    rules_requests_per_minute: int | None = setting(
        "Most requests a minute from each process to the rules service. Unset: no limit.",
        mend="Write a number, 10 or more, or leave it out for no limit.",
        default=None,
        ge=10,
    )

    members_base_url: ServiceUrl = setting(
        "Address of the membership service, ending in /api/v1.",
        mend="Write the URL of the membership service, such as https://members.example.com/api/v1.",
    )
    members_api_key: Secret = setting(
        "Key of the membership service.", mend="Write a key that the membership service takes."
    )
    members_auth_header: HeaderName = setting(
        "Header that carries the key.",
        mend="Write the name of a header, such as Authorization.",
        default="Authorization",
    )
    members_auth_scheme: str = setting(
        "Word before the key; may be empty.",
        mend="Write one word, such as Bearer, or leave it out.",
        default="Bearer",
        pattern=r"^[!-~]*$",
    )
    members_sites: Sites = setting(
        "name=site_id, comma separated; the first is the default site.",
        mend="Write name=site_id, comma separated, such as blog=site_1,docs=site_2.",
    )
    members_api_keys: SiteKeys = setting(
        "name=key, comma separated, for sites with a key of their own.",
        mend="Write name=key with names of MEMBERS_SITES, comma separated, such as docs=KEY.",
        default_factory=dict,
    )
    members_requests_per_minute: int | None = setting(
        "The same for the membership service, all sites together.",
        mend="Write a number, 10 or more, or leave it out for no limit.",
        default=None,
        ge=10,
    )
    members_segments: str = setting(
        "Segments to offer even while no member has them, comma separated.",
        mend="Write names of segments, comma separated.",
        default="",
    )

    list_fields_to_ignore: str = setting(
        "Fields and headers of both services' lists that say nothing about more records, comma separated.",
        mend="Write the names that messages show, comma separated, such as quota.total.",
        default="",
    )

    database_url: str = setting(
        "sqlite:///path or postgresql://…",
        mend="Write sqlite:///gatehouse.db, or postgresql://user:password@host/name.",
        default="sqlite:///gatehouse.db",
    )
    policy_file: str | None = setting(
        "TOML file of roles and guards.", mend="Write the path of a TOML file, or leave it out.", default=None
    )
    command_prefix: CommandPrefix = setting(
        "acme- gives /acme-rules.", mend="Write at most 22 small letters, digits, - and _, such as acme-.", default=""
    )
    service_timeout: float = setting(
        "Seconds a service has for a whole answer.",
        mend="Write seconds: more than 0 and at most 60, such as 15.",
        default=15.0,
        gt=0,
        le=60,
    )
    service_max_bytes: int = setting(
        "Largest decoded answer that is read, in bytes, and 12 times the number of JSON values in it. Of a refusal, 64 KiB are "
        "read. Give a pod or a service 256 MiB of memory and 16 times this (768 MiB as it is): that holds ordinary rules with "
        "all that is made of them, and the worst answer.",
        mend="Write bytes: 1024 or more, such as 33554432.",
        default=32 * 1024 * 1024,
        ge=1024,
    )

    outgoing_proxy: ProxyUrl | None = setting(
        "Proxy to Slack and both services: http://[user:password@]host:port. Never used for this machine.",
        mend="Write http://host:port, or http://user:password@host:port with the password percent-encoded.",
        default=None,
    )
    outgoing_proxy_except: str = setting(
        "Hosts to reach without the proxy, comma separated; .example.com means all its subdomains.",
        mend="Write names of hosts, comma separated, such as rules.example.com,.internal.example.com.",
        default="",
    )
    ca_file: CaFile | None = setting(
        "PEM file of extra certificate authorities to trust for Slack and both services.",
        mend="Write the path of a PEM file that Gatehouse may read, or leave it out.",
        default=None,
    )

    host: str = setting(
        "Address to listen on.",
        mend="Write the address of a network interface, such as 127.0.0.1.",
        default="127.0.0.1",
    )
    port: int = setting(
        "Port to listen on.", mend="Write a number from 0 to 65535, such as 3000.", default=3000, ge=0, le=65535
    )
    log_level: LogLevel = setting(
        "DEBUG, INFO, WARNING or ERROR.", mend="Write DEBUG, INFO, WARNING or ERROR.", default="INFO"
    )
    log_format: str = setting("text or json.", mend="Write text or json.", default="text", pattern="^(text|json)$")

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
                raise ValueError(f"has “{name}”, which is not one of the names that MEMBERS_SITES has")
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
        elif isinstance(value, (list, tuple)):
            value = ", ".join(map(str, value))
        return "" if value is None else self.redact(without_passwords(str(value)))


def _mend_of(name: str) -> str:
    extra = Settings.model_fields[name].json_schema_extra
    return str(extra["mend"]) if isinstance(extra, dict) else ""


MEND: Final[Mapping[str, str]] = {name: _mend_of(name) for name in Settings.model_fields}
"""What to do about a wrong value of each setting."""
SECRET_SETTINGS: Final = frozenset(
    name for name, field in Settings.model_fields.items() if SecretStr.__name__ in repr(field.annotation)
)
"""The settings whose whole value is secret."""
