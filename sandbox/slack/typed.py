"""A person's typed text as Slack passes it on (facts 4.5)."""

from __future__ import annotations

import re
from typing import Final

from sandbox.slack.state import State

TOKEN: Final = re.compile(
    r"""
      (?P<url>https?://[^\s<>|"“”]*[^\s<>|"“”.,;:!?'])
    | (?P<email>(?<![\w.+%/-])[A-Za-z0-9][\w.+%-]*@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+)
    | (?<!\S)@(?P<user>[a-z][a-z0-9._-]*)
    | (?<!\S)\#(?P<channel>[a-z][a-z0-9_-]*)
    """,
    re.VERBOSE,
)
BROADCASTS: Final = frozenset({"here", "channel", "everyone"})


def entities(text: str) -> str:
    """The three signs that Slack escapes in all text."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def as_typed(text: str, state: State, *, should_escape: bool) -> str:
    """*text* with entities, and with *should_escape* mentions, channels and links in angle brackets."""
    text = entities(text)
    return TOKEN.sub(lambda found: _marked(found, state), text) if should_escape else text


def _marked(found: re.Match[str], state: State) -> str:
    whole, name = found[0], found["user"] or found["channel"]
    match found.lastgroup:
        case "url":
            return f"<{whole}>"
        case "email":
            return f"<mailto:{whole}|{whole}>"
        case "user":
            return _mention(name.rstrip("."), state) or whole
        case _:
            channels = (one for one in state.channels.values() if one.kind == "channel" and one.name == name)
            return next((f"<#{one.id}|{one.name}>" for one in channels), whole)


def _mention(name: str, state: State) -> str:
    if name in BROADCASTS:
        return f"<!{name}>"
    for user in state.users.values():
        if user.name == name:
            return f"<@{user.id}>"
    for group in state.groups.values():
        if group.handle == name:
            return f"<!subteam^{group.id}|@{group.handle}>"
    return ""
