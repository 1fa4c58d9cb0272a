"""The registry of handlers, filled by the decorator of each handler.

Bolt tries its listeners one by one, so it gets one listener per kind of payload; this registry then finds the handler in one
look-up, however many commands there are.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pkgutil import walk_packages
from typing import Any, Final, Generic, TypeVar

import handlers
from bot.changes.model.change import Change
from bot.gatehouse import Gatehouse
from handlers.blocks.messages import Block
from handlers.blocks.modals import View, end_of_form, saving_view
from handlers.grammar.command import Command
from handlers.grammar.parser import ALL
from handlers.slack.reply import Caller, Reply

C = TypeVar("C", bound=Command)
H = TypeVar("H")
K = TypeVar("K")
R = TypeVar("R")
S = TypeVar("S")

CommandHandler = Callable[[Any, Caller, Gatehouse], Awaitable[Reply]]


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """What a click leads to, for *caller*: the same person, in another channel than where they clicked."""

    outcome: Command | Reply
    caller: Caller


Outcome = Command | Reply | Elsewhere
"""The result of an act: an answer, or a command that it stands for, which is run with its own rights."""
ClickHandler = Callable[["Click", Caller, Gatehouse], Awaitable[Outcome]]
OptionsHandler = Callable[[str, Caller, Gatehouse], Awaitable[Sequence[Block]]]
"""Gets what somebody has typed so far into a menu that asks for its options."""
ShortcutHandler = Callable[[str, Caller, Gatehouse], Awaitable[Outcome]]
"""Gets all text of the message on which somebody used the shortcut."""
EventHandler = Callable[["Heard", Caller, Gatehouse], Awaitable[Outcome | None]]


@dataclass(frozen=True, slots=True)
class Click:
    """A button, a menu or a dispatching input that somebody used. *action* is its id without version and *number*."""

    action: str
    value: str
    view: View | None = None
    number: str = ""


@dataclass(frozen=True, slots=True)
class Route(Generic[H]):
    """The handler of a click or an event."""

    run: H
    stored: bool
    """Whether it is stored first: then it is handled once, however often it is delivered, even if the process dies."""


@dataclass(frozen=True, slots=True)
class OptionsRoute:
    run: OptionsHandler
    needs: str
    """The operation that the person who types must be allowed; others are offered nothing."""


@dataclass(frozen=True, slots=True)
class Heard:
    """An event from Slack. *us*: the bot's own user id."""

    event: Mapping[str, Any]
    us: str


@dataclass(frozen=True, slots=True)
class Recorded:
    """A change that a form has recorded, to be applied next. *end*: the view that the form shows if it is still open.

    Where that view says that nothing was saved, a person whose form is closed is told so privately.
    """

    change: Change
    end: Callable[[Change], View] = end_of_form


@dataclass(frozen=True, slots=True)
class Form(Generic[S]):
    """How submissions of one kind of modal are handled: *read* parses one, and the others get what it returns.

    *errors* checks it before it is stored, and returns words by block id; it is pure and quick. *save* checks the rest, and
    returns the view to show, a command whose answer is shown, or what it recorded, and then the modal closes.
    *working*: the view to show while that takes long.
    """

    read: Callable[[View], S]
    save: Callable[[S, Caller, Gatehouse], Awaitable[View | Recorded | Command]]
    errors: Callable[[S], dict[str, str]] = field(default=lambda _: {})
    working: Callable[[View], View] = saving_view


# The three differ only in where the answer goes.
RUNNING: Final = frozenset({"run", "turn", "share"})
"""Actions that stand for a command: the value is its text."""

COMMANDS: Final[dict[type[Command], CommandHandler]] = {}
CLICKS: Final[dict[str, Route[ClickHandler]]] = {}
FORMS: Final[dict[str, Form[Any]]] = {}
OPTIONS: Final[dict[str, OptionsRoute]] = {}
SHORTCUTS: Final[dict[str, ShortcutHandler]] = {}
EVENTS: Final[dict[str, Route[EventHandler]]] = {}


def load() -> None:
    """Import every module of `handlers`, so that the decorated functions of all of them are in the tables.

    Raises NotImplementedError where a command has no handler: nobody should learn of it from a message.
    """
    for module in walk_packages(handlers.__path__, "handlers."):
        import_module(module.name)
    if missing := [kind.__name__ for kind in ALL if kind not in COMMANDS]:
        raise NotImplementedError(f"Commands without a handler: {', '.join(missing)}.")


def _register_in(table: dict[K, R], key: K, route: Callable[[H], R]) -> Callable[[H], H]:
    """Return the decorator that puts the *route* to a handler into *table* under *key*."""

    def register(handler: H) -> H:
        table[key] = route(handler)
        return handler

    return register


def handles(command: type[C]) -> Callable[[Callable[[C, Caller, Gatehouse], Awaitable[Reply]]], CommandHandler]:
    """Register the function as the handler of *command*."""

    def register(handler: Callable[[C, Caller, Gatehouse], Awaitable[Reply]]) -> CommandHandler:
        COMMANDS[command] = handler
        return handler

    return register


def clicks(action: str, *, stored: bool = False) -> Callable[[ClickHandler], ClickHandler]:
    """Register the function as the handler of clicks on *action*; *stored*: as in `Route`."""
    return _register_in(CLICKS, action, lambda handler: Route(handler, stored))


def offers(action: str, *, needs: str) -> Callable[[OptionsHandler], OptionsHandler]:
    """Register the function that offers options for what is typed into the menu *action*; *needs*: as in `OptionsRoute`."""
    return _register_in(OPTIONS, action, lambda handler: OptionsRoute(handler, needs))


def shortcut(callback_id: str) -> Callable[[ShortcutHandler], ShortcutHandler]:
    """Register the function as the handler of this shortcut of the manifest."""
    return _register_in(SHORTCUTS, callback_id, lambda handler: handler)


def hears(event: str, *, stored: bool = True) -> Callable[[EventHandler], EventHandler]:
    """Register the function as the handler of *event*, by its name in the manifest; *stored*: as in `Route`."""
    return _register_in(EVENTS, event, lambda handler: Route(handler, stored))


def submits(callback_id: str, form: Form[Any]) -> None:
    """Register *form* for submissions of modals with this callback id."""
    FORMS[callback_id] = form


def action_name(action_id: str) -> str | None:
    """Return the name in an action id, ``v1.run.3`` -> ``run``; None for a button that this release doesn't know."""
    return _known_name(action_id, CLICKS.keys() | RUNNING)


def menu_name(action_id: str) -> str | None:
    """Return the same for a menu that asks for its options."""
    return _known_name(action_id, OPTIONS.keys())


def _known_name(action_id: str, names: Collection[str]) -> str | None:
    version, _, rest = action_id.partition(".")
    name = rest.partition("#")[0]
    while name and name not in names:
        name = name.rpartition(".")[0]
    return name or None if version == "v1" else None


def find_event(event: Mapping[str, Any]) -> Route[EventHandler] | None:
    """Return the route of *event*; None for messages by bots, and for edited or deleted messages."""
    if event.get("bot_id") or event.get("subtype") not in {None, "file_share"}:
        return None
    name = str(event.get("type") or "")
    return EVENTS.get(f"message.{event.get('channel_type')}" if name == "message" else name)
