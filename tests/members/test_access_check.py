"""What a site says of an address: pure, over members as the service lists them."""

from __future__ import annotations

from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.members.access_check import MAX_NEAR_MEMBERS, Standing, explain_access, is_barring
from bot.members.model import Catalogue, Member, known_segments, nearest_segments, use_known_spelling

ANNA = Member(email="anna.berg@example.com", name="Anna", segments=("free", "VIP"))
OTHER = Member(email="Anna.Berg@example.com", name="Other", segments=("vip",))
EMAILS = st.text("abAB.@+", min_size=1, max_size=12)


def test_a_segment_is_had_lacked_alike_or_not_known() -> None:
    def standing(segment: str, members: list[Member], *extra: str) -> tuple[Standing, str]:
        asked = explain_access(members[0].email, segment, site="blog", members=members, extra=extra).asked
        assert asked is not None
        return asked.standing, asked.name

    assert standing("VIP", [ANNA]) == (Standing.HAS, "VIP")
    assert standing("vip", [ANNA]) == (Standing.HAS, "VIP"), "the site knows no other spelling"
    assert standing("vip", [ANNA, OTHER]) == (Standing.OTHER_CASE, "vip")
    assert standing("Gold", [ANNA], "gold") == (Standing.LACKS, "gold")
    assert standing("gold", [ANNA]) == (Standing.NO_SUCH, "gold")


def test_what_is_missing_is_only_what_could_be_granted() -> None:
    assert explain_access(ANNA.email, "gold", site="blog", members=[ANNA]).missing is None
    assert explain_access(ANNA.email, "gold", site="blog", members=[ANNA], extra=["gold"]).missing == "gold"
    assert explain_access(ANNA.email, "free", site="blog", members=[ANNA]).missing is None


def test_segments_are_learned_and_completed_and_spelled() -> None:
    known = known_segments([ANNA, OTHER, ANNA], ["gold", "vip"])
    assert known == ("free", "VIP", "vip", "gold")
    assert use_known_spelling(["vip", "GOLD", "new"], known) == ("vip", "gold", "new")
    assert Catalogue(tuple(known)).unknown_names(["vip", "new"]) == ("new",)
    assert Catalogue(()).unknown_names(["new"]) == ()
    assert nearest_segments("glod", known) == ("gold",)


def test_since_is_told_only_where_it_is_a_time() -> None:
    def since(made: object) -> int | None:
        return Member.model_validate({"email": "a@b.example", "createdAt": made}).since

    assert since(1_756_700_000_000) == 1_756_700_000
    assert [since(made) for made in (None, True, "yesterday", -5, 0, 10**20, 1.5)] == [None] * 7


@given(asked=EMAILS, there=st.lists(EMAILS, max_size=8))
def test_nobody_is_near_to_themselves_and_nobody_twice(asked: str, there: list[str]) -> None:
    members = [Member(email=email) for email in dict.fromkeys(there)]
    verdict = explain_access(asked, None, site="blog", members=members)

    near = [one.email for one in verdict.near]
    assert len(near) == len(set(near)) <= MAX_NEAR_MEMBERS
    assert verdict.member is None or verdict.member.email not in near


BARRING: Final[dict[str, list[Any]]] = {
    "status state accountStatus": ["suspended", "BLOCKED", "soft-deleted", "inactive", "cancelled"],
    "blocked isBanned account_locked loginDisabled deletedAt deactivatedOn expired": [True, 1, "2026-11-01", "yes"],
    "active isEnabled email_confirmed": [False, 0, "false", ""],
}
HARMLESS: Final[dict[str, list[Any]]] = {
    "status state": ["active", "", None, {"code": 1}, "was suspended once, long ago", True],
    "blocked isBanned deletedAt": [False, None, 0, "", "no", []],
    "active isEnabled email_confirmed": [True, 1, "yes", None],
    "unblockedAt daysActive block clock plan": [0, "pro", "2026-11-01"],
}


@pytest.mark.parametrize(("fields", "is_told"), [(BARRING, True), (HARMLESS, False)])
def test_a_field_that_may_keep_somebody_out_is_known(fields: dict[str, list[Any]], is_told: bool) -> None:
    every = [(name, value) for names, values in fields.items() for name in names.split() for value in values]

    assert [case for case in every if is_barring(*case) is not is_told] == []
