"""The acts of people in the local Slack and their effects: the same for the page and for tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from sandbox.slack import payloads
from sandbox.slack.answers import Answers
from sandbox.slack.channels import join, leave
from sandbox.slack.delivery import Ack, Delivery
from sandbox.slack.elements import find_element
from sandbox.slack.events import Events
from sandbox.slack.files import share
from sandbox.slack.filestore import File
from sandbox.slack.message import Content, Message
from sandbox.slack.modals import TROUBLE, Modals, Values
from sandbox.slack.refusal import Refused
from sandbox.slack.state import State, View
from sandbox.slack.texts import command_text, find_user, message_text
from sandbox.slack.validation import check_options

FAILED: Final = {
    "operation_timeout": '{command} failed with the error "operation_timeout"',
    "dispatch_failed": '{command} failed with the error "dispatch_failed"',
}
NO_MESSAGES: Final = "Sending messages to this app has been turned off."
USUAL_QUERY: Final = 3
"""Characters that an external select waits for, unless it says how many."""


class Acting:
    """Turns the acts of people into deliveries to the app, and its answers into what people see."""

    def __init__(
        self,
        state: State,
        delivery: Delivery,
        manifest: Mapping[str, Any],
    ) -> None:
        self.state = state
        self.delivery = delivery
        self.manifest = manifest
        self.events = Events(state, delivery, manifest)
        self.answers = Answers(state)
        modals = Modals(state, delivery, self.answers)
        self.submit = modals.submit
        self.close = modals.close

    @property
    def commands(self) -> list[dict[str, Any]]:
        return list(self.manifest.get("features", {}).get("slash_commands", ()))

    async def say(self, user: str, channel: str, text: str, thread_ts: str | None = None) -> dict[str, Any]:
        """Say something; a text that begins with a slash is a command."""
        if channel not in self.state.channels or user not in self.state.channels[channel].members:
            raise Refused("channel_not_found")
        if self.state.channels[channel].kind == "im" and not self._takes_messages():
            return self._answer_privately(user, channel, NO_MESSAGES, failed="messages_tab_disabled")
        if not text.startswith("/"):
            return await self._post_message(user, channel, text, thread_ts)
        name, _, rest = text.partition(" ")
        entry = next((one for one in self.commands if one["command"] == name), None)
        if thread_ts is not None:
            return self._answer_privately(
                user, channel, f"{name} is not supported in threads. Sorry!", failed="not_in_threads"
            )
        if self.state.channels[channel].kind == "channel" and name == "/invite":
            return await self.invite(user, channel, rest.strip())
        if self.state.channels[channel].kind == "channel" and name == "/leave":
            return await self.leave(user, channel)
        if entry is None:
            return self._answer_privately(user, channel, f"{name} is not a valid command.", failed="invalid_command")
        return await self._send_command(user, channel, entry, rest.strip())

    async def upload(self, user: str, channel: str, text: str, files: list[File]) -> dict[str, Any]:
        """Post uploaded *files* with a *text*, as people do it in their client."""
        if channel not in self.state.channels or user not in self.state.channels[channel].members:
            raise Refused("channel_not_found")
        if self.state.channels[channel].kind == "im" and not self._takes_messages():
            raise Refused("messages_tab_disabled")
        return await self._post_message(user, channel, text, None, files)

    def _takes_messages(self) -> bool:
        """Whether people may write to the app: its messages tab is there, and not for reading alone."""
        tabs = self.manifest.get("features", {}).get("app_home", {})
        return bool(tabs.get("messages_tab_enabled", True) and not tabs.get("messages_tab_read_only_enabled"))

    async def _post_message(
        self, user: str, channel: str, text: str, thread_ts: str | None, files: Sequence[File] = ()
    ) -> dict[str, Any]:
        """Post a person's message, and return once its event was delivered to the app for the first time."""
        root = self.state.thread_of(channel, thread_ts)
        said = message_text(text, self.state)
        share(self.state, Message(self.state.new_ts(), channel, user, said, [], thread_ts=root), list(files))
        await self.events.wait_for_deliveries()
        return {"ok": True}

    async def edit(self, user: str, channel: str, ts: str, text: str) -> None:
        """Change the text of a person's own message."""
        message = self._own_message(user, channel, ts)
        self.state.edit(message, Content(message_text(text, self.state), []))
        await self.events.wait_for_deliveries()

    async def delete(self, user: str, channel: str, ts: str) -> None:
        """Delete a person's own message."""
        self.state.delete(self._own_message(user, channel, ts))
        await self.events.wait_for_deliveries()

    async def invite(self, user: str, channel: str, name: str) -> dict[str, Any]:
        """Invite a person or the app into the channel, by name."""
        place = self.state.channels[channel]
        invited = find_user(name.removeprefix("@"), self.state)
        if invited is None:
            return self._answer_privately(user, channel, f"No user goes by the name {name}.", failed="user_not_found")
        if place.bot_is_member if invited.is_bot else invited.id in place.members:
            return self._answer_privately(
                user, channel, f"{name} is already in this channel.", failed="already_in_channel"
            )
        join(self.state, place, invited.id)
        await self.events.wait_for_deliveries()
        return {"ok": True}

    async def leave(self, user: str, channel: str) -> dict[str, Any]:
        """Leave the channel."""
        leave(self.state, self.state.channels[channel], user)
        await self.events.wait_for_deliveries()
        return {"ok": True}

    def _own_message(self, user: str, channel: str, ts: str) -> Message:
        message = self.state.find(channel, ts)
        if message is None or message.user != user or message.subtype:
            raise Refused("message_not_found")
        return message

    async def _send_command(self, user: str, channel: str, entry: Mapping[str, Any], text: str) -> dict[str, Any]:
        typed = command_text(text, self.state, should_escape=bool(entry.get("should_escape")))
        url = self.answers.new_url(user, channel, None, f"{entry['command']} {text}".strip())
        fields = payloads.command(self.state, user, channel, entry["command"], typed, url)
        ack = await self.delivery.send_command(f"{entry['command']} {text}".strip(), fields)
        if ack.failed:
            return self._answer_privately(
                user, channel, FAILED[ack.failed].format(command=entry["command"]), failed=ack.failed
            )
        if ack.body:
            body = ack.body if isinstance(ack.body, dict) else {"text": str(ack.body)}
            self.answers.acknowledge(url, body)
        return {"ok": True}

    def _answer_privately(self, user: str, channel: str, text: str, *, failed: str) -> dict[str, Any]:
        """Post an ephemeral message to one person, as Slack itself."""
        self.state.add(Message(self.state.new_ts(), channel, "USLACKBOT", text, [], visible_to=user, kind="system"))
        return {"ok": False, "error": failed, "text": text}

    async def act(
        self, user: str, place: Mapping[str, Any], block_id: str, action_id: str, element: Values, values: Values
    ) -> Ack:
        """Use an element of a message or a modal; raises Refused where this person sees no such element."""
        message, view = self._find_place(user, place)
        holder = message.blocks if message else view["blocks"] if view else []
        found = find_element(holder, block_id, action_id)
        if found is None:
            raise Refused("no_such_action")
        action = {
            **_echoed_fields(found),
            **element,
            "action_id": action_id,
            "block_id": block_id,
            "type": found["type"],
            "action_ts": self.state.new_ts(),
        }
        if message is not None:
            url = self.answers.new_url(user, message.channel, message.ts)
            payload = payloads.message_click(self.state, user, message, action, values, url)
        elif view is not None:
            payload = payloads.view_click(self.state, user, view, action, values)
        return await self.delivery.send_interaction(f"click {action_id}", payload)

    def _find_place(self, user: str, place: Mapping[str, Any]) -> tuple[Message | None, View | None]:
        if place.get("view_id"):
            found = self.state.find_view(str(place["view_id"]))
            home = self.state.homes.get(user)
            if found and found[0] == user:
                return None, found[1]
            if home and home["id"] == place["view_id"]:
                return None, home
            raise Refused("view_not_found")
        message = self.state.find(str(place.get("channel")), str(place.get("ts")))
        if message is None or message.visible_to not in {None, user}:
            raise Refused("message_not_found")
        return message, None

    async def load_options(
        self, user: str, place: Mapping[str, Any], block_id: str, action_id: str, value: str
    ) -> dict[str, Any]:
        """Return what an external select offers for *value*; nothing, without asking the app, while that is too short."""
        message, view = self._find_place(user, place)
        holder = message or view
        blocks = message.blocks if message else view["blocks"] if view else []
        found = find_element(blocks, block_id, action_id)
        if holder is None or found is None or not found["type"].endswith("external_select"):
            raise Refused("no_such_action")
        if len(value) < found.get("min_query_length", USUAL_QUERY):
            return {"options": []}
        payload = payloads.suggestion(self.state, user, holder, block_id, action_id, value)
        ack = await self.delivery.send_interaction("options", payload)
        if ack.failed or check_options(ack.body):
            return {"options": []}
        return dict(ack.body)

    async def use_shortcut(self, user: str, callback_id: str, channel: str, ts: str) -> dict[str, Any]:
        """Use a shortcut of the manifest on the *channel*'s message *ts*."""
        known = self.manifest.get("features", {}).get("shortcuts", ())
        if not any((one["type"], one["callback_id"]) == ("message", callback_id) for one in known):
            raise Refused("no_such_shortcut")
        message, _ = self._find_place(user, {"channel": channel, "ts": ts})
        if message is None or message.visible_to is not None:  # Slack offers none on ephemeral messages
            raise Refused("message_not_found")
        url = self.answers.new_url(user, channel, None)
        payload = payloads.message_action(self.state, user, message, callback_id, url)
        ack = await self.delivery.send_interaction(f"shortcut {callback_id}", payload)
        return {"ok": False, "error": ack.failed, "text": TROUBLE} if ack.failed else {"ok": True}

    async def open_home(self, user: str, tab: str) -> None:
        """Open the app's home or its messages."""
        direct = self.state.find_direct(user) or self.state.open_direct(user)
        event: dict[str, Any] = {
            "type": "app_home_opened",
            "user": user,
            "channel": direct.id,
            "tab": tab,
            "event_ts": self.state.new_ts(),
        }
        if user in self.state.homes:
            event["view"] = self.state.homes[user]
        await self.events.notify_app("app_home_opened", event)


def _echoed_fields(element: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of an element that Slack repeats in the action."""
    return {name: element[name] for name in ("value", "text", "style", "confirm", "placeholder") if name in element}
