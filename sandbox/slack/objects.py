"""The message object, the same in answers of the Web API, in events and in payloads."""

from __future__ import annotations

from typing import Any

from sandbox.slack.message import Message
from sandbox.slack.people import CREATED
from sandbox.slack.state import State
from sandbox.slack.texts import rich_text


def message_object(state: State, message: Message) -> dict[str, Any]:
    """Return the message object."""
    shown: dict[str, Any] = {"type": "message"} | ({"subtype": message.subtype} if message.subtype else {})
    if message.thread_ts is not None:
        root = state.find(message.channel, message.thread_ts)
        shown["thread_ts"] = message.thread_ts
        shown |= {"parent_user_id": root.user} if root else {}
    shown |= {"user": message.user, **_author_fields(state, message)}
    shown |= {"ts": message.ts, "text": message.text, **_content_fields(message)}
    if message.files:
        shown |= {"files": [one.info() for one in message.files], "upload": False}
    if message.edited_ts is not None:
        shown["edited"] = {"user": message.user, "ts": message.edited_ts}
    return shown


def _author_fields(state: State, message: Message) -> dict[str, Any]:
    """Return the fields beside the author's id: for the app its bot, for a person the id of their client's message."""
    home = state.workspace
    if message.user == home.bot.id:
        return {"bot_id": home.bot_id, "app_id": home.app.id, "team": home.id, "bot_profile": bot_profile(state)}
    person = state.users.get(message.user)
    team = {"team": (person.team_id(home.id) if person else "") or home.id}
    return team if message.subtype else {"client_msg_id": _client_id(message), **team}


def _client_id(message: Message) -> str:
    digits = f"{int(message.ts.replace('.', '')):032x}"
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))


def _content_fields(message: Message) -> dict[str, Any]:
    """Return blocks, which Slack makes of a text without any."""
    blocks = message.blocks or (rich_text(message.text, message.ts) if message.text and not message.subtype else [])
    return {"blocks": blocks} if blocks else {}


def bot_profile(state: State) -> dict[str, Any]:
    """Return the profile of the app's bot, as its messages contain it."""
    home = state.workspace
    icons = {f"image_{size}": f"{home.url}img/bot_{size}.png" for size in (36, 48, 72)}
    return {
        "id": home.bot_id,
        "deleted": False,
        "name": home.bot.real_name,
        "updated": CREATED,
        "app_id": home.app.id,
        "user_id": home.bot.id,
        "icons": icons,
        "team_id": home.id,
    }
