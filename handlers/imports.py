"""Rules and members from a file: shown first what would happen, then done as one change set, a row at a time.

The file is read anew when the preview comes back, and what would happen is worked out anew: where that is no longer
what was shown, it is shown again.
"""

from __future__ import annotations

import asyncio
import base64
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from bot.changes.set_proposals import SetProposal
from bot.clients.parsing import gently
from bot.domain import member_plan, rule_import
from bot.domain.change import Target, fingerprint
from bot.domain.change_set import Outcome, Part
from bot.domain.file_text import BadFile
from bot.domain.intended import Intended
from bot.domain.member_file import Mode, Row, read_member_file
from bot.domain.member_import import plan_members
from bot.domain.member_plan import MemberPlan
from bot.domain.result_table import headings
from bot.domain.rule_choices import Choices, proposals
from bot.domain.rule_file import read_rule_file
from bot.domain.rule_import import RulePlan, planned
from bot.gatehouse import Gatehouse
from handlers.commands import MembersImport, RulesImport
from handlers.reply import Caller, Modal, Reply, View
from handlers.routes import Form, handles, submits
from handlers.sites import extra_segments, site_for
from handlers.views import fields, forms, import_form
from handlers.views.import_words import file_words, reason_words

MOST_PASTED: Final = 2_000
"""Characters that a pasted text may have once it is packed: a view keeps 3,000, all told."""
MOST_BYTES: Final = 10 * 1024 * 1024
RULE_COLUMNS: Final = ("record", "name", "id")


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
        kept = forms.metadata(view)
        return cls(**{name: str(kept.get(name) or "") for name in cls.__slots__ if name in kept or name in NEEDED})

    @classmethod
    def typed(cls, view: View) -> Handed:
        """What a first form was filled with."""
        kept = forms.metadata(view)
        values = (view.get("state") or {}).get("values") or {}
        return cls(
            channel=str(kept.get("channel") or ""),
            name=fields.file_name(values, "file") or "what was pasted",
            file=fields.file_id(values, "file") or "",
            packed=_packed(fields.typed(values, "pasted") or ""),
            reason=(fields.typed(values, fields.REASON) or "")[:300],
            site=str(kept.get("site") or ""),
            mode=import_form.read_mode(view),
        )

    def metadata(self, **more: str) -> dict[str, str]:
        return {name: getattr(self, name) for name in self.__slots__ if getattr(self, name)} | more

    async def content(self, gatehouse: Gatehouse) -> bytes:
        """The bytes; raises the errors of `FileReader`."""
        return await gatehouse.files.read(self.file, most=MOST_BYTES) if self.file else _unpacked(self.packed).encode()

    @property
    def pasted(self) -> str:
        return _unpacked(self.packed)


NEEDED: Final = ("channel", "name")


def _packed(text: str) -> str:
    return base64.b64encode(zlib.compress(text.encode("utf-8", "surrogatepass"), 9)).decode() if text.strip() else ""


def _unpacked(packed: str) -> str:
    return zlib.decompress(base64.b64decode(packed)).decode("utf-8", "surrogatepass") if packed else ""


def _errors(view: View) -> dict[str, str]:
    """What is wrong before anything is read, under the inputs."""
    handed = Handed.typed(view)
    if not handed.file and not handed.packed:
        return {"file": "Choose a file, or paste its text below."}
    if handed.file and handed.packed:
        return {"pasted": "There is a file already: take one of the two out."}
    if len(handed.packed) > MOST_PASTED:
        return {"pasted": "That is too much to be pasted: save it as a file and choose that."}
    return {}


def _nothing_wrong(_: View) -> dict[str, str]:
    return {}


@handles(RulesImport)
async def import_rules(command: RulesImport, caller: Caller, gatehouse: Gatehouse) -> Reply:
    return Modal(import_form.rules_file(metadata={"channel": caller.channel}))


@handles(MembersImport)
async def import_members(command: MembersImport, caller: Caller, gatehouse: Gatehouse) -> Reply:
    site = await site_for(command.site, caller, gatehouse)
    return Modal(import_form.members_file(site=site.name, metadata={"channel": caller.channel, "site": site.name}))


async def _preview_rules(view: View, _: Caller, gatehouse: Gatehouse) -> View:
    handed = Handed.typed(view)
    try:
        plan = await _rule_plan(handed, gatehouse)
    except BadFile as error:
        wrong = " ".join(file_words(error))
        kept = {"channel": handed.channel}
        return import_form.rules_file(pasted=handed.pasted, reason=handed.reason, wrong=wrong, metadata=kept)
    return import_form.rule_form(plan, filename=handed.name, metadata=handed.metadata(seen=_seen(plan)))


async def _rule_plan(handed: Handed, gatehouse: Gatehouse) -> RulePlan:
    file = await asyncio.to_thread(read_rule_file, await handed.content(gatehouse))
    listing = await gatehouse.rules.all()
    return RulePlan(tuple(await gently(planned(file, listing.rules, await gatehouse.groups.groups()))))


def _seen(plan: RulePlan | MemberPlan) -> str:
    if isinstance(plan, RulePlan):
        return fingerprint([[entry.number, type(entry).__name__] for entry in plan.entries])[:16]
    return fingerprint([[entry.row.line, type(entry).__name__] for entry in plan.entries])[:16]


async def _do_rules(view: View, caller: Caller, gatehouse: Gatehouse) -> View:
    handed = Handed.of(view)
    plan = await _rule_plan(handed, gatehouse)
    if _seen(plan) != handed.seen:
        return import_form.rule_form(plan, filename=handed.name, metadata=handed.metadata(seen=_seen(plan)), moved=True)
    parts = _rule_parts(plan, import_form.read_choices(view))
    count = sum(part.kind is not None for part in parts)
    title = f"Import {count:,} rule{'' if count == 1 else 's'} from {handed.name[:60]}"
    return await _submitted(
        SetProposal(title, parts, caller.user, caller.channel, handed.reason, columns=RULE_COLUMNS), caller, gatehouse
    )


async def _submitted(proposal: SetProposal, caller: Caller, gatehouse: Gatehouse) -> View:
    await gatehouse.changes.submit_set(proposal, origin=caller.request)
    words = f":hourglass_flowing_sand: It is under way. Its card in <#{caller.channel}> shows how far it is; what became of "
    return forms.done("Import", words + "each row comes to you as a file when it is done.")


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
    member_plan.NothingToDo: lambda entry: str(entry.why),
    member_plan.Invalid: lambda entry: reason_words(entry.reason),
    member_plan.Together: lambda entry: f"together with line {entry.line:,}",
}
"""What is said of a record or row that nothing is done with."""


async def _preview_members(view: View, caller: Caller, gatehouse: Gatehouse) -> View:
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
    metadata = handed.metadata(seen=_seen(plan))
    return import_form.member_form(plan, filename=handed.name, site=handed.site, metadata=metadata)


async def _member_plan(handed: Handed, caller: Caller, gatehouse: Gatehouse) -> MemberPlan:
    site = gatehouse.site(handed.site)
    file = await asyncio.to_thread(read_member_file, await handed.content(gatehouse))
    live = await site.members.all()
    extra = await extra_segments(caller, gatehouse)
    return await asyncio.to_thread(plan_members, file, Mode(handed.mode), live, extra)


async def _do_members(view: View, caller: Caller, gatehouse: Gatehouse) -> View:
    handed = Handed.of(view)
    plan = await _member_plan(handed, caller, gatehouse)
    if _seen(plan) != handed.seen:
        metadata = handed.metadata(seen=_seen(plan))
        return import_form.member_form(plan, filename=handed.name, site=handed.site, metadata=metadata, moved=True)
    parts = _member_parts(plan, handed.site)
    count = sum(part.kind is not None for part in parts)
    proposal = SetProposal(
        title=f"Import {count:,} row{'' if count == 1 else 's'} from {handed.name[:60]} into {handed.site}",
        parts=parts,
        requester=caller.user,
        channel=caller.channel,
        reason=handed.reason,
        columns=headings(plan.file)[:MOST_COLUMNS],
        separator=plan.file.separator,
    )
    return await _submitted(proposal, caller, gatehouse)


MOST_COLUMNS: Final = 100


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
    target = Target(service="members", site=site, key=_address(entry.row))
    return Part(target=target, outcome=Outcome.SKIPPED, why=WHY_NOT[type(entry)](entry), follows=follows, **about)


def _address(row: Row) -> str:
    return row.email[:320] or f"line {row.line}"


submits(import_form.RULES_FILE, Form(_errors, lambda _: forms.loading("Import rules"), _preview_rules))
submits(import_form.RULES, Form(_nothing_wrong, lambda _: forms.working("Import rules"), _do_rules))
submits(import_form.MEMBERS_FILE, Form(_errors, lambda _: forms.loading("Import members"), _preview_members))
submits(import_form.MEMBERS, Form(_nothing_wrong, lambda _: forms.working("Import members"), _do_members))
