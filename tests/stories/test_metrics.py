"""What somebody who watches Gatehouse at night sees of the day: in /metrics, in words of ours alone."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Final

import pytest
import sqlalchemy as sa
from prometheus_client import REGISTRY

from bot.changes.model.states import State
from bot.policy.file import CurrentPolicy
from bot.server.figures import watch_loop
from sandbox.demo import Sandbox, Transport
from tests.conftest import Clock, until
from tests.harness.colleague import Colleague
from tests.harness.scraping import scrape_metrics

OLD: Final = "Redirect_x1old"
LABEL: Final = re.compile(r'(\w+)="([^"]*)"')
OURS: Final = re.compile(r"[A-Za-z0-9_.+-]+( [a-z0-9_.-]+)?|<context block>")
"""A word or two of ours or of the client library, a method, a bucket, or what stamina calls each read that it repeats."""
ID: Final = re.compile(r"[ACDTUW]0[A-Z0-9]{5,}")


async def grown(workspace: Sandbox, before: Mapping[str, float]) -> dict[str, float]:
    """The samples that are more than *before*, and by how much; without buckets and sums."""
    now = await scrape_metrics(workspace.bot_url)
    more = {name: value - before[name] for name, value in now.items() if value > before[name]}
    return {name: by for name, by in more.items() if not re.search("_(bucket|sum)", name)}


@pytest.mark.parametrize("transport", ["http", "socket"])
async def test_commands_calls_and_ends_are_counted(
    workspace: Sandbox, alice: Colleague, cara: Colleague, transport: Transport
) -> None:
    before = await scrape_metrics(workspace.bot_url)

    await alice.says("/rules list checkout")
    await alice.says("/rules show nothing-like-it")
    card = await alice.says(f"/rules delete {OLD}")
    await cara.clicks(card, "v1.decide.approve", confirm=True)
    await alice.sees_change(of=OLD)
    workspace.services.rules.stage.faults.add("500", method="GET", times=9)
    await alice.says("/rules list help")

    more = await grown(workspace, before)
    commands = {name: by for name, by in more.items() if name.startswith("gatehouse_command_seconds_count")}
    assert commands == {
        'gatehouse_command_seconds_count{command="rules list",outcome="answered"}': 1,
        'gatehouse_command_seconds_count{command="rules list",outcome="trouble"}': 1,
        'gatehouse_command_seconds_count{command="rules show",outcome="refused"}': 1,
        'gatehouse_command_seconds_count{command="rules delete",outcome="answered"}': 1,
        'gatehouse_command_seconds_count{command="click decide.approve",outcome="answered"}': 1,
    }
    assert more['gatehouse_acknowledgement_seconds_count{kind="command"}'] == 4
    assert more['gatehouse_acknowledgement_seconds_count{kind="click"}'] == 1
    calls = "gatehouse_service_call_seconds_count"
    assert more[f'{calls}{{method="DELETE",service="rules",status="2xx"}}'] == 1
    assert more[f'{calls}{{method="GET",service="rules",status="5xx"}}'] == 3, "each try"
    assert more['gatehouse_ended_changes_total{kind="rule.delete",state="applied"}'] == 1
    assert more['gatehouse_slack_call_seconds_count{method="chat.postMessage",outcome="ok"}'] >= 1
    assert more["gatehouse_delivered_messages_total"] >= 1
    assert ("gatehouse_accepted_requests_total" in more) is (transport == "http")


async def test_what_is_not_understood_is_counted_by_its_error(workspace: Sandbox, alice: Colleague) -> None:
    before = await scrape_metrics(workspace.bot_url)

    for text in ("/rules frobnicate swordfish", "/gatehouse flurbl", "/members why zed", "/rules show nothing-like-it"):
        await alice.says(text)

    more = await grown(workspace, before)
    assert {name: by for name, by in more.items() if "not_understood" in name} == {
        'gatehouse_not_understood_total{error="Unclear"}': 2,
        'gatehouse_not_understood_total{error="BadEmail"}': 1,
        'gatehouse_not_understood_total{error="NotOne"}': 1,
    }


async def test_what_is_open_shows_with_its_age_until_it_ends(
    workspace: Sandbox, alice: Colleague, clock: Clock
) -> None:
    card = await alice.says(f"/rules delete {OLD}")
    clock.ahead += timedelta(hours=2)

    now = await scrape_metrics(workspace.bot_url)
    assert now['gatehouse_backlog{what="proposed"}'] == 1
    assert 7200 <= now['gatehouse_backlog_oldest_seconds{what="proposed"}'] < 7300

    await alice.clicks(card, "Withdraw")
    await alice.sees_change(state=State.CANCELLED)
    now = await scrape_metrics(workspace.bot_url)
    assert now['gatehouse_backlog{what="proposed"}'] == 0
    assert now['gatehouse_backlog_oldest_seconds{what="proposed"}'] == 0
    assert 'gatehouse_backlog{what="proposed"}' in now, "nothing is a number, too"


async def test_requests_that_a_change_overtook_are_counted(workspace: Sandbox, alice: Colleague) -> None:
    before = await scrape_metrics(workspace.bot_url)
    await alice.says(f"/rules delete {OLD}")
    await alice.says(f"/rules off {OLD}")
    await alice.sees_change(of=OLD)

    more = await grown(workspace, before)

    ends = {name: by for name, by in more.items() if name.startswith("gatehouse_ended_changes_total")}
    assert ends == {
        'gatehouse_ended_changes_total{kind="rule.update",state="applied"}': 1,
        'gatehouse_ended_changes_total{kind="rule.delete",state="stale"}': 1,
    }


async def test_a_bulk_change_and_its_items_are_counted(workspace: Sandbox, alice: Colleague) -> None:
    before = await scrape_metrics(workspace.bot_url)
    await alice.says(f"/rules off {OLD},Redirect_chk01")
    await until(lambda: len(workspace.services.rules.calls("PUT")) == 2)
    await alice.sees_set(applied=2)

    async def ends() -> dict[str, float]:
        more = await grown(workspace, before)
        return {name: by for name, by in more.items() if name.startswith("gatehouse_ended_changes_total")}

    assert await ends() == {
        'gatehouse_ended_changes_total{kind="rule.update",state="applied"}': 2,
        'gatehouse_ended_changes_total{kind="bulk",state="applied"}': 1,
    }


async def test_what_slack_does_not_take_shows(workspace: Sandbox, alice: Colleague, clock: Clock) -> None:
    before = await scrape_metrics(workspace.bot_url)
    workspace.slack.faults.add("429", method="chat.postMessage", times=99, seconds=0)
    await alice.types(f"/rules off {OLD}")
    await until(lambda: workspace.slack.faults.waiting[0].times <= 96)
    await until(lambda: not alice.cards and bool(workspace.services.rules.calls("PUT")))

    more = await grown(workspace, before)
    assert more["gatehouse_slack_rate_limits_total"] >= 3
    workspace.slack.faults.clear()
    clock.ahead += timedelta(seconds=5)
    await alice.sees_change(of=OLD)


async def test_a_database_that_does_not_answer_shows(workspace: Sandbox, alice: Colleague) -> None:
    await alice.says(f"/rules delete {OLD}")
    async with workspace.bot.gatehouse.store.transaction() as tx:
        await tx.execute(sa.text("ALTER TABLE outbox RENAME TO elsewhere"))

    now = await scrape_metrics(workspace.bot_url)

    async with workspace.bot.gatehouse.store.transaction() as tx:
        await tx.execute(sa.text("ALTER TABLE elsewhere RENAME TO outbox"))
    assert now['gatehouse_ready{part="store"}'] == 0
    assert not any(name.startswith("gatehouse_backlog") for name in now)


@pytest.mark.policy('[roles.all]\nusers = ["U0ALICE01"]\nmay = ["*"]\n')
async def test_a_policy_that_became_wrong_shows(workspace: Sandbox, policy: Path) -> None:
    assert (await scrape_metrics(workspace.bot_url))["gatehouse_policy_broken"] == 0

    policy.write_text("[roles.all]\nmay = 1\n")
    current = workspace.bot.gatehouse.access.policy
    assert isinstance(current, CurrentPolicy)
    current.look()
    current.look()  # nobody writes it any more

    assert (await scrape_metrics(workspace.bot_url))["gatehouse_policy_broken"] == 1


async def test_that_slack_does_not_say_who_somebody_is_shows(workspace: Sandbox, alice: Colleague) -> None:
    before = await scrape_metrics(workspace.bot_url)
    workspace.slack.faults.add("internal_error", method="users.info")

    await alice.says("/rules list")

    more = await grown(workspace, before)
    assert more['gatehouse_directory_failures_total{what="person"}'] == 1
    assert more['gatehouse_command_seconds_count{command="rules list",outcome="trouble"}'] == 1


async def test_no_label_holds_what_somebody_typed(workspace: Sandbox, alice: Colleague, bob: Colleague) -> None:
    for text in (
        "/rules anna.berg@example.com",
        "/rules https://shop.example.com/x",
        "/rules frobnicate",
        "/rules ünï",
    ):
        await alice.replied(text)
    await bob.replied("/members show anna.berg@example.com")
    await alice.types("@gatehouse why is https://shop.example.com/old broken")
    await alice.sees("shop.example.com")
    await alice.opens("/rules new")
    await alice.opens_home("Gatehouse")

    labels = {value for name in await scrape_metrics(workspace.bot_url) for _, value in LABEL.findall(name)}

    assert "rules list" in labels or "rules which" in labels
    assert [value for value in labels if not OURS.fullmatch(value)] == []
    assert [value for value in labels if ID.search(value) or "frobnicate" in value] == []


async def test_the_event_loop_is_watched() -> None:
    def measured() -> float:
        return REGISTRY.get_sample_value("gatehouse_event_loop_lag_seconds_count") or 0.0

    before = measured()
    watching = asyncio.create_task(watch_loop(every=0))
    await until(lambda: measured() > before)
    watching.cancel()
