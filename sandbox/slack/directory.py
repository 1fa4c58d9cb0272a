"""The Web API's methods about people, conversations and user groups: what an app may look up."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping
from typing import Any, Final

from sandbox.slack.paging import page
from sandbox.slack.people import CREATED, Channel, User
from sandbox.slack.refusal import Refused
from sandbox.slack.state import State

Arguments = Mapping[str, Any]
Method = Callable[[Arguments], Awaitable[dict[str, Any]]]

CONVERSATION_SCOPES: Final = ("channels:read", "groups:read", "mpim:read", "im:read")
"""One of them for each kind of conversation."""
KINDS: Final = ("public_channel", "private_channel", "mpim", "im")


class Directory:
    """Answers from *state* what the app's *scopes* let it see; raises Refused with Slack's error codes for the rest."""

    def __init__(self, state: State, scopes: Collection[str]) -> None:
        self._state = state
        self._home = state.workspace
        self._scopes = scopes

    def methods(self) -> dict[str, Method]:
        return {
            "users.info": self.user,
            "users.list": self.users,
            "users.lookupByEmail": self.user_by_email,
            "users.profile.get": self.profile,
            "users.conversations": self.conversations_of,
            "bots.info": self.bot,
            "team.info": self.team,
            "conversations.info": self.conversation,
            "conversations.list": self.conversations,
            "conversations.members": self.members,
            "conversations.open": self.open,
            "emoji.list": self.emoji,
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

    async def profile(self, arguments: Arguments) -> dict[str, Any]:
        """Return the profile of one person; since a bot token belongs to nobody, ``user`` is required."""
        demand(arguments, "user")
        return {"profile": (await self.user(arguments))["user"]["profile"]}

    async def users(self, arguments: Arguments) -> dict[str, Any]:
        """Everybody of the workspace, deactivated accounts included; all at once where no limit is asked for."""
        known = {user.id: user for user in self._state.users.values() if not user.is_stranger}
        shown, cursor = _page_or_refuse(list(known), arguments, usual=max(1, len(known)))
        return {
            "members": [self._profile(known[one]) for one in shown],
            "cache_ts": int(self._state.clock()),
            "response_metadata": {"next_cursor": cursor},
        }

    async def user_by_email(self, arguments: Arguments) -> dict[str, Any]:
        """Return the person of the workspace with this email; never a deactivated account, nor the bot."""
        demand(arguments, "email")
        wanted = str(arguments["email"]).casefold()
        for user in self._state.users.values():
            if user.email.casefold() == wanted and not (user.is_bot or user.is_deleted or user.is_stranger):
                return {"user": self._profile(user)}
        raise Refused("users_not_found")

    async def bot(self, arguments: Arguments) -> dict[str, Any]:
        if arguments.get("bot") not in {None, "", self._home.bot_id}:
            raise Refused("bot_not_found")
        bot = {"id": self._home.bot_id, "deleted": False, "name": self._home.bot.real_name, "updated": CREATED}
        return {"bot": {**bot, "app_id": self._home.app.id, "user_id": self._home.bot.id, "icons": {}}}

    async def emoji(self, _: Arguments) -> dict[str, Any]:
        """The workspace's own emoji: none."""
        return {"emoji": {}, "cache_ts": str(self._state.clock())}

    async def team(self, arguments: Arguments) -> dict[str, Any]:
        if arguments.get("team") not in {None, "", self._home.id}:
            raise Refused("team_not_found")
        return {
            "team": {**self._home.info(), "url": self._home.url, "email_domain": "", "icon": {"image_default": True}}
        }

    def _profile(self, user: User) -> dict[str, Any]:
        is_met = any(channel.bot_is_member for channel in self._channels_of(user))
        with_email = "users:read.email" in self._scopes
        return user.profile(self._home.id, self._state.clock(), is_met=is_met, with_email=with_email)

    def _channels_of(self, user: User) -> list[Channel]:
        return [one for one in self._state.channels.values() if user.id in one.members]

    async def conversation(self, arguments: Arguments) -> dict[str, Any]:
        channel = self._require_channel(arguments)
        info = self._info(channel)
        if bool_argument(arguments, "include_num_members") and channel.kind == "channel":
            info["num_members"] = len(self._member_ids(channel))
        return {"channel": info}

    def _info(self, channel: Channel) -> dict[str, Any]:
        return channel.info(self._home.id, self._home.owner)

    async def conversations(self, arguments: Arguments) -> dict[str, Any]:
        """Public channels alone, unless asked for more ``types``; of private ones those that the bot is in."""
        return self._conversations(arguments, list(self._state.channels.values()))

    async def conversations_of(self, arguments: Arguments) -> dict[str, Any]:
        """Return the same for the conversations of one ``user``, or of the app where none is named."""
        user = str(arguments.get("user") or self._home.bot.id)
        if user not in self._state.users:
            raise Refused("user_not_found")
        return self._conversations(arguments, [one for one in self._state.channels.values() if self._is_in(user, one)])

    def _is_in(self, user: str, channel: Channel) -> bool:
        return channel.bot_is_member if user == self._home.bot.id else user in channel.members

    def _conversations(self, arguments: Arguments, among: list[Channel]) -> dict[str, Any]:
        kinds = [one.strip() for one in str(arguments.get("types") or KINDS[0]).split(",")]
        if not set(kinds) <= set(KINDS):
            raise Refused("invalid_types")
        scopes = dict(zip(KINDS, CONVERSATION_SCOPES, strict=True))
        if missing := [scopes[one] for one in kinds if scopes[one] not in self._scopes]:
            raise Refused("missing_scope", needed=missing[0], provided=",".join(self._scopes))
        known = {one.id: one for one in among if self._is_listed(one, kinds, arguments)}
        shown, cursor = _page_or_refuse(list(known), arguments, kind="team")
        return {"channels": [self._info(known[one]) for one in shown], "response_metadata": {"next_cursor": cursor}}

    def _is_listed(self, channel: Channel, kinds: Collection[str], arguments: Arguments) -> bool:
        if bool_argument(arguments, "exclude_archived") and channel.is_archived:
            return False
        if channel.kind == "im":
            return "im" in kinds
        if channel.is_private:
            return "private_channel" in kinds and channel.bot_is_member
        return "public_channel" in kinds

    async def members(self, arguments: Arguments) -> dict[str, Any]:
        present = self._member_ids(self._require_channel(arguments))
        shown, cursor = _page_or_refuse(present, arguments)
        return {"members": shown, "response_metadata": {"next_cursor": cursor}}

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
        needed = needed_scope(channel, "read")
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
            channel, was_open = self._open_direct(arguments)
        found = self._info(channel) if bool_argument(arguments, "return_im") else {"id": channel.id}
        return {"channel": found} | ({"no_op": True, "already_open": True} if was_open else {})

    def _open_direct(self, arguments: Arguments) -> tuple[Channel, bool]:
        wanted = [one for one in str(arguments.get("users") or "").split(",") if one]
        if not wanted:
            raise Refused("users_list_not_supplied")
        if len(wanted) > 1:
            raise Refused("missing_scope", needed="mpim:write", provided=",".join(self._scopes))
        was_open = self._state.find_direct(wanted[0]) is not None
        return self._state.open_direct(wanted[0]), was_open

    async def groups(self, arguments: Arguments) -> dict[str, Any]:
        with_users, with_count = bool_argument(arguments, "include_users"), bool_argument(arguments, "include_count")
        found = [
            group.info(self._home.id, self._home.owner, with_users=with_users, with_count=with_count)
            for group in self._state.groups.values()
            if bool_argument(arguments, "include_disabled") or not group.is_disabled
        ]
        return {"usergroups": found}

    async def group_users(self, arguments: Arguments) -> dict[str, Any]:
        """Return everybody who was put into the group; an account that was deactivated since may still be among them."""
        demand(arguments, "usergroup")
        group = self._state.groups.get(str(arguments["usergroup"]))
        if group is None or (group.is_disabled and not bool_argument(arguments, "include_disabled")):
            raise Refused("no_such_subteam")
        return {"users": list(group.users)}


def demand(arguments: Arguments, *names: str) -> None:
    """Raise Refused for a call that lacks an argument of *names*."""
    missing = [f"[ERROR] missing required field: {name}" for name in names if arguments.get(name) in (None, "")]
    if missing:
        raise Refused("invalid_arguments", response_metadata={"messages": missing})


def bool_argument(arguments: Arguments, name: str) -> bool:
    """Return a boolean, as query, form and JSON write it."""
    return str(arguments.get(name, "")).lower() in {"1", "true"}


def needed_scope(channel: Channel, what: str) -> str:
    """Return the scope that *what* (``read`` or ``history``) needs for a conversation of this kind."""
    kind = "im" if channel.kind == "im" else "groups" if channel.is_private else "channels"
    return f"{kind}:{what}"


def _page_or_refuse(names: list[str], arguments: Arguments, **more: Any) -> tuple[list[str], str]:
    try:
        return page(names, arguments, **more)
    except ValueError as error:
        raise Refused(str(error)) from None
