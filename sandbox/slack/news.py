"""Who watches, and what they hear: every change, and every request between Slack and the app."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final

from sandbox.slack.ids import Ids

KEPT: Final = 500
SECRETS: Final = frozenset(
    {"token", "access_token", "refresh_token", "client_secret", "signing_secret", "authorization"}
)

Event = dict[str, Any]


@dataclass(slots=True)
class News:
    """Tells watchers what happens. *clock* in seconds since 1970."""

    ids: Ids
    clock: Callable[[], float]
    traffic: deque[Event] = field(default_factory=lambda: deque(maxlen=KEPT))
    _watchers: list[tuple[str | None, asyncio.Queue[Event]]] = field(default_factory=list)

    @contextmanager
    def watching(self, user: str | None = None) -> Iterator[asyncio.Queue[Event]]:
        """What *user* may hear from now on; everything, where it is nobody in particular."""
        queue: asyncio.Queue[Event] = asyncio.Queue()
        watcher = (user, queue)
        self._watchers.append(watcher)
        try:
            yield queue
        finally:
            self._watchers.remove(watcher)

    def tell(self, event: Event, *, only: Collection[str] | None = None) -> None:
        """Let the watchers know; *only* these people, where it is not for all."""
        for user, queue in self._watchers:
            if user is None or only is None or user in only:
                queue.put_nowait(event)

    def note(self, direction: str, what: str, status: object, ms: float, request: Any, response: Any) -> None:
        """Write down one request and its answer for the inspector, without secrets."""
        entry = {
            "id": self.ids.number(),
            "at": self.clock(),
            "direction": direction,
            "what": what,
            "status": status,
            "ms": round(ms, 1),
            "request": without_secrets(request),
            "response": without_secrets(response),
        }
        self.traffic.append(entry)
        self.tell({"type": "traffic", "entry": entry})


def without_secrets(value: Any) -> Any:
    """*value* with every token left out, however deep."""
    if isinstance(value, dict):
        return {name: without_secrets(one) for name, one in value.items() if name not in SECRETS}
    return [without_secrets(one) for one in value] if isinstance(value, list) else value
