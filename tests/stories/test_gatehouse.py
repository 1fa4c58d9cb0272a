"""Help, status, who am I."""

from __future__ import annotations

import pytest
import sqlalchemy as sa

from bot import __version__
from bot.changes.model.states import State
from bot.store.tables import DATA_VERSION, USE, settings
from handlers.explain.table import says_unchanged
from sandbox.demo import Sandbox
from sandbox.gatehouse import CARA
from sandbox.services.seed import RULES
from tests.harness.colleague import Colleague
from tests.harness.scraping import read_readiness


async def test_status_tells_what_answers(workspace: Sandbox, alice: Colleague) -> None:
    reply = await alice.says("/gatehouse status")
    assert "Everything works" in alice.slack_text(reply)
    assert f"Gatehouse {__version__}" in alice.slack_text(reply)

    workspace.services.rules.stage.faults.add("500", times=9)
    reply = await alice.says("/gatehouse status")
    assert "Everything else works" in alice.slack_text(reply)


@pytest.mark.parametrize(
    ("fault", "said"), [("429", "is rate-limiting Gatehouse (429)"), ("503", "is not available for a while (503)")]
)
async def test_status_tells_a_service_that_is_away_from_one_that_is_busy(
    workspace: Sandbox, alice: Colleague, fault: str, said: str
) -> None:
    workspace.services.rules.stage.faults.add(fault, value=60)

    reply = await alice.says("/gatehouse status")

    assert f"The rules service {said}." in alice.slack_text(reply)


async def test_once_another_release_runs_nothing_is_decided_or_begun_and_everybody_is_told(
    workspace: Sandbox, alice: Colleague
) -> None:
    cara, store = Colleague(workspace, CARA.id, alice.channel), workspace.bot.gatehouse.store
    await alice.says("/rules delete Redirect_chk01")
    card = await alice.sees_change(state=State.PROPOSED)
    async with store.transaction() as tx:
        await tx.execute(sa.update(settings).filter_by(**USE).values(value=str(DATA_VERSION + 1)))

    await cara.clicks(card, "v1.decide.approve", confirm=True)
    await cara.sees_problem()
    reply = await alice.says("/rules off Redirect_chk01")
    status = alice.slack_text(await alice.says("/gatehouse status"))
    ready, parts = await read_readiness(workspace.bot_url)

    assert says_unchanged(reply.blocks)
    assert f"a release with data version {DATA_VERSION + 1} took over" in status
    assert (ready, "took over" in parts["release"]) == (503, True)
    assert {call.method for call in workspace.services.rules.calls()} == {"GET"}
    assert await store.changes.count_by_state() == {"proposed": 1}


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("/gatehouse whoami", "You can do everything"),
        ("/rules list", f"{len(RULES)} rules"),
        ("/rules which https://shop.example.com/old", "Old shop to new shop"),
        ("/members show anna.berg@example.com", "Anna Berg"),
    ],
)
async def test_what_changes_nothing_waits_for_no_change(
    workspace: Sandbox, alice: Colleague, text: str, answer: str
) -> None:
    await alice.says("/rules list")  # which is remembered for #1, #2, …

    async with workspace.bot.gatehouse.store.transaction():  # somebody's change is being recorded
        assert answer in alice.slack_text(await alice.says(text))
