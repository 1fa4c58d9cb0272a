"""People in stories who can look up the change behind a card, so that a story checks states and values, not sentences."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

import sqlalchemy as sa

from bot.changes.model.change import Change
from bot.changes.model.items import Outcome
from bot.changes.model.states import LIVE, State
from bot.store.engine import Store
from bot.store.tables import cards
from handlers.changes.titles import bare_title
from handlers.explain.table import is_problem
from sandbox.demo import Sandbox
from sandbox.slack.message import Message
from sandbox.slack.state import View
from sandbox.slack.story import Person
from sandbox.slack.watching import NothingHappened
from tests.harness.channels import buttons
from tests.harness.truth import all_changes, staleness

T = TypeVar("T")


def undone(change: Change) -> bool:
    """Whether somebody undid it, or its end did."""
    return change.run.undone is not None


def ended(change: Change) -> bool:
    """Whether it was temporary, and was reverted automatically at its end."""
    return change.run.undone is not None and change.run.undone.cause.is_automatic


def approved_by(change: Change) -> list[str]:
    """The ids of the people who approved it, in their order."""
    return [approval.by for approval in change.decision.approvals]


class Colleague(Person):
    """A person who finds a card by its change, and a refusal by its kind."""

    def __init__(self, workspace: Sandbox, who: str, channel: str) -> None:
        super().__init__(workspace.slack, who, channel)
        self.workspace = workspace

    @property
    def store(self) -> Store:
        return self.workspace.bot.gatehouse.store

    async def sees_change(
        self, *, of: str = "", state: State = State.APPLIED, where: Callable[[Change], object] = lambda _: True
    ) -> Message:
        """The card of the newest change in that *state* whose target's name or key has *of*, and for which *where* holds.

        Waits for such a change, and until its card in the channel says of it what is so now.
        """

        async def fits(change: Change) -> bool:
            return change.state is state and any(of in name for name in _names(change)) and bool(where(change))

        return await self._waits_for(lambda: self._card(fits), f"{of} {state}")

    async def sees_set(self, *, where: Callable[[Change], object] = lambda _: True, **outcomes: int) -> Message:
        """The card of the newest bulk change that is over, for which *where* holds, and whose items have these *outcomes*.

        ``applied=2, failed=1``: so many of its items, and it has no others.
        """
        expected = {Outcome(name): many for name, many in outcomes.items()}

        async def fits(change: Change) -> bool:
            if not change.is_bulk or change.state in LIVE or not where(change):
                return False
            return await self.store.items.tally(change.id) == expected

        return await self._waits_for(lambda: self._card(fits), f"{outcomes}")

    async def sees_note(self, card: Message, name: str) -> Message:
        """The newest note called *name* (one of `handlers.changes.notes_view.NOTES`) in the thread of *card*; waits for it."""
        return await self._waits_for(lambda: self._noted(name, lambda: self.thread(card)), name)

    async def is_notified(self, name: str) -> Message:
        """The newest notice called *name* (one of `handlers.changes.notes_view.NOTICES`) in the direct message; waits for it.

        Also the ``card``, or a note, that could not go to the channel.
        """
        return await self._waits_for(lambda: self._noted(name, lambda: self.dms), name)

    async def sees_problem(self, containing: str = "") -> Message:
        """The newest answer that something did not work, or is not allowed, and that says *containing*; waits for it."""

        def look() -> Message | None:
            problems = (one for one in reversed(self._bot_messages()) if is_problem(one.blocks))
            return next((one for one in problems if containing in self.slack_text(one)), None)

        return await self._waits(look, f"a problem {containing}")

    async def sees_view(self, callback_id: str) -> View:
        """The modal on top once it is of the kind *callback_id*; waits for it."""
        return await self._waits(
            lambda: self.modal if self.modal and self.modal["callback_id"] == callback_id else None, callback_id
        )

    async def decides(self, where: Message | View, button: str, label: str, typed: str) -> None:
        """Press *button* in *where*, and send the form that it opens, with *typed* in the input called *label*."""
        await self.clicks(where, button, opens=label)
        self.fills(**{label: typed})
        assert await self.submits() == {}

    async def overrides(self, card: Message) -> None:
        """Let through alone, as an emergency, what *card* asks for."""
        why = "Why can’t this wait for an approval?"
        await self.decides(card, "v1.decide.break_glass", why, "It burns and everybody sleeps")

    async def does(self, text: str) -> Message:
        """Send *text*, and click what a preview of it offers; what comes of it."""
        answer, known = await self.says(text), len(self.cards)
        if "Do it" not in {one["text"]["text"] for one in buttons(answer.blocks)}:
            return answer
        await self.clicks(answer, "Do it")
        return await self.sees_new_card(known)

    async def is_refused(self, text: str, channel: str | None = None) -> Message:
        """Send *text*; the answer, which must say that something did not work, or is not allowed."""
        answer = await self.says(text, channel)
        assert is_problem(answer.blocks), f"{text}:\n{self.slack_text(answer)}"
        return answer

    async def shares(self, text: str) -> Message:
        """Send *text* and share the answer in the channel; the answer as the channel gets it."""
        answer, known = await self.says(text), len(self.cards)
        await self.clicks(answer, "Share in channel")
        return await self.sees_new_card(known)

    async def change_of(self, card: Message) -> Change:
        """The change whose card this is, as it is now."""
        is_it = sa.and_(cards.c.channel == card.channel, cards.c.ts == card.ts, cards.c.purpose == "card")

        async def look() -> Change | None:  # where a card is, is on record shortly after it is there
            async with self.store.session.reading() as connection:
                found = await connection.scalar(sa.select(cards.c.change_id).where(is_it))
            return await self.store.changes.get(found) if found else None

        return await self._waits_for(look, "the change of a card")

    async def _card(self, fits: Callable[[Change], Awaitable[bool]]) -> Message | None:
        for change in reversed(await all_changes(self.store)):
            if change.set_id is None and await fits(change):
                place = await self.store.cards.get(change.id, "card")
                card = next((one for one in self._work_messages() if (one.channel, one.ts) == place), None)
                return card if card and not await staleness(self.workspace, change, card) else None
        return None

    async def _noted(self, name: str, among: Callable[[], list[Message]]) -> Message | None:
        is_meant = sa.or_(cards.c.purpose.in_([name, f"notify-{name}"]), cards.c.purpose.startswith(f"{name}-"))
        async with self.store.session.reading() as connection:
            rows = await connection.execute(sa.select(cards.c.channel, cards.c.ts).where(is_meant))
            places = {(row.channel, row.ts) for row in rows}
        return next((one for one in reversed(among()) if (one.channel, one.ts) in places), None)

    async def _waits_for(self, look: Callable[[], Awaitable[T | None]], what: str) -> T:
        try:
            async with asyncio.timeout(self.patience):
                while (found := await look()) is None:  # noqa: ASYNC110  no event tells of what is on record
                    await asyncio.sleep(0.02)
                return found
        except TimeoutError:
            known = "\n".join(
                f"{change.edit.kind} {change.edit.target} {change.state}, undone: {change.run.undone}"
                for change in await all_changes(self.store)
            )
            raise NothingHappened(f"waited for {what!r}; what happened:\n{self._story()}\n{known}") from None


def _names(change: Change) -> tuple[str, ...]:
    """What a change is called by: the name and the key of its target; and its title."""
    documents = (change.edit.before or {}, change.edit.after or {})
    return (*(str(each.get("name", "")) for each in documents), change.edit.target.key or "", bare_title(change))
