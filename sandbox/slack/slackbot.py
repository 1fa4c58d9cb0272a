"""Slackbot without a model: it lists the app's tools, and calls them as the person at the page, signed as Slack signs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from sandbox.slack.delivery import Delivery
from sandbox.slack.refusal import Refused
from sandbox.slack.state import State

ALLOWED: Final = frozenset(
    {
        "context",
        "divider",
        "header",
        "markdown",
        "rich_text",
        "section",
        "file",
        "image",
        "video",
        "actions",
        "carousel",
    }
    | {"input", "data_table", "data_visualization", "table", "card", "container"}
)
"""The types of blocks that Slackbot shows; one of another type drops them all."""


@dataclass(frozen=True, slots=True)
class Slackbot:
    """An MCP client at the app's endpoint, where the app has one."""

    state: State
    delivery: Delivery

    async def tools(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """Return the tools of the app as it describes them, and the suggestion of the workspace."""
        found = await self._send(asked["user"], "tools/list", {})
        return {"tools": found["tools"], "suggestion": self.state.workspace.proposal}

    async def call(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """Call a tool; return its text, and the blocks that Slackbot shows instead, none where one isn't allowed."""
        found = await self._send(asked["user"], "tools/call", {"name": asked["tool"], "arguments": asked["arguments"]})
        blocks = ((found.get("_meta") or {}).get("slack") or {}).get("blocks", [])
        return {
            "text": "\n".join(part.get("text", "") for part in found["content"]),
            "blocks": blocks if all(block.get("type") in ALLOWED for block in blocks) else [],
            "is_error": bool(found.get("isError")),
        }

    async def _send(self, user: str, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        """Return the result of *method* for *user*; raises Refused where the app refuses, or has no endpoint."""
        who = {"user_id": user, "team_id": self.state.workspace.id}
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": {"slack": who}}}
        what = f"{method} {params.get('name', '')}".strip()
        ack = await self.delivery.send_to_tools(what, message)
        if ack.failed:
            raise Refused(ack.failed)
        if "error" in ack.body:
            raise Refused(str(ack.body["error"].get("message")))
        result: dict[str, Any] = ack.body["result"]
        return result
