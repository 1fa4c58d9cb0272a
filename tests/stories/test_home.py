"""The app's home."""

from __future__ import annotations

from datetime import timedelta

import pytest

from sandbox.demo import Sandbox
from sandbox.services.seed import RULES
from sandbox.slack import rendering
from tests.conftest import Clock
from tests.harness.colleague import Colleague, ended
from tests.stories.test_break_glass import ANNA, BREAK_GLASS, granted_alone

OLD = "Redirect_x1old"


async def test_what_waits_is_shown_to_those_who_can_settle_it_and_to_no_others(
    alice: Colleague, cara: Colleague
) -> None:
    await alice.says(f"/rules delete {OLD} because it loops")

    await alice.says("/rules off Redirect_chk01")

    await cara.opens_home("it loops")
    mine = rendering.view(await alice.opens_home("Nothing is waiting for you"))

    waiting, latest = mine.partition("Yours, waiting for others")[2].split("Your latest changes")
    assert "Old shop to new shop" in waiting
    assert f"@{cara.id}" in waiting
    assert "Old shop" not in latest
    assert "Checkout" in latest


async def test_a_bulk_change_and_the_end_of_a_temporary_one_are_told_once(
    workspace: Sandbox, alice: Colleague, clock: Clock
) -> None:
    await alice.says(f"/rules off {OLD} Redirect_chk01")
    await alice.sees_set(applied=2)
    await alice.says("/rules off Redirect_help1 for 2h")
    clock.ahead += timedelta(hours=2, minutes=1)
    workspace.bot.wake_workers()
    await alice.sees_change(where=ended)

    latest = rendering.view(await alice.opens_home("Your latest changes")).partition("Your latest changes")[2]
    assert latest.count("2 rules") == 1
    assert latest.count("Help centre") == 1
    assert "Old shop" not in latest


@pytest.mark.policy(BREAK_GLASS)
async def test_a_review_that_is_due_waits_for_those_who_can_sign_it(alice: Colleague, cara: Colleague) -> None:
    await granted_alone(alice, f"/members grant {ANNA} beta")

    assert "Anna Berg" in cara.slack_text(await cara.says("/gatehouse pending"))
    theirs = await cara.opens_home("Review due")
    own = await alice.opens_home("Nothing is waiting for you")

    assert "Anna Berg" in rendering.view(theirs)
    assert "Anna Berg" not in rendering.view(own).partition("Your latest changes")[0]


async def test_services_are_looked_at_when_it_is_opened(workspace: Sandbox, alice: Colleague) -> None:
    workspace.services.rules.stage.faults.add("500", times=3)
    home = await alice.opens_home("rules doesn’t answer")

    await alice.clicks(home, "Refresh")

    await alice.opens_home(f"rules ok, {len(RULES)}")


async def test_a_rule_is_found_and_shown_in_a_modal(workspace: Sandbox, alice: Colleague) -> None:
    home = await alice.opens_home("Find a rule")
    offered = await alice.offered(home, "v1.pick.rule.home", "old shop")

    await alice.chooses(home, "v1.pick.rule.home", next(iter(offered.values())))

    await alice.sees_form(OLD)


async def test_buttons_answer_in_a_modal_and_pages_turn_there(workspace: Sandbox, alice: Colleague) -> None:
    home = await alice.opens_home("List rules")
    await alice.clicks(home, "List rules")
    modal = await alice.sees_form("Page 1 of 2")

    await alice.clicks(modal, "Next ›")

    await alice.sees_form("Page 2 of 2")
    assert len(workspace.slack.state.stack(alice.id)) == 1
