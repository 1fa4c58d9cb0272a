"""Members as a table: read back as they are, and run by no spreadsheet."""

from __future__ import annotations

import csv
import io
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bot.domain.member import Member
from bot.domain.member_csv import FORMULA, defused, exported


def rows(content: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(content.decode("utf-8-sig"), newline="")))


def member(**fields: Any) -> Member:
    return Member.model_validate({"email": "anna@example.com", **fields})


def test_a_table_has_a_mark_that_excel_needs_and_lines_that_it_knows() -> None:
    content = exported([member(name="Anna Bjørk", allowedSegments=["vip", "free"])], "blog")

    assert content == ('\ufeffname,email,segments,site\r\nAnna Bjørk,anna@example.com,"vip,free",blog\r\n'.encode())


def test_since_when_is_there_where_the_service_tells() -> None:
    found = rows(exported([member(createdAt=1_756_700_000_000), member(createdAt="May"), member()], "blog"))

    assert [row["created"] for row in found] == ["2025-09-01T04:13:20+00:00", "May", ""]
    assert "created" not in rows(exported([member()], "blog"))[0]


@pytest.mark.parametrize("start", FORMULA)
def test_no_cell_begins_a_formula(start: str) -> None:
    (row,) = rows(exported([member(name=f"{start}cmd|'/c calc'!A1", allowedSegments=[f"{start}1"])], "blog"))

    assert row["name"].startswith(f"'{start}")
    assert row["segments"].startswith(f"'{start}")


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    name=st.text(st.characters(exclude_categories=["Cs"])), segment=st.text(st.characters(exclude_categories=["Cs"]))
)
def test_any_text_comes_back_whole(name: str, segment: str) -> None:
    (row,) = rows(exported([member(name=name, allowedSegments=[segment])], "blog"))

    assert (row["name"], row["segments"]) == (defused(name), defused(segment))
    assert not row["name"].startswith(FORMULA)
