"""A channel's changes are for the people in it: a role by channel, and any change, counts only where they are members."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bot.policy.model import Why
from handlers.explain.why_not import WHY_NOT
from sandbox.demo import Sandbox
from tests.conftest import GENERAL, OPS, SUPPORT
from tests.harness.colleague import Colleague
from tests.harness.payloads import Forger
from tests.harness.truth import changes_of

OLD = "Redirect_x1old"
ROLES = """
[roles.readers]
users = ["U0ALICE01", "U0BOB0001"]
may = ["rule.read"]

[roles.ops]
channels = ["C0OPS0001"]
may = ["*"]
"""
HERE = WHY_NOT[Why.NOT_HERE].what


@pytest.fixture
def outsider(workspace: Sandbox) -> Colleague:
    """Bob, who left #ops-traffic, but still sees it: it is public."""
    channels = workspace.slack.state.channels
    others = tuple(user for user in channels[OPS].members if user != "U0BOB0001")
    channels[OPS] = replace(channels[OPS], members=others)
    return Colleague(workspace, "U0BOB0001", OPS)


@pytest.mark.first(2)
@pytest.mark.parametrize("_", [pytest.param("", marks=pytest.mark.policy(ROLES)), pytest.param("no policy file")])
async def test_a_form_announces_only_in_a_channel_that_the_person_is_in(
    workspace: Sandbox, outsider: Colleague, alice: Colleague, _: str
) -> None:
    for person in (outsider, alice):
        await person.clicks(await person.opens_home("Create rule…"), "Create rule…", opens="Announce in")
        person.fills(Announce_in=OPS, Name="Spring", From="https://a.example.com/b", To="https://c.example.com/")
        assert await person.submits() == {}
        if person is outsider:
            await outsider.sees_form(HERE)
            assert workspace.services.rules.calls("POST") == []

    await alice.sees_change(of="Spring")


@pytest.mark.first(2)
@pytest.mark.threat("A6")
@pytest.mark.parametrize(
    "text",
    [f"/rules off {OLD}", f"/rules delete {OLD}", "/members remove anna.berg@example.com", "/gatehouse undo"],
)
async def test_a_command_typed_in_a_channel_that_one_only_looks_into_changes_nothing(
    workspace: Sandbox, outsider: Colleague, alice: Colleague, text: str
) -> None:
    await outsider.says("/rules off Redirect_chk01", channel=SUPPORT)
    await outsider.sees_change(of="Redirect_chk01")
    store = workspace.bot.gatehouse.store
    last = (await changes_of(store, outsider.id))[0]
    forger = Forger(workspace, outsider.id, OPS)

    await forger.types(f"{text} {last.id[:8]}" if text.endswith("undo") else text)
    await forger.hears(HERE)

    assert [one.state for one in await changes_of(store, outsider.id)] == ["applied"]


@pytest.mark.policy(ROLES)
async def test_a_role_by_a_channel_reads_and_approves_only_from_inside(
    workspace: Sandbox, outsider: Colleague, alice: Colleague, cara: Colleague
) -> None:
    card = await alice.says(f"/rules delete {OLD}")

    forger = Forger(workspace, outsider.id, OPS)
    change = (await workspace.bot.gatehouse.store.changes.list_open())[0]

    await forger.clicks(card, "v1.decide.approve", change.id)
    await forger.hears(WHY_NOT[Why.NO_ROLE].what)
    await forger.types("/members list")
    await forger.hears(WHY_NOT[Why.NO_ROLE].what, times=2)
    assert workspace.services.rules.calls("DELETE") == []

    await cara.clicks(card, "v1.decide.approve", confirm=True)
    await alice.sees_change(of=OLD)


@pytest.mark.first(2)
@pytest.mark.parametrize("action", ["undo", "end", "until"])
async def test_a_card_in_a_channel_that_one_only_looks_into_changes_nothing(
    workspace: Sandbox, outsider: Colleague, alice: Colleague, action: str
) -> None:
    await alice.says(f"/rules off {OLD} for 2h")
    card = await alice.sees_change(of=OLD)

    change = await alice.change_of(card)
    forger = Forger(workspace, outsider.id, OPS)

    await forger.clicks(card, f"v1.decide.{action}", change.id)
    await forger.hears(HERE)

    assert len(workspace.services.rules.calls("PUT")) == 1


async def test_where_slack_does_not_say_who_is_in_a_channel_nobody_changes_anything_there(
    workspace: Sandbox, alice: Colleague
) -> None:
    workspace.slack.faults.add("internal_error", method="conversations.members", times=99)

    await alice.is_refused(f"/rules off {OLD}")
    assert "Old shop" in alice.slack_text(await alice.says("/rules show Redirect_x1old", channel=GENERAL))
    assert workspace.services.rules.calls("PUT") == []
