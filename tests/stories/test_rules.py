"""Rules, from the first look to the deletion, as people do it."""

from __future__ import annotations

from asyncio import gather
from datetime import timedelta

import pytest

from bot.changes.model import State
from sandbox.demo import Sandbox
from tests.conftest import Clock
from tests.harness.colleague import Colleague, approved_by

OLD = "Redirect_x1old"


async def test_a_list_is_private_and_numbers_its_rows(workspace: Sandbox, alice: Colleague) -> None:
    reply = await alice.says("/rules list checkout")

    text = alice.slack_text(reply)
    assert reply.visible_to == alice.id
    assert "4 rules" in text
    assert "#1 | Checkout on mobile | " in text
    shown = await alice.says("/rules show #2")
    assert "Checkout to the new payment page" in alice.slack_text(shown)


@pytest.mark.threat("C5")
async def test_pages_turn_in_place(workspace: Sandbox, alice: Colleague) -> None:
    reply = await alice.says("/rules list")

    await alice.clicks(reply, "Next ›")
    turned = await alice.sees("[‹ Previous]")

    assert turned.ts == reply.ts


async def test_a_private_answer_can_be_shared(workspace: Sandbox, alice: Colleague, cara: Colleague) -> None:
    reply = await alice.says("/rules show Old shop")

    await alice.clicks(reply, "Share in channel")

    shared = await cara.sees("Old shop to new shop")
    assert shared.visible_to is None


async def test_rules_that_block_are_listed_by_that_word(alice: Colleague) -> None:
    blocked = alice.slack_text(await alice.says("/rules list type:cancel"))

    for word in ("block", "blocks", "Blocked"):
        listed = alice.slack_text(await alice.says(f"/rules list type:{word}"))
        assert "Block the ad network" in listed
        assert listed.count("[Show]") == blocked.count("[Show]")


async def test_filters_combine(workspace: Sandbox, alice: Colleague) -> None:
    reply = await alice.says("/rules list type:redirect status:inactive")

    assert "2 rules" in alice.slack_text(reply)


async def test_switching_off_is_announced_and_keeps_everything_else(workspace: Sandbox, alice: Colleague) -> None:
    before = workspace.services.rules.get(OLD)
    workspace.services.rules.put({**(before or {}), "priority": 7})

    card = await alice.says(f"/rules off {OLD} because it loops")

    text = alice.slack_text(card)
    after = workspace.services.rules.get(OLD)
    assert card.visible_to is None
    assert "it loops" in text
    assert after is not None
    assert after["status"] == "Inactive"
    assert after["priority"] == 7
    assert after["pairs"] == (before or {})["pairs"]


async def test_an_id_need_not_begin_with_a_type(workspace: Sandbox, alice: Colleague) -> None:
    rules, odd = workspace.services.rules, "payshield-tamper-header-001"
    rules.put({**(rules.get(OLD) or {}), "id": odd, "name": "Odd"})

    assert "Odd" in alice.slack_text(await alice.says(f"/rules show {odd}"))
    await alice.opens(f"/rules edit {odd}")
    alice.fills(Name="Odd no more")
    assert await alice.submits() == {}
    await alice.sees_change(of="Odd no more")
    await alice.types(f'/rules off "{odd}" {OLD}')
    await alice.sees_set(applied=2)
    assert {(rules.get(each) or {})["status"] for each in (odd, OLD)} == {"Inactive"}


async def test_switching_off_twice_changes_nothing(workspace: Sandbox, alice: Colleague) -> None:
    await alice.says(f"/rules off {OLD}")

    await alice.is_refused(f"/rules off {OLD}")
    assert len(workspace.services.rules.calls("PUT")) == 1


async def test_all_that_is_as_it_was_asked_to_be_is_named(workspace: Sandbox, alice: Colleague) -> None:
    names = ["Old shop to new shop", "Block the ad network"]
    refs = " ".join(f'"{name}"' for name in names)
    await alice.says(f"/rules off {refs}")
    await alice.sees_set(applied=2)
    puts = len(workspace.services.rules.calls("PUT"))

    reply = await alice.is_refused(f"/rules off {refs}")
    assert all(name in alice.slack_text(reply) for name in names)
    assert len(workspace.services.rules.calls("PUT")) == puts


async def test_what_was_asked_is_quoted_as_it_was_typed(workspace: Sandbox, alice: Colleague) -> None:
    for text in ("/rules show nobody@example.com", "/rules set none destination=https://a.example/?b=1&c=2"):
        answer = alice.slack_text(await alice.says(text))
        assert f"`{text}`" in answer.replace("&amp;", "&")


async def test_a_field_of_another_type_and_an_unknown_operator_never_leave(
    workspace: Sandbox, alice: Colleague
) -> None:
    for text, named in {
        "set Cancel_track1 to=https://shop.example.com/x": "“to”",
        f"set {OLD} destinaton=https://shop.example.com/x": "destination",
        f"set {OLD} destination=nonsense": "nonsense",
        f"set {OLD} operator=Regex": "Matches",
        "new cancel https://shop.example.com/x to https://shop.example.com/y": "“destination”",
    }.items():
        assert named in alice.slack_text(await alice.is_refused(f"/rules {text}")), text
    assert [call for call in workspace.services.rules.calls() if call.method != "GET"] == []


async def test_to_of_a_redirect_is_its_destination(workspace: Sandbox, alice: Colleague) -> None:
    await alice.says("/rules set Old shop to=https://shop.example.com/newer")

    await alice.sees_change(of=OLD)
    assert workspace.services.rules.get(OLD)["pairs"][0]["destination"] == "https://shop.example.com/newer"  # type: ignore[index]


async def test_a_button_sets_the_field_or_the_value_that_was_meant(workspace: Sandbox, alice: Colleague) -> None:
    reply = await alice.says(f"/rules set {OLD} destinaton=https://shop.example.com/newer")
    await alice.clicks(reply, "Use destination")
    changed = await alice.sees_change(of=OLD)

    reply = await alice.says(f"/rules set {OLD} operator=includes")
    await alice.clicks(reply, "Use Contains")
    await alice.sees_more(1)
    assert await alice.sees_change(of=OLD) is not changed
    pair = workspace.services.rules.get(OLD)["pairs"][0]  # type: ignore[index]
    assert (pair["destination"], pair["source"]["operator"]) == ("https://shop.example.com/newer", "Contains")


async def test_a_group_is_set_by_its_name(workspace: Sandbox, alice: Colleague) -> None:
    await alice.says(f"/rules set {OLD} group=sales")
    card = alice.slack_text(await alice.sees_change(of=OLD))
    assert "Sales campaigns" in card
    assert "Group_sales" not in card, "its id is behind Details"
    assert workspace.services.rules.get(OLD)["groupId"] == "Group_sales"  # type: ignore[index]


@pytest.mark.policy('[[guards]]\noperation = "rule.update"\nguard = "confirm"\n')
async def test_who_decides_about_a_group_reads_its_name_and_its_id(workspace: Sandbox, alice: Colleague) -> None:
    card = await alice.says(f"/rules set {OLD} group=sales")

    assert "Sales campaigns (Group_sales)" in alice.slack_text(card)
    await alice.clicks(card, "v1.decide.confirm", confirm=True)
    await alice.sees_change(of=OLD)


async def test_a_group_that_is_none_is_refused(workspace: Sandbox, alice: Colleague) -> None:
    reply = await alice.is_refused(f"/rules set {OLD} group=nonsense")
    assert "`nonsense`" in alice.slack_text(reply)


async def test_what_is_stored_wrongly_is_shown_and_edited_and_comes_into_no_copy(
    workspace: Sandbox, alice: Colleague
) -> None:
    rule = workspace.services.rules.get(OLD) or {}
    odd = [pair | {"to": "x", "source": pair["source"] | {"operator": "Regex"}} for pair in rule["pairs"]]
    workspace.services.rules.put({**rule, "pairs": odd, "status": "Bananas"})

    assert "Bananas" in alice.slack_text(await alice.says(f"/rules show {OLD}"))
    await alice.says(f"/rules set {OLD} description=Kept")
    await alice.opens(f"/rules edit {OLD}")
    alice.fills(Name="Oldest shop")
    assert await alice.submits() == {}
    await alice.sees_change(of="Oldest shop")
    kept = workspace.services.rules.get(OLD) or {}
    assert (kept["pairs"], kept["status"], kept["description"]) == (odd, "Bananas", "Kept")

    await alice.opens(f"/rules copy {OLD}")
    assert "Did you mean Matches?" in str(await alice.submits())
    alice.fills(How="is exactly")
    assert await alice.submits() == {}
    await alice.sees_change(of="Oldest shop (copy)")
    copy = next(one for one in workspace.services.rules.all() if one["name"] == "Oldest shop (copy)")
    assert "to" not in copy["pairs"][0]


async def test_a_pair_that_is_added_has_the_fields_of_its_type_only(workspace: Sandbox, alice: Colleague) -> None:
    view = await alice.opens("/rules edit Replace_api01")
    await alice.clicks(view, "Add pair")
    view = await alice.sees_form("Pair 2")
    await alice.clicks(view, "v1.form.remove.o1", opens="Add pair")
    alice.fills(URL="https://api.example.com/v3/", Find="/v3", Replace_with="/v4")
    assert await alice.submits() == {}
    await alice.sees_change(of="API v1 to v2")

    added = (workspace.services.rules.get("Replace_api01") or {})["pairs"][0]
    assert set(added) == {"source", "from", "to"}


@pytest.mark.threat("A7")
async def test_a_delete_waits_for_somebody_else_of_the_channel(
    workspace: Sandbox, alice: Colleague, cara: Colleague
) -> None:
    card = await alice.says(f"/rules delete {OLD} because it loops")
    assert workspace.services.rules.get(OLD) is not None
    assert "https://shop.example.com/new" in alice.slack_text(card)

    await alice.clicks(card, "v1.decide.approve", confirm=True)
    refusal = await alice.sees_problem()
    assert refusal.visible_to == alice.id
    assert workspace.services.rules.get(OLD) is not None

    await cara.clicks(card, "v1.decide.approve", confirm=True)
    done = await alice.sees_change(of=OLD, where=lambda change: approved_by(change) == [cara.id])

    assert done.ts == card.ts
    assert workspace.services.rules.get(OLD) is None
    assert "v1.decide.approve" not in str(done.blocks)


async def test_where_nobody_else_is_the_one_who_asked_confirms(workspace: Sandbox, alice: Colleague) -> None:
    card = await alice.says(f"/rules delete {OLD}", channel="C0QUIET01")

    await alice.clicks(card, "v1.decide.confirm", confirm=True)
    await alice.sees_change(of=OLD)

    assert workspace.services.rules.get(OLD) is None


async def test_withdrawing_keeps(workspace: Sandbox, alice: Colleague) -> None:
    card = await alice.says(f"/rules delete {OLD}")

    await alice.clicks(card, "Withdraw")
    await alice.sees_change(state=State.CANCELLED)

    assert workspace.services.rules.calls("DELETE") == []


@pytest.mark.threat("A4")
async def test_a_double_click_deletes_once(workspace: Sandbox, alice: Colleague, cara: Colleague) -> None:
    card = await alice.says(f"/rules delete {OLD}")

    await gather(
        cara.clicks(card, "v1.decide.approve", confirm=True), cara.clicks(card, "v1.decide.approve", confirm=True)
    )
    await alice.sees_change(of=OLD)

    assert len(workspace.services.rules.calls("DELETE")) == 1


async def test_a_redelivered_click_deletes_once(workspace: Sandbox, alice: Colleague, cara: Colleague) -> None:
    card = await alice.says(f"/rules delete {OLD}")
    workspace.slack.delivery.twice = True

    await cara.clicks(card, "v1.decide.approve", confirm=True)
    await alice.sees_change(of=OLD)

    assert len(workspace.services.rules.calls("DELETE")) == 1


@pytest.mark.threat("A8")
async def test_a_rule_that_changed_meanwhile_is_not_deleted(
    workspace: Sandbox, alice: Colleague, cara: Colleague
) -> None:
    card = await alice.says(f"/rules delete {OLD}")
    rule = workspace.services.rules.get(OLD)
    workspace.services.rules.put({**(rule or {}), "name": "Somebody needs this"})

    await cara.clicks(card, "v1.decide.approve", confirm=True)
    stale = await alice.sees_change(state=State.STALE)

    assert "Somebody needs this" in alice.slack_text(stale)
    assert workspace.services.rules.calls("DELETE") == []


@pytest.mark.threat("B15")
async def test_of_two_requests_to_delete_one_rule_one_is_done(
    workspace: Sandbox, alice: Colleague, cara: Colleague
) -> None:
    first = await alice.says(f"/rules delete {OLD}")
    second = await cara.says(f"/rules delete {OLD}")

    await cara.clicks(first, "v1.decide.approve", confirm=True)
    overtaken = await alice.sees_change(state=State.STALE)

    assert overtaken.ts == second.ts
    assert len(workspace.services.rules.calls("DELETE")) == 1


async def test_an_ambiguous_name_is_a_choice(workspace: Sandbox, alice: Colleague) -> None:
    reply = await alice.says("/rules delete checkout")

    assert alice.slack_text(reply).count("[Delete rule]") == 4
    assert workspace.services.rules.calls("DELETE") == []


async def test_a_rule_is_made_in_a_modal_after_a_wrong_field(workspace: Sandbox, alice: Colleague) -> None:
    await alice.opens("/rules new https://shop.example.com/a to nonsense")
    alice.fills(Name="A to B")

    assert set(await alice.submits()) == {"To"}

    alice.fills(To="https://shop.example.com/b")
    assert await alice.submits() == {}
    card = await alice.sees_change(of="A to B")

    made = next(rule for rule in workspace.services.rules.all() if rule["name"] == "A to B")
    assert made["pairs"] == [
        {
            "source": {"key": "Url", "operator": "Equals", "value": "https://shop.example.com/a"},
            "destinationType": "url",
            "destination": "https://shop.example.com/b",
        }
    ]
    assert card.visible_to is None


async def test_fields_follow_the_type_and_what_every_type_has_stays(workspace: Sandbox, alice: Colleague) -> None:
    await alice.opens("/rules new")
    alice.fills(Name="Mine", From="https://shop.example.com/x", To="https://shop.example.com/y")

    await alice.picks("Type", "Replace")
    await alice.sees_form("Find")
    await alice.picks("Type", "Redirect")
    await alice.sees_form("To:")

    assert "https://shop.example.com/y" not in alice.form
    assert "https://shop.example.com/x" in alice.form
    assert "Mine" in alice.form


async def test_more_options_open_in_place_and_keep_what_was_typed(workspace: Sandbox, alice: Colleague) -> None:
    view = await alice.opens("/rules new")
    assert "Compare" not in alice.form
    assert "Status" not in alice.form
    alice.fills(From="https://shop.example.com/sale", To="https://shop.example.com/spring", Why="It is over")

    await alice.clicks(view, "More options", opens="Compare")

    assert "https://shop.example.com/spring" in alice.form
    assert "It is over" in alice.form
    alice.fills(How="contains", Status="Off", Revert_after="2h")
    assert await alice.submits() == {}
    await alice.sees_change(of="/spring")
    made = next(one for one in workspace.services.rules.all() if "/spring" in one["name"])
    assert made["name"] == "shop.example.com/sale → /spring"
    assert (made["status"], made["pairs"][0]["source"]["operator"]) == ("Inactive", "Contains")


async def test_more_options_are_open_where_one_is_not_its_default(workspace: Sandbox, alice: Colleague) -> None:
    rule = workspace.services.rules.get(OLD) or {}
    pairs = [{**rule["pairs"][0], "source": {"key": "Url", "operator": "Equals", "value": "https://a.example/"}}]
    workspace.services.rules.put({**rule, "id": "Redirect_plain", "description": "", "pairs": pairs})
    workspace.services.rules.put({**rule, "id": "Redirect_other", "description": "By hand", "pairs": pairs})

    await alice.opens("/rules edit Redirect_plain")
    assert "More options" in alice.form
    await alice.opens("/rules edit Redirect_other")
    assert "More options" not in alice.form
    assert "Compare" in alice.form


async def test_pairs_are_added_and_removed(workspace: Sandbox, alice: Colleague) -> None:
    view = await alice.opens("/rules new cancel https://shop.example.com/x")
    alice.fills(Name="Two")

    await alice.clicks(view, "Add pair")
    view = await alice.sees_form("Pair 2")
    await alice.clicks(view, "v1.form.remove.n1", opens="Add pair")

    assert "Pair 2" not in alice.form


async def test_sixty_pairs_and_long_values_survive_an_edit(workspace: Sandbox, alice: Colleague) -> None:
    pairs = [
        {
            "source": {"key": "Url", "operator": "Equals", "value": f"https://a.example/{n}"},
            "destination": "https://b.example/" + "x" * (20_000 if n == 3 else 1),
        }
        for n in range(60)
    ]
    workspace.services.rules.put(
        {"id": "Redirect_long1", "name": "Long", "ruleType": "Redirect", "status": "Active", "pairs": pairs}
    )

    shown = await alice.says("/rules show Redirect_long1")
    assert "48 more pairs" in alice.slack_text(shown)
    view = await alice.opens("/rules edit Redirect_long1")
    await alice.clicks(view, "More options", opens="Description")
    alice.fills(Description="Kept")
    assert await alice.submits() == {}
    await alice.sees_change(of="Long")

    after = workspace.services.rules.get("Redirect_long1")
    assert after is not None
    assert after["pairs"] == pairs
    assert after["description"] == "Kept"


async def test_a_refusal_of_the_service_comes_back_with_all_that_was_typed(
    workspace: Sandbox, alice: Colleague
) -> None:
    await alice.opens("/rules new https://shop.example.com/a to https://shop.example.com/b")
    alice.fills(Name="Refused")
    workspace.services.rules.stage.faults.add("refused_200", method="POST", times=2)  # also to the mended body

    assert await alice.submits() == {}
    told = await alice.sees("Rule Payload is invalid")
    assert told.visible_to == alice.id
    await alice.clicks(told, "Open the form again…", opens="Rule Payload is invalid")

    assert "Refused" in alice.form
    assert "https://shop.example.com/b" in alice.form


async def test_a_copy_starts_inactive_and_keeps_unknown_fields(workspace: Sandbox, alice: Colleague) -> None:
    await alice.opens("/rules copy Headers_cors1")
    assert await alice.submits() == {}
    await alice.sees_change(of="(copy)")

    made = next(rule for rule in workspace.services.rules.all() if rule["name"] == "Open CORS for the app (copy)")
    assert made["status"] == "Inactive"
    assert made["version"] == 2


async def test_an_unknown_outcome_is_settled_by_looking(workspace: Sandbox, alice: Colleague, cara: Colleague) -> None:
    workspace.services.rules.stage.faults.add("cut_after", method="DELETE")
    card = await alice.says(f"/rules delete {OLD}")

    await cara.clicks(card, "v1.decide.approve", confirm=True)
    await alice.sees_change(of=OLD)

    assert len(workspace.services.rules.calls("DELETE")) == 1


async def test_a_write_that_never_arrived_is_reported_as_not_done(
    workspace: Sandbox, alice: Colleague, cara: Colleague, clock: Clock
) -> None:
    workspace.services.rules.stage.faults.add("cut_before", method="DELETE")
    card = await alice.says(f"/rules delete {OLD}")

    await cara.clicks(card, "v1.decide.approve", confirm=True)
    await alice.sees_change(state=State.UNKNOWN)
    clock.ahead += timedelta(minutes=3)
    await alice.sees_change(state=State.FAILED)

    assert workspace.services.rules.get(OLD) is not None


async def test_a_channel_that_is_archived_meanwhile_does_not_lose_the_card(
    workspace: Sandbox, alice: Colleague
) -> None:
    workspace.slack.faults.add("is_archived", method="chat.postMessage")
    await alice.types(f"/rules off {OLD}")

    card = await alice.is_notified("card")

    assert (await alice.change_of(card)).state is State.APPLIED


async def test_what_the_service_made_of_a_change_is_said(workspace: Sandbox, alice: Colleague) -> None:
    workspace.services.rules.stage.alter = lambda record: record | {"name": record["name"].upper()}

    card = await alice.says(f"/rules set {OLD} name=quiet")

    assert "QUIET" in alice.slack_text(card)
