"""The replies of handlers, as data; the router sends them to Slack."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from bot.changes.model.change import Change
from handlers.blocks.messages import Message
from handlers.blocks.modals import View
from handlers.grammar.command import Command
from handlers.grammar.parser import Shorthand


@dataclass(frozen=True, slots=True)
class Private:
    """A message that only the person who asked sees, unless they asked to share it."""

    message: Message
    is_doubtful: bool = False
    """Whether the text of a search may mean something else: nothing was found, or it has the words of a filter."""
    is_shareable: bool = True
    """False where a channel would get less of it: a button with an email isn't for everybody."""
    data: Mapping[str, Any] = field(default_factory=dict)
    """The ids of what it shows, for agents."""


@dataclass(frozen=True, slots=True)
class Posted:
    """A message that the whole channel sees.

    *clicked*: replaces the message in the channel whose button was clicked, if any.
    """

    message: Message
    clicked: Message | None = None


@dataclass(frozen=True, slots=True)
class Modal:
    """A modal that is opened at once, while the trigger lives, and then filled where something has to be read first.

    *shows*: the changes that it shows all of: once Slack has shown it, its reader may decide.
    """

    skeleton: View
    fill: Callable[[], Awaitable[View]] | None = None
    shows: tuple[Change, ...] = ()


@dataclass(frozen=True, slots=True)
class Announced:
    """No message of its own: the card of the change in the channel is the answer. *title*: what was requested."""

    title: str = ""


@dataclass(frozen=True, slots=True)
class Refilled:
    """New content for the modal in which something was clicked."""

    view: View


@dataclass(frozen=True, slots=True)
class Attached:
    """A file, in a direct message to the person who asked or, *here*, in the channel. *comment* (mrkdwn) goes with it.

    *exports*: what it takes out of a service, and how many records; the audit says so. *shows*: as of a `Modal`.
    """

    name: str
    content: bytes
    comment: str
    here: bool = False
    exports: tuple[str, int] | None = None
    shows: tuple[Change, ...] = ()


@dataclass(frozen=True, slots=True)
class HomeTab:
    """The caller's Home tab: the *skeleton* at once, where it shows nothing yet, then what *fill* returns."""

    skeleton: View | None
    fill: Callable[[], Awaitable[View]]


class ShownFirst(Exception):
    """What *command* would do is shown privately before it is done, with a button that does it.

    *facts*: what to know of it, in mrkdwn.
    """

    def __init__(self, command: Command, facts: str = "") -> None:
        super().__init__(facts)
        self.command = command
        self.facts = facts


Reply = Private | Posted | Modal | Announced | Refilled | Attached | HomeTab


@dataclass(frozen=True, slots=True)
class Caller:
    """The person who asks, and from where. *request* is unique to the request, however often it is delivered."""

    user: str
    channel: str
    request: str
    response_url: str | None = None
    trigger: str | None = None
    public: bool = False
    """Whether the channel will see the answer: emails are masked then."""
    view: View | None = None
    """The modal in which a button was clicked."""
    message: str = ""
    """The ts of the clicked message."""
    ephemeral: bool = False
    """Whether the clicked message is a private one: only those may be replaced by their own answer."""
    replacing: bool = False
    """The answer takes the place of the private message whose button was clicked."""
    thread: str = ""
    """The ts of the parent message, if it was asked in a thread."""
    mentioned: bool = False
    """Whether it was asked by a message in a channel: *message* is its ts, and the answer goes into its thread."""
    asked_at: datetime | None = None
    """For a stored request: when it came in. Another process may execute it later."""
    shorthand: Shorthand | None = None
    """For a stored request: what its short forms stood for when it came in."""

    agent: str = ""
    """The agent that asks for this person; empty where they ask themselves."""
    rehearses: bool = False
    """Whether what is requested is only tried: `Rehearsed` says what it would be."""
    confirmed: bool = False
    """Whether the button of the preview was clicked that `ShownFirst` leads to."""

    @property
    def answered_in(self) -> str | None:
        """Return the ts of the thread for an answer that all may see; None for the channel itself."""
        return self.thread or (self.message if self.mentioned else "") or None

    @property
    def clicked_in_channel(self) -> bool:
        """Whether the clicked message is in the channel itself; in a thread it is a list, which others may still be reading."""
        is_message = bool(self.message) and not (self.ephemeral or self.mentioned or self.direct)
        return is_message and self.thread in {"", self.message}

    @property
    def direct(self) -> bool:
        """Whether the caller and Gatehouse are alone."""
        return self.channel.startswith("D")

    def with_place(self, *, public: bool, replacing: bool) -> Caller:
        return replace(self, public=public, replacing=replacing)
