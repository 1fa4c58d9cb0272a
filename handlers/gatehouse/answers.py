"""The answers of ``/gatehouse``: help, status, who somebody is, what is pending, and the audit."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from typing import Any, Final

from bot.changes.effects import find_closing
from bot.changes.model.change import Change
from bot.changes.model.edits import Edit, Kind, Target
from bot.changes.model.states import LIVE, State
from bot.changes.past import is_elsewhere
from bot.clients.errors import ClientError
from bot.clients.lists import Incomplete, Listing
from bot.gatehouse import Gatehouse
from bot.health import Health, Level, health_of
from bot.policy.access import NobodyCanApprove
from bot.policy.inquiry import NotAllowed
from bot.policy.model import Irreconcilable
from bot.rules.model import RULE_ID
from bot.store.audit import Entry, Filters
from bot.store.db import UnreadableRow
from bot.store.outbox import Purpose
from handlers.blocks.messages import ListPage, as_sentence, code, plural, strip_markup
from handlers.changes.decisions import can_decide
from handlers.changes.list_view import MAX_LISTED, RowFacts, unshown_line
from handlers.changes.times import due_order
from handlers.errors import BadFilter
from handlers.explain.table import words_for
from handlers.gatehouse import audit_view, views
from handlers.gatehouse.commands import (
    GatehouseAudit,
    GatehouseHelp,
    GatehousePending,
    GatehousePlanned,
    GatehouseStatus,
    GatehouseWhoami,
    GatehouseWhy,
)
from handlers.gatehouse.views import Waiting
from handlers.members.commands import MembersCommand
from handlers.rules.commands import RulesCommand, RulesHistory
from handlers.rules.pairs_view import status_words
from handlers.rules.past import elsewhere_line, moment_of
from handlers.rules.rule_refs import REFERENCE, NotOne, find_rule
from handlers.slack.registry import handles
from handlers.slack.reply import Caller, Private, Reply

MAX_LOOKED_THROUGH: Final = 200
"""Open changes that are looked through for those that somebody may read, and changes of a rule for its history."""
DAY: Final = timedelta(days=1)
STEPS: Final = ("announced", "applying")
MECHANICS: Final = (*STEPS, "begun")
"""Events that say how something was done rather than what; the export has them."""
MENTIONED: Final = re.compile(r"<@([UW][A-Z0-9]{5,20})(?:\|[^<>]*)?>|([UW][A-Z0-9]{7,20})")


@handles(GatehouseAudit)
async def audit(command: GatehouseAudit, caller: Caller, gatehouse: Gatehouse) -> Reply:
    who = _person_id(command.who, caller)
    since = (
        None
        if command.since is None
        else await moment_of(command.since, caller, gatehouse, "gatehouse audit since:24h")
    )
    all_readable = Filters(unreadable=await unreadable_services(caller, gatehouse))
    about = await _target_filters((command.ref or "").strip(), all_readable, gatehouse)
    filters = replace(about, who=who, since=since, without=MECHANICS, last_of_each=True)
    skipped = ((command.page or 1) - 1) * MAX_LISTED
    found = await gatehouse.store.audit.find(filters, MAX_LISTED + 1, skip=skipped)
    page = ListPage.of_part(found, command.page, MAX_LISTED)
    changes = await changes_behind(page.items, gatehouse, as_sets=not command.ref)
    facts = await facts_of(changes.values(), gatehouse)
    lead = ""
    if replace(command, since=None) == GatehouseAudit():
        lead = await elsewhere_line(since or gatehouse.now() - DAY, filters.unreadable, gatehouse)
    message = audit_view.entries(page, changes, facts, filters, lead, public=caller.public, command=command)
    return Private(message, data={"changes": [each.change_id for each in page.items if each.change_id]})


async def facts_of(changes: Iterable[Change], gatehouse: Gatehouse) -> RowFacts:
    """Return what the rows of *changes* say that the changes don't have.

    The link of what has no card, such as a try of an end, is that to the card of what it undid.
    """
    store, known = gatehouse.store, {each.id: each for each in changes}
    tallies = {}
    for key in [key for key, each in known.items() if each.is_bulk]:
        with suppress(UnreadableRow):
            tallies[key] = await store.items.tally(key)
    return RowFacts(
        {
            key: await store.cards.link(key) or await store.cards.link(each.request.undoes or "")
            for key, each in known.items()
        },
        tallies,
        {key: since for key, each in known.items() if (since := await find_closing(store, each)) is not None},
    )


async def changes_behind(found: Sequence[Entry], gatehouse: Gatehouse, *, as_sets: bool) -> Mapping[str, Change]:
    """Return the changes that entries are about, by the ids there; *as_sets*: the bulk change instead of a part of it."""
    changes = await gatehouse.store.changes.list_many(list({entry.change_id for entry in found if entry.change_id}))
    if not as_sets:
        return changes
    wholes = await gatehouse.store.changes.list_many(list({each.set_id for each in changes.values() if each.set_id}))
    return {each: wholes.get(change.set_id or "", change) for each, change in changes.items()}


SERVICES: Final = {"rules": RulesCommand, "groups": RulesCommand, "members": MembersCommand}
"""The services whose things change, and the base of the commands that read them."""


async def unreadable_services(caller: Caller, gatehouse: Gatehouse) -> tuple[str, ...]:
    """Return the services whose changes the caller may not read here."""
    allowed = await gatehouse.access.refusals_by_operation(caller.user, caller.channel)
    return tuple(service for service, kind in SERVICES.items() if allowed[kind.reads] is not None)


def readable(changes: Iterable[Change], unreadable: Collection[str]) -> list[Change]:
    """Return those of *changes* that are not of the services *unreadable*."""
    return [each for each in changes if each.edit.target.service not in unreadable]


async def _target_filters(text: str, every: Filters, gatehouse: Gatehouse) -> Filters:
    """Return the filters for the target or the reason that *text* names, by the audit first: it has deleted ones, too.

    Raises BadFilter, or what `find_rule` raises.
    """
    if not text:
        return every
    rule, part = replace(every, targets=await _rule_targets(text, gatehouse)), replace(every, ref=text)
    named = replace(every, targets=tuple(await gatehouse.store.audit.find_targets(text)))
    is_exact = REFERENCE.fullmatch(text) or "@" in text or "/" in text
    exact = [*([rule] if RULE_ID.fullmatch(text) else []), *([part] if is_exact else [])]
    for about in (*exact, named, part, replace(every, reason=text)):
        if await gatehouse.store.audit.find(about, 1):
            return about
    if "@" in text:  # of a member nothing may be on record
        return part
    if "rules" not in every.unreadable:
        try:
            return replace(every, targets=await _rule_targets((await find_rule(text, gatehouse)).id, gatehouse))
        except NotOne as error:
            if error.candidates:
                raise
    raise BadFilter(
        f"Nothing on record{' that you can read' * bool(every.unreadable)} is called “{text[:60]}”. Name a rule, a member or"
        " a change’s reference; a person with who:@name, or a time with since:24h.",
        "gatehouse audit Old shop since:yesterday",
    )


async def _rule_targets(rule_id: str, gatehouse: Gatehouse) -> tuple[str, ...]:
    """Return a rule as a target, also under the ids that it had before."""
    return tuple(f"rules/{each}" for each in await gatehouse.store.former_ids.all_of(rule_id))


def _person_id(text: str | None, caller: Caller) -> str | None:
    if text is None:
        return None
    if text.casefold() in {"me", "@me"}:
        return caller.user
    match = MENTIONED.fullmatch(text)
    if match is None:
        raise BadFilter(
            f"Slack doesn’t know “{text[:40]}”. Type @ and pick the person from the list.", "gatehouse audit who:me"
        )
    return match[1] or match[2]


@handles(GatehouseHelp)
async def show_help(command: GatehouseHelp, caller: Caller, gatehouse: Gatehouse) -> Reply:
    return Private(views.menu(agents=bool(gatehouse.agents)))


@handles(GatehouseStatus)
async def status(command: GatehouseStatus, caller: Caller, gatehouse: Gatehouse) -> Reply:
    await gatehouse.access.look_at_groups()
    parts = {**await gatehouse.health(), **await _ask_services(gatehouse)}
    parts["policy"] = health_of(gatehouse.policy_trouble())
    messages = await gatehouse.store.outbox.backlogs()
    waiting, late, undelivered = (messages[name][0] for name in ("message", "late", "given_up"))
    trouble = [f"Slack rejected {undelivered:,}"] * bool(undelivered)
    trouble += [f"{late:,} late; Gatehouse keeps trying"] * bool(late)
    on_the_way = Health(Level.WORKS, f"{waiting:,} on the way" if waiting else "")
    parts["messages"] = health_of(", ".join(trouble)) if trouble else on_the_way
    counts = await gatehouse.store.changes.count_by_state()
    return Private(views.status(parts, places=gatehouse.places, counts=counts))


async def _ask_services(gatehouse: Gatehouse) -> Mapping[str, Health]:
    """Return the health of each service as it answers a plain question: how many records it has, or what is wrong."""
    readers = {"rules": gatehouse.rules} | {
        f"members of {site.name}": site.members for site in gatehouse.sites.values()
    }
    asked = (_ask_service(reader.all()) for reader in readers.values())
    return dict(zip(readers, await asyncio.gather(*asked), strict=True))


async def _ask_service(asked: Awaitable[Listing[Any]]) -> Health:
    try:
        found = await asked
    except ClientError as error:
        return health_of(strip_markup(words_for(error).what).removesuffix("."))
    if found.gap:
        return health_of(found.gap.sentence("records").removesuffix("."))
    return Health(Level.WORKS, plural(len(found.known), "record"))


@handles(GatehouseWhoami)
async def whoami(command: GatehouseWhoami, caller: Caller, gatehouse: Gatehouse) -> Reply:
    user = _person_id(command.who, caller) or caller.user
    person = await gatehouse.access.directory.person(user)
    allowed = await gatehouse.access.refusals_by_operation(user, caller.channel)
    policy = gatehouse.access.policy()
    return Private(
        views.whoami(
            person,
            caller.channel,
            allowed,
            {kind.value: policy.guard_for(kind.operation) for kind in Kind},
            sites=tuple(gatehouse.sites),
            act=policy.channels.act,
            freezes=await gatehouse.changes.freezes.all(),
            is_self=user == caller.user,
        )
    )


@handles(GatehouseWhy)
async def why(command: GatehouseWhy, caller: Caller, gatehouse: Gatehouse) -> Reply:
    """Return what each change of a rule, or of who has a segment, would meet, and who could approve it now."""
    access, lines, ref = gatehouse.access, [], command.ref or ""
    reads = MembersCommand.reads if ref.startswith("segment:") else RulesCommand.reads
    await access.require(caller.user, caller.channel, reads)
    title, edits = await _edits_of(ref, gatehouse)
    for name, edit in edits.items():
        places = ", ".join(rule.place for rule in access.policy().guards_for(*edit.needs))
        try:
            await access.require(caller.user, caller.channel, *edit.needs)
            said = views.requirement(await access.requirements_for(edit.needs, caller.user, caller.channel))
        except (NotAllowed, NobodyCanApprove, Irreconcilable) as error:
            said = words_for(error).what
        lines.append(f"*{name}*: {as_sentence(said)} {code(places, 300)}")
    return Private(views.outlook(title, lines))


async def _edits_of(ref: str, gatehouse: Gatehouse) -> tuple[str, Mapping[str, Edit]]:
    """Return what *ref* names, and what could be done to it; raises as `find_rule` does."""
    if ref.startswith("segment:"):
        segment, edits = ref.removeprefix("segment:"), dict[str, Edit]()
        for site in gatehouse.sites:
            target, with_it = Target(service="members", site=site, key=""), {"allowedSegments": [segment]}
            edits[f"Grant on {site}"] = Edit(kind=Kind.MEMBER_GRANT, target=target, before={}, after=with_it)
            edits[f"Revoke on {site}"] = Edit(kind=Kind.MEMBER_REVOKE, target=target, before=with_it, after={})
        return segment, edits
    rule = await find_rule(ref, gatehouse)
    target, now = Target(service="rules", key=rule.id), rule.document()
    return rule.title, {
        "Edit or switch": Edit(kind=Kind.RULE_UPDATE, target=target, before=now, after=now),
        "Delete": Edit(kind=Kind.RULE_DELETE, target=target, before=now, after=None),
    }


@handles(GatehousePending)
async def show_pending(command: GatehousePending, caller: Caller, gatehouse: Gatehouse) -> Reply:
    found = await waiting_changes(gatehouse, most=MAX_LOOKED_THROUGH)
    # What could not begin waits for somebody to say when.
    held = [each for each in await gatehouse.store.changes.list_planned() if each.run.held]
    unreadable = await unreadable_services(caller, gatehouse)
    changes = readable([*found.changes, *held], unreadable)
    waiting = replace(found, changes=changes, unread=unshown_line(unreadable))
    page = ListPage.of(waiting.changes, command.page, MAX_LISTED)
    facts = await facts_of(page.items, gatehouse)
    able = () if caller.public else page.items
    decidable = {each.id for each in able if await can_decide(each, caller.user, gatehouse)}
    message = views.pending_list(page, waiting, facts, command, public=caller.public, decidable=decidable)
    return Private(message, data={"total": page.total, "changes": [each.id for each in page.items]})


async def waiting_changes(gatehouse: Gatehouse, *, most: int) -> Waiting:
    """Return what waits for somebody: the changes that are open, so *most* of them."""
    found = await gatehouse.store.changes.list_open(limit=most)
    counts = await gatehouse.store.changes.count_by_state()
    count = sum(counts.get(state, 0) for state in LIVE - {State.PLANNED})
    return Waiting(found, count - len(found))


@handles(GatehousePlanned)
async def show_planned(command: GatehousePlanned, caller: Caller, gatehouse: Gatehouse) -> Reply:
    unreadable = await unreadable_services(caller, gatehouse)
    found = readable(await coming_changes(gatehouse), unreadable)
    page = ListPage.of(found, command.page, MAX_LISTED)
    facts = await facts_of(page.items, gatehouse)
    planned, unread = sum(each.state is State.PLANNED for each in found), unshown_line(unreadable)
    return Private(views.planned_list(page, facts, command, planned=planned, public=caller.public, unread=unread))


async def coming_changes(gatehouse: Gatehouse) -> list[Change]:
    """Return the changes that start or revert automatically, the next first; before them those that could not start."""
    coming = [*await gatehouse.store.changes.list_planned(), *await _temporary_changes(gatehouse)]
    return sorted(coming, key=due_order)


async def _temporary_changes(gatehouse: Gatehouse) -> list[Change]:
    """Return the changes that will be reverted, the next of them first."""
    due = await gatehouse.store.outbox.pending_change_ids(Purpose.REVERT)
    return [change for change in await _changes_of(due, gatehouse) if change.is_temporary]


async def _changes_of(ids: Sequence[str], gatehouse: Gatehouse) -> list[Change]:
    """Return the changes with these *ids*, in their order."""
    found = await gatehouse.store.changes.list_many(ids)
    return [found[each] for each in ids if each in found]


@handles(RulesHistory)
async def history(command: RulesHistory, caller: Caller, gatehouse: Gatehouse) -> Reply:
    """Return what was done to a rule, also under the ids that it had before, and also after it was deleted."""
    rule_id, missing, modified, group, rule = command.ref, None, None, None, None
    try:
        rule = await find_rule(command.ref, gatehouse)
        rule_id, modified, group = rule.id, rule.modified, rule.group_id
    except (Incomplete, NotOne) as error:
        if isinstance(error, NotOne) and error.candidates:
            raise
        missing = error
    ids = await gatehouse.store.former_ids.all_of(rule_id)
    limit = min((command.page or 1) * MAX_LISTED + 1, MAX_LOOKED_THROUGH)
    changes = await gatehouse.store.changes.list_by_targets([f"rules/{each}" for each in ids], limit)
    if not changes and missing is not None:
        raise missing
    page = ListPage.of(changes, command.page, MAX_LISTED)
    of_group = await gatehouse.store.changes.list_by_targets([f"groups/{group}"], 1) if group else ()
    facts = await facts_of([*page.items, *of_group], gatehouse)
    outside = modified if modified is not None and is_elsewhere(modified, changes) else None
    return Private(
        audit_view.history(
            page,
            facts,
            outside=outside,
            of_group=next(iter(of_group), None),
            state=status_words(rule, await gatehouse.groups.groups()) if rule else "",
            is_cut=len(changes) >= MAX_LOOKED_THROUGH,
            public=caller.public,
            command=command,
        )
    )
