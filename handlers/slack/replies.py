"""The way out: how a Reply reaches the person, wherever they look, and how an error is told."""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from functools import lru_cache
from itertools import compress
from typing import Any, Final, TypeAlias

import structlog

from bot.changes.model.change import Change
from bot.gatehouse import Gatehouse
from bot.policy.access import Access
from bot.policy.inquiry import DirectoryUnavailable, NotAllowed
from bot.policy.model import SHARE, Act
from bot.store.audit import Event
from bot.store.db import CommitUnknown, StoreError
from handlers.blocks import messages, modals
from handlers.blocks.buttons import options_of
from handlers.blocks.messages import Block, Message
from handlers.blocks.modals import View
from handlers.errors import OldCard
from handlers.explain.table import error_message, is_expected, says_unchanged
from handlers.grammar import reading_view
from handlers.grammar.command import Command
from handlers.grammar.parser import split_verb
from handlers.slack.client import ModalGone, Slack, SlackRefused, SlackUnreachable
from handlers.slack.files import SlackFiles
from handlers.slack.registry import RUNNING, action_name
from handlers.slack.reply import Announced, Attached, Caller, HomeTab, Modal, Posted, Private, Refilled, Reply

log = structlog.get_logger(__name__)

REFUSAL: Final = "gatehouse_refusal"
"""The name under which a stored request holds the answer that says that nothing was changed: then it is not done any more."""


class Answers:
    """Sends what handlers answer with to where the caller is looking."""

    def __init__(self, gatehouse: Gatehouse, slack: Slack) -> None:
        self._gatehouse = gatehouse
        self._slack = slack

    async def send(self, caller: Caller, reply: Reply) -> None:
        match reply:
            case Private(message, is_shareable=True) if caller.public:
                await self._slack.post(caller.channel, message, thread=caller.answered_in)
            case Private(message):
                await self._answer_privately(caller, message)
            case Posted():
                await self._post(caller, reply)
            case Modal(skeleton, shows=shows):
                shown = await self._show(caller, reply)
                # Else it is the view that says that Slack refused this one.
                if shown.get("callback_id") == skeleton["callback_id"]:
                    await self._note_look(shows, caller)
            case Refilled(view):
                await self.redraw(caller.view or {}, view, trigger=caller.trigger or "")
            case Attached():
                await self._attach(caller, reply)
            case Announced(title):
                await self._point_to_card(caller, title)
            case HomeTab():
                await self._draw_home(caller, reply)

    async def _point_to_card(self, caller: Caller, title: str = "") -> None:
        """Say where the card of what is called *title* is, in the place of what was clicked; who typed sees it come."""
        if modals.is_panel(caller.view):
            await self.redraw(caller.view or {}, modals.done_view("Gatehouse", f"See its card in <#{caller.channel}>."))
        elif caller.replacing:
            await self._answer_privately(caller, reading_view.done_message(caller.channel, title))

    async def _post(self, caller: Caller, reply: Posted) -> None:
        await self._slack.post(caller.channel, reply.message)
        if reply.clicked is not None:
            await self._edit_clicked(caller, reply.clicked)
        await self._point_to_card(caller)

    async def in_form(self, caller: Caller, reply: Reply) -> View:
        """Return what a form shows as *reply* to the command that it stands for, once what goes elsewhere was sent."""
        match reply:
            case Private(message):
                message = await _without_refused_buttons(message, caller, self._gatehouse.access)
                return modals.notice(message, caller.channel)
            case Modal(skeleton, fill):
                return await fill() if fill is not None else skeleton
            case _:
                await self.send(replace(caller, view=None, trigger=None), reply)
                return modals.done_view("Gatehouse", ":white_check_mark: *Sent.*")

    async def _edit_clicked(self, caller: Caller, message: Message) -> None:
        """Put *message* in the place of the one in the channel whose button was clicked; nothing where there is none any more."""
        if caller.clicked_in_channel:
            with suppress(SlackRefused, SlackUnreachable):
                await self._slack.edit(caller.channel, caller.message, message)

    async def _attach(self, caller: Caller, reply: Attached) -> None:
        """Send a file; who asked elsewhere than where it goes hears privately that it is there."""
        slack = SlackFiles(self._slack)
        # No file leaves without a trace, and none that Slack refused is said to have left.
        await self._note_export("exporting", caller, reply)
        channel = caller.channel if reply.here else await slack.open_direct(caller.user)
        sent = await slack.send(channel, reply.name, reply.content, reply.comment)
        await self._note_export("exported", caller, reply)
        await self._note_look(reply.shows, caller)
        if channel != caller.channel or not sent.shown:
            await self._answer_privately(
                caller, messages.file_sent_note(reply.name, sent.link, here=reply.here, shown=sent.shown)
            )

    async def _note_look(self, changes: Sequence[Change], caller: Caller) -> None:
        """Record that Slack has shown *caller* all of *changes*."""
        if changes:
            async with self._gatehouse.store.transaction() as tx:
                for change in changes:
                    await self._gatehouse.store.changes.note_seen(tx, change, caller.user)

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
        """Answer *caller* alone, where they look: in the modal, in one that opens, or beside what they wrote.

        A modal that Slack doesn't show any more leaves a message. Raises ModalGone where they have closed it.
        """
        message = await _without_refused_buttons(message, caller, self._gatehouse.access)
        view, is_home = modals.notice(message, caller.channel), (caller.view or {}).get("type", "home") == "home"
        try:
            if modals.is_panel(caller.view):
                await self.redraw(caller.view or {}, view)
                return
            if is_home and caller.trigger and not caller.response_url:
                await self._slack.open(caller.trigger, view)
                return
        except ModalGone:
            raise
        except (SlackRefused, SlackUnreachable) as error:
            log.info("modal_not_shown", error=str(error), request=caller.request[:8])
        await self._slack.whisper(caller, message, replace=caller.replacing)

    async def refuse(self, caller: Caller, error: Exception, asked: str, *, home: bool, attempted: bool) -> None:
        """Tell somebody who was not let in: on their home where they opened it, else as `say` does."""
        if home:
            with suppress(SlackRefused, SlackUnreachable):
                await self._slack.publish(caller.user, _failed_home(error, caller))
                return
        await self.say(caller, error, asked, attempted=attempted)

    async def _draw_home(self, caller: Caller, home: HomeTab) -> None:
        if home.skeleton is not None:
            await self._slack.publish(caller.user, home.skeleton)
        try:
            view = await home.fill()
        except Exception as error:  # noqa: BLE001  the home is where the person looks
            view = _failed_home(error, caller)
        await self._slack.publish(caller.user, view)

    async def redraw(self, opened: View, view: View, *, ended: bool = False, trigger: str | None = None) -> View:
        """Draw *view* in an open modal; where Slack does not take it, the modal says so. Raises ModalGone.

        *ended*: the view tells how a form that was sent has ended. *trigger*: of a click in a form in which somebody types: what
        was typed stays then, under another modal that says so.
        """
        try:
            return await self._slack.refill(opened, view)
        except ModalGone:
            raise
        except (SlackRefused, SlackUnreachable) as error:
            log.warning("view_refused", error=str(error), view=view.get("callback_id"))
            fallback = modals.fallback_view(view, passes=error.is_away, ended=ended)
            if trigger is None:
                return await self._slack.refill(opened, fallback)
            await self._slack.push(trigger, fallback)
            return opened

    async def _show(self, caller: Caller, modal: Modal) -> View:
        """Open at once, while the trigger lives, or fill the modal that it comes from; return what Slack shows in the end."""
        if caller.view is not None and caller.view.get("type") == "modal":
            opened = await self.redraw(caller.view, modal.skeleton)
        else:
            # A trigger lives for three seconds, and to read what the modal shows may take longer.
            opened = await self._slack.open(caller.trigger or "", modal.skeleton)
        if modal.fill is None:
            return opened
        try:
            view = await modal.fill()
        except Exception as error:  # noqa: BLE001  the modal is open: it is where the person looks
            view = failed_view(error, caller)
        return await self.redraw(opened, view)

    async def commit_refusal(self, caller: Caller, answer: Mapping[str, Any]) -> bool:
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

    async def say_again(self, caller: Caller, refusal: Mapping[str, Any]) -> None:
        """Tell the *caller* once more what a process before this one was about to."""
        message = Message(refusal["text"], tuple(refusal["blocks"]))
        await self.tell(caller, message, attempted=True)

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
        if isinstance(error, ModalGone):  # the person who closed it wants no answer
            log.info("modal_gone", code=error.code, request=caller.request[:8])
            return
        log_failure(error, caller, asked.split(" ", maxsplit=1)[0] if asked.startswith("/") else "message or click")
        await record_refusal(error, caller, self._gatehouse)
        message = error_message(error, asked=asked, caller=caller, attempted=attempted, command=command)
        if stored and not await self.commit_refusal(caller, asdict(message)):
            message = error_message(CommitUnknown(), asked=asked, caller=caller, attempted=attempted)
        if isinstance(error, OldCard) and error.is_copy:
            await self._edit_clicked(caller, message)
        await self.tell(caller, message, attempted=attempted)

    async def tell(self, caller: Caller, message: Message, *, attempted: bool) -> None:
        """Answer *caller* alone; where they have closed the modal for it, only if something was *attempted*."""
        # It takes the place of nothing that they may still need.
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


async def _without_refused_buttons(message: Message, caller: Caller, access: Access) -> Message:
    """Return *message* without buttons of commands that the caller may not use here; what Slack doesn't say, a click will."""
    refused = set()
    for wanted in {_acts_of(button) for block in message.blocks for button in _buttons(block)}:
        is_form, acts = wanted
        with suppress(DirectoryUnavailable):
            if not await access.is_allowed(caller.user, None if is_form and caller.direct else caller.channel, *acts):
                refused.add(wanted)
    return replace(message, blocks=tuple(filter(None, (_without_refused(block, refused) for block in message.blocks))))


def _buttons(block: Block) -> list[Block]:
    accessory = [block["accessory"]] if "accessory" in block else []
    elements = [*block.get("elements", ()), *accessory]
    return [button for each in elements if "action_id" in each for button in options_of(each)]


Wanted: TypeAlias = tuple[bool, tuple[Act | str, ...]]


def _acts_of(button: Block) -> Wanted:
    """Return whether *button* opens a form, and what its command takes; nothing for a command that only reads."""
    name = action_name(str(button.get("action_id")))
    if name == SHARE:
        return False, (SHARE,)
    kind = _kind_of(str(button["value"])) if name in RUNNING | {"ask"} else Command
    acts = () if all(operation.endswith(".read") for operation in kind.needs) else tuple(kind.acts())
    return name == "ask" or kind.opens_form(), acts


@lru_cache(maxsize=4096)  # a list has twenty buttons, and is asked for again and again
def _kind_of(value: str) -> type[Command]:
    kind, _ = split_verb(*value.partition(" ")[::2]) or (Command, None)
    return kind


def _without_refused(block: Block, refused: Collection[Wanted]) -> Block | None:
    """Return *block* without the buttons whose acts are *refused*; None where nothing is left of it."""
    if not any(_acts_of(button) in refused for button in _buttons(block)):
        return block
    if block.get("type") != "actions":
        return {name: part for name, part in block.items() if name != "accessory"}
    allowed = [_allowed_part(each, refused) for each in block["elements"]]
    return {**block, "elements": elements} if (elements := [*filter(None, allowed)]) else None


def _allowed_part(element: Block, refused: Collection[Wanted]) -> Block | None:
    """Return a button, or a menu with the options that are left of it."""
    is_left = [_acts_of(button) not in refused for button in options_of(element)]
    if "options" not in element or not any(is_left):
        return element if all(is_left) else None
    return {**element, "options": [*compress(element["options"], is_left)]}


def failed_view(error: Exception, caller: Caller, *, attempted: bool = False) -> View:
    """Return what a form shows that could not be opened, or, where a change was *attempted*, saved."""
    log_failure(error, caller, "form")
    return modals.notice(error_message(error, asked="", caller=caller, attempted=attempted), caller.channel)


def _failed_home(error: Exception, caller: Caller) -> View:
    log_failure(error, caller, "home")
    return modals.home(error_message(error, asked="", caller=caller).blocks, caller.channel)


async def record_refusal(error: Exception, caller: Caller, gatehouse: Gatehouse) -> None:
    """Record that the policy refused something."""
    if not isinstance(error, NotAllowed):
        return
    try:
        await gatehouse.changes.refusals.add(error.operation, caller.user, caller.channel, error.why)
    except StoreError as failure:
        log.warning("refusal_not_recorded", error=str(failure), request=caller.request[:8])


def log_failure(error: Exception, caller: Caller, what: str) -> None:
    """Log a failed request in one line, under the reference that the person sees; without their words."""
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
