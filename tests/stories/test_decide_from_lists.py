"""Somebody decides about a request where they find it: in the app's home, or in the answer of ``/gatehouse pending``."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bot.changes.model.states import State
from bot.store.audit import Filters
from sandbox.demo import Sandbox
from sandbox.slack import rendering
from sandbox.slack.message import Message
from tests.conftest import OPS
from tests.harness.colleague import Colleague, approved_by

OLD = "Redirect_x1old"
MEMBER = "bob.ceo@example.com"
DECIDE = "[Decide"
FULL = "This is everything"


@pytest.fixture
def bob(workspace: Sandbox) -> Colleague:
    return Colleague(workspace, "U0BOB0001", OPS)


async def pending(person: Colleague) -> Message:
    return await person.says("/gatehouse pending")


async def opens(person: Colleague, where: str) -> None:
    """Open the form about all requests that wait for *person*, from the list that is *where*."""
    found = await person.opens_home(DECIDE) if where == "home" else await pending(person)
    await person.clicks(found, "v1.decide.open", opens=FULL)


async def sends(person: Colleague, **filled: str) -> None:
    person.fills(**filled)
    assert await person.submits() == {}


async def test_approved_in_the_home(workspace: Sandbox, alice: Colleague, cara: Colleague) -> None:
    card = await alice.says(f"/rules delete {OLD} because it loops")
    home = rendering.view(await cara.opens_home(DECIDE))
    assert f"`https://shop.example.com/old` → `https://shop.example.com/new`\n@{alice.id}: “it loops”" in home
    await opens(cara, "home")
    assert "`https://shop.example.com/old`" in cara.form

    await sends(cara, **{"Decide about this": "Approve"})

    await cara.sees_view("v1.done")
    assert "“Old shop to new shop” deleted" in cara.form
    await cara.opens_home("Nothing is waiting for you")
    done = await alice.sees_change(where=lambda change: approved_by(change) == [cara.id])
    assert done.ts == card.ts
    assert len(workspace.services.rules.calls("DELETE")) == 1


@pytest.mark.parametrize("where", ["home", "pending"])
async def test_denied_with_a_reason(workspace: Sandbox, alice: Colleague, cara: Colleague, where: str) -> None:
    await alice.says(f"/rules delete {OLD}")
    await opens(cara, where)
    assert await cara.submits() == {"Decide about this": "Decide about one request, or close this."}
    cara.fills(**{"Decide about this": "Deny"})
    assert await cara.submits() == {"Reason": "Enter a reason: you deny a request."}

    await sends(cara, Reason="still in use")

    await alice.sees_change(state=State.DENIED, where=lambda change: change.decision.decision_reason == "still in use")
    assert workspace.services.rules.get(OLD) is not None


async def test_what_a_channel_may_not_see_is_seen_before_it_is_approved(
    workspace: Sandbox, alice: Colleague, cara: Colleague
) -> None:
    member = {"name": "Test account", "email": MEMBER, "allowedSegments": ["free"]}
    workspace.services.members.put("site_1", member)
    await alice.says(f"/members remove {MEMBER}")
    await opens(cara, "home")
    assert MEMBER in cara.form
    assert MEMBER not in rendering.view(cara.home or {})

    await sends(cara, **{"Decide about this": "Approve"})

    await alice.sees_change(of=MEMBER)
    assert workspace.services.members.get("site_1", MEMBER) is None


async def test_eight_requests_of_two_people_take_five_clicks(
    workspace: Sandbox, alice: Colleague, bob: Colleague, cara: Colleague
) -> None:
    rules = [each["id"] for each in workspace.services.rules.all() if each["status"] == "Active"][:8]
    for person, some in ((alice, rules[:5]), (bob, rules[5:])):
        for one in some:
            await person.says(f"/rules delete {one}")

    await opens(cara, "pending")  # 1
    await sends(  # 2, 3 and 4
        cara,
        **{"Decide about all 5, requested together": "Approve", "Decide about all 3, requested together": "Deny"},
        Reason="in use",
    )

    await cara.sees_view("v1.done")
    assert (cara.form.count("deleted"), cara.form.count("denied")) == (5, 3)
    assert len(workspace.services.rules.calls("DELETE")) == 5


@pytest.mark.policy('[[guards]]\noperation = "rule.delete"\nguard = "confirm"')
async def test_one_decides_about_ones_own_there_too(alice: Colleague) -> None:
    await alice.says(f"/rules delete {OLD}")
    await opens(alice, "home")
    await sends(alice, **{"Decide about this": "Withdraw"})
    await alice.sees_change(state=State.CANCELLED)


async def test_what_is_too_long_for_the_form_is_decided_on_its_card(
    workspace: Sandbox, alice: Colleague, cara: Colleague
) -> None:
    rule = workspace.services.rules.get(OLD) or {}
    pairs = [rule["pairs"][0] | {"destination": f"https://x.example/{number}/{'x' * 900}"} for number in range(150)]
    workspace.services.rules.put(rule | {"pairs": pairs})
    await alice.says(f"/rules delete {OLD}")
    await alice.says("/rules delete Redirect_chk01")

    await opens(cara, "pending")
    assert "Not shown here: open its card" in cara.form
    await sends(cara, **{"Decide about this": "Approve"})

    await alice.sees_change(of="Redirect_chk01")
    assert workspace.services.rules.get(OLD) is not None


async def test_what_has_no_room_in_the_form_is_decided_by_the_next_one(
    workspace: Sandbox, alice: Colleague, cara: Colleague
) -> None:
    rules = workspace.services.rules.all()[:20]
    for rule in rules:
        pair = rule["pairs"][0]
        long = [pair | {"source": {**pair["source"], "value": f"https://a.example/{'x' * 900}/{n}"}} for n in range(9)]
        workspace.services.rules.put(rule | {"pairs": long})
        await alice.says(f"/rules delete {rule['id']}")

    gone = 0
    while gone < len(rules):
        await opens(cara, "pending")
        shown = cara.form.count(FULL)
        assert 0 < shown <= len(rules) - gone
        assert ("decide about these first" in cara.form) == (gone + shown < len(rules))
        await sends(cara, **{f"Decide about all {shown}, requested together": "Approve"})
        await cara.sees_view("v1.done")
        gone += shown
        assert len(workspace.services.rules.calls("DELETE")) == gone, "none that was not shown"


async def test_who_lost_the_right_since_the_form_opened_is_refused_and_on_record(
    workspace: Sandbox, alice: Colleague, cara: Colleague
) -> None:
    await alice.says(f"/rules delete {OLD}")
    await opens(cara, "home")
    cara.fills(**{"Decide about this": "Approve"})
    ops = workspace.slack.state.channels[OPS]
    workspace.slack.state.channels[OPS] = replace(ops, members=tuple(each for each in ops.members if each != cara.id))
    workspace.bot.gatehouse.access.directory.forget()  # type: ignore[attr-defined]  # as after a minute

    assert await cara.submits() == {}

    await cara.sees_view("v1.done")
    assert workspace.services.rules.calls("DELETE") == []
    refused = await alice.store.audit.find(Filters(only=("refused",)))
    assert [(each.actor, each.target) for each in refused] == [(cara.id, "approve")]


async def test_only_people_who_can_decide_have_the_button(alice: Colleague, cara: Colleague, bob: Colleague) -> None:
    await alice.says(f"/rules delete {OLD}")

    assert DECIDE not in alice.slack_text(await pending(alice))
    await alice.opens_home("Nothing is waiting for you")
    listed = await pending(cara)
    assert DECIDE in cara.slack_text(listed)
    await cara.clicks(listed, "Share in channel")
    shared = await bob.sees_new_card(1)
    assert "Old shop to new shop" in bob.slack_text(shared)
    assert DECIDE not in bob.slack_text(shared)


@pytest.mark.parametrize("where", ["home", "pending"])
async def test_of_two_people_at_once_the_second_hears_who_was_first(
    workspace: Sandbox, alice: Colleague, cara: Colleague, bob: Colleague, where: str
) -> None:
    card = await alice.says(f"/rules delete {OLD}")
    await opens(cara, where)
    await bob.clicks(card, "v1.decide.approve", confirm=True)
    await alice.sees_change(where=lambda change: approved_by(change) == [bob.id])

    await sends(cara, **{"Decide about this": "Approve"})

    await cara.sees_view("v1.done")
    assert "This no longer waits for a decision" in cara.form
    assert f"@{bob.id}" in cara.form
    assert len(workspace.services.rules.calls("DELETE")) == 1


@pytest.mark.policy('[[guards]]\noperation = "rule.delete"\nguard = "approve"\napprovals = 2')
async def test_two_approve_in_the_form_one_after_the_other(alice: Colleague, cara: Colleague, bob: Colleague) -> None:
    await alice.says(f"/rules delete {OLD}")
    listed = await pending(cara)
    await cara.clicks(listed, "Decide…", opens=FULL)

    await sends(cara, **{"Decide about this": "Approve"})

    await cara.sees_view("v1.done")
    assert "1 of 2" in cara.form
    assert DECIDE not in cara.slack_text(await pending(cara))
    await opens(bob, "home")
    await sends(bob, **{"Decide about this": "Approve"})
    await alice.sees_change(where=lambda change: approved_by(change) == [cara.id, bob.id])
