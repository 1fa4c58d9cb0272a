"""The Web API's methods that post, edit and delete messages."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from sandbox.slack.directory import Arguments, Method, demand, flag
from sandbox.slack.history import message_object
from sandbox.slack.message import Message
from sandbox.slack.people import Channel
from sandbox.slack.refusal import Refused
from sandbox.slack.state import State
from sandbox.slack.validation import as_errors, as_messages, blocks_too_long, check_message
from sandbox.slack.validation.limits import LIMITS
from sandbox.slack.validation.rules import ONE_TABLE


class Chat:
    """Puts messages into *state* where *scopes* allow it, and touches those of the app alone.

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
            "chat.delete": self.delete,
            "chat.getPermalink": self.permalink,
        }

    def _writable(self, arguments: Arguments) -> Channel:
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
        channel = self._writable(arguments)
        text, blocks = self._content(arguments)
        thread_ts = self._state.thread_of(channel.id, arguments.get("thread_ts"))
        broadcast = thread_ts is not None and flag(arguments, "reply_broadcast")
        message = Message(
            self._state.new_ts(), channel.id, self._bot, text, blocks, thread_ts=thread_ts, broadcast=broadcast
        )
        self._state.add(message)
        return {"channel": channel.id, "ts": message.ts, "message": message_object(self._state, message)}

    async def post_ephemeral(self, arguments: Arguments) -> dict[str, Any]:
        channel = self._writable(arguments)
        user = str(arguments.get("user") or "")
        if user not in channel.members:
            raise Refused("user_not_in_channel")
        text, blocks = self._content(arguments)
        thread_ts = self._state.thread_of(channel.id, arguments.get("thread_ts"))
        message = Message(
            self._state.new_ts(), channel.id, self._bot, text, blocks, visible_to=user, thread_ts=thread_ts
        )
        self._state.add(message)
        return {"message_ts": message.ts}

    async def update(self, arguments: Arguments) -> dict[str, Any]:
        message = self._own_message(arguments, "cant_update_message")
        text, blocks = self._content(arguments)
        if len(text) > 4000 and "markdown_text" not in arguments:
            raise Refused("msg_too_long")
        message.text, message.blocks, message.edited = text, blocks, True
        message.edited_ts = self._state.new_ts()
        self._state.changed(message)
        return {
            "channel": message.channel,
            "ts": message.ts,
            "text": text,
            "message": message_object(self._state, message),
        }

    async def delete(self, arguments: Arguments) -> dict[str, Any]:
        message = self._own_message(arguments, "cant_delete_message")
        self._state.delete(message)
        return {"channel": message.channel, "ts": message.ts}

    def _own_message(self, arguments: Arguments, refusal: str) -> Message:
        """A message that the app may touch: its own, and not a private one."""
        channel = self._state.channel_of(str(arguments.get("channel") or ""))
        message = self._state.find(channel.id, str(arguments.get("ts") or ""))
        if message is None or message.visible_to is not None:
            raise Refused("message_not_found")
        if message.user != self._bot:
            raise Refused(refusal)
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

    def _content(self, arguments: Arguments) -> tuple[str, list[dict[str, Any]]]:
        """The text and blocks of a message, or Slack's refusal of them."""
        text, blocks = arguments.get("text"), arguments.get("blocks")
        return checked_content(self._state, text, blocks, arguments)


def checked_content(state: State, text: Any, blocks: Any, payload: Arguments) -> tuple[str, list[dict[str, Any]]]:
    """The text and blocks of *payload* as they are kept; raises Refused with Slack's words."""
    if markdown := payload.get("markdown_text"):
        return _marked_down(state, markdown, payload)
    if not text and not blocks and not payload.get("attachments"):
        raise Refused("no_text")
    if blocks is not None and not isinstance(blocks, list):
        raise Refused("invalid_blocks_format")
    if problems := check_message({"blocks": blocks, "attachments": payload.get("attachments")}):
        messages = ["[ERROR] failed to match all allowed schemas [json-pointer:/blocks]", *as_messages(problems)]
        # Slack keeps tables as attachments, and says so when there are two.
        refusal = "invalid_attachments" if any(one.text == ONE_TABLE for one in problems) else "invalid_blocks"
        raise Refused(refusal, errors=as_errors(problems), response_metadata={"messages": messages})
    if blocks and blocks_too_long(blocks):
        raise Refused("msg_blocks_too_long")
    if text is not None and not isinstance(text, str):
        raise Refused("invalid_arguments")
    if len(text or "") > 40_000:
        raise Refused("msg_too_long")
    return text or "", state.with_ids(blocks or [])


def _marked_down(state: State, markdown: Any, payload: Arguments) -> tuple[str, list[dict[str, Any]]]:
    """``markdown_text``, which stands alone: kept as a markdown block, and as the text of notifications."""
    if payload.get("text") or payload.get("blocks"):
        raise Refused("markdown_text_conflict")
    if not isinstance(markdown, str):
        raise Refused("invalid_arguments")
    if len(markdown) > (LIMITS["message.markdown"].high or 0):
        raise Refused("msg_too_long")
    return markdown, state.with_ids([{"type": "markdown", "text": markdown}])
