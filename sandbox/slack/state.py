"""What the local Slack knows: one team, its people and channels, messages, modals, passes; and who watches."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from sandbox.slack.ids import Ids
from sandbox.slack.modals import Modals
from sandbox.slack.news import News
from sandbox.slack.passes import Passes
from sandbox.slack.people import BOT, GROUPS, PEOPLE, Channel, Group, User, channels
from sandbox.slack.records import Content, Message, Refused, View


@dataclass(slots=True)
class State:
    """All of it. *clock* in seconds since 1970; *address*: where this Slack is, for links and response URLs."""

    clock: Callable[[], float] = time.time
    address: str = ""
    ids: Ids = field(init=False)
    news: News = field(init=False)
    users: dict[str, User] = field(init=False)
    groups: dict[str, Group] = field(init=False)
    channels: dict[str, Channel] = field(init=False)
    messages: list[Message] = field(init=False)
    modals: Modals = field(init=False)
    passes: Passes = field(init=False)
    _by_name: dict[tuple[str, str], Message] = field(init=False)

    def __post_init__(self) -> None:
        self.ids = Ids(self._now)
        self.news = News(self.ids, self._now)
        self.reset()

    def _now(self) -> float:
        """The clock, which a test may exchange."""
        return self.clock()

    def reset(self) -> None:
        """As at the start; who watches goes on watching."""
        self.users = {user.id: user for user in (*PEOPLE, BOT)}
        self.groups = {group.id: group for group in GROUPS}
        self.channels = channels()
        self.messages = []
        self._by_name = {}
        self.modals = Modals(self.ids, self._now, self.news)
        self.passes = Passes(self.ids, self._now)
        self.news.traffic.clear()
        self.news.tell({"type": "channels", "channels": [one.shown() for one in self.channels.values()]})

    @property
    def traffic(self) -> deque[dict[str, Any]]:
        """What went between Slack and the app, oldest first."""
        return self.news.traffic

    def stack(self, user: str) -> list[View]:
        """The modals of *user*, bottom first."""
        return self.modals.stack(user)

    def post(
        self,
        channel: str,
        user: str,
        content: Content,
        *,
        only: str | None = None,
        thread_ts: str | None = None,
        kind: str = "message",
    ) -> Message:
        """A new message of *user*; *only* for one person, where it is private."""
        message = Message(self.ids.ts(), channel, user, content.text, content.blocks, only, kind=kind)
        message.attachments = content.attachments
        message.thread_ts = thread_ts
        self.messages.append(message)
        self._by_name[channel, message.ts] = message
        self._show("message", message)
        self._count_reply(message)
        return message

    def _count_reply(self, message: Message) -> None:
        parent = self.find(message.channel, message.thread_ts) if message.thread_ts else None
        if parent is not None and message.visible_to is None:
            parent.replies += 1
            self.changed(parent)

    def changed(self, message: Message) -> None:
        """Whoever sees *message* sees it anew."""
        self._show("message_changed", message)

    def delete(self, message: Message) -> None:
        message.deleted = True
        event = {"type": "message_deleted", "channel": message.channel, "ts": message.ts}
        self.news.tell(event, only=self._audience(message))

    def _show(self, kind: str, message: Message) -> None:
        event = {"type": kind, "channel": message.channel, "message": message.shown(self.users)}
        self.news.tell(event, only=self._audience(message))

    def _audience(self, message: Message) -> tuple[str, ...]:
        return (message.visible_to,) if message.visible_to else self.channels[message.channel].members

    def find(self, channel: str, ts: str) -> Message | None:
        found = self._by_name.get((channel, ts))
        return None if found is None or found.deleted else found

    def sees(self, user: str, message: Message) -> bool:
        """Whether *message* is there for *user*."""
        return not message.deleted and user in self._audience(message)

    def visible(self, user: str, channel: str) -> list[Message]:
        """What *user* sees in *channel*, oldest first."""
        return [one for one in self.messages if one.channel == channel and self.sees(user, one)]

    def channel_of(self, name: str) -> Channel:
        """The channel with this id or #name, or the direct message with the person of this id. Refused if there is none."""
        if (found := self.channels.get(name) or self.direct(name)) is not None:
            return found
        wanted = name.removeprefix("#")
        for one in self.channels.values():
            if one.kind == "channel" and one.name == wanted:
                return one
        raise Refused("channel_not_found")

    def direct(self, user: str) -> Channel | None:
        """The direct message of *user* with the bot."""
        return next((one for one in self.channels.values() if one.kind == "im" and one.members[0] == user), None)

    def permalink(self, message: Message) -> str:
        """A link to *message* that works on this machine."""
        link = f"{self.address}/archives/{message.channel}/p{message.ts.replace('.', '')}"
        return f"{link}?thread_ts={message.thread_ts}&cid={message.channel}" if message.thread_ts else link
