"""In a freeze nobody changes what it covers but by the emergency override; its maker lifts it, or two others."""

from __future__ import annotations

import asyncio
from datetime import datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo

import pytest

from bot.changes.model.parts import Held
from bot.changes.model.states import State
from sandbox.demo import Sandbox
from tests.conftest import OPS, Clock, until
from tests.harness.channels import buttons
from tests.harness.colleague import Colleague, ended, undone
from tests.harness.held_service import Held as HeldService
from tests.harness.looking import approve_card
from tests.harness.policies import BREAK_GLASS
from tests.stories.test_planned import HOUR, MOMENT, OLD, status


@pytest.fixture
def bob(workspace: Sandbox) -> Colleague:
    """In the channel that the others are in."""
    return Colleague(workspace, "U0BOB0001", OPS)


FREEZE = "/gatehouse freeze shop.example.com for 2h because cutover"


@pytest.mark.threat("B18")
@pytest.mark.parametrize(
    "text",
    [
        f"/rules off {OLD}",
        f'/rules set {OLD} description="For the sale"',
        f"/rules delete {OLD}",
        f"/rules off {OLD} Redirect_imgs2",
        "/rules group off Sales campaigns",
        '/rules make redirect https://shop.example.com/sale to https://shop.example.com/w named "Sale" for 1h',
        f"/rules off {OLD} in 1h",
    ],
)
async def test_what_is_frozen_is_not_changed_but_planned_for_after(
    workspace: Sandbox, alice: Colleague, bob: Colleague, clock: Clock, text: str
) -> None:
    await bob.does(FREEZE)
    refused = await alice.is_refused(text)

    assert "cutover" in alice.slack_text(refused)
    assert workspace.services.rules.calls("PUT") == workspace.services.rules.calls("POST") == []
    await alice.clicks(refused, "Plan it for then")
    await alice.sees_change(state=State.PROPOSED if "delete" in text else State.PLANNED)


async def test_what_would_be_over_by_then_is_not_offered_for_then(alice: Colleague, bob: Colleague) -> None:
    await bob.does("/gatehouse freeze everything for 5h because cutover")
    soon = f"{datetime.now(ZoneInfo('Europe/Berlin')) + timedelta(hours=2):%d %B %H:%M}"
    answer = await alice.says(f"/rules off {OLD} until {soon}")

    assert "cutover" in alice.slack_text(answer)
    assert "Plan it for then" not in alice.slack_text(answer)


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("/rules pause old shop", "Do it"),
        ("/rules block https://shop.example.com/promo", "All below"),
        ("/members please give anna.berg@example.com staff access", "Do it"),
    ],
)
async def test_what_a_sentence_asks_for_is_planned_for_after_the_freeze(
    workspace: Sandbox, alice: Colleague, bob: Colleague, text: str, label: str
) -> None:
    await bob.does("/gatehouse freeze everything for 2h because cutover")
    await alice.clicks(await alice.says(text), label)
    refused = await alice.sees_problem("cutover")

    await alice.clicks(refused, "Plan it for then")
    await alice.sees_change(state=State.PLANNED)


async def test_what_is_temporary_ends_and_may_be_ended(
    workspace: Sandbox, alice: Colleague, bob: Colleague, clock: Clock
) -> None:
    await alice.says(f"/rules off {OLD} for 1h")
    await alice.sees_change()
    await bob.does(FREEZE)
    clock.ahead += HOUR + MOMENT
    await alice.sees_change(where=ended)
    assert status(workspace) == "Active"


@pytest.mark.threat("B18")
async def test_a_request_waits_for_the_end_of_the_freeze(
    workspace: Sandbox, alice: Colleague, bob: Colleague, cara: Colleague, clock: Clock
) -> None:
    card = await alice.says(f"/rules delete {OLD}")
    await bob.does(FREEZE)
    await until(lambda: "cutover" in str(card.blocks))
    await approve_card(cara, card)
    await cara.sees_problem()
    assert workspace.services.rules.get(OLD) is not None

    clock.ahead += 2 * HOUR + MOMENT
    await approve_card(cara, card)
    await alice.sees_change()
    assert workspace.services.rules.get(OLD) is None


@pytest.mark.threat("B18")
async def test_what_is_planned_within_is_counted_and_held_at_its_start(
    workspace: Sandbox, alice: Colleague, bob: Colleague, cara: Colleague, clock: Clock
) -> None:
    await alice.does("/rules off Redirect_imgs2 in 3h")
    await alice.types(f"/rules off {OLD} in 1h")
    card = await alice.sees_change(of="Old shop", state=State.PLANNED)
    assert "1 planned change won’t start" in bob.slack_text(await bob.does(FREEZE))
    clock.ahead += HOUR + MOMENT
    held = await alice.sees_change(state=State.PLANNED, where=lambda change: change.run.held is Held.FROZEN)
    assert held.ts == card.ts
    assert status(workspace) == "Active"
    await alice.clicks(held, "v1.decide.now")
    await alice.sees_problem()

    clock.ahead += HOUR
    await alice.clicks(held, "v1.decide.now")
    await alice.sees_change()
    assert status(workspace) == "Inactive"


@pytest.mark.threat("B18")
async def test_an_approval_that_comes_after_the_start_is_for_now_which_is_frozen(
    workspace: Sandbox, alice: Colleague, bob: Colleague, cara: Colleague, clock: Clock
) -> None:
    await alice.types(f"/rules delete {OLD} in 1h")
    card = await alice.sees_change(state=State.PROPOSED)
    await bob.does("/gatehouse freeze shop.example.com in 65m for 2h because cutover")
    clock.ahead += HOUR + timedelta(minutes=10)
    await approve_card(cara, card)
    await cara.sees_problem("cutover")
    assert workspace.services.rules.get(OLD) is not None


@pytest.mark.parametrize("form_timeout", [60.0])
async def test_a_form_says_that_its_rule_is_frozen_and_keeps_what_was_typed(
    workspace: Sandbox, alice: Colleague, bob: Colleague, clock: Clock
) -> None:
    await bob.does(FREEZE)
    await alice.opens(f"/rules edit {OLD}")
    assert "is frozen until" in alice.form
    alice.fills(Name="After the sale")
    assert await alice.submits() == {}
    assert "What you typed is kept" in alice.form

    clock.ahead += 2 * HOUR + MOMENT
    assert await alice.submits() == {}
    await alice.sees_change(of="After the sale")


async def test_a_bulk_change_under_way_goes_on(workspace: Sandbox, alice: Colleague, bob: Colleague) -> None:
    workspace.services.rules.stage.faults = held = HeldService(only_writes=True)
    await alice.types(f"/rules off {OLD} Redirect_chk01 Redirect_imgs2")
    async with asyncio.timeout(30):
        await held.asked.wait()
    await alice.sees("Switch off 3 rules")  # else it may be taken for the answer to the freeze
    await bob.does("/gatehouse freeze everything for 2h")
    await bob.sees("goes on")
    held.free.set()
    await alice.sees_set(applied=3)


@pytest.mark.threat("B18")
async def test_its_maker_lifts_a_freeze_alone(workspace: Sandbox, alice: Colleague, bob: Colleague) -> None:
    card = await bob.does(FREEZE)
    await alice.is_refused(f"/rules off {OLD}")
    await bob.clicks(card, "Lift")
    await bob.sees("was lifted")
    await alice.says(f"/rules off {OLD}")
    await alice.sees_change()


@pytest.mark.threat("B18")
async def test_two_others_lift_a_freeze_together(
    workspace: Sandbox, alice: Colleague, bob: Colleague, cara: Colleague
) -> None:
    card = await bob.does(FREEZE)
    await cara.clicks(card, "Lift")
    again = await cara.sees("Someone else has to agree")
    await cara.sees("asked to lift it")
    assert not list(buttons(card.blocks))
    await cara.is_refused("/gatehouse unfreeze shop.example.com")
    await alice.is_refused(f"/rules off {OLD}")

    await alice.clicks(again, "Lift freeze")
    await alice.sees("was lifted")
    await until(lambda: not list(buttons(again.blocks)))
    await alice.says(f"/rules off {OLD}")
    await alice.sees_change()
    await bob.is_refused("/gatehouse unfreeze shop.example.com")


async def test_who_clicks_twice_to_lift_it_has_asked_once(alice: Colleague, bob: Colleague) -> None:
    card = await bob.does(FREEZE)
    await asyncio.gather(*[alice.clicks(card, "Lift") for _ in range(2)])

    await alice.sees_problem("You already asked")
    assert str([one.blocks for one in alice.cards]).count("Someone else has to agree") == 1


@pytest.mark.threat("B18")
async def test_of_two_who_lift_it_at_once_both_are_counted(
    workspace: Sandbox, alice: Colleague, bob: Colleague, cara: Colleague
) -> None:
    card = await bob.does(FREEZE)
    await asyncio.gather(alice.clicks(card, "Lift"), cara.clicks(card, "Lift"))

    await alice.sees("was lifted")
    await alice.says(f"/rules off {OLD}")
    await alice.sees_change()


async def test_what_another_freeze_covers_stays_frozen(
    workspace: Sandbox, alice: Colleague, bob: Colleague, cara: Colleague
) -> None:
    await alice.does("/gatehouse freeze everything for 4h because migration")
    await bob.clicks(await bob.does(FREEZE), "Lift")
    await alice.sees("was lifted")
    assert "migration" in alice.slack_text(await alice.is_refused(f"/rules off {OLD}"))


@pytest.mark.threat("B18")
async def test_in_a_freeze_ones_own_act_is_undone_but_not_done_again(
    workspace: Sandbox, alice: Colleague, bob: Colleague
) -> None:
    await alice.says(f"/rules off {OLD}")
    card = await alice.sees_change()
    await bob.does(FREEZE)

    await alice.clicks(card, "Undo")
    back = await alice.sees_change(where=undone)
    assert status(workspace) == "Active"
    await alice.clicks(back, "Request again")
    await alice.sees_problem("is frozen")
    assert status(workspace) == "Active"


@pytest.mark.parametrize(
    ("frozen", "lifted"),
    [
        ("everything", "everything"),
        ("all", "Everything"),
        ("shop.example.com", "https://SHOP.example.com/"),
        ("group:Sales", 'group:"sales campaigns"'),
    ],
)
async def test_a_freeze_is_lifted_in_whatever_words_it_was_made(
    alice: Colleague, bob: Colleague, frozen: str, lifted: str
) -> None:
    await alice.does(f"/gatehouse freeze {frozen} for 1h")
    await alice.says(f"/gatehouse unfreeze {lifted}")
    await bob.says(f"/gatehouse unfreeze {lifted}")
    await bob.sees("was lifted")


OVERRIDE = BREAK_GLASS.replace("member.grant", "rule.update").replace('"approve"', '"none"')


@pytest.mark.policy(OVERRIDE)
async def test_where_an_override_passes_a_freeze_the_preview_offers_the_request_too(
    workspace: Sandbox, alice: Colleague, bob: Colleague
) -> None:
    await bob.does(FREEZE)
    preview = await alice.says("/rules pause old shop")

    await alice.clicks(preview, "Do it")
    assert "Emergency override" in alice.slack_text(await alice.sees_change(state=State.PROPOSED))


@pytest.mark.threat("B18")
@pytest.mark.policy(OVERRIDE)
async def test_the_emergency_override_passes(
    workspace: Sandbox, alice: Colleague, bob: Colleague, clock: Clock
) -> None:
    await bob.does(FREEZE)
    card = await alice.says(f"/rules off {OLD}")
    await alice.clicks(card, "v1.decide.confirm")
    await alice.sees_problem()
    await alice.overrides(card)
    done = await alice.sees_change(where=lambda change: change.decision.glass_broken)
    assert status(workspace) == "Inactive"
    assert "Emergency override" in alice.slack_text(done)


@pytest.mark.policy(OVERRIDE)
async def test_a_card_says_what_is_frozen_as_long_as_it_is(
    workspace: Sandbox, alice: Colleague, bob: Colleague, cara: Colleague
) -> None:
    freeze = await bob.does(FREEZE)
    card = await alice.says(f"/rules off {OLD}")
    assert "only an emergency override gets through" in alice.slack_text(card)
    await bob.clicks(freeze, "Lift")
    await until(lambda: "cutover" not in str(card.blocks))
    assert "v1.decide.break_glass" not in {one["action_id"] for one in buttons(card.blocks)}
    await alice.clicks(card, "v1.decide.confirm")
    await alice.sees_change()


@pytest.mark.policy(OVERRIDE.replace('"none"', '"confirm"'))
async def test_what_was_requested_before_a_freeze_can_be_overridden(alice: Colleague, bob: Colleague) -> None:
    card = await alice.says(f"/rules off {OLD}")
    await bob.does(FREEZE)
    await until(lambda: "cutover" in str(card.blocks))
    await alice.overrides(card)
    await alice.sees_change(where=lambda change: change.decision.glass_broken)


@pytest.mark.policy(OVERRIDE)
async def test_another_time_out_of_a_freeze_is_not_called_frozen(
    workspace: Sandbox, alice: Colleague, bob: Colleague
) -> None:
    await alice.does("/gatehouse freeze everything in 1h for 2h")
    plan = await alice.says(f"/rules off {OLD} in 90m")
    await alice.overrides(plan)
    planned = await alice.sees_change(state=State.PLANNED)
    await alice.decides(planned, "v1.decide.replan", "When?", "in 5h")
    again = await alice.sees_change(state=State.PROPOSED)
    assert "frozen" not in alice.slack_text(again)


POLICY = """
[[freeze]]
from = 2020-01-01 00:00:00
to = 2100-01-01 00:00:00
tz = "Europe/Berlin"
hosts = ["*.example.com"]
except = ["images.example.com"]
why = "Christmas"
"""


@pytest.mark.policy(POLICY)
async def test_a_freeze_of_the_policy_is_lifted_by_nobody(workspace: Sandbox, alice: Colleague) -> None:
    assert "Christmas" in alice.slack_text(await alice.is_refused(f"/rules off {OLD}"))
    for command in ("/gatehouse whoami", "/gatehouse freezes", f"/rules show {OLD}"):
        assert "Christmas" in alice.slack_text(await alice.says(command)), command
    await alice.is_refused("/gatehouse unfreeze *.example.com")


@pytest.mark.parametrize(
    "words",
    ["shop for 2h", "shop.example.com until yesterday", "group:nothing for 2h", "site:x for 2h"],
)
async def test_what_is_no_freeze_is_told(alice: Colleague, words: str) -> None:
    await alice.is_refused(f"/gatehouse freeze {words}")
    await alice.says("/rules off Redirect_imgs2")
    await alice.sees_change()


async def test_home_says_what_is_frozen(workspace: Sandbox, alice: Colleague, bob: Colleague) -> None:
    await bob.does(FREEZE)
    assert "cutover" in str(await alice.opens_home("cutover"))


MANY: Final = "\n".join(
    f'[[freeze]]\nfrom = 2020-01-01 00:00:00\nto = 2099-01-01 00:00:00\nhosts = ["shop-{number}.example"]'
    for number in range(45)
)


@pytest.mark.policy(MANY)
async def test_each_of_many_freezes_is_on_a_page(alice: Colleague) -> None:
    pages = [alice.slack_text(await alice.says(f"/gatehouse freezes page:{number}")) for number in (1, 2, 3)]

    assert all("45 freezes" in page for page in pages)
    assert ["Next" in page for page in pages] == [True, True, False]
    assert all(f"shop-{number}.example" in "".join(pages) for number in range(45))
