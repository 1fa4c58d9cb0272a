"""Guests, strangers and accounts that are gone can't use Gatehouse: no command, button, form, menu or home is theirs.

What there is comes from the registries, so that a new command is covered as soon as there is one.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
import sqlalchemy as sa

from bot.changes.model.states import State
from bot.gatehouse import Gatehouse
from bot.policy.model import Why
from bot.store.audit import Filters
from bot.store.tables import inbox
from handlers.blocks import modals
from handlers.explain.why_not import WHY_NOT
from handlers.grammar import parser
from handlers.grammar.parser import ALL
from handlers.slack.registry import CLICKS, EVENTS, FORMS, OPTIONS, RUNNING, SHORTCUTS, Form
from handlers.slack.reply import Caller
from sandbox.demo import Sandbox
from sandbox.services.seed import RULES
from sandbox.slack import payloads
from sandbox.slack.message import Message
from sandbox.slack.people import User
from sandbox.slack.state import View
from tests.conftest import OPS, SUPPORT, Clock, until
from tests.harness.colleague import Colleague, undone
from tests.harness.payloads import Forger
from tests.harness.truth import changes_of

NOBODY = pytest.mark.parametrize(
    ("user", "words"),
    [
        ("U0DAN0001", WHY_NOT[Why.GUEST].what),
        ("U0FRANK01", WHY_NOT[Why.STRANGER].what),
        ("U0ERIN001", WHY_NOT[Why.DEACTIVATED].what),
    ],
)


async def nothing_came_of_it(workspace: Sandbox, user: str) -> None:
    """No service was asked, nothing was recorded but refusals, and of those few."""
    assert [one for one in workspace.slack.state.traffic if one["direction"] == "bot_to_service"] == []
    store = workspace.bot.gatehouse.store
    assert await changes_of(store, user) == []
    found = await store.audit.find(Filters(), limit=100)
    assert {(entry.event, entry.actor) for entry in found} <= {("refused", user)}
    assert len(found) < 10


@pytest.mark.first(1)
@pytest.mark.threat("A6")
@NOBODY
async def test_no_command_answers_them(workspace: Sandbox, clock: Clock, user: str, words: str) -> None:
    forger = Forger(workspace, user, SUPPORT)
    for number, kind in enumerate(ALL, 1):
        assert type(parser.parse(kind.service, kind.example)) is kind, kind
        clock.ahead += timedelta(seconds=2)

        await forger.types(f"/{kind.service} {kind.example}")
        await forger.hears(words, times=number)

    assert len(forger.told) == len(ALL)
    await nothing_came_of_it(workspace, user)


@pytest.mark.slow
@pytest.mark.threat("A6")
@NOBODY
async def test_no_button_answers_them(workspace: Sandbox, user: str, words: str) -> None:
    forger = Forger(workspace, user, SUPPORT)
    message = Message("1.1", SUPPORT, workspace.slack.state.workspace.bot.id, "Buttons", [])
    for number, action in enumerate(sorted(CLICKS.keys() | RUNNING), 1):
        await forger.clicks(message, f"v1.{action}", "rules list" if action in RUNNING else "a" * 32)
        await forger.hears(words, times=number)

    assert len(forger.told) == number
    await nothing_came_of_it(workspace, user)


@NOBODY
async def test_no_shortcut_answers_them(workspace: Sandbox, user: str, words: str) -> None:
    forger = Forger(workspace, user, SUPPORT)
    message = Message("1.1", SUPPORT, user, "https://shop.example.com/old anna.berg@example.com", [])
    for callback_id in SHORTCUTS:
        await forger.uses(callback_id, message)

    await forger.hears(words, times=len(SHORTCUTS))
    assert len(forger.told) == len(SHORTCUTS)
    await nothing_came_of_it(workspace, user)


def view(callback_id: str) -> View:
    metadata = json.dumps({"channel": OPS, "change": "a" * 32, "name": "deny"})
    title = {"type": "plain_text", "text": "Forged"}
    return {
        "id": "V0FORGED1",
        "type": "modal",
        "callback_id": callback_id,
        "private_metadata": metadata,
        "hash": "1",
        "title": title,
        "blocks": [],
    }


@pytest.fixture
def saved() -> Iterator[list[str]]:
    """Who a form was saved for: one that has no errors, and so comes as far as any form can."""
    found: list[str] = []

    async def save(view: View, caller: Caller, gatehouse: Gatehouse) -> View:
        found.append(caller.user)
        return modals.done_view("Form", "Saved.")

    FORMS["v1.test"] = Form(lambda view: view, save)
    yield found
    del FORMS["v1.test"]


@pytest.mark.slow
@NOBODY
async def test_no_form_is_saved_for_them(workspace: Sandbox, saved: list[str], user: str, words: str) -> None:
    forger = Forger(workspace, user, SUPPORT)
    for callback_id in FORMS:
        await forger.submits(view(callback_id))
    await Forger(workspace, "U0ALICE01", OPS).submits(view("v1.test"))

    await until(lambda: bool(saved))
    assert saved == ["U0ALICE01"]
    await nothing_came_of_it(workspace, user)


@pytest.mark.threat("A6")
@NOBODY
async def test_only_the_first_request_of_theirs_is_stored(workspace: Sandbox, user: str, words: str) -> None:
    forger = Forger(workspace, user, SUPPORT)
    for number in range(1, 5):
        await forger.types(f"/rules off Redirect_x{number}")
        await forger.hears(words, times=number)

    async with workspace.bot.gatehouse.store.session.reading() as connection:
        assert await connection.scalar(sa.select(sa.func.count()).select_from(inbox)) == 1


async def test_a_guest_who_becomes_a_member_is_let_in(workspace: Sandbox, clock: Clock) -> None:
    dan, users = Colleague(workspace, "U0DAN0001", SUPPORT), workspace.slack.state.users
    await dan.is_refused("/rules off Redirect_x1old")

    users[dan.id] = replace(users[dan.id], is_guest=False)
    clock.ahead += timedelta(minutes=2)

    assert (await dan.change_of(await dan.says("/rules off Redirect_x1old"))).state is State.APPLIED


@NOBODY
async def test_no_menu_offers_them_anything(workspace: Sandbox, user: str, words: str) -> None:
    forger = Forger(workspace, user, SUPPORT)

    for name in OPTIONS:
        assert await forger.asks_options(view("v1.any"), f"v1.{name}.1", "a") == {"options": []}

    await nothing_came_of_it(workspace, user)


async def test_no_mention_message_or_home_answers_a_guest(workspace: Sandbox) -> None:
    dan = Colleague(workspace, "U0DAN0001", SUPPORT)
    bot = workspace.slack.state.workspace.bot.id
    said = {"user": dan.id, "text": f"<@{bot}> rules list", "ts": "1.1"}
    happened: dict[str, dict[str, Any]] = {
        "app_mention": {"type": "app_mention", "channel": SUPPORT, **said},
        "message.im": {"type": "message", "channel_type": "im", "channel": dan.dm, **said, "text": "rules list"},
        "app_home_opened": {"type": "app_home_opened", "tab": "home", "user": dan.id, "channel": dan.dm},
    }
    assert happened.keys() == EVENTS.keys()

    for event in happened.values():
        await workspace.slack.delivery.send_event(payloads.event(workspace.slack.state, event))

    await Forger(workspace, dan.id, SUPPORT).hears(WHY_NOT[Why.GUEST].what)
    await until(lambda: len(dan.dms) == 1 and dan.home is not None)
    assert WHY_NOT[Why.GUEST].what in dan.slack_text(dan.dms[0])
    assert WHY_NOT[Why.GUEST].what in str(dan.home)
    await nothing_came_of_it(workspace, dan.id)


@pytest.mark.parametrize("home", ["T0OTHER01", ""])
async def test_a_member_of_the_same_enterprise_grid_is_a_colleague(workspace: Sandbox, home: str) -> None:
    """Their home is another workspace of the enterprise, or Slack names none; ours is among those that they are in."""
    gina = User("U0GINA001", "gina", "Gina Ruiz", "On call", "#2a6f97", home=home, grid=("T0OTHER01", "T0GATE001"))
    state = workspace.slack.state
    state.users[gina.id] = gina
    state.channels[OPS] = replace(state.channels[OPS], members=(*state.channels[OPS].members, gina.id))
    someone = Colleague(workspace, gina.id, OPS)

    card = await someone.says("/rules off Redirect_x1old")
    assert (await someone.change_of(card)).state is State.APPLIED
    await someone.clicks(card, "Undo")
    await someone.sees_change(where=undone)

    await someone.types("@gatehouse rules list")
    await someone.sees(f"{len(RULES)} rules")
