"""What an app may use only for a short time: triggers and response URLs (facts 4.2)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

from sandbox.slack.ids import Ids
from sandbox.slack.people import TEAM
from sandbox.slack.records import Refused

TRIGGER_LIFE: Final = 3.0
RESPONSE_LIFE: Final = 1800.0
RESPONSE_USES: Final = 5


@dataclass(slots=True)
class Trigger:
    """The right to open one modal for *user*; *inside*: it came from a modal, so it may push onto it."""

    user: str
    expires: float
    inside: bool = False
    used: bool = False


@dataclass(slots=True)
class ResponseUrl:
    """Where an app may answer one request. *source*: the app's message that was used; *command*: what was typed."""

    user: str
    channel: str
    expires: float
    source: str | None = None
    command: str | None = None
    uses: int = 0


@dataclass(slots=True)
class Passes:
    """Gives out triggers and response URLs, and takes them back once. *clock* in seconds since 1970."""

    ids: Ids
    clock: Callable[[], float]
    triggers: dict[str, Trigger] = field(default_factory=dict)
    response_urls: dict[str, ResponseUrl] = field(default_factory=dict)

    def new_trigger(self, user: str, *, inside: bool = False) -> str:
        name = f"{self.ids.number()}.{TEAM['id']}.{user.lower()}"
        self.triggers[name] = Trigger(user, self.clock() + TRIGGER_LIFE, inside)
        return name

    def use_trigger(self, name: Any) -> Trigger:
        """The trigger of that name, now used. Refused where it is unknown, used already, or over three seconds old."""
        trigger = self.triggers.get(str(name))
        if trigger is None:
            raise Refused("invalid_trigger_id")
        if trigger.used:
            raise Refused("exchanged_trigger_id")
        if self.clock() > trigger.expires:
            raise Refused("expired_trigger_id")
        trigger.used = True
        return trigger

    def new_response_url(
        self, user: str, channel: str, *, source: str | None = None, command: str | None = None
    ) -> str:
        """The name of a new response URL."""
        name = f"{TEAM['id']}/{self.ids.number()}"
        self.response_urls[name] = ResponseUrl(user, channel, self.clock() + RESPONSE_LIFE, source, command)
        return name

    def response_url(self, name: str) -> ResponseUrl:
        """The response URL of that name. Refused after half an hour or five uses; the caller counts the use."""
        url = self.response_urls.get(name)
        if url is None or self.clock() > url.expires:
            raise Refused("expired_url")
        if url.uses >= RESPONSE_USES:
            raise Refused("used_url")
        return url
