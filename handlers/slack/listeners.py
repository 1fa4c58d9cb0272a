"""Receive Slack's payloads: acknowledge them and start on their answers; what could change something is stored first."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import Any, Final
from weakref import WeakValueDictionary

import structlog
from slack_bolt.async_app import AsyncAck, AsyncApp

from bot.changes.worker import Wake, drain, keep_lease, work_off
from bot.gatehouse import Gatehouse
from bot.store.db import StoreError
from bot.store.inbox import MAX_ATTEMPTS, StoredRequest
from handlers import errors
from handlers.blocks import modals
from handlers.grammar.parser import Shorthand
from handlers.slack import registry
from handlers.slack.client import Slack
from handlers.slack.dispatch import Dispatcher, attempts_change
from handlers.slack.forms import FormAck, Forms, unsaved_view
from handlers.slack.payloads import EventRequest, FormRequest, Request, read, read_form, read_typing
from handlers.slack.replies import REFUSAL, Answers, failed_view

log = structlog.get_logger(__name__)

registry.load()


SHORTHAND: Final = "gatehouse_shorthand"
"""The name under which a stored payload holds what its short forms stand for, beside Slack's own."""
RESUMED_AT_ONCE: Final = 16
"""Requests, of as many people, that are resumed at a time."""
ANY: Final = re.compile(".*", re.DOTALL)


class Router:
    """Receives Slack's payloads from Bolt's listeners, stores what could change something, and sees each to its answer.

    A stored request whose process died is resumed by another one.
    """

    def __init__(
        self,
        gatehouse: Gatehouse,
        slack: Slack,
        *,
        owner: str,
        lease: timedelta,
        form_timeout: float,
    ) -> None:
        self._running: set[asyncio.Task[Any]] = set()
        """The tasks that are under way. Bolt would drop its references to them and not wait at shutdown."""
        self._gatehouse = gatehouse
        self._inbox = gatehouse.store.inbox
        self._answers = Answers(gatehouse, slack)
        self._forms = Forms(gatehouse, self._answers)
        self._dispatcher = Dispatcher(gatehouse, slack, self._answers, self._forms)
        self._owner = owner
        self._lease = lease
        self._form_timeout = form_timeout
        self._at_work: set[str] = set()
        """Ids of the requests that this process is doing."""
        # Weak, so that a lock is dropped once nobody holds it or waits for it.
        self._turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        """For each person whose requests are resumed: one of these is done at a time."""

    def register(self, app: AsyncApp) -> None:
        """Register one listener per kind of payload: Bolt's own search would cost more with every command."""
        app.command(ANY)(self.on_command)
        app.action(ANY)(self.on_click)
        app.view(ANY)(self.on_submission)
        app.view_closed(ANY)(self.on_nothing_to_do)
        app.options(ANY)(self.on_typing)
        app.shortcut(ANY)(self.on_shortcut)
        app.event(ANY)(self.on_event)

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        """Run *work*, which handles its own errors."""
        task = asyncio.create_task(work)
        self._running.add(task)
        task.add_done_callback(self._on_task_end)

    def _on_task_end(self, task: asyncio.Task[None]) -> None:
        self._running.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("task_died", error=type(error).__name__, exc_info=error)

    async def drain(self) -> None:
        """Wait for running tasks, as `drain` does; a cut-off request that could change something was stored, and is resumed."""
        await drain(self._running)

    async def on_nothing_to_do(self, ack: AsyncAck) -> None:
        await ack()

    async def on_command(self, ack: AsyncAck, body: dict[str, Any]) -> None:
        await self._take_in(read("command", body), ack)

    async def on_click(self, ack: AsyncAck, body: dict[str, Any]) -> None:
        await self._take_in(read("click", body), ack)

    async def on_shortcut(self, ack: AsyncAck, body: dict[str, Any]) -> None:
        await self._take_in(read("shortcut", body), ack)

    async def on_event(self, ack: AsyncAck, body: dict[str, Any]) -> None:
        """Take in an event that has a route; Slack redelivers events until they are acknowledged, so it may be stored first."""
        request = read("event", body)
        if isinstance(request, EventRequest) and request.route is None:
            await ack()
        else:
            await self._take_in(request, ack)

    async def _take_in(self, request: Request, ack: AsyncAck) -> None:
        """Acknowledge *request* and start on it; what could change something is stored before that."""
        if request.could_change:
            await self._store_then_ack(request, ack)
            return
        await ack()
        self._start(self._dispatcher.dispatch(request))

    async def on_typing(self, ack: AsyncAck, body: dict[str, Any]) -> None:
        """Answer with options for what somebody typed, in the acknowledgement: Slack takes no other answer here."""
        await ack(options=await self._dispatcher.offer(read_typing(body)))

    async def on_submission(self, ack: AsyncAck, body: dict[str, Any]) -> None:
        request = read_form(body)
        if request.form is None:
            # The view is of another release. Without an update, Slack would close it as if it had been saved.
            await ack(response_action="update", view=modals.old_form_view())
            return
        try:
            if isinstance(request.sent, Exception):
                raise request.sent
            if wrong := request.form.errors(request.sent):
                await ack(response_action="errors", errors=wrong)
                return
            pending = FormAck(request.form.working(request.view), self._form_timeout)
        except Exception as error:  # noqa: BLE001  whatever it is, the person must learn that nothing was saved
            await ack(response_action="update", view=failed_view(error, request.caller, attempted=True))
            return
        await self._store_then_ack(request, ack, pending)

    async def _store_then_ack(self, request: Request, ack: AsyncAck, form: FormAck | None = None) -> None:
        """Commit the request, start on it, and acknowledge it; a second delivery of it is only acknowledged.

        *form*: the acknowledgement of a form, which waits for the outcome of its checks.
        """
        try:
            # Nothing is stored for a person known to be barred. Slack is asked about anyone else after the acknowledgement.
            await self._dispatcher.admit_again(request)
            # Stored with the request: “last” must not mean something else where it is resumed.
            short = await self._dispatcher.look_up(request)
            payload = {**request.body, SHORTHAND: short.model_dump()}
            key = request.caller.request
            kept = await self._inbox.take_in(key, request.kind, payload, owner=self._owner, lease=self._lease)
        except Exception as error:  # noqa: BLE001  not stored: not promised, and said so
            if isinstance(request, FormRequest):
                unsaved = unsaved_view(error, request.caller, request.view)
                await ack(response_action="update", view=unsaved)
                return
            await ack()
            attempted = attempts_change(request)
            self._start(self._answers.say(request.caller, error, request.asked, attempted=attempted, stored=False))
            return
        if kept is None:
            await ack()
            return
        # Begun before the acknowledgement, for which a form waits until its checks are done.
        self._start(self._work_on(kept, partial(self._do, _with_stored_id(request, kept, short), form)))
        await ack(**(await form.content() if form is not None else {}))

    async def _work_on(self, kept: StoredRequest, work: Callable[[], Awaitable[None]]) -> None:
        """Do *work* while this process has the lease on the request, so that nobody else does it at the same time."""
        self._at_work.add(kept.id)
        renew = partial(self._inbox.renew, kept, self._lease)
        try:
            async with keep_lease(kept.id, self._lease, renew):
                await work()
        except TimeoutError:
            log.warning("request_lost", request=kept.id[:8])
        except asyncio.CancelledError:
            with suppress(StoreError):  # then it waits until its lease is over
                await self._inbox.give_back(kept)
            raise
        finally:
            self._at_work.discard(kept.id)

    async def _do(self, request: Request, form: FormAck | None = None) -> None:
        """Execute a stored request; its id is the idempotency key of the change that it proposes."""
        await self._dispatcher.dispatch(request, form)
        await self._inbox.mark_done(request.caller.request)

    async def _do_again(self, kept: StoredRequest) -> None:
        """Resume a stored request: go on with the change that it has proposed, or execute it where it has proposed none.

        Where it was refused on record, the refusal is sent again, since the person may have acted on it.
        """
        request = _read_stored(kept)
        if kept.attempts >= MAX_ATTEMPTS:
            await self._give_up(kept, request)
        elif (change := await self._gatehouse.store.changes.find_by_key(kept.id)) is not None:
            log.info("resuming", kind=kept.kind, request=kept.id[:8], change=change.id[:8])
            await self._dispatcher.go_on(request, change)
            await self._inbox.mark_done(kept.id)
        elif (refusal := kept.payload.get(REFUSAL)) is not None:
            if isinstance(request, FormRequest):
                await self._forms.show_end(refusal, request.caller, request.view)
            else:
                await self._answers.say_again(request.caller, refusal)
            await self._inbox.mark_done(kept.id)
        else:
            log.info("resuming", kind=kept.kind, request=kept.id[:8])
            await self._do(request)

    async def resume(self, *, every: float) -> None:
        """Resume stored requests whose process died before it was done with them; runs until cancelled."""

        async def claim(_: str) -> StoredRequest | None:
            return await self._inbox.claim(self._owner, self._lease, but=self._at_work)

        async def go_on(kept: StoredRequest) -> None:
            await self._work_on(kept, partial(self._do_in_turn, kept))

        await work_off("resume", ["requests"], claim, go_on, width=RESUMED_AT_ONCE, every=every, wake=Wake())

    async def _do_in_turn(self, kept: StoredRequest) -> None:
        """Resume the requests of one person in the order in which they came; they don't wait for those of others."""
        async with self._turns.setdefault(_read_stored(kept).caller.user, asyncio.Lock()):
            # Its turn may have come late, when another process has the request already.
            if await self._inbox.begin(kept):
                await self._do_again(kept)

    async def _give_up(self, kept: StoredRequest, request: Request) -> None:
        """Give up a request that no process survived, and tell the person who made it."""
        log.error("request_given_up", kind=kept.kind, request=kept.id[:8], attempts=kept.attempts)
        await self._answers.say(request.caller, errors.GivenUp(), request.asked, attempted=True)
        await self._inbox.mark_done(kept.id)


def _with_stored_id(request: Request, kept: StoredRequest, short: Shorthand) -> Request:
    """Return *request* as it was when it came in, with the id under which it is stored."""
    caller = replace(request.caller, request=kept.id, asked_at=kept.received, shorthand=short)
    return replace(request, caller=caller)


def _read_stored(kept: StoredRequest) -> Request:
    """Return the stored request, as it was when it came in."""
    short = Shorthand.model_validate(kept.payload.get(SHORTHAND) or {})
    return _with_stored_id(read(kept.kind, kept.payload), kept, short)
