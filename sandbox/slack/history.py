"""The Web API's methods about what was said: history, threads, reactions."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from typing import Any, Final

from sandbox.slack.directory import Arguments, Method, demand, flag, needed_scope
from sandbox.slack.message import TS, Message
from sandbox.slack.paging import page
from sandbox.slack.people import APP_ID, Channel
from sandbox.slack.refusal import Refused
from sandbox.slack.state import State

EMOJI: Final = re.compile(r"[a-z0-9_+'-]{1,100}(?:::skin-tone-[2-6])?")
MOST_EMOJI: Final = 23
"""Different ones on one message."""
HISTORY_SCOPES: Final = ("channels:history", "groups:history", "mpim:history", "im:history")
"""One of them for each kind of conversation."""
MOST_MESSAGES: Final = 999


class History:
    """Answers what an app may read of *state*, and keeps its reactions."""

    def __init__(self, state: State, scopes: Collection[str]) -> None:
        self._state = state
        self._bot = state.workspace.bot.id
        self._scopes = scopes

    def methods(self) -> dict[str, Method]:
        return {
            "conversations.history": self.history,
            "conversations.replies": self.replies,
            "reactions.add": self.react,
            "reactions.remove": self.unreact,
        }

    async def history(self, arguments: Arguments) -> dict[str, Any]:
        """The messages of a conversation, newest first; of threads what was also sent to the channel."""
        channel = self._readable(arguments)
        found = [one for one in self._state.visible("", channel.id) if one.kind == "message"]
        shown = self._paged(found[::-1], arguments)
        return {**shown, "pin_count": 0, "channel_actions_ts": None, "channel_actions_count": 0}

    async def replies(self, arguments: Arguments) -> dict[str, Any]:
        """A message and what answers it, oldest first."""
        demand(arguments, "channel", "ts")
        channel = self._readable(arguments)
        root = self._state.find(channel.id, str(arguments["ts"]))
        if root is None or root.visible_to is not None:
            raise Refused("thread_not_found")
        return self._paged([root, *self._state.replies(channel.id, root.ts)], arguments)

    def _readable(self, arguments: Arguments) -> Channel:
        demand(arguments, "channel")
        channel = self._state.channel_of(str(arguments["channel"]))
        needed = needed_scope(channel, "history")
        if needed not in self._scopes:
            raise Refused("missing_scope", needed=needed, provided=",".join(self._scopes))
        if not channel.bot_is_member:
            raise Refused("not_in_channel")
        return channel

    def _paged(self, messages: list[Message], arguments: Arguments) -> dict[str, Any]:
        within = _between(arguments)
        known = {one.ts: one for one in messages if within(one.ts)}
        try:
            shown, cursor = page(list(known), arguments, kind="next_ts", most=MOST_MESSAGES)
        except ValueError as error:
            raise Refused(str(error)) from None
        found: dict[str, Any] = {"messages": [self.message(known[ts]) for ts in shown], "has_more": bool(cursor)}
        return found | ({"response_metadata": {"next_cursor": cursor}} if cursor else {})

    def message(self, message: Message) -> dict[str, Any]:
        """The message object of the Web API and of events."""
        shown = message_object(self._state, message)
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

    async def react(self, arguments: Arguments) -> dict[str, Any]:
        message, name = self._reacted(arguments)
        if self._bot in message.reactions.get(name, ()):
            raise Refused("already_reacted")
        if len(message.reactions) >= MOST_EMOJI and name not in message.reactions:
            raise Refused("too_many_emoji")
        message.reactions.setdefault(name, []).append(self._bot)
        self._state.changed(message)
        return {}

    async def unreact(self, arguments: Arguments) -> dict[str, Any]:
        message, name = self._reacted(arguments)
        if self._bot not in message.reactions.get(name, ()):
            raise Refused("no_reaction")
        message.reactions[name].remove(self._bot)
        if not message.reactions[name]:
            del message.reactions[name]
        self._state.changed(message)
        return {}

    def _reacted(self, arguments: Arguments) -> tuple[Message, str]:
        """The message and the name of the emoji that a reaction is about."""
        demand(arguments, "name")
        if not arguments.get("channel") or not arguments.get("timestamp"):
            raise Refused("no_item_specified")
        name = str(arguments["name"]).strip(":")
        if not EMOJI.fullmatch(name):
            raise Refused("invalid_name")
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
        return message, name


def message_object(state: State, message: Message) -> dict[str, Any]:
    """What Slack tells of *message* wherever it tells of one."""
    shown: dict[str, Any] = {"type": "message"}
    if message.broadcast:
        shown["subtype"] = "thread_broadcast"
    if message.thread_ts is not None:
        shown["thread_ts"] = message.thread_ts
    shown["user"] = message.user
    if message.user == state.workspace.bot.id:
        shown |= {"bot_id": state.workspace.bot_id, "app_id": APP_ID}
    shown |= {"ts": message.ts, "text": message.text, "blocks": message.blocks}
    if message.files:
        shown |= {"files": [one.shown() for one in message.files], "upload": False}
    if message.edited_ts is not None:
        shown["edited"] = {"user": message.user, "ts": message.edited_ts}
    if message.reactions:
        shown["reactions"] = message.counted_reactions()
    return shown


def _between(arguments: Arguments) -> Callable[[str], bool]:
    """Whether a ts lies between ``oldest`` and ``latest``; raises Refused where they are no timestamps."""
    inclusive = flag(arguments, "inclusive")
    oldest, latest = _bound(arguments, "oldest"), _bound(arguments, "latest")

    def within(ts: str) -> bool:
        at = float(ts)
        above = oldest is None or at > oldest or (inclusive and at == oldest)
        return above and (latest is None or at < latest or (inclusive and at == latest))

    return within


def _bound(arguments: Arguments, name: str) -> float | None:
    if arguments.get(name) in (None, "", "0", 0):
        return None
    try:
        return float(str(arguments[name]))
    except ValueError:
        raise Refused(f"invalid_ts_{name}") from None
