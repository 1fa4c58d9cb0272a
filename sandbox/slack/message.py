"""A message of the local Slack."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from sandbox.slack.filestore import File
from sandbox.slack.people import User

TS: Final = re.compile(r"[0-9]{1,12}\.[0-9]{6}")
"""The ts of a message: seconds since 1970, to the microsecond."""


@dataclass(frozen=True, slots=True)
class Content:
    """The content that an app gives a message."""

    text: str
    blocks: list[dict[str, Any]]


@dataclass(slots=True)
class Message:
    """A message of a channel; *visible_to*: the only person who sees it, if it is ephemeral."""

    ts: str
    channel: str
    user: str
    text: str
    blocks: list[dict[str, Any]]
    visible_to: str | None = None
    edited: bool = False
    edited_ts: str | None = None
    """When it was edited through the Web API."""
    thread_ts: str | None = None
    """Of a reply: the ts of the message that it answers."""
    kind: str = "message"
    subtype: str = ""
    """Of a message by Slack itself: ``channel_join``, ``channel_leave``."""
    deleted: bool = False
    files: list[File] = field(default_factory=list)

    def set_content(self, content: Content) -> None:
        self.text, self.blocks = content.text, content.blocks

    @property
    def in_channel(self) -> bool:
        """Whether it is shown in the channel itself, and not in a thread."""
        return self.thread_ts is None

    def page_data(self, users: dict[str, User], replies: Sequence[Message] = ()) -> dict[str, Any]:
        """Return the message as the page gets it; *replies*: of its thread, oldest first."""
        return {
            "ts": self.ts,
            "user": self.user,
            "username": users[self.user].real_name if self.user in users else "Slack",
            "text": self.text,
            "blocks": self.blocks,
            "subtype": self.subtype,
            "ephemeral": self.visible_to is not None,
            "visible_to": self.visible_to,
            "edited": self.edited,
            "thread_ts": self.thread_ts,
            "reply_count": len(replies),
            "reply_users": list(dict.fromkeys(one.user for one in replies)),
            "latest_reply": replies[-1].ts if replies else None,
            "kind": self.kind,
            "files": [one.info() for one in self.files],
        }
