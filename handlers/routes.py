"""The table of what Gatehouse answers to, filled by decorators beside each handler.

Bolt looks at its listeners one by one, so it gets one listener per kind of payload and this table does the rest
in one look-up, however many commands there are.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from bot.gatehouse import Gatehouse
from handlers.commands import Command
from handlers.reply import Caller, Reply, View

C = TypeVar("C", bound=Command)

CommandHandler = Callable[[Any, Caller, Gatehouse], Awaitable[Reply]]
ClickHandler = Callable[["Click", Caller, Gatehouse], Awaitable[Reply]]


@dataclass(frozen=True, slots=True)
class Click:
    """A button, a menu or a dispatching input that somebody used. *action* is its id without version and number."""

    action: str
    value: str
    view: View | None = None


@dataclass(frozen=True, slots=True)
class ClickRoute:
    run: ClickHandler
    stored: bool
    """Whether it could change something, and so is on disk before Slack hears that we have it."""


@dataclass(frozen=True, slots=True)
class Form:
    """How one kind of modal is taken in.

    *errors* looks at a submission before it is acknowledged: block id -> words, pure and quick.
    *working* is what the modal shows meanwhile, *save* does the work and returns what it shows in the end.
    """

    errors: Callable[[View], dict[str, str]]
    working: Callable[[View], View]
    save: Callable[[View, Caller, Gatehouse], Awaitable[View]]


RUNNING: Final = frozenset({"run", "turn", "share"})
"""Actions that stand for a command: the value is its text."""

COMMANDS: Final[dict[type[Command], CommandHandler]] = {}
CLICKS: Final[dict[str, ClickRoute]] = {}
FORMS: Final[dict[str, Form]] = {}


def handles(command: type[C]) -> Callable[[Callable[[C, Caller, Gatehouse], Awaitable[Reply]]], CommandHandler]:
    """Make the function the one that answers *command*."""

    def keep(handler: Callable[[C, Caller, Gatehouse], Awaitable[Reply]]) -> CommandHandler:
        COMMANDS[command] = handler
        return handler

    return keep


def clicks(action: str, *, stored: bool = False) -> Callable[[ClickHandler], ClickHandler]:
    """Make the function the one that answers clicks on *action*."""

    def keep(handler: ClickHandler) -> ClickHandler:
        CLICKS[action] = ClickRoute(handler, stored)
        return handler

    return keep


def submits(callback_id: str, form: Form) -> None:
    """Make *form* the one that takes submissions of modals with this callback id."""
    FORMS[callback_id] = form


def action_name(action_id: str) -> str | None:
    """``v1.run.3`` -> ``run``; None for the buttons of a release that this one does not know."""
    version, _, rest = action_id.partition(".")
    name = rest.partition("#")[0]
    while name and name not in CLICKS and name not in RUNNING:
        name = name.rpartition(".")[0]
    return name or None if version == "v1" else None


def find_form(callback_id: str) -> Form | None:
    return FORMS.get(callback_id)
