"""Importing members: each row is planned, and given back with what became of it."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from bot.changes.model.edits import Kind
from bot.changes.model.items import ImportRow
from bot.members.member_import_plan import Mode, plan_members, read_member_table
from bot.members.model import Member
from bot.text.encoding import BadFile


def member(email: str, *segments: str, **fields: Any) -> Member:
    return Member.model_validate({"email": email, "name": "N", "allowedSegments": list(segments)} | fields)


SITE = (
    member("anna@example.com", "free", name="Anna", createdAt=1736060959798),
    member("ben@example.com", "free", "vip"),
    member("Cara@example.com"),
    member("dan@example.com"),
    member("DAN@example.com"),
)


def plan(text: str, mode: Mode = Mode.ADD, known: tuple[str, ...] = ("premium",)) -> list[ImportRow]:
    return plan_members(read_member_table(text.encode()), mode, "blog", SITE, known)


def only(text: str, mode: Mode = Mode.ADD, known: tuple[str, ...] = ("premium",)) -> ImportRow:
    (row,) = plan(text, mode, known)
    return row


def after(row: ImportRow) -> dict[str, Any]:
    assert row.edit is not None
    return row.edit.after or {}


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        (",Anna,vip,", "the email is missing"),
        ("a@b.co,Smith,Anna,vip,x", "1 cell too many: put texts with separators in quotes"),
        ("a@b.co,=1+1,,", "the column name has a formula, which is not read as text"),
        ("a@b.co,A,,shop", "for the site “shop”, and not blog"),
        ("a@b.co,A,vpi,", "the site has no segment “vpi”; near: vip"),
        ("a@b.co,A,free;vip,", "the site has no segment “free;vip”; near: free"),
        ('a@b.co,A,"vip,zza,zzb,zzc,zzd",', "the site has no segment “zza”, “zzb”, “zzc”"),
        ("ANNA@example.com,Anna,vip,", "already a member, with another name or other segments"),
        ("anna@example.com,Other,,", "already a member, with another name or other segments"),
        ("Dan@example.com,Dan,,", "could be several members: dan@example.com, DAN@example.com"),
        ("anna,,,", "not an email. It must have an @-sign."),
    ],
)
def test_a_row_that_cannot_be_imported_says_why(row: str, reason: str) -> None:
    found = only(f"email,name,segments,site\n{row}\n")

    assert (found.why.startswith(reason), found.is_refused, found.edit) == (True, True, None), found.why


@pytest.mark.parametrize("email", ["a b@c.co", "a@b", "a@@b.co", "x" * 320 + "@b.co", "a@b.co."])
def test_an_email_is_judged_as_the_form_judges_it(email: str) -> None:
    assert only(f"email\n{email}\n").why.startswith("not an email. ")


@pytest.mark.parametrize("email", ["a+b@c.co", "a%b@c.co", "a/b@c.co", "jürgen@example.com", "a@bücher.example"])
def test_unusual_emails_are_emails(email: str) -> None:
    assert after(only(f"email\n{email}\n"))["email"] == email


def test_nothing_to_do_is_not_refused() -> None:
    text = "email,segments,site\nanna@example.com,free,Blog\n"

    found = [only(text), only(text, Mode.GRANT), only(text, Mode.SET), only(text.replace("free", "vip"), Mode.REVOKE)]

    assert [row.why for row in found] == ["already a member", *["nothing to change"] * 3]
    assert not any(row.is_refused or row.edit for row in found)


@pytest.mark.parametrize(
    ("mode", "cell", "kind", "segments"),
    [
        (Mode.GRANT, "premium, VIP", Kind.MEMBER_GRANT, ["free", "vip", "premium"]),
        (Mode.REVOKE, "vip,premium", Kind.MEMBER_REVOKE, ["free"]),
        (Mode.SET, "premium", Kind.MEMBER_UPDATE, ["premium"]),
    ],
)
def test_segments_come_and_go_and_names_stay(mode: Mode, cell: str, kind: Kind, segments: list[str]) -> None:
    edit = only(f'email,name,segments\nBEN@example.com,Other,"{cell}"\n', mode).edit

    assert edit is not None
    assert (edit.kind, edit.before, edit.after) == (
        kind,
        SITE[1].document(),
        SITE[1].document() | {"allowedSegments": segments},
    )


@pytest.mark.parametrize("mode", [Mode.GRANT, Mode.SET, Mode.REVOKE])
def test_an_empty_cell_takes_nothing_away(mode: Mode) -> None:
    assert only("email,segments\nben@example.com,\n", mode).why == "no segment given"


def test_people_are_removed_whatever_else_the_row_says() -> None:
    edit = only("email,name,segments\nben@example.com,Other,gold\n", Mode.REMOVE).edit

    assert edit is not None
    assert (edit.kind, edit.target.key, edit.after) == (Kind.MEMBER_REMOVE, "ben@example.com", None)
    assert only("email\nnew@b.co\n", Mode.REMOVE).why == "not a member of this site"


def test_rows_that_contradict_each_other_are_all_refused_with_their_lines() -> None:
    found = plan("email,segments\nnew@b.co,vip\nnew@b.co,free\nNEW@b.co,vip\nother@b.co,vip\nother@B.CO,vip\n")

    assert [(row.why, row.is_refused) for row in found] == [
        ("contradicts line 3; neither is applied", True),
        ("contradicts line 2; neither is applied", True),
        ("contradicts line 3; neither is applied", True),
        ("", False),
        ("the same as line 5", False),
    ]


def test_each_of_two_members_with_spellings_of_one_email_is_meant_by_its_own() -> None:
    found = plan("email,segments\ndan@example.com,vip\nDAN@example.com,free\n", Mode.GRANT)

    assert [after(row)["allowedSegments"] for row in found] == [["vip"], ["free"]]


def test_a_segment_with_a_comma_in_its_name_is_one_in_quotes() -> None:
    text = 'email,segments\na@b.co,"""gold, old"",vip"\n'

    assert after(only(text, known=("gold, old",)))["allowedSegments"] == ["gold, old", "vip"]


CELLS = st.one_of(
    st.text(max_size=8),
    st.sampled_from(["a@b.co", "A@b.co", "anna@example.com", "vip", '"free,vip"', "=cmd", "'=x", "email", "-"]),
)
TABLES = st.lists(st.lists(CELLS, max_size=4).map(",".join), max_size=8).map("\n".join)


@pytest.mark.slow
@given(
    st.one_of(st.binary(max_size=200), TABLES.map(lambda text: f"email,name,segments,site\n{text}".encode())),
    st.sampled_from(Mode),
)
@example(b"email\n\r\n", Mode.ADD)
@settings(deadline=None, max_examples=300)
def test_any_bytes_give_one_outcome_a_row_or_a_typed_error(content: bytes, mode: Mode) -> None:
    try:
        table = read_member_table(content)
    except BadFile:
        return
    found = plan_members(table, mode, "blog", SITE, ())

    assert [row.number for row in found] == [row.line for row in table]
    edits = [row.edit for row in found if row.edit is not None]
    json.dumps([asdict(edit) for edit in edits])
    assert len(edits) == len({str(edit.target.key).casefold() for edit in edits})
