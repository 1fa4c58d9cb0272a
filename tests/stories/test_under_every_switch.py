"""The stories of a day, wherever the services may differ and on both databases: `--switch` plays all others so, too."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, Final

import pytest

from bot.changes.model.edits import Kind
from bot.changes.model.states import State
from sandbox.demo import Sandbox
from sandbox.services.switches import CHOICES
from tests.conftest import Clock
from tests.harness.colleague import Colleague, ended, undone
from tests.harness.looking import approve_card

pytestmark = pytest.mark.slow

OF_MEMBERS: Final = (
    "error_codes",
    "member_list",
    "patch_segments",
    "duplicate_email",
    "delete_answer",
    "delete_missing",
    "delete_nothing",
    "email_case",
    "revoke_unknown",
)
OF_RULES: Final = ("paging", "error_codes", "groups", "unknown_group", "object_type", "unknown_keys")


def places(names: tuple[str, ...]) -> list[Any]:
    """Every choice of each switch *names* by itself, and the last ones of all together; both databases for the ends."""
    odd = {name: CHOICES[name][0][-1] for name in names}
    single = [{name: choice} for name in names for choice in CHOICES[name][0][1:]]
    found = [pytest.param("sqlite", one, id="=".join(*one.items())) for one in single]
    for database, marks in (("sqlite", ()), ("postgres", (pytest.mark.postgres,))):
        found.append(pytest.param(database, {}, id=f"{database}-usual", marks=marks))
        found.append(pytest.param(database, odd, id=f"{database}-odd", marks=marks))
    return found


everywhere_for_members = pytest.mark.parametrize(("database_url", "switches"), places(OF_MEMBERS), indirect=True)
everywhere_for_rules = pytest.mark.parametrize(("database_url", "switches"), places(OF_RULES), indirect=True)

ANNA = "anna.berg@example.com"
NEW = "new+one@example.com"
OLD = "Redirect_x1old"


def test_every_switch_is_played() -> None:
    assert {*OF_MEMBERS, *OF_RULES} == set(CHOICES)


def segments(workspace: Sandbox, email: str) -> list[str] | None:
    member = workspace.services.members.get("site_2", email)
    return None if member is None else list(member["allowedSegments"])


@everywhere_for_members
async def test_somebody_is_let_in_changed_and_taken_out(workspace: Sandbox, bob: Colleague, cara: Colleague) -> None:
    reply = await bob.says(f"/members why {NEW} vip site:docs")

    await bob.clicks(reply, "Add on docs…", opens="Site docs")
    bob.fills(Name="New One")
    assert await bob.submits() == {}
    await bob.sees_change(of=NEW)
    assert segments(workspace, NEW) == ["vip"]
    assert "Yes: New One has “vip” on docs." in bob.slack_text(await bob.says(f"/members why {NEW} vip"))
    assert NEW in bob.slack_text(await bob.says("/members list new+one site:docs"))

    await bob.says(f"/members grant {NEW} beta,free site:docs")
    await bob.sees_change(of=NEW, where=lambda change: change.edit.kind is Kind.MEMBER_GRANT)
    await bob.says(f"/members revoke {NEW} vip site:docs")
    await bob.sees_change(of=NEW, where=lambda change: change.edit.kind is Kind.MEMBER_REVOKE)
    assert segments(workspace, NEW) == ["beta", "free"]

    await bob.types(f"/members edit {NEW} site:docs")
    await bob.sees_form("[Save]")
    bob.fills(Name="New Two", Segments=["premium"])
    assert await bob.submits() == {}
    edited = await bob.sees_change(of="New Two")
    assert segments(workspace, NEW) == ["premium"]
    await bob.clicks(edited, "Undo")
    await bob.sees_change(where=undone)
    assert sorted(segments(workspace, NEW) or []) == ["beta", "free"]

    card = await bob.says(f"/members remove {NEW} site:docs because she left")
    assert segments(workspace, NEW) is not None
    await approve_card(cara, card)
    await bob.sees_change(of=NEW, where=lambda change: change.edit.kind is Kind.MEMBER_REMOVE)
    assert segments(workspace, NEW) is None

    await bob.types("/gatehouse undo")
    await bob.sees_change(where=lambda change: undone(change) and change.edit.kind is Kind.MEMBER_REMOVE)
    assert sorted(segments(workspace, NEW) or []) == ["beta", "free"]
    assert NEW in bob.slack_text(await bob.says(f"/members show {NEW} site:docs"))


@everywhere_for_members
async def test_what_cannot_be_done_is_told_and_what_is_for_a_while_ends(
    workspace: Sandbox, bob: Colleague, cara: Colleague, clock: Clock
) -> None:
    members = workspace.services.members
    await bob.opens(f"/members add {ANNA}")
    assert await bob.submits() == {}
    await bob.sees_form("already")
    assert members.calls("POST") == []
    for refused in (f"/members grant {ANNA} platinum", "/members show nobody@example.com"):
        await bob.is_refused(refused)

    await bob.says(f"/members grant {ANNA} vip for 2h")
    await bob.sees_change(of=ANNA)
    assert (members.get("site_1", ANNA) or {})["allowedSegments"] == ["free", "vip"]
    clock.ahead += timedelta(hours=2, minutes=1)
    await bob.sees_change(where=ended)
    assert (members.get("site_1", ANNA) or {})["allowedSegments"] == ["free"]

    card = await bob.says(f"/members remove {ANNA}")
    members.remove("site_1", ANNA)
    await approve_card(cara, card)
    await bob.sees_change(state=State.STALE)
    assert members.calls("DELETE")[1:] == [], "only the end of the grant"


@everywhere_for_rules
async def test_a_rule_is_found_made_changed_and_deleted(workspace: Sandbox, alice: Colleague, cara: Colleague) -> None:
    rules = workspace.services.rules
    for number in range(40):
        more = {"id": f"Redirect_more{number}", "name": f"More {number}", "isSample": False, "schemaVersion": "3.0.0"}
        rules.put({**(rules.get(OLD) or {}), **more})
    assert "40 rules" in alice.slack_text(await alice.says("/rules list more"))
    which = alice.slack_text(await alice.says("/rules which https://shop.example.com/old"))
    assert "Old shop to new shop" in which

    await alice.opens("/rules new https://shop.example.com/from to https://shop.example.com/there")
    alice.fills(Name="From here")
    assert await alice.submits() == {}
    await alice.sees_change(of="From here")
    made = next(rule for rule in rules.all() if rule["name"] == "From here")

    await alice.says(f"/rules set {made['id']} destination=https://shop.example.com/elsewhere")
    changed = await alice.sees_change(of="From here", where=lambda change: change.edit.kind is Kind.RULE_UPDATE)
    assert (rules.get(made["id"]) or {})["pairs"][0]["destination"] == "https://shop.example.com/elsewhere"
    await alice.clicks(changed, "Undo")
    await alice.sees_change(where=undone)
    assert {**(rules.get(made["id"]) or {}), "modificationDate": 0} == {**made, "modificationDate": 0}

    switched = (made["id"], OLD, "Redirect_more1")
    await alice.types(f"/rules off {' '.join(switched)}")
    await alice.sees_set(applied=3)
    assert {(rules.get(each) or {})["status"] for each in switched} == {"Inactive"}

    card = await alice.says(f"/rules delete {made['id']}")
    await cara.clicks(card, "v1.decide.approve", confirm=True)
    await alice.sees_change(of="From here", where=lambda change: change.edit.kind.destroys)
    assert rules.get(made["id"]) is None
    await alice.types("/gatehouse undo")
    await alice.sees_change(where=lambda change: undone(change) and change.edit.kind.destroys)
    assert "From here" in alice.slack_text(await alice.says(f"/rules show {made['id']}"))
    assert len([rule for rule in rules.all() if rule["name"] == "From here"]) == 1
    await alice.is_refused("/rules show Redirect_nothing")
