"""Reactions of people and apps to messages, and the Web API's methods for them."""

from __future__ import annotations

import re
from typing import Any, Final

from sandbox.slack.directory import Arguments, Method, demand
from sandbox.slack.happenings import Reacted
from sandbox.slack.message import TS, Message
from sandbox.slack.objects import message_object
from sandbox.slack.refusal import Refused
from sandbox.slack.state import State

EMOJI: Final = re.compile(r"[a-z0-9_+'-]{1,100}(?:::skin-tone-[2-6])?")
MAX_EMOJI: Final = 23
"""Different emoji on one message."""


def react(state: State, message: Message, user: str, name: str) -> None:
    """Put an emoji on *message*; raises Refused with Slack's error code."""
    if user in message.reactions.get(name, ()):
        raise Refused("already_reacted")
    if len(message.reactions) >= MAX_EMOJI and name not in message.reactions:
        raise Refused("too_many_emoji")
    message.reactions.setdefault(name, []).append(user)
    state.show_change(message)
    state.happened(Reacted(message, user, name, is_added=True))


def unreact(state: State, message: Message, user: str, name: str) -> None:
    """Take an emoji off *message*; raises Refused with Slack's error code."""
    if user not in message.reactions.get(name, ()):
        raise Refused("no_reaction")
    message.reactions[name].remove(user)
    if not message.reactions[name]:
        del message.reactions[name]
    state.show_change(message)
    state.happened(Reacted(message, user, name, is_added=False))


def emoji_name(found: Any) -> str:
    """Return the name of an emoji, typed with or without colons; raises Refused where no emoji can have it."""
    name = str(found).strip(":")
    if not EMOJI.fullmatch(name):
        raise Refused("invalid_name")
    return name


class Reactions:
    """Lets the app react to messages of *state*, and read what others put there."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._bot = state.workspace.bot.id

    def methods(self) -> dict[str, Method]:
        return {"reactions.add": self.add, "reactions.remove": self.remove, "reactions.get": self.get}

    async def add(self, arguments: Arguments) -> dict[str, Any]:
        demand(arguments, "name")
        name = emoji_name(arguments["name"])
        react(self._state, self._require_message(arguments), self._bot, name)
        return {}

    async def remove(self, arguments: Arguments) -> dict[str, Any]:
        demand(arguments, "name")
        name = emoji_name(arguments["name"])
        unreact(self._state, self._require_message(arguments), self._bot, name)
        return {}

    async def get(self, arguments: Arguments) -> dict[str, Any]:
        message = self._require_message(arguments)
        return {"type": "message", "channel": message.channel, "message": message_object(self._state, message)}

    def _require_message(self, arguments: Arguments) -> Message:
        """Return the message that a call is about, where the app is a member."""
        if not arguments.get("channel") or not arguments.get("timestamp"):
            raise Refused("no_item_specified")
        if not TS.fullmatch(str(arguments["timestamp"])):
            raise Refused("bad_timestamp")
        channel = self._state.channel_of(str(arguments["channel"]))
        if channel.is_archived:
            raise Refused("is_archived")
        if not channel.bot_is_member:
            raise Refused("not_in_channel")
        message = self._state.find(channel.id, str(arguments["timestamp"]))
        if message is None or message.visible_to is not None:
            raise Refused("message_not_found")
        return message
