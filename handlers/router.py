"""The one way in: acknowledge, who, parse, run, reply, errors.

What could change something is stored first and acknowledged then, so that an acknowledged click survives the
process; all else is acknowledged at once. No exception leaves a listener: Bolt would take back the
acknowledgement (measured, slack-bolt 1.30).
"""

from __future__ import annotations

import asyncio
import hashlib
import re
from collections.abc import Awaitable, Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any

import structlog
from slack_bolt.async_app import AsyncAck, AsyncApp
from slack_bolt.request.async_request import AsyncBoltRequest

from bot.access import NotAllowed
from bot.changes.applying import Checkpoint, nowhere
from bot.domain.policy import Why
from bot.gatehouse import Gatehouse
from bot.store.inbound import MOST_ATTEMPTS, Inbound
from handlers import (
    approvals,
    check,
    errors,
    exports,
    gatehouse,
    grammar,
    groups,
    home,
    inputs,
    listing,
    member_forms,
    member_imports,
    members,
    mentions,
    offboard,
    options,
    rule_forms,
    rule_imports,
    rules,
    samples,
    segments,
    settings,
    shortcuts,
    which,
    why,
)
from handlers.answers import Answers
from handlers.commands import Command
from handlers.parsers.rest import Unclear
from handlers.reply import Caller, Modal, Private, Reply, View
from handlers.routes import (
    CLICKS,
    COMMANDS,
    RUNNING,
    SHORTCUTS,
    Heard,
    Outcome,
    Shortcut,
    action_name,
    find_event,
    find_form,
)
from handlers.slack import Slack, SlackRefused, SlackUnreachable
from handlers.tasks import Tasks
from handlers.views import forms
from handlers.words import cleaned

log = structlog.get_logger(__name__)

FEATURES = (
    approvals,
    check,
    exports,
    gatehouse,
    groups,
    home,
    listing,
    member_forms,
    member_imports,
    members,
    mentions,
    offboard,
    options,
    rule_forms,
    rule_imports,
    rules,
    samples,
    segments,
    settings,
    shortcuts,
    which,
    why,
)
"""The modules that fill the table: the list of what Gatehouse does."""

ANY = re.compile(".*", re.DOTALL)
LEASE = timedelta(seconds=90)
ACKNOWLEDGEMENT_LANDS = 0.4
"""Seconds until Slack has surely drawn what a submission was acknowledged with. An update that overtook it would be
drawn over, and nothing tells when it is there."""
LINK_PATIENCE = 1.0
"""Seconds of a trigger's three that Slack has to say where a message stands."""
Body = Mapping[str, Any]


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
        self._lease = lease
        self._reached = reached
        self._gatehouse = gatehouse
        self._slack = slack
        self._answers = Answers(gatehouse, slack)
        self._owner = owner
        self.tasks = Tasks()

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
        command = self._parsed(body)
        if isinstance(command, Command) and command.writes:
            await self._store_then_ack("command", body, ack, req)
            return
        await ack()
        self.tasks.start(self._run_command(body, inputs.caller_of_command(body)))

    async def on_click(self, ack: AsyncAck, body: dict[str, Any], req: AsyncBoltRequest) -> None:
        if self._could_change(body):
            await self._store_then_ack("click", body, ack, req)
            return
        await ack()
        self.tasks.start(self._run_click(body, inputs.caller_of_click(body)))

    def _could_change(self, body: Body) -> bool:
        """Whether a click could change something: by its own route, or because it stands for a command that could."""
        name = action_name(inputs.action_id(body))
        if name is None:
            return False
        if name not in RUNNING:
            return CLICKS[name].stored
        try:
            return _commanded(inputs.click(body, name).value).writes
        except Unclear:
            return False

    async def on_typing(self, ack: AsyncAck, body: dict[str, Any]) -> None:
        """Options for what somebody typed: the answer is the acknowledgement, so there is no other way to say anything."""
        await ack(options=await options.offered(body, self._gatehouse))

    async def on_shortcut(self, ack: AsyncAck, body: dict[str, Any]) -> None:
        await ack()
        self.tasks.start(self._run_shortcut(body, inputs.caller_of_shortcut(body)))

    async def on_event(self, ack: AsyncAck, body: dict[str, Any], req: AsyncBoltRequest) -> None:
        """Slack tells an event again until it is acknowledged, and others may too: what is answered is stored first."""
        event: Body = body.get("event") or {}
        route = None if event.get("user") == inputs.own_id(body) else find_event(event)
        if route is not None and route.stored:
            await self._store_then_ack("event", body, ack, req)
            return
        await ack()
        if route is not None:
            self.tasks.start(self._run_event(body, inputs.caller_of_event(body)))

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
        await self._store_then_ack("submission", body, ack, req, response_action="update", view=meanwhile)

    async def _store_then_ack(self, kind: str, body: Body, ack: AsyncAck, req: AsyncBoltRequest, **answer: Any) -> None:
        """Commit the request, acknowledge it, start on it. A second delivery of it is acknowledged and left alone."""
        natural = inputs.natural_key(kind, body)
        signature = (req.headers.get("x-slack-signature") or [natural])[0]
        key = hashlib.sha256(signature.encode()).hexdigest()
        try:
            self._reached("store")
            kept = await self._gatehouse.store.inbound.take_in(
                key, natural, kind, dict(body), owner=self._owner, lease=self._lease
            )
        except Exception as error:  # noqa: BLE001  not stored: not promised, and said so
            await ack()
            self.tasks.start(self._answers.say(CALLERS[kind](body), error, _asked(kind, body)))
            return
        self._reached("acknowledge")
        await ack(**answer)
        if kept is not None:
            self.tasks.start(self._finish(kept.id, kind, body))

    async def _finish(self, inbound_id: str, kind: str, body: Body) -> None:
        """Do a stored request; whatever it proposes is known by its id, so that doing it again proposes nothing new."""
        self._reached("run")
        await RUNS[kind](self, body, replace(CALLERS[kind](body), request=inbound_id))
        self._reached("finish")
        await self._gatehouse.store.inbound.done(inbound_id)

    async def resume(self, *, every: float) -> None:
        """Take up stored requests whose process died before it was done with them; runs until cancelled."""
        while True:
            try:
                while (kept := await self._gatehouse.store.inbound.claim_next(self._owner, self._lease)) is not None:
                    if kept.attempt > MOST_ATTEMPTS:
                        await self._give_up(kept)
                        continue
                    log.info("resuming", kind=kept.kind, request=kept.id[:8])
                    await self._finish(kept.id, kept.kind, kept.payload)
            except Exception as error:
                log.exception("resume_failed", error=type(error).__name__)
            await asyncio.sleep(every)

    async def _give_up(self, kept: Inbound) -> None:
        """A request that no process survived: nobody tries again, and whoever asked hears of it."""
        caller = replace(CALLERS[kept.kind](kept.payload), request=kept.id)
        log.error("request_given_up", kind=kept.kind, request=kept.id[:8], attempts=kept.attempt)
        await self._answers.say(caller, errors.GivenUp(), _asked(kept.kind, kept.payload))
        await self._gatehouse.store.inbound.done(kept.id)

    def _parsed(self, body: Body) -> Command | Exception:
        try:
            service = str(body.get("command", "")).lstrip("/").removeprefix(self._gatehouse.prefix)
            return grammar.parse(service, str(body.get("text") or ""))
        except Exception as error:  # noqa: BLE001  the one that asked hears of it, in words
            return error

    async def _run_command(self, body: Body, caller: Caller) -> None:
        command = self._parsed(body)
        asked = _asked("command", body)
        if isinstance(command, Exception):
            await self._answers.say(caller, command, asked)
        else:
            await self._answer(caller, asked, self.run(command, caller))

    async def _run_shortcut(self, body: Body, caller: Caller) -> None:
        name = str(body.get("callback_id") or "")
        route = SHORTCUTS.get(name)
        if route is None:
            await self._answers.say(caller, errors.OldButton(), "that shortcut")
            return
        link = await self._link(caller) if route.linked else ""
        shortcut = Shortcut(name, inputs.all_said(body.get("message")), link)
        await self._carry_out(caller, _asked("shortcut", body), route.run(shortcut, caller, self._gatehouse))

    async def _link(self, caller: Caller) -> str:
        """Where the message stands, unless Slack takes so long to say it that the trigger would be gone."""
        try:
            async with asyncio.timeout(LINK_PATIENCE):
                return await self._slack.permalink(caller.channel, caller.message)
        except TimeoutError:
            return ""

    async def _run_event(self, body: Body, caller: Caller) -> None:
        event: Body = body.get("event") or {}
        if (route := find_event(event)) is not None:
            heard = Heard(event, inputs.own_id(body))
            await self._carry_out(caller, _asked("event", body), route.run(heard, caller, self._gatehouse))

    async def _carry_out(self, caller: Caller, asked: str, work: Awaitable[Outcome | None]) -> None:
        """See an act to its answer: its own, or that of the command that it stands for."""
        try:
            outcome = await work
            if isinstance(outcome, Command):
                caller = await self._waiting(caller)
                outcome = await self._run_anywhere(outcome, caller)
            if outcome is not None:
                await self._answers.send(caller, outcome)
        except Exception as error:  # noqa: BLE001  one place turns every error into one answer and one log line
            await self._answers.say(caller, error, asked)

    async def _run_anywhere(self, command: Command, caller: Caller) -> Reply:
        """The answer; where it is a form and Slack gave no way to open one, a button that does."""
        reply = await self.run(command, caller)
        if isinstance(reply, Modal) and not caller.trigger:
            return Private(forms.opener(command))
        return reply

    async def _waiting(self, caller: Caller) -> Caller:
        """Whoever asked from a view looks at a modal: it is there at once, while the trigger lives."""
        if caller.view is None or caller.public:
            return caller
        waiting = forms.loading("Gatehouse", caller.channel)
        if caller.view.get("type") == "home":
            return replace(caller, view=await self._slack.open(caller.trigger or "", waiting))
        if forms.is_panel(caller.view):
            return replace(caller, view=await self._slack.refill(caller.view, waiting))
        return caller

    async def run(self, command: Command, caller: Caller) -> Reply:
        """The answer to a command, from whatever it came: typed, clicked, or mentioned."""
        handler = COMMANDS.get(type(command))
        if handler is None:
            raise errors.NotBuiltYet(command)
        await self._check_right(command, caller)
        return await handler(command, caller, self._gatehouse)

    async def _check_right(self, command: Command, caller: Caller) -> None:
        """Whether the caller may, here; raises NotAllowed or DirectoryUnavailable."""
        access = self._gatehouse.access
        if command.needs is not None:
            await access.require(command.needs, caller.user, caller.channel)
        if caller.public and (await access.directory.place(caller.channel)).shared:
            raise NotAllowed(Why.SHARED_CHANNEL, "share", caller.user, channel=caller.channel)

    async def _run_click(self, body: Body, caller: Caller) -> None:
        name = action_name(inputs.action_id(body))
        if name is None:
            await self._answers.say(caller, errors.OldButton(), "that button")
            return
        click = inputs.click(body, name)
        if name in RUNNING:
            await self._run_button(click.value, name, caller)
        else:
            await self._carry_out(caller, inputs.label(body), CLICKS[name].run(click, caller, self._gatehouse))

    async def _run_button(self, text: str, name: str, caller: Caller) -> None:
        """A button that stands for a command: it means what the same words would, typed by whoever clicked."""
        asked = f"/{self._gatehouse.prefix}{text}"
        try:
            command = _commanded(text)
        except Exception as error:  # noqa: BLE001
            await self._answers.say(caller, error, asked)
            return
        placed = caller.placed(public=name == "share", replacing=name == "turn" and caller.ephemeral)
        await self._carry_out(placed, asked, _standing_for(command))

    async def _run_submission(self, body: Body, caller: Caller) -> None:
        view: View = body["view"]
        form = find_form(str(view.get("callback_id")))
        if form is None:
            return
        landed = asyncio.get_running_loop().time() + ACKNOWLEDGEMENT_LANDS
        try:
            final = await form.save(view, caller, self._gatehouse)
        except Exception as error:  # noqa: BLE001
            final = self._answers.failed_view(error, caller)
            await self._answers.put_on_record(error, caller)
        await asyncio.sleep(max(0.0, landed - asyncio.get_running_loop().time()))
        try:
            await self._slack.refill({"id": view.get("id")}, final)
        except (SlackRefused, SlackUnreachable) as error:
            log.info("modal_gone", error=str(error), request=caller.request[:8])

    async def _answer(self, caller: Caller, asked: str, work: Awaitable[Reply]) -> None:
        try:
            await self._answers.send(caller, await work)
        except Exception as error:  # noqa: BLE001  one place turns every error into one answer and one log line
            await self._answers.say(caller, error, asked)


def _commanded(text: str) -> Command:
    """The command that a button's value stands for."""
    service, _, rest = text.partition(" ")
    return grammar.parse(service, rest)


async def _standing_for(command: Command) -> Command:
    """A button that stands for a command comes to that command."""
    return command


RUNS = {
    "command": Router._run_command,
    "click": Router._run_click,
    "submission": Router._run_submission,
    "event": Router._run_event,
}
CALLERS = {
    "command": inputs.caller_of_command,
    "click": inputs.caller_of_click,
    "submission": inputs.caller_of_submission,
    "event": inputs.caller_of_event,
}


def _asked(kind: str, body: Body) -> str:
    """The words of the person, or what stands for them, to be quoted in an answer to them alone."""
    if kind == "event":
        return cleaned(str((body.get("event") or {}).get("text") or "")) or "that event"
    return f"{body.get('command')} {body.get('text') or ''}".strip() if kind == "command" else "that " + kind
