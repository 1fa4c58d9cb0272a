"""Imports of rules and of members: a preview of every record first, then one bulk change."""

from __future__ import annotations

import asyncio
import base64
import zlib
from collections.abc import Awaitable, Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import wraps
from typing import Any, Final, TypeAlias, TypeVar

from bot.changes.model import ChangeRequest, Edit, Item, Outcome, Target, canonical_form, fingerprint
from bot.changes.proposals import Proposal
from bot.clients.errors import ClientError
from bot.clients.json_stream import cooperatively
from bot.gatehouse import Gatehouse
from bot.members import import_entries
from bot.members.csv import headings, read_member_file
from bot.members.csv_columns import Columns, Mode
from bot.members.import_entries import MemberPlan
from bot.members.member_import_plan import plan_members
from bot.rules import rule_import_plan
from bot.rules.files import read_rule_file
from bot.rules.model import Groups
from bot.rules.rule_import_plan import Choices, RulePlan, plan_entries
from bot.text.encoding import BadFile
from handlers.blocks import inputs, modals
from handlers.blocks.messages import in_quotes, plural
from handlers.blocks.modals import View
from handlers.changes.requests import record
from handlers.files import import_form_view
from handlers.files.preview_view import NOTHING_TO_DO, file_words, reason_words
from handlers.members.commands import MembersImport
from handlers.members.member_refs import extra_segments, site_for
from handlers.rules.commands import RulesImport
from handlers.slack.registry import Click, Form, Recorded, clicks, handles, submits
from handlers.slack.reply import Caller, Modal, Refilled, Reply

MOST_PASTED: Final = 2_000
"""Characters that a pasted text may have once it is packed: a view keeps 3,000, all told."""
MOST_BYTES: Final = 10 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Handed:
    """What somebody handed over: a file of Slack's, or a text; and what was said with it. Kept in the form's metadata."""

    channel: str
    name: str
    file: str = ""
    packed: str = ""
    reason: str = ""
    site: str = ""
    mode: str = Mode.ADD
    seen: str = ""
    """Fingerprint of the plan that the form shows."""

    @classmethod
    def of(cls, view: View) -> Handed:
        """What a form's metadata keeps."""
        kept = modals.metadata(view)
        return cls(
            **{name: str(kept.get(name) or "") for name in cls.__slots__ if name in kept or name in {"channel", "name"}}
        )

    @classmethod
    def typed(cls, view: View) -> Handed:
        """What a first form was filled with."""
        kept = modals.metadata(view)
        values = inputs.values_of(view)
        return cls(
            channel=str(kept.get("channel") or ""),
            name=inputs.file_name(values, "file") or "pasted text",
            file=inputs.file_id(values, "file") or "",
            packed=_pack(inputs.typed(values, "pasted") or ""),
            reason=(inputs.typed(values, inputs.REASON) or "")[:300],
            site=str(kept.get("site") or ""),
            mode=import_form_view.read_mode(view),
        )

    def metadata(self, **more: str) -> dict[str, str]:
        return {name: getattr(self, name) for name in self.__slots__ if getattr(self, name)} | more

    async def content(self, gatehouse: Gatehouse) -> bytes:
        """The bytes; raises the errors of `FileReader`."""
        return await gatehouse.files.read(self.file, most=MOST_BYTES) if self.file else _unpack(self.packed).encode()

    @property
    def pasted(self) -> str:
        return _unpack(self.packed)


def _pack(text: str) -> str:
    return base64.b64encode(zlib.compress(text.encode("utf-8", "surrogatepass"), 9)).decode() if text.strip() else ""


def _unpack(packed: str) -> str:
    return zlib.decompress(base64.b64decode(packed)).decode("utf-8", "surrogatepass") if packed else ""


def handed_errors(handed: Handed) -> dict[str, str]:
    """What is wrong before anything is read, under the inputs."""
    if not handed.file and not handed.packed:
        return {"file": "Choose a file, or paste its text below."}
    if handed.file and handed.packed:
        return {"pasted": "Use the file or the pasted text, not both."}
    if len(handed.packed) > MOST_PASTED:
        return {"pasted": "That is too long to paste. Save it as a file and choose that."}
    return {}


async def fingerprint_of_entries(entries: Iterable[Any]) -> str:
    """Return a short text that stands for the *entries* of a plan, worked out aside: there may be very many."""
    return (await asyncio.to_thread(lambda: fingerprint([fingerprint(entry) for entry in entries])))[:16]


T = TypeVar("T")
R = TypeVar("R")
FileWork: TypeAlias = Callable[[T, Caller, Gatehouse], Awaitable[R]]


def file_work(work: FileWork[T, R]) -> FileWork[T, R]:
    """*work* on a file that somebody handed over, of which each person has one under way at a time."""

    @wraps(work)
    async def limited(given: T, caller: Caller, gatehouse: Gatehouse) -> R:
        async with gatehouse.limits.file_work("import", caller.user, caller.channel):
            return await work(given, caller, gatehouse)

    return limited


RULE_COLUMNS: Final = ("record", "name", "id")


@handles(RulesImport)
async def import_rules(command: RulesImport, caller: Caller, gatehouse: Gatehouse) -> Reply:
    return Modal(import_form_view.rules_file(metadata={"channel": caller.channel}))


@file_work
async def _preview_rules(handed: Handed, caller: Caller, gatehouse: Gatehouse) -> View:
    try:
        plan = await _rule_plan(handed, gatehouse)
    except BadFile as error:
        wrong = " ".join(file_words(error))
        kept = {"channel": handed.channel}
        return import_form_view.rules_file(pasted=handed.pasted, reason=handed.reason, wrong=wrong, metadata=kept)
    return import_form_view.rule_form(
        plan, filename=handed.name, metadata=handed.metadata(seen=await _rules_seen(plan))
    )


async def _rule_plan(handed: Handed, gatehouse: Gatehouse) -> RulePlan:
    file = await asyncio.to_thread(read_rule_file, await handed.content(gatehouse))
    rules = (await gatehouse.rules.all()).whole()
    return RulePlan(tuple(await cooperatively(plan_entries(file, rules, await _groups(gatehouse)))))


async def _groups(gatehouse: Gatehouse) -> Groups | None:
    """The groups that a rule can be put into, which are none where the service has no groups; None where it can't tell."""
    try:
        listing = await gatehouse.groups.listed()
        return Groups.of(listing.whole() if listing is not None else ())
    except ClientError:
        return None


async def _rules_seen(plan: RulePlan) -> str:
    """Return what stands for *plan* in the form that shows it: what would be written, and over what."""
    return await fingerprint_of_entries(
        [entry.number, type(entry).__name__, *_rule_file(entry)] for entry in plan.entries
    )


def _rule_file(entry: rule_import_plan.Entry) -> tuple[Any, ...]:
    match entry:
        case rule_import_plan.New(draft=draft, namesake=namesake):
            return draft.body(), namesake
        case rule_import_plan.Differs(live=live, draft=draft):
            return live.id, canonical_form(live.document()), draft.body()
        case (
            rule_import_plan.Same()
            | rule_import_plan.InvalidRecord()
            | rule_import_plan.Skipped()
            | rule_import_plan.Twice()
        ):
            return ()


def _read_choices(view: View) -> tuple[Handed, Choices]:
    return Handed.of(view), import_form_view.read_choices(view)


@file_work
async def _import_rules(agreed: tuple[Handed, Choices], caller: Caller, gatehouse: Gatehouse) -> View | Recorded:
    handed, choices = agreed
    plan = await _rule_plan(handed, gatehouse)
    if (now := await _rules_seen(plan)) != handed.seen:
        return import_form_view.rule_form(plan, filename=handed.name, metadata=handed.metadata(seen=now), moved=True)
    items = _rule_items(plan, choices)
    count = sum(item.kind is not None for item in items)
    title = f"Import {plural(count, 'rule')} from {in_quotes(handed.name, 60)}"
    proposal = Proposal(
        title=title,
        items=items,
        columns=RULE_COLUMNS,
        request=ChangeRequest(requester=caller.user, channel=caller.channel, reason=handed.reason),
    )
    return await record(proposal, caller, gatehouse)


def _rule_items(plan: RulePlan, choices: Choices) -> list[Item]:
    """An item for each record: those that are to be done, and the others with the reason why not."""
    wanted = rule_import_plan.edits(plan, choices)
    return [_rule_item(entry, wanted.get(entry.number)) for entry in plan.entries]


def _rule_item(entry: rule_import_plan.Entry, wanted: Edit | None) -> Item:
    live = getattr(entry, "live", None)
    title = (
        entry.draft.title
        if isinstance(entry, rule_import_plan.New | rule_import_plan.Differs)
        else getattr(entry, "title", "")
    )
    name = title or getattr(live, "title", "")
    about = {"source": f"record {entry.number}", "cells": (str(entry.number), name, getattr(live, "id", ""))}
    if wanted is not None:
        return Item.of(entry.number, wanted, **about)
    target, why = Target(service="rules", key=getattr(live, "id", None)), NO_RULES[type(entry)](entry)
    return Item(number=entry.number, target=target, after={"name": name}, outcome=Outcome.SKIPPED, why=why, **about)


NO_RULES: Final[dict[type, Callable[[Any], str]]] = {
    rule_import_plan.New: lambda _: "the import was set to skip new rules",
    rule_import_plan.Differs: lambda _: "the import was set to keep current rules",
    rule_import_plan.Same: lambda _: "already here and identical",
    rule_import_plan.InvalidRecord: lambda entry: reason_words(entry.reason),
    rule_import_plan.Twice: lambda entry: f"duplicate of record {entry.first:,}",
    rule_import_plan.Skipped: lambda entry: (
        "groups are not imported" if entry.why is rule_import_plan.NoRule.GROUP else "not a rule"
    ),
}
"""What is said of a record that nothing is done with."""

submits(
    import_form_view.RULES_FILE,
    Form(Handed.typed, _preview_rules, handed_errors, lambda _: modals.loading("Import rules")),
)
submits(import_form_view.RULES, Form(_read_choices, _import_rules))


MOST_COLUMNS: Final = 100


@handles(MembersImport)
async def import_members(command: MembersImport, caller: Caller, gatehouse: Gatehouse) -> Reply:
    site = await site_for(command.site, caller, gatehouse)
    return Modal(import_form_view.members_file(site=site.name, metadata={"channel": caller.channel, "site": site.name}))


@file_work
async def _preview_members(handed: Handed, caller: Caller, gatehouse: Gatehouse) -> View:
    try:
        plan = await _member_plan(handed, caller, gatehouse)
    except BadFile as error:
        return import_form_view.members_file(
            site=handed.site,
            pasted=handed.pasted,
            reason=handed.reason,
            mode=Mode(handed.mode),
            wrong=" ".join(file_words(error)),
            metadata={"channel": handed.channel, "site": handed.site},
        )
    return await _draw(handed, plan)


def _read_columns(view: View) -> tuple[Handed, Columns | None]:
    return Handed.of(view), import_form_view.read_columns(view)


@clicks("form.column")
@file_work
async def choose_column(click: Click, caller: Caller, gatehouse: Gatehouse) -> Reply:
    """Show what happens by the columns that somebody chose; the file is read again."""
    handed, chosen = _read_columns(click.view or {})
    return Refilled(await _draw(handed, await _member_plan(handed, caller, gatehouse, chosen)))


async def _draw(handed: Handed, plan: MemberPlan, *, moved: bool = False) -> View:
    metadata = handed.metadata(seen=await _members_seen(plan))
    return import_form_view.member_form(plan, filename=handed.name, site=handed.site, metadata=metadata, moved=moved)


async def _member_plan(
    handed: Handed, caller: Caller, gatehouse: Gatehouse, chosen: Columns | None = None
) -> MemberPlan:
    site = gatehouse.site(handed.site)
    file = await asyncio.to_thread(read_member_file, await handed.content(gatehouse), chosen)
    live = (await site.members.all()).whole()
    extra = await extra_segments(caller, gatehouse)
    return await asyncio.to_thread(plan_members, file, Mode(handed.mode), live, extra)


async def _members_seen(plan: MemberPlan) -> str:
    """Return what stands for *plan* in the form that shows it: what would be written, and over what."""
    return await fingerprint_of_entries(_member_file(plan))


def _member_file(plan: MemberPlan) -> Iterator[list[Any]]:
    wanted = import_entries.edits(plan, "")
    for entry in plan.entries:
        edit = wanted.get(entry.row.line)
        written = None if edit is None else [canonical_form(edit.before), canonical_form(edit.after)]
        yield [entry.row.line, type(entry).__name__, written]


@file_work
async def _import_members(
    agreed: tuple[Handed, Columns | None], caller: Caller, gatehouse: Gatehouse
) -> View | Recorded:
    handed, columns = agreed
    plan = await _member_plan(handed, caller, gatehouse, columns)
    if await _members_seen(plan) != handed.seen:
        return await _draw(handed, plan, moved=True)
    items = _member_items(plan, handed.site)
    if not (count := sum(item.kind is not None for item in items)):
        return await _draw(handed, plan)
    proposal = Proposal(
        title=f"Import {plural(count, 'row')} from {in_quotes(handed.name, 60)} into {handed.site}",
        items=items,
        columns=headings(plan.file)[:MOST_COLUMNS],
        separator=plan.file.separator,
        request=ChangeRequest(requester=caller.user, channel=caller.channel, reason=handed.reason),
    )
    return await record(proposal, caller, gatehouse)


def _member_items(plan: MemberPlan, site: str) -> list[Item]:
    """An item for each row: those that are to be done, and the others with the reason why not."""
    wanted = import_entries.edits(plan, site)
    numbers = {entry.row.line: number for number, entry in enumerate(plan.entries, 1)}
    return [
        _member_item(number, entry, wanted.get(entry.row.line), site, numbers)
        for number, entry in enumerate(plan.entries, 1)
    ]


def _member_item(
    number: int, entry: import_entries.Entry, wanted: Edit | None, site: str, numbers: dict[int, int]
) -> Item:
    about: dict[str, Any] = {"source": f"line {entry.row.line}", "cells": entry.row.cells[:MOST_COLUMNS]}
    if wanted is not None:
        return Item.of(number, wanted, **about)
    follows = numbers.get(entry.line, 0) if isinstance(entry, import_entries.Together) else 0
    target = Target(service="members", site=site, key=entry.row.email[:320] or None)
    return Item(
        target=target,
        outcome=Outcome.SKIPPED,
        why=NO_MEMBERS[type(entry)](entry),
        follows=follows,
        number=number,
        **about,
    )


NO_MEMBERS: Final[dict[type, Callable[[Any], str]]] = {
    import_entries.NothingToDo: lambda entry: NOTHING_TO_DO[entry.why],
    import_entries.Invalid: lambda entry: reason_words(entry.reason),
    import_entries.Together: lambda entry: f"merged with line {entry.line:,}",
}
"""What is said of a row that nothing is done with."""

submits(
    import_form_view.MEMBERS_FILE,
    Form(Handed.typed, _preview_members, handed_errors, lambda _: modals.loading("Import members")),
)
submits(import_form_view.MEMBERS, Form(_read_columns, _import_members))
