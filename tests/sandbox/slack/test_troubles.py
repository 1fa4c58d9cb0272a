"""What the panel puts out of order, from the server's side."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from sandbox.demo import Sandbox
from sandbox.slack.refusal import Refused
from sandbox.slack.running import LocalSlack
from sandbox.slack.troubles import Scene
from tests.sandbox.slack.conftest import App
from tests.sandbox.slack.desk import ALICE, OPS, Desk

PAGE = {"X-Local-Slack-Page": "1"}


async def post(slack: LocalSlack, what: str, **body: str) -> httpx.Response:
    async with httpx.AsyncClient(base_url=slack.page_url, trust_env=False, headers=PAGE) as http:
        return await http.post(f"/_local/{what}", json=body)


def on(slack: LocalSlack) -> list[str]:
    return [one["name"] for one in slack.troubles.page_data()["troubles"] if one["is_on"]]


async def test_everything_is_in_order_at_first_and_after_mending(workspace: Sandbox) -> None:
    slack = workspace.slack
    assert on(slack) == []
    for row in slack.troubles.rows:
        row.apply({"choice": list(row.choices)[1]})
    assert on(slack) == [row.name for row in slack.troubles.rows]

    assert (await post(slack, "mend")).json()["ok"] is True
    assert on(slack) == []
    assert (slack.delivery.lag, slack.delivery.twice, slack.delivery.skew) == (0, False, 0)
    assert workspace.services.rules.stage.faults.waiting == []


@pytest.mark.parametrize("asked", [{"name": "moon"}, {"name": "ack", "choice": "never heard of"}])
async def test_what_there_is_not_cannot_be_broken(app: App, asked: dict[str, str]) -> None:
    answer = await post(app.slack, "break", **asked)
    assert (answer.status_code, answer.json()["ok"]) == (400, False)
    assert on(app.slack) == []


async def test_a_lost_acknowledgement_is_one_that_the_app_has_given(desk: Desk) -> None:
    desk.slack.delivery.patience = 1.0  # also for the app to hear of it
    desk.slack.troubles.apply("ack", {"choice": "lost"})

    answer = await desk.slack.acting.say(ALICE, OPS, "/desk list")

    assert answer["error"] == "operation_timeout"
    assert desk.last("command")["text"] == "list"


async def test_an_expired_trigger_opens_nothing(desk: Desk) -> None:
    desk.slack.troubles.apply("triggers", {"choice": "expired"})
    with pytest.raises(Refused, match="expired_trigger_id"):
        desk.slack.state.use_trigger(desk.slack.state.new_trigger(ALICE))
    desk.slack.troubles.mend()
    assert desk.slack.state.use_trigger(desk.slack.state.new_trigger(ALICE)) == ALICE


async def test_faults_are_for_some_calls_and_used_up(app: App) -> None:
    def row() -> dict[str, Any]:
        return next(one for one in app.slack.troubles.page_data()["troubles"] if one["name"] == "slack")

    app.slack.troubles.apply("slack", {"choice": "500", "which": "users.info", "times": "1"})
    assert (row()["choice"], row()["left"]) == ("500", 1)
    assert (await app.get("auth.test"))["ok"] is True
    assert (await app.http.get("users.info", params={"user": ALICE})).status_code == 500
    assert (row()["is_on"], row()["left"]) == (False, None)


async def test_a_service_answers_wrongly_as_the_panel_says_and_is_seen(workspace: Sandbox) -> None:
    workspace.slack.troubles.apply("rules", {"choice": "500", "which": "GET", "times": "1"})
    workspace.slack.troubles.apply("paging", {"choice": "pages"})

    await workspace.slack.acting.say(ALICE, OPS, "/rules list")
    async with httpx.AsyncClient(trust_env=False) as http:
        url, headers = f"{workspace.services.rules_url}/rules", {"x-api-key": "sandbox-rules-key"}
        answers = [await http.get(url, headers=headers) for _ in range(2)]

    assert answers[-1].json()["total"] > 0
    calls = [one for one in workspace.slack.state.traffic if one["direction"] == "bot_to_service"]
    assert "GET /v1/rules" in {one["what"] for one in calls}
    assert sorted({one["status"] for one in calls}) == [200, 500]


async def test_starting_afresh_brings_the_samples_back(workspace: Sandbox) -> None:
    await workspace.slack.acting.say(ALICE, OPS, "Hello")
    first = workspace.services.rules.all()
    workspace.services.rules.remove(first[0]["id"])
    workspace.slack.troubles.apply("copies", {"choice": "twice"})

    assert (await post(workspace.slack, "reset")).json() == {"ok": True}

    assert workspace.services.rules.all() == first
    assert workspace.slack.state.messages == []
    assert on(workspace.slack) == []


async def test_a_scene_breaks_its_rows_and_no_others(slack: LocalSlack) -> None:
    troubles = slack.troubles
    troubles.scenes.append(Scene("late", "Late", "Try it.", {"ack": {"choice": "slow"}, "copies": {"choice": "twice"}}))
    troubles.apply("clock", {"choice": "slow"})

    answer = (await post(slack, "scene", name="late")).json()
    assert on(slack) == ["ack", "copies"]
    assert answer["scenes"] == [{"name": "late", "label": "Late", "hint": "Try it.", "is_on": True}]

    troubles.apply("copies", {"choice": "once"})
    assert not troubles.page_data()["scenes"][0]["is_on"]
    assert (await post(slack, "scene", name="nothing")).status_code == 400
    assert on(slack) == ["ack"]
