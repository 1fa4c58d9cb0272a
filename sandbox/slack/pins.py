"""Pinned messages of channels, and the Web API's methods for them."""

from __future__ import annotations

from typing import Any, Final

from sandbox.slack.directory import Arguments, Method, demand
from sandbox.slack.message import TS, Message
from sandbox.slack.people import Channel
from sandbox.slack.refusal import Refused
from sandbox.slack.state import State

MAX_PINS: Final = 100


class Pins:
    """Lets the app pin messages of *state*."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._bot = state.workspace.bot.id

    def methods(self) -> dict[str, Method]:
        return {
            "pins.add": self.add,
            "pins.remove": self.remove,
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
        self._show_pin(message)
        return {}

    async def remove(self, arguments: Arguments) -> dict[str, Any]:
        message = self._require_message(self._require_channel(arguments, "channel"), arguments)
        if message.pinned is None:
            raise Refused("no_pin")
        message.pinned = None
        self._show_pin(message)
        return {}

    def _pins_of(self, channel: Channel) -> list[Message]:
        """The pinned messages of *channel*, the last one first."""
        found = [one for one in self._state.messages if one.channel == channel.id and one.pinned and not one.deleted]
        return sorted(found, key=lambda one: one.pinned or ("", 0), reverse=True)

    def _show_pin(self, message: Message) -> None:
        self._state.show_change(message)

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
