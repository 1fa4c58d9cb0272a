"""Help, status, who somebody is, what is pending and temporary, the audit, the digest, settings and the Home tab."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import Any, Final

from bot.changes.model.change import Change
from bot.changes.model.edits import Kind
from bot.changes.model.parts import Guard, Undone
from bot.changes.model.states import State
from bot.health import WORKS, Health, Level, health_of
from bot.policy.freezes import ChatFreeze, Freeze
from bot.policy.model import OPERATIONS, GuardRule, Person, Why
from bot.store.audit import Entry, Filters
from handlers.blocks.messages import ListPage
from handlers.changes import freeze_view
from handlers.changes.list_view import RowFacts, unshown_line
from handlers.gatehouse import audit_view, digest_view, home_view, views
from handlers.gatehouse.commands import (
    GatehouseAudit,
    GatehouseDigest,
    GatehouseFreezes,
    GatehousePending,
    GatehousePlanned,
)
from handlers.gatehouse.digest_view import Digest
from handlers.gatehouse.home_view import Home
from handlers.gatehouse.views import Waiting
from handlers.rules.commands import RulesHistory
from tests.harness.proposing import with_fields
from tests.texts import Sample
from tests.texts.cards import ANNA, CARA, CAUSES, MOVED, NOW, OLD_SHOP, OPS, SALE, change, off, with_vip

MOVE: Final = change(Kind.RULE_UPDATE, State.APPLIED, OLD_SHOP, MOVED, reason="the landing page moved")
SWITCH: Final = change(
    Kind.RULE_UPDATE,
    State.APPLIED,
    SALE,
    off(SALE),
    reason="we test",
    revert_after=7200,
    reverts_at=NOW + timedelta(hours=2),
)
DELETE: Final = change(Kind.RULE_DELETE, State.PROPOSED, SALE, None, expires=NOW + timedelta(days=1))
GRANT: Final = change(Kind.MEMBER_GRANT, State.DENIED, ANNA, with_vip(ANNA), reason="she upgraded", decided_by=CARA)
ALONE: Final = change(Kind.RULE_DELETE, State.APPLIED, OLD_SHOP, None, glass_broken=True, decided_by="U0BOB0001")
BACK: Final = change(
    Kind.RULE_UPDATE, State.APPLIED, off(SALE), SALE, undoes=SWITCH.id, reason="", cause=CAUSES["ended"]
)
PUT_BACK: Final = change(
    Kind.RULE_UPDATE,
    State.APPLIED,
    MOVED,
    OLD_SHOP,
    undoes=MOVE.id,
    requester=CARA,
    reason="",
    cause=CAUSES["undone by somebody else"],
)
ENDED: Final = with_fields(
    SWITCH,
    undone=Undone(change=BACK.id, at=NOW + timedelta(hours=2), by=SWITCH.request.requester, cause=CAUSES["ended"]),
)
CHANGES: Final = tuple(
    replace(each, id=f"{number:08x}{each.id[8:]}")
    for number, each in enumerate((MOVE, SWITCH, DELETE, GRANT, ALONE, BACK, PUT_BACK, ENDED), 1)
)
MODIFIED: Final = int(NOW.timestamp() * 1000)
FACTS: Final = RowFacts({each.id: "https://slack.example/p1" for each in CHANGES})


def entry(seq: int, event: str, target: str = "", change_id: str = "", **detail: Any) -> Entry:
    return Entry(seq, NOW, event, change_id, target, "U0ALICE01", OPS, "", detail)


def page(*items: Any) -> ListPage[Any]:
    return ListPage.of(items, 1, len(items) or 1)


SERVICES: Final = {"rules": Health(Level.WORKS, "25 records")}


def answers() -> Iterator[Sample]:
    """What is asked about Gatehouse itself."""
    yield "the menu", views.menu()
    parts = dict.fromkeys(("slack", "clock", "store", "policy"), WORKS)
    well = {
        **parts,
        "messages": Health(Level.WORKS, "2 on the way"),
        **SERVICES,
        "members of blog": Health(Level.WORKS, "8 records"),
    }
    places = {"rules": "rules.example.com"}
    counts = {"applied": 12_000, "proposed": 1, "failed": 2}
    yield "status, all well", views.status(well, places=places, counts=counts)
    warned = {"socket mode": Health(Level.NEEDS_ATTENTION, "1 of 2 connections")}
    away = {"rules": health_of("The rules service doesn’t answer")}
    both = away | {"members of blog": health_of("The members service rejected Gatehouse’s key: Unauthorized")} | warned
    yield "status, two problems", views.status(well | both, places=places, counts={})
    late = {"messages": health_of("Slack rejected 2, 1 late; Gatehouse keeps trying")}
    yield "status, Slack rejected cards", views.status(well | late, places=places, counts={})


def people() -> Iterator[Sample]:
    """Who somebody is to Gatehouse."""
    alice, everything = Person("U0ALICE01", tz="Europe/Berlin"), dict.fromkeys(OPERATIONS)
    guards = {name: GuardRule(operation=name, guard=Guard.APPROVE) for name in ("rule.delete", "member.remove")}
    yield "may do everything", views.whoami(alice, OPS, everything, guards, sites=["blog", "docs"], act=[])
    some = everything | {"rule.delete": Why.NO_ROLE, "member.remove": Why.NO_ROLE, "approve": Why.NOT_HERE}
    confirm = {
        "member.revoke": GuardRule(operation="member.revoke", guard=Guard.CONFIRM),
        "rule.update": GuardRule(operation="rule.update", guard=Guard.APPROVE, approvals=2),
    }
    yield "may do some", views.whoami(alice, OPS, some, confirm, sites=["blog"], act=[OPS])
    nothing = dict.fromkeys(OPERATIONS, Why.GUEST)
    yield "may do nothing", views.whoami(alice, OPS, nothing, {}, sites=[], act=[])


def waiting() -> Iterator[Sample]:
    """What waits, and what reverts."""
    nobody: ListPage[Change] = page()
    pending, timers = GatehousePending(), GatehousePlanned()
    yield "nothing pending", views.pending_list(nobody, Waiting(), RowFacts(), pending, public=False)
    yield (
        "pending, and none that the reader may read",
        views.pending_list(nobody, Waiting(unread=unshown_line(["rules"])), RowFacts(), pending, public=False),
    )
    both, mine = page(CHANGES[2]), {CHANGES[2].id}
    found = Waiting([CHANGES[2]])
    yield "pending", views.pending_list(both, found, FACTS, pending, public=False, decidable=mine)
    yield "nothing temporary", views.planned_list(nobody, RowFacts(), timers, planned=0, public=False)
    to_come = with_fields(CHANGES[0], state=State.PLANNED, starts_at=NOW + timedelta(hours=1))
    yield "planned and temporary", views.planned_list(page(to_come, CHANGES[1]), FACTS, timers, planned=1, public=False)
    some = views.planned_list(page(CHANGES[1]), FACTS, timers, planned=0, public=False, unread=unshown_line(["rules"]))
    yield "temporary, and some that the reader may not read", some


def records() -> Iterator[Sample]:
    """The audit, the history of a rule, and the digest."""
    found = [
        entry(number, "applied", str(each.edit.target), each.id, kind=each.edit.kind.value)
        for number, each in enumerate(CHANGES, 1)
    ]
    found += [
        entry(6, "refused", "rule.delete", why="no_role", count=3),
        entry(7, "exported", "rules", here=True, count=25),
        entry(8, "exported", "members/blog", here=False, count=4),
        entry(10, "wants_to_lift", "freeze/shop.example.com"),
        entry(11, "lifted", "freeze/shop.example.com"),
    ]
    by_id = {each.id: each for each in CHANGES}
    by_id[MOVE.id] = with_fields(MOVE, guard=Guard.APPROVE, decided_by=CARA)
    filters, command = Filters(), GatehouseAudit()
    yield "audit", audit_view.entries(ListPage.of(found, 1, 16), by_id, FACTS, filters, public=False, command=command)
    decisions = zip((9, 10), ("approved", "denied"), (CHANGES[0], CHANGES[3]), strict=True)
    hers = [
        replace(entry(number, event, str(each.edit.target), each.id), actor="U0CARA001")
        for number, event, each in decisions
    ]
    of_cara = Filters(who="U0CARA001")
    yield (
        "audit of an approver",
        audit_view.entries(page(*hers), by_id, FACTS, of_cara, public=False, command=command),
    )
    mine = replace(filters, who="U0ALICE01", since=NOW)
    about = GatehouseAudit(ref="Old shop")
    yield "audit, nothing", audit_view.entries(page(), {}, RowFacts(), mine, public=False, command=about)
    rule = RulesHistory(ref="Old shop")
    yield "history", audit_view.history(page(*CHANGES[:3]), FACTS, outside=None, public=False, command=rule)
    yield (
        "history, changed since",
        audit_view.history(page(CHANGES[0]), FACTS, outside=MODIFIED, public=False, command=rule),
    )
    yield "no history", audit_view.history(page(), RowFacts(), outside=None, public=False, command=rule)
    yield (
        "no history, changed by others",
        audit_view.history(page(), RowFacts(), outside=MODIFIED, public=False, command=rule),
    )
    of_its_group = audit_view.history(page(), FACTS, outside=None, of_group=CHANGES[0], public=False, command=rule)
    yield "no history, but of its group", of_its_group
    cut = audit_view.history(page(CHANGES[0]), FACTS, outside=None, is_cut=True, public=False, command=rule)
    yield "the end of a history that is cut", cut
    busy = Digest(
        entries=found,
        changes=[CHANGES[0], CHANGES[1], CHANGES[3], CHANGES[4]],
        waiting=Waiting([CHANGES[2]], unlisted=2),
        coming=[CHANGES[1]],
        facts=FACTS,
    )
    digests = {"digest": busy, "digest of a quiet day": Digest()}
    for title, told in digests.items():
        yield title, digest_view.digest(told, since=NOW, public=False, command=GatehouseDigest())


def homes() -> Iterator[Sample]:
    """The Home tab, and what a channel and a person have set."""
    new = Home(reads_rules=True, reads_members=True)
    yield "Home, new", home_view.home(new, OPS, now=NOW)
    full = replace(
        new,
        decisions=[CHANGES[2]],
        own=[CHANGES[2]],
        coming=[CHANGES[1]],
        facts=FACTS,
    )
    yield "Home, busy", home_view.home(full, OPS, now=NOW)
    yield "Home, where more is open than is looked through", home_view.home(replace(new, unlisted=1_200), OPS, now=NOW)


def freezes() -> Iterator[Sample]:
    planned = with_fields(CHANGES[0], state=State.PLANNED, starts_at=NOW + timedelta(hours=1))
    until = NOW + timedelta(days=2)
    made = partial(ChatFreeze, by=CARA, channel=OPS, made=NOW, until=until)
    frozen = made(id="f", title="shop.example.com", why="cutover", hosts=("s",), starts=NOW)
    everything = made(id="e", title=freeze_view.EVERYTHING, starts=NOW + timedelta(hours=1))
    excepted = ("status.example.com",)
    policy = Freeze(hosts=("*.example.com",), excepted=excepted, why="Christmas", starts=NOW, until=until)
    yield "before a freeze", freeze_view.facts_before({"rule": 29, "site": 2}, 1)
    yield "frozen", freeze_view.freeze_message(frozen, [planned], has_override=True)
    yield "lifted", freeze_view.lifted_message(frozen, "U0BOB0001")
    yield "everything lifted", freeze_view.lifted_message(everything, CARA)
    listed = ListPage.of([frozen, everything, policy], None, 20)
    yield "freezes", freeze_view.freeze_list(listed, GatehouseFreezes())
    yield "no freezes", freeze_view.freeze_list(ListPage.of([], None, 20), GatehouseFreezes())


def samples() -> Iterator[Sample]:
    yield from (*answers(), *people(), *waiting(), *records(), *homes(), *freezes())
