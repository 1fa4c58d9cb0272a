"""Payloads that nobody can send by the local Slack's page: acts of anybody, anywhere, signed as Slack signs them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sandbox.demo import Sandbox
from sandbox.slack import payloads, rendering
from sandbox.slack.message import Message
from sandbox.slack.state import View
from tests.conftest import until


@dataclass(frozen=True, slots=True)
class Forger:
    """Acts as *user* in *channel*, whether they could or not."""

    sandbox: Sandbox
    user: str
    channel: str

    @property
    def _url(self) -> str:
        return self.sandbox.slack.acting.answers.new_url(self.user, self.channel, None)

    async def types(self, text: str) -> None:
        """A slash command."""
        name, _, rest = text.partition(" ")
        fields = payloads.command(self.sandbox.slack.state, self.user, self.channel, name, rest, self._url)
        await self.sandbox.slack.delivery.send_command(text, fields)

    async def clicks(self, place: Message | View, action_id: str, value: str, **more: Any) -> None:
        """A button, on a message or in a view."""
        state = self.sandbox.slack.state
        text = {"type": "plain_text", "text": "Forged"}
        action = {"type": "button", "block_id": "b", "action_id": action_id, "value": value, "text": text}
        if isinstance(place, Message):
            found = payloads.message_click(state, self.user, place, action, {}, self._url)
        else:
            found = payloads.view_click(state, self.user, place, action, {})
        await self.sandbox.slack.delivery.send_interaction("forged click", found | more)

    async def submits(self, view: View) -> Any:
        """A modal; what it is acknowledged with."""
        found = payloads.submission(self.sandbox.slack.state, self.user, view, {})
        return (await self.sandbox.slack.delivery.send_interaction("forged submission", found)).body

    async def uses(self, callback_id: str, message: Message) -> None:
        """A shortcut of a message; global ones are alike."""
        found = payloads.message_action(self.sandbox.slack.state, self.user, message, callback_id, self._url)
        await self.sandbox.slack.delivery.send_interaction("forged shortcut", found)

    async def asks_options(self, place: View, action_id: str, typed: str) -> Any:
        """What a menu offers for what is typed into it."""
        found = payloads.suggestion(self.sandbox.slack.state, self.user, place, "b", action_id, typed)
        return (await self.sandbox.slack.delivery.send_interaction("forged typing", found)).body

    @property
    def told(self) -> list[str]:
        """What the bot told them alone so far."""
        state = self.sandbox.slack.state
        return [rendering.message(one.text, one.blocks) for one in state.messages if one.visible_to == self.user]

    async def hears(self, containing: str, *, times: int = 1) -> None:
        """Wait until the bot told them *containing* so often."""
        await until(lambda: sum(containing in text for text in self.told) >= times)
