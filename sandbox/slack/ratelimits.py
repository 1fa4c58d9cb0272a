"""Rate limits: Slack's tiers, and one message a second in each channel. Off unless they are switched on."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

MINUTE: Final = 60.0
CALLS_PER_MINUTE: Final = {2: 20, 3: 50, 4: 100}
"""Calls per minute and method that each tier allows."""
TIERS: Final = {
    "usergroups.users.list": 2,
    "conversations.info": 3,
    "users.conversations": 3,
    "conversations.open": 3,
    "apps.connections.open": 3,
    "chat.update": 3,
    "chat.postEphemeral": 4,
    "conversations.members": 4,
    "users.info": 4,
    "files.info": 4,
    "files.getUploadURLExternal": 4,
    "files.completeUploadExternal": 4,
    "views.open": 4,
    "views.push": 4,
    "views.update": 4,
    "views.publish": 4,
}
SPECIAL: Final = frozenset({"auth.test", "chat.getPermalink", "chat.postMessage"})
"""Methods with a limit of their own: one message a second for chat.postMessage, and very high ones for the others."""


@dataclass(slots=True)
class RateLimits:
    """Counts calls by *clock*, in seconds."""

    clock: Callable[[], float]
    is_on: bool = False
    burst: int = 1
    """Messages that a channel takes at once before one a second is all."""
    _calls: dict[str, deque[float]] = field(default_factory=dict)

    def seconds_to_wait(self, method: str, channel: str = "") -> int:
        """Count a call; return 0 if it may be made now, else whole seconds after which it may (``Retry-After``)."""
        if not self.is_on:
            return 0
        if method == "chat.postMessage":
            return self._count_call(f"{method} {channel}", self.burst, float(self.burst))
        tier = TIERS.get(method)
        return 0 if tier is None else self._count_call(method, CALLS_PER_MINUTE[tier], MINUTE)

    def _count_call(self, key: str, most: int, seconds: float) -> int:
        now, calls = self.clock(), self._calls.setdefault(key, deque())
        while calls and calls[0] <= now - seconds:
            calls.popleft()
        if len(calls) >= most:
            return max(1, math.ceil(calls[0] + seconds - now))
        calls.append(now)
        return 0
