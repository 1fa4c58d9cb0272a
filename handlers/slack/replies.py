"""The way out: how a Reply reaches the person, wherever they look; how a form that was sent ends; how an error is told."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Mapping
from contextlib import suppress
from dataclasses import asdict, replace
from functools import lru_cache
from typing import Any, Final, TypeVar

import structlog

from bot.changes.model.change import Change
from bot.gatehouse import Gatehouse
from bot.policy.inquiry import DirectoryUnavailable, NotAllowed
from bot.policy.model import Why
from bot.store.audit import Event
from bot.store.db import CommitUnknown, StoreError
from handlers.blocks import messages, modals, tables
from handlers.blocks.messages import Block, Message
from handlers.blocks.modals import View
from handlers.errors import FormForgotten, NotPinned, NoTrigger
from handlers.explain.table import error_message, is_expected, says_unchanged, unsaved_form
from handlers.grammar import reading_view
from handlers.grammar.command import Command, Unclear
from handlers.grammar.parser import parse
from handlers.slack.client import ModalGone, Slack, SlackRefused, SlackUnreachable
from handlers.slack.files import SlackFiles
from handlers.slack.payloads import caller_of
from handlers.slack.registry import RUNNING, Click, Recorded, action_name, clicks
from handlers.slack.reply import Announced, Attached, Caller, HomeTab, Modal, Posted, Private, Refilled, Reply

log = structlog.get_logger(__name__)

R = TypeVar("R")

REFUSAL: Final = "gatehouse_refusal"
"""The name under which a stored request holds the answer that says that nothing was changed: then it is not done any more."""


def _buttons(block: Block) -> list[Block]:
    accessory = [block["accessory"]] if "accessory" in block else []
    return [*block.get("elements", ()), *accessory, *tables.buttons_of(block)]


SHARE: Final = "share"
"""What a button does that answers for a whole channel to see, and what it is called where it isn't allowed."""


def _operations(button: Block) -> frozenset[str]:
    """The operations of which the command of *button* needs one; none for a command that only reads."""
    name = action_name(str(button.get("action_id")))
    if name == SHARE:
        return frozenset({SHARE})
    return _find_needs(str(button["value"])) if name in RUNNING | {"temporary"} else frozenset()


@lru_cache(maxsize=4096)  # a list has twenty buttons, and is asked for again and again
def _find_needs(value: str) -> frozenset[str]:
    """The operations of which the command that a button holds needs one; none where it only reads."""
    try:
        command = parse(*value.partition(" ")[::2])
    except Unclear:
        return frozenset()
    needs = frozenset(filter(None, (command.needs, *command.or_needs)))
    return frozenset() if all(operation.endswith(".read") for operation in needs) else needs


def _without_refused(block: Block, refused: frozenset[str]) -> Block | None:
    """*block* without the buttons whose commands need what is *refused*; None where nothing is left of it."""
    gone = [button for button in _buttons(block) if (needs := _operations(button)) and needs <= refused]
    if not gone:
        return block
    if block.get("type") == "data_table":
        return tables.without_buttons(block, gone)
    if block.get("type") == "actions":
        left = [button for button in block["elements"] if button not in gone]
        return {**block, "elements": left} if left else None
    return {name: part for name, part in block.items() if name != "accessory"}


REFUSED_FORM: Final = "gatehouse_refused_form"
"""The name under which a stored submission holds the form again, with why it was refused, beside Slack's own."""


FORM_TIMEOUT: Final = 1.5
"""Seconds of Slack's three that a form's checks may take; after that it is acknowledged as being saved."""
ACKNOWLEDGEMENT_LANDS: Final = 0.4
"""Seconds until Slack has surely drawn what a submission was acknowledged with. An update that overtook it would be
drawn over, and nothing tells when it is there."""


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


class Answers:
    """Sends what handlers answer with to where the caller is looking."""

    def __init__(self, gatehouse: Gatehouse, slack: Slack) -> None:
        self._gatehouse = gatehouse
        self._slack = slack

    async def send(self, caller: Caller, reply: Reply) -> None:
        match reply:
            case Private(message) if caller.public:
                await self._slack.post(caller.channel, message, thread=caller.answered_in)
            case Private(message):
                await self._answer_privately(caller, message)
            case Posted():
                await self._post(caller, reply)
            case Modal():
                await self._show(caller, reply)
            case Refilled(view):
                await self._put_in_place(caller, view)
            case Attached():
                await self._attach(caller, reply)
            case Announced():
                await self._point_to_card(caller)
            case HomeTab():
                await self._draw_home(caller, reply)

    async def _point_to_card(self, caller: Caller) -> None:
        """Say where the card is, in the place of what was clicked; who typed sees it come."""
        if modals.is_panel(caller.view):
            await self.redraw(caller.view or {}, modals.done_view("Gatehouse", f"See its card in <#{caller.channel}>."))
        elif caller.replacing:
            await self._answer_privately(caller, reading_view.done_message(caller.channel))

    async def _post(self, caller: Caller, reply: Posted) -> None:
        channel, ts = await self._slack.post(caller.channel, reply.message)
        if reply.clicked is not None and caller.clicked_in_channel:
            with suppress(SlackRefused, SlackUnreachable):  # it may be gone, and what is new was posted
                await self._slack.edit(caller.channel, caller.message, reply.clicked)
        if not reply.is_pinned:
            return
        try:
            await self._slack.call("pins.add", channel=channel, timestamp=ts)
        except SlackRefused as refusal:
            raise NotPinned(refusal.code) from refusal

    async def _attach(self, caller: Caller, reply: Attached) -> None:
        """Send a file; who asked elsewhere than where it goes hears privately that it is there."""
        slack = SlackFiles(self._slack)
        await self._note_export("exporting", caller, reply)  # no file leaves without a trace, and none that Slack
        channel = caller.channel if reply.here else await slack.open_direct(caller.user)
        sent = await slack.send(channel, reply.name, reply.content, reply.comment)
        await self._note_export("exported", caller, reply)  # refused is said to have left
        if channel != caller.channel or not sent.shown:
            await self._answer_privately(
                caller, messages.file_sent_note(reply.name, sent.link, here=reply.here, shown=sent.shown)
            )

    async def _note_export(self, event: str, caller: Caller, reply: Attached) -> None:
        """Record the *event* of an export: ``exporting``, then ``exported`` or nothing."""
        if reply.exports is None:
            return
        what, count = reply.exports
        detail = {"count": count, "here": reply.here}
        await self._gatehouse.changes.journal.note(
            Event(event, caller.user, caller.channel, target=what, detail=detail)
        )

    async def _answer_privately(self, caller: Caller, message: Message) -> None:
        """Answer *caller* alone, where they look: in the modal, in one that opens, or beside what they wrote."""
        message = await self._without_refused_buttons(message, caller)
        if modals.is_panel(caller.view):
            await self.redraw(caller.view or {}, modals.notice(message, caller.channel))
        elif caller.trigger and not caller.response_url and (caller.view is None or caller.view.get("type") == "home"):
            await self._slack.open(caller.trigger, modals.notice(message, caller.channel))
        else:
            await self._slack.whisper(caller, message, replace=caller.replacing)

    async def _without_refused_buttons(self, message: Message, caller: Caller) -> Message:
        """*message* without buttons of commands that the caller may not use here; what Slack doesn't say, a click will."""
        needed = {name for block in message.blocks for button in _buttons(block) for name in _operations(button)}
        refused: frozenset[str] = frozenset()
        access = self._gatehouse.access
        if needed - {SHARE}:
            answers = await access.refusals_by_operation(caller.user, caller.channel)
            refused |= {operation for operation, why in answers.items() if why not in {None, Why.CANT_TELL}}
        if SHARE in needed:
            with suppress(DirectoryUnavailable):
                refused |= {SHARE} if (await access.directory.place(caller.channel)).shared else set()
        if not refused:
            return message
        return replace(
            message, blocks=tuple(filter(None, (_without_refused(block, refused) for block in message.blocks)))
        )

    async def refuse(self, caller: Caller, error: Exception, asked: str, *, home: bool, attempted: bool) -> None:
        """Tell somebody who was not let in: on their home where they opened it, else as `say` does."""
        if not home:
            await self.say(caller, error, asked, attempted=attempted)
            return

        async def fill() -> View:
            raise error

        await self._draw_home(caller, HomeTab(None, fill))

    async def _draw_home(self, caller: Caller, home: HomeTab) -> None:
        if home.skeleton is not None:
            await self._slack.publish(caller.user, home.skeleton)
        try:
            view = await home.fill()
        except Exception as error:  # noqa: BLE001  the home is where the person looks
            _log_failure(error, caller, "home")
            view = modals.home(error_message(error, asked="", caller=caller).blocks, caller.channel)
        await self._slack.publish(caller.user, view)

    async def redraw(self, opened: View, view: View, *, ended: bool = False) -> View:
        """Draw *view* in an open modal; where Slack does not take it, the modal says so. Raises ModalGone.

        *ended*: the view tells how a form that was sent has ended.
        """
        try:
            return await self._slack.refill(opened, view)
        except ModalGone:
            raise
        except (SlackRefused, SlackUnreachable) as error:
            log.warning("view_refused", error=str(error), view=view.get("callback_id"))
            return await self._slack.refill(opened, modals.fallback_view(view, passes=error.is_away, ended=ended))

    async def _tell_unsaved(self, caller: Caller, final: View) -> None:
        """Tell somebody to whom the end of a form can't be shown what was not saved: no card says that."""
        if (message := modals.unsaved_words(final, caller.request)) is None:
            return
        if "submit" in final:
            with suppress(StoreError):  # then the button says that the form is no longer kept
                await self._gatehouse.store.inbox.attach(caller.request, {REFUSED_FORM: final})
        try:
            await self._slack.whisper(caller, message)
        except (SlackRefused, SlackUnreachable) as failure:
            log.warning("answer_undeliverable", error=str(failure), request=caller.request[:8])

    async def _put_in_place(self, caller: Caller, view: View) -> None:
        """Draw a form in which somebody types; where Slack does not take it, what was typed stays, under a word on why."""
        try:
            await self._slack.refill(caller.view or {}, view)
        except ModalGone:
            raise
        except (SlackRefused, SlackUnreachable) as error:
            log.warning("view_refused", error=str(error), view=view.get("callback_id"))
            await self._slack.push(caller.trigger or "", modals.fallback_view(view, passes=error.is_away, ended=False))

    async def _show(self, caller: Caller, modal: Modal) -> None:
        """Open at once, while the trigger lives; then fill. From inside a modal, fill that one."""
        if caller.view is not None and caller.view.get("type") == "modal":
            opened = await self.redraw(caller.view, modal.skeleton)
        elif caller.trigger:
            # A trigger lives for three seconds, and to read what the modal shows may take longer.
            opened = await self._slack.open(caller.trigger, modal.skeleton)
        else:
            raise NoTrigger
        if modal.fill is None:
            return
        try:
            view = await modal.fill()
        except Exception as error:  # noqa: BLE001  the modal is open: it is where the person looks
            view = self.failed_view(error, caller)
        await self.redraw(opened, view)

    def unsaved_view(self, error: Exception, caller: Caller, view: View) -> View:
        """What the form that was sent as *view* shows where nothing was saved: itself, where it may be sent again."""
        if (kept := unsaved_form(error, view, caller=caller)) is None:
            return self.failed_view(error, caller, attempted=True)
        _log_failure(error, caller, "form")
        return kept

    def failed_view(self, error: Exception, caller: Caller, *, attempted: bool = False) -> View:
        """What a form shows that could not be opened, or, where a change was *attempted*, saved."""
        _log_failure(error, caller, "form")
        return modals.notice(error_message(error, asked="", caller=caller, attempted=attempted), caller.channel)

    async def _record_refusal(self, error: Exception, caller: Caller) -> None:
        """Record that the policy refused something."""
        if not isinstance(error, NotAllowed):
            return
        try:
            await self._gatehouse.changes.refusals.add(error.operation, caller.user, caller.channel, error.why)
        except StoreError as failure:
            log.warning("refusal_not_recorded", error=str(failure), request=caller.request[:8])

    async def _commit_refusal(self, caller: Caller, answer: Mapping[str, Any]) -> bool:
        """Commit that the request of *caller* ends with this *answer*; False where it may still be done.

        Before it is said: a process that takes up the request says the same, and does nothing.
        """
        # Only that nothing was changed must stay true if the request is taken up again.
        if not says_unchanged(answer["blocks"]):
            return True
        try:
            await self._gatehouse.store.inbox.attach(caller.request, {REFUSAL: answer})
        except StoreError as failure:
            log.warning("refusal_not_committed", error=str(failure), request=caller.request[:8])
            return False
        return True

    async def say_again(self, caller: Caller, refusal: Mapping[str, Any], view: View | None) -> None:
        """Tell the *caller* once more what a process before this one was about to; *view*: of a form that was sent."""
        if view is not None:
            await self._show_end(dict(refusal), caller, view)
            return
        message = Message(refusal["text"], tuple(refusal["blocks"]))
        await self._try_to_tell(caller, message, attempted=True)

    async def say(
        self,
        caller: Caller,
        error: Exception,
        asked: str,
        *,
        attempted: bool,
        stored: bool = True,
        command: Command | None = None,
    ) -> None:
        """Tell the *caller* why what they *asked* failed; *attempted*: it was to change something, and is *stored*.

        *command*: what they asked was read as.
        """
        if isinstance(error, ModalGone):
            log.info(
                "modal_gone", code=error.code, request=caller.request[:8]
            )  # the person who closed it wants no answer
            return
        _log_failure(error, caller, asked.split(" ", maxsplit=1)[0] if asked.startswith("/") else "message or click")
        await self._record_refusal(error, caller)
        message = error_message(error, asked=asked, caller=caller, attempted=attempted, command=command)
        if stored and not await self._commit_refusal(caller, asdict(message)):
            message = error_message(CommitUnknown(), asked=asked, caller=caller, attempted=attempted)
        await self._try_to_tell(caller, message, attempted=attempted)

    async def _try_to_tell(self, caller: Caller, message: Message, *, attempted: bool) -> None:
        # An error is for who asked alone, and takes the place of nothing that they may still need.
        caller = caller.with_place(public=False, replacing=False)
        try:
            try:
                await self._answer_privately(caller, message)
            except ModalGone:
                # Who closed it has lost interest in an answer, but not in what became of their change.
                if attempted:
                    await self._slack.whisper(caller, message)
        except (SlackRefused, SlackUnreachable) as failure:
            log.warning("answer_undeliverable", error=str(failure), request=caller.request[:8])

    async def finish_form(
        self, caller: Caller, view: View, work: Awaitable[View | Recorded], ack: FormAck | None = None
    ) -> None:
        """See the form in *view* to what *work* comes to, in the acknowledgement where that still waits, else after it.

        A change that *work* recorded is gone on with once the form is closed.
        """
        found = await self._result_or_view(work, caller, view)
        if not isinstance(found, Recorded):
            if ack is None or not ack.show(found):
                await self._show_end(found, caller, view)
            return
        # Closed before the change is carried out, which may take longer than Slack waits.
        is_closed = ack is not None and ack.close()
        final = await self._result_or_view(self._go_on(found), caller)
        if is_closed:
            await self._tell_unsaved(caller, final)
        else:
            await self._show_end(final, caller, view)

    async def resume_form(self, caller: Caller, view: View, change: Change) -> None:
        """Go on with the *change* that the form in *view* has recorded for a process that died."""
        await self.finish_form(caller, view, _recorded_change(change))

    async def _go_on(self, recorded: Recorded) -> View:
        return recorded.end(await self._gatehouse.changes.executor.go_on(recorded.change))

    async def _result_or_view(self, work: Awaitable[R], caller: Caller, sent: View | None = None) -> R | View:
        """What *work* comes to, or what the form shows where it failed: *sent*, if that is given and may be sent again."""
        try:
            return await work
        except Exception as error:  # noqa: BLE001  whatever it is, the person must learn that nothing was saved
            await self._record_refusal(error, caller)
            if sent is None:
                return self.failed_view(error, caller, attempted=True)
            view = self.unsaved_view(error, caller, sent)
            if await self._commit_refusal(caller, view):
                return view
            return self.failed_view(CommitUnknown(), caller, attempted=True)

    async def _show_end(self, final: View, caller: Caller, view: View) -> None:
        """Draw how a form ended that was acknowledged before; nobody may look at it any more."""
        await asyncio.sleep(ACKNOWLEDGEMENT_LANDS)
        try:
            # Without its hash: the acknowledgement has drawn the form again, and its new hash is not told.
            await self.redraw({"id": view.get("id")}, final, ended=True)
        except (SlackRefused, SlackUnreachable) as error:
            log.info("form_end_not_shown", error=str(error), request=caller.request[:8])
            await self._tell_unsaved(caller, final)


async def _recorded_change(change: Change) -> View | Recorded:
    return Recorded(change)


def _log_failure(error: Exception, caller: Caller, what: str) -> None:
    """One log line per failed request, under the reference that the person sees; without their words."""
    known = is_expected(error)
    log.log(
        logging.INFO if known else logging.ERROR,
        "refused" if known else "failed",
        error=type(error).__name__,
        asked=what,
        user=caller.user,
        request=caller.request[:8],
        exc_info=None if known else error,
    )


@clicks("form.again")
async def open_again(click: Click, caller: Caller, gatehouse: Gatehouse) -> Reply:
    """Open a form again that was refused after it had closed, with all that was typed."""
    kept = await gatehouse.store.inbox.get(click.value)
    if kept is None or caller_of(kept.kind, kept.payload).user != caller.user or REFUSED_FORM not in kept.payload:
        raise FormForgotten
    return Modal(kept.payload[REFUSED_FORM])
