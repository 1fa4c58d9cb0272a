"""What names a thing means: a number a row of one's own last list, and nothing else anywhere."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest

from sandbox.demo import Sandbox
from sandbox.services.seed import members
from sandbox.slack.message import Message
from tests.harness.colleague import Colleague

HINT = "`#n` in your next command"


def statuses(workspace: Sandbox) -> dict[str, str]:
    return {rule["id"]: rule["status"] for rule in workspace.services.rules.all()}


Publish = Callable[[Colleague, str], Awaitable[Message]]


async def mentions(person: Colleague, text: str) -> Message:
    return await person.says(f"@gatehouse {text.removeprefix('/')}")


@pytest.mark.first(2)
@pytest.mark.parametrize("publish", [Colleague.shares, mentions])
@pytest.mark.parametrize(
    ("text", "show"), [("/rules list checkout", "/rules show #1"), ("/members list anna", "/members show #1")]
)
async def test_a_list_for_all_to_see_has_no_numbers_and_changes_no_others(
    alice: Colleague, cara: Colleague, publish: Publish, text: str, show: str
) -> None:
    service = text.split(maxsplit=1)[0]
    for person in (alice, cara):
        await person.says(f"{service} list {'block' if service == '/rules' else 'elif'}")

    public = await publish(alice, text)

    shown = cara.slack_text(public)
    assert public.visible_to is None
    assert HINT not in shown
    assert "1. " not in shown
    meant = "Block the ad network" if service == "/rules" else "Elif Fischer"
    if publish is mentions:
        assert "you haven’t seen a numbered list" in alice.slack_text(await alice.says(show))
    assert meant in cara.slack_text(await cara.says(show)), "whoever reads it has a list of their own"


async def test_each_turns_a_list_for_all_into_one_of_their_own(alice: Colleague, cara: Colleague) -> None:
    public = await alice.shares("/rules list")

    await cara.clicks(public, "Next ›")
    own = await cara.sees(HINT)

    assert own.visible_to == cara.id
    name = cara.slack_text(own).split("#21 ")[1].split(" · ")[0].strip("*")
    assert name in cara.slack_text(await cara.says("/rules show #21"))


async def test_a_form_offered_in_a_channel_is_for_whoever_asked_and_the_row_of_then(alice: Colleague) -> None:
    await alice.says("/rules list checkout")
    offered = await mentions(alice, "rules edit #1")
    assert offered.visible_to == alice.id
    await alice.says("/rules list block")

    await alice.clicks(offered, "Open the form…", opens="Checkout on mobile")


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("/rules off 2", "`#2`"),
        ("/rules show 99", "`#99`"),
        ("/rules set 2 description=x", "`#2`"),
        ("/rules off 2 4", "`#2 #4`"),
        ("/rules group off 2", ""),
    ],
)
async def test_a_bare_number_is_no_part_of_a_name(workspace: Sandbox, alice: Colleague, text: str, rows: str) -> None:
    group = workspace.services.rules.group("Group_sales")
    workspace.services.rules.put_group({**(group or {}), "name": "Sales 2"})
    before = statuses(workspace)
    await alice.says("/rules list checkout")

    reply = await alice.is_refused(text)

    assert reply.visible_to == alice.id
    assert rows in alice.slack_text(reply)
    assert statuses(workspace) == before
    assert workspace.services.rules.calls("PUT") == []


async def test_a_rule_may_be_called_by_a_number(workspace: Sandbox, alice: Colleague) -> None:
    rule = workspace.services.rules.get("Redirect_x1old")
    workspace.services.rules.put({**(rule or {}), "name": "404"})

    await alice.says("/rules off 404")

    assert statuses(workspace)["Redirect_x1old"] == "Inactive"


async def test_a_whole_name_is_meant_before_a_part_however_it_is_spaced(workspace: Sandbox, alice: Colleague) -> None:
    rules = workspace.services.rules
    rules.put({**(rules.get("Redirect_x1old") or {}), "name": "Big  sale"})
    rules.put({**(rules.get("Redirect_chk01") or {}), "name": "Big sales"})
    before = statuses(workspace)

    await alice.says("/rules off big sale")

    assert statuses(workspace) == before | {"Redirect_x1old": "Inactive"}


async def test_what_a_rule_is_called_may_follow_that_it_is_one(workspace: Sandbox, alice: Colleague) -> None:
    assert "Redirect_x1old" in alice.slack_text(await alice.says("/rules show rule Old shop"))
    assert "No rule" not in alice.slack_text(await alice.says("/rules history the rule Old shop"))

    rules = workspace.services.rules
    rules.put({**(rules.get("Redirect_chk01") or {}), "name": "Rule Old shop"})
    shown = alice.slack_text(await alice.says("/rules show rule Old shop"))
    assert "Redirect_chk01" in shown, "a rule that is called so is meant before"


async def test_a_name_that_is_the_url_of_another_rule_is_asked_about(workspace: Sandbox, alice: Colleague) -> None:
    rules = workspace.services.rules
    source = (rules.get("Redirect_x1old") or {})["pairs"][0]["source"]["value"]
    rules.put({**(rules.get("Redirect_chk01") or {}), "name": source})
    before = statuses(workspace)

    await alice.says(f"/rules off {source}")

    assert statuses(workspace) == before


async def test_many_names_take_one_read_of_all_rules(workspace: Sandbox, alice: Colleague) -> None:
    names = [rule["name"] for rule in workspace.services.rules.all() if rule["status"] == "Active"][:8]
    workspace.services.rules.stage.calls.clear()

    await alice.types("/rules off " + " ".join(f'"{name}"' for name in names))
    await alice.sees_set(applied=8)

    paths = [call.path.rstrip("/") for call in workspace.services.rules.calls("GET")]
    assert sum(path.endswith("/rules") for path in paths) == 1


async def test_a_row_of_members_is_of_the_site_that_was_listed(workspace: Sandbox, bob: Colleague) -> None:
    """Somebody with the same email is on both sites."""
    reply = await bob.says("/members list anna site:docs")
    assert HINT in bob.slack_text(reply)
    email = next(each["email"] for each in members("site_2") if each["name"].startswith("Anna"))
    workspace.services.members.put("site_1", {"name": "Anna of the blog", "email": email, "allowedSegments": []})

    for text in ("/members show #1", "/members #1"):
        shown = bob.slack_text(await bob.says(text))
        assert "docs" in shown
        assert email in shown
    await bob.says("/members grant #1 vip")
    await bob.sees_change(of=email, where=lambda change: change.edit.target.site == "docs")

    granted = workspace.services.members.get("site_2", email) or {}
    assert "vip" in granted["allowedSegments"]
    assert (workspace.services.members.get("site_1", email) or {})["allowedSegments"] == []


@pytest.mark.first(2)
@pytest.mark.parametrize(
    "text",
    ["/members revoke #1 vip", "/members remove #1", "/members edit #1", "/members why #1", "/members offboard #1"],
)
async def test_a_number_without_a_list_of_members_says_so(workspace: Sandbox, bob: Colleague, text: str) -> None:
    await bob.says("/rules list")

    await bob.is_refused(text)


async def test_no_number_means_a_row_that_was_not_shown(workspace: Sandbox, alice: Colleague) -> None:
    listed = await alice.says("/rules list")
    before = [rule["status"] for rule in workspace.services.rules.all()]

    assert "`#20`" in alice.slack_text(await alice.says("/rules off #1-22"))
    assert [rule["status"] for rule in workspace.services.rules.all()] == before

    await alice.clicks(listed, "Next ›")
    await alice.sees("Page 2 of 2")
    await alice.says("/rules off #22 for 1h")
    await alice.sees_change()


async def test_the_audit_knows_a_row(workspace: Sandbox, alice: Colleague) -> None:
    await alice.says("/rules off Redirect_chk02")
    await alice.says("/rules list checkout")

    assert "Redirect_chk02" in alice.slack_text(await alice.says("/gatehouse audit #1"))
