"""Dispatch payloads to their handlers: the table names the handler, and no exception leaves this module."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

import structlog

from bot.changes.model.change import Change
from bot.clients.errors import ClientError
from bot.clients.gate import CallContext, Priority
from bot.gatehouse import Gatehouse
from bot.metrics import NOT_UNDERSTOOD, CommandTimer
from bot.policy.inquiry import NotAllowed
from bot.policy.limits import COMMAND_RATE
from handlers import errors
from handlers.blocks import menus, modals
from handlers.blocks.messages import Block
from handlers.blocks.modals import View
from handlers.changes.command_form import form_of_missing
from handlers.explain.table import error_message, is_expected, outcome_of, words_for
from handlers.gatehouse.commands import GatehouseUndo
from handlers.grammar import reading_view
from handlers.grammar.command import Certain, Command, Unclear
from handlers.grammar.parser import LISTS, Shorthand, numbers_in
from handlers.grammar.reading_view import with_reading_line
from handlers.grammar.readings import Readings, runs_at_once
from handlers.rules.rule_refs import look_up
from handlers.slack import payloads
from handlers.slack.client import ModalGone, Slack
from handlers.slack.forms import FormAck, Forms
from handlers.slack.guesses import MISUNDERSTOOD, Guesses
from handlers.slack.payloads import (
    ClickRequest,
    CommandRequest,
    EventRequest,
    FormRequest,
    Request,
    ShortcutRequest,
    TypingRequest,
)
from handlers.slack.registry import (
    CLICKS,
    OPTIONS,
    SHORTCUTS,
    Click,
    Elsewhere,
    Outcome,
    Recorded,
)
from handlers.slack.replies import Answers
from handlers.slack.reply import Announced, Caller, Private, Reply, ShownFirst
from handlers.slack.running import require_rights, run

log = structlog.get_logger(__name__)

OPTIONS_TIMEOUT = 2.5
"""Seconds of Slack's three after which a menu's options must be on their way."""
SLOW = "The service is slow. Keep typing to try again."


@dataclass(slots=True)
class _Act:
    """What somebody has asked for by *request*, and what is known of it so far."""

    request: Request
    caller: Caller
    timer: CommandTimer
    attempted: bool
    """Whether it was to change something."""
    command: Command | None = None
    """The command that it stands for."""


class Dispatcher:
    """Finds who answers a payload, asks whether the caller may, and sees it to its answer."""

    def __init__(self, gatehouse: Gatehouse, slack: Slack, answers: Answers, forms: Forms) -> None:
        self._gatehouse = gatehouse
        self._slack = slack
        self._answers = answers
        self._forms = forms
        self._guesses = Guesses(gatehouse)
        self._barred: set[str] = set()
        """The people who could not use Gatehouse when they last tried."""

    async def dispatch(self, request: Request, ack: FormAck | None = None) -> None:
        """See *request* to its answer. *ack*: of a form, where its acknowledgement waits for it."""
        if isinstance(request, FormRequest):  # its refusal belongs into its modal
            await self._forms.finish(request.caller, request.view, self._save_form(request), ack)
            return
        timer, attempted = CommandTimer(_metric_name(request)), attempts_change(request)
        try:
            await self._admit(request)
        except Exception as error:  # noqa: BLE001  one place turns every error into one answer and one log line
            timer.end(outcome_of(error))
            home = isinstance(request, EventRequest) and request.is_home
            await self._answers.refuse(request.caller, error, request.asked, home=home, attempted=attempted)
            return
        act = _Act(request, _speaker(request), timer, attempted)
        await self._carry_out(act, self._outcome(request, self._gatehouse_since(timer.began, writes=attempted)))

    def _gatehouse_since(self, began: float, *, writes: bool) -> Gatehouse:
        """Return what works on a command that *began* then; where it *writes*, its requests go before others' reads."""
        # What was read before it began may be older than what the person has just seen.
        return self._gatehouse.with_context(CallContext(Priority.CHANGE if writes else Priority.READ, began))

    async def _admit(self, request: Request) -> None:
        """Whether the caller may use Gatehouse at all, and now; raises TooFast, NotAllowed or DirectoryUnavailable."""
        if _is_rate_limited(request):
            self._gatehouse.limits.take(COMMAND_RATE, request.caller.user)
        try:
            await self._gatehouse.access.require(request.caller.user, None)
        except NotAllowed:
            self._barred.add(request.caller.user)
            raise
        self._barred.discard(request.caller.user)

    async def admit_again(self, request: Request) -> None:
        """Admit somebody who was barred the last time, before anything of *request* is stored; raises as `_admit` does."""
        if request.caller.user in self._barred:
            await self._admit(request)

    async def offer(self, request: TypingRequest) -> Sequence[Block]:
        """Offer options for what was typed: none to somebody who may not read, one that says so where nothing can be read."""
        if request.menu is None:
            return ()
        route, caller = OPTIONS[request.menu], request.caller
        try:
            async with asyncio.timeout(OPTIONS_TIMEOUT):
                await self._gatehouse.access.require(caller.user, caller.channel, route.needs)
                return await route.run(request.text, caller, self._gatehouse)
        except NotAllowed:
            return ()
        except Exception as error:  # noqa: BLE001  a menu has no other place to say anything
            level = logging.INFO if is_expected(error) else logging.ERROR
            log.log(level, "no_options", error=type(error).__name__, menu=request.menu, user=caller.user)
            # An empty menu would say that there is nothing.
            return menus.notice_options(SLOW if isinstance(error, TimeoutError) else words_for(error).what)

    async def go_on(self, request: Request, change: Change) -> None:
        """Go on with the *change* that *request* has proposed already, and see it to its answer."""
        if isinstance(request, FormRequest):
            await self._forms.go_on(Recorded(change), request.caller, request.view)
        else:
            act = _Act(request, request.caller, CommandTimer(_metric_name(request)), attempted=True)
            await self._carry_out(act, self._resume_change(change))

    async def _resume_change(self, change: Change) -> Outcome:
        """Go on with *change*; its card says what became of it."""
        await self._gatehouse.changes.executor.go_on(change)
        return Announced()

    async def look_up(self, request: Request) -> Shorthand:
        """Look up what the short forms in the command of *request* stand for; nothing where it is no clear command."""
        command: object = None
        if isinstance(request, CommandRequest | ClickRequest):
            command = request.command
        elif isinstance(request, FormRequest):
            command = request.sent
        elif isinstance(request, EventRequest) and request.route is not None:
            with suppress(Unclear):
                command = await request.route.run(request.heard, request.caller, self._gatehouse)
        if not isinstance(command, Command):
            return Shorthand()
        return await look_up(command, request.caller, self._gatehouse)

    async def _outcome(self, request: Request, gatehouse: Gatehouse) -> Outcome | None:
        """Return the result of *request*: an answer, the command that it stands for, or nothing."""
        match request:
            case CommandRequest(command=Command() as command) | ClickRequest(command=Command() as command):
                return command
            case CommandRequest(command=Exception() as error) | ClickRequest(command=Exception() as error):
                raise error
            case ClickRequest(click=Click() as click):
                return await CLICKS[click.action].run(click, request.caller, gatehouse)
            case ShortcutRequest(name=name) if name in SHORTCUTS:
                text = payloads.text_of_message(request.body.get("message"))
                return await SHORTCUTS[name](text, request.caller, gatehouse)
            case EventRequest(route=route, heard=heard):
                return None if route is None else await route.run(heard, request.caller, gatehouse)
            case _:
                raise errors.OldButton

    async def _carry_out(self, act: _Act, work: Awaitable[Outcome | None]) -> None:
        """Answer *act* with what *work* comes to, or with that of the command that it stands for."""
        try:
            self._cover_list(act.request)
            if (reply := await self._reply_to(act, work)) is not None:
                await self._answers.send(act.caller, reply)
            act.timer.end("answered")
        except Exception as error:  # noqa: BLE001  one place turns every error into one answer and one log line
            act.timer.end(outcome_of(error))
            await self._answers.say(act.caller, error, act.request.asked, attempted=act.attempted, command=act.command)

    def _cover_list(self, request: Request) -> None:
        """Note that the answer to *request* takes the place of the last list, unless it is a list, or is about its rows."""
        command = request.command if isinstance(request, CommandRequest | ClickRequest) else None
        is_of_list = isinstance(command, Command) and (numbers_in(command) or isinstance(command, LISTS))
        if not is_of_list and (request.typed_text is not None or command is not None):
            self._gatehouse.store.lists.cover(request.caller.user)

    async def _reply_to(self, act: _Act, work: Awaitable[Outcome | None]) -> Reply | None:
        typed = act.request.typed_text
        try:
            outcome = await self._place(act, work)
            if not isinstance(outcome, Command):
                return outcome
            act.command, act.attempted, act.timer.command = outcome, outcome.writes, _command_name(outcome)
            act.caller = await self._show_waiting(act.caller, outcome)
            if outcome.writes:
                short = act.caller.shorthand or await look_up(outcome, act.caller, self._gatehouse)
                act.caller = replace(act.caller, shorthand=short)
                if not (act.request.acts_at_once and short.in_sight):
                    return await self._preview(act, Readings((outcome,)), act.caller)
            reply = await self._run(outcome, act.caller, act.timer.began)
            if typed is None or not (isinstance(reply, Private) and reply.is_doubtful):
                return reply
            return await self._answer_guess(act, typed, None) or reply
        except ShownFirst as first:
            return await self._preview(act, Readings((first.command,)), act.caller, first.facts)
        except MISUNDERSTOOD as error:
            if typed is None or isinstance(error, Certain):
                raise
            if (guess := await self._answer_guess(act, typed, error)) is None:
                if isinstance(error, Unclear) and (form := form_of_missing(error, typed, act.caller, self._gatehouse)):
                    return await self._run(form, act.caller, act.timer.began) if isinstance(form, Command) else form
                NOT_UNDERSTOOD.labels(type(error).__name__).inc()
                raise
            return guess

    async def _place(self, act: _Act, work: Awaitable[Outcome | None]) -> Command | Reply | None:
        """Return what *work* comes to, and let *act* go on for the caller of that."""
        outcome = await work
        if isinstance(outcome, Elsewhere):
            act.caller, outcome = outcome.caller, outcome.outcome
        return outcome

    async def _answer_guess(self, act: _Act, typed: tuple[str, str], error: Exception | None) -> Reply | None:
        """Return what is answered in the place of *error*, or of an empty list: what was meant, where that only asks, or a
        private preview; None where nobody can tell.
        """
        # What was stored is of another reading.
        caller = replace(act.caller, shorthand=None)
        readings = await self._guesses.readings_of(typed, act.command, error, caller)
        if readings == Readings():
            return None
        if (meant := runs_at_once(readings)) is not None:
            if readings.unread:  # an answer to a part is for who asked, not for the channel
                caller = caller.with_place(public=False, replacing=caller.replacing)
            try:
                reply = await self._run(meant, caller, act.timer.began)
            except MISUNDERSTOOD as unknown:  # told beside what wasn't understood, and to who asked alone, as elsewhere
                caller = caller.with_place(public=False, replacing=caller.replacing)
                reply = Private(error_message(unknown, asked=act.request.asked, caller=caller))
            act.caller = caller
            return _with_reading_line(reply, meant, await self._titles(), readings)
        return await self._preview(act, readings, caller)

    async def _preview(self, act: _Act, readings: Readings, caller: Caller, facts: str = "") -> Reply:
        """Return the card that shows *readings*, privately, and waits for a click; *facts*: as of `ShownFirst`."""
        # Before the card: it shows names of things that not everybody may see.
        for first in readings.commands[:1]:
            await require_rights(first, caller, self._gatehouse)
        card = await self._guesses.preview(readings, caller, act.request.asked, facts)
        act.caller = caller.with_place(public=False, replacing=caller.replacing)
        return Private(card)

    async def _titles(self) -> Mapping[str, str]:
        """Return the names of rules by id, as they were read a moment ago; none where they can't be read."""
        with suppress(ClientError):
            return {rule.id: rule.title for rule in (await self._gatehouse.rules.recent()).known}
        return {}

    async def _show_waiting(self, caller: Caller, command: Command) -> Caller:
        """Open a modal at once, while the trigger lives, for a caller who asked from a view.

        Raises ModalGone where they have closed it and *command* only asks; what it changes is done all the same.
        """
        if caller.view is None or caller.public:
            return caller
        waiting = modals.loading_view("Gatehouse", caller.channel)
        if caller.view.get("type") == "home":
            return replace(caller, view=await self._slack.open(caller.trigger or "", waiting))
        if not modals.is_panel(caller.view):
            return caller
        try:
            return replace(caller, view=await self._answers.redraw(caller.view, waiting))
        except ModalGone:
            # What it changes is done although nobody looks; an answer alone has nobody to read it.
            if not command.writes:
                raise
            return replace(caller, view=None, trigger=None)

    async def _run(self, command: Command, caller: Caller, began: float) -> Reply:
        return await run(command, caller, self._gatehouse_since(began, writes=command.writes))

    async def _save_form(self, request: FormRequest) -> View | Recorded:
        timer = CommandTimer(_metric_name(request))
        try:
            # Who sent a form is asked about only here: it was stored before that, to be acknowledged in time.
            await self._admit(request)
            if request.form is None:
                raise errors.OldButton
            if isinstance(request.sent, Exception):
                raise request.sent
            gatehouse = self._gatehouse_since(timer.began, writes=True)
            saved = await request.form.save(request.sent, request.caller, gatehouse)
            if isinstance(saved, Command):
                caller = replace(request.caller, confirmed=modals.CONFIRMED in modals.metadata(request.view))
                saved = await self._answer_form(saved, caller, timer.began)
        except Exception as error:
            timer.end(outcome_of(error))
            raise
        timer.end("answered")
        return saved

    async def _answer_form(self, command: Command, caller: Caller, began: float) -> View | Recorded:
        """Return what the form shows that stands for *command*: its answer, or how the change ends that it has recorded."""
        try:
            reply = await self._run(command, caller, began)
        except ShownFirst as first:
            card = await self._guesses.preview(Readings((first.command,)), caller, "", first.facts)
            reply = Private(card)
        change = await self._gatehouse.store.changes.find_by_key(caller.request) if command.writes else None
        return Recorded(change) if change is not None else await self._answers.in_form(caller, reply)


def _metric_name(request: Request) -> str:
    """Return the command that *request* is known to be, the button that was clicked, or its kind; never what was typed."""
    match request:
        case CommandRequest(command=Command() as command) | ClickRequest(command=Command() as command):
            return _command_name(command)
        case ClickRequest(click=Click(action=action)):
            return f"click {action}"
        case _:
            return request.kind


def _command_name(command: Command) -> str:
    return f"{command.service} {command.verb}".strip()


def _with_reading_line(reply: Reply, command: Command, titles: Mapping[str, str], readings: Readings) -> Reply:
    """Return *reply* under a line on the *command* of *readings* that it answers, which nobody typed."""
    if not isinstance(reply, Private):
        return reply
    return replace(reply, message=with_reading_line(reply.message, command, titles, readings))


def _is_rate_limited(request: Request) -> bool:
    """Whether this is a command, typed, clicked or mentioned; undo, decisions and the home are never too many."""
    match request:
        case CommandRequest():
            return not isinstance(request.command, GatehouseUndo)
        case ClickRequest():
            return request.command is not None
        case EventRequest():
            return not request.is_home
        case _:
            return isinstance(request, ShortcutRequest)


def attempts_change(request: Request) -> bool:
    """Whether *request* was to change something, as far as that is known before it is looked into."""
    return request.could_change and not isinstance(request, EventRequest)


def _speaker(request: Request) -> Caller:
    """Return the caller as they are answered: *Share* in the channel, a page turned in the place of the one before."""
    if not isinstance(request, ClickRequest) or request.click is None or request.command is None:
        return request.caller
    name, caller = request.click.action, request.caller
    caller = replace(caller, confirmed=request.click.number == reading_view.SHOWN)
    return caller.with_place(public=name == "share", replacing=name == "turn" and caller.ephemeral)
