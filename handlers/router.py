"""The one way in: Slack's payloads, each acknowledged and on its way to an answer.

What could change something is stored first and acknowledged then, so that an acknowledged click survives the
process; all else is acknowledged at once. No exception leaves a listener: Bolt would take back the
acknowledgement (measured, slack-bolt 1.30).
"""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any, Final

from slack_bolt.async_app import AsyncAck, AsyncApp
from slack_bolt.request.async_request import AsyncBoltRequest

import handlers.features  # noqa: F401  it fills the table
from bot.changes.applying import Checkpoint, nowhere
from bot.gatehouse import Gatehouse
from handlers import inputs, options
from handlers.answers import Answers
from handlers.commands.command import Command
from handlers.dispatch import Dispatcher, commanded
from handlers.inputs import CALLERS, Body
from handlers.intake import Intake
from handlers.parsers.rest import Unclear
from handlers.routes import CLICKS, RUNNING, action_name, find_event, find_form
from handlers.slack import Slack
from handlers.tasks import Tasks
from handlers.views import forms

ANY: Final = re.compile(".*", re.DOTALL)
LEASE: Final = timedelta(seconds=90)


class Router:
    """Takes Slack's payloads from Bolt's listeners, one per kind, and sees each to its answer."""

    def __init__(
        self,
        gatehouse: Gatehouse,
        slack: Slack,
        *,
        owner: str,
        lease: timedelta = LEASE,
        reached: Checkpoint = nowhere,
    ) -> None:
        self.tasks = Tasks()
        self._gatehouse = gatehouse
        self._answers = Answers(gatehouse, slack)
        self._dispatcher = Dispatcher(gatehouse, slack, self._answers)
        self._intake = Intake(
            gatehouse,
            self._dispatcher,
            self._answers,
            self.tasks,
            owner=owner,
            lease=lease,
            reached=reached,
        )

    async def resume(self, *, every: float) -> None:
        """Take up stored requests whose process died before it was done with them; runs until cancelled."""
        await self._intake.resume(every=every)

    def register(self, app: AsyncApp) -> None:
        """One listener per kind of payload: Bolt's own search would cost more with every command."""
        app.command(ANY)(self.on_command)
        app.action(ANY)(self.on_click)
        app.view(ANY)(self.on_submission)
        app.view_closed(ANY)(self.on_nothing_to_do)
        app.options(ANY)(self.on_typing)
        app.shortcut(ANY)(self.on_shortcut)
        app.event(ANY)(self.on_event)

    async def on_nothing_to_do(self, ack: AsyncAck) -> None:
        await ack()

    async def on_command(self, ack: AsyncAck, body: dict[str, Any], req: AsyncBoltRequest) -> None:
        command = self._dispatcher.parsed(body)
        if isinstance(command, Command) and command.writes:
            await self._intake.store_then_ack("command", body, ack, req)
            return
        await ack()
        self._start("command", body)

    async def on_click(self, ack: AsyncAck, body: dict[str, Any], req: AsyncBoltRequest) -> None:
        if self._could_change(body):
            await self._intake.store_then_ack("click", body, ack, req)
            return
        await ack()
        self._start("click", body)

    def _could_change(self, body: Body) -> bool:
        """Whether a click could change something: by its own route, or because it stands for a command that could."""
        name = action_name(inputs.action_id(body))
        if name is None:
            return False
        if name not in RUNNING:
            return CLICKS[name].stored
        try:
            return commanded(inputs.click(body, name).value).writes
        except Unclear:
            return False

    def _start(self, kind: str, body: Body) -> None:
        self.tasks.start(self._dispatcher.dispatch(kind, body, CALLERS[kind](body)))

    async def on_typing(self, ack: AsyncAck, body: dict[str, Any]) -> None:
        """Options for what somebody typed: the answer is the acknowledgement, so there is no other way to say anything."""
        await ack(options=await options.offered(body, self._gatehouse))

    async def on_shortcut(self, ack: AsyncAck, body: dict[str, Any]) -> None:
        await ack()
        self._start("shortcut", body)

    async def on_event(self, ack: AsyncAck, body: dict[str, Any], req: AsyncBoltRequest) -> None:
        """Slack tells an event again until it is acknowledged, and others may too: what is answered is stored first."""
        event: Body = body.get("event") or {}
        route = None if event.get("user") == inputs.own_id(body) else find_event(event)
        if route is not None and route.stored:
            await self._intake.store_then_ack("event", body, ack, req)
            return
        await ack()
        if route is not None:
            self._start("event", body)

    async def on_submission(self, ack: AsyncAck, body: dict[str, Any], req: AsyncBoltRequest) -> None:
        view = body["view"]
        form = find_form(str(view.get("callback_id")))
        if form is None:
            await ack(response_action="update", view=forms.outdated())
            return
        try:
            wrong = form.errors(view)
            if wrong:
                await ack(response_action="errors", errors=wrong)
                return
            meanwhile = form.working(view)
        except Exception as error:  # noqa: BLE001  whatever it is, the person must learn that nothing was saved
            await ack(
                response_action="update", view=self._answers.failed_view(error, inputs.caller_of_submission(body))
            )
            return
        await self._intake.store_then_ack("submission", body, ack, req, response_action="update", view=meanwhile)
