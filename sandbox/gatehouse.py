"""The Slack of Gatehouse's demo and tests: its people, channels and user groups, by name."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from sandbox.slack.people import Channel, Suggestion, User, UserGroup, direct_message
from sandbox.slack.workspace import App, Workspace

BOT: Final = User("U0GATEBOT", "app", "App", "App", "#1f3a4d", is_bot=True)
ALICE: Final = User("U0ALICE01", "alice", "Alice Ng", "On-call engineer", "#2a6f97")
BOB: Final = User("U0BOB0001", "bob", "Bob Ortiz", "Support", "#7a4f9a")
CARA: Final = User("U0CARA001", "cara", "Cara Lind", "Team lead", "#b5541c")
DAN: Final = User("U0DAN0001", "dan", "Dan Fox", "Guest contractor", "#4a6b3a", is_guest=True)
ERIN: Final = User("U0ERIN001", "erin", "Erin Vale", "Was on call", "#6b6257", is_deleted=True)
FRANK: Final = User("U0FRANK01", "frank", "Frank Moss", "Partner company", "#8a3b52", is_stranger=True)
STAFF: Final = (ALICE.id, BOB.id, CARA.id)
EVERYBODY: Final = (*STAFF, DAN.id)

HELP: Final = Suggestion("/gatehouse help", "everything I can do for you")
MEMBERS: Final = Suggestion("/members list", "who is in, and in which segments")
CHANNELS: Final = (
    Channel(
        "C0OPS0001",
        "ops-traffic",
        topic="Traffic rules of the shop. Try /rules list",
        members=STAFF,
        suggestions=(
            Suggestion("/rules which https://shop.example.com/old", "where a URL goes, and by which rule"),
            Suggestion("/rules off Old shop for 2h", "off now, on again in two hours"),
            Suggestion("/rules delete Old shop", "then switch to {colleague} and approve"),
            Suggestion("/rules check", "loops, duplicates and rules that never match"),
        ),
    ),
    Channel(
        "C0SUPPORT",
        "support",
        topic="Members of blog and docs. Try /members list",
        members=EVERYBODY,
        suggestions=(
            Suggestion("/members why anna.berg@example.com vip", "why she doesn't get in, and a button to fix it"),
            Suggestion("/members offboard chloe.diaz@example.com", "off every site: switch to {colleague} and approve"),
            MEMBERS,
            HELP,
        ),
    ),
    Channel("C0GENERAL", "general", topic="News for everybody", members=EVERYBODY, bot_is_member=False),
    Channel(
        "C0PARTNER",
        "partners",
        topic="Shared with another company",
        members=(*EVERYBODY, FRANK.id),
        is_ext_shared=True,
    ),
    Channel("C0WARROOM", "war-room", topic="When things are on fire", members=(ALICE.id, CARA.id), is_private=True),
    Channel("C0QUIET01", "alice-notes", topic="Alice, and nobody who could approve", members=(ALICE.id,)),
    *(direct_message(person, BOT) for person in (ALICE, BOB, CARA, DAN)),
)
GROUPS: Final = (
    UserGroup("S0ONCALL", "oncall", "On call", (ALICE.id, CARA.id)),
    UserGroup("S0LEADS", "leads", "Team leads", (CARA.id,)),
)
SHOP: Final = Workspace(
    id="T0GATE001",
    name="Example Shop",
    domain="example-shop",
    app=App("A0GATE001", Path(__file__).with_suffix(".svg"), loading_view="v1.loading"),
    bot=BOT,
    bot_id="B0GATE001",
    people=(ALICE, BOB, CARA, DAN, ERIN, FRANK),
    channels={one.id: one for one in CHANNELS},
    groups={one.id: one for one in GROUPS},
    suggestions=(
        Suggestion("/rules list", "every traffic rule, twenty a page"),
        Suggestion("/rules new", "make one in a form"),
        MEMBERS,
        HELP,
    ),
    proposal={
        "about": "propose to delete a rule, then request it in the direct message",
        "tool": "propose_rules_delete",
        "arguments": {"refs": ["Old shop"], "because": "the new shop is live", "channel": "C0OPS0001"},
    },
)
