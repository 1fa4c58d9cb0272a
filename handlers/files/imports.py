"""The flow of every import: a file, a preview of each of its rows, what people choose, and one bulk change."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Generic, TypeVar

from bot.changes.model.parts import BulkAct, ChangeRequest, Purpose
from bot.changes.proposals import Proposal
from bot.gatehouse import Gatehouse
from bot.text.encoding import BadFile
from handlers.blocks import modals
from handlers.blocks.messages import quote_plain
from handlers.blocks.modals import View
from handlers.changes.requests import record, with_times
from handlers.files import preview_view
from handlers.files.import_form_view import (
    ALL_SKIPPED,
    MOVED,
    SILENT,
    UNANSWERED,
    Handed,
    ImportForms,
    file_form,
    handed_errors,
    plan_form,
)
from handlers.files.import_plan import ImportPlan
from handlers.grammar.time_fields import parse_start
from handlers.slack.registry import Form, Recorded, submits
from handlers.slack.reply import Caller

C = TypeVar("C")


@dataclass(frozen=True, slots=True)
class Import(Generic[C]):
    """One kind of import, whose forms it takes in. What people choose in the second one is of the type *C*.

    *plan* says what would be done with the bytes that were handed over, by what was chosen; None before anything was.
    Each person has one import at work at a time.
    """

    forms: ImportForms
    read_choices: Callable[[View], C | None]
    plan: Callable[[bytes, Handed, C | None, Caller, Gatehouse], Awaitable[ImportPlan]]

    def __post_init__(self) -> None:
        submits(
            self.forms.file_id,
            Form(
                Handed.of_file_form,
                self._preview,
                handed_errors,
                lambda form: modals.loading_view(modals.title_of(form)),
            ),
        )
        submits(self.forms.plan_id, Form(self.read, self._save))

    def read(self, view: View) -> tuple[Handed, C | None]:
        """Return what a form with a preview keeps, and what was chosen in it."""
        return Handed.of(view), self.read_choices(view)

    async def show(self, agreed: tuple[Handed, C | None], caller: Caller, gatehouse: Gatehouse) -> View:
        """Return the form with what happens by what was chosen; the file is read again."""
        async with gatehouse.limits.file_work(caller.user):
            return plan_form(self.forms, *await self._make_plan(*agreed, caller, gatehouse))

    async def _preview(self, handed: Handed, caller: Caller, gatehouse: Gatehouse) -> View:
        handed = replace(handed, typed_at=(caller.asked_at or gatehouse.now()).isoformat())
        try:
            return await self.show((handed, None), caller, gatehouse)
        except BadFile as error:
            return file_form(self.forms, handed, str(error))

    async def _save(self, agreed: tuple[Handed, C | None], caller: Caller, gatehouse: Gatehouse) -> View | Recorded:
        async with gatehouse.limits.file_work(caller.user):
            plan, handed = await self._make_plan(*agreed, caller, gatehouse)
            why = _why_not_yet(plan, handed, is_moved=handed != agreed[0])
            if why or plan.is_empty:
                return plan_form(self.forms, plan, handed, why)
            into = f" into {plan.site}" if plan.site else ""
            proposal = Proposal(
                purpose=Purpose(act=BulkAct.IMPORT, about=f"{quote_plain(handed.name, 60)}{into}"),
                items=plan.items,
                columns=plan.columns,
                separator=plan.separator,
                request=ChangeRequest(
                    requester=caller.user,
                    channel=caller.channel,
                    reason=handed.reason,
                    warnings=preview_view.first_loops(plan.loops),
                ),
            )
            start, typed = parse_start(handed.start), _as_of_typing(handed, caller)
            proposal = await with_times(proposal, typed, gatehouse, start=start, expiry=plan.expiry)
            return await record(proposal, caller, gatehouse)

    async def _make_plan(
        self, handed: Handed, chosen: C | None, caller: Caller, gatehouse: Gatehouse
    ) -> tuple[ImportPlan, Handed]:
        """Return the plan, and what its form keeps; raises BadFile, the errors of `FileReader` and those of clients."""
        content = await gatehouse.files.read(handed.file) if handed.file else handed.pasted.encode()
        plan = await self.plan(content, handed, chosen, _as_of_typing(handed, caller), gatehouse)
        # In a thread: there may be very many rows.
        return plan, replace(handed, seen=await asyncio.to_thread(plan.fingerprint))


def _as_of_typing(handed: Handed, caller: Caller) -> Caller:
    """Return *caller* as they were when they typed the start: sent after 18:00, “18:00” would mean tomorrow."""
    return replace(caller, asked_at=datetime.fromisoformat(handed.typed_at)) if handed.typed_at else caller


def _why_not_yet(plan: ImportPlan, handed: Handed, *, is_moved: bool) -> str:
    """Return why nothing is imported of a preview that was sent, which says so; empty where it can be."""
    if is_moved:
        return MOVED
    if plan.unanswered:
        return UNANSWERED
    if plan.loops and not handed.reason.strip():
        return SILENT
    if not plan.is_empty and all(item.kind is None for item in plan.items):
        return ALL_SKIPPED
    return ""
