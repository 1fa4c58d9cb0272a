"""The Web API's methods that post and edit messages."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Final

from sandbox.slack.directory import Arguments, Method, demand
from sandbox.slack.message import Content, Message
from sandbox.slack.objects import message_object
from sandbox.slack.people import Channel
from sandbox.slack.refusal import Refused
from sandbox.slack.state import State
from sandbox.slack.texts import escape_text
from sandbox.slack.validation import are_blocks_too_long, as_errors, as_messages, check_message


class Chat:
    """Posts messages into *state* where *scopes* allow it; edits only those of the app itself.

    *has_messages*: the manifest does not switch off the app's messages tab.
    """

    def __init__(self, state: State, scopes: Collection[str], *, has_messages: bool) -> None:
        self._state = state
        self._has_messages = has_messages
        self._bot = state.workspace.bot.id
        self._scopes = scopes

    def methods(self) -> dict[str, Method]:
        return {
            "chat.postMessage": self.post,
            "chat.postEphemeral": self.post_ephemeral,
            "chat.update": self.update,
            "chat.getPermalink": self.permalink,
        }

    def _writable_channel(self, arguments: Arguments) -> Channel:
        """Return the channel that *arguments* name, if the app may post there; raises Refused with Slack's error code."""
        if not arguments.get("channel"):
            raise Refused("channel_not_found")
        channel = self._state.recipient(str(arguments["channel"]))
        if channel.is_archived:
            raise Refused("is_archived")
        if channel.kind == "im" and not self._has_messages:
            raise Refused("messages_tab_disabled")
        if not channel.bot_is_member and (channel.is_private or "chat:write.public" not in self._scopes):
            raise Refused("not_in_channel")
        return channel

    async def post(self, arguments: Arguments) -> dict[str, Any]:
        message = self._draft(arguments)
        message.ts = self._state.new_ts()
        self._state.add(message)
        shown = message_object(self._state, message)
        return {"channel": message.channel, "ts": message.ts, "message": shown}

    def _draft(self, arguments: Arguments) -> Message:
        """Return the message that *arguments* ask for, without a ts; raises Refused with Slack's error code."""
        channel = self._writable_channel(arguments)
        content = parse_content(self._state, arguments)
        thread_ts = self._state.thread_of(channel.id, arguments.get("thread_ts"))
        message = Message("", channel.id, self._bot, "", [], thread_ts=thread_ts)
        message.set_content(content)
        return message

    async def post_ephemeral(self, arguments: Arguments) -> dict[str, Any]:
        message = self._draft(arguments)
        user = str(arguments.get("user") or "")
        if user not in self._state.channels[message.channel].members:
            raise Refused("user_not_in_channel")
        message.ts, message.visible_to = self._state.new_ts(), user
        self._state.add(message)
        return {"message_ts": message.ts}

    async def update(self, arguments: Arguments) -> dict[str, Any]:
        message = self._own_message(arguments)
        content = parse_content(self._state, arguments)
        # chat.update refuses texts that chat.postMessage accepts, and cuts only after MAX_TEXT.
        if len(content.text) > 4000:
            raise Refused("msg_too_long")
        self._state.edit(message, content)
        shown = message_object(self._state, message)
        return {"channel": message.channel, "ts": message.ts, "text": message.text, "message": shown}

    def _own_message(self, arguments: Arguments) -> Message:
        """Return a message that the app may edit: its own, and not an ephemeral one; raises Refused."""
        channel = self._state.channel_of(str(arguments.get("channel") or ""))
        message = self._state.find(channel.id, str(arguments.get("ts") or ""))
        if message is None or message.visible_to is not None:
            raise Refused("message_not_found")
        if message.user != self._bot:
            raise Refused("cant_update_message")
        return message

    async def permalink(self, arguments: Arguments) -> dict[str, Any]:
        demand(arguments, "channel", "message_ts")
        channel, ts = self._state.channel_of(str(arguments["channel"])), str(arguments["message_ts"])
        message = self._state.find(channel.id, ts)
        if message is None or message.visible_to is not None:
            raise Refused("message_not_found")
        link = f"{self._state.workspace.url}archives/{channel.id}/p{ts.replace('.', '')}"
        if message.thread_ts is not None:
            link += f"?thread_ts={message.thread_ts}&cid={channel.id}"
        return {"channel": channel.id, "permalink": link}


MAX_TEXT: Final = 40_000
"""Characters after which Slack cuts off the text of a message."""


def parse_content(state: State, payload: Arguments) -> Content:
    """Return the content that *payload* gives a message, as it is stored; raises Refused with Slack's error code."""
    text, blocks = payload.get("text"), payload.get("blocks")
    if not text and not blocks:
        raise Refused("no_text")
    if blocks is not None and not isinstance(blocks, list):
        raise Refused("invalid_blocks_format")
    _check_blocks(blocks)
    if text is not None and not isinstance(text, str):
        raise Refused("invalid_arguments")
    return Content(escape_text((text or "")[:MAX_TEXT]), state.with_ids(blocks or []))


def _check_blocks(blocks: list[Any] | None) -> None:
    problems = check_message({"blocks": blocks})
    if problems:
        messages = ["[ERROR] failed to match all allowed schemas [json-pointer:/blocks]", *as_messages(problems)]
        raise Refused("invalid_blocks", errors=as_errors(problems), response_metadata={"messages": messages})
    if blocks and are_blocks_too_long(blocks):
        raise Refused("msg_blocks_too_long")
