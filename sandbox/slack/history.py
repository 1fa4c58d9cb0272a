"""The Web API's methods that read messages: history and threads."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any, Final

from sandbox.slack.directory import Arguments, Method, bool_argument, demand, needed_scope
from sandbox.slack.message import Message
from sandbox.slack.objects import message_object
from sandbox.slack.paging import page
from sandbox.slack.people import Channel
from sandbox.slack.refusal import Refused
from sandbox.slack.state import State

HISTORY_SCOPES: Final = ("channels:history", "groups:history", "mpim:history", "im:history")
"""One of them for each kind of conversation."""


class History:
    """Answers with the messages of *state* that the app may read."""

    def __init__(self, state: State, scopes: Collection[str]) -> None:
        self._state = state
        self._scopes = scopes

    def methods(self) -> dict[str, Method]:
        return {
            "conversations.history": self.history,
            "conversations.replies": self.replies,
        }

    async def history(self, arguments: Arguments) -> dict[str, Any]:
        """Return the messages of a conversation, newest first; of threads only what was also sent to the channel."""
        channel = self._readable_channel(arguments)
        found = [one for one in self._state.visible_messages("", channel.id) if one.kind == "message"]
        shown = self._message_page(found[::-1], arguments)
        return {**shown, "pin_count": 0, "channel_actions_ts": None, "channel_actions_count": 0}

    async def replies(self, arguments: Arguments) -> dict[str, Any]:
        """Return a message and its replies, oldest first."""
        demand(arguments, "channel", "ts")
        channel = self._readable_channel(arguments)
        root = self._state.find(channel.id, str(arguments["ts"]))
        if root is None or root.visible_to is not None:
            raise Refused("thread_not_found")
        return self._message_page([root, *self._state.replies(channel.id, root.ts)], arguments)

    def _readable_channel(self, arguments: Arguments) -> Channel:
        demand(arguments, "channel")
        channel = self._state.channel_of(str(arguments["channel"]))
        needed = needed_scope(channel, "history")
        if needed not in self._scopes:
            raise Refused("missing_scope", needed=needed, provided=",".join(self._scopes))
        if not channel.bot_is_member:
            raise Refused("not_in_channel")
        return channel

    def _message_page(self, messages: list[Message], arguments: Arguments) -> dict[str, Any]:
        within = _time_filter(arguments)
        known = {one.ts: one for one in messages if within(one.ts)}
        try:
            shown, cursor = page(list(known), arguments, kind="next_ts")
        except ValueError as error:
            raise Refused(str(error)) from None
        told = [self.message(known[ts], with_metadata=bool_argument(arguments, "include_all_metadata")) for ts in shown]
        found: dict[str, Any] = {"messages": told, "has_more": bool(cursor)}
        return found | ({"response_metadata": {"next_cursor": cursor}} if cursor else {})

    def message(self, message: Message, *, with_metadata: bool = False) -> dict[str, Any]:
        """Return the message object, with the fields of its thread."""
        shown = message_object(self._state, message, with_metadata=with_metadata)
        if replies := self._state.replies(message.channel, message.ts):
            users = list(dict.fromkeys(one.user for one in replies))
            shown |= {
                "thread_ts": message.ts,
                "reply_count": len(replies),
                "reply_users_count": len(users),
                "latest_reply": replies[-1].ts,
                "reply_users": users,
                "is_locked": False,
                "subscribed": False,
            }
        return shown


def _time_filter(arguments: Arguments) -> Callable[[str], bool]:
    """Return a test for a ts between ``oldest`` and ``latest``; raises Refused where they are not timestamps."""
    inclusive = bool_argument(arguments, "inclusive")
    oldest, latest = _parse_bound(arguments, "oldest"), _parse_bound(arguments, "latest")

    def is_within(ts: str) -> bool:
        at = float(ts)
        above = oldest is None or at > oldest or (inclusive and at == oldest)
        return above and (latest is None or at < latest or (inclusive and at == latest))

    return is_within


def _parse_bound(arguments: Arguments, name: str) -> float | None:
    if arguments.get(name) in (None, "", "0", 0):
        return None
    try:
        return float(str(arguments[name]))
    except ValueError:
        raise Refused(f"invalid_ts_{name}") from None
