"""Members from a table: what would happen to each row is shown first, then done as one change set."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from typing import Any, Final

from bot.changes.set_proposals import SetProposal
from bot.domain import member_plan
from bot.domain.change import Target
from bot.domain.change_set import Outcome, Part
from bot.domain.essence import essence
from bot.domain.file_text import BadFile
from bot.domain.intended import Intended
from bot.domain.limits import IMPORT_RATE
from bot.domain.member_columns import Columns
from bot.domain.member_file import Mode, read_member_file
from bot.domain.member_import import plan_members
from bot.domain.member_plan import MemberPlan
from bot.domain.result_table import headings
from bot.gatehouse import Gatehouse
from handlers.commands.members import MembersImport
from handlers.imports import Handed, handed_errors, nothing_wrong, seen, submitted
from handlers.reply import Caller, Modal, Refilled, Reply, View
from handlers.routes import Click, Form, clicks, handles, submits
from handlers.sites import extra_segments, site_for
from handlers.views import forms, import_form
from handlers.views.import_words import file_words, reason_words
from handlers.views.parts import plural

MOST_COLUMNS: Final = 100


@handles(MembersImport)
async def import_members(command: MembersImport, caller: Caller, gatehouse: Gatehouse) -> Reply:
    site = await site_for(command.site, caller, gatehouse)
    return Modal(import_form.members_file(site=site.name, metadata={"channel": caller.channel, "site": site.name}))


async def _preview_members(view: View, caller: Caller, gatehouse: Gatehouse) -> View:
    gatehouse.limits.take(IMPORT_RATE, caller.user, caller.channel)
    handed = Handed.typed(view)
    try:
        plan = await _member_plan(handed, caller, gatehouse)
    except BadFile as error:
        return import_form.members_file(
            site=handed.site,
            pasted=handed.pasted,
            reason=handed.reason,
            mode=Mode(handed.mode),
            wrong=" ".join(file_words(error)),
            metadata={"channel": handed.channel, "site": handed.site},
        )
    return await _draw(handed, plan)


@clicks("form.column")
async def choose_column(click: Click, caller: Caller, gatehouse: Gatehouse) -> Reply:
    """Show what happens by the columns that somebody chose; the file is read again."""
    view = click.view or {}
    handed, chosen = Handed.of(view), import_form.read_columns(view)
    return Refilled(await _draw(handed, await _member_plan(handed, caller, gatehouse, chosen)))


async def _draw(handed: Handed, plan: MemberPlan, *, moved: bool = False) -> View:
    metadata = handed.metadata(seen=await _seen(plan))
    return import_form.member_form(plan, filename=handed.name, site=handed.site, metadata=metadata, moved=moved)


async def _member_plan(
    handed: Handed, caller: Caller, gatehouse: Gatehouse, chosen: Columns | None = None
) -> MemberPlan:
    site = gatehouse.site(handed.site)
    file = await asyncio.to_thread(read_member_file, await handed.content(gatehouse), chosen)
    live = (await site.members.all()).whole()
    extra = await extra_segments(caller, gatehouse)
    return await asyncio.to_thread(plan_members, file, Mode(handed.mode), live, extra)


async def _seen(plan: MemberPlan) -> str:
    """Return what stands for *plan* in the form that shows it: what would be written, and over what."""
    return await seen(_contents(plan))


def _contents(plan: MemberPlan) -> Iterator[list[Any]]:
    wanted = {each.number: [essence(each.before), essence(each.after)] for each in member_plan.intended(plan)}
    for entry in plan.entries:
        yield [entry.row.line, type(entry).__name__, wanted.get(entry.row.line)]


async def _do_members(view: View, caller: Caller, gatehouse: Gatehouse) -> View:
    handed = Handed.of(view)
    plan = await _member_plan(handed, caller, gatehouse, import_form.read_columns(view))
    if await _seen(plan) != handed.seen:
        return await _draw(handed, plan, moved=True)
    parts = _member_parts(plan, handed.site)
    if not (count := sum(part.kind is not None for part in parts)):
        return await _draw(handed, plan)
    proposal = SetProposal(
        title=f"Import {plural(count, 'row')} from {handed.name[:60]} into {handed.site}",
        parts=parts,
        requester=caller.user,
        channel=caller.channel,
        reason=handed.reason,
        columns=headings(plan.file)[:MOST_COLUMNS],
        separator=plan.file.separator,
    )
    return await submitted(proposal, caller, gatehouse)


def _member_parts(plan: MemberPlan, site: str) -> list[Part]:
    """A part for each row: those that are to be done, and the others with the reason why not."""
    wanted = {each.number: each for each in member_plan.intended(plan)}
    numbers = {entry.row.line: number for number, entry in enumerate(plan.entries, 1)}
    return [
        _member_part(number, entry, wanted.get(entry.row.line), site, numbers)
        for number, entry in enumerate(plan.entries, 1)
    ]


def _member_part(
    number: int, entry: member_plan.Entry, wanted: Intended | None, site: str, numbers: dict[int, int]
) -> Part:
    about: dict[str, Any] = {
        "number": number,
        "source": f"line {entry.row.line}",
        "cells": entry.row.cells[:MOST_COLUMNS],
    }
    if wanted is not None:
        target = Target(service="members", site=site, key=wanted.key)
        return Part(kind=wanted.kind, target=target, before=wanted.before, after=wanted.after, **about)
    follows = numbers.get(entry.line, 0) if isinstance(entry, member_plan.Together) else 0
    target = Target(service="members", site=site, key=entry.row.email[:320] or None)
    return Part(target=target, outcome=Outcome.SKIPPED, why=WHY_NOT[type(entry)](entry), follows=follows, **about)


WHY_NOT: Final[dict[type, Callable[[Any], str]]] = {
    member_plan.NothingToDo: lambda entry: str(entry.why),
    member_plan.Invalid: lambda entry: reason_words(entry.reason),
    member_plan.Together: lambda entry: f"together with line {entry.line:,}",
}
"""What is said of a row that nothing is done with."""

submits(import_form.MEMBERS_FILE, Form(handed_errors, lambda _: forms.loading("Import members"), _preview_members))
submits(import_form.MEMBERS, Form(nothing_wrong, lambda _: forms.working("Import members"), _do_members))
