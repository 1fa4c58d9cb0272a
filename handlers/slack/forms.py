"""Forms that were sent: what they are acknowledged with, how they end, and how one that was refused is opened again."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import Any, Final, TypeVar

import structlog

from bot.changes.model import Change
from bot.gatehouse import Gatehouse
from handlers.errors import FormForgotten
from handlers.slack.client import SlackRefused, SlackUnreachable
from handlers.slack.payloads import caller_of
from handlers.slack.registry import Click, Recorded, clicks
from handlers.slack.replies import REFUSED_FORM, Answers
from handlers.slack.reply import Caller, Modal, Reply, View

log = structlog.get_logger(__name__)

R = TypeVar("R")

FORM_TIMEOUT: Final = 1.5
"""Seconds of Slack's three that a form's checks may take; after that it is acknowledged as being saved."""
ACKNOWLEDGEMENT_LANDS: Final = 0.4
"""Seconds until Slack has surely drawn what a submission was acknowledged with. An update that overtook it would be
drawn over, and nothing tells when it is there."""
ACKNOWLEDGEMENT_LEAVES: Final = 0.2
"""The same from the moment that an answer is ready: where this process was held up in between, so was the acknowledgement."""


class FormAck:
    """The acknowledgement of a form, which waits a while for what to say: Slack closes a form by nothing else."""

    def __init__(self, working: View, timeout: float) -> None:
        self._working = working
        self._timeout = timeout
        self._content: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()

    def close(self) -> bool:
        """Close the form; False where it was acknowledged before."""
        return self._settle({})

    def show(self, view: View) -> bool:
        """Show *view* in the form; False where it was acknowledged before."""
        return self._settle({"response_action": "update", "view": view})

    def _settle(self, content: dict[str, Any]) -> bool:
        if self._content.done():
            return False
        self._content.set_result(content)
        return True

    async def content(self) -> dict[str, Any]:
        """What to acknowledge the form with: what it came to, or that it is being saved."""
        await asyncio.wait({self._content}, timeout=self._timeout)
        self.show(self._working)
        return self._content.result()


class Forms:
    """Sees forms that were sent to their ends."""

    def __init__(self, gatehouse: Gatehouse, answers: Answers) -> None:
        self._gatehouse = gatehouse
        self._answers = answers

    async def finish(
        self, caller: Caller, view: View, work: Awaitable[View | Recorded], ack: FormAck | None = None
    ) -> None:
        """See the form in *view* to what *work* comes to, in the acknowledgement where that still waits, else after it.

        A change that *work* recorded is gone on with once the form is closed.
        """
        landed = asyncio.get_running_loop().time() + ACKNOWLEDGEMENT_LANDS
        found = await self._or_why_not(work, caller, view)
        if not isinstance(found, Recorded):
            if ack is None or not ack.show(found):
                await self._show(found, caller, view, landed)
            return
        is_closed = ack is not None and ack.close()
        final = await self._or_why_not(self._go_on(found), caller)
        if is_closed:
            await self._answers.tell_unsaved(caller, final)
        else:
            await self._show(final, caller, view, landed)

    async def resume(self, caller: Caller, view: View, change: Change) -> None:
        """Go on with the *change* that the form in *view* has recorded for a process that died."""
        await self.finish(caller, view, _recorded(change))

    async def _go_on(self, recorded: Recorded) -> View:
        return recorded.end(await self._gatehouse.changes.executor.go_on(recorded.change))

    async def _or_why_not(self, work: Awaitable[R], caller: Caller, sent: View | None = None) -> R | View:
        """What *work* comes to, or what the form shows where it failed: *sent*, if that is given and may be sent again."""
        try:
            return await work
        except Exception as error:  # noqa: BLE001  whatever it is, the person must learn that nothing was saved
            await self._answers.put_on_record(error, caller)
            if sent is not None:
                return self._answers.unsaved_view(error, caller, sent)
            return self._answers.failed_view(error, caller, attempted=True)

    async def _show(self, final: View, caller: Caller, view: View, landed: float) -> None:
        """Draw how a form ended that was acknowledged before; nobody may look at it any more."""
        await asyncio.sleep(max(ACKNOWLEDGEMENT_LEAVES, landed - asyncio.get_running_loop().time()))
        try:
            await self._answers.redraw({"id": view.get("id")}, final, ended=True)
        except (SlackRefused, SlackUnreachable) as error:
            log.info("form_end_not_shown", error=str(error), request=caller.request[:8])
            await self._answers.tell_unsaved(caller, final)


async def _recorded(change: Change) -> View | Recorded:
    return Recorded(change)


@clicks("form.again")
async def open_again(click: Click, caller: Caller, gatehouse: Gatehouse) -> Reply:
    """Open a form again that was refused after it had closed, with all that was typed."""
    kept = await gatehouse.store.inbox.get(click.value)
    if kept is None or caller_of(kept.kind, kept.payload).user != caller.user or REFUSED_FORM not in kept.payload:
        raise FormForgotten
    return Modal(kept.payload[REFUSED_FORM])
