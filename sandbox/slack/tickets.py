"""What an app is handed with a request, to do something with for a while: triggers and response URLs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from sandbox.slack.refusal import Refused

TRIGGER_LIFE: Final = 3.0
RESPONSE_LIFE: Final = 1800.0
"""Seconds, both."""
RESPONSE_USES: Final = 5


@dataclass(slots=True)
class Trigger:
    """Leave to open one modal for a person, until the clock says *expires*."""

    user: str
    expires: float
    used: bool = False

    def use(self, now: float) -> str:
        """Whose it is; refused where it was used before, or it is too late."""
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
