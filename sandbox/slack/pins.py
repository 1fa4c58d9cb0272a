"""Pinned messages and bookmarks of channels, and the Web API's methods for both."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final
from urllib.parse import urlsplit

from sandbox.slack.directory import Arguments, Method, demand
from sandbox.slack.happenings import Pinned
from sandbox.slack.message import TS, Message
from sandbox.slack.objects import message_object
from sandbox.slack.people import Channel
from sandbox.slack.refusal import Refused
from sandbox.slack.state import State

MAX_PINS: Final = 100
MAX_BOOKMARKS: Final = 100
"""The most pins, and the most bookmarks, of one channel."""


class Pins:
    """Lets the app pin messages of *state* and keep links at the top of its channels."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._bot = state.workspace.bot.id

    def methods(self) -> dict[str, Method]:
        return {
            "pins.add": self.add,
            "pins.remove": self.remove,
            "pins.list": self.list_pins,
            "bookmarks.add": self.add_bookmark,
            "bookmarks.list": self.list_bookmarks,
        }

    async def add(self, arguments: Arguments) -> dict[str, Any]:
        channel = self._require_channel(arguments, "channel")
        message = self._require_message(channel, arguments)
        if message.subtype:
            raise Refused("not_pinnable")
        if message.pinned is not None:
            raise Refused("already_pinned")
        if len(self._pins_of(channel)) >= MAX_PINS:
            raise Refused("too_many_pins")
        message.pinned = (self._bot, int(self._state.clock()))
        self._show_pin(message, is_added=True)
        return {}

    async def remove(self, arguments: Arguments) -> dict[str, Any]:
        message = self._require_message(self._require_channel(arguments, "channel"), arguments)
        if message.pinned is None:
            raise Refused("no_pin")
        message.pinned = None
        self._show_pin(message, is_added=False)
        return {}

    async def list_pins(self, arguments: Arguments) -> dict[str, Any]:
        channel = self._require_channel(arguments, "channel")
        return {"items": [self._pin_item(one, *one.pinned) for one in self._pins_of(channel) if one.pinned is not None]}

    def _pin_item(self, message: Message, by: str, at: int) -> dict[str, Any]:
        link = f"{self._state.workspace.url}archives/{message.channel}/p{message.ts.replace('.', '')}"
        shown = message_object(self._state, message) | {"permalink": link, "pinned_to": [message.channel]}
        return {"type": "message", "created": at, "created_by": by, "channel": message.channel, "message": shown}

    def _pins_of(self, channel: Channel) -> list[Message]:
        """The pinned messages of *channel*, the last one first."""
        found = [one for one in self._state.messages if one.channel == channel.id and one.pinned and not one.deleted]
        return sorted(found, key=lambda one: one.pinned or ("", 0), reverse=True)

    def _show_pin(self, message: Message, *, is_added: bool) -> None:
        self._state.show_change(message)
        self._state.happened(Pinned(message, self._bot, is_added=is_added))

    def _require_channel(self, arguments: Arguments, name: str) -> Channel:
        """Return the channel that a call is about, where the app is a member."""
        demand(arguments, name)
        channel = self._state.channel_of(str(arguments[name]))
        if channel.is_archived:
            raise Refused("is_archived")
        if not channel.bot_is_member:
            raise Refused("not_in_channel")
        return channel

    def _require_message(self, channel: Channel, arguments: Arguments) -> Message:
        if not arguments.get("timestamp"):
            raise Refused("no_item_specified")
        if not TS.fullmatch(str(arguments["timestamp"])):
            raise Refused("bad_timestamp")
        message = self._state.find(channel.id, str(arguments["timestamp"]))
        if message is None or message.visible_to is not None:
            raise Refused("message_not_found")
        return message

    async def add_bookmark(self, arguments: Arguments) -> dict[str, Any]:
        """Add a link at the top of a channel; Slack accepts no other kind of bookmark from apps."""
        channel = self._require_channel(arguments, "channel_id")
        demand(arguments, "title", "type")
        if arguments["type"] != "link":
            raise Refused("invalid_bookmark_type")
        link = urlsplit(str(arguments.get("link") or ""))
        if link.scheme not in {"http", "https"} or not link.netloc:
            raise Refused("invalid_link")
        if len(channel.bookmarks) >= MAX_BOOKMARKS:
            raise Refused("too_many_bookmarks")
        now = int(self._state.clock())
        bookmark = {
            "id": f"Bk{self._state.number():08d}",
            "channel_id": channel.id,
            "title": str(arguments["title"]),
            "link": link.geturl(),
            "emoji": str(arguments.get("emoji") or ""),
            "icon_url": "",
            "type": "link",
            "entity_id": None,
            "date_created": now,
            "date_updated": 0,
            "rank": f"{len(channel.bookmarks):04d}",
            "last_updated_by_user_id": self._bot,
            "last_updated_by_team_id": self._state.workspace.id,
            "shortcut_id": None,
            "app_id": self._state.workspace.app.id,
        }
        self._state.channels[channel.id] = replace(channel, bookmarks=(*channel.bookmarks, bookmark))
        self._state.show_channels()
        return {"bookmark": bookmark}

    async def list_bookmarks(self, arguments: Arguments) -> dict[str, Any]:
        return {"bookmarks": [*self._require_channel(arguments, "channel_id").bookmarks]}
