"""The bot over Socket Mode: one story of each kind, and what only a websocket can do to them.

All stories over it: ``pytest tests/stories --transport=socket``.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from pathlib import Path

import pytest
from pydantic import SecretStr

from bot.health import WORKS
from bot.server.app import running
from bot.server.manifest import document
from bot.server.socket_mode import ConnectTimeouts
from bot.settings import CannotStart
from sandbox.demo import Sandbox, Transport, running_sandbox, settings
from sandbox.gatehouse import SHOP
from sandbox.services.running import running_services
from sandbox.slack.running import TOKEN, LocalSlack, running_slack
from sandbox.slack.serving import serving
from sandbox.slack.sockets import Connection, Sockets
from sandbox.slack.story import Person
from tests.conftest import OPS, QUICK, until
from tests.harness.scraping import read_readiness

pytestmark = pytest.mark.slow

OLD = "Redirect_x1old"


async def connected(sockets: Sockets) -> list[Connection]:
    """Return both connections: the bot counts one as up with its handshake, a moment before the local Slack lists it."""
    await until(lambda: len(sockets.connections) == 2)
    return [*sockets.connections]


async def replaced(sockets: Sockets, *old: Connection) -> None:
    """Return once there are two connections again, and none of *old*."""
    await until(lambda: len(sockets.connections) == 2 and not {*old} & {*sockets.connections}, seconds=40)


@pytest.fixture
def transport() -> Transport:
    return "socket"


@pytest.mark.threat("A4", "A12")
async def test_a_rule_is_deleted_by_two_once_though_all_comes_twice(
    workspace: Sandbox, alice: Person, cara: Person
) -> None:
    workspace.slack.delivery.twice = True
    card = await alice.says(f"/rules delete {OLD}")

    await cara.clicks(card, "v1.decide.approve", confirm=True)
    await alice.sees("deleted")

    assert len(workspace.services.rules.calls("DELETE")) == 1
    assert len(alice.cards) == 1


@pytest.mark.threat("A12")
async def test_a_form_is_marked_and_then_saved(workspace: Sandbox, bob: Person) -> None:
    await bob.opens("/members add")
    bob.fills(Email="no address", Name="New Person", Segments=["vip"])
    assert "not an email" in (await bob.submits())["Email"]

    bob.fills(Email="new.person@example.com")
    assert await bob.submits() == {}
    await bob.sees("New Person")

    assert workspace.services.members.get("site_1", "new.person@example.com") is not None


async def test_a_refreshed_connection_is_replaced_and_the_story_goes_on(
    workspace: Sandbox, alice: Person, cara: Person
) -> None:
    sockets = workspace.slack.sockets
    card = await alice.says(f"/rules delete {OLD}")
    old, _ = await connected(sockets)

    await sockets.refresh(old)
    await replaced(sockets, old)
    await cara.clicks(card, "v1.decide.approve", confirm=True)
    await alice.sees("deleted")

    assert workspace.services.rules.get(OLD) is None
    opened = [one for one in workspace.slack.state.traffic if one["what"] == "apps.connections.open"]
    assert len(opened) == 3  # a fourth would have replaced the third


@pytest.mark.parametrize("answer", ["500", "html", "text", "wrong_type", "cut_before", "429", "internal_error"])
async def test_an_answer_without_an_address_is_asked_for_again(workspace: Sandbox, alice: Person, answer: str) -> None:
    slack = workspace.slack
    old, _ = await connected(slack.sockets)
    slack.faults.add(answer, method="apps.connections.open", times=4)

    await slack.sockets.refresh(old)
    await replaced(slack.sockets, old)

    assert "4 rules" in alice.slack_text(await alice.says("/rules list checkout"))


async def test_a_start_that_slack_held_up_goes_on_after_a_refusal(tmp_path: Path) -> None:
    hurried = replace(QUICK, connecting=ConnectTimeouts(attempt=0.2, pause=0.1))
    async with (
        running_services(str(tmp_path / "services.db")) as services,
        running_slack(document(None), SHOP) as slack,
    ):
        slack.faults.add("never", method="apps.connections.open", times=2)
        slack.faults.add("invalid_auth", method="apps.connections.open", times=2)
        chosen = settings(slack, services, tmp_path / "gatehouse.db", transport="socket")
        async with running(chosen, timing=hurried):
            await until(lambda: len(slack.sockets.connections) == 2, seconds=40)


async def test_a_token_that_is_refused_for_a_while_is_tried_again(workspace: Sandbox, alice: Person) -> None:
    slack = workspace.slack
    old, _ = await connected(slack.sockets)
    slack.sockets.spent = 1
    await slack.sockets.refresh(old)
    await until(lambda: slack.sockets.spent == 0)
    slack.faults.add("invalid_auth", method="apps.connections.open", times=2)  # once for each that reconnects

    await replaced(slack.sockets, old)

    assert "4 rules" in alice.slack_text(await alice.says("/rules list checkout"))


async def test_a_slack_that_ends_each_connection_at_once_is_not_asked_without_pause(workspace: Sandbox) -> None:
    slack = workspace.slack

    def asked() -> list[float]:
        return [one["at"] for one in slack.state.traffic if one["what"] == "apps.connections.open"]

    await slack.sockets.disable()
    await until(lambda: len(asked()) >= 8)

    times = asked()[2:]  # those after the start; each of the two connections makes its own pause
    assert all(later - earlier >= QUICK.connecting.pause for earlier, later in zip(times, times[2:], strict=False))


def acknowledged(slack: LocalSlack) -> list[object]:
    """How Slack's requests went, those of this story alone."""
    return [one["status"] for one in slack.state.traffic if one["direction"] == "slack_to_bot"]


async def test_nothing_is_lost_while_both_connections_are_refreshed(workspace: Sandbox, alice: Person) -> None:
    slack, sockets = workspace.slack, workspace.slack.sockets
    old = await connected(sockets)
    refreshed = asyncio.Event()

    async def refresh() -> None:
        for one in old:
            await sockets.warn(one)
        await until(lambda: len(sockets.connections) == 4)
        for one in old:
            one.is_leaving = False  # until it ends it, Slack may send anything through any connection
        await until(lambda: len(acknowledged(slack)) >= 16)
        assert {*old} <= {*sockets.connections}, "what comes through them is still read"
        for one in old:
            await sockets.refresh(one)
        await replaced(sockets, *old)
        refreshed.set()

    async def ask() -> int:
        asked = 0
        while not refreshed.is_set():
            assert "4 rules" in alice.slack_text(await alice.says("/rules list checkout"))
            asked += 1
        return asked

    _, asked = await asyncio.gather(refresh(), ask())

    assert acknowledged(slack) == [200] * asked
    assert len([one for one in slack.state.messages if one.visible_to == alice.id]) == asked


async def test_a_connection_that_cannot_be_replaced_yet_is_still_heard(workspace: Sandbox, alice: Person) -> None:
    sockets = workspace.slack.sockets
    old = await connected(sockets)
    sockets.spent = many = 1_000_000

    for one in old:
        await sockets.warn(one)
    await until(lambda: sockets.spent < many - 1)
    used = set[Connection | None]()
    for _ in range(8):
        assert "4 rules" in alice.slack_text(await alice.says("/rules list checkout"))
        assert (await workspace.bot.gatehouse.health())["socket mode"] == WORKS
        used.add(sockets.last)
    assert used == {*old}
    sockets.spent = 0
    await until(lambda: len(sockets.connections) == 4)
    for one in old:
        await sockets.refresh(one)

    await replaced(sockets, *old)


@pytest.mark.parametrize(
    "garbage",
    [
        "no JSON",
        "{no JSON",
        "null",
        "[1]",
        '"disconnect"',
        "{}",
        '{"type": ["disconnect"]}',
        '{"type": "slash_commands", "envelope_id": "E1", "payload": null}',
        '{"type": "of_next_year", "envelope_id": "E1", "payload": {"type": "of_next_year"}}',
        '{"type": "interactive", "envelope_id": "E1", "payload": {"type": "block_actions"}}',
    ],
)
@pytest.mark.parametrize("is_replaced", [True, False])
async def test_what_cannot_be_read_keeps_nothing_else_back(
    workspace: Sandbox, alice: Person, garbage: str, is_replaced: bool
) -> None:
    sockets = workspace.slack.sockets
    old = await connected(sockets)
    if is_replaced:
        for one in old:
            await sockets.warn(one)
        await until(lambda: len(sockets.connections) == 4)
        sockets.connections = old  # until it ends them, Slack may send anything through them

    for one in old:
        await one.websocket.send_text(garbage)
    for _ in old:
        assert "4 rules" in alice.slack_text(await alice.says("/rules list checkout"))


@pytest.mark.parametrize("all_end", [True, False])
async def test_a_form_is_answered_though_its_connection_ends_while_it_is_checked(
    workspace: Sandbox, bob: Person, all_end: bool
) -> None:
    sockets, faults = workspace.slack.sockets, workspace.slack.faults
    await bob.opens("/members add")
    bob.fills(Email="new.person@example.com", Name="New Person", Segments=["vip"])
    before = len(workspace.services.members.calls())
    workspace.services.members.stage.faults.add("delay", method="GET", value=0.5)

    submitting = asyncio.create_task(bob.submits())
    await until(lambda: len(workspace.services.members.calls()) > before)
    assert sockets.last is not None
    both = await connected(sockets)
    old = both if all_end else [sockets.last]
    # The acknowledgement is due before there is another connection; or there is one, and will be no other.
    faults.add("internal_error", method="apps.connections.open", times=16 if all_end else 1_000_000)
    await asyncio.gather(*map(sockets.refresh, old))

    assert await submitting == {}
    faults.clear()
    await bob.sees("New Person")
    await replaced(sockets, *old)


@pytest.fixture
async def pinged(tmp_path: Path) -> AsyncIterator[tuple[LocalSlack, str]]:
    """A Slack that pings all the time, and the URL of a bot that takes two seconds without that for deafness."""
    hasty = replace(QUICK, connecting=ConnectTimeouts(attempt=2.0, pause=0.1, deaf=2.0))
    async with (
        running_services(str(tmp_path / "services.db")) as services,
        running_slack(document(None), SHOP, ping_every=0.2) as slack,
        running(settings(slack, services, tmp_path / "gatehouse.db", transport="socket"), timing=hasty) as bot,
        serving(bot.web) as url,
    ):
        yield slack, url


@pytest.mark.parametrize("trouble", [Connection.go_deaf, Connection.fall_silent])
async def test_a_connection_that_brings_nothing_any_more_is_replaced(
    pinged: tuple[LocalSlack, str], trouble: Callable[[Connection], None]
) -> None:
    slack, _ = pinged
    deaf, _ = await connected(slack.sockets)
    trouble(deaf)

    await until(lambda: len([one for one in slack.sockets.connections if not one.is_deaf]) == 2, seconds=40)


async def test_readiness_is_red_while_nothing_is_heard_and_green_again_after_that(
    pinged: tuple[LocalSlack, str],
) -> None:
    slack, url = pinged
    slack.faults.add("internal_error", method="apps.connections.open", times=1_000_000)
    for one in slack.sockets.connections:
        one.go_deaf()

    async def says(status: int) -> str:
        async with asyncio.timeout(40):
            while (answer := await read_readiness(url))[0] != status:  # noqa: ASYNC110  nobody is told
                await asyncio.sleep(0.05)
        return answer[1]["socket mode"]

    assert await says(503) == "not connected: no request from Slack can arrive"
    slack.faults.clear()
    assert await says(200) in {"ok", "warning: 1 of 2 connections"}


@pytest.mark.threat("A12")
async def test_a_click_whose_connection_breaks_off_is_neither_lost_nor_done_twice(
    workspace: Sandbox, alice: Person, cara: Person
) -> None:
    slack = workspace.slack
    card = await alice.says(f"/rules delete {OLD}")
    block_id, button = cara._button(card, "v1.decide.approve")
    slack.sockets.cuts = 1

    place = {"channel": card.channel, "ts": card.ts}
    await slack.acting.act(cara.id, place, block_id, button["action_id"], {}, {})  # seen to fail, or not: both happen
    await alice.sees("deleted")
    assert len(workspace.services.rules.calls("DELETE")) == 1

    await until(lambda: len(slack.sockets.connections) == 2)
    assert "4 rules" in alice.slack_text(await alice.says("/rules list checkout"))


@pytest.mark.threat("E2")
async def test_it_hangs_up_at_the_end_and_needs_no_proxy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")
    async with (
        running_services(str(tmp_path / "services.db")) as services,
        running_slack(document(None), SHOP) as slack,
    ):
        chosen = settings(slack, services, tmp_path / "gatehouse.db", transport="socket")
        async with running(chosen, timing=QUICK) as bot:
            await connected(slack.sockets)
            assert (await bot.gatehouse.health())["slack"] == WORKS
            await Person(slack, "U0ALICE01", OPS).says("/rules list checkout")
            assert "chat.postEphemeral" not in {
                one["what"] for one in slack.state.traffic
            }  # the way out, had it gone astray

        await until(lambda: slack.sockets.connections == [])


@pytest.mark.threat("A12")
async def test_a_wrong_app_token_is_no_start(tmp_path: Path) -> None:
    async with (
        running_services(str(tmp_path / "services.db")) as services,
        running_slack(document(None), SHOP) as slack,
    ):
        chosen = settings(slack, services, tmp_path / "gatehouse.db", transport="socket")
        wrong = chosen.model_copy(update={"slack_app_token": SecretStr(TOKEN)})

        with pytest.raises(CannotStart, match=r"SLACK_APP_TOKEN \(not_allowed_token_type\)"):
            async with running(wrong, timing=QUICK):
                pass


async def test_the_sandbox_over_http_opens_no_socket(tmp_path: Path) -> None:
    async with running_sandbox(tmp_path, timing=QUICK) as sandbox:
        assert sandbox.slack.sockets.connections == []
        assert sandbox.slack.delivery.sockets is None
