"""Failpoints in the handlers: steps at which a drill may kill the process, told from outside of the production code.

Those within a change are calls in `bot.changes`, which `bot.server.app.Timing` is given.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

from bot.changes.execute import Failpoint
from bot.store.inbox import Inbox
from handlers.changes.cards import Cards
from handlers.slack.dispatch import Dispatcher
from handlers.slack.listeners import Router

STEPS: Final[tuple[tuple[type, str, str, str], ...]] = (
    (Dispatcher, "admit_again", "store", ""),
    (Inbox, "take_in", "", "acknowledge"),
    (Router, "_do", "run", ""),
    (Inbox, "mark_done", "finish", ""),
    (Cards, "_post", "post", "posted"),
    (Cards, "_edit", "edit", ""),
    (Cards, "_notify", "notify", ""),
)
"""Classes, their methods, and the names of the steps right before and right after a call."""


@contextmanager
def failing(failpoint: Failpoint) -> Iterator[None]:
    """Call *failpoint* with the name of each step that is reached within the block."""
    methods = [getattr(owner, name) for owner, name, _, _ in STEPS]
    for (owner, name, before, after), method in zip(STEPS, methods, strict=True):
        setattr(owner, name, _told(method, failpoint, before, after))
    try:
        yield
    finally:
        for (owner, name, _, _), method in zip(STEPS, methods, strict=True):
            setattr(owner, name, method)


def _told(method: Callable[..., Any], failpoint: Failpoint, before: str, after: str) -> Callable[..., Any]:
    @functools.wraps(method)
    async def told(*arguments: Any, **named: Any) -> Any:
        if before:
            failpoint(before)
        result = await method(*arguments, **named)
        if after:
            failpoint(after)
        return result

    return told
