"""What the bot sends: its messages, modals and answers, built by its own views from ordinary things."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import product
from typing import Any, Final

from bot.changes.execute import LOST_RIGHT
from bot.changes.model import Approval, Change, Guard, Kind, Question, State, Target
from bot.clients.lists import Gap
from bot.members.model import Member
from bot.policy.model import Person, Why
from bot.rules.model import Group, Groups, Rule
from bot.store.audit import Entry, Filters
from handlers.blocks import menus, modals
from handlers.blocks.messages import ListPage, Message
from handlers.changes import card_view, notes_view
from handlers.errors import Words
from handlers.explain import table
from handlers.gatehouse import audit_view
from handlers.gatehouse import views as gatehouse_views
from handlers.gatehouse import views as pending_views
from handlers.gatehouse.commands import GatehouseAudit
from handlers.grammar.command import Unclear
from handlers.members import views as member_views
from handlers.members.commands import MembersList, MembersShow
from handlers.members.member_form_view import MemberForm
from handlers.rules import views as group_views
from handlers.rules import views as list_views
from handlers.rules import views as rule_views
from handlers.rules.commands import RulesGroups, RulesHistory, RulesList, RulesShow
from handlers.rules.rule_form_view import RuleForm
from handlers.rules.rule_refs import NotOne
from tests.proposing import change_of

Payload = dict[str, Any]
NOW: Final = datetime(2026, 11, 21, 3, 0, tzinfo=UTC)
OPS: Final = "C0OPS0001"
PAIR: Final = {
    "source": {"key": "Url", "operator": "Equals", "value": "https://shop.example.com/old"},
    "destinationType": "url",
    "destination": "https://shop.example.com/new",
}
RULE: Final = Rule.model_validate(
    {
        "id": "Redirect_x1",
        "name": "Old shop",
        "description": "Since the move",
        "status": "Active",
        "ruleType": "Redirect",
        "pairs": [PAIR, PAIR],
        "modificationDate": 1_763_690_400_000,
        "groupId": "Group_1",
        "note": "kept",
    }
)
SCRIPT: Final = Rule.model_validate(
    {"id": "Script_x1", "name": "Banner", "status": "Inactive", "ruleType": "Script", "pairs": [{"scripts": ["x"]}]}
)
ANNA: Final = Member.model_validate({"email": "anna@example.com", "name": "Anna Berg", "allowedSegments": ["vip"]})
BERT: Final = Member.model_validate({"email": "bert@example.com", "name": "Bert", "allowedSegments": ["vip", "new"]})


def change(kind: Kind, state: State, guard: Guard = Guard.CONFIRM, **more: Any) -> Change:
    """A change of that kind in that state."""
    is_rule = kind.value.startswith("rule")
    old, new = (RULE.body(), SCRIPT.body()) if is_rule else (ANNA.document(), BERT.document())
    own: Payload = {
        "id": "0123456789abcdef" * 2,
        "kind": kind,
        "target": Target(service="rules", key=RULE.id)
        if is_rule
        else Target(service="members", site="blog", key=ANNA.email),
        "before": None if kind.creates else old,
        "after": None if kind.destroys else new,
        "result": old,
        "requester": "U0ALICE01",
        "channel": OPS,
        "reason": "it loops",
        "decision_reason": "not now",
        "outcome": "500: out of paper",
        "questions": (Question(by="U0CARA001", text="Why?"),),
        "guard": guard,
        "approvals": (Approval(by="U0CARA001", at=NOW),),
        "summoned": ("S0ONCALL",),
        "break_glass": ("oncall",),
        "state": state,
        "created": NOW,
        "expires": NOW + timedelta(hours=1),
        "decided_by": "U0CARA001",
        "decided_at": NOW,
    }
    return change_of(own | more)


OPEN: Final = change(Kind.RULE_DELETE, State.PROPOSED, Guard.APPROVE)
GROUPS: Final = Groups({"Group_0": "Sales"}, frozenset())
ENDING: Final = change(Kind.RULE_CREATE, State.APPLIED, reverts_at=NOW + timedelta(hours=2), reverts_at_as_typed="2h")
LATER: Final[list[Payload]] = [
    {},
    {"reverts_at": NOW + timedelta(hours=2), "reverts_at_as_typed": "2h"},
    {"reverts_at": NOW, "revert_failure": "changed"},
    {"undone_by": "fedcba9876543210" * 2},
    {"glass_broken": True},
    {"waits": "503"},
    {"refusal": LOST_RIGHT, "lost_right": "U0ALICE01", "outcome": Why.DEACTIVATED.value},
]
"""What else may be true of a change, so that its card has other buttons and lines."""


def _cards() -> Iterator[Message]:
    for kind, state, guard, more in product(Kind, State, [Guard.CONFIRM, Guard.APPROVE], LATER):
        card = card_view.card(change(kind, state, guard, **more), places={"rules": "rules.example.com"})
        yield from [card, *(card_view.elsewhere(card, OPS, shared=shared) for shared in (False, True))]


def _lists() -> Iterator[Message]:
    listed = RulesList(text="shop", status="Active", group="sales", sort="changed", page=2)
    yield rule_views.menu()
    yield member_views.menu(sites=("blog", "shop"))
    yield member_views.menu(sites=())
    for command, found in product([RulesList(), listed], [[RULE, SCRIPT], []]):
        page = ListPage(found, 2, 3, 41, 21)
        for known in (None, GROUPS):
            for public in (False, True):
                yield list_views.rule_list(page, command=command, gap=Gap(1, 2), groups=known, public=public)
    for shown in (0, 1, 40):
        many = [Group(id=f"Group_{number}", name="Sales", status="Active") for number in range(shown)]
        yield group_views.group_list(
            many,
            {"Group_0": 2, "Group_x": 1},
            {"Group_0": 1},
            {"rules": Gap(1, 2)},
            command=RulesGroups(),
            public=False,
        )
    for rule in (RULE, SCRIPT):
        yield rule_views.rule_card(rule, command=RulesShow(ref=rule.id), public=False)
    for people in ([ANNA, BERT], []):
        yield member_views.member_list(
            ListPage(people, 2, 3, 41, 21), site="blog", command=MembersList(text="an"), public=False
        )
    for public in (False, True):
        yield member_views.member_card(ANNA, site="blog", command=MembersShow(emails=(ANNA.email,)), public=public)
    yield pending_views.pending(
        [OPEN], [change(Kind.RULE_DELETE, State.APPLIED, glass_broken=True)], {OPEN.id: "https://x"}, total=41
    )
    yield pending_views.pending([], [], {}, total=0)
    yield pending_views.timers([ENDING], {})


def _records() -> Iterator[Message]:
    entry = Entry(1, NOW, "applied", OPEN.id, "rules/Redirect_x1", "U0ALICE01", OPS, "https://x", {"reason": "x"}, "")
    for found in ([entry], []):
        yield audit_view.entries(found, {}, {}, Filters(), more=bool(found), public=True, command=GatehouseAudit())
    yield audit_view.history([OPEN, ENDING], {OPEN.id: "https://x"}, command=RulesHistory(ref="Redirect_x1"))
    for purpose in ("remind", "offer", "review", "break_glass", "left", "ask-0"):
        for one in (OPEN, ENDING, change(Kind.RULE_DELETE, State.APPLIED, glass_broken=True)):
            if (note := notes_view.note(one, purpose)) is not None:
                yield note


def _answers() -> Iterator[Message]:
    for topic in (None, "rules", "members grant"):
        yield gatehouse_views.help_page(topic, may=lambda _: True)
    yield gatehouse_views.status({"rules": "ok", "members": "503"}, places={"rules": "x"}, counts={"applied": 3})
    allowed = {"rule.read": None, "rule.delete": Why.NO_ROLE}
    yield gatehouse_views.whoami(Person("U0ALICE01"), OPS, allowed, {}, sites=["blog"], act=[OPS])
    yield table.problem(Words("Rules does not answer.", "a cable", "wait"), asked="list", reference="r1")
    yield table.unclear(Unclear("There is no “lst”.", suggestion="rules list"), asked="lst")
    for error in (NotOne("shop", [RULE, SCRIPT], 7), NotOne("shop", [], 0), NotOne("shop", [], 0, near=[RULE])):
        yield table.not_one(error, asked="show shop")


def _views() -> Iterator[Payload]:
    yield menus.rule_modal(OPS)
    yield menus.member_modal(OPS)
    new = RuleForm.blank(name="Old shop", source="https://shop.example.com/old", channel=OPS, expiry="2h")
    for rule in (
        new,
        new.with_pair(),
        RuleForm.blank(),
        RuleForm.of(RULE, channel=OPS),
        RuleForm.copy_of(RULE, channel=OPS),
        RuleForm.of(SCRIPT, channel=OPS),
        RuleForm.of(RULE, channel=OPS).noted({"": "It was changed meanwhile.", "name": "Too long."}),
    ):
        yield rule.view()
    for member in (
        MemberForm.blank(site="blog", known=("vip", "new"), email=ANNA.email, segments=("vip",), expiry="2h"),
        MemberForm.blank(site="blog", known=()),
        MemberForm.of(ANNA, site="blog", known=("vip",), channel=OPS),
    ):
        yield member.view()
    for name in notes_view.WORDS:
        yield notes_view.reason_form(name, OPEN, title="Delete Old shop", channel=OPS)
    yield from [modals.loading("Edit rule"), modals.working(modals.loading("Edit rule")), modals.outdated()]
    yield from [modals.done("Gatehouse", "Saved."), modals.notice(rule_views.menu())]


def _skeleton(found: Any) -> Any:
    """*found* without its words: two payloads of one skeleton differ in nothing that a mutation could tell apart."""
    if isinstance(found, dict):
        return {name: found[name] if name == "type" else _skeleton(found[name]) for name in found}
    return [_skeleton(one) for one in found] if isinstance(found, list | tuple) else type(found).__name__


def _different(found: Iterator[Payload]) -> list[Payload]:
    return list({json.dumps(_skeleton(one)): one for one in found}.values())


def messages() -> list[Payload]:
    """The bot's messages, one of each skeleton."""
    said = [*_cards(), *_lists(), *_records(), *_answers()]
    return _different({"blocks": list(json.loads(json.dumps(one.blocks)))} for one in said)


def views() -> list[Payload]:
    """The bot's modals, one of each skeleton."""
    return _different(json.loads(json.dumps(one)) for one in _views())
