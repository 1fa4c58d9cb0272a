"""Every setting of Gatehouse, once: its name in the environment, its default, its check.

Nothing else in the project reads the environment.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Annotated, Any, Final, Self
from urllib.parse import quote, unquote

from pydantic import BeforeValidator, Field, SecretStr, field_validator, model_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from bot.members.model import SITE_ID

SECRET_PARAMETERS: Final = ("pass", "pwd", "secret", "token", "key")
"""What the name of a parameter holds whose value is secret."""
SHORTEST_SECRET: Final = 4
"""Characters; cutting shorter ones out of every text would leave no text."""


def _credentials(url: str) -> Iterator[tuple[int, int]]:
    """Where *url* holds a password, and the values of secret parameters; a password may hold a slash or an ``@``."""
    host = url.find("//") + len("//")
    at = url.rfind("@", host)
    colon = url.find(":", host, max(at, host))
    if colon >= 0:
        yield colon + 1, at
    start = url.find("?", at if colon >= 0 else 0)
    for parameter in url[start:].split("&") if start >= 0 else ():
        name, equals, value = parameter.partition("=")
        if equals and any(word in name.lower() for word in SECRET_PARAMETERS):
            yield start + len(name) + 1, start + len(name) + 1 + len(value)
        start += len(parameter) + 1


def _sites(value: Any) -> Any:
    """``blog=site_1,docs=site_2`` as a mapping of name to id, in the order given."""
    if not isinstance(value, str):
        return value
    pairs = [part.partition("=") for part in value.split(",") if part.strip()]
    return {name.strip(): (site or name).strip() for name, _, site in pairs}


def _keys(value: Any) -> Any:
    """``docs=key`` as a mapping of a site's name to its key, which may hold ``=``."""
    if not isinstance(value, str):
        return value
    pairs = [part.strip().partition("=") for part in value.split(",") if part.strip()]
    return {name.strip(): key.strip() for name, _, key in pairs}


class CannotStart(Exception):
    """Gatehouse cannot run with these settings; the text says what to do."""


Prefix = Annotated[str, Field(pattern=r"^[a-z0-9_-]{0,22}$", description="acme- gives /acme-rules.")]
"""What commands begin with; with it the longest of them has 32 characters, which is Slack's most."""


class Settings(BaseSettings):
    """What a deployment decides. Variables have these names in capitals; ``.env`` in the working folder is read too."""

    model_config = SettingsConfigDict(
        env_file=".env", env_ignore_empty=True, extra="ignore", frozen=True, hide_input_in_errors=True
    )

    slack_bot_token: SecretStr = Field(description="Bot token (xoxb-…) of the installed app.")
    slack_signing_secret: SecretStr = Field(
        default=SecretStr(""), description="Signing secret of the app. During a rotation: old and new, with a comma."
    )
    slack_app_token: SecretStr | None = Field(default=None, description="App token (xapp-…). Set: Socket Mode is used.")
    slack_api_url: str = Field(default="https://slack.com/api/", description="Where Slack's Web API is.")

    rules_base_url: str = Field(description="Address of the rules service, ending in /v1.")
    rules_api_key: SecretStr = Field(description="Sent as x-api-key.")

    members_base_url: str = Field(description="Address of the membership service, ending in /api/v1.")
    members_api_key: SecretStr = Field(description="Key of the membership service.")
    members_api_keys: Annotated[dict[str, SecretStr], NoDecode, BeforeValidator(_keys)] = Field(
        default_factory=dict, description="name=key, comma separated, for sites with a key of their own."
    )
    members_auth_header: str = Field(default="Authorization", description="Header that carries the key.")
    members_auth_scheme: str = Field(default="Bearer", description="Word before the key; may be empty.")
    members_sites: Annotated[dict[str, str], NoDecode, BeforeValidator(_sites)] = Field(
        default_factory=dict, description="name=site_id, comma separated; the first is the default site."
    )
    members_segments: str = Field(
        default="", description="Segments to offer even while no member has them, comma separated."
    )

    database_url: str = Field(default="sqlite:///gatehouse.db", description="sqlite:///path or postgresql://…")
    policy_file: str | None = Field(default=None, description="TOML file of roles and guards.")
    command_prefix: Prefix = ""
    service_timeout: float = Field(default=15.0, gt=0, le=60, description="Seconds a service has for a whole answer.")
    service_max_bytes: int = Field(
        default=32 * 1024 * 1024, ge=1024, description="Largest decoded answer that is read, in bytes."
    )
    insecure_http: bool = Field(
        default=False, description="Allow http:// to services and a Slack that are not on this machine."
    )

    host: str = Field(default="127.0.0.1", description="Address to listen on.")
    port: int = Field(default=3000, ge=0, le=65535, description="Port to listen on.")
    log_level: str = Field(default="INFO", description="DEBUG, INFO, WARNING or ERROR.")
    log_format: str = Field(default="text", pattern="^(text|json)$", description="text or json.")

    @property
    def signing_secrets(self) -> tuple[str, ...]:
        """One secret, or two while a rotation overlaps."""
        parts = self.slack_signing_secret.get_secret_value().split(",")
        return tuple(part.strip() for part in parts if part.strip())

    @property
    def segments(self) -> tuple[str, ...]:
        return tuple(part.strip() for part in self.members_segments.split(",") if part.strip())

    @field_validator("slack_api_url")
    @classmethod
    def _ends_in_slash(cls, value: str) -> str:
        return value.rstrip("/") + "/"

    @field_validator("members_sites")
    @classmethod
    def _sites_fit_a_path(cls, sites: dict[str, str]) -> dict[str, str]:
        for name, site in sites.items():
            if not name or not SITE_ID.fullmatch(site):
                raise ValueError("write name=site_id, with letters, digits, _ and - in the id")
        return sites

    @model_validator(mode="after")
    def _keys_have_sites(self) -> Self:
        for name, key in self.members_api_keys.items():
            if name not in self.members_sites or not key.get_secret_value():
                raise ValueError("MEMBERS_API_KEYS: write name=key, with names that MEMBERS_SITES has")
        return self

    @model_validator(mode="after")
    def _addresses_may_get_keys(self) -> Self:
        from bot.clients.urls import BadUrl, checked_base  # noqa: PLC0415  wrong settings answer without it

        for name in ("slack_api_url", "rules_base_url", "members_base_url"):
            try:
                checked_base(getattr(self, name), insecure_http=self.insecure_http)
            except BadUrl as error:
                raise ValueError(f"{name.upper()}: {error}") from None
        return self

    def _secrets(self) -> Iterator[str]:
        for value in dict(self).values():
            for one in value.values() if isinstance(value, dict) else [value]:
                if isinstance(one, SecretStr):
                    yield one.get_secret_value()
        yield from self.signing_secrets
        for start, end in _credentials(self.database_url):
            yield self.database_url[start:end]

    @cached_property
    def _spelled_secrets(self) -> list[str]:
        """Every secret value, in each way that a text may hold it, the longest first."""
        values = {value for value in self._secrets() if len(value) >= SHORTEST_SECRET}
        spelled = {spelling for value in values for spelling in (value, quote(value, safe=""), unquote(value))}
        return sorted(spelled, key=len, reverse=True)

    def redacted(self, text: str) -> str:
        """*text*, which others wrote, without any secret of these settings."""
        for secret in self._spelled_secrets:
            text = text.replace(secret, "[secret]")
        return text

    def shown(self, name: str) -> str:
        """The setting *name* as it may be printed."""
        text = str(getattr(self, name))
        for start, end in reversed(list(_credentials(text))):
            text = text[:start] + "***" + text[end:]
        return self.redacted(text)

    def key_of(self, site: str) -> str:
        """The key for the site of that name: its own where it has one."""
        return self.members_api_keys.get(site, self.members_api_key).get_secret_value()

    @field_validator("log_level")
    @classmethod
    def _known_level(cls, value: str) -> str:
        if (level := value.upper()) not in {"DEBUG", "INFO", "WARNING", "ERROR"}:
            raise ValueError("one of DEBUG, INFO, WARNING, ERROR")
        return level

    @model_validator(mode="after")
    def _some_way_to_trust_slack(self) -> Self:
        if not self.signing_secrets and self.slack_app_token is None:
            raise ValueError("set SLACK_SIGNING_SECRET, or SLACK_APP_TOKEN for Socket Mode")
        return self


class ManifestSettings(BaseSettings):
    """The settings that stand in the manifest, which is printed before there are any others."""

    model_config = Settings.model_config

    command_prefix: Prefix = ""
