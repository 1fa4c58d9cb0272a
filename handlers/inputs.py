"""Slack's payloads, made values at the door: past this module nobody digs in a body."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from handlers.reply import Caller, View
from handlers.routes import Click
from handlers.views.forms import metadata

Body = Mapping[str, Any]


def _inner(body: Body, *path: str) -> Any:
    found: Any = body
    for name in path:
        found = found.get(name) if isinstance(found, Mapping) else None
    return found


def natural_key(kind: str, body: Body) -> str:
    """What stays the same however often Slack delivers one act of one person: its trigger, and what was done."""
    view = body.get("view") or {}
    done = {
        "command": [body.get("command"), body.get("text")],
        "click": [body.get("actions")],
        "submission": [view.get("id"), view.get("hash"), _inner(view, "state", "values")],
        "event": [body.get("event_id")],
    }[kind]
    who = body.get("user_id") or _inner(body, "user", "id") or ""
    text = json.dumps([kind, who, body.get("trigger_id"), done], sort_keys=True, default=str)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def caller_of_command(body: Body) -> Caller:
    return Caller(
        user=str(body.get("user_id") or ""),
        channel=str(body.get("channel_id") or ""),
        request=natural_key("command", body),
        team=str(body.get("team_id") or ""),
        response_url=body.get("response_url") or None,
        trigger=body.get("trigger_id") or None,
    )


def caller_of_click(body: Body) -> Caller:
    channel = _inner(body, "channel", "id") or _inner(body, "container", "channel_id")
    return Caller(
        user=str(_inner(body, "user", "id") or ""),
        channel=str(channel or metadata(body.get("view") or {}).get("channel") or ""),
        request=natural_key("click", body),
        team=str(_inner(body, "team", "id") or ""),
        response_url=body.get("response_url") or None,
        trigger=body.get("trigger_id") or None,
        view=body.get("view") or None,
        message=str(_inner(body, "container", "message_ts") or _inner(body, "message", "ts") or ""),
        ephemeral=bool(_inner(body, "container", "is_ephemeral")),
    )


def caller_of_submission(body: Body) -> Caller:
    view: View = body.get("view") or {}
    return Caller(
        user=str(_inner(body, "user", "id") or ""),
        channel=str(metadata(view).get("channel") or ""),
        request=natural_key("submission", body),
        team=str(_inner(body, "team", "id") or ""),
        trigger=body.get("trigger_id") or None,
        view=view,
    )


def click(body: Body, name: str) -> Click:
    """The act of a block_actions payload; whatever kind of element it was, its choice is the value."""
    actions = body.get("actions") or [{}]
    action = actions[0] if isinstance(actions[0], Mapping) else {}
    chosen = _inner(action, "selected_option", "value")
    return Click(name, str(action.get("value") or chosen or ""), body.get("view") or None)


def action_id(body: Body) -> str:
    actions = body.get("actions") or [{}]
    return str(_inner(actions[0], "action_id") or "")


def label(body: Body) -> str:
    """What stands on the button that was clicked."""
    actions = body.get("actions") or [{}]
    return str(_inner(actions[0], "text", "text") or "that button")
