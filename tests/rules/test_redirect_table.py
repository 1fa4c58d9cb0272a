"""Tables of redirects: which column is which, and what is wrong with a row."""

from __future__ import annotations

import pytest

from bot.rules.model import Groups, Rule
from bot.rules.redirect_table import (
    read_redirect_file,
)
from bot.rules.rule_import_plan import InvalidRecord, New, Same, plan_redirects
from bot.text.encoding import BadFile

SHOP = "https://shop.example.com"


@pytest.mark.parametrize(
    "text",
    [
        f"from,to\n{SHOP}/a,{SHOP}/b\n",
        f"\ufeffOld URL;New URL;Owner\r\n{SHOP}/a;{SHOP}/b;Bo\r\n",
        f'"{SHOP}/a"\t"{SHOP}/b"\n',
        "Kürzel\tZiel\nshop.example.com/a\tshop.example.com/b\n",
    ],
)
def test_the_columns_are_told_by_their_headings_or_by_their_urls(text: str) -> None:
    file = read_redirect_file(text.encode())
    (entry,) = plan_redirects(file.rows, [], None)

    assert isinstance(entry, New)
    (pair,) = entry.draft.pairs or ()
    assert pair.source is not None
    assert (pair.source.value, pair.destination) == (f"{SHOP}/a", f"{SHOP}/b")
    assert [column.title for column in file.unused] == (["Owner"] if "Owner" in text else [])


def test_a_dash_is_no_end() -> None:
    rows = "".join(f"{SHOP}/{at},{SHOP}/new,{end}\n" for at, end in enumerate(["-", "", "–"]))

    assert read_redirect_file(f"from,to,until\n{rows}".encode()).ends == ("",)


def test_each_row_that_cannot_be_done_says_why() -> None:
    content = f"""from,to,group
/a,{SHOP}/1,
{SHOP}/b,,
{SHOP}/c,{SHOP}/1,
{SHOP}/c,{SHOP}/2,
=A1+1,{SHOP}/1,
{SHOP}/d,{SHOP}/1,Nobody
{SHOP}/e,{SHOP}/1,sale
{SHOP}/e,{SHOP}/1,sale
{SHOP}/taken,{SHOP}/1,
{SHOP}/*,{SHOP}/1,
"""
    pair = {"source": {"key": "Url", "operator": "Equals", "value": f"{SHOP}/taken"}, "destination": f"{SHOP}/9"}
    live = Rule.model_validate({"id": "Redirect_1", "name": "Old", "ruleType": "Redirect", "pairs": [pair]})
    groups = Groups({"Group_1": "Sale"}, frozenset())

    entries = list(plan_redirects(read_redirect_file(content.encode()).rows, [live], groups))

    assert [entry.reason if isinstance(entry, InvalidRecord) else type(entry) for entry in entries] == [
        "“/a” in from is not a whole URL: its host is missing",
        "the column to is empty",
        "rows with this source have different destinations; none is imported",
        "rows with this source have different destinations; none is imported",
        "the column from has a formula, which is not read as text",
        "there is no group “Nobody”",
        New,
        "the same as line 8",
        "the rule “Old” has this source already",
        "a source with * or # matches no URL exactly; use a rule of its own",
    ]


def test_what_was_imported_is_known_again() -> None:
    rows = read_redirect_file("\n".join(["from,to", *(f"{SHOP}/ü{n},{SHOP}/{n}" for n in range(5000))]).encode()).rows
    made = list(plan_redirects(rows, [], None))
    live = [
        Rule.model_validate({**one.draft.document(), "id": f"R_{one.number}"}) for one in made if isinstance(one, New)
    ]

    assert len(live) == 5000
    assert {type(entry) for entry in plan_redirects(rows, live, None)} == {Same}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("<html><body>", "a web page"),
        ("name,age\nBo,3", "no table of redirects"),
        ("from,source,to\na,b,c", "Two columns"),
    ],
)
def test_other_files_are_refused(text: str, why: str) -> None:
    with pytest.raises(BadFile, match=why):
        read_redirect_file(text.encode())
