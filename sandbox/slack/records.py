"""What the local Slack keeps, and how it says no."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sandbox.slack.people import APP_ID, BOT, BOT_ID, TEAM, User

View = dict[str, Any]
Block = dict[str, Any]
Values = dict[str, dict[str, Any]]
"""Slack's ``state.values``: by block_id, then by action_id."""


class Refused(Exception):
    """Slack's ``ok: false``. *code* is its ``error``; *more* what else stands in the answer."""

    def __init__(self, code: str, **more: Any) -> None:
        super().__init__(f"{code} {more}" if more else code)
        self.code = code
        self.more = more


def invalid_arguments(*messages: str) -> Refused:
    """Slack's refusal of a call whose arguments do not fit."""
    return Refused("invalid_arguments", response_metadata={"messages": [f"[ERROR] {one}" for one in messages]})


@dataclass(frozen=True, slots=True)
class Content:
    """What a message says, checked."""

    text: str = ""
    blocks: list[Block] = field(default_factory=list)
    attachments: list[dict[str, Any]] = field(default_factory=list)


@dataclass(slots=True)
class Message:
    """A message of a channel; *visible_to*: of one person alone. *kind*: message, command or system."""

    ts: str
    channel: str
    user: str
    text: str
    blocks: list[Block]
    visible_to: str | None = None
    edited: bool = False
    thread_ts: str | None = None
    kind: str = "message"
    deleted: bool = False
    attachments: list[dict[str, Any]] = field(default_factory=list)
    reactions: dict[str, list[str]] = field(default_factory=dict)
    replies: int = 0

    def say(self, content: Content) -> None:
        """Say something else from now on."""
        self.text, self.blocks, self.attachments = content.text, content.blocks, content.attachments

    def shown(self, users: Mapping[str, User]) -> dict[str, Any]:
        """The message as the page gets it."""
        return {
            "ts": self.ts,
            "user": self.user,
            "username": users[self.user].real_name if self.user in users else "Slack",
            "text": self.text,
            "blocks": self.blocks,
            "ephemeral": self.visible_to is not None,
            "visible_to": self.visible_to,
            "edited": self.edited,
            "thread_ts": self.thread_ts,
            "reply_count": self.replies,
            "reactions": self._reactions(),
            "kind": self.kind,
        }

    def sent(self) -> dict[str, Any]:
        """The message as an app gets it, in answers and payloads."""
        author = {"bot_id": BOT_ID, "app_id": APP_ID} if self.user == BOT.id else {}
        body: dict[str, Any] = {"type": "message", "user": self.user, "ts": self.ts, **author}
        body |= {"team": TEAM["id"], "text": self.text}
        parts = {"blocks": self.blocks, "attachments": self.attachments, "reactions": self._reactions()}
        body |= {name: part for name, part in parts.items() if part}
        if self.edited:
            body["edited"] = {"user": self.user, "ts": self.ts}
        if self.thread_ts is not None or self.replies:
            body["thread_ts"] = self.thread_ts or self.ts
        if self.replies:
            body["reply_count"] = self.replies
        return body

    def _reactions(self) -> list[dict[str, Any]]:
        return [
            {"name": name, "users": list(users), "count": len(users)} for name, users in self.reactions.items() if users
        ]
