"""The text of a message: as somebody types it, as Slack keeps it, and as the rich text that it makes of it."""

from __future__ import annotations

import re
from hashlib import sha256
from typing import Any, Final

from sandbox.slack.people import Channel
from sandbox.slack.state import State

TYPED: Final = re.compile(
    r'(?P<url>https?://[^\s<>|"“”]+)'
    r"|(?P<email>(?<![\w.+%/-])[A-Za-z0-9][\w.+%-]*@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+)"
    r"|(?<![\w@.])@(?P<user>[a-z0-9](?:[a-z0-9._-]*[a-z0-9])?)"
    r"|(?<![\w#])#(?P<channel>[a-z0-9](?:[a-z0-9_-]*[a-z0-9])?)"
)
"""What becomes a reference, wherever in a text it stands: also behind a colon, as in ``who:@alice``."""
RANGES: Final = frozenset({"here", "channel", "everyone"})
KEPT: Final = re.compile(r"&(?:amp|lt|gt);|<(?:[@#!][^\s<>][^<>]*|[a-z][a-z+.-]*:[^\s<>][^<>]*)>|[&<>]")
LABELLED: Final = re.compile(r"<@([UW][A-Z0-9]+)\|[^<>]*>")
ENTITIES: Final = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
INSIDE: Final = re.compile(
    r"<@(?P<user>[UW][A-Z0-9]+)(?:\|[^<>]*)?>"
    r"|<#(?P<channel>[CG][A-Z0-9]+)(?:\|[^<>]*)?>"
    r"|<!subteam\^(?P<usergroup>S[A-Z0-9]+)(?:\|[^<>]*)?>"
    r"|<!(?P<broadcast>here|channel|everyone)(?:\|[^<>]*)?>"
    r"|<(?P<link>[a-z][a-z+.-]*:[^<>|]+)(?:\|(?P<label>[^<>]*))?>"
    r"|:(?P<emoji>[+-]1|[a-z0-9_+'-]*[a-z][a-z0-9_+'-]*):"
)


def as_typed(text: str, state: State, *, should_escape: bool) -> str:
    """A command's text as Slack passes it on: entities, and with *should_escape* mentions, channels and links."""
    text = _entities(text)
    return TYPED.sub(lambda match: _reference(match, state, labelled=True), text) if should_escape else text


def as_said(text: str, state: State) -> str:
    """What somebody says in a channel, as Slack keeps it: the same, but people are mentioned without their names."""
    return TYPED.sub(lambda match: _reference(match, state, labelled=False), _entities(text))


def escaped(text: str) -> str:
    """The text of an app as Slack keeps it: entities for what is no reference, and people without their names."""
    return KEPT.sub(lambda match: ENTITIES.get(match[0], match[0]), LABELLED.sub(r"<@\1>", text))


def _entities(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _reference(match: re.Match[str], state: State, *, labelled: bool) -> str:
    found = match[0]
    if match["url"]:
        return f"<{found}>"
    if match["email"]:
        return f"<mailto:{found}|{found}>"
    if name := match["channel"]:
        place = next((one for one in state.channels.values() if one.kind == "channel" and one.name == name), None)
        return found if place is None else _mentioned(place)
    return _person(match["user"], state, labelled=labelled) or found


def _mentioned(channel: Channel) -> str:
    """A channel's reference; what a private one is called is not passed on."""
    return f"<#{channel.id}|{'' if channel.is_private else channel.name}>"


def _person(name: str, state: State, *, labelled: bool) -> str:
    """The reference of a person, the bot, a user group or everybody; empty where nobody is called *name*."""
    if name in RANGES:
        return f"<!{name}>"
    if user := next((one for one in state.users.values() if one.name == name), None):
        return f"<@{user.id}|{name}>" if labelled else f"<@{user.id}>"
    group = next((one for one in state.groups.values() if one.handle == name), None)
    return "" if group is None else f"<!subteam^{group.id}|@{name}>" if labelled else f"<!subteam^{group.id}>"


def rich_text(text: str, key: str) -> list[dict[str, Any]]:
    """The blocks that Slack makes of a *text* that it keeps; their id follows from *key*."""
    elements: list[dict[str, Any]] = []
    end = 0
    for match in INSIDE.finditer(text):
        elements += [*_plain(text[end : match.start()]), _element(match)]
        end = match.end()
    elements += _plain(text[end:])
    section = {"type": "rich_text_section", "elements": elements}
    return [{"type": "rich_text", "block_id": sha256(key.encode()).hexdigest()[:5], "elements": [section]}]


def _plain(text: str) -> list[dict[str, Any]]:
    return [{"type": "text", "text": _read(text)}] if text else []


def _read(text: str) -> str:
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


def _element(match: re.Match[str]) -> dict[str, Any]:
    kind, value = next((name, value) for name, value in match.groupdict().items() if value)
    match kind:
        case "emoji":
            return {"type": "emoji", "name": value}
        case "broadcast":
            return {"type": "broadcast", "range": value}
        case "link":
            label = {"text": _read(match["label"])} if match["label"] else {}
            return {"type": "link", "url": _read(value), **label}
    return {"type": kind, f"{kind}_id": value}
