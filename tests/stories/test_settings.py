"""What a channel has set: shown to everybody, changed by those who may, on record."""

from __future__ import annotations

import asyncio

from bot.store.audit import Filters
from handlers.gatehouse.home_view import FIRST
from sandbox.demo import Sandbox
from tests.conftest import until
from tests.harness.colleague import Colleague

ANNA = "anna.berg@example.com"
SUPPORT = "C0SUPPORT"


async def chosen(person: Colleague, **fields: str) -> None:
    """Change the settings of the channel where *person* is."""
    card = await person.says("/gatehouse settings")
    await person.clicks(card, "Change…", opens="Default site")
    person.fills(**fields)
    assert await person.submits() == {}
    await person.sees_form("saved")


async def test_the_default_site_of_a_channel_counts_there_and_nowhere_else(bob: Colleague, alice: Colleague) -> None:
    assert "`blog` (the first site)" in bob.slack_text(await bob.says("/gatehouse settings"))

    await chosen(bob, Default_site="docs")

    assert "members of docs" in bob.slack_text(await bob.says("/members list"))
    assert "members of blog" in bob.slack_text(await bob.says("/members list site:blog"))
    assert "members of blog" in alice.slack_text(await alice.says("/members list"))
    assert "Default site\n`docs`" in bob.slack_text(await bob.says("/gatehouse settings"))


async def test_a_change_is_on_record_with_what_was_before(workspace: Sandbox, bob: Colleague) -> None:
    await chosen(bob, Default_site="docs")
    await chosen(bob, Default_site=FIRST, Extra_segments="gold")

    text = bob.slack_text(await bob.says("/gatehouse audit"))
    assert f"changed the settings of #{SUPPORT}" in text
    entries = [one async for one in workspace.bot.gatehouse.store.audit.all(Filters())]
    details = [one.detail for one in entries if one.event == "settings"]
    assert details == [
        {"before": {"site": ""}, "now": {"site": "docs"}},
        {"before": {"segments": "", "site": "docs"}, "now": {"segments": "gold", "site": ""}},
    ]


async def test_two_at_once_and_one_learns_of_the_other(workspace: Sandbox, bob: Colleague) -> None:
    cara = Colleague(workspace, "U0CARA001", SUPPORT)
    for person, site in ((bob, "docs"), (cara, "blog")):
        card = await person.says("/gatehouse settings")
        await person.clicks(card, "Change…", opens="Default site")
        person.fills(Default_site=site)

    await asyncio.gather(bob.submits(), cara.submits())
    await until(lambda: "saved" in bob.form + cara.form and "Someone else changed" in bob.form + cara.form)

    assert (await workspace.bot.gatehouse.store.channel_settings.get(SUPPORT))["site"] in {"docs", "blog"}


async def test_too_much_is_said_under_the_field(workspace: Sandbox, bob: Colleague) -> None:
    card = await bob.says("/gatehouse settings")
    await bob.clicks(card, "Change…", opens="Default site")

    bob.fills(Extra_segments=",".join(map(str, range(40))))
    assert " 30 " in (await bob.submits())["Extra segments"]
    bob.fills(Extra_segments="x" * 100)
    assert " 75 " in (await bob.submits())["Extra segments"]


async def test_a_site_that_is_gone_is_not_replaced_by_another(workspace: Sandbox, bob: Colleague) -> None:
    await workspace.bot.gatehouse.store.channel_settings.change(SUPPORT, {}, {"site": "old"}, by="U0CARA001")

    reply = await bob.is_refused(f"/members grant {ANNA} vip")
    assert all(site in bob.slack_text(reply) for site in ("`old`", "`site:blog`", "`site:docs`"))
    assert workspace.services.members.calls("POST") == []
    assert "no longer exists" in bob.slack_text(await bob.says("/gatehouse settings"))

    await bob.says(f"/members grant {ANNA} vip site:blog")
    await bob.sees_change(of=ANNA)
