"""Imports of rules and members: a file, a preview of each of its rows, and one bulk change."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final

from bot.changes.model.edits import Target
from bot.changes.model.items import ImportRow, Item, Outcome
from bot.changes.model.parts import BulkAct, ChangeRequest, Purpose
from bot.changes.proposals import Proposal
from bot.clients.errors import ClientError
from bot.gatehouse import Gatehouse
from bot.members.member_import_plan import Mode, plan_members, read_member_table
from bot.rules.files import read_rule_file
from bot.rules.lint.rule_set import check_loops
from bot.rules.model import Groups, Rule
from bot.rules.redirect_table import is_table, plan_redirects, read_redirect_table
from bot.rules.rule_import_plan import plan_rules
from bot.text.encoding import BadFile
from bot.text.tables import TableRow
from handlers.blocks import modals
from handlers.blocks.messages import quote_plain
from handlers.blocks.modals import View
from handlers.changes.coverage import find_covered
from handlers.changes.requests import record, with_times
from handlers.files.import_form_view import (
    MEMBER_FORMS,
    MOVED,
    RULE_FORMS,
    Handed,
    ImportForms,
    file_form,
    handed_errors,
    plan_form,
)
from handlers.files.preview_view import ImportPlan, first_loops, loop_words
from handlers.grammar.time_fields import Expiry, parse_expiry, parse_start
from handlers.members.commands import MembersImport
from handlers.rules.check_view import UNTRIED
from handlers.rules.commands import RulesImport
from handlers.rules.reasons import first_problem
from handlers.rules.rule_check import NEW
from handlers.slack.registry import Form, Recorded, handles, submits
from handlers.slack.reply import Caller, Modal, Reply


@handles(RulesImport)
async def import_rules(command: RulesImport, caller: Caller, gatehouse: Gatehouse) -> Reply:
    return Modal(file_form(RULE_FORMS, Handed(caller.channel)))


@handles(MembersImport)
async def import_members(command: MembersImport, caller: Caller, gatehouse: Gatehouse) -> Reply:
    site = gatehouse.site(command.site)
    return Modal(file_form(MEMBER_FORMS, Handed(caller.channel, site=site.name)))


@dataclass(frozen=True, slots=True)
class Import:
    """One kind of import, whose forms it takes in. *plan* says what would be done with the bytes that were handed over.

    Each person has one import at work at a time.
    """

    forms: ImportForms
    plan: Callable[[bytes, Handed, Caller, Gatehouse], Awaitable[ImportPlan]]

    def __post_init__(self) -> None:
        loading = modals.loading_view(self.forms.title)
        submits(self.forms.file_id, Form(Handed.of_file_form, self._preview, handed_errors, lambda _: loading))
        submits(self.forms.plan_id, Form(Handed.of, self._save))

    async def _preview(self, handed: Handed, caller: Caller, gatehouse: Gatehouse) -> View:
        typed_at = (caller.asked_at or gatehouse.now()).isoformat()
        handed = replace(handed, channel=caller.channel, typed_at=typed_at)
        try:
            async with gatehouse.limits.file_work(caller.user):
                return plan_form(self.forms, *await self._make_plan(handed, caller, gatehouse))
        except BadFile as error:
            return file_form(self.forms, handed, str(error))

    async def _save(self, sent: Handed, caller: Caller, gatehouse: Gatehouse) -> View | Recorded:
        async with gatehouse.limits.file_work(caller.user):
            plan, handed = await self._make_plan(sent, caller, gatehouse)
            why = MOVED if handed != sent else ""
            if why or plan.is_empty:
                return plan_form(self.forms, plan, handed, why)
            into = f" into {plan.site}" if plan.site else ""
            proposal = Proposal(
                purpose=Purpose(act=BulkAct.IMPORT, about=f"{quote_plain(handed.name, 60)}{into}"),
                items=plan.items,
                request=ChangeRequest(
                    requester=caller.user,
                    channel=caller.channel,
                    reason=handed.reason,
                    warnings=tuple(plan.warnings),
                ),
            )
            start, typed = parse_start(handed.start), _as_of_typing(handed, caller)
            proposal = await with_times(proposal, typed, gatehouse, start=start, expiry=plan.expiry)
            return await record(proposal, caller, gatehouse)

    async def _make_plan(self, handed: Handed, caller: Caller, gatehouse: Gatehouse) -> tuple[ImportPlan, Handed]:
        """Return the plan, and what its form keeps; raises BadFile, the errors of `FileReader` and those of clients."""
        content = await gatehouse.files.read(handed.file)
        plan = await self.plan(content, handed, _as_of_typing(handed, caller), gatehouse)
        # In a thread: there may be very many rows.
        return plan, replace(handed, seen=await asyncio.to_thread(plan.fingerprint))


def _as_of_typing(handed: Handed, caller: Caller) -> Caller:
    """Return *caller* as they were when they typed the start: sent after 18:00, “18:00” would mean tomorrow."""
    return replace(caller, asked_at=datetime.fromisoformat(handed.typed_at)) if handed.typed_at else caller


async def _plan_members(content: bytes, handed: Handed, caller: Caller, gatehouse: Gatehouse) -> ImportPlan:
    site = gatehouse.site(handed.site)
    live = (await site.members.all()).whole()
    extra = gatehouse.extra_segments
    table = await asyncio.to_thread(read_member_table, content)
    rows = await asyncio.to_thread(plan_members, table, Mode(handed.mode), site.name, live, extra)
    return member_plan(rows, site.name)


def member_plan(rows: Sequence[ImportRow], site: str) -> ImportPlan:
    items = [
        _item(at, row, "line", Target(service="members", site=site, key=row.title[:320] or None))
        for at, row in enumerate(rows, 1)
    ]
    return ImportPlan(rows, items, "line", site)


def _item(number: int, row: ImportRow, word: str, target: Target, **after: Any) -> Item:
    """Return the item for *row*; *target* and *after* are recorded where nothing is done."""
    source = f"{word} {row.number}"
    if row.edit is not None:
        return Item.of(number, row.edit, source=source)
    skipped: dict[str, Any] = {"outcome": Outcome.SKIPPED, "why": row.why}
    return Item(number=number, target=target, source=source, after=after or None, **skipped)


async def _plan_rules(content: bytes, handed: Handed, caller: Caller, gatehouse: Gatehouse) -> ImportPlan:
    groups = await _groups(gatehouse)
    if await asyncio.to_thread(is_table, content):
        table = await asyncio.to_thread(read_redirect_table, content)
        expiry = _end_of_table(table)
        live = (await gatehouse.rules.all()).whole()
        rows = await asyncio.to_thread(list, plan_redirects(table, live, first_problem))
        plan = replace(rule_plan(rows, "line"), expiry=expiry)
    else:
        records = await asyncio.to_thread(read_rule_file, content)
        live = (await gatehouse.rules.all()).whole()
        rows = await asyncio.to_thread(list, plan_rules(records, live, groups, first_problem))
        plan = rule_plan(rows, "record")
    edits = (row.edit for row in plan.rows if row.edit is not None)
    covered, plan = (
        await find_covered(edits, gatehouse.rules.recent, gatehouse.groups.groups),
        await _with_loops(plan, live, groups),
    )
    return replace(plan, warnings=[*covered, *plan.warnings])


def rule_plan(rows: Sequence[ImportRow], word: str) -> ImportPlan:
    items = [_item(at, row, word, Target(service="rules"), name=row.title) for at, row in enumerate(rows, 1)]
    return ImportPlan(rows, items, word)


async def _groups(gatehouse: Gatehouse) -> Groups | None:
    """Return the groups that a rule can be put into, which are none where the service has no groups; None where it can't tell."""
    try:
        return Groups.of((await gatehouse.groups.fresh()).whole())
    except ClientError:
        return None


async def _with_loops(plan: ImportPlan, live: Sequence[Rule], groups: Groups | None) -> ImportPlan:
    """Return *plan* with the loops that it would cause."""
    numbers = {f"{NEW} {row.number}": row.number for row in plan.rows if row.edit is not None}
    after = {f"{NEW} {row.number}": row.edit.after or {} for row in plan.rows if row.edit is not None}
    made = await asyncio.to_thread(lambda: [Rule.model_validate({**rule, "id": key}) for key, rule in after.items()])
    added = await asyncio.to_thread(check_loops, [*made, *live], numbers, groups)
    loops = list(dict.fromkeys(loop_words(loop, numbers, plan.word) for loop in added.findings))
    return replace(plan, warnings=first_loops(loops), limits=() if added.is_whole else (UNTRIED,))


def _end_of_table(table: Sequence[TableRow]) -> Expiry | None:
    """Return until when the rules of *table* are to last, None for good; raises BadFile."""
    end, *others = {row.values["until"] for row in table}
    if not (end or others):
        return None
    # 01/02/2027 begins with the day in Europe, and with the month in America.
    expiry = None if others or "/" in end else parse_expiry(end)
    if expiry is None:
        raise BadFile(
            "The column until has different times, or one that can’t be used.",
            "Write 2026-12-31, 2026-12-31 18:00 or 2 weeks, the same in each row, or remove the column.",
        )
    return expiry


RULE_IMPORT: Final = Import(RULE_FORMS, _plan_rules)
MEMBER_IMPORT: Final = Import(MEMBER_FORMS, _plan_members)
