"""The text of a message: as it is typed, as Slack stores it, and as rich text."""

from __future__ import annotations

import re
from hashlib import sha256
from typing import Any, Final

from sandbox.slack.people import Channel, User
from sandbox.slack.state import State

TYPED: Final = re.compile(
    r'(?P<url>https?://[^\s<>|"“”]+)'
    r"|(?P<email>(?<![\w.+%/-])[A-Za-z0-9][\w.+%-]*@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+)"
    r"|(?<![\w@.])@(?P<user>\w(?:[\w.-]*\w)?)(?P<last>(?> \w(?:[\w.-]*\w)?)(?![:/@+%]))?"
    r"|(?<![\w#])#(?P<channel>[a-z0-9](?:[a-z0-9_-]*[a-z0-9])?)"
)
"""Text that becomes a reference, wherever it is: also after a colon, as in ``who:@alice``.

``last`` may be the second half of a full name; it is never the beginning of a URL or an email.
"""
RANGES: Final = frozenset({"here", "channel", "everyone"})
KEPT: Final = re.compile(r"&(?:amp|lt|gt);|<(?:[@#!][^\s<>][^<>]*|[a-z][a-z+.-]*:[^\s<>][^<>]*)>|[&<>]")
LABELLED: Final = re.compile(r"<@([UW][A-Z0-9]+)\|[^<>]*>")
ENTITIES: Final = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
ELEMENT: Final = re.compile(
    r"<@(?P<user>[UW][A-Z0-9]+)(?:\|[^<>]*)?>"
    r"|<#(?P<channel>[CG][A-Z0-9]+)(?:\|[^<>]*)?>"
    r"|<!subteam\^(?P<usergroup>S[A-Z0-9]+)(?:\|[^<>]*)?>"
    r"|<!(?P<broadcast>here|channel|everyone)(?:\|[^<>]*)?>"
    r"|<(?P<link>[a-z][a-z+.-]*:[^<>|]+)(?:\|(?P<label>[^<>]*))?>"
    r"|:(?P<emoji>[+-]1|[a-z0-9_+'-]*[a-z][a-z0-9_+'-]*):"
)


def command_text(text: str, state: State, *, should_escape: bool) -> str:
    """Return a command's text as Slack sends it: entities, and with *should_escape* mentions, channels and links."""
    text = _escape_entities(text)
    return TYPED.sub(lambda match: _reference(match, state, labelled=True), text) if should_escape else text


def message_text(text: str, state: State) -> str:
    """Return a message's text as Slack stores it: the same, but mentions have no names."""
    return TYPED.sub(lambda match: _reference(match, state, labelled=False), _escape_entities(text))


def escape_text(text: str) -> str:
    """Return an app's text as Slack stores it: with entities outside of references, and mentions without names."""
    return KEPT.sub(lambda match: ENTITIES.get(match[0], match[0]), LABELLED.sub(r"<@\1>", text))


def _escape_entities(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _reference(match: re.Match[str], state: State, *, labelled: bool) -> str:
    found = match[0]
    if match["url"]:
        return f"<{found}>"
    if match["email"]:
        return f"<mailto:{found}|{found}>"
    if name := match["channel"]:
        place = next((one for one in state.channels.values() if one.kind == "channel" and one.name == name), None)
        return found if place is None else _channel_reference(place)
    return _names_reference(match["user"], match["last"] or "", state, labelled=labelled) or found


def _channel_reference(channel: Channel) -> str:
    """Return a channel's reference; the name of a private one is left out."""
    return f"<#{channel.id}|{'' if channel.is_private else channel.name}>"


def _names_reference(first: str, last: str, state: State, *, labelled: bool) -> str:
    """Return the reference of the person named *first* *last*; else that of *first*, followed by *last*; empty for nobody."""
    if last and (both := _name_reference(first + last, state, labelled=labelled)):
        return both
    one = _name_reference(first, state, labelled=labelled)
    return one and one + last


def _name_reference(name: str, state: State, *, labelled: bool) -> str:
    """Return the reference of a person, the bot, a user group or everybody; empty unless exactly one has *name*."""
    if name in RANGES:
        return f"<!{name}>"
    if user := find_user(name, state):
        return f"<@{user.id}|{user.name}>" if labelled else f"<@{user.id}>"
    group = next((one for one in state.groups.values() if one.handle == name.lower()), None)
    return "" if group is None else f"<!subteam^{group.id}|@{group.handle}>" if labelled else f"<!subteam^{group.id}>"


def find_user(name: str, state: State) -> User | None:
    """Return the person or app with the handle or full name *name*, in any case; None for nobody and for several."""
    wanted = name.casefold()
    found = [one for one in state.users.values() if wanted in {one.name.casefold(), one.real_name.casefold()}]
    return found[0] if len(found) == 1 else None


def rich_text(text: str, key: str) -> list[dict[str, Any]]:
    """Return the rich-text blocks that Slack makes of a stored *text*; their id is derived from *key*."""
    elements: list[dict[str, Any]] = []
    end = 0
    for match in ELEMENT.finditer(text):
        elements += [*_text_elements(text[end : match.start()]), _element(match)]
        end = match.end()
    elements += _text_elements(text[end:])
    section = {"type": "rich_text_section", "elements": elements}
    return [{"type": "rich_text", "block_id": sha256(key.encode()).hexdigest()[:5], "elements": [section]}]


def _text_elements(text: str) -> list[dict[str, Any]]:
    return [{"type": "text", "text": _unescape(text)}] if text else []


def _unescape(text: str) -> str:
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


def _element(match: re.Match[str]) -> dict[str, Any]:
    kind, value = next((name, value) for name, value in match.groupdict().items() if value)
    match kind:
        case "emoji":
            return {"type": "emoji", "name": value}
        case "broadcast":
            return {"type": "broadcast", "range": value}
        case "link":
            label = {"text": _unescape(match["label"])} if match["label"] else {}
            return {"type": "link", "url": _unescape(value), **label}
        case _:
            return {"type": kind, f"{kind}_id": value}
