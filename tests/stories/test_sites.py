"""Several sites: which one is meant, what is said of the others, and each with its own key."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import SecretStr

from bot.changes.model.states import State
from bot.server.app import running
from handlers.explain.table import is_problem, says_unchanged
from sandbox.demo import Sandbox, settings
from tests.conftest import QUICK, busy_sandbox
from tests.harness.colleague import Colleague
from tests.harness.looking import approve_card

ANNA = "anna.berg@example.com"
INES = "ines.quist@example.com"
"""On docs alone."""


@pytest.mark.first(3)
@pytest.mark.parametrize("site", ["docs", "Docs", "site_2"])
@pytest.mark.parametrize("text", ["site:{} show ANNA", "show site:{} ANNA", "show ANNA site:{}"])
async def test_a_site_may_be_named_anywhere(workspace: Sandbox, bob: Colleague, text: str, site: str) -> None:
    workspace.services.members.put("site_2", {"name": "Anna of docs", "email": ANNA, "allowedSegments": []})
    words = text.format(site).replace("ANNA", ANNA)

    assert "Anna of docs" in bob.slack_text(await bob.says(f"/members {words}"))


async def test_whoever_is_only_on_another_site_is_found_there_by_a_click(workspace: Sandbox, bob: Colleague) -> None:
    workspace.services.members.put("site_2", {"name": "Di Docs", "email": INES, "allowedSegments": ["free"]})
    reply = await bob.says(f"/members grant {INES} vip because she paid")
    assert says_unchanged(reply.blocks)
    assert f"`{INES}`" in bob.slack_text(reply)

    await bob.clicks(reply, "Use docs")
    await bob.sees_change(of=INES)

    assert (workspace.services.members.get("site_2", INES) or {})["allowedSegments"] == ["free", "vip"]
    assert workspace.services.members.get("site_1", INES) is None


async def test_a_removal_meanwhile_is_no_grant(workspace: Sandbox, bob: Colleague, cara: Colleague) -> None:
    await bob.opens(f"/members edit {ANNA}")
    card = await cara.says(f"/members remove {ANNA}", "C0SUPPORT")
    workspace.services.members.remove("site_1", ANNA)

    bob.fills(Name="Anna Late")
    assert await bob.submits() == {}
    assert is_problem((await bob.sees_view("v1.notice"))["blocks"])
    await approve_card(bob, card)
    await bob.sees_change(state=State.STALE)
    await bob.is_refused(f"/members grant {ANNA} vip")
    assert [call.method for call in workspace.services.members.calls() if call.method != "GET"] == []


async def test_each_site_has_its_key(tmp_path: Path) -> None:
    async with busy_sandbox(tmp_path / "one") as sandbox:
        sandbox.services.members.keys["site_2"] = "key=of.docs"
        bob = Colleague(sandbox, "U0BOB0001", "C0SUPPORT")
        text = bob.slack_text(await bob.says("/members list site:docs"))
        assert "Invalid API key" in text
        assert "MEMBERS_API_KEYS" in text

        chosen = settings(sandbox.slack, sandbox.services, tmp_path / "two.db")
        keys = {"docs": SecretStr("key=of.docs")}
        async with running(chosen.model_copy(update={"members_api_keys": keys}), timing=QUICK) as bot:
            assert len((await bot.gatehouse.site("docs").members.all()).known) == 20
            assert len((await bot.gatehouse.site("blog").members.all()).known) == 20


async def test_a_name_goes_before_the_id_of_another_site(tmp_path: Path) -> None:
    async with busy_sandbox(tmp_path / "one") as sandbox:
        chosen = settings(sandbox.slack, sandbox.services, tmp_path / "two.db")
        sites = {"docs": "site_2", "site_2": "site_1"}
        async with running(chosen.model_copy(update={"members_sites": sites}), timing=QUICK) as bot:
            assert {name: bot.gatehouse.site(name).id for name in sites} == sites
