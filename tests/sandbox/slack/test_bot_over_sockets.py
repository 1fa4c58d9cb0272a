"""The bot over Socket Mode: one story of each kind, and what only a websocket can do to them.

All stories over it: ``pytest tests/stories --transport=socket``.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import httpx
import pytest
from pydantic import SecretStr

from bot.server.app import running
from bot.server.manifest import document
from bot.server.slack import ConnectTimeouts
from bot.settings import CannotStart
from sandbox.demo import Sandbox, Transport, running_sandbox, settings
from sandbox.gatehouse import WORKSPACES
from sandbox.services.running import running_services
from sandbox.slack.running import TOKEN, running_slack
from sandbox.slack.story import Person
from tests.conftest import OPS, QUICK, until

pytestmark = pytest.mark.slow

OLD = "Redirect_x1old"


@pytest.fixture
def transport() -> Transport:
    return "socket"


async def test_a_command_is_answered(workspace: Sandbox, alice: Person) -> None:
    reply = await alice.says("/rules list checkout")

    assert reply.visible_to == alice.id
    assert "4 rules" in alice.slack_text(reply)
    assert workspace.slack.delivery.url == ""


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
    (old,) = sockets.connections

    await sockets.refresh(old)
    await until(lambda: len(sockets.connections) == 1 and old not in sockets.connections)
    await cara.clicks(card, "v1.decide.approve", confirm=True)
    await alice.sees("deleted")

    assert workspace.services.rules.get(OLD) is None
    opened = [one for one in workspace.slack.state.traffic if one["what"] == "apps.connections.open"]
    assert len(opened) == 2  # a third would have hung up the second


async def test_an_address_that_is_no_longer_good_is_not_tried_for_ever(workspace: Sandbox, alice: Person) -> None:
    sockets = workspace.slack.sockets
    (old,) = sockets.connections
    sockets.spent = 1

    await sockets.refresh(old)
    await until(lambda: len(sockets.connections) == 1 and old not in sockets.connections)

    assert "4 rules" in alice.slack_text(await alice.says("/rules list checkout"))


@pytest.mark.parametrize("answer", ["500", "html", "text", "wrong_type", "cut_before", "429", "internal_error"])
async def test_an_answer_without_an_address_is_asked_for_again(workspace: Sandbox, alice: Person, answer: str) -> None:
    slack = workspace.slack
    (old,) = slack.sockets.connections
    slack.faults.add(answer, method="apps.connections.open", times=4)

    await slack.sockets.refresh(old)
    await until(lambda: len(slack.sockets.connections) == 1 and old not in slack.sockets.connections)

    assert "4 rules" in alice.slack_text(await alice.says("/rules list checkout"))


async def test_a_start_that_slack_held_up_goes_on_after_a_refusal(tmp_path: Path) -> None:
    hurried = replace(QUICK, connecting=ConnectTimeouts(attempt=0.2, pause=0.1))
    async with (
        running_services(str(tmp_path / "services.db")) as services,
        running_slack(document(None), WORKSPACES) as slack,
    ):
        slack.faults.add("never", method="apps.connections.open")
        slack.faults.add("invalid_auth", method="apps.connections.open", times=2)
        chosen = settings(slack, services, tmp_path / "gatehouse.db", transport="socket")
        async with running(chosen, timing=hurried):
            await until(lambda: len(slack.sockets.connections) == 1, seconds=40)


async def test_a_token_that_is_refused_for_a_while_is_tried_again(workspace: Sandbox, alice: Person) -> None:
    slack = workspace.slack
    (old,) = slack.sockets.connections
    slack.sockets.spent = 1
    await slack.sockets.refresh(old)
    await until(lambda: slack.sockets.spent == 0)
    slack.faults.add("invalid_auth", method="apps.connections.open", times=2)  # once for each that reconnects

    await until(lambda: len(slack.sockets.connections) == 1 and old not in slack.sockets.connections, seconds=40)

    assert "4 rules" in alice.slack_text(await alice.says("/rules list checkout"))


async def test_a_slack_that_ends_each_connection_at_once_is_not_asked_without_pause(workspace: Sandbox) -> None:
    slack = workspace.slack

    def asked() -> list[float]:
        return [one["at"] for one in slack.state.traffic if one["what"] == "apps.connections.open"]

    await slack.sockets.disable()
    await until(lambda: len(asked()) == 5)

    assert all(later - earlier >= QUICK.connecting.pause for earlier, later in pairwise(asked()[1:]))


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

    await until(lambda: len(slack.sockets.connections) == 1)
    assert "4 rules" in alice.slack_text(await alice.says("/rules list checkout"))


async def test_readiness_tells_of_a_connection_that_is_gone(workspace: Sandbox) -> None:
    async with httpx.AsyncClient(trust_env=False) as http:
        before = await http.get(f"{workspace.bot_url}/readyz")
        workspace.slack.faults.add("internal_error", method="apps.connections.open", times=1000)
        await workspace.slack.sockets.close()
        await until(lambda: workspace.slack.sockets.connections == [])
        after = await http.get(f"{workspace.bot_url}/readyz")

    assert before.json()["socket mode"] == "ok"
    assert (after.status_code, after.json()["socket mode"]) == (503, "not connected")


@pytest.mark.threat("E2")
async def test_it_hangs_up_at_the_end_and_needs_no_proxy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")
    async with (
        running_services(str(tmp_path / "services.db")) as services,
        running_slack(document(None), WORKSPACES) as slack,
    ):
        chosen = settings(slack, services, tmp_path / "gatehouse.db", transport="socket")
        async with running(chosen, timing=QUICK) as bot:
            assert len(slack.sockets.connections) == 1
            assert (await bot.gatehouse.health())["slack"] == "ok"
            await Person(slack, "U0ALICE01", OPS).says("/rules list checkout")
            assert "chat.postEphemeral" not in {
                one["what"] for one in slack.state.traffic
            }  # the way out, had it gone astray

        await until(lambda: slack.sockets.connections == [])


@pytest.mark.threat("A12")
async def test_a_wrong_app_token_is_no_start(tmp_path: Path) -> None:
    async with (
        running_services(str(tmp_path / "services.db")) as services,
        running_slack(document(None), WORKSPACES) as slack,
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
