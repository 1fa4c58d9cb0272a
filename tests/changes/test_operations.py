"""What a change needs the right and the guard for follows from its difference, whatever its kind is called."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from bot.changes.model.change import Change
from bot.changes.model.edits import Edit, Kind, Need, Target, operations_of
from bot.changes.model.items import Item
from bot.changes.model.parts import ChangeRequest
from bot.changes.model.states import State
from bot.changes.proposals import Proposal, Undoing, combine, inverse
from bot.text.documents import dump, load
from tests.harness.proposing import CHANGES, with_fields

MEMBERS = tuple(kind for kind in Kind if kind.value.startswith("member."))
NOW = datetime(2026, 11, 22, tzinfo=UTC)


def member(name: str | None, *segments: str) -> dict[str, Any]:
    return {"email": "zed@example.com", "name": name, "allowedSegments": list(segments)}


NOBODY = None
ZED, ZED_FREE, ZED_VIP, ZOE_VIP = member("Zed"), member("Zed", "free"), member("Zed", "vip"), member("Zoe", "vip")


@pytest.mark.parametrize(
    ("before", "after", "needed"),
    [
        (NOBODY, ZED, {"member.add"}),
        (NOBODY, ZED_VIP, {"member.add", "member.grant"}),
        (ZED_VIP, NOBODY, {"member.remove"}),
        (NOBODY, NOBODY, set()),
        (ZED_VIP, ZOE_VIP, {"member.update"}),
        (ZED, member(None), {"member.update"}),
        (ZED_FREE, member("Zed", "vip", "free"), {"member.grant"}),
        (member("Zed", "vip", "free"), ZED_FREE, {"member.revoke"}),
        (ZED_FREE, ZED_VIP, {"member.grant", "member.revoke"}),
        (ZED_FREE, ZOE_VIP, {"member.update", "member.grant", "member.revoke"}),
        (ZED_FREE, {"email": "zed@example.com", "name": "Zed"}, {"member.revoke"}),
        ({**ZED, "allowedSegments": None}, ZED_VIP, {"member.grant"}),
        ({**ZED_FREE, "updatedAt": 1}, {**ZED_FREE, "updatedAt": 2}, set()),
        (member("Zed", "vip", "free"), member("Zed", "free", "vip", "vip"), set()),
    ],
)
def test_the_difference_says_what_a_change_of_a_member_needs(
    before: dict[str, Any] | None, after: dict[str, Any] | None, needed: set[str]
) -> None:
    """Of every kind alike; where nothing differs, the operation of the kind is what it takes."""
    for kind in MEMBERS:
        assert set(operations_of(kind.operation, before, after)) == (needed or {kind.operation})


def proposal(kind: Kind, before: dict[str, Any] | None, after: dict[str, Any] | None, site: str = "blog") -> Proposal:
    target = Target(service="members", site=site, key="zed@example.com")
    return Proposal.of(
        edit=Edit(kind=kind, target=target, before=before, after=after),
        request=ChangeRequest(requester="U0ASKER01", channel="C0OPS0001"),
    )


def applied(wanted: Proposal) -> Change:
    return with_fields(wanted.change("1" * 32, NOW), state=State.APPLIED, result=wanted.edit.after)


@pytest.mark.parametrize(
    ("kind", "before", "after", "needed"),
    [
        (Kind.MEMBER_GRANT, ZED, ZED_VIP, {"member.revoke"}),
        (Kind.MEMBER_REVOKE, ZED_VIP, ZED, {"member.grant"}),
        (Kind.MEMBER_UPDATE, ZED_FREE, ZOE_VIP, {"member.update", "member.grant", "member.revoke"}),
        (Kind.MEMBER_ADD, NOBODY, ZED_VIP, {"member.remove"}),
        (Kind.MEMBER_REMOVE, ZED_VIP, NOBODY, {"member.add", "member.grant"}),
        (Kind.MEMBER_REMOVE, ZED, NOBODY, {"member.add"}),
    ],
)
def test_an_undo_needs_what_it_does(
    kind: Kind, before: dict[str, Any] | None, after: dict[str, Any] | None, needed: set[str]
) -> None:
    done = applied(proposal(kind, before, after))
    undo = inverse(done, [Undoing(done, after)], by="U0ASKER01", channel="C0OPS0001")

    assert {need.operation for need in undo.change("2" * 32, NOW).needs} == needed


def test_a_set_needs_what_its_parts_need_at_their_sites_also_read_back_from_its_record() -> None:
    wanted = [
        proposal(Kind.MEMBER_UPDATE, ZED_FREE, ZED_VIP, "blog"),
        proposal(Kind.MEMBER_UPDATE, ZED_VIP, ZOE_VIP, "docs"),
        proposal(Kind.MEMBER_ADD, NOBODY, ZED_VIP, "docs"),
    ]
    whole = combine(CHANGES, wanted).change("3" * 32, NOW)

    needed = {
        Need("member.grant", "blog", segment="vip"),
        Need("member.revoke", "blog", segment="free"),
        Need("member.update", "docs", segment="vip"),
        Need("member.add", "docs", segment="vip"),
        Need("member.grant", "docs", segment="vip"),
    }
    assert set(whole.needs) == needed
    assert set(load(Change, dump(whole)).needs) == needed
    nowhere = replace(wanted[0].edit, target=Target(service="members", key="zed@example.com"))
    assert {need.site for need in nowhere.needs} == {""}, "of no site, and not of any"


def test_a_thing_is_called_by_its_name_and_an_item_else_by_its_key() -> None:
    nameless: dict[str, Any] = ZED | {"name": ""}
    for before, after, names in (
        (nameless, None, ("", "zed@example.com")),
        (None, ZED, ("Zed", "Zed")),
        (None, None, ("", "zed@example.com")),
    ):
        edit = proposal(Kind.MEMBER_ADD, before, after).edit
        assert (edit.name, Item.of(1, edit).name) == names
    assert Item.of(1, replace(edit, target=edit.target.with_key(None))).name == ""
