"""The replies of handlers, as data; the router sends them to Slack."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import datetime

from handlers.blocks.messages import Message
from handlers.blocks.modals import View
from handlers.grammar.parser import Shorthand


@dataclass(frozen=True, slots=True)
class Private:
    """Only the person who asked sees it, unless they asked to share it."""

    message: Message
    is_empty: bool = False
    """Nothing of a whole list has the words that were typed: they may be meant another way."""


@dataclass(frozen=True, slots=True)
class Posted:
    """The whole channel sees it, and it may be pinned there.

    *clicked*: what the message in the channel says from now on whose button was clicked, if it was.
    """

    message: Message
    is_pinned: bool = False
    clicked: Message | None = None


@dataclass(frozen=True, slots=True)
class Modal:
    """A modal that is opened at once, while the trigger lives, and then filled where something has to be read first."""

    skeleton: View
    fill: Callable[[], Awaitable[View]] | None = None


@dataclass(frozen=True, slots=True)
class Announced:
    """The change's own card in the channel tells the rest."""


@dataclass(frozen=True, slots=True)
class Refilled:
    """New content for the modal in which something was clicked."""

    view: View


@dataclass(frozen=True, slots=True)
class Attached:
    """A file, in a direct message to the person who asked or, *here*, in the channel. *comment* (mrkdwn) goes with it.

    *exports*: what it takes out of a service, and how many records; the audit says so.
    """

    name: str
    content: bytes
    comment: str
    here: bool = False
    exports: tuple[str, int] | None = None


@dataclass(frozen=True, slots=True)
class HomeTab:
    """What the caller's home of the app shows: the *skeleton* at once, where there is nothing yet, then what *fill* brings."""

    skeleton: View | None
    fill: Callable[[], Awaitable[View]]


Reply = Private | Posted | Modal | Announced | Refilled | Attached | HomeTab


@dataclass(frozen=True, slots=True)
class Caller:
    """The person who asks, and from where. *request* is unique to the request, however often it is delivered."""

    user: str
    channel: str
    request: str
    team: str = ""
    response_url: str | None = None
    trigger: str | None = None
    public: bool = False
    """Whether the answer will be seen by the channel: addresses are masked then."""
    view: View | None = None
    """The modal in which a button was clicked."""
    message: str = ""
    """The ts of the clicked message."""
    ephemeral: bool = False
    """Whether the clicked message is a private one: only those may be replaced by their own answer."""
    replacing: bool = False
    """The answer takes the place of the private message whose button was clicked."""
    thread: str = ""
    """The ts of the message that the thread hangs on, if it was asked in one."""
    mentioned: bool = False
    """Asked by a message for all of the channel to see: *message* is its ts, and the answer goes into its thread."""
    asked_at: datetime | None = None
    """Of a stored request: when it came in. It may be done later, by another process."""
    shorthand: Shorthand | None = None
    """Of a stored request: what its short forms stood for when it came in."""

    guessed: bool = False
    """What is asked was read from a sentence: a list of that kind has no numbers, for those of the last one still hold."""

    @property
    def answered_in(self) -> str | None:
        """The thread for an answer that all may see."""
        return self.thread or (self.message if self.mentioned else "") or None

    @property
    def clicked_in_channel(self) -> bool:
        """Whether the clicked message stands in the channel itself: in a thread are lists, and others may read on in them."""
        is_message = bool(self.message) and not (self.ephemeral or self.mentioned or self.direct)
        return is_message and self.thread in {"", self.message}

    @property
    def direct(self) -> bool:
        """Whether the caller and Gatehouse are alone."""
        return self.channel.startswith("D")

    def with_place(self, *, public: bool, replacing: bool) -> Caller:
        return replace(self, public=public, replacing=replacing)
