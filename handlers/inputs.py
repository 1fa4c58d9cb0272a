"""Slack's payloads, made values at the door: past this module nobody digs in a body."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from handlers.reply import Caller, View
from handlers.routes import Click, Typed
from handlers.views.fields import chosen_channel
from handlers.views.forms import metadata
from handlers.words import MOST, cleaned

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
        "shortcut": [body.get("callback_id"), body.get("message_ts")],
        "typed": [body.get("action_id"), body.get("value")],
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
    return Caller(
        user=str(_inner(body, "user", "id") or ""),
        channel=_channel(body),
        request=natural_key("click", body),
        team=str(_inner(body, "team", "id") or ""),
        response_url=body.get("response_url") or None,
        trigger=body.get("trigger_id") or None,
        view=body.get("view") or None,
        message=str(_inner(body, "container", "message_ts") or _inner(body, "message", "ts") or ""),
        ephemeral=bool(_inner(body, "container", "is_ephemeral")),
        thread=str(_inner(body, "container", "thread_ts") or ""),
    )


def _channel(body: Body) -> str:
    """Where a click or a look-up came from; from a view, what the view was told when it was drawn."""
    told = metadata(body.get("view") or {}).get("channel")
    return str(_inner(body, "channel", "id") or _inner(body, "container", "channel_id") or told or "")


def caller_of_typing(body: Body) -> Caller:
    return Caller(
        user=str(_inner(body, "user", "id") or ""),
        channel=_channel(body),
        request=natural_key("typed", body),
        team=str(_inner(body, "team", "id") or ""),
    )


def typed(body: Body, name: str) -> Typed:
    return Typed(name, str(body.get("value") or ""))


def caller_of_shortcut(body: Body) -> Caller:
    return Caller(
        user=str(_inner(body, "user", "id") or ""),
        channel=_channel(body),
        request=natural_key("shortcut", body),
        team=str(_inner(body, "team", "id") or ""),
        response_url=body.get("response_url") or None,
        trigger=body.get("trigger_id") or None,
        message=str(body.get("message_ts") or ""),
        thread=str(_inner(body, "message", "thread_ts") or ""),
    )


SPOKEN = frozenset({"text", "url", "value", "title", "title_link", "from_url", "pretext", "fallback"})
"""The fields of a message, its blocks and attachments in which something is said."""


MAX_SAID: Final = 40_000
"""Characters of a message that are searched: Slack's own limit for a text. Its blocks and attachments may hold more."""


def all_said(message: Any) -> str:
    """Everything that a message says, a line each: machines put into blocks and attachments what people write."""
    text = "\n".join(dict.fromkeys(_said(message)))
    return text if len(text) <= MAX_SAID else (text[:MAX_SAID].rsplit(maxsplit=1) or [""])[0]


def _said(message: Any) -> Iterator[str]:
    parts = [message]
    while parts:
        part = parts.pop()
        if isinstance(part, Mapping):
            yield from (text for name, text in part.items() if name in SPOKEN and isinstance(text, str) and text)
            part = list(part.values())
        if isinstance(part, list):
            parts += reversed(part)


def caller_of_event(body: Body) -> Caller:
    """Whoever did what the event tells of. What is said in a channel is answered for the channel to see."""
    event: Body = body.get("event") or {}
    channel = str(event.get("channel") or "")
    mentioned = bool(event.get("ts")) and not channel.startswith("D")
    return Caller(
        user=str(event.get("user") or ""),
        channel=channel,
        request=natural_key("event", body),
        team=str(body.get("team_id") or ""),
        public=mentioned,
        message=str(event.get("ts") or ""),
        thread=str(event.get("thread_ts") or ""),
        mentioned=mentioned,
    )


def is_home(body: Body) -> bool:
    """Whether somebody opened the app's home."""
    return str(_inner(body, "event", "type")) == "app_home_opened"


def own_id(body: Body) -> str:
    """The bot's own user id, as an event tells it."""
    authorizations = body.get("authorizations") or [{}]
    return str(_inner(authorizations[0], "user_id") or "")


def caller_of_submission(body: Body) -> Caller:
    view: View = body.get("view") or {}
    return Caller(
        user=str(_inner(body, "user", "id") or ""),
        channel=str(metadata(view).get("channel") or chosen_channel(view)),
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


def asked(kind: str, body: Body) -> str:
    """Return the words of the person, to be quoted in an answer to them alone; nothing where they typed none."""
    if kind == "event":
        return cleaned(str((body.get("event") or {}).get("text") or "")[:MOST])
    return cleaned(f"{body.get('command')} {body.get('text') or ''}"[:MOST]) if kind == "command" else ""


CALLERS: Final = {
    "command": caller_of_command,
    "click": caller_of_click,
    "submission": caller_of_submission,
    "event": caller_of_event,
    "shortcut": caller_of_shortcut,
}
"""Kind of payload -> who asks with it."""
