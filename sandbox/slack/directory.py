"""The Web API's methods about people, conversations and user groups: what an app may look up."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Awaitable, Callable, Collection, Mapping
from typing import Any, Final

from sandbox.slack.people import BOT, Channel, User
from sandbox.slack.state import Refused, State

Arguments = Mapping[str, Any]
Method = Callable[[Arguments], Awaitable[dict[str, Any]]]

CONVERSATION_SCOPES: Final = ("channels:read", "groups:read", "mpim:read", "im:read")
"""One of them for each kind of conversation."""
MOST_MEMBERS: Final = 1000
USUAL_MEMBERS: Final = 100


class Directory:
    """Answers from *state* what the app's *scopes* let it see, with Slack's refusals for the rest."""

    def __init__(self, state: State, scopes: Collection[str]) -> None:
        self._state = state
        self._scopes = scopes

    def methods(self) -> dict[str, Method]:
        return {
            "users.info": self.user,
            "users.list": self.users,
            "conversations.info": self.conversation,
            "conversations.list": self.conversations,
            "conversations.members": self.members,
            "conversations.open": self.open,
            "usergroups.list": self.groups,
            "usergroups.users.list": self.group_users,
        }

    async def user(self, arguments: Arguments) -> dict[str, Any]:
        demand(arguments, "user")
        if (user := self._state.users.get(str(arguments["user"]))) is None:
            raise Refused("user_not_found")
        if user.is_stranger and not self._channels_of(user):
            raise Refused("user_not_visible")
        return {"user": self._profile(user)}

    async def users(self, _: Arguments) -> dict[str, Any]:
        members = [self._profile(user) for user in self._state.users.values() if not user.is_stranger]
        return {"members": members, "response_metadata": {"next_cursor": ""}}

    def _profile(self, user: User) -> dict[str, Any]:
        is_met = any(channel.bot_is_member for channel in self._channels_of(user))
        with_email = "users:read.email" in self._scopes
        return user.profile(self._state.clock(), is_met=is_met, with_email=with_email)

    def _channels_of(self, user: User) -> list[Channel]:
        return [one for one in self._state.channels.values() if user.id in one.members]

    async def conversation(self, arguments: Arguments) -> dict[str, Any]:
        channel = self._channel(arguments)
        info = channel.info()
        if flag(arguments, "include_num_members") and channel.kind == "channel":
            info["num_members"] = len(self._present(channel))
        return {"channel": info}

    async def conversations(self, _: Arguments) -> dict[str, Any]:
        """Public channels alone, which is what Slack lists unless asked for more."""
        found = [one.info() for one in self._state.channels.values() if one.kind == "channel" and not one.is_private]
        return {"channels": found, "response_metadata": {"next_cursor": ""}}

    async def members(self, arguments: Arguments) -> dict[str, Any]:
        present = self._present(self._channel(arguments))
        limit, start = _limit(arguments), _start(arguments, present)
        following = present[start + limit : start + limit + 1]
        cursor = base64.b64encode(f"user:{following[0]}".encode()).decode() if following else ""
        return {"members": present[start : start + limit], "response_metadata": {"next_cursor": cursor}}

    def _present(self, channel: Channel) -> list[str]:
        """Who is in *channel*, guests, strangers and the bot included; a deactivated account is in none."""
        bot = [BOT.id] if channel.bot_is_member and BOT.id not in channel.members else []
        return [
            one
            for one in (*channel.members, *bot)
            if one not in self._state.users or not self._state.users[one].is_deleted
        ]

    def _channel(self, arguments: Arguments) -> Channel:
        """The conversation asked for, which the app must be able to see and have the scope for."""
        demand(arguments, "channel")
        channel = self._state.channel_of(str(arguments["channel"]))
        needed = "im:read" if channel.kind == "im" else "groups:read" if channel.is_private else "channels:read"
        if needed not in self._scopes:
            raise Refused("missing_scope", needed=needed, provided=",".join(self._scopes))
        return channel

    async def open(self, arguments: Arguments) -> dict[str, Any]:
        """The direct message with one person, opened where there is none yet."""
        if arguments.get("channel"):
            channel, was_open = self._state.channel_of(str(arguments["channel"])), True
            if channel.kind != "im":
                raise Refused("method_not_supported_for_channel_type")
        else:
            channel, was_open = self._direct(arguments)
        found = channel.info() if flag(arguments, "return_im") else {"id": channel.id}
        return {"channel": found} | ({"no_op": True, "already_open": True} if was_open else {})

    def _direct(self, arguments: Arguments) -> tuple[Channel, bool]:
        wanted = [one for one in str(arguments.get("users") or "").split(",") if one]
        if not wanted:
            raise Refused("users_list_not_supplied")
        if len(wanted) > 1:
            raise Refused("missing_scope", needed="mpim:write", provided=",".join(self._scopes))
        was_open = self._state.direct(wanted[0]) is not None
        return self._state.open_direct(wanted[0]), was_open

    async def groups(self, arguments: Arguments) -> dict[str, Any]:
        with_users, with_count = flag(arguments, "include_users"), flag(arguments, "include_count")
        found = [
            group.info(with_users=with_users, with_count=with_count)
            for group in self._state.groups.values()
            if flag(arguments, "include_disabled") or not group.is_disabled
        ]
        return {"usergroups": found}

    async def group_users(self, arguments: Arguments) -> dict[str, Any]:
        """Whoever was put into the group; an account that was deactivated since may still be among them."""
        demand(arguments, "usergroup")
        group = self._state.groups.get(str(arguments["usergroup"]))
        if group is None or (group.is_disabled and not flag(arguments, "include_disabled")):
            raise Refused("no_such_subteam")
        return {"users": list(group.users)}


def demand(arguments: Arguments, *names: str) -> None:
    """Refuses a call that lacks an argument of *names*."""
    missing = [f"[ERROR] missing required field: {name}" for name in names if arguments.get(name) in (None, "")]
    if missing:
        raise Refused("invalid_arguments", response_metadata={"messages": missing})


def flag(arguments: Arguments, name: str) -> bool:
    """A yes or no, as query, form and JSON write it."""
    return str(arguments.get(name, "")).lower() in {"1", "true"}


def _limit(arguments: Arguments) -> int:
    try:
        limit = int(arguments.get("limit") or USUAL_MEMBERS)
    except (TypeError, ValueError):
        raise Refused("invalid_limit") from None
    if not 1 <= limit <= MOST_MEMBERS:
        raise Refused("invalid_limit")
    return limit


def _start(arguments: Arguments, present: list[str]) -> int:
    """Where the page begins that the cursor names."""
    if not arguments.get("cursor"):
        return 0
    try:
        named = base64.b64decode(str(arguments["cursor"]), validate=True).decode().removeprefix("user:")
        return present.index(named)
    except (binascii.Error, ValueError):
        raise Refused("invalid_cursor") from None
