"""The payloads that Slack sends to an app, with the fields that are always there, and no invented ones."""

from __future__ import annotations

from typing import Any, Final

from sandbox.slack.message import Message
from sandbox.slack.objects import message_object
from sandbox.slack.people import ENTERPRISE
from sandbox.slack.state import State, View

VERIFICATION: Final = "local-verification-token"


def command(state: State, user: str, channel: str, name: str, text: str, response_url: str) -> dict[str, str]:
    return {
        "token": VERIFICATION,
        "team_id": state.workspace.id,
        "team_domain": state.workspace.domain,
        "channel_id": channel,
        "channel_name": _channel_name(state, channel),
        "user_id": user,
        "user_name": state.users[user].name,
        "command": name,
        "text": text,
        "api_app_id": state.workspace.app.id,
        "is_enterprise_install": "false",
        "response_url": response_url,
        "trigger_id": state.new_trigger(user),
    }


def _channel_name(state: State, channel: str) -> str:
    found = state.channels[channel]
    if found.kind == "im":
        return "directmessage"
    return "privategroup" if found.is_private else found.name


def _common_fields(state: State, kind: str, user: str) -> dict[str, Any]:
    person = state.users[user]
    home = person.team_id(state.workspace.id)
    team = {"team_id": home} if home else {}
    return {
        "type": kind,
        "user": {"id": user, "username": person.name, "name": person.name, **team},
        "api_app_id": state.workspace.app.id,
        "token": VERIFICATION,
        "team": {"id": state.workspace.id, "domain": state.workspace.domain},
        "enterprise": dict(ENTERPRISE) if person.grid else None,
        "is_enterprise_install": False,
    }


def message_click(
    state: State, user: str, message: Message, action: dict[str, Any], values: dict[str, Any], response_url: str
) -> dict[str, Any]:
    """block_actions from a message; of a private one the message itself is not sent along."""
    payload = _common_fields(state, "block_actions", user) | {
        "container": _container(message),
        "trigger_id": state.new_trigger(user),
        "channel": _channel(state, message.channel),
        "state": {"values": values},
        "response_url": response_url,
        "actions": [action],
    }
    return payload if message.visible_to is not None else payload | {"message": message_object(state, message)}


def _container(message: Message) -> dict[str, Any]:
    thread = {"thread_ts": message.thread_ts} if message.thread_ts is not None else {}
    return {
        "type": "message",
        "message_ts": message.ts,
        "channel_id": message.channel,
        "is_ephemeral": message.visible_to is not None,
        **thread,
    }


def _channel(state: State, channel: str) -> dict[str, str]:
    return {"id": channel, "name": _channel_name(state, channel)}


def view_click(state: State, user: str, view: View, action: dict[str, Any], values: dict[str, Any]) -> dict[str, Any]:
    """block_actions from a modal or a home tab."""
    return _common_fields(state, "block_actions", user) | {
        "container": {"type": "view", "view_id": view["id"]},
        "trigger_id": state.new_trigger(user, view),
        "view": {**view, "state": {"values": values}},
        "state": {"values": values},
        "actions": [action],
    }


def submission(state: State, user: str, view: View, values: dict[str, Any]) -> dict[str, Any]:
    return _common_fields(state, "view_submission", user) | {
        "trigger_id": state.new_trigger(user, view),
        "view": {**view, "state": {"values": values}},
        "response_urls": [],
    }


def suggestion(
    state: State, user: str, place: Message | View, block_id: str, action_id: str, value: str
) -> dict[str, Any]:
    """block_suggestion: what somebody has typed into an external select so far."""
    holder: dict[str, Any]
    if isinstance(place, Message):
        holder = {"container": _container(place), "channel": _channel(state, place.channel)}
        holder |= {} if place.visible_to is not None else {"message": message_object(state, place)}
    else:
        holder = {"container": {"type": "view", "view_id": place["id"]}, "view": place}
    return (
        _common_fields(state, "block_suggestion", user)
        | {"action_id": action_id, "block_id": block_id, "value": value}
        | holder
    )


def message_action(state: State, user: str, message: Message, callback_id: str, response_url: str) -> dict[str, Any]:
    """A message shortcut, from the menu of *message*."""
    fields = _common_fields(state, "message_action", user)
    return {name: value for name, value in fields.items() if name != "api_app_id"} | {
        "action_ts": state.new_ts(),
        "callback_id": callback_id,
        "trigger_id": state.new_trigger(user),
        "channel": _channel(state, message.channel),
        "message": message_object(state, message),
        "message_ts": message.ts,
        "response_url": response_url,
    }


def event(state: State, event: dict[str, Any]) -> dict[str, Any]:
    number = state.number()
    return {
        "token": VERIFICATION,
        "team_id": state.workspace.id,
        "api_app_id": state.workspace.app.id,
        "event": event,
        "type": "event_callback",
        "event_id": f"Ev{number:08d}",
        "event_time": int(state.clock()),
        "authorizations": [
            {
                "enterprise_id": None,
                "team_id": state.workspace.id,
                "user_id": state.workspace.bot.id,
                "is_bot": True,
                "is_enterprise_install": False,
            }
        ],
        "is_ext_shared_channel": False,
        "event_context": f"4-{number}",
    }
