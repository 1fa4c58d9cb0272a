"""Members as a table: read back as they are, and run by no spreadsheet."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bot.members.csv import export_lines, join_segments
from bot.members.member_import_plan import Mode, plan_members, read_member_table
from bot.members.model import Member
from bot.server.audit_export import _cell as audit_cell
from bot.text.encoding import escape_formula, is_formula, unescape_formula


def rows(lines: Iterable[bytes]) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(b"".join(lines).decode("utf-8-sig"), newline="")))


def member(**fields: Any) -> Member:
    return Member.model_validate({"email": "anna@example.com", **fields})


def test_a_table_has_a_mark_that_excel_needs_and_lines_that_it_knows() -> None:
    content = b"".join(export_lines([member(name="Anna Bjørk", allowedSegments=["vip", "free"])], "blog"))

    assert content == ('\ufeffemail,name,segments,site\r\nanna@example.com,Anna Bjørk,"vip,free",blog\r\n'.encode())


STARTS = ["=", "+", "-", "@", "＝", "＋", "－", "＠", "﹦", "﹢", "﹣", "﹫"]
BEFORE = [
    "",
    " ",
    "\t",
    "\r",
    "\n",
    "\u00a0",
    "\ufeff",
    "\u200b",
    "\u2060",
    "\u202e",
    "\u00ad",
    "\x00",
    "\x1f",
    "\u3000",
    " \ufeff\n",
]


@pytest.mark.first(50)
@pytest.mark.parametrize("start", ["\t", "\r", "\n", *(before + sign for before in BEFORE for sign in STARTS)])
def test_no_cell_begins_a_formula(start: str) -> None:
    (row,) = rows(export_lines([member(name=f"{start}cmd|'/c calc'!A1", allowedSegments=[f"{start}1"])], "blog"))

    assert unescape_formula(row["name"]) == f"{start}cmd|'/c calc'!A1"
    assert row["name"].startswith(f"'{start}")
    assert row["segments"].startswith(f"'{start}")


TEXT = st.text(st.characters(exclude_categories=["Cs"])) | st.text("'=+-@＝ \t\n\ufeff\u200bx1", max_size=6)


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(name=TEXT, segment=TEXT)
def test_any_text_comes_back_whole(name: str, segment: str) -> None:
    (row,) = rows(export_lines([member(name=name, allowedSegments=[segment])], "blog"))

    assert (unescape_formula(row["name"]), unescape_formula(row["segments"])) == (name, join_segments([segment]))
    assert not is_formula(row["name"])


SEGMENT = st.text("ab,;|-='\" ", min_size=1, max_size=6).map(str.strip).filter(bool)


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.lists(SEGMENT, min_size=1, max_size=4, unique_by=str.casefold), min_size=1, max_size=4))
def test_an_import_of_an_export_finds_nothing_to_do(segments: list[list[str]]) -> None:
    members = [
        member(email=f"person{number}@example.com", name="A B", allowedSegments=each)
        for number, each in enumerate(segments)
    ]
    table = read_member_table(b"".join(export_lines(members, "blog")))

    plan = plan_members(table, Mode.SET, "blog", members, ())

    assert [row.why for row in plan] == ["nothing to change"] * len(members)


@pytest.mark.parametrize(
    "text", ["=1+1", " =1", "\n=1", "＝1", "\u00a0=1", "\ufeff=1", "\u200b=1", "'=1", "''=1", "-", "x=1", "'x"]
)
def test_every_export_writes_a_cell_the_same_way(text: str) -> None:
    (row,) = rows(export_lines([member(name=text)], "blog"))

    assert row["name"] == audit_cell(text) == escape_formula(text)
    assert unescape_formula(escape_formula(text)) == text
