"""The Web API's methods about people, conversations and user groups: what an app may look up."""

from __future__ import annotations

import base64
from collections.abc import Awaitable, Callable, Collection, Mapping
from typing import Any, Final

from sandbox.slack.people import Channel, User
from sandbox.slack.refusal import Refused
from sandbox.slack.state import State

Arguments = Mapping[str, Any]
Method = Callable[[Arguments], Awaitable[dict[str, Any]]]

CONVERSATION_SCOPES: Final = ("channels:read", "groups:read", "mpim:read", "im:read")
"""One of them for each kind of conversation."""
MAX_PAGE: Final = 1000


class Directory:
    """Answers from *state* what the app's *scopes* let it see; raises Refused with Slack's error codes for the rest."""

    def __init__(self, state: State, scopes: Collection[str]) -> None:
        self._state = state
        self._home = state.workspace
        self._scopes = scopes

    def methods(self) -> dict[str, Method]:
        return {
            "users.info": self.user,
            "conversations.info": self.conversation,
            "conversations.members": self.members,
            "users.conversations": self.conversations_of,
            "conversations.open": self.open,
            "usergroups.users.list": self.group_users,
        }

    async def user(self, arguments: Arguments) -> dict[str, Any]:
        demand(arguments, "user")
        if (user := self._state.users.get(str(arguments["user"]))) is None:
            raise Refused("user_not_found")
        if user.is_stranger and not self._channels_of(user):
            raise Refused("user_not_visible")
        return {"user": self._profile(user)}

    def _profile(self, user: User) -> dict[str, Any]:
        is_met = any(channel.bot_is_member for channel in self._channels_of(user))
        with_email = "users:read.email" in self._scopes
        return user.profile(self._home.id, self._state.clock(), is_met=is_met, with_email=with_email)

    def _channels_of(self, user: User) -> list[Channel]:
        return [one for one in self._state.channels.values() if user.id in one.members]

    async def conversation(self, arguments: Arguments) -> dict[str, Any]:
        return {"channel": self._require_channel(arguments).info(self._home.id, self._home.owner)}

    async def members(self, arguments: Arguments) -> dict[str, Any]:
        present = self._member_ids(self._require_channel(arguments))
        shown, cursor = _page(present, arguments)
        return {"members": shown, "response_metadata": {"next_cursor": cursor}}

    async def conversations_of(self, arguments: Arguments) -> dict[str, Any]:
        """Return the channels that a person and the app both see: public ones, and private ones with both of them in."""
        demand(arguments, "user")
        if (user := self._state.users.get(str(arguments["user"]))) is None:
            raise Refused("user_not_found")
        types = str(arguments.get("types") or "public_channel").split(",")
        there = {
            one.id: one
            for one in self._channels_of(user)
            if one.kind == "channel"
            and ("private_channel" if one.is_private else "public_channel") in types
            and (one.bot_is_member or not one.is_private)
            and not (one.is_archived and str(arguments.get("exclude_archived")).casefold() == "true")
        }
        shown, cursor = _page(list(there), arguments)
        found = [there[each].info(self._home.id, self._home.owner) for each in shown]
        return {"channels": found, "response_metadata": {"next_cursor": cursor}}

    def _member_ids(self, channel: Channel) -> list[str]:
        """Return the members of *channel*, with guests, strangers and the bot, without deactivated accounts."""
        bot = [self._home.bot.id] if channel.bot_is_member and self._home.bot.id not in channel.members else []
        return [
            one
            for one in (*channel.members, *bot)
            if one not in self._state.users or not self._state.users[one].is_deleted
        ]

    def _require_channel(self, arguments: Arguments) -> Channel:
        """Return the conversation asked for, which the app must be able to see and have the scope for."""
        demand(arguments, "channel")
        channel = self._state.channel_of(str(arguments["channel"]))
        needed = _needed_scope(channel)
        if needed not in self._scopes:
            raise Refused("missing_scope", needed=needed, provided=",".join(self._scopes))
        return channel

    async def open(self, arguments: Arguments) -> dict[str, Any]:
        """The direct message with one person, opened where there is none yet."""
        wanted = [one for one in str(arguments.get("users") or "").split(",") if one]
        if not wanted:
            raise Refused("users_list_not_supplied")
        if len(wanted) > 1:
            raise Refused("missing_scope", needed="mpim:write", provided=",".join(self._scopes))
        was_open = self._state.find_direct(wanted[0]) is not None
        channel = self._state.open_direct(wanted[0])
        return {"channel": {"id": channel.id}} | ({"no_op": True, "already_open": True} if was_open else {})

    async def group_users(self, arguments: Arguments) -> dict[str, Any]:
        """Return everybody who was put into the group; an account that was deactivated since may still be among them."""
        demand(arguments, "usergroup")
        group = self._state.groups.get(str(arguments["usergroup"]))
        if group is None or group.is_disabled:
            raise Refused("no_such_subteam")
        return {"users": list(group.users)}


def demand(arguments: Arguments, *names: str) -> None:
    """Raise Refused for a call that lacks an argument of *names*."""
    missing = [f"[ERROR] missing required field: {name}" for name in names if arguments.get(name) in (None, "")]
    if missing:
        raise Refused("invalid_arguments", response_metadata={"messages": missing})


def _needed_scope(channel: Channel) -> str:
    """Return the scope that reads a conversation of this kind."""
    return "im:read" if channel.kind == "im" else "groups:read" if channel.is_private else "channels:read"


def _page(names: list[str], arguments: Arguments) -> tuple[list[str], str]:
    """Return the page of *names* that is asked for, and the cursor of the next one, empty where there is none."""
    start = _index_of_cursor(names, str(arguments.get("cursor") or ""))
    try:
        end = start + int(arguments.get("limit") or 100)
    except ValueError:
        raise Refused("invalid_limit") from None
    if not start < end <= start + MAX_PAGE:
        raise Refused("invalid_limit")
    cursor = base64.b64encode(f"user:{names[end]}".encode()).decode() if end < len(names) else ""
    return names[start:end], cursor


def _index_of_cursor(names: list[str], cursor: str) -> int:
    if not cursor:
        return 0
    try:
        return names.index(base64.b64decode(cursor, validate=True).decode().removeprefix("user:"))
    except ValueError:
        raise Refused("invalid_cursor") from None
