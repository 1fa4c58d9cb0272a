"""The app's home."""

from __future__ import annotations

import pytest

from handlers.gatehouse import home
from sandbox.slack import rendering
from tests.conftest import GENERAL, OPS
from tests.harness.colleague import Colleague

OLD = "Redirect_x1old"


async def test_what_waits_is_shown_to_those_who_can_settle_it_and_to_no_others(
    alice: Colleague, cara: Colleague
) -> None:
    await alice.says(f"/rules delete {OLD} because it loops")

    await cara.opens_home("it loops")
    mine = rendering.view(await alice.opens_home("Nothing is waiting for you"))

    waiting = mine.partition("Yours, planned and temporary")[2]
    assert "Old shop to new shop" in waiting
    assert f"@{cara.id}" in waiting


async def test_open_changes_that_were_not_looked_at_are_counted(
    alice: Colleague, cara: Colleague, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(home, "MAX_OPEN", 1)
    for rule_id in (OLD, "Redirect_chk01"):
        await alice.says(f"/rules delete {rule_id} because it loops")

    theirs = rendering.view(await cara.opens_home("Waiting for you"))
    assert "1 more change is open, and may wait for you: `/gatehouse pending`" in theirs
    assert "Nothing is waiting for you" not in rendering.view(await alice.opens_home("1 more change is open"))


async def test_a_switch_from_the_home_asks_the_same(alice: Colleague) -> None:
    await alice.clicks(await alice.opens_home("Switch off…"), "Switch off…", opens="Announce in")
    await alice.finds("Which rule?", "old shop")
    alice.fills(Announce_in=GENERAL)
    assert await alice.submits() == {}
    await alice.sees_form("only accepts changes in channels it is in")

    alice.fills(Announce_in=OPS)
    assert await alice.submits() == {}
    assert (await alice.sees_change(of=OLD)).channel == OPS
