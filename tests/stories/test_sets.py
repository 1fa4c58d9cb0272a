"""Several things at once: one card, one decision, an outcome for each, one undo for all."""

from __future__ import annotations

from asyncio import gather
from datetime import timedelta

import pytest

from bot.changes.model import ChangeRequest, Edit, Kind, State, Target
from bot.changes.proposals import Proposal, together
from sandbox.demo import Sandbox
from tests.conftest import Clock
from tests.harness.colleague import Colleague, ended, redone

OLD, PAY, HELP = "Redirect_x1old", "Redirect_chk01", "Redirect_help1"
THREE = (OLD, PAY, HELP)


def statuses(workspace: Sandbox) -> list[str]:
    return [str((workspace.services.rules.get(each) or {}).get("status")) for each in THREE]


async def test_three_are_switched_off_on_one_card_and_back_by_one_undo(workspace: Sandbox, alice: Colleague) -> None:
    before = statuses(workspace)
    card = await alice.says(f"/rules off {OLD} {PAY} {HELP} because of the sale")
    assert (await alice.sees_set(applied=3)).ts == card.ts
    assert statuses(workspace) == ["Inactive"] * 3
    assert "of the sale" in alice.slack_text(card)

    for _ in range(2):
        await alice.clicks(card, "Undo")
        await alice.sees_set(undone=3)
        assert statuses(workspace) == before

        await alice.clicks(card, "Redo")
        assert (await alice.sees_set(applied=3, where=redone)).ts == card.ts
        assert statuses(workspace) == ["Inactive"] * 3


async def test_deleting_several_waits_for_one_approval(workspace: Sandbox, alice: Colleague, cara: Colleague) -> None:
    card = await alice.says(f"/rules delete {OLD},{PAY}")
    assert "Old shop to new shop" in alice.slack_text(card)
    assert workspace.services.rules.calls("DELETE") == []

    await gather(*(cara.clicks(card, "v1.decide.approve", confirm=True) for _ in range(2)))
    await alice.sees_set(applied=2)

    assert len(workspace.services.rules.calls("DELETE")) == 2
    assert workspace.services.rules.get(OLD) is None


async def test_what_was_deleted_together_comes_back_together(alice: Colleague, cara: Colleague) -> None:
    card = await alice.says(f"/rules delete {OLD},{PAY}")
    await cara.clicks(card, "v1.decide.approve", confirm=True)
    await alice.clicks(await alice.sees_set(applied=2), "Undo")
    await alice.sees_set(undone=2)

    shown = await alice.says(f"/rules show {OLD}")
    assert "Old shop to new shop" in alice.slack_text(shown)


async def test_nothing_is_begun_once_it_was_denied(workspace: Sandbox, alice: Colleague, cara: Colleague) -> None:
    card = await alice.says(f"/rules delete {OLD},{PAY}")
    await cara.clicks(card, "Deny…", opens="Reason")
    cara.fills(Reason="In use")
    await cara.submits()
    await alice.sees_change(state=State.DENIED)

    assert await alice.store.changes.open() == []
    assert workspace.services.rules.calls("DELETE") == []


@pytest.mark.threat("B13")
async def test_one_that_changed_meanwhile_is_left_alone_and_can_be_asked_again(
    workspace: Sandbox, alice: Colleague, cara: Colleague
) -> None:
    card = await alice.says(f"/rules delete {OLD},{PAY}")
    rule = dict(workspace.services.rules.get(PAY) or {}) | {"name": "Renamed by hand"}
    workspace.services.rules.put(rule)

    await cara.clicks(card, "v1.decide.approve", confirm=True)
    done = await alice.sees_set(applied=1, stale=1)
    assert workspace.services.rules.get(PAY) is not None

    await alice.clicks(done, "Retry the other one")
    again = await alice.sees_change(state=State.PROPOSED)
    assert "Renamed by hand" in alice.slack_text(again)
    assert "v1.decide.approve" in str(again.blocks)


async def test_what_the_service_refuses_is_told_for_each(workspace: Sandbox, alice: Colleague) -> None:
    workspace.services.rules.stage.faults.add("refused_200", method="PUT", times=1)

    await alice.types(f"/rules off {OLD} {PAY} {HELP}")

    await alice.sees_set(applied=2, failed=1)


async def test_a_service_that_is_busy_is_waited_for(workspace: Sandbox, alice: Colleague) -> None:
    workspace.services.rules.stage.faults.add("429", method="PUT", times=2, value=0.1)

    await alice.types(f"/rules off {OLD} {PAY} {HELP}")

    await alice.sees_set(applied=3)


async def test_one_answer_that_is_lost_is_settled_by_looking(workspace: Sandbox, alice: Colleague) -> None:
    workspace.services.rules.stage.faults.add("cut_after", method="PUT", times=1)

    await alice.types(f"/rules off {OLD} {PAY} {HELP}")

    await alice.sees_set(applied=3)
    assert len(workspace.services.rules.calls("PUT")) == 3


async def test_several_end_together_by_themselves(workspace: Sandbox, alice: Colleague, clock: Clock) -> None:
    before = statuses(workspace)
    await alice.types(f"/rules off {OLD} {PAY} {HELP} for 2h")
    await alice.sees_set(applied=3)

    clock.ahead += timedelta(hours=2, minutes=1)

    await alice.sees_set(undone=3, where=ended)
    assert statuses(workspace) == before


async def test_a_set_that_its_process_left_is_finished_by_the_next(workspace: Sandbox, alice: Colleague) -> None:
    gatehouse = workspace.bot.gatehouse
    rules = [await gatehouse.rules.get(each) for each in THREE]
    wanted = [
        Proposal.of(
            edit=Edit(
                kind=Kind.RULE_UPDATE,
                target=Target(service="rules", key=rule.id),
                before=rule.document(),
                after=rule.body() | {"status": "Inactive"},
            ),
            request=ChangeRequest(requester=alice.id, channel=alice.channel),
        )
        for rule in rules
    ]
    whole = await gatehouse.changes.proposer.submit(together("Switch off 3 rules", wanted), idempotency_key="request")
    same = await gatehouse.changes.proposer.submit(together("Switch off 3 rules", wanted), idempotency_key="request")
    await alice.sees_set(applied=3)

    assert same.id == whole.id
    assert len(workspace.services.rules.calls("PUT")) == 3


async def test_of_two_rules_alike_the_second_waits_until_it_is_known_what_became_of_the_first(
    workspace: Sandbox, alice: Colleague, clock: Clock
) -> None:
    gatehouse, services = workspace.bot.gatehouse, workspace.services
    wanted = (await gatehouse.rules.get(HELP)).body() | {"name": "Twice in the file"}
    twice = [
        Proposal.of(
            edit=Edit(kind=Kind.RULE_CREATE, target=Target(service="rules"), before=None, after=wanted),
            request=ChangeRequest(requester=alice.id, channel=alice.channel),
        )
    ] * 2
    services.rules.stage.faults.add("cut_before", method="POST", times=1)

    await gatehouse.changes.proposer.submit(together("Create 2 rules", twice), idempotency_key="request")
    await alice.sees_set(unknown=1, busy=1)
    clock.ahead += timedelta(minutes=3)
    await alice.sees_set(unsettled=1, busy=1)

    assert not [rule for rule in services.rules.all() if rule["name"] == "Twice in the file"]


async def test_what_a_set_does_twice_to_one_rule_it_does_one_after_the_other(
    workspace: Sandbox, alice: Colleague
) -> None:
    gatehouse = workspace.bot.gatehouse
    rule = await gatehouse.rules.get(HELP)
    on, off = rule.document(), rule.body() | {"status": "Inactive"}
    target = Target(service="rules", key=rule.id)
    steps = [(on, off), (off, rule.body())]
    wanted = [
        Proposal.of(
            edit=Edit(kind=Kind.RULE_UPDATE, target=target, before=before, after=after),
            request=ChangeRequest(requester=alice.id, channel=alice.channel),
        )
        for before, after in steps
    ]

    await gatehouse.changes.proposer.submit(together("Off and on", wanted), idempotency_key="request")
    await alice.sees_set(applied=2)

    assert [call.body["status"] for call in workspace.services.rules.calls("PUT")] == ["Inactive", "Active"]


async def test_the_history_of_each_has_its_part(workspace: Sandbox, alice: Colleague) -> None:
    await alice.types(f"/rules off {OLD} {PAY} because of the sale")
    await alice.sees_set(applied=2)

    assert "of the sale" in alice.slack_text(await alice.says(f"/rules history {OLD}"))


@pytest.mark.parametrize(
    "text", ["off " + " ".join(f"#{n}" for n in range(1, 102)), "delete Redirect_x1old,Redirect_x"]
)
async def test_too_many_or_one_unknown_changes_nothing(workspace: Sandbox, alice: Colleague, text: str) -> None:
    await alice.says(f"/rules {text}")

    assert workspace.services.rules.calls("PUT") == workspace.services.rules.calls("DELETE") == []


async def test_trying_the_others_again_keeps_the_end(workspace: Sandbox, alice: Colleague, clock: Clock) -> None:
    workspace.services.rules.stage.faults.add("refused_200", method="PUT", times=2)
    await alice.types(f"/rules off {OLD} {PAY} for 2h")
    failed = await alice.sees_set(failed=2)

    await alice.clicks(failed, "Try again")
    await alice.sees_set(applied=2)
    clock.ahead += timedelta(hours=2, seconds=1)
    await alice.sees_set(undone=2, where=ended)

    assert {(workspace.services.rules.get(key) or {})["status"] for key in (OLD, PAY)} == {"Active"}


async def test_trying_again_asks_where_the_target_moved(workspace: Sandbox, alice: Colleague) -> None:
    workspace.services.rules.stage.faults.add("refused_200", method="PUT", times=2)
    await alice.types(f"/rules off {OLD} {PAY}")
    failed = await alice.sees_set(failed=2)
    theirs = dict(workspace.services.rules.get(PAY) or {}) | {"description": "Theirs"}
    workspace.services.rules.put(theirs)

    await alice.clicks(failed, "Try again")
    asked = await alice.sees_change(state=State.PROPOSED)
    assert workspace.services.rules.get(PAY) == theirs, "nothing is done before somebody looked"
    await alice.clicks(asked, "v1.decide.confirm", confirm=True)
    await alice.sees_set(applied=2)

    assert (workspace.services.rules.get(PAY) or {})["description"] == "Theirs"
