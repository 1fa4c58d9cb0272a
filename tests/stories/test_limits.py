"""One person's flood is refused in words, and stops neither others nor what must always work."""

from __future__ import annotations

from datetime import timedelta

import pytest

from bot.changes.model.states import State
from bot.policy.limits import COMMAND_RATE, EXPORT_RATE, MAX_WAITING_REQUESTS
from bot.policy.model import Why
from bot.store.audit import Filters
from handlers.explain.table import is_problem
from handlers.explain.why_not import WHY_NOT
from sandbox.demo import Sandbox
from sandbox.services.seed import RULES
from tests.conftest import SUPPORT, Clock, until
from tests.harness.colleague import Colleague, undone
from tests.harness.held_service import Held
from tests.harness.payloads import Forger

OLD = "Redirect_x1old"


def with_rules(workspace: Sandbox, many: int) -> list[str]:
    """So many rules more; their ids."""
    ids = [f"Redirect_f{number:03d}" for number in range(many)]
    for one in ids:
        source = {"key": "Url", "operator": "Equals", "value": f"https://f.example/{one}"}
        pair = {"source": source, "destination": "https://f.example/"}
        workspace.services.rules.put(
            {"id": one, "name": one, "description": "", "ruleType": "Redirect", "status": "Active", "pairs": [pair]}
        )
    return ids


async def asked(alice: Colleague, ids: list[str]) -> None:
    """Alice asks for the deletion of each, one after the other."""
    for one in ids:
        before = len(alice.cards)
        await alice.types(f"/rules delete {one}")
        await alice.sees_new_card(before)


@pytest.mark.threat("A13")
async def test_commands_are_limited_for_one_person_and_what_must_work_still_does(
    workspace: Sandbox, alice: Colleague, cara: Colleague, clock: Clock
) -> None:
    await alice.says(f"/rules off {OLD}")
    card = await alice.sees_change(of=OLD)
    await alice.says("/rules off Redirect_chk01")
    await until(lambda: len(workspace.services.rules.calls("PUT")) == 2)
    for _ in range(COMMAND_RATE.per_person - 2):
        workspace.bot.gatehouse.limits.take(COMMAND_RATE, alice.id)

    refused = await alice.is_refused("/gatehouse whoami")
    assert f" {COMMAND_RATE.per_person} " in alice.slack_text(refused)
    assert "Rules" in cara.slack_text(await cara.says("/gatehouse help"))
    await alice.types("/gatehouse undo")
    await alice.sees_change(of="Redirect_chk01", where=undone)
    await alice.clicks(card, "Undo")
    await alice.sees_change(of=OLD, where=undone)
    assert len(workspace.services.rules.calls("PUT")) == 4

    clock.ahead += timedelta(minutes=2)
    assert "Rules" in alice.slack_text(await alice.says("/gatehouse help"))
    found = await workspace.bot.gatehouse.store.audit.find(Filters(who=alice.id))
    assert "refused" not in {entry.event for entry in found}, "being fast is no attempt at anything"


@pytest.mark.threat("A13")
async def test_requests_that_wait_are_limited_and_a_decision_makes_room(
    workspace: Sandbox, alice: Colleague, cara: Colleague
) -> None:
    most = MAX_WAITING_REQUESTS
    *ids, last = with_rules(workspace, most + 1)
    offered = await cara.says("/rules redirect https://f.example/a https://f.example/b")
    await cara.clicks(offered, "Do it")
    made = await cara.sees_change(state=State.APPLIED)
    await cara.says(f"/rules delete {OLD}")
    await asked(alice, ids)

    refused = await alice.is_refused(f"/rules delete {last}")
    assert f" {most} " in alice.slack_text(refused)
    await alice.says(f"/rules off {last}")
    await alice.sees_change(of=last)  # what waits for nobody is not limited
    await cara.says(f"/rules delete {last}")

    pending = await alice.says("/gatehouse pending")
    shown = alice.slack_text(pending)
    assert "22 pending changes" in shown
    assert "Old shop" in shown, "nobody's request is hidden behind a flood"
    assert shown.count("Delete “") == 20
    await alice.clicks(pending, "Next ›")
    await until(lambda: alice.slack_text(pending).count("Delete “") == 2)
    assert "22 pending changes" in alice.slack_text(await alice.says("/gatehouse digest"))

    await alice.clicks(await alice.sees_change(of=ids[0], state=State.PROPOSED), "Withdraw")
    await alice.sees_change(of=ids[0], state=State.CANCELLED)
    await asked(alice, ids[:1])
    assert len(await workspace.bot.gatehouse.store.changes.list_open()) == most + 2

    await alice.clicks(made, "Undo", confirm=True)  # an undo that somebody has to approve is not limited, either
    await alice.sees_change(state=State.PROPOSED, where=lambda each: each.request.undoes is not None)


async def test_exports_are_limited(workspace: Sandbox, alice: Colleague) -> None:
    for _ in range(EXPORT_RATE.per_person - 1):
        workspace.bot.gatehouse.limits.take(EXPORT_RATE, alice.id)
    await alice.types("/rules export")
    await alice.sees_file("rules_")

    refused = await alice.is_refused("/members export")
    assert f" {EXPORT_RATE.per_person} " in alice.slack_text(refused)


async def test_the_same_refusal_of_one_person_is_on_record_once_a_minute(workspace: Sandbox, clock: Clock) -> None:
    forger = Forger(workspace, "U0DAN0001", SUPPORT)
    audit = workspace.bot.gatehouse.store.audit
    for _ in range(30):
        await forger.types("/rules list")
    await forger.hears(WHY_NOT[Why.GUEST].what, times=30)
    assert [entry.detail for entry in await audit.find(Filters(who=forger.user))] == [{"why": "guest"}]

    clock.ahead += timedelta(seconds=61)
    await forger.types("/rules list")
    await forger.hears(WHY_NOT[Why.GUEST].what, times=31)
    assert len(await audit.find(Filters(who=forger.user))) == 2


@pytest.mark.threat("A13")
async def test_a_check_runs_once_at_a_time_for_each_person(
    workspace: Sandbox, alice: Colleague, cara: Colleague
) -> None:
    workspace.services.rules.stage.faults = service = Held()
    await alice.types("/rules check")

    await alice.is_refused("/rules check")
    await cara.types("/rules check")
    service.free.set()
    assert not is_problem((await cara.sees(f"3 findings in {len(RULES)} rules")).blocks)
    await alice.sees(f"3 findings in {len(RULES)} rules")
