"""Who is in which channel: people and apps that make, join, rename and leave them, and the Web API's methods for that."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import replace
from typing import Any, Final, Literal

from sandbox.slack.directory import Arguments, Method, bool_argument, demand
from sandbox.slack.happenings import Created, Joined, Left
from sandbox.slack.message import Message
from sandbox.slack.people import Channel
from sandbox.slack.refusal import Refused
from sandbox.slack.state import State
from sandbox.slack.texts import escape_text

NAME: Final = re.compile(r"[\w-]+")
MAX_NAME_CHARACTERS: Final = 80
MAX_TOPIC_CHARACTERS: Final = 250
"""Characters of a topic; a purpose has the same limit."""


def join(state: State, channel: Channel, user: str, inviter: str = "") -> Channel:
    """Add *user* to *channel*, which gets a message that says so."""
    is_bot = user == state.workspace.bot.id
    more: dict[str, Any] = {"bot_is_member": True} if is_bot else {"members": (*channel.members, user)}
    joined = state.channels[channel.id] = replace(channel, **more)
    state.show_channels()
    text = f"<@{user}> has joined the channel"
    state.add(Message(state.new_ts(), channel.id, user, text, [], subtype="channel_join"))
    state.happened(Joined(user, channel.id, inviter))
    return joined


def leave(state: State, channel: Channel, user: str) -> None:
    """Remove *user* from *channel*, which gets a message that says so."""
    text = f"<@{user}> has left the channel"
    state.add(Message(state.new_ts(), channel.id, user, text, [], subtype="channel_leave"))
    is_bot = user == state.workspace.bot.id
    staying = tuple(one for one in channel.members if one != user)
    more: dict[str, Any] = {"bot_is_member": False} if is_bot else {"members": staying}
    state.channels[channel.id] = replace(channel, **more)
    state.show_channels()
    state.happened(Left(user, channel.id))


class Channels:
    """Lets the app do with the channels of *state* what its *scopes* allow."""

    def __init__(self, state: State, scopes: Collection[str]) -> None:
        self._state = state
        self._scopes = scopes
        self._bot = state.workspace.bot.id

    def methods(self) -> dict[str, Method]:
        return {
            "conversations.create": self.create,
            "conversations.join": self.join,
            "conversations.invite": self.invite,
            "conversations.leave": self.leave,
            "conversations.rename": self.rename,
            "conversations.kick": self.kick,
            "conversations.archive": self.archive,
            "conversations.setTopic": self.set_topic,
            "conversations.setPurpose": self.set_purpose,
        }

    async def create(self, arguments: Arguments) -> dict[str, Any]:
        """A new channel, with the app alone in it."""
        is_private = bool_argument(arguments, "is_private")
        self._demand_scope("groups:write" if is_private else "channels:manage")
        name = self._require_new_name(arguments)
        made = Channel(f"C0{self._state.number():07d}", name, "channel", "", (), is_private=is_private)
        self._state.channels[made.id] = made
        self._state.happened(Created(self._bot, made.id))
        return self._channel_answer(join(self._state, made, self._bot))

    async def join(self, arguments: Arguments) -> dict[str, Any]:
        """Join a public channel; if the app is in it already, the answer only says so."""
        channel = self._require_channel(arguments)
        if channel.is_private:
            raise Refused("method_not_supported_for_channel_type")
        if channel.bot_is_member:
            warning = "already_in_channel"
            return {**self._channel_answer(channel), "warning": warning, "response_metadata": {"warnings": [warning]}}
        return self._channel_answer(join(self._state, channel, self._bot))

    async def invite(self, arguments: Arguments) -> dict[str, Any]:
        """Bring people into a channel where the app is; all of them, or nobody."""
        channel = self._require_channel(arguments)
        self._demand_scope(*(("groups:write", "groups:write.invites") if channel.is_private else INVITES))
        if not channel.bot_is_member:
            raise Refused("not_in_channel")
        invited = self._require_invitable(arguments, channel)
        for user in invited:
            channel = join(self._state, channel, user, inviter=self._bot)
        return self._channel_answer(channel)

    def _require_invitable(self, arguments: Arguments, channel: Channel) -> list[str]:
        wanted = [one.strip() for one in str(arguments.get("users") or "").split(",") if one.strip()]
        if not wanted:
            raise Refused("no_user")
        errors = [
            {"user": one, "ok": False, "error": error}
            for one in wanted
            if (error := self._invite_refusal(one, channel))
        ]
        if errors:
            raise Refused(str(errors[0]["error"]), errors=errors)
        return wanted

    def _invite_refusal(self, user: str, channel: Channel) -> str:
        """Return Slack's error code against inviting *user*; empty where they can be invited."""
        if user == self._bot:
            return "cant_invite_self"
        if user not in self._state.users:
            return "user_not_found"
        if self._state.users[user].is_deleted or self._state.users[user].is_stranger:
            return "cant_invite"
        return "already_in_channel" if user in channel.members else ""

    async def leave(self, arguments: Arguments) -> dict[str, Any]:
        channel = self._require_channel(arguments)
        self._demand_scope("groups:write" if channel.is_private else "channels:manage")
        if channel.name == "general":
            raise Refused("cant_leave_general")
        if not channel.bot_is_member:
            return {"not_in_channel": True}
        if not channel.members:
            raise Refused("last_member")
        leave(self._state, channel, self._bot)
        return {}

    async def rename(self, arguments: Arguments) -> dict[str, Any]:
        channel = self._require_channel(arguments)
        self._demand_scope("groups:write" if channel.is_private else "channels:manage")
        if not channel.bot_is_member:
            raise Refused("not_in_channel")
        renamed = self._state.channels[channel.id] = replace(channel, name=self._require_new_name(arguments))
        self._state.show_channels()
        return self._channel_answer(renamed)

    async def kick(self, arguments: Arguments) -> dict[str, Any]:
        """Take somebody else out of a channel."""
        channel, user = self._require_own_channel(arguments), str(arguments.get("user") or "")
        if user == self._bot:
            raise Refused("cant_kick_self")
        if user not in self._state.users:
            raise Refused("user_not_found")
        if channel.name == "general":
            raise Refused("cant_kick_from_general")
        if user not in channel.members:
            raise Refused("not_in_channel")
        leave(self._state, channel, user)
        return {}

    async def archive(self, arguments: Arguments) -> dict[str, Any]:
        """Archive a channel: its messages stay, and nobody can write there any more."""
        demand(arguments, "channel")
        if self._state.channel_of(str(arguments["channel"])).is_archived:
            raise Refused("already_archived")
        channel = self._require_own_channel(arguments)
        if channel.name == "general":
            raise Refused("cant_archive_general")
        self._say(channel, "channel_archive", "archived the channel")
        self._state.channels[channel.id] = replace(channel, is_archived=True)
        self._state.show_channels()
        return {}

    async def set_topic(self, arguments: Arguments) -> dict[str, Any]:
        return self._describe(arguments, "topic")

    async def set_purpose(self, arguments: Arguments) -> dict[str, Any]:
        return self._describe(arguments, "purpose")

    def _describe(self, arguments: Arguments, what: Literal["topic", "purpose"]) -> dict[str, Any]:
        """Set the topic or the purpose (*what*) of a channel, which gets a message that says so."""
        channel, text = self._require_own_channel(arguments, "write.topic"), str(arguments.get(what) or "")
        if len(text) > MAX_TOPIC_CHARACTERS:
            raise Refused("too_long")
        kept: dict[str, Any] = {what: escape_text(text)}
        described = self._state.channels[channel.id] = replace(channel, **kept)
        self._say(channel, f"channel_{what}", f"set the channel {what}: {escape_text(text)}")
        self._state.show_channels()
        return self._channel_answer(described)

    def _require_own_channel(self, arguments: Arguments, more: str = "") -> Channel:
        """Return a channel where the app is, and that it may manage, or do *more* with."""
        channel = self._require_channel(arguments)
        kind = "groups" if channel.is_private else "channels"
        manage = "groups:write" if channel.is_private else "channels:manage"
        self._demand_scope(manage, *([f"{kind}:{more}"] if more else []))
        if not channel.bot_is_member:
            raise Refused("not_in_channel")
        return channel

    def _say(self, channel: Channel, subtype: str, what: str) -> None:
        text = f"<@{self._bot}> {what}"
        self._state.add(Message(self._state.new_ts(), channel.id, self._bot, text, [], subtype=subtype))

    def _require_channel(self, arguments: Arguments) -> Channel:
        """Return the channel that a call is about: no direct message, and not archived."""
        demand(arguments, "channel")
        channel = self._state.channel_of(str(arguments["channel"]))
        if channel.kind == "im":
            raise Refused("method_not_supported_for_channel_type")
        if channel.is_archived:
            raise Refused("is_archived")
        return channel

    def _require_new_name(self, arguments: Arguments) -> str:
        name = str(arguments.get("name") or "")
        if not name:
            raise Refused("invalid_name_required")
        if len(name) > MAX_NAME_CHARACTERS:
            raise Refused("invalid_name_maxlength")
        if not name.strip("_-"):
            raise Refused("invalid_name_punctuation")
        if not NAME.fullmatch(name) or name != name.lower():
            raise Refused("invalid_name_specials")
        if any(one.kind == "channel" and one.name == name for one in self._state.channels.values()):
            raise Refused("name_taken")
        return name

    def _demand_scope(self, *any_of: str) -> None:
        if not set(any_of) & set(self._scopes):
            raise Refused("missing_scope", needed=any_of[0], provided=",".join(self._scopes))

    def _channel_answer(self, channel: Channel) -> dict[str, Any]:
        return {"channel": channel.info(self._state.workspace.id, self._state.workspace.owner)}


INVITES: Final = ("channels:manage", "channels:write.invites")
"""Either of them lets an app invite to public channels."""
