"""`undo` takes back the last thing that a person did here, whatever it was, or refuses in words: never something older."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

import pytest

from bot.changes.model.change import Change
from bot.changes.model.parts import Guard
from bot.changes.model.states import HOLDING, State
from handlers.changes.decisions import ACTS, REASONED
from handlers.explain.table import is_problem
from handlers.grammar.parser import ALL
from sandbox.demo import Sandbox
from sandbox.slack.message import Message
from tests.conftest import Clock
from tests.doors.play import STAMPS, canonical
from tests.harness.channels import buttons
from tests.harness.colleague import Colleague
from tests.harness.held_service import Held
from tests.harness.looking import BUTTON, open_details
from tests.harness.truth import all_changes
from tests.stories.test_cost import idle

OLD, OTHER, OLDER = "Redirect_x1old", "Redirect_chk01", "Redirect_help1"
ANNA: Final = "anna.berg@example.com"
NEW: Final = '/rules make redirect https://shop.example.com/a to https://shop.example.com/b named "A to B"'
POLICY: Final = """
[roles.everyone]
channels = ["C0OPS0001"]
may = ["*"]

[[guards]]
operation = "rule.delete"
guard = "approve"
break_glass = ["everyone"]

[[guards]]
operation = "rule.create"
guard = "confirm"
"""


@dataclass(frozen=True, slots=True)
class Act:
    """What Alice does last: she types *text*, or clicks the button *name* on a card. *refused*: it can't be taken back.

    *before*: what led to that; ``cara:`` is Cara's, and so many minutes pass.
    *form*: the label and the text of the form that the button opens.
    """

    name: str
    text: str = ""
    before: tuple[str | int, ...] = ()
    form: tuple[str, str] | None = None
    refused: bool = False


def clicks(name: str, *before: str | int, form: tuple[str, str] | None = None, refused: bool = False) -> Act:
    return Act(name, before=before, form=form, refused=refused)


def types(text: str, *before: str | int, refused: bool = False) -> Act:
    return Act(" ".join(text.split()[:2]).lstrip("/"), text, before=before, refused=refused)


HOUR, PLAN, DELETE = f"/rules off {OLD} for 1h", f"/rules off {OLD} in 1h", f"/rules delete {OLD}"
SALE: Final = f'/rules set {OLD} description="For the sale"'
FREEZE: Final = "/gatehouse freeze shop.example.com for 2h"
PERFORMED: Final = (
    types(NEW),
    types(SALE),
    types("/rules on Redirect_bfri1"),
    types(f"/rules off {OLD}"),
    types(HOUR),
    types(PLAN),
    types(f"/rules off {OLD} {OTHER}"),
    types(f"/rules off {OLD} {OTHER} in 1h"),
    types("/rules group off Sales campaigns"),
    types(DELETE),
    types(f"/members grant {ANNA} vip"),
    types(f"/members revoke {ANNA} free"),
    types(f"/members remove {ANNA}"),
    types(f"/members move {ANNA} to anna@example.com"),
    types(f"/members offboard {ANNA}"),
    types(FREEZE),
    types("/gatehouse unfreeze shop.example.com", FREEZE, refused=True),
    types("/gatehouse undo", refused=True),
    types("/gatehouse token Claude", refused=True),
    clicks("confirm", NEW),
    clicks("approve", f"cara:{DELETE}", refused=True),
    clicks("keep", DELETE, refused=True),
    clicks("deny", f"cara:{DELETE}", form=("Reason", "No"), refused=True),
    clicks("break_glass", DELETE, form=("Why can’t this wait for an approval?", "It burns and all sleep")),
    clicks("undo", f"/rules off {OLD}", refused=True),
    clicks("end", HOUR, refused=True),
    clicks("until", HOUR, form=("Or until", "3h")),
    clicks("until", HOUR, form=("New end", "1 hour more")),
    clicks("until", HOUR, form=("New end", "Keep off")),
    clicks("stop", "held", f"cara:/rules off {OLD} {OTHER}", refused=True),
    clicks("now", PLAN),
    clicks("replan", PLAN, form=("When?", "in 3h"), refused=True),
    clicks("again", f"/rules off {OLD}", "undo"),
)


async def settled(alice: Colleague) -> None:
    """Return once nothing is under way."""
    while True:
        await idle(alice.store)
        now = alice.workspace.bot.gatehouse.now()
        due = [each for each in await all_changes(alice.store) if each.state in HOLDING or _is_over(each, now)]
        if not due:
            return


def _is_over(change: Change, now: datetime) -> bool:
    ends = change.request.reverts_at
    return change.is_temporary and ends is not None and ends <= now


async def world(alice: Colleague) -> dict[str, Any]:
    """What rules, members, freezes and ends there are, ids and stamps aside."""
    services, gatehouse = alice.workspace.services, alice.workspace.bot.gatehouse
    records = [*services.rules.all(), *services.members.all("site_1"), *services.members.all("site_2")]
    changes = await all_changes(alice.store)
    return {
        "records": sorted(canonical(each, without=STAMPS) for each in records),
        "freezes": [freeze.title for freeze in await gatehouse.changes.freezes.chat_freezes()],
        "ends": {each.id: each.request.reverts_at for each in changes if each.is_temporary},
    }


async def waiting(alice: Colleague) -> set[str]:
    return {each.id for each in await all_changes(alice.store) if each.state in {State.PROPOSED, State.PLANNED}}


async def happens(what: str | int, alice: Colleague, cara: Colleague, clock: Clock) -> None:
    rules = alice.workspace.services.rules
    if isinstance(what, int):
        clock.ahead += timedelta(minutes=what)
    elif what == "held":
        rules.stage.faults = Held(only_writes=True)
    elif what.startswith("/"):
        await alice.does(what)
    elif what.startswith("cara:"):
        await cara.says(what.removeprefix("cara:"))
    else:
        await click(alice, what)
    if not isinstance(rules.stage.faults, Held):
        await settled(alice)


async def click(person: Colleague, name: str, form: tuple[str, str] | None = None) -> None:
    """Click the button *name* on the newest card that has it, once the person has seen all of that."""

    def look() -> tuple[Message, dict[str, Any]] | None:
        has = [(one, each) for one in person.cards for each in buttons(one.blocks)]
        return next((it for it in reversed(has) if f"{it[1]['action_id']}.".startswith(f"v1.decide.{name}.")), None)

    card, button = await person._waits(look, name)
    if BUTTON in str(card.blocks):
        await open_details(person, card)
    if form is None:
        await person.clicks(card, button["action_id"], confirm="confirm" in button)
    else:
        await person.decides(card, button["action_id"], *form)


@pytest.mark.policy(POLICY)
@pytest.mark.parametrize("agents", [True])
@pytest.mark.parametrize("by", ["/gatehouse undo", "/rules undo"])
@pytest.mark.parametrize("act", PERFORMED, ids=lambda act: act.text or act.name)
async def test_undo_takes_back_the_last_act_and_nothing_older(
    workspace: Sandbox, alice: Colleague, cara: Colleague, clock: Clock, act: Act, by: str
) -> None:
    await alice.says(f"/rules off {OLDER}")
    for what in act.before:
        await happens(what, alice, cara, clock)
    before, waited = await world(alice), await waiting(alice)
    await (alice.does(act.text) if act.text else click(alice, act.name, act.form))
    if isinstance(faults := workspace.services.rules.stage.faults, Held):
        await idle(alice.store)
        faults.free.set()
    await settled(alice)
    after = await world(alice)

    for is_refused, text in ((act.refused, by), (True, "/gatehouse undo")):
        answer = await alice.says(text)
        if "[Do it]" in (said := alice.slack_text(answer)):
            assert text != "/gatehouse undo"
            await alice.clicks(answer, "Do it")
        await settled(alice)
        assert is_problem(answer.blocks) == is_refused, said
        assert "Undo: " not in said
        for change in await all_changes(alice.store):
            if change.state is State.PROPOSED and change.request.undoes and change.id not in waited:
                is_alone = change.decision.guard is Guard.CONFIRM
                await click(alice if is_alone else cara, "confirm" if is_alone else "approve")
                await settled(alice)
        assert await world(alice) == (after if act.refused else before)
        assert act.refused or await waiting(alice) <= waited
    clock.ahead += timedelta(hours=2)
    await settled(alice)
    assert (await world(alice))["ends"] == {}, "what ends, ends"
    assert HOUR not in act.before or (workspace.services.rules.get(OLD) or {})["status"] == "Active"


@pytest.mark.parametrize(
    ("way", "by"), [("typed", "/rules undo"), ("mentioned", "/gatehouse undo"), ("form", "/gatehouse undo")]
)
async def test_an_undo_doesnt_pass_what_is_still_at_work(
    workspace: Sandbox, alice: Colleague, way: str, by: str
) -> None:
    rules = workspace.services.rules
    await alice.says(f"/rules off {OLDER}")
    await settled(alice)
    if way == "form":
        await alice.opens(f"/rules edit {OLD}")
        alice.fills(Name="Spring")
    rules.stage.faults = service = Held()
    match way:
        case "typed":
            await alice.types(f"/rules off {OLD}")
        case "mentioned":
            await alice.types(f"@gatehouse rules off {OLD}")
        case _:
            await alice.submits()
    await service.asked.wait()

    answer = await alice.is_refused(by)
    assert ("still under way" if way == "form" else f"rules off {OLD}") in alice.slack_text(answer)
    service.free.set()
    await settled(alice)

    assert (rules.get(OLDER) or {})["status"] == "Inactive"


def test_every_act_is_performed() -> None:
    commands = {f"{kind.service} {kind.verb}" for kind in ALL if kind.writes}
    assert {*commands, *ACTS, *REASONED} - {act.name for act in PERFORMED} == set()
