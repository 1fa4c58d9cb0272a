"""What Slack sends an app: the fields of each payload, those that are always there and no invented ones (facts 4.6)."""

from __future__ import annotations

from typing import Any, Final

from sandbox.slack.people import APP_ID, BOT, TEAM
from sandbox.slack.records import Message, Values, View
from sandbox.slack.state import State

VERIFICATION: Final = "local-verification-token"
TEAM_REF: Final = {"id": TEAM["id"], "domain": TEAM["domain"]}
Payload = dict[str, Any]


def command(state: State, user: str, channel: str, name: str, text: str, response_url: str) -> dict[str, str]:
    """The fields of a slash command."""
    return {
        "token": VERIFICATION,
        "team_id": TEAM["id"],
        "team_domain": TEAM["domain"],
        "channel_id": channel,
        "channel_name": channel_name(state, channel),
        "user_id": user,
        "user_name": state.users[user].name,
        "command": name,
        "text": text,
        "api_app_id": APP_ID,
        "is_enterprise_install": "false",
        "response_url": response_url,
        "trigger_id": state.passes.new_trigger(user),
    }


def channel_name(state: State, channel: str) -> str:
    found = state.channels[channel]
    return "directmessage" if found.kind == "im" else found.name


def _common(state: State, kind: str, user: str) -> Payload:
    person = state.users[user]
    return {
        "type": kind,
        "user": {"id": user, "username": person.name, "name": person.name, "team_id": TEAM["id"]},
        "api_app_id": APP_ID,
        "token": VERIFICATION,
        "team": dict(TEAM_REF),
        "enterprise": None,
        "is_enterprise_install": False,
    }


def in_message(state: State, message: Message) -> Payload:
    """Where something of a message is; a private message is not sent along."""
    private = message.visible_to is not None
    container = {"type": "message", "message_ts": message.ts, "channel_id": message.channel, "is_ephemeral": private}
    if message.thread_ts is not None:
        container["thread_ts"] = message.thread_ts
    place = {
        "container": container,
        "channel": {"id": message.channel, "name": channel_name(state, message.channel)},
    }
    return place if private else place | {"message": message.sent()}


def in_view(view: View, values: Values) -> Payload:
    """Where something of a modal or home tab is, with what is filled in there."""
    return {"container": {"type": "view", "view_id": view["id"]}, "view": {**view, "state": {"values": values}}}


def message_click(
    state: State, user: str, message: Message, action: Payload, values: Values, response_url: str
) -> Payload:
    """block_actions from a message."""
    return (
        _common(state, "block_actions", user)
        | in_message(state, message)
        | {
            "trigger_id": state.passes.new_trigger(user),
            "state": {"values": values},
            "response_url": response_url,
            "actions": [action],
        }
    )


def view_click(state: State, user: str, view: View, action: Payload, values: Values) -> Payload:
    """block_actions from a modal or a home tab."""
    trigger = state.passes.new_trigger(user, inside=view["type"] == "modal")
    return (
        _common(state, "block_actions", user)
        | in_view(view, values)
        | {
            "trigger_id": trigger,
            "actions": [action],
        }
    )


def submission(
    state: State, user: str, view: View, values: Values, response_urls: list[dict[str, str]]
) -> Payload:
    return _common(state, "view_submission", user) | {
        "trigger_id": state.passes.new_trigger(user, inside=True),
        "view": in_view(view, values)["view"],
        "response_urls": response_urls,
    }


def closed(state: State, user: str, view: View, *, cleared: bool) -> Payload:
    return _common(state, "view_closed", user) | {"view": view, "is_cleared": cleared}


def suggestion(state: State, user: str, place: Payload, block_id: str, action_id: str, value: str) -> Payload:
    """block_suggestion; *place* as of `in_message` or `in_view`."""
    asked = {"action_id": action_id, "block_id": block_id, "value": value}
    return _common(state, "block_suggestion", user) | asked | place


def shortcut(state: State, user: str, callback_id: str) -> Payload:
    """A global shortcut: no channel, no response URL."""
    payload = _common(state, "shortcut", user) | {
        "callback_id": callback_id,
        "trigger_id": state.passes.new_trigger(user),
        "action_ts": state.ids.ts(),
    }
    del payload["api_app_id"]
    return payload


def message_action(state: State, user: str, callback_id: str, message: Message, response_url: str) -> Payload:
    """A shortcut of a message."""
    return shortcut(state, user, callback_id) | {
        "type": "message_action",
        "channel": {"id": message.channel, "name": channel_name(state, message.channel)},
        "message": message.sent(),
        "message_ts": message.ts,
        "response_url": response_url,
    }


def said(message: Message, kind: str) -> Payload:
    """The event of a message that a person wrote: ``message`` in a direct message, or ``app_mention``."""
    event = {
        "type": kind,
        "user": message.user,
        "text": message.text,
        "ts": message.ts,
        "team": TEAM["id"],
        "channel": message.channel,
        "event_ts": message.ts,
    }
    if kind == "message":
        event["channel_type"] = "im"
    return event if message.thread_ts is None else event | {"thread_ts": message.thread_ts}


def event(state: State, inner: Payload) -> Payload:
    """The envelope of an event."""
    number = state.ids.number()
    channel = state.channels.get(str(inner.get("channel")))
    return {
        "token": VERIFICATION,
        "team_id": TEAM["id"],
        "api_app_id": APP_ID,
        "event": inner,
        "type": "event_callback",
        "event_id": f"Ev{number:08d}",
        "event_time": int(state.clock()),
        "authorizations": [
            {
                "enterprise_id": None,
                "team_id": TEAM["id"],
                "user_id": BOT.id,
                "is_bot": True,
                "is_enterprise_install": False,
            }
        ],
        "is_ext_shared_channel": bool(channel and channel.is_ext_shared),
        "event_context": f"4-{number}",
    }
