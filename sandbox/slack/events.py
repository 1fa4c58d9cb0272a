"""The Events API: deliver what happens in a workspace to the app, if its manifest subscribes to it and it has the scope."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from typing import Any, Final

from sandbox.slack import payloads
from sandbox.slack.delivery import Delivery
from sandbox.slack.happenings import Deleted, Edited, Happening, Posted
from sandbox.slack.message import Message
from sandbox.slack.objects import message_object
from sandbox.slack.people import Channel
from sandbox.slack.state import State

SCOPES: Final = {
    "app_mention": "app_mentions:read",
    "message.channels": "channels:history",
    "message.groups": "groups:history",
    "message.im": "im:history",
}
"""The scope that each event needs."""

Told = tuple[str, dict[str, Any]]
"""The name that an app subscribes to, and the event."""


class Events:
    """Delivers what happens in *state* as events, including what the app itself did."""

    def __init__(self, state: State, delivery: Delivery, manifest: Mapping[str, Any]) -> None:
        self._state = state
        self._delivery = delivery
        settings = manifest.get("settings", {}).get("event_subscriptions", {})
        self._subscribed = frozenset(settings.get("bot_events", ()))
        self._scopes = frozenset(manifest.get("oauth_config", {}).get("scopes", {}).get("bot", ()))
        self._under_way: set[asyncio.Task[None]] = set()
        state.happened = self.hear

    def hear(self, happening: Happening) -> None:
        """Start to deliver *happening* to the app, in the background."""
        place = self._visible_channel(happening)
        if place is None:
            return
        told = [self._payload(event) for name, event in self._events(happening, place) if self._is_wanted(name)]
        if told:
            task = asyncio.get_running_loop().create_task(self._deliver(told))
            self._under_way.add(task)
            task.add_done_callback(self._under_way.discard)

    async def wait_for_deliveries(self) -> None:
        """Return once everything that happened so far was delivered, or tried, once."""
        await asyncio.gather(*self._under_way)

    async def notify_app(self, name: str, event: dict[str, Any]) -> None:
        """Deliver *event* to the app if its manifest subscribes to *name*; even at the end of its installation."""
        if self._is_wanted(name):
            await self._deliver([self._payload(event)])

    def close(self) -> None:
        for task in self._under_way:
            task.cancel()

    async def _deliver(self, told: list[dict[str, Any]]) -> None:
        for one in told:
            await self._delivery.send_event(one)

    def _payload(self, event: dict[str, Any]) -> dict[str, Any]:
        return payloads.event(self._state, event)

    def _is_wanted(self, name: str) -> bool:
        scope = SCOPES.get(name, "")
        return name in self._subscribed and (not scope or scope in self._scopes)

    def _visible_channel(self, happening: Happening) -> Channel | None:
        """Return the channel of *happening*; None where the app is not in it, and for what only one person sees."""
        message = happening.message
        if message.visible_to is not None or message.kind != "message":
            return None
        place = self._state.channels[message.channel]
        return place if place.bot_is_member else None

    def _events(self, happening: Happening, place: Channel) -> Iterator[Told]:
        match happening:
            case Posted(message):
                yield from self._message_events(message, place)
            case Edited(message, before):
                yield self._change_event(message, place, "message_changed", before)
            case Deleted(message):
                yield self._change_event(message, place, "message_deleted", message)

    def _message_events(self, message: Message, place: Channel) -> Iterator[Told]:
        event = message_object(self._state, message) | {"channel": message.channel, "event_ts": message.ts}
        bot = self._state.workspace.bot.id
        if f"<@{bot}>" in message.text and message.user != bot and place.kind != "im" and not message.subtype:
            yield "app_mention", event | {"type": "app_mention"}
        subtype = {"subtype": "file_share"} if message.files and message.user != bot else {}
        yield _subscription(place), event | subtype | {"channel_type": _channel_type(place)}

    def _change_event(self, message: Message, place: Channel, subtype: str, before: Message) -> Told:
        now = self._state.new_ts()
        event = {"type": "message", "subtype": subtype, "channel": message.channel, "hidden": True, "ts": now}
        event |= {"previous_message": message_object(self._state, before)}
        if subtype == "message_deleted":
            event["deleted_ts"] = message.ts
        else:
            event["message"] = message_object(self._state, message)
        return _subscription(place), event | {"event_ts": now, "channel_type": _channel_type(place)}


def _channel_type(place: Channel) -> str:
    return "im" if place.kind == "im" else "group" if place.is_private else "channel"


def _subscription(place: Channel) -> str:
    return "message.im" if place.kind == "im" else f"message.{_channel_type(place)}s"
