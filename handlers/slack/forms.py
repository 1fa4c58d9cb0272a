"""How a form that was sent ends: in its acknowledgement while that waits, else in the open form or in a private message."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from contextlib import suppress
from typing import Any, Final, TypeVar

import structlog

from bot.gatehouse import Gatehouse
from bot.store.db import CommitUnknown, StoreError
from handlers.blocks import modals
from handlers.blocks.modals import View
from handlers.errors import FormForgotten
from handlers.explain.table import unsaved_form
from handlers.slack.client import HASH_CONFLICT, ModalGone, SlackRefused, SlackUnreachable
from handlers.slack.payloads import caller_of
from handlers.slack.registry import Click, Recorded, clicks
from handlers.slack.replies import Answers, failed_view, log_failure, record_refusal
from handlers.slack.reply import Caller, Modal, Reply

log = structlog.get_logger(__name__)

R = TypeVar("R")

REFUSED_FORM: Final = "gatehouse_refused_form"
"""The name under which a stored submission holds the form again, with why it was refused, beside Slack's own."""
FORM_TIMEOUT: Final = 1.5
"""Seconds of Slack's three that a form's checks may take; after that it is acknowledged as being saved."""
ACKNOWLEDGEMENT_LANDS: Final = 0.4
"""Seconds until Slack has drawn what a submission was acknowledged with. An update that overtook it is drawn over, which only
the hash of the next one tells."""


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
        """Return the response to a submitted form: its outcome, or that it is being saved."""
        # Unlike wait_for, this does not cancel the future, which is settled right below at the latest.
        await asyncio.wait({self._content}, timeout=self._timeout)
        self.show(self._working)
        return self._content.result()


class Forms:
    """Sees each form that was sent to its end, and shows that to the person who sent it."""

    def __init__(self, gatehouse: Gatehouse, answers: Answers) -> None:
        self._gatehouse = gatehouse
        self._answers = answers

    async def finish(
        self, caller: Caller, view: View, work: Awaitable[View | Recorded], ack: FormAck | None = None
    ) -> None:
        """See the form in *view* to what *work* comes to, in the acknowledgement where that still waits, else after it."""
        result = await self._result_or_view(work, caller, view)
        if isinstance(result, Recorded):
            await self.go_on(result, caller, view, ack)
        elif ack is None or not ack.show(result):
            await self.show_end(result, caller, view)

    async def go_on(self, recorded: Recorded, caller: Caller, view: View, ack: FormAck | None = None) -> None:
        """Close the form in *view*, go on with the change that it has recorded, and show how it ended."""
        # Closed before the change is carried out, which may take longer than Slack waits.
        is_closed = ack is not None and ack.close()
        final = await self._result_or_view(self._carry_out(recorded), caller)
        if is_closed:
            await self._tell_unsaved(caller, final)
        else:
            await self.show_end(final, caller, view)

    async def _carry_out(self, recorded: Recorded) -> View:
        return recorded.end(await self._gatehouse.changes.executor.go_on(recorded.change))

    async def _result_or_view(self, work: Awaitable[R], caller: Caller, sent: View | None = None) -> R | View:
        """Return what *work* comes to; where it fails, what the form shows: *sent*, if that is given and may be sent again."""
        try:
            return await work
        except Exception as error:  # noqa: BLE001  whatever it is, the person must learn that nothing was saved
            await record_refusal(error, caller, self._gatehouse)
            if sent is None:
                return failed_view(error, caller, attempted=True)
            view = unsaved_view(error, caller, sent)
            if await self._answers.commit_refusal(caller, view):
                return view
            return failed_view(CommitUnknown(), caller, attempted=True)

    async def show_end(self, final: View, caller: Caller, view: View) -> None:
        """Draw how a form ended that was acknowledged before; nobody may look at it any more."""
        await asyncio.sleep(ACKNOWLEDGEMENT_LANDS)
        try:
            # Without its hash: the acknowledgement has drawn the form again, and its new hash is not told.
            opened = await self._answers.redraw({"id": view.get("id")}, final, ended=True)
            await asyncio.sleep(ACKNOWLEDGEMENT_LANDS)
            try:
                await self._answers.redraw(opened, final, ended=True)
            except ModalGone as gone:
                if gone.code == HASH_CONFLICT:  # an acknowledgement that came after all
                    await self._answers.redraw({"id": view.get("id")}, final, ended=True)
        except (SlackRefused, SlackUnreachable) as error:
            log.info("form_end_not_shown", error=str(error), request=caller.request[:8])
            await self._tell_unsaved(caller, final)

    async def _tell_unsaved(self, caller: Caller, final: View) -> None:
        """Tell somebody to whom the end of a form can't be shown what was not saved: no card says that."""
        if (message := modals.unsaved_words(final, caller.request)) is None:
            return
        if "submit" in final:
            with suppress(StoreError):  # then the button says that the form is no longer kept
                await self._gatehouse.store.inbox.attach(caller.request, {REFUSED_FORM: final})
        await self._answers.tell(caller, message, attempted=True)


def unsaved_view(error: Exception, caller: Caller, view: View) -> View:
    """Return what the form that was sent as *view* shows where nothing was saved: itself, where it may be sent again."""
    if (kept := unsaved_form(error, view, caller=caller)) is None:
        return failed_view(error, caller, attempted=True)
    log_failure(error, caller, "form")
    return kept


@clicks("form.again")
async def open_again(click: Click, caller: Caller, gatehouse: Gatehouse) -> Reply:
    """Open a form again that was refused after it had closed, with all that was typed."""
    kept = await gatehouse.store.inbox.get(click.value)
    if kept is None or caller_of(kept.kind, kept.payload).user != caller.user or REFUSED_FORM not in kept.payload:
        raise FormForgotten
    return Modal(kept.payload[REFUSED_FORM])
