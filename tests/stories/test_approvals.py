"""Nobody decides alone what needs two, and whoever is asked can say no, ask back, and be told."""

from __future__ import annotations

from asyncio import gather
from dataclasses import replace
from datetime import timedelta

import pytest

from sandbox.demo import Sandbox
from sandbox.slack.message import Message
from sandbox.slack.story import Person
from tests.conftest import OPS, SUPPORT, Clock, until
from tests.harness.payloads import Forger

OLD = "Redirect_x1old"
ANNA = "anna.berg@example.com"

TWO = """
[roles.everyone]
channels = ["C0OPS0001"]
may = ["read", "rule.*"]

[roles.approvers]
users = ["U0ALICE01", "U0BOB0001"]
groups = ["S0LEADS"]
may = ["approve"]

[[guards]]
operation = "rule.delete"
guard = "approve"
approvals = 2
approvers = ["approvers"]

[[guards]]
operation = "rule.update"
guard = "confirm"
"""

BREAK_GLASS = """
[roles.everyone]
channels = ["C0OPS0001"]
may = ["*"]

[roles.oncall]
groups = ["S0ONCALL"]

[[guards]]
operation = "rule.delete"
guard = "approve"
break_glass = ["oncall"]
"""


@pytest.fixture
def bob_in_ops(workspace: Sandbox) -> Person:
    return Person(workspace.slack, "U0BOB0001", OPS)


@pytest.mark.policy(TWO)
async def test_two_approvals_are_counted_and_named(
    workspace: Sandbox, alice: Person, cara: Person, bob_in_ops: Person
) -> None:
    card = await alice.says(f"/rules delete {OLD}")
    text = alice.slack_text(card)
    assert "2 approvals from @U0BOB0001" in text
    assert "S0LEADS" in text

    await cara.clicks(card, "v1.decide.approve", confirm=True)
    await alice.sees("1 of 2: approved by @U0CARA001")
    await cara.clicks(card, "v1.decide.approve", confirm=True)
    assert workspace.services.rules.get(OLD) is not None

    await bob_in_ops.clicks(card, "v1.decide.approve", confirm=True)
    done = await alice.sees("deleted")
    assert "approved by @U0CARA001, @U0BOB0001" in alice.slack_text(done)
    assert len(workspace.services.rules.calls("DELETE")) == 1


@pytest.mark.policy(TWO)
async def test_an_approver_who_lost_the_role_since_does_not_count(
    workspace: Sandbox, alice: Person, cara: Person, bob_in_ops: Person, clock: Clock
) -> None:
    card = await alice.says(f"/rules delete {OLD}")
    await cara.clicks(card, "v1.decide.approve", confirm=True)
    await alice.sees("1 of 2")
    groups = workspace.slack.state.groups
    groups["S0LEADS"] = replace(groups["S0LEADS"], users=())
    clock.ahead += timedelta(minutes=5)

    await bob_in_ops.clicks(card, "v1.decide.approve", confirm=True)
    await bob_in_ops.sees("Your approval counts, but @U0CARA001 has no role any more that allows this")

    assert workspace.services.rules.calls("DELETE") == []


@pytest.mark.policy(TWO)
async def test_an_edit_waits_for_its_own_confirmation_where_the_policy_says_so(
    workspace: Sandbox, alice: Person, cara: Person
) -> None:
    card = await alice.says(f"/rules off {OLD}")
    assert "Only @U0ALICE01 can confirm it" in alice.slack_text(card)
    assert workspace.services.rules.calls("PUT") == []

    await cara.clicks(card, "v1.decide.confirm", confirm=True)
    await cara.sees("it is their request")
    await alice.clicks(card, "v1.decide.confirm", confirm=True)
    await alice.sees("is off")


@pytest.mark.policy(TWO)
async def test_what_no_role_allows_is_refused_and_help_leaves_it_out(workspace: Sandbox, alice: Person) -> None:
    reply = await alice.says(f"/members remove {ANNA}")
    assert "None of your roles" in alice.slack_text(reply)

    who = alice.slack_text(await alice.says("/gatehouse whoami"))
    assert "You need 2 other people’s approval to delete rules." in who
    barred = next(line for line in who.splitlines() if "none of your roles allows it" in line)
    assert barred.startswith("You can’t")
    assert "remove members" in barred
    assert "members remove" not in alice.slack_text(await alice.says("/gatehouse help members"))
    refused = await alice.says("/gatehouse audit who:me")
    assert "refused" in alice.slack_text(refused)


async def test_a_denial_names_its_reason_and_takes_the_buttons(workspace: Sandbox, alice: Person, cara: Person) -> None:
    card = await alice.says(f"/rules delete {OLD}")

    await cara.clicks(card, "Deny…", opens="Reason")
    cara.fills(Reason="The newsletter links there")
    assert await cara.submits() == {}
    denied = await alice.sees("The newsletter links there")

    assert "Denied by @U0CARA001" in alice.slack_text(denied)
    assert "v1.decide.approve" not in str(denied.blocks)


async def test_a_question_goes_into_the_thread_and_the_request_stays_open(
    workspace: Sandbox, alice: Person, cara: Person
) -> None:
    card = await alice.says(f"/rules delete {OLD}")

    await cara.clicks(card, "Ask…", opens="Your question")
    cara.fills(Your_question="Why <!channel> now?")
    assert await cara.submits() == {}
    reply = await alice.sees_reply(card, "Why")

    assert "@U0CARA001 asks @U0ALICE01" in alice.slack_text(reply)
    assert "<!channel>" not in str(reply.blocks)
    await cara.clicks(card, "v1.decide.approve", confirm=True)
    await alice.sees("deleted")


@pytest.mark.threat("A9")
async def test_the_loser_of_a_race_reads_who_won(
    workspace: Sandbox, alice: Person, cara: Person, bob_in_ops: Person
) -> None:
    card = await alice.says(f"/rules delete {OLD}")

    await gather(
        cara.clicks(card, "v1.decide.approve", confirm=True), bob_in_ops.clicks(card, "v1.decide.approve", confirm=True)
    )
    await alice.sees("deleted")

    winner = _decided_by(workspace)
    loser = cara if winner == bob_in_ops.id else bob_in_ops
    told = await loser.sees("already approved")
    assert f"by @{winner}" in loser.slack_text(told)
    assert told.visible_to == loser.id
    assert len(workspace.services.rules.calls("DELETE")) == 1


def _decided_by(workspace: Sandbox) -> str:
    card = next(one for one in workspace.slack.state.messages if "deleted" in str(one.blocks))
    return "U0CARA001" if "U0CARA001" in str(card.blocks) else "U0BOB0001"


@pytest.mark.policy(BREAK_GLASS)
async def test_breaking_the_glass_is_loud_and_owes_a_review(
    workspace: Sandbox, alice: Person, cara: Person, bob_in_ops: Person, clock: Clock
) -> None:
    card = await alice.says(f"/rules delete {OLD}")

    await bob_in_ops.clicks(card, "v1.decide.break_glass")
    await bob_in_ops.sees("None of your roles")
    assert bob_in_ops.modal is None

    await alice.clicks(card, "v1.decide.break_glass", opens="Why can’t this wait for an approval?")
    alice.fills(**{"Why_can’t_this_wait_for_an_approval?": "short"})
    assert "ten characters" in (await alice.submits())["Why can’t this wait for an approval?"]
    alice.fills(**{"Why_can’t_this_wait_for_an_approval?": "It loops and everybody sleeps"})
    assert await alice.submits() == {}
    done = await alice.sees("Emergency override by")
    await alice.sees_reply(card, "went ahead without an approval")
    assert "Review due" in alice.slack_text(done)
    assert workspace.services.rules.get(OLD) is None

    await alice.clicks(done, "v1.decide.sign")
    await alice.sees("can’t review your own emergency override")
    clock.ahead += timedelta(hours=2)
    await alice.sees_reply(card, "Review due")
    assert "review due" in alice.slack_text(await cara.says("/gatehouse pending"))
    await cara.clicks(done, "v1.decide.sign")
    signed = await alice.sees("reviewed by @U0CARA001")
    assert "Review due" not in alice.slack_text(signed)


async def test_a_request_reminds_and_expires(workspace: Sandbox, alice: Person, clock: Clock) -> None:
    card = await alice.says(f"/rules delete {OLD}")

    clock.ahead += timedelta(minutes=20)
    await alice.sees_reply(card, "needs approval by")
    clock.ahead += timedelta(hours=24)
    expired = await alice.sees("nobody decided in time")

    assert "v1.decide.approve" not in str(expired.blocks)
    assert workspace.services.rules.calls("DELETE") == []


@pytest.mark.threat("A6")
@pytest.mark.parametrize("who", ["U0DAN0001", "U0FRANK01", "U0ERIN001"])
async def test_guests_strangers_and_the_deactivated_are_refused(workspace: Sandbox, alice: Person, who: str) -> None:
    channels = workspace.slack.state.channels
    channels[OPS] = replace(channels[OPS], members=(*channels[OPS].members, who))
    card = await alice.says(f"/rules delete {OLD}")
    other = Person(workspace.slack, who, OPS)

    await other.clicks(card, "v1.decide.approve", confirm=True)
    refusal = await other.sees("Nothing was changed")
    reply = await other.says("/rules list")

    assert (
        "can’t use" in other.slack_text(refusal)
        or "Only members" in other.slack_text(refusal)
        or "deactivated" in (other.slack_text(refusal))
    )
    assert "Page 1" not in other.slack_text(reply)
    assert workspace.services.rules.calls("DELETE") == []


@pytest.mark.parametrize(
    ("channel", "words"),
    [
        ("C0GENERAL", "only accepts changes in channels it is in"),
        ("C0PARTNER", "shared with another company"),
        ("D0ALICE01", "direct message"),
    ],
)
async def test_changes_are_taken_only_where_others_of_the_workspace_see_them(
    workspace: Sandbox, alice: Person, channel: str, words: str
) -> None:
    reply = await alice.says(f"/rules off {OLD}", channel=channel)

    assert words in alice.slack_text(reply)
    assert workspace.services.rules.calls("PUT") == []
    assert "rules" in alice.slack_text(await alice.says("/rules list", channel=channel))


@pytest.mark.threat("A6")
async def test_where_slack_does_not_say_who_somebody_is_nobody_may(workspace: Sandbox, alice: Person) -> None:
    workspace.slack.faults.add("internal_error", method="users.info", times=3)

    reply = await alice.says(f"/rules off {OLD}")

    assert "Slack couldn’t say who you are" in alice.slack_text(reply)
    assert workspace.services.rules.calls("PUT") == []


async def test_a_person_who_leaves_cannot_have_their_request_approved(
    workspace: Sandbox, alice: Person, cara: Person, clock: Clock
) -> None:
    card = await alice.says(f"/rules delete {OLD}")
    users = workspace.slack.state.users
    users[alice.id] = replace(users[alice.id], is_deleted=True)
    clock.ahead += timedelta(minutes=2)

    await cara.clicks(card, "v1.decide.approve", confirm=True)
    await cara.sees("deactivated")

    assert workspace.services.rules.calls("DELETE") == []


@pytest.mark.threat("C4")
async def test_a_button_on_a_copy_of_the_card_does_nothing(workspace: Sandbox, alice: Person, cara: Person) -> None:
    workspace.slack.faults.add("cut_after", method="chat.postMessage")
    await alice.types(f"/rules delete {OLD}")
    await alice.sees_more(1)  # the first answer was lost, so it was posted again
    copies = alice.cards
    await alice.sees("Delete “Old shop")

    await cara.clicks(copies[0], "v1.decide.approve", confirm=True)
    await cara.sees("This card is out of date")
    assert workspace.services.rules.calls("DELETE") == []
    await cara.clicks(copies[-1], "v1.decide.approve", confirm=True)
    await alice.sees("deleted")


@pytest.mark.threat("A10")
async def test_a_button_says_no_more_than_which_card_it_is_on(workspace: Sandbox, alice: Person, cara: Person) -> None:
    card = await alice.says(f"/rules delete {OLD}")
    other = await alice.says("/rules delete Redirect_chk01")
    values = [cara._button(one, "v1.decide.approve")[1]["value"] for one in (card, other)]
    forger = Forger(workspace, cara.id, OPS)
    wrong = [values[1], values[0][:8], "0" * 32, "x" * 3000, f"{values[0]} ", OLD, "../..", ""]

    for value in wrong:
        await forger.clicks(card, "v1.decide.approve", value)
    await until(lambda: len(forger.told) == len(wrong))
    await Forger(workspace, cara.id, SUPPORT).clicks(card, "v1.decide.approve", values[0], channel={"id": SUPPORT})
    await until(lambda: len(forger.told) == len(wrong) + 1)

    assert not [told for told in forger.told if "went wrong in Gatehouse" in told]
    assert {change.state for change in await workspace.bot.gatehouse.store.changes.open()} == {"proposed"}
    assert workspace.services.rules.calls("DELETE") == []


@pytest.mark.threat("A10")
async def test_while_no_card_is_on_record_no_message_speaks_for_a_change(
    workspace: Sandbox, alice: Person, cara: Person
) -> None:
    workspace.slack.faults.add("fatal_error", method="chat.postMessage", times=99)
    await alice.types(f"/rules delete {OLD}")
    await until(lambda: workspace.slack.faults.waiting[0].times < 99)
    changes = workspace.bot.gatehouse.store.changes
    waiting = await changes.open()
    copy = Message("9.9", OPS, workspace.slack.state.workspace.bot.id, "Delete?", [])

    await Forger(workspace, cara.id, OPS).clicks(copy, "v1.decide.approve", waiting[0].id)
    await Forger(workspace, cara.id, OPS).hears("This card is out of date")

    assert (await changes.open())[0].state == "proposed"
    assert workspace.services.rules.calls("DELETE") == []


async def test_a_stale_request_can_be_asked_again_as_it_is_now(workspace: Sandbox, alice: Person, cara: Person) -> None:
    card = await alice.says(f"/rules delete {OLD}")
    rule = workspace.services.rules.get(OLD) or {}
    workspace.services.rules.put({**rule, "name": "Renamed meanwhile"})
    await cara.clicks(card, "v1.decide.approve", confirm=True)
    stale = await alice.sees("Out of date")

    await alice.clicks(stale, "v1.decide.afresh")
    again = await alice.sees("Delete “Renamed meanwhile”?")
    await cara.clicks(again, "v1.decide.approve", confirm=True)
    await alice.sees("“Renamed meanwhile” deleted")

    assert workspace.services.rules.get(OLD) is None


@pytest.mark.threat("B16")
async def test_an_approval_waits_for_a_service_that_is_away(
    workspace: Sandbox, alice: Person, cara: Person, clock: Clock
) -> None:
    card = await alice.says(f"/rules delete {OLD}")
    workspace.services.rules.stage.faults.add("500", method="GET", times=3)

    await cara.clicks(card, "v1.decide.approve", confirm=True)
    held = await alice.sees("Nothing was changed yet")
    assert "[Withdraw]" in alice.slack_text(held)
    clock.ahead += timedelta(minutes=1)
    await alice.sees("deleted")

    assert len(workspace.services.rules.calls("DELETE")) == 1


@pytest.mark.parametrize("method", ["GET", "DELETE"])
async def test_an_approval_waits_for_a_service_that_has_too_much_to_do(
    workspace: Sandbox, alice: Person, cara: Person, method: str
) -> None:
    card = await alice.says(f"/rules delete {OLD}")
    workspace.services.rules.stage.faults.add("429", method=method, value=60)

    await cara.clicks(card, "v1.decide.approve", confirm=True)

    await alice.sees("Nothing was changed yet: the service takes no requests for now. Gatehouse tries again until")


async def test_what_waits_for_a_service_can_be_withdrawn(
    workspace: Sandbox, alice: Person, cara: Person, clock: Clock
) -> None:
    card = await alice.says(f"/rules delete {OLD}")
    workspace.services.rules.stage.faults.add("500", method="GET", times=3)
    await cara.clicks(card, "v1.decide.approve", confirm=True)
    held = await alice.sees("Nothing was changed yet")

    await alice.clicks(held, "Withdraw")
    await alice.sees("was not deleted")
    clock.ahead += timedelta(minutes=5)
    await alice.says("/gatehouse pending")

    assert workspace.services.rules.calls("DELETE") == []


@pytest.mark.policy(TWO)
async def test_a_request_that_nobody_here_could_approve_is_refused_at_once(workspace: Sandbox, alice: Person) -> None:
    users = workspace.slack.state.users
    users["U0BOB0001"] = replace(users["U0BOB0001"], is_deleted=True)

    reply = await alice.says(f"/rules delete {OLD}")

    assert "2 approvals, and only one person here can give it" in alice.slack_text(reply)


EVERYTHING = """
[[guards]]
operation = "*"
guard = "approve"
"""


@pytest.mark.policy(EVERYTHING)
async def test_what_the_service_refuses_after_an_approval_is_on_the_card(
    workspace: Sandbox, alice: Person, cara: Person
) -> None:
    await alice.opens(f"/rules edit {OLD}")
    alice.fills(Name="Renamed")
    assert await alice.submits() == {}
    card = await alice.sees("Needs approval")
    workspace.services.rules.stage.faults.add("refused_200", method="PUT")

    await cara.clicks(card, "v1.decide.approve")
    failed = await alice.sees("not changed")

    assert failed.ts == card.ts
    assert "v1.decide.approve" not in str(failed.blocks)


async def test_two_who_ask_at_once_are_both_heard(
    workspace: Sandbox, alice: Person, cara: Person, bob_in_ops: Person
) -> None:
    card = await alice.says(f"/rules delete {OLD}")
    changes = workspace.bot.gatehouse.changes
    (change,) = await workspace.bot.gatehouse.store.changes.for_targets([f"rules/{OLD}"])

    await gather(
        changes.decisions.ask(change, by=cara.id, text="Why now?"),
        changes.decisions.ask(change, by=bob_in_ops.id, text="Who uses it?"),
    )

    await alice.sees_reply(card, "Why now?")
    await alice.sees_reply(card, "Who uses it?")
