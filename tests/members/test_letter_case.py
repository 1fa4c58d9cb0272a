"""Emails and segments that differ in case alone are the same at every place; those that differ in a letter are at none."""

from __future__ import annotations

import pytest

from bot.changes.adapters import MemberSnapshot
from bot.changes.model import Target
from bot.members.access_check import Likeness, Standing, explained
from bot.members.csv import read_member_file
from bot.members.csv_columns import Mode
from bot.members.import_entries import Add, NothingToDo
from bot.members.member_import_plan import plan_members
from bot.members.model import Member, caseless, found, spelled

SAME = [("ANNA", "anna"), ("Éva", "éva"), ("ΝΊΚΗ", "νίκη"), ("Straße", "straße")]
OTHER = [("straße", "strasse"), ("mar\u212a", "mark"), ("\u017fam", "sam"), ("\ufb01ona", "fiona"), ("\u0130da", "ida")]
PAIRS = [(*pair, True) for pair in SAME] + [(*pair, False) for pair in OTHER]


@pytest.mark.parametrize(("has", "typed", "same"), [*PAIRS, *((typed, has, same) for has, typed, same in PAIRS)])
def test_all_places_agree_on_what_is_the_same(has: str, typed: str, same: bool) -> None:
    member, email = Member(email=f"{has}@example.com", segments=(has,)), f"{typed}@example.com"
    table = read_member_file(f"email,segments\n{email},{has}\n".encode())
    granted = read_member_file(f"email,segments\n{member.email},{typed}\n".encode())

    assert (caseless(has) == caseless(typed)) is same
    assert (found([member], email) is member) is same
    assert (MemberSnapshot([member]).live(Target(service="members", site="blog", key=email)) is not None) is same
    (planned,) = plan_members(table, Mode.ADD, [member], ()).entries
    assert isinstance(planned, Add) is not same
    assert (explained(email, None, site="blog", members=[member]).member is member) is same
    assert spelled([typed], [has]) == ((has,) if same else (typed,))
    (planned,) = plan_members(granted, Mode.GRANT, [member], ()).entries
    assert isinstance(planned, NothingToDo) is same
    asked = explained(member.email, typed, site="blog", members=[member]).asked
    assert asked is not None
    assert (asked.standing is Standing.HAS) is same


def test_somebody_whose_email_only_looks_alike_is_named_as_near() -> None:
    near = explained("mark@example.com", None, site="blog", members=[Member(email="mar\u212a@example.com")]).near

    assert [each.likeness for each in near] == [Likeness.TYPO]
