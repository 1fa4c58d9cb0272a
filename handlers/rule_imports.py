"""Rules from a file: what would happen to each record is shown first, then done as one change set."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, Final

from bot.changes.set_proposals import SetProposal
from bot.clients.errors import ClientError
from bot.clients.parsing import gently
from bot.domain import rule_import
from bot.domain.change import Target
from bot.domain.change_set import Outcome, Part
from bot.domain.essence import essence
from bot.domain.file_text import BadFile
from bot.domain.group import Groups
from bot.domain.intended import Intended
from bot.domain.limits import IMPORT_RATE
from bot.domain.rule_choices import Choices, proposals
from bot.domain.rule_file import read_rule_file
from bot.domain.rule_import import RulePlan, planned
from bot.gatehouse import Gatehouse
from handlers.commands.rules import RulesImport
from handlers.imports import Handed, handed_errors, nothing_wrong, seen, submitted
from handlers.reply import Caller, Modal, Reply, View
from handlers.routes import Form, handles, submits
from handlers.views import forms, import_form
from handlers.views.import_words import file_words, reason_words
from handlers.views.parts import plural

RULE_COLUMNS: Final = ("record", "name", "id")


@handles(RulesImport)
async def import_rules(command: RulesImport, caller: Caller, gatehouse: Gatehouse) -> Reply:
    return Modal(import_form.rules_file(metadata={"channel": caller.channel}))


async def _preview_rules(view: View, caller: Caller, gatehouse: Gatehouse) -> View:
    gatehouse.limits.take(IMPORT_RATE, caller.user, caller.channel)
    handed = Handed.typed(view)
    try:
        plan = await _rule_plan(handed, gatehouse)
    except BadFile as error:
        wrong = " ".join(file_words(error))
        kept = {"channel": handed.channel}
        return import_form.rules_file(pasted=handed.pasted, reason=handed.reason, wrong=wrong, metadata=kept)
    return import_form.rule_form(plan, filename=handed.name, metadata=handed.metadata(seen=await _seen(plan)))


async def _rule_plan(handed: Handed, gatehouse: Gatehouse) -> RulePlan:
    file = await asyncio.to_thread(read_rule_file, await handed.content(gatehouse))
    rules = (await gatehouse.rules.all()).whole()
    return RulePlan(tuple(await gently(planned(file, rules, await _groups(gatehouse)))))


async def _groups(gatehouse: Gatehouse) -> Groups | None:
    """The groups that a rule can be put into, which are none where the service has no groups; None where it can't tell."""
    try:
        listing = await gatehouse.groups.listed()
        return Groups.of(listing.whole() if listing is not None else ())
    except ClientError:
        return None


async def _seen(plan: RulePlan) -> str:
    """Return what stands for *plan* in the form that shows it: what would be written, and over what."""
    return await seen([entry.number, type(entry).__name__, *_contents(entry)] for entry in plan.entries)


def _contents(entry: rule_import.Entry) -> tuple[Any, ...]:
    match entry:
        case rule_import.New(draft=draft, namesake=namesake):
            return draft.body(), namesake
        case rule_import.Differs(live=live, draft=draft):
            return live.id, essence(live.document()), draft.body()
    return ()


async def _do_rules(view: View, caller: Caller, gatehouse: Gatehouse) -> View:
    handed = Handed.of(view)
    plan = await _rule_plan(handed, gatehouse)
    if (now := await _seen(plan)) != handed.seen:
        return import_form.rule_form(plan, filename=handed.name, metadata=handed.metadata(seen=now), moved=True)
    parts = _rule_parts(plan, import_form.read_choices(view))
    count = sum(part.kind is not None for part in parts)
    title = f"Import {plural(count, 'rule')} from {handed.name[:60]}"
    return await submitted(
        SetProposal(
            title=title,
            parts=parts,
            requester=caller.user,
            channel=caller.channel,
            reason=handed.reason,
            columns=RULE_COLUMNS,
        ),
        caller,
        gatehouse,
    )


def _rule_parts(plan: RulePlan, choices: Choices) -> list[Part]:
    """A part for each record: those that are to be done, and the others with the reason why not."""
    wanted = {each.number: each for each in proposals(plan, choices)}
    return [_rule_part(entry, wanted.get(entry.number)) for entry in plan.entries]


def _rule_part(entry: rule_import.Entry, wanted: Intended | None) -> Part:
    live = getattr(entry, "live", None)
    title = (
        entry.draft.title if isinstance(entry, rule_import.New | rule_import.Differs) else getattr(entry, "title", "")
    )
    name = title or getattr(live, "title", "")
    key = None if wanted is not None and wanted.key is None else getattr(live, "id", None)
    cells = (str(entry.number), name, getattr(live, "id", ""))
    about = {"number": entry.number, "source": f"record {entry.number}", "cells": cells}
    target = Target(service="rules", key=key)
    if wanted is not None:
        return Part(kind=wanted.kind, target=target, before=wanted.before, after=wanted.after, **about)
    why = WHY_NOT[type(entry)](entry)
    return Part(target=target, after={"name": name}, outcome=Outcome.SKIPPED, why=why, **about)


WHY_NOT: Final[dict[type, Callable[[Any], str]]] = {
    rule_import.New: lambda _: "left out, as was chosen",
    rule_import.Differs: lambda _: "there already and kept, as was chosen",
    rule_import.Same: lambda _: "there already, just the same",
    rule_import.Invalid: lambda entry: reason_words(entry.reason),
    rule_import.Twice: lambda entry: f"stands in the file before, at {entry.first:,}",
    rule_import.Skipped: lambda entry: "a group" if entry.why is rule_import.NoRule.GROUP else "no rule",
}
"""What is said of a record that nothing is done with."""

submits(import_form.RULES_FILE, Form(handed_errors, lambda _: forms.loading("Import rules"), _preview_rules))
submits(import_form.RULES, Form(nothing_wrong, lambda _: forms.working("Import rules"), _do_rules))
