"""Tables of members as shops, mailing lists and spreadsheets export them: what is made of each row."""

from __future__ import annotations

from typing import Any

import pytest

from bot.members.csv import MemberFile, read_member_file
from bot.members.csv_columns import Column, Mode
from bot.members.import_entries import Add, Alter, Entry, Invalid, MemberPlan, Remove, Together
from bot.members.member_import_plan import plan_members
from bot.members.model import Member

SITE = (
    Member.model_validate({"email": "anna@example.com", "name": "Anna", "allowedSegments": ["free"]}),
    Member.model_validate({"email": "dan@example.com", "name": "Dan", "allowedSegments": []}),
    Member.model_validate({"email": "DAN@example.com", "name": "Dan", "allowedSegments": []}),
    Member.model_validate({"email": "johnsmith@gmail.com", "name": "John", "allowedSegments": []}),
)
KNOWN = ("free", "vip", "gold, old")


def plan(content: bytes, mode: Mode = Mode.ADD, chosen: Any = None) -> MemberPlan:
    return plan_members(read_member_file(content, chosen), mode, SITE, KNOWN)


def told(entry: Entry) -> str:
    """One entry in a line."""
    match entry:
        case Add(after=dict() as after):
            return f"add {after['email']} ({after['name']}) {'+'.join(after['allowedSegments'])}".strip()
        case Alter(after=dict() as after):
            return f"{entry.kind} {after['email']} {'+'.join(after['allowedSegments'])}".strip()
        case Remove(before=dict() as before):
            return f"remove {before['email']}"
        case Together(line=line):
            return f"with {line}"
        case Invalid(reason=reason):
            return reason
        case _:
            return "nothing"


def lines(content: str, mode: Mode = Mode.ADD) -> list[str]:
    return [told(entry) for entry in plan(content.encode(), mode).entries]


ONE_ROW_PER_SEGMENT = "email,segments\nd@b.co,vip\nd@b.co,free\n"
CONTRADICTORY = ["contradicts line 3; neither is applied", "contradicts line 2; neither is applied"]
SEVERAL_OF_ANNA = "email,segments\nanna@example.com,vip\nANNA@EXAMPLE.COM,vip\nanna@example.com,free;vip\n"


@pytest.mark.parametrize(
    ("text", "mode", "expected"),
    [
        (ONE_ROW_PER_SEGMENT, Mode.ADD, ["add d@b.co () vip+free", "with 2"]),
        (SEVERAL_OF_ANNA, Mode.GRANT, ["member.grant anna@example.com free+vip", "the same as line 2", "with 2"]),
        (SEVERAL_OF_ANNA, Mode.SET, ["member.update anna@example.com vip+free", "the same as line 2", "with 2"]),
        ("email,segments\nanna@example.com,vip\nanna@example.com,-\n", Mode.SET, CONTRADICTORY),
        (
            "email,name,segments\na@b.co,,vip\na@b.co,Anna Berg,free\na@b.co,ANNA  BERG,\n",
            Mode.ADD,
            ["add a@b.co (Anna Berg) vip+free", "with 2", "with 2"],
        ),
        ("email,name\na@b.co,Anna Berg\na@b.co,A. Berg\n", Mode.ADD, CONTRADICTORY),
        ("email,name\na@b.co,Anna Berg\na@b.co,Ben Berg\n", Mode.ADD, CONTRADICTORY),
        ("email,name\na@b.co,Anna Berg\na@b.co,Anke Berg\n", Mode.ADD, CONTRADICTORY),
        ("email,name\na@b.co,Mia\na@b.co,Max\n", Mode.ADD, CONTRADICTORY),
        ("email,segments\ndan@example.com,vip\nDAN@example.com,free\n", Mode.GRANT,
         ["member.grant dan@example.com vip", "member.grant DAN@example.com free"]),
        ("email\ndan@example.com\nDAN@example.com\n", Mode.REMOVE, ["remove dan@example.com", "remove DAN@example.com"]),
    ],
)  # fmt: skip
def test_rows_of_one_email_are_one_person(text: str, mode: Mode, expected: list[str]) -> None:
    assert lines(text, mode) == expected


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        ('"""vip"",""free"""', "vip+free"),
        ('"""vip"""', "vip"),
        ('"""gold, old""; ""VIP"""', "gold, old+vip"),
        ('"""vip"" | free"', "vip+free"),
    ],
)
def test_quotes_within_a_cell_are_taken_off(cell: str, expected: str) -> None:
    assert lines(f'EMAIL,FNAME,TAGS\n"""a@b.co""",x,{cell}\n') == [f"add a@b.co (x) {expected}"]


@pytest.mark.parametrize(
    ("first", "is_heading"),
    [
        ("Kennung,Anschrift (digital)", True),
        ("Вася,Куда писать 2024", True),
        ("Ben,ben@@example", False),
        ("Ben,", False),
        ("Ben,-", False),
        ("anna@c.co,x", False),
    ],
)
def test_a_first_row_without_an_email_is_of_headings_where_the_others_have_one(first: str, is_heading: bool) -> None:
    file = read_member_file(f"{first}\nGino,g@b.co\nUgo,u@b.co\n".encode())

    assert (file.header is not None, len(file.rows)) == ((True, 2) if is_heading else (False, 3))
    assert not file.known_header


GUMROAD = (
    "Purchase ID,Item Name,Buyer Name,Purchase Email,Buyer Email,Price\n"
    "x1==,Course,Ann Lee,ann@b.co,ann@b.co,9\nx2==,Course,Bo Day,bo@b.co,bo@b.co,9\n"
)


def of(file: MemberFile) -> tuple[dict[str, int], tuple[str, ...], set[str]]:
    """The columns by name, what is not used, and what only people can tell."""
    unused = tuple(column.title for column in file.unused)
    return {str(column): at for column, at in file.columns.items()}, unused, {*file.layout.claimed}


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (GUMROAD, ({"name": 2, "email": 3}, ("Purchase ID", "Item Name", "Buyer Email", "Price"), set())),
        ("Gino,Rossi,g@b.co\nUgo,Bo,u@b.co\n",
         ({"email": 2}, ("column 1", "column 2"), {"name", "segments"})),
        ("email,,Note\na@b.co,38,\n", ({"email": 0}, ("column 2", "Note"), set())),
        ("email,E-Mail,name\na@b.co,c@d.co,A\n", ({"name": 2}, ("email", "E-Mail"), {"email"})),
        ("email,E-Mail,name\na@b.co,,A\n", ({"email": 0, "name": 2}, ("E-Mail",), set())),
        ("mail,Group,Group\na@b.co,vip,free\n", ({"email": 0}, ("Group", "Group"), {"segments"})),
        ("email,Username\na@b.co,ann7\n", ({"email": 0}, ("Username",), set())),
        ("a@b.co\nc@d.co\n", ({"email": 0}, (), set())),
        ("".join(f"n{n}@b.co,id{n}x\n" for n in range(9)), ({"email": 0}, ("column 2",), {"name", "segments"})),
    ],
)  # fmt: skip
def test_what_is_not_used_and_what_is_not_sure_is_told(content: str, expected: Any) -> None:
    assert of(read_member_file(content.encode())) == expected


def test_the_columns_are_those_that_somebody_chose() -> None:
    chosen = {Column.EMAIL: 4, Column.FIRST_NAME: 1, Column.SEGMENTS: 99}
    file = read_member_file(GUMROAD.encode(), chosen)

    assert [(row.email, row.name, row.segments) for row in file.rows] == [
        ("ann@b.co", "Course", ""),
        ("bo@b.co", "Course", ""),
    ]
    assert file.examples[:3] == ("x1==", "Course", "Ann Lee")
    assert [told(entry) for entry in plan(GUMROAD.encode(), chosen={}).entries] == ["the column email is empty"] * 2


def test_an_action_stays_where_it_is_unless_its_column_was_chosen_for_something_else() -> None:
    text = b"email,action,x\nanna@example.com,remove,vip\n"

    assert [told(entry) for entry in plan(text, chosen={Column.EMAIL: 0}).entries] == ["remove anna@example.com"]
    assert [told(entry) for entry in plan(text, chosen={Column.EMAIL: 0, Column.NAME: 1}).entries] == [
        "already a member, with another name or other segments"
    ]


def test_of_two_spellings_in_a_file_the_lower_case_one_is_stored() -> None:
    assert lines("email\nSUSI@example.net\nsusi@EXAMPLE.NET\n") == ["add susi@example.net ()", "the same as line 2"]


def test_other_emails_of_the_same_inbox_are_pointed_out() -> None:
    text = "email\nj.o.h.n.smith@googlemail.com\nJohn.Smith+news@gmail.com\neve@b.co\nEve+x@b.co\ne.ve@b.co\nanna@example.com\n"

    assert [(row.line, other) for row, other in plan(text.encode()).alike] == [
        (2, "johnsmith@gmail.com"),
        (3, "johnsmith@gmail.com"),
        (5, "eve@b.co"),
    ]
    assert [row.line for row, _ in plan(text.encode(), Mode.REMOVE).alike] == [2, 3], "only members could be meant"
