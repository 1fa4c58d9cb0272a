"""People who decide about a change can see all of it, and do where its card doesn't show everything."""

from __future__ import annotations

import asyncio

import pytest

from bot.changes.refusals import LookFirst
from bot.changes.rights import Decision
from sandbox.demo import Sandbox
from tests.conftest import OPS
from tests.harness.colleague import Colleague
from tests.harness.looking import open_details
from tests.harness.policies import BREAK_GLASS
from tests.harness.truth import changes_of

OLD = "Redirect_x1old"
LOOK = "before you decide"

EVERYTHING = BREAK_GLASS.replace("member.grant", "*")
LEADS = """
[roles.everyone]
channels = ["C0OPS0001", "C0SUPPORT"]
may = ["*"]

[roles.leads]
users = ["U0CARA001"]

[[guards]]
operation = "member.remove"
guard = "approve"
approvers = ["leads"]
"""

OPERATORS = """
[roles.operators]
users = ["U0ALICE01", "U0CARA001"]
may = ["*"]

[[guards]]
operation = "rule.update"
guard = "confirm"
"""


def redirect(number: int, *, pairs: int = 1) -> dict[str, object]:
    sources = [f"https://t.example/{number}-{at}" for at in range(1, pairs + 1)]
    return {
        "id": f"Redirect_tst{number:02d}",
        "name": f"Test rule {number}",
        "description": "",
        "ruleType": "Redirect",
        "status": "Inactive",
        "pairs": [
            {"source": {"key": "Url", "operator": "Equals", "value": source}, "destination": "https://new.example/"}
            for source in sources
        ],
    }


async def deletion_of_fourteen(workspace: Sandbox, alice: Colleague) -> str:
    for number in range(1, 14):
        workspace.services.rules.put(redirect(number))
    workspace.services.rules.put((workspace.services.rules.get(OLD) or {}) | {"name": "Test rule 14"})
    ids = [f"Redirect_tst{number:02d}" for number in range(1, 14)]
    return f"/rules delete {' '.join([*ids, OLD])}"


@pytest.mark.threat("A14")
async def test_nobody_has_seen_what_could_not_be_drawn(
    workspace: Sandbox, alice: Colleague, cara: Colleague, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever button somebody still has: the plain card shows nothing of the change."""

    def broken(*_: object) -> None:
        raise ValueError

    monkeypatch.setattr("handlers.changes.cards.draw_card", broken)
    card = await alice.says(f"/rules delete {OLD}")
    assert "can’t show what this changes" in alice.slack_text(card)
    gatehouse = workspace.bot.gatehouse
    change = await alice.change_of(card)
    async with asyncio.timeout(10):
        while not await gatehouse.store.cards.link(change.id):  # noqa: ASYNC110  what is noted with the card comes before
            await asyncio.sleep(0.01)

    with pytest.raises(LookFirst):
        await gatehouse.changes.decisions.decide(change, Decision.APPROVE, cara.id)
    assert workspace.services.rules.get(OLD) is not None


@pytest.mark.threat("A14")
async def test_the_last_of_fourteen_deletions_is_seen_before_they_are_approved(
    workspace: Sandbox, alice: Colleague, cara: Colleague
) -> None:
    card = await alice.says(await deletion_of_fourteen(workspace, alice))
    text = alice.slack_text(card)
    assert "Test rule 1: delete, `https://t.example/1-1` → `https://new.example/`" in text
    assert "Test rule 14" not in text
    assert "https://shop.example.com/old" not in text
    assert LOOK in text

    await cara.clicks(card, "v1.decide.approve", confirm=True)
    refused = await cara.sees_problem()
    assert refused.visible_to == cara.id
    assert workspace.services.rules.calls("DELETE") == []

    await cara.clicks(refused, "Details", opens="Requested by")
    assert f"14. Delete rule `Test rule 14` `{OLD}`" in cara.form
    assert "`https://shop.example.com/old`" in cara.form
    await cara.clicks(card, "v1.decide.approve", confirm=True)
    await alice.sees_set(applied=14)


async def test_a_look_counts_for_the_person_who_looked_and_for_that_change(
    workspace: Sandbox, alice: Colleague, cara: Colleague
) -> None:
    bob = Colleague(workspace, "U0BOB0001", OPS)
    card = await alice.says(await deletion_of_fourteen(workspace, alice))

    await open_details(bob, card)
    await open_details(alice, card)
    await cara.clicks(card, "v1.decide.approve", confirm=True)
    await cara.sees_problem()
    assert workspace.services.rules.calls("DELETE") == []

    await bob.clicks(card, "v1.decide.approve", confirm=True)
    await alice.sees_set(applied=14)


@pytest.mark.threat("A14")
async def test_two_people_whose_masked_emails_are_alike_are_told_apart(
    workspace: Sandbox, alice: Colleague, cara: Colleague
) -> None:
    cards = []
    for email in ("bob.ceo@example.com", "bill.spam@example.com"):
        member = {"name": "Test account", "email": email, "allowedSegments": ["free"]}
        workspace.services.members.put("site_1", member)
        cards.append(await alice.says(f"/members remove {email}"))
        assert email not in alice.slack_text(cards[-1])

    await cara.clicks(cards[0], "v1.decide.approve", confirm=True)
    await cara.sees_problem()
    assert "`bob.ceo@example.com`" in await open_details(cara, cards[0])
    await cara.clicks(cards[0], "v1.decide.approve", confirm=True)
    await alice.sees_change(of="bob.ceo@example.com")

    assert workspace.services.members.get("site_1", "bob.ceo@example.com") is None
    assert workspace.services.members.get("site_1", "bill.spam@example.com") is not None
    assert "`bill.spam@example.com`" in await open_details(cara, cards[1])
    shown = [str(one.blocks) for one in workspace.slack.state.messages if one.channel == OPS and not one.visible_to]
    assert not [text for text in shown if "bob.ceo" in text or "bill.spam" in text]


@pytest.mark.policy(LEADS)
async def test_only_people_who_can_decide_see_everything(alice: Colleague, bob: Colleague, cara: Colleague) -> None:
    card = await alice.says("/members remove anna.berg@example.com")

    reply = await bob.says(f"/gatehouse inspect {(await alice.change_of(card)).id[:8]}")

    assert "anna.berg@example.com" not in bob.slack_text(reply)
    assert bob.modal is None
    assert "anna.berg@example.com" in await open_details(cara, card)
    await bob.is_refused("/gatehouse inspect 123456")


@pytest.mark.policy(OPERATORS)
async def test_who_may_not_read_rules_does_not_learn_who_asked_for_a_change(
    workspace: Sandbox, alice: Colleague, bob: Colleague, cara: Colleague
) -> None:
    await alice.says(f"/rules off {OLD}")
    change, *_ = await changes_of(workspace.bot.gatehouse.store, alice.id)
    inspect = f"/gatehouse inspect {change.id[:8]}"

    told = bob.slack_text(await bob.says(inspect))

    assert "None of your roles allows this" in told
    assert alice.id not in told
    assert "it is their request" in cara.slack_text(await cara.says(inspect))


async def test_what_is_too_long_for_a_modal_comes_as_a_file(
    workspace: Sandbox, alice: Colleague, cara: Colleague
) -> None:
    body = "\n".join(f"line {number} of a script" for number in range(2_000))
    pair = {"source": {"key": "Url", "operator": "Equals", "value": "https://t.example/"}, "response": {"value": body}}
    workspace.services.rules.put(
        {"id": "Response_r1", "name": "R", "ruleType": "Response", "status": "Active", "pairs": [pair]}
    )
    card = await alice.says("/rules delete Response_r1")
    assert LOOK in alice.slack_text(card)

    await cara.clicks(card, "Details")
    file, message = await cara.sees_file("gatehouse-change-")
    assert message.channel == cara.dm
    content = (file.content or b"").decode()

    assert "answer's body: line 0 of a script↵line 1" in content
    assert "line 1999 of a script" in content
    await cara.clicks(card, "v1.decide.approve", confirm=True)
    await alice.sees_change(of="Response_r1")


@pytest.mark.first(2)
@pytest.mark.threat("A14")
@pytest.mark.policy(EVERYTHING)
@pytest.mark.parametrize(
    "destination",
    [
        f"https://shop.example.com%2F{'a' * 300}@evil.example/x",
        f"https://shop.example.com-{'-'.join(['secure'] * 20)}.evil.example/x",
        "https://shop.example.com@evil.example/",
        f"https://evil.example/{'a' * 300}",
    ],
)
async def test_the_host_that_a_url_leads_to_is_on_the_card(alice: Colleague, destination: str) -> None:
    card = await alice.says(f"/rules set {OLD} destination={destination}")

    text = alice.slack_text(card)
    assert "evil.example/" in text
    assert ("leads to evil.example" in text) == ("@" in destination)


@pytest.mark.threat("A14")
async def test_invisible_letters_and_other_scripts_are_visible_and_warned_of(
    workspace: Sandbox, alice: Colleague
) -> None:
    workspace.services.rules.put(redirect(1) | {"id": "Redirect_fil1", "name": "Check\u2800out\u3164"})
    workspace.services.rules.put(redirect(2) | {"id": "Redirect_mix1", "name": "\u0421heckout"})

    card = alice.slack_text(await alice.says("/rules delete Redirect_fil1"))
    assert "Check\\u2800out\\u3164" in card
    assert "In “name”: invisible characters (U+2800 U+3164)." in card
    card = alice.slack_text(await alice.says("/rules delete Redirect_mix1"))
    assert "a word mixes Latin letters" in card
