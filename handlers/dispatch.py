"""From a payload to its answer: who answers it stands in the table, and no exception goes past this room."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache
from typing import Final, TypeVar

import structlog

from bot.access import NotAllowed
from bot.clients.flights import one_command
from bot.domain.change import Change
from bot.domain.limits import COMMAND_RATE
from bot.domain.policy import Why
from bot.gatehouse import Gatehouse
from handlers import errors, grammar, inputs
from handlers.answers import Answers
from handlers.commands.command import Command, command_prefix, slash
from handlers.commands.gatehouse import GatehouseUndo
from handlers.commands.shorthand import Shorthand, expand
from handlers.inputs import Body
from handlers.modals import went_on
from handlers.parsers.rest import Unclear
from handlers.refs import look_up
from handlers.reply import Announced, Caller, Modal, Private, Reply, View
from handlers.routes import (
    CLICKS,
    COMMANDS,
    RUNNING,
    SHORTCUTS,
    Heard,
    Outcome,
    Shortcut,
    ShortcutRoute,
    action_name,
    find_event,
    find_form,
)
from handlers.slack import ModalGone, Slack, SlackRefused, SlackUnreachable
from handlers.views import forms

log = structlog.get_logger(__name__)
T = TypeVar("T")

ACKNOWLEDGEMENT_LANDS = 0.4
"""Seconds until Slack has surely drawn what a submission was acknowledged with. An update that overtook it would be
drawn over, and nothing tells when it is there."""
ACKNOWLEDGEMENT_LEAVES = 0.2
"""The same from the moment that an answer is ready: where all of us was held up meanwhile, the acknowledgement was too."""
PARSED_AT_ONCE: Final = 64
"""Commands whose words are remembered: on its way each is asked for what it is three times."""
LINK_PATIENCE = 1.0
"""Seconds of a trigger's three that Slack has to say where a message stands."""


class Dispatcher:
    """Finds who answers a payload, asks whether the caller may, and sees it to its answer."""

    def __init__(self, gatehouse: Gatehouse, slack: Slack, answers: Answers) -> None:
        self._gatehouse = gatehouse
        self._slack = slack
        self._answers = answers
        self._parse = lru_cache(PARSED_AT_ONCE)(grammar.parse)

    async def dispatch(self, kind: str, body: Body, caller: Caller) -> None:
        """See a payload of *kind* to its answer."""
        if kind != "submission":  # its refusal belongs into its modal, once that is there
            try:
                await self._admit(kind, body, caller)
            except Exception as error:  # noqa: BLE001  one place turns every error into one answer and one log line
                await self._answers.refuse(caller, error, inputs.asked(kind, body), home=inputs.is_home(body))
                return
        with one_command():
            await RUNS[kind](self, body, caller)

    async def _admit(self, kind: str, body: Body, caller: Caller) -> None:
        """Whether the caller may use Gatehouse at all, and now; raises TooFast, NotAllowed or DirectoryUnavailable."""
        if self._counts(kind, body):
            self._gatehouse.limits.take(COMMAND_RATE, caller.user, caller.channel)
        await self._gatehouse.access.require_member(caller.user)

    def _counts(self, kind: str, body: Body) -> bool:
        """Whether this is a command, typed, clicked or mentioned; undo, decisions and the home are never too many."""
        if kind == "command":
            return not isinstance(self.parsed(body), GatehouseUndo)
        if kind == "click":
            return action_name(inputs.action_id(body)) in RUNNING
        return kind == "shortcut" or (kind == "event" and not inputs.is_home(body))

    def parsed(self, body: Body) -> Command | Exception:
        """The command of a slash command's payload, or why there is none."""
        try:
            service = str(body.get("command", "")).lstrip("/").removeprefix(command_prefix.get())
            return self._parse(service, str(body.get("text") or ""))
        except Exception as error:  # noqa: BLE001  the one that asked hears of it, in words
            return error

    async def go_on(self, kind: str, body: Body, caller: Caller, change: Change) -> None:
        """Go on with the *change* that a payload has proposed already, and see it to its answer."""
        if kind == "submission":
            await self._save(body["view"], caller, self._gone_on(change, went_on))
        else:
            await self._carry_out(caller, inputs.asked(kind, body), self._gone_on(change, _announced))

    async def _gone_on(self, change: Change, answer: Callable[[Change], T]) -> T:
        return answer(await self._gatehouse.changes.go_on(change))

    async def look_up(self, kind: str, body: Body, caller: Caller) -> Shorthand:
        """What the command of a payload leaves to be looked up; nothing where it is none, or not a clear one."""
        command: object = None
        if kind == "command":
            command = self.parsed(body)
        elif kind == "click" and (name := action_name(inputs.action_id(body))) in RUNNING:
            with suppress(Unclear):
                command = commanded(inputs.click(body, name).value)
        elif kind == "event" and (route := find_event(body.get("event") or {})) is not None:
            with suppress(Unclear, errors.EditedMessage):
                command = await route.run(Heard(body["event"], inputs.own_id(body)), caller, self._gatehouse)
        return await look_up(command, caller, self._gatehouse) if isinstance(command, Command) else Shorthand()

    async def _run_command(self, body: Body, caller: Caller) -> None:
        command = self.parsed(body)
        asked = inputs.asked("command", body)
        if isinstance(command, Exception):
            await self._answers.say(caller, command, asked)
        else:
            await self._carry_out(caller, asked, self._run(command, caller))

    async def _run_shortcut(self, body: Body, caller: Caller) -> None:
        name = str(body.get("callback_id") or "")
        route = SHORTCUTS.get(name)
        if route is None:
            await self._answers.say(caller, errors.OldButton(), "")
            return
        await self._carry_out(caller, inputs.asked("shortcut", body), self._use(name, route, body, caller))

    async def _use(self, name: str, route: ShortcutRoute, body: Body, caller: Caller) -> Outcome:
        """What a shortcut comes to; the message is searched only for somebody who may use what is found in it."""
        if route.stands_for is not None:
            await self._check_right(route.stands_for, caller)
        link = await self._link(caller) if route.linked else ""
        shortcut = Shortcut(name, inputs.all_said(body.get("message")), link)
        return await route.run(shortcut, caller, self._gatehouse)

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
            await self._carry_out(caller, inputs.asked("event", body), route.run(heard, caller, self._gatehouse))

    async def _carry_out(self, caller: Caller, asked: str, work: Awaitable[Outcome | None]) -> None:
        """See an act to its answer: its own, or that of the command that it stands for."""
        try:
            outcome = await work
            if isinstance(outcome, Command):
                caller = await self._waiting(caller)
                outcome = await self._run(outcome, caller)
            if outcome is not None:
                await self._answers.send(caller, outcome)
        except Exception as error:  # noqa: BLE001  one place turns every error into one answer and one log line
            await self._answers.say(caller, error, asked)

    async def _waiting(self, caller: Caller) -> Caller:
        """Whoever asked from a view looks at a modal: it is there at once, while the trigger lives."""
        if caller.view is None or caller.public:
            return caller
        waiting = forms.loading("Gatehouse", caller.channel)
        if caller.view.get("type") == "home":
            return replace(caller, view=await self._slack.open(caller.trigger or "", waiting))
        if forms.is_panel(caller.view):
            return replace(caller, view=await self._answers.redraw(caller.view, waiting))
        return caller

    async def _run(self, command: Command, caller: Caller) -> Reply:
        """The answer to a command, from whatever it came: typed, clicked, or mentioned.

        Where it is a form and Slack gave no way to open one, a button that does.
        """
        await self._check_right(command, caller)
        command = expand(command, caller.shorthand or await look_up(command, caller, self._gatehouse))
        reply = await COMMANDS[type(command)](command, caller, self._gatehouse)
        if isinstance(reply, Modal) and not caller.trigger:
            return Private(forms.opener(command))
        return reply

    async def _check_right(self, command: Command | type[Command], caller: Caller) -> None:
        """Whether the caller may, here; raises NotAllowed or DirectoryUnavailable."""
        access = self._gatehouse.access
        if command.needs is not None:
            await access.require_any((command.needs, *command.or_needs), caller.user, caller.channel)
        if caller.public and (await access.directory.place(caller.channel)).shared:
            raise NotAllowed(Why.SHARED_CHANNEL, "share", caller.user, channel=caller.channel)

    async def _run_click(self, body: Body, caller: Caller) -> None:
        name = action_name(inputs.action_id(body))
        if name is None:
            await self._answers.say(caller, errors.OldButton(), "")
            return
        click = inputs.click(body, name)
        if name in RUNNING:
            await self._run_button(click.value, name, caller)
        else:
            await self._carry_out(caller, "", CLICKS[name].run(click, caller, self._gatehouse))

    async def _run_button(self, text: str, name: str, caller: Caller) -> None:
        """A button that stands for a command: it means what the same words would, typed by whoever clicked."""
        asked = slash(text)
        try:
            command = commanded(text)
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

        async def saved() -> View:
            await self._admit("submission", body, caller)
            return await form.save(view, caller, self._gatehouse)

        await self._save(view, caller, saved())

    async def _save(self, view: View, caller: Caller, work: Awaitable[View]) -> None:
        """See a form that was sent to what it shows in the end: what *work* comes to, or why it failed."""
        landed = asyncio.get_running_loop().time() + ACKNOWLEDGEMENT_LANDS
        try:
            final = await work
        except Exception as error:  # noqa: BLE001
            final = self._answers.failed_view(error, caller)
            await self._answers.put_on_record(error, caller)
        await asyncio.sleep(max(ACKNOWLEDGEMENT_LEAVES, landed - asyncio.get_running_loop().time()))
        try:
            await self._answers.redraw({"id": view.get("id")}, final, ended=True)
        except ModalGone:
            log.info("modal_gone", request=caller.request[:8])
            await self._answers.tell_unsaved(caller, final)
        except (SlackRefused, SlackUnreachable) as error:
            log.warning("answer_undeliverable", error=str(error), request=caller.request[:8])


def _announced(_: Change) -> Outcome:
    """Its card says what became of it."""
    return Announced()


def commanded(text: str) -> Command:
    """The command that a button's value stands for."""
    service, _, rest = text.partition(" ")
    return grammar.parse(service, rest)


async def _standing_for(command: Command) -> Command:
    """A button that stands for a command comes to that command."""
    return command


RUNS: Final = {
    "command": Dispatcher._run_command,
    "click": Dispatcher._run_click,
    "submission": Dispatcher._run_submission,
    "event": Dispatcher._run_event,
    "shortcut": Dispatcher._run_shortcut,
}
