"""What a door is, and one thing that goes through it: asked for in the local Slack, looked at in the stand-in services."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Final

from handlers.explain.table import is_problem
from handlers.grammar.command import Command
from sandbox.demo import Sandbox
from sandbox.services.database import Record
from sandbox.slack.message import Message
from sandbox.slack.story import Person
from sandbox.slack.watching import NothingHappened
from tests.conftest import Clock
from tests.harness.channels import buttons
from tests.harness.looking import open_details, open_details_file

Through = type[Command] | str
"""A command; the callback id of a form; or the name of a button whose click may change something."""
UNDO, AGAIN, APPROVE, FULL = "v1.decide.undo", "v1.decide.again", "v1.decide.approve", "v1.run.full"
STAMPS: Final = frozenset({"id", "creationDate", "modificationDate", "createdAt"})
"""What the services set by themselves when something is made or changed."""
LONG: Final = "lang und breit. " * 250
"""More than an input of a form holds."""
NON_ASCII: Final = "Größe & <b> 日本 №1"


@dataclass(slots=True, repr=False)
class Visitor(Person):
    """Somebody who sees nothing that was said before they came, and no card of other things than the one *about*."""

    since: str = field(default="", kw_only=True)
    about: str = field(default="", kw_only=True)
    """A part of the thing's name that nothing else has."""

    def _bot_messages(self) -> list[Message]:
        return [
            one
            for one in Person._bot_messages(self)
            if one.ts > self.since and (self._is_mine(one) or self._is_about(one))
        ]

    def _is_mine(self, message: Message) -> bool:
        return message.visible_to == self.id or bool(message.files)

    def _is_about(self, message: Message) -> bool:
        return self.about in self.slack_text(message)

    async def waits(self, look: Callable[[], Any], what: str) -> Any:
        return await self._waits(lambda: look() or None, what)

    async def card(self, action: str) -> Message:
        """The newest message with that button, by its action or its label; waits for it."""

        def look() -> Message | None:
            return next((one for one in reversed(self._bot_messages()) if _has(one, action)), None)

        return await self._waits(look, f"a button {action!r}")

    async def presses(self, action: str, *, confirm: bool = False) -> None:
        await self.clicks(await self.card(action), action, confirm=confirm)


def _has(message: Message, action: str) -> bool:
    return any(action in {one["action_id"], one["text"]["text"]} for one in buttons(message.blocks))


def canonical(record: Mapping[str, Any] | None, *, without: frozenset[str] = frozenset()) -> str:
    """*record* to the byte: ``1`` is not ``1.0`` and not ``true``."""
    kept = None if record is None else {name: value for name, value in record.items() if name not in without}
    return json.dumps(kept, sort_keys=True, ensure_ascii=False, indent=1)


@dataclass(slots=True, repr=False)
class Play:
    """One object at one door. *before*: the object as its service has it."""

    sandbox: Sandbox
    clock: Clock
    alice: Visitor
    cara: Visitor
    before: Record

    @property
    def writes(self) -> int:
        services = self.sandbox.services
        """How often something was to be changed in a service."""
        return sum(call.method != "GET" for call in (*services.rules.calls(), *services.members.calls()))

    async def becomes(self, look: Callable[[], Record | None], expected: Record | None, *, new: bool = False) -> None:
        """Wait until *look* finds *expected*, and nothing else of it changed. *new*: it was made just now."""
        without = STAMPS if new else frozenset({"modificationDate"})
        wanted = canonical(expected, without=without)
        story = ""
        try:
            await self.alice.waits(lambda: canonical(look(), without=without) == wanted, "the object in its service")
        except NothingHappened as nothing:
            story = str(nothing)
        assert canonical(look(), without=without) == wanted, story

    async def is_refused(self, text: str) -> None:
        """*text* is answered with a refusal in words, and nothing is written."""
        writes = self.writes
        reply = await self.alice.replied(text)
        assert isinstance(reply, Message), f"a form opens:\n{self.alice.form}"
        assert is_problem(reply.blocks), self.alice.slack_text(reply)
        assert self.writes == writes

    async def approves(self) -> None:
        """A second person looks at all of it and approves."""
        card = await self.cara.card(APPROVE)
        if _has(card, FULL):
            await (open_details_file if len(canonical(self.before)) > 3000 else open_details)(self.cara, card)
        await self.cara.clicks(card, APPROVE, confirm=True)

    async def sends(self, **typed: str | list[str]) -> None:
        """Fill in the form and send it; once more where it warns. A refusal in the form fails."""
        person = self.alice
        person.fills(**typed)
        for _ in range(2):
            before, writes = person.modal, self.writes
            assert await person.submits() == {}

            def went_on(before: Any = before, writes: int = writes) -> bool:
                return self.writes > writes or person.modal is None or person.modal is not before

            await person.waits(went_on, "what comes of the form")
            if "Not saved yet" not in person.form:
                return

    def passes(self, **span: int) -> None:
        self.clock.ahead += timedelta(**span)


@dataclass(frozen=True, slots=True)
class Door:
    """One way to change, copy or read a thing. *through*: the commands, forms and buttons that it uses."""

    name: str
    play: Callable[[Any], Awaitable[None]]
    through: frozenset[Through]


class Doors(list[Door]):
    """The doors of one kind of thing, in the order in which they are declared."""

    def door(self, *through: Through) -> Callable[[Callable[[Any], Awaitable[None]]], Callable[[Any], Awaitable[None]]]:
        def register(play: Callable[[Any], Awaitable[None]]) -> Callable[[Any], Awaitable[None]]:
            self.append(Door(play.__name__, play, frozenset(through)))
            return play

        return register
