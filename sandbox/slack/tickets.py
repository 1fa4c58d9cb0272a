"""Triggers and response URLs: what an app gets with a request and may use for a limited time."""

from __future__ import annotations

from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Final

from sandbox.slack.refusal import Refused

TRIGGER_LIFE: Final = 3.0
RESPONSE_LIFE: Final = 1800.0
"""Seconds that a trigger, and a response URL, is valid."""
RESPONSE_USES: Final = 5
TAB: Final[ContextVar[str]] = ContextVar("tab", default="")
"""The browser tab in which a person acts now; empty for anyone who acts without one."""


@dataclass(slots=True)
class Trigger:
    """The permission to open one modal for a person, until the clock says *expires*."""

    user: str
    expires: float
    tab: str = field(default_factory=TAB.get)
    """The browser tab in which the modal is shown."""
    is_in_modal: bool = False
    """Whether it comes from an act in a modal, on which another one may be pushed."""
    used: bool = False

    def use(self, now: float) -> str:
        """Use it up and return its person; raises Refused where it was used before, or has expired."""
        if self.used:
            raise Refused("exchanged_trigger_id")
        if now > self.expires:
            raise Refused("expired_trigger_id")
        self.used = True
        return self.user


@dataclass(slots=True)
class ResponseUrl:
    """Where an app may answer one request: five times, for half an hour."""

    user: str
    channel: str
    expires: float
    source: str | None = None
    uses: int = 0
    typed: str = ""
    """The command that it is for, until a public answer has shown it."""
