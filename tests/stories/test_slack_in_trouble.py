"""What is done is done, whatever Slack makes of the news; and the news gets through, once, when Slack is well again."""

from __future__ import annotations

from datetime import timedelta

import pytest

from bot.changes.model.states import State
from bot.changes.notify import MAX_WAIT_AWAY_SECONDS
from sandbox.demo import Sandbox
from tests.conftest import GENERAL, Clock, until
from tests.drills.fleet import until as eventually
from tests.harness.colleague import Colleague
from tests.harness.scraping import read_readiness

OLD = "Redirect_x1old"


@pytest.mark.first(2)
@pytest.mark.threat("C2")
@pytest.mark.parametrize("code", ["is_archived", "not_in_channel", "channel_not_found", "restricted_action"])
async def test_what_a_channel_does_not_take_goes_to_whoever_asked(
    workspace: Sandbox, alice: Colleague, cara: Colleague, code: str
) -> None:
    card = await alice.says(f"/rules delete {OLD}")
    workspace.slack.faults.add(code, method="chat.update")
    workspace.slack.faults.add(code, method="chat.postMessage", channel=alice.channel)

    await cara.clicks(card, "v1.decide.approve", confirm=True)
    told = await alice.is_notified("card")

    assert (await alice.change_of(told)).state is State.APPLIED
    assert workspace.services.rules.get(OLD) is None


@pytest.mark.threat("C2")
@pytest.mark.parametrize("code", ["is_archived", "not_in_channel"])
async def test_a_request_that_nobody_could_see_cannot_be_approved(
    workspace: Sandbox, alice: Colleague, clock: Clock, code: str
) -> None:
    workspace.slack.faults.add(code, method="chat.postMessage")
    await alice.types(f"/rules delete {OLD}")
    asked = await alice.is_notified("card")
    assert (await alice.change_of(asked)).state is State.PROPOSED

    await alice.clicks(asked, "v1.decide.approve", confirm=True)
    await alice.sees_problem()
    clock.ahead += timedelta(hours=25)
    await alice.is_notified("expired")
    await until(lambda: "v1.decide.approve" not in str(asked.blocks))

    assert workspace.services.rules.calls("DELETE") == []


@pytest.mark.first(1)
@pytest.mark.threat("C2")
@pytest.mark.parametrize(
    ("text", "ahead", "note"),
    [
        (f"/rules delete {OLD}", 16, "remind"),
        (f"/rules off {OLD} for 2h", 115, "offer"),
        (f"/rules off {OLD} in 2h", 111, "starts"),
    ],
)
async def test_a_card_that_somebody_deleted_comes_again_before_a_word_about_it(
    workspace: Sandbox, alice: Colleague, clock: Clock, text: str, ahead: int, note: str
) -> None:
    card = await alice.says(text)
    await alice.change_of(card)
    workspace.slack.state.delete(card)
    clock.ahead += timedelta(minutes=ahead)

    def a_moment_later() -> bool:
        clock.ahead += timedelta(seconds=0.1)
        return bool(alice.cards) and bool(alice.thread(alice.cards[-1]))

    await until(a_moment_later)
    await alice.sees_note(alice.cards[-1], note)


async def test_what_slack_never_takes_is_given_up_loudly_and_tried_again_later(
    workspace: Sandbox, alice: Colleague, clock: Clock
) -> None:
    store = workspace.bot.gatehouse.store
    workspace.slack.faults.add("invalid_blocks", method="chat.postMessage", times=1_000)
    await alice.types(f"/rules off {OLD}")

    async def is_given_up() -> bool:
        clock.ahead += timedelta(minutes=10)
        return bool((await store.outbox.backlogs())["given_up"][0])

    await eventually(is_given_up, "it is written down that Slack refused")
    workspace.slack.faults.clear()
    status = alice.slack_text(await alice.says("/gatehouse status"))
    assert "Slack rejected 1" in status
    assert alice.cards == []

    await store.outbox.retry_given_up()  # as every start does
    await alice.sees_change(of=OLD)
    assert (await store.outbox.backlogs())["given_up"][0] == 0


@pytest.mark.threat("C2")
async def test_a_token_that_was_revoked_shows_in_readiness(workspace: Sandbox, alice: Colleague) -> None:
    workspace.slack.faults.add("token_revoked", method="users.info", times=99)
    await alice.types(f"/rules off {OLD}")
    await until(lambda: workspace.slack.faults.waiting[0].times < 99)

    status, parts = await read_readiness(workspace.bot_url)

    assert (status, parts["slack"]) == (503, "token_revoked")


@pytest.mark.first(2)
@pytest.mark.threat("D7")
@pytest.mark.parametrize(("ahead", "is_right"), [(0, True), (30, True), (120, False), (-120, False)])
async def test_a_clock_that_is_off_shows_in_readiness(
    workspace: Sandbox, alice: Colleague, ahead: float, is_right: bool
) -> None:
    workspace.slack.delivery.skew = ahead  # a request is stale once its time is 300 seconds off
    await alice.says(f"/rules off {OLD}")

    status, parts = await read_readiness(workspace.bot_url)

    assert status == (200 if is_right else 503)
    assert (parts["clock"] == "ok") is is_right


@pytest.mark.threat("C3")
@pytest.mark.parametrize("state", ["expired", "used"])
async def test_an_answer_gets_through_where_the_response_url_does_not(
    workspace: Sandbox, alice: Colleague, cara: Colleague, state: str
) -> None:
    slack = workspace.slack
    slack.troubles.apply("urls", {"choice": state})

    listed = await alice.says("/rules list checkout")
    assert (listed.channel, listed.visible_to) == (alice.channel, alice.id)
    assert "4 rules" in alice.slack_text(listed)
    refused = await alice.says("/rules show nothing-like-it")
    assert (refused.channel, refused.visible_to) == (alice.channel, alice.id)

    await alice.types("/rules list payment", channel=GENERAL)  # Gatehouse was not added there
    elsewhere = await alice.sees_dm("“payment”")
    assert elsewhere.channel == alice.dm

    card = await alice.says(f"/rules delete {OLD}")
    await alice.clicks(card, "v1.decide.approve", confirm=True)
    assert (await alice.sees("someone else has to approve")).visible_to == alice.id
    await cara.clicks(card, "v1.decide.approve", confirm=True)
    assert (await cara.sees_change(of=OLD)).ts == card.ts

    tried = [one["status"] for one in slack.state.traffic if one["what"] == "response_url"]
    assert set(tried) == {f"{state}_url"}


@pytest.mark.slow
@pytest.mark.parametrize("fault", ["fatal_error", "500"])
async def test_what_waited_while_slack_was_away_comes_within_a_minute_and_in_order(
    workspace: Sandbox, alice: Colleague, cara: Colleague, clock: Clock, fault: str
) -> None:
    """For half an hour nothing is given up, and the reminder comes after the card that it reminds of."""
    store = workspace.bot.gatehouse.store
    workspace.slack.faults.add(fault, method="chat.postMessage", times=1000)
    (waiting,) = workspace.slack.faults.waiting
    await alice.types(f"/rules delete {OLD}")

    def thirty_tries_later() -> bool:
        clock.ahead += timedelta(seconds=5)
        return waiting.times <= 970

    await until(thirty_tries_later, 60)
    assert (await store.outbox.backlogs())["given_up"][0] == 0
    assert "keeps trying" in alice.slack_text(await alice.says("/gatehouse status"))

    async def reminder_is_due() -> bool:
        return (await store.outbox.backlogs())["message"][0] >= 2

    await eventually(reminder_is_due, "the reminder falls due by the clock that was set")
    workspace.slack.faults.waiting.clear()

    clock.ahead += timedelta(seconds=MAX_WAIT_AWAY_SECONDS)
    card = await cara.sees_change(of=OLD, state=State.PROPOSED)
    await cara.sees_note(card, "remind")
    await cara.clicks(card, "v1.decide.approve", confirm=True)
    await alice.sees_change(of=OLD)
