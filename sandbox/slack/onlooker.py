"""What a person sees in the local Slack, now or after waiting for it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Final, TypeVar

from sandbox.slack import rendering
from sandbox.slack.filestore import File
from sandbox.slack.message import Message
from sandbox.slack.running import LocalSlack
from sandbox.slack.state import View
from sandbox.slack.watching import Watch, watching

PATIENCE: Final = 10.0
T = TypeVar("T")


@dataclass(slots=True)
class Onlooker:
    """Somebody with a channel open."""

    slack: LocalSlack
    id: str
    channel: str
    patience: float = field(default=PATIENCE, kw_only=True)
    """Seconds to wait before it counts as not coming."""

    @property
    def dm(self) -> str:
        """The direct message with the bot."""
        direct = self.slack.state.find_direct(self.id)
        assert direct is not None
        return direct.id

    @property
    def modal(self) -> View | None:
        """The modal on top, if one is open."""
        stack = self.slack.state.stack(self.id)
        return stack[-1] if stack else None

    @property
    def form(self) -> str:
        """The modal on top, as text."""
        return rendering.view(self.modal) if self.modal else ""

    @property
    def home(self) -> View | None:
        """The app's home, as the app drew it last."""
        return self.slack.state.homes.get(self.id)

    @property
    def cards(self) -> list[Message]:
        """The bot's messages for all to see in channels."""
        return [
            one
            for one in self._bot_messages()
            if one.visible_to is None and one.in_channel and one.channel != self._direct
        ]

    @property
    def dms(self) -> list[Message]:
        """The bot's messages in the direct message with this person, oldest first."""
        return [one for one in self._bot_messages() if one.channel == self._direct and one.user == self._bot]

    def thread(self, message: Message) -> list[Message]:
        """The bot's replies in the thread of *message* that this person sees, oldest first."""
        replies = self.slack.state.replies(message.channel, message.ts, self.id)
        return [one for one in replies if one.user == self._bot]

    async def sees(self, containing: str) -> Message:
        """The newest message of the bot that says *containing*, where this person works; waits for it.

        Direct messages are for `sees_dm`: one about a card may say the same as the card.
        """
        return await self._sees_message(self._work_messages, containing)

    async def sees_dm(self, containing: str) -> Message:
        """The newest direct message of the bot to this person that says *containing*; waits for it."""
        return await self._sees_message(lambda: self.dms, containing)

    async def sees_reply(self, message: Message, containing: str) -> Message:
        """The newest of the bot's replies to *message* that says *containing*; waits for it."""
        return await self._sees_message(lambda: self.thread(message), containing)

    async def sees_new_card(self, than: int) -> Message:
        """The newest card, once there are more *than* so many."""
        return await self._waits(lambda: self.cards[-1] if len(self.cards) > than else None, "another card")

    async def sees_form(self, containing: str) -> View:
        """The modal on top once it says *containing*."""
        return await self._waits(lambda: self.modal if containing in self.form else None, containing)

    async def sees_file(self, containing: str = "") -> tuple[File, Message]:
        """The newest file of the bot whose name has *containing*, and the message that it stands in; waits for it."""

        def look() -> tuple[File, Message] | None:
            found = (
                (file, one) for one in reversed(self._bot_messages()) for file in one.files if containing in file.name
            )
            return next(found, None)

        return await self._waits(look, f"a file called {containing!r}")

    def slack_text(self, message: Message) -> str:
        files = [rendering.file(one.name, one.size) for one in message.files if not one.is_deleted]
        return "\n".join([rendering.message(message.text, message.blocks), *files])

    async def _sees_message(self, among: Callable[[], list[Message]], containing: str) -> Message:
        return await self._waits(
            lambda: next((one for one in reversed(among()) if containing in self.slack_text(one)), None), containing
        )

    async def _waits(self, look: Callable[[], T | None], what: str) -> T:
        async with self._watch() as watch:
            return await watch.until(look, what)

    def _watch(self) -> AbstractAsyncContextManager[Watch]:
        return watching(self.slack.state, self.patience, self._story)

    def _filled_modal(self) -> View | None:
        """The modal on top, once the app has put into it what belongs there."""
        loading = self.slack.state.workspace.app.loading_view
        return self.modal if self.modal and not (loading and self.modal["callback_id"] == loading) else None

    def _bot_messages(self) -> list[Message]:
        """Return what the bot, or Slack itself, says where this person is."""
        state = self.slack.state
        return [
            one
            for one in state.messages
            if not one.deleted
            and one.visible_to in {None, self.id}
            and one.user in {self._bot, "USLACKBOT"}
            and self.id in state.channels[one.channel].members
        ]

    def _work_messages(self) -> list[Message]:
        """Return what the bot says in channels; and in the direct message, for somebody who works there."""
        return [one for one in self._bot_messages() if one.channel == self.channel or one.channel != self._direct]

    @property
    def _bot(self) -> str:
        return self.slack.state.workspace.bot.id

    @property
    def _direct(self) -> str | None:
        direct = self.slack.state.find_direct(self.id)
        return direct.id if direct else None

    def _story(self) -> str:
        said = [f"--- {one.ts} {one.kind}\n{self.slack_text(one)}" for one in self._bot_messages()[-3:]]
        calls = [
            f"{one['direction']} {one['what']}: {one['status']} {str(one['response'])[:300]}"
            for one in self.slack.state.traffic[-8:]
        ]
        return "\n".join([*said, *calls, self.form])
