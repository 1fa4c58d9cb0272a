"""Scheduled messages: posted at their time, by the clock of the local Slack."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Any, Final

from sandbox.slack.chat import Chat
from sandbox.slack.directory import Arguments, Method, demand
from sandbox.slack.message import Message
from sandbox.slack.paging import page
from sandbox.slack.refusal import Refused
from sandbox.slack.state import State

MAX_DAYS_AHEAD: Final = 120
MAX_IN_FIVE_MINUTES: Final = 30
"""Messages that may be scheduled for one channel within any five minutes."""
MIN_PAUSE: Final = 0.01
"""Seconds between two checks of what is almost due."""
LAST_CALL_SECONDS: Final = 60
"""A message that is due within so many seconds can't be deleted any more."""


@dataclass(frozen=True, slots=True)
class Planned:
    """A *message* that waits for its time, *post_at*."""

    id: str
    message: Message
    post_at: int
    created: int

    def info(self) -> dict[str, Any]:
        times = {"post_at": self.post_at, "date_created": self.created}
        return {"id": self.id, "channel_id": self.message.channel, **times, "text": self.message.text}


@dataclass(slots=True)
class Schedule:
    """The messages of one workspace that wait."""

    state: State
    waiting: dict[str, Planned] = field(default_factory=dict)
    _timers: dict[str, asyncio.TimerHandle] = field(default_factory=dict)

    def plan(self, message: Message, post_at: int) -> Planned:
        """Post *message* when the clock shows *post_at*."""
        planned = Planned(f"Q0{self.state.number():08d}", message, post_at, int(self.state.clock()))
        self.waiting[planned.id] = planned
        self._set_timer(planned)
        return planned

    def _set_timer(self, planned: Planned) -> None:
        pause = max(MIN_PAUSE, planned.post_at - self.state.clock())
        self._timers[planned.id] = asyncio.get_running_loop().call_later(pause, self._on_timer, planned)

    def _on_timer(self, planned: Planned) -> None:
        """Post what is due, and set another timer where *planned* is not yet: timers run by another clock."""
        self.post_due()
        if planned.id in self.waiting:
            self._set_timer(planned)

    def post_due(self) -> None:
        """Post what is due now; call it after a standing clock was set forward."""
        for planned in sorted(self.waiting.values(), key=lambda one: one.post_at):
            if planned.post_at <= self.state.clock():
                del self.waiting[planned.id]
                planned.message.ts = self.state.new_ts()
                self.state.add(planned.message)

    def close(self) -> None:
        for timer in self._timers.values():
            timer.cancel()


class Scheduled:
    """The Web API's methods about scheduled messages; *chat* says what may be posted, and where."""

    def __init__(self, schedule: Schedule, chat: Chat) -> None:
        self._schedule = schedule
        self._chat = chat

    def methods(self) -> dict[str, Method]:
        return {
            "chat.scheduleMessage": self.plan,
            "chat.deleteScheduledMessage": self.delete,
            "chat.scheduledMessages.list": self.list_waiting,
        }

    async def plan(self, arguments: Arguments) -> dict[str, Any]:
        demand(arguments, "channel", "post_at")
        post_at = self._parse_post_at(arguments)
        message = self._chat.draft(arguments)
        self._check_room(message.channel, post_at)
        planned = self._schedule.plan(message, post_at)
        home = self._schedule.state.workspace
        attachments = {"attachments": message.attachments} if message.attachments else {}
        shown = {"text": message.text, "username": home.bot.real_name, "bot_id": home.bot_id, **attachments}
        shown |= {"type": "delayed_message", "subtype": "bot_message"}
        return {
            "channel": message.channel,
            "scheduled_message_id": planned.id,
            "post_at": post_at,
            "message": shown,
        }

    def _parse_post_at(self, arguments: Arguments) -> int:
        try:
            post_at = int(str(arguments["post_at"]))
        except ValueError:
            raise Refused("invalid_time") from None
        ahead = post_at - self._schedule.state.clock()
        if ahead <= 0:
            raise Refused("time_in_past")
        if ahead > MAX_DAYS_AHEAD * 86_400:
            raise Refused("time_too_far")
        return post_at

    def _check_room(self, channel: str, post_at: int) -> None:
        waiting = [one.post_at for one in self._schedule.waiting.values() if one.message.channel == channel]
        if sum(abs(one - post_at) < 300 for one in waiting) >= MAX_IN_FIVE_MINUTES:
            raise Refused("restricted_too_many")

    async def delete(self, arguments: Arguments) -> dict[str, Any]:
        """Delete a message that is not due within LAST_CALL_SECONDS."""
        demand(arguments, "channel", "scheduled_message_id")
        channel = self._schedule.state.channel_of(str(arguments["channel"]))
        planned = self._schedule.waiting.get(str(arguments["scheduled_message_id"]))
        if planned is None or planned.message.channel != channel.id:
            raise Refused("invalid_scheduled_message_id")
        if planned.post_at - self._schedule.state.clock() < LAST_CALL_SECONDS:
            raise Refused("invalid_scheduled_message_id")
        del self._schedule.waiting[planned.id]
        return {}

    async def list_waiting(self, arguments: Arguments) -> dict[str, Any]:
        """Return the waiting messages, soonest first: of one channel, of a span of time, or all."""
        channel = str(arguments.get("channel") or "")
        if channel and channel not in self._schedule.state.channels:
            raise Refused("invalid_channel")
        known = {one.id: one for one in self._sorted_messages() if _is_wanted(one, channel, arguments)}
        try:
            shown, cursor = page(list(known), arguments, kind="next")
        except ValueError as error:
            raise Refused(str(error)) from None
        found = [known[one].info() for one in shown]
        return {"scheduled_messages": found, "response_metadata": {"next_cursor": cursor}}

    def _sorted_messages(self) -> list[Planned]:
        return sorted(self._schedule.waiting.values(), key=lambda one: one.post_at)


def _is_wanted(planned: Planned, channel: str, arguments: Arguments) -> bool:
    oldest, latest = float(arguments.get("oldest") or 0), float(arguments.get("latest") or "inf")
    return channel in {"", planned.message.channel} and oldest <= planned.post_at <= latest
