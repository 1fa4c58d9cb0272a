"""The kinds of imports: the plan of each, as the flow of imports takes it, and the columns of members."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from bot.changes.model.edits import Edit, Target
from bot.changes.model.items import Item, Outcome
from bot.changes.refusals import EndsBeforeStart, TimeIsPast
from bot.clients.errors import ClientError
from bot.gatehouse import Gatehouse
from bot.members.csv import Chosen, headings, read_member_file
from bot.members.csv_columns import Mode
from bot.members.import_entries import MemberPlan, Together, Write
from bot.members.member_import_plan import plan_members
from bot.members.model import known_segments
from bot.rules import rule_import_plan
from bot.rules.files import read_rule_file
from bot.rules.model import Groups, Rule
from bot.rules.redirect_table import RedirectFile, is_table, read_redirect_file
from bot.rules.rule_import_plan import Arrival, Choices, OnDiffers, plan_entries, plan_redirects
from bot.text.encoding import BadFile
from handlers.blocks import inputs, messages
from handlers.changes.requests import resolve_end, start_of_command
from handlers.errors import TimeIsFar
from handlers.files import import_form_view, preview_view
from handlers.files.import_form_view import ARRIVAL, MEMBER_FORMS, RULE_FORMS, TABLE_ARRIVAL, Handed, file_form
from handlers.files.import_plan import ImportPlan, TableEnd
from handlers.files.imports import Import
from handlers.files.preview_view import (
    MEMBER_KINDS,
    RULE_KINDS,
    lost_groups_note,
    member_notes,
    redirect_notes,
    why_not,
)
from handlers.grammar.time_fields import parse_expiry, parse_start
from handlers.members.commands import MembersImport
from handlers.members.member_refs import extra_segments, site_for
from handlers.rules.commands import RulesImport
from handlers.rules.rule_check import NEW, PARTLY, added_loops
from handlers.slack.registry import Click, clicks, handles
from handlers.slack.reply import Caller, Modal, Refilled, Reply


def _item(entry: Any, edit: Edit | None, target: Target, *, after: dict[str, Any] | None = None, **about: Any) -> Item:
    """Return the item for *entry*; *target* and *after* are recorded where nothing is done."""
    if edit is not None:
        return Item.of(edit=edit, **about)
    return Item(target=target, after=after, outcome=Outcome.SKIPPED, why=why_not(entry), **about)


@handles(RulesImport)
async def import_rules(command: RulesImport, caller: Caller, gatehouse: Gatehouse) -> Reply:
    return Modal(file_form(RULE_FORMS, Handed(caller.channel)))


def rule_plan(
    entries: Sequence[rule_import_plan.Entry],
    choices: Choices | None = None,
    table: RedirectFile | None = None,
    encoding: str = "",
    end: TableEnd | None = None,
) -> ImportPlan:
    """Return the plan of an import of rules, by *choices*; *table*: what they were read from, if it was one.

    *encoding*: what somebody chose.
    """
    readings = table.readings if table is not None else ()
    word = "record" if table is None else "line"
    choices = choices or Choices()
    return ImportPlan(
        entries,
        [_rule_item(at, word, entry, choices) for at, entry in enumerate(entries, 1)],
        RULE_KINDS,
        record="record" if table is None else "row",
        columns=(word, "name", "id"),
        notes=[*lost_groups_note(entries), *([] if table is None else redirect_notes(table, end))],
        asked=[
            *import_form_view.encoding_input(readings, encoding),
            *import_form_view.choice_inputs(entries, choices, ARRIVAL if table is None else TABLE_ARRIVAL),
        ],
        expiry=None if end is None else end.expiry,
        unanswered=bool(readings and not encoding),
    )


def _rule_item(at: int, word: str, entry: rule_import_plan.Entry, choices: Choices) -> Item:
    live = getattr(entry, "live", None)
    named: Any = getattr(entry, "draft", None) or live or entry
    key, title = getattr(live, "id", None), named.title
    return _item(
        entry,
        rule_import_plan.edit_of(entry, choices),
        Target(service="rules", key=key),
        after={"name": title},
        number=at,
        source=f"{word} {entry.number}",
        cells=(str(entry.number), title, key or ""),
    )


async def _plan_rules(
    content: bytes, handed: Handed, choices: Choices | None, caller: Caller, gatehouse: Gatehouse
) -> ImportPlan:
    groups = await _groups(gatehouse)
    table, records, end = None, [], None
    if await asyncio.to_thread(is_table, content):
        table = await asyncio.to_thread(read_redirect_file, content, handed.encoding)
        end = await _end_of_table(table, handed, caller, gatehouse)
    else:
        records = await asyncio.to_thread(read_rule_file, content)
    live = (await gatehouse.rules.all()).whole()
    planning = plan_entries(records, live, groups) if table is None else plan_redirects(table.rows, live, groups)
    entries = await asyncio.to_thread(list, planning)
    plan = await asyncio.to_thread(rule_plan, entries, choices, table, handed.encoding, end)
    return await _with_loops(plan, choices, handed.reason, live, groups)


ALL_ON: Final = Choices(differs=OnDiffers.OVERWRITE, arrival=Arrival.AS_IN_FILE)


async def _with_loops(
    plan: ImportPlan, choices: Choices | None, reason: str, live: Sequence[Rule], groups: Groups | None
) -> ImportPlan:
    """*plan* with what would loop, and with a question why where no *reason* was given: so it is for a single rule, too."""
    possible, is_whole = await _loops(plan, ALL_ON, live, groups)
    if not possible:
        return plan if is_whole else replace(plan, notes=[*plan.notes, messages.context(PARTLY)])
    return replace(
        plan,
        notes=[*preview_view.loops_note(possible, reason), *plan.notes],
        asked=[
            *plan.asked,
            *([] if reason.strip() else [inputs.reason("", loops=True, most=import_form_view.MAX_REASON)]),
        ],
        loops=(await _loops(plan, choices, live, groups))[0] if choices is not None else (),
    )


async def _loops(
    plan: ImportPlan, choices: Choices, live: Sequence[Rule], groups: Groups | None
) -> tuple[Sequence[str], bool]:
    """Return the new loops that *choices* would cause, in plain lines, and whether all rules were compared."""
    made, numbers = await asyncio.to_thread(_resulting_rules, plan, choices)
    word = plan.columns[0]
    added = await added_loops(live, made, groups)
    return list(dict.fromkeys(preview_view.loop_words(loop, numbers, word) for loop in added.findings)), added.is_whole


def _resulting_rules(plan: ImportPlan, choices: Choices) -> tuple[list[Rule], dict[str, int]]:
    """Return the rules that there will be, and the numbers of their rows by their ids."""
    made, numbers = [], {}
    for entry in plan.entries:
        if (edit := rule_import_plan.edit_of(entry, choices)) is not None:
            key = edit.target.key or f"{NEW} {entry.number}"
            made.append(Rule.model_validate({**(edit.after or {}), "id": key}))
            numbers[key] = entry.number
    return made, numbers


TIMESTAMP: Final = re.compile(r"(\d{4}-\d\d-\d\d)[tT ](\d\d:\d\d)(?::\d\d(?:\.\d+)?)?([zZ]?)")
"""A moment as databases write it."""
DAY_AND_MONTH: Final = re.compile(r"(?<!\d)(\d\d?)/(\d\d?)(?!\d)")
"""What begins with the day in Europe, and with the month in America."""


MONTHS: Final = 12


def _bad_end(flaw: str) -> BadFile:
    then = "Write 2026-12-31, 2026-12-31 18:00 or 2 weeks, the same in each row, or remove the column."
    return BadFile(f"The column until can’t be used. {flaw}", then)


async def _end_of_table(table: RedirectFile, handed: Handed, caller: Caller, gatehouse: Gatehouse) -> TableEnd | None:
    """Return until when the rules of *table* are to last, None for good; raises BadFile, and as `resolve_start` does."""
    if not any(table.ends):
        return None
    if len(table.ends) > 1:
        raise _bad_end("The rows differ, and an import has one end for all.")
    (text,) = table.ends
    named = f"“{text[:60]}”"
    if (found := DAY_AND_MONTH.search(text)) and found[1] != found[2] and max(int(found[1]), int(found[2])) <= MONTHS:
        raise _bad_end(f"{named} could be two days.")
    stamp = TIMESTAMP.fullmatch(text)
    usual = text if stamp is None else f"{stamp[1]}T{stamp[2]}Z" if stamp[3] else f"{stamp[1]} {stamp[2]}"
    if (expiry := parse_expiry(usual)) is None:
        raise _bad_end(f"{named} is not a time, or is longer than a year.")
    if expiry.seconds is not None:
        return TableEnd(expiry)
    starts = await start_of_command(parse_start(handed.start), caller, gatehouse) or gatehouse.now()
    try:
        return TableEnd(expiry, (await resolve_end(expiry, starts, caller, gatehouse))[0])
    except TimeIsPast as error:
        raise _bad_end(f"{named} is in the past.") from error
    except EndsBeforeStart as error:
        raise _bad_end(f"{named} is before the start.") from error
    except TimeIsFar as error:
        raise _bad_end(f"{named} is more than a year ahead.") from error


async def _groups(gatehouse: Gatehouse) -> Groups | None:
    """Return the groups that a rule can be put into, which are none where the service has no groups; None where it can't tell."""
    try:
        return Groups.of((await gatehouse.groups.fresh()).whole())
    except ClientError:
        return None


RULE_IMPORT: Final = Import(RULE_FORMS, import_form_view.read_choices, _plan_rules)

MAX_COLUMNS_KEPT: Final = 100
"""Columns of a table of members that are on record."""


@handles(MembersImport)
async def import_members(command: MembersImport, caller: Caller, gatehouse: Gatehouse) -> Reply:
    site = await site_for(command.site, caller, gatehouse)
    return Modal(file_form(MEMBER_FORMS, Handed(caller.channel, site=site.name)))


def member_plan(plan: MemberPlan, site: str, encoding: str = "") -> ImportPlan:
    """Return what importing members into *site* would do. *encoding*: what somebody chose."""
    readings = plan.file.readings
    is_unread = bool(readings and not encoding)
    numbers = {entry.row.line: number for number, entry in enumerate(plan.entries, 1)}
    items = [
        _item(
            entry,
            entry.edit(site) if isinstance(entry, Write) else None,
            Target(service="members", site=site, key=entry.row.email[:320] or None),
            number=numbers[entry.row.line],
            source=f"line {entry.row.line}",
            cells=entry.row.cells[:MAX_COLUMNS_KEPT],
            follows=numbers.get(entry.line, 0) if isinstance(entry, Together) else 0,
        )
        for entry in plan.entries
    ]
    return ImportPlan(
        plan.entries,
        items,
        MEMBER_KINDS,
        record="row",
        site=site,
        columns=headings(plan.file)[:MAX_COLUMNS_KEPT],
        separator=plan.file.separator,
        notes=member_notes(plan),
        asked=[
            *import_form_view.encoding_input(readings, encoding),
            # How a wrong encoding reads says nothing of the columns.
            *([] if is_unread else import_form_view.column_inputs(plan.file)),
        ],
        unanswered=bool(plan.file.layout.claimed or is_unread),
    )


async def _plan_members(
    content: bytes, handed: Handed, columns: Chosen | None, caller: Caller, gatehouse: Gatehouse
) -> ImportPlan:
    site = gatehouse.site(handed.site)
    live = (await site.members.all()).whole()
    extra = await extra_segments(caller, gatehouse)
    segments = known_segments(live, extra)
    file = await asyncio.to_thread(read_member_file, content, columns, handed.encoding, segments)
    planned = await asyncio.to_thread(plan_members, file, Mode(handed.mode), live, extra)
    return await asyncio.to_thread(member_plan, planned, site.name, handed.encoding)


MEMBER_IMPORT: Final = Import(MEMBER_FORMS, import_form_view.read_columns, _plan_members)


@clicks("form.column")
@clicks("form.encoding")
async def choose(click: Click, caller: Caller, gatehouse: Gatehouse) -> Reply:
    """Show what happens by the columns or the encoding that somebody chose."""
    view = click.view or {}
    kind: Import[Any] = RULE_IMPORT if view.get("callback_id") == RULE_FORMS.plan_id else MEMBER_IMPORT
    return Refilled(await kind.show(kind.read(view), caller, gatehouse))
