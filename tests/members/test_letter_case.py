"""Emails and segments that differ in case alone are the same at every place; those that differ in a letter are at none.

Of an internationalised domain, both spellings are the same.
"""

from __future__ import annotations

import pytest

from bot.changes.adapters import snapshot_of_members
from bot.changes.model.edits import Target
from bot.members.access_check import Standing, explain_access
from bot.members.member_import_plan import Mode, plan_members, read_member_table
from bot.members.model import Member, find_by_email, fold_case, use_known_spelling

SAME = [("ANNA", "anna"), ("Éva", "éva"), ("ΝΊΚΗ", "νίκη"), ("Straße", "straße")]
OTHER = [("straße", "strasse"), ("mar\u212a", "mark"), ("\u017fam", "sam"), ("\ufb01ona", "fiona"), ("\u0130da", "ida")]
PAIRS = [(*pair, True) for pair in SAME] + [(*pair, False) for pair in OTHER]


@pytest.mark.parametrize(("has", "typed", "same"), [*PAIRS, *((typed, has, same) for has, typed, same in PAIRS)])
def test_all_places_agree_on_what_is_the_same(has: str, typed: str, same: bool) -> None:
    member, email = Member(email=f"{has}@example.com", segments=(has,)), f"{typed}@example.com"
    table = read_member_table(f"email,segments\n{email},{has}\n".encode())
    granted = read_member_table(f"email,segments\n{member.email},{typed}\n".encode())

    assert (fold_case(has) == fold_case(typed)) is same
    assert (find_by_email([member], email) is member) is same
    assert (snapshot_of_members([member]).live(Target(service="members", site="blog", key=email)) is not None) is same
    (planned,) = plan_members(table, Mode.ADD, "blog", [member], ())
    assert (planned.why == "already a member") is same
    assert (explain_access(email, None, site="blog", members=[member]).member is member) is same
    assert use_known_spelling([typed], [has]) == ((has,) if same else (typed,))
    (planned,) = plan_members(granted, Mode.GRANT, "blog", [member], ())
    assert (planned.why == "nothing to change") is same
    asked = explain_access(member.email, typed, site="blog", members=[member]).asked
    assert asked is not None
    assert (asked.standing is Standing.HAS) is same


UNICODE, ASCII = "anna@müller.example", "anna@xn--mller-kva.example"
EMAILS = [
    (UNICODE, ASCII, True),
    (UNICODE, "Anna@MÜLLER.example", True),
    (ASCII, "anna@XN--MLLER-KVA.Example", True),
    (UNICODE, "anna@mu\u0308ller.example", True),
    (UNICODE, "anna@muller.example", False),
    ("anna@straße.example", "anna@strasse.example", False),
    ("anna@xn--zzzzzz99999.example", "anna@xn--zzzzzz99998.example", False),
]


@pytest.mark.parametrize(("has", "typed", "same"), [*EMAILS, *((typed, has, same) for has, typed, same in EMAILS)])
def test_two_spellings_of_a_domain_are_one_member_who_keeps_theirs(has: str, typed: str, same: bool) -> None:
    member, target = Member(email=has), Target(service="members", site="blog", key=typed)
    table = read_member_table(f"email,segments\n{typed},vip\n".encode())
    twice = read_member_table(f"email\n{has}\n{typed}\n".encode())

    assert (find_by_email([member], typed) is member) is same
    live = snapshot_of_members([member]).live(target)
    assert live == ({"email": has} if same else None)
    if "zzz" in typed:  # not a domain: no file adds it
        return
    (granted,) = plan_members(table, Mode.GRANT, "blog", [member], ["vip"])
    assert (granted.edit is not None and granted.edit.target.key == has) is same
    first, second = plan_members(twice, Mode.ADD, "blog", [], ())
    assert (first.edit is not None, second.edit is not None) == (True, not same)


def test_of_two_members_by_both_spellings_each_is_meant_by_its_own_and_none_by_a_third() -> None:
    both = [Member(email=UNICODE), Member(email=ASCII)]

    assert [find_by_email(both, email) for email in (UNICODE, ASCII, "ANNA@müller.example")] == [*both, None]


def test_somebody_whose_email_only_looks_alike_is_named_as_near() -> None:
    alike = Member(email="mar\u212a@example.com")

    verdict = explain_access("mark@example.com", None, site="blog", members=[alike])

    assert verdict.member is None
    assert verdict.near == [alike]
