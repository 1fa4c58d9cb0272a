"""The answers of an app to one request: in its acknowledgement, or through a response URL."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sandbox.slack.chat import parse_content
from sandbox.slack.message import Message
from sandbox.slack.refusal import Refused
from sandbox.slack.state import State
from sandbox.slack.tickets import RESPONSE_USES, ResponseUrl


class Answers:
    """Makes response URLs, under *address*, and posts what the app sends to them."""

    def __init__(self, state: State, address: str = "") -> None:
        self._state = state
        self.address = address

    def new_url(self, user: str, channel: str, source: str | None, typed: str = "") -> str:
        return f"{self.address}/response/{self._state.new_response_url(user, channel, source, typed)}"

    def acknowledge(self, url: str, body: Mapping[str, Any]) -> None:
        """Show the answer in the app's acknowledgement of the request that *url* belongs to."""
        self.answer(self._state.response_urls[url.removeprefix(f"{self.address}/response/")], body)

    def respond(self, name: str, body: Mapping[str, Any]) -> None:
        """Show what the app sends to a response URL; raises Refused where that isn't valid."""
        url = self._state.response_urls.get(name)
        if url is None or self._state.clock() > url.expires:
            raise Refused("expired_url")
        if url.uses >= RESPONSE_USES:
            raise Refused("used_url")
        self._use_url(url, body)
        url.uses += 1

    def _use_url(self, url: ResponseUrl, body: Mapping[str, Any]) -> None:
        source = self._state.find(url.channel, url.source) if url.source else None
        if body.get("delete_original"):
            if source is not None:
                self._state.delete(source)
            return
        if body.get("replace_original") and source is not None:
            self._state.edit(source, parse_content(self._state, body))
            return
        self.answer(url, body)

    def answer(self, url: ResponseUrl, body: Mapping[str, Any]) -> None:
        """Post a message of the app: private, unless it says in_channel; then the typed command is shown before it."""
        content, channel = parse_content(self._state, body), url.channel
        only = None if body.get("response_type") == "in_channel" else url.user
        if only is None and url.typed:
            self._state.add(Message(self._state.new_ts(), channel, url.user, url.typed, [], kind="command"))
            url.typed = ""
        root = self._state.thread_of(channel, body.get("thread_ts"))
        bot = self._state.workspace.bot.id
        message = Message(self._state.new_ts(), channel, bot, "", [], visible_to=only, thread_ts=root)
        message.set_content(content)
        self._state.add(message)
