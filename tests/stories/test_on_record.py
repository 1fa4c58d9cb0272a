"""Everything that was asked, decided, done or refused can be read again, and nobody can alter it unseen."""

from __future__ import annotations

from datetime import timedelta

import pytest

from bot.changes.model.edits import Kind, Target
from bot.changes.model.states import State
from bot.store.audit import Filters
from sandbox.demo import Sandbox
from sandbox.services.running import MEMBERS_KEY, RULES_KEY
from tests.harness.colleague import Colleague, undone
from tests.harness.proposing import with_fields
from tests.texts.cards import MOVED, NOW, OLD_SHOP, change

OLD = "Redirect_x1old"
ANNA = "anna.berg@example.com"


async def test_what_was_done_is_found_by_whatever_a_person_may_write(
    alice: Colleague, bob: Colleague, cara: Colleague
) -> None:
    await bob.says(f"/members grant {ANNA} vip")
    card = await alice.says(f"/rules delete {OLD} because it loops")
    await cara.clicks(card, "v1.decide.approve", confirm=True)
    await alice.sees_change(of=OLD)
    deleted = ("Old shop to new shop", "it loops", "@U0CARA001")
    everything = (*deleted, ANNA)

    for words, wanted in {
        "Old shop": deleted,
        "OLD sh": deleted,
        "since yesterday Old shop": deleted,
        "yesterday": everything,
        "last night": everything,
        "last 24h": everything,
        "last week": everything,
        "since last friday Old shop": deleted,
        "@cara": ("Old shop to new shop",),
        "<@U0CARA001|cara>": ("Old shop to new shop",),
        "who: <@U0CARA001|cara>": ("Old shop to new shop",),
        "who:<@U0CARA001>  since: 24h": ("Old shop to new shop",),
        "who:me": ("Old shop to new shop",),
        "Anna Berg": (ANNA,),
        ANNA.upper(): (ANNA,),
    }.items():
        text = alice.slack_text(await alice.says(f"/gatehouse audit {words}"))
        assert [each for each in wanted if each not in text] == [], words
        assert (ANNA in text) == (ANNA in wanted), words


async def test_a_long_history_has_pages(workspace: Sandbox, alice: Colleague) -> None:
    store = workspace.bot.gatehouse.store
    async with store.transaction() as tx:
        for number in range(41):
            made = change(Kind.RULE_UPDATE, State.DENIED, OLD_SHOP, MOVED, reason=f"reason {number:02}")
            target = Target(service="rules", key=OLD)
            made = with_fields(made, id=f"{number:032x}", created=NOW + timedelta(minutes=number), target=target)
            await store.changes.add(tx, made, f"made:{number}")

    page = await alice.says(f"/rules history {OLD}")
    assert "reason 40" in alice.slack_text(page)
    for newest in (20, 0):
        await alice.clicks(page, "Next ›")
        await alice.sees(f"reason {newest:02}")
    assert "Next ›" not in alice.slack_text(page)
    assert "Older changes" not in alice.slack_text(page)


async def test_the_history_of_a_rule_goes_on_under_its_new_id(alice: Colleague, cara: Colleague) -> None:
    await alice.says(f"/rules off {OLD} because it loops")
    card = await alice.says(f"/rules delete {OLD}")
    await cara.clicks(card, "v1.decide.approve", confirm=True)
    done = await alice.sees_change(of=OLD, where=lambda change: change.edit.kind.destroys)
    gone = alice.slack_text(await alice.says(f"/rules history {OLD}"))
    assert "Delete “Old shop" in gone
    await alice.clicks(done, "Undo")
    await alice.sees_change(where=undone)

    text = alice.slack_text(await alice.says(f"/rules history {OLD}"))

    for words in ("Switch off “Old shop", "it loops", "Delete “Old shop", "Restore “Old shop", "undone"):
        assert words in text
    other = alice.slack_text(await alice.says("/rules history Redirect_chk01"))
    assert "hasn’t changed this rule" in other
    await alice.is_refused("/rules history Redirect_never1")


async def test_the_history_of_a_rule_has_what_was_done_to_its_group(alice: Colleague) -> None:
    await alice.says("/rules group off Sales campaigns because too many visitors")
    await alice.sees_change(of="Sales campaigns")

    for rule in ("Redirect_seas1", "Redirect_bfri1"):
        text = alice.slack_text(await alice.says(f"/rules history {rule}"))
        assert "Switch off the group “Sales campaigns”" in text
        assert "too many visitors" in text
    assert "group" not in alice.slack_text(await alice.says("/rules history Redirect_chk01"))


async def test_a_history_says_that_others_changed_the_rule_since(workspace: Sandbox, alice: Colleague) -> None:
    """The stand-in's clock is not the bot's: what was read back after our own change is what counts."""
    rules, since = workspace.services.rules, "wasn’t made through Gatehouse"
    assert since in alice.slack_text(await alice.says(f"/rules history {OLD}"))

    await alice.says(f"/rules off {OLD}")
    assert since not in alice.slack_text(await alice.says(f"/rules history {OLD}"))

    now = rules.get(OLD) or {}
    rules.put(now | {"modificationDate": now["modificationDate"] + 1, "name": "By others"})
    text = alice.slack_text(await alice.says(f"/rules history {OLD}"))
    assert since in text
    assert "Switch off" in text


@pytest.mark.threat("E3")
async def test_a_key_that_a_service_says_back_is_nowhere(workspace: Sandbox, alice: Colleague, bob: Colleague) -> None:
    for stage in (workspace.services.rules.stage, workspace.services.members.stage):
        stage.faults.add("echo", method="PUT|POST|PATCH|DELETE", times=9)
    await alice.says(f"/rules off {OLD}")
    await alice.sees_change(state=State.FAILED)
    await bob.says(f"/members grant {ANNA} vip")
    for stage in (workspace.services.rules.stage, workspace.services.members.stage):
        stage.faults.add("echo", method="GET", times=9)
    await alice.says("/rules list")
    await bob.says(f"/members show {ANNA}")

    entries = [dict(entry.detail) async for entry in workspace.bot.gatehouse.store.audit.all(Filters())]
    told = str([(message.text, message.blocks) for message in workspace.slack.state.messages])
    for key in (RULES_KEY, MEMBERS_KEY):
        assert key not in told
        assert key not in str(entries)
    assert str(entries).count("[secret]") == 2
