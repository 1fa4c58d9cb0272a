"""Several things at once: one card, one decision, an outcome for each, one undo for all."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

import pytest
import sqlalchemy as sa

from bot.changes.model.states import State
from bot.store.tables import items
from sandbox.demo import Sandbox
from sandbox.slack import rendering
from tests.conftest import Clock
from tests.harness.colleague import Colleague, ended, undone
from tests.harness.looking import approve_card
from tests.harness.truth import all_changes
from tests.stories.test_undo import undo_of

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

    await alice.clicks(card, "Undo")
    await alice.sees_set(undone=3)
    assert statuses(workspace) == before

    undo = await alice.sees_set(applied=3)
    await alice.clicks(card, "Request again")
    again = await alice.sees_set(applied=3, where=lambda change: change.request.undoes is None)
    assert len({card.ts, undo.ts, again.ts}) == 3
    assert statuses(workspace) == ["Inactive"] * 3


async def test_items_that_cannot_be_read_stop_their_bulk_change_and_nothing_else(
    workspace: Sandbox, alice: Colleague, cara: Colleague
) -> None:
    card = await alice.says(f"/rules delete {OLD},{PAY}")
    store = workspace.bot.gatehouse.store
    async with store.transaction() as tx:
        await tx.execute(sa.update(items).values(document='{"number": "nobody@x.example"}'))

    await cara.clicks(card, "v1.decide.approve", confirm=True)
    assert workspace.services.rules.calls("DELETE") == []
    assert "Delete 2 rules" in alice.slack_text(await alice.says("/gatehouse pending"))
    assert "cutover" in alice.slack_text(await alice.does("/gatehouse freeze shop.example.com for 2h because cutover"))
    status = alice.slack_text(await alice.says("/gatehouse status"))
    assert "can't read the record of change" in status
    assert "nobody@" not in status


@pytest.mark.threat("A8", "B13")
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


async def test_trying_the_others_again_keeps_the_end(workspace: Sandbox, alice: Colleague, clock: Clock) -> None:
    workspace.services.rules.stage.faults.add("refused_200", method="PUT", times=2)
    await alice.types(f"/rules off {OLD} {PAY} for 2h")
    failed = await alice.sees_set(failed=2)

    await alice.clicks(failed, "Try again")
    await alice.sees_set(applied=2)
    clock.ahead += timedelta(hours=2, seconds=1)
    await alice.sees_set(undone=2, where=ended)

    assert {(workspace.services.rules.get(key) or {})["status"] for key in (OLD, PAY)} == {"Active"}


async def test_the_rest_of_an_undo_is_an_undo(workspace: Sandbox, alice: Colleague, cara: Colleague) -> None:
    card = await alice.says(f"/rules off {OLD} {PAY} {HELP} for 2h")
    await alice.sees_set(applied=3)
    workspace.services.rules.stage.faults.add("refused_200", method="PUT", times=2)
    await cara.clicks(card, "Revert now")
    partly = await alice.sees_set(applied=1, failed=2)

    await cara.clicks(partly, "Retry the 2 that failed")
    assert (await alice.sees_set(undone=3, where=undone)).ts == card.ts
    told = await alice.is_notified("reverted")
    assert cara.id in alice.slack_text(told), "once, when all of it is reverted"


GRANTS: Final = "/members grant anna.berg@example.com,ben.costa@example.com,chloe.diaz@example.com beta"


@pytest.mark.policy('guards = [{operation = "member.revoke", guard = "approve"}]')
async def test_the_rest_of_an_undo_that_one_may_do_alone_is_undone_where_the_first_was(
    workspace: Sandbox, bob: Colleague
) -> None:
    card = await bob.says(GRANTS)
    await bob.sees_set(applied=3)
    workspace.services.members.stage.faults.add("403", method="DELETE", times=1)
    await bob.clicks(card, "Undo")
    partly = await bob.sees_set(applied=2, failed=1)
    await bob.clicks(partly, "Retry the one that failed")
    assert "Approve" in bob.slack_text(await bob.sees_change(state=State.PROPOSED))

    await bob.clicks(card, "Undo")
    await bob.sees_set(undone=3, where=undone)


async def test_what_started_tells_how_much_of_it_is_done(workspace: Sandbox, alice: Colleague, clock: Clock) -> None:
    await alice.types(f"/rules off {OLD} {PAY} {HELP} in 2h")
    planned = await alice.sees_change(state=State.PLANNED)
    workspace.services.rules.stage.faults.add("refused_200", method="PUT", times=2)
    clock.ahead += timedelta(hours=2, seconds=1)

    card = await alice.sees_set(applied=1, failed=2)
    assert card.ts == planned.ts
    assert "1 of 3" in alice.slack_text(await alice.sees_note(card, "started"))


async def test_what_others_did_since_is_not_asked_for_again(
    workspace: Sandbox, alice: Colleague, cara: Colleague
) -> None:
    workspace.services.rules.stage.faults.add("refused_200", method="PUT", times=2)
    await alice.types(f"/rules off {OLD} {PAY}")
    failed = await alice.sees_set(failed=2)
    await cara.says(f"/rules off {OLD}")

    await alice.clicks(failed, "Try again")
    await alice.sees_set(applied=1)


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


async def test_a_retry_of_some_removals_says_how_many_they_are(
    workspace: Sandbox, alice: Colleague, cara: Colleague
) -> None:
    workspace.services.members.stage.faults.add("403", method="DELETE", times=1)
    card = await alice.says("/members remove anna.berg@example.com,ben.costa@example.com,chloe.diaz@example.com")
    await approve_card(cara, card)
    some = await alice.sees_set(applied=2, failed=1)

    await alice.clicks(some, "Retry the one that failed")

    assert "Remove 1 member?" in alice.slack_text(await alice.sees_change(state=State.PROPOSED))


COMING = {"/gatehouse planned", "home"}
"""The lists of what waits or is yet to happen."""


async def lists(person: Colleague) -> dict[str, str]:
    """What each list of changes shows to *person*, as text."""
    found = {"home": rendering.view(await person.opens_home("Gatehouse"))}
    for asked in ("/gatehouse planned", "/gatehouse audit", "/gatehouse digest"):
        found[asked] = person.slack_text(await person.says(asked))
    return found


@pytest.mark.parametrize("lasting", ["", " for 2h"])
async def test_no_list_says_that_all_is_done_where_only_some_is(
    workspace: Sandbox, alice: Colleague, lasting: str
) -> None:
    workspace.services.rules.stage.faults.add("refused_200", method="PUT", times=1)
    await alice.types(f"/rules off {OLD} {PAY} {HELP}{lasting}")
    await alice.sees_set(failed=1, applied=2)

    shown = await lists(alice)

    assert [name for name, text in shown.items() if "rules switched off" in text] == []
    there = {name for name, text in shown.items() if "2 of 3 done" in text}
    assert there == ({*shown} if lasting else {*shown} - COMING)


@pytest.mark.parametrize("lasting", ["", " for 2h"])
async def test_what_is_undone_in_part_is_called_so_everywhere(
    workspace: Sandbox, alice: Colleague, lasting: str
) -> None:
    card = await alice.says(f"/rules off {OLD} {PAY} {HELP}{lasting}")
    await alice.sees_set(applied=3)
    workspace.services.rules.stage.faults.add("refused_200", method="PUT", times=1)
    await alice.clicks(card, "Revert now" if lasting else "Undo")
    await alice.sees_set(applied=2, failed=1)

    shown = {"card": alice.slack_text(await alice.sees_set(undone=2, applied=1))} | await lists(alice)

    assert [name for name, text in shown.items() if "rules switched off" in text] == []
    there = {name for name, text in shown.items() if "2 of 3 undone" in text}
    assert there == ({*shown} if lasting else {*shown} - COMING)


@pytest.mark.parametrize("alone", [0, 1, 3])
async def test_what_undid_each_item_and_what_undid_all_is_on_record(
    workspace: Sandbox, alice: Colleague, cara: Colleague, alone: int
) -> None:
    """Cara undoes so many items *alone*, and Alice the rest, at first in part."""
    card = await alice.says(f"/rules off {OLD} {PAY} {HELP}")
    whole = await alice.change_of(await alice.sees_set(applied=3))
    ids = [each.change_id or "" async for each in alice.store.items.all(whole.id)]
    for change_id in ids[:alone]:
        assert not undone(await alice.change_of(card)), "an item is left"
        await cara.says(f"/gatehouse undo {change_id[:8]} because it loops")
    if alone < len(ids):
        workspace.services.rules.stage.faults.add("refused_200", method="PUT", times=1)
        await alice.says(f"/gatehouse undo {whole.id[:8]}")
        assert "2 of 3 undone" in alice.slack_text(await alice.sees_set(undone=2, applied=1))
        assert not undone(await alice.change_of(card)), "an item is left"
        await alice.says(f"/gatehouse undo {whole.id[:8]} because it loops")
    card = await alice.sees_set(undone=3, where=undone)

    last = cara if alone == len(ids) else alice
    assert f"Undone by <@{last.id}> · “it loops”" in str(card.blocks)
    changes = {each.id: each for each in await all_changes(alice.store)}
    for number, change_id in enumerate(ids):
        found, undo = changes[change_id].run.undone, changes[undo_of(changes[change_id])]
        assert (undo.request.undoes, undo.request.requester) == (change_id, (cara if number < alone else alice).id)
        assert found is not None
        assert found.at == undo.run.finished_at
    undo = changes[undo_of(changes[whole.id])]
    assert (undo.request.undoes, undo.request.requester) == (ids[-1] if last is cara else whole.id, last.id)
    for change_id in (whole.id, *ids):
        assert "already undone" in alice.slack_text(await alice.is_refused(f"/gatehouse undo {change_id[:8]}"))


async def test_no_list_says_that_a_rule_is_off_which_somebody_switched_on(alice: Colleague, cara: Colleague) -> None:
    await alice.says(f"/rules off {OLD} for 2h")
    await cara.says(f"/rules on {OLD}")

    shown = await lists(alice)

    assert [name for name, text in shown.items() if "is off until" in text] == []
    assert {name for name, text in shown.items() if "changed since" in text} == {*shown} - COMING
