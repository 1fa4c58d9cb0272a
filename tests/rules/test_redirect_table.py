"""Tables of redirects: a rule for each row, or what is wrong with it."""

from __future__ import annotations

import pytest

from bot.changes.model.items import ImportRow
from bot.rules.model import Rule
from bot.rules.redirect_table import plan_redirects, read_redirect_table
from bot.text.encoding import BadFile

SHOP = "https://shop.example.com"


def plan(text: str, *live: Rule) -> list[ImportRow]:
    return list(plan_redirects(read_redirect_table(text.encode()), live, str))


def redirect(source: str, destination: str) -> Rule:
    pair = {"source": {"key": "Url", "operator": "Equals", "value": source}, "destination": destination}
    return Rule.model_validate({"id": "Redirect_1", "name": "Old", "ruleType": "Redirect", "pairs": [pair]})


@pytest.mark.parametrize(
    "text",
    [
        f"from,to\n{SHOP}/a,{SHOP}/b\n",
        f"\ufeffTo;FROM;until\r\n{SHOP}/b;{SHOP}/a;\r\n",
        "from\tto\nshop.example.com/a\tshop.example.com/b\n",
    ],
)
def test_a_row_becomes_a_rule_that_is_on(text: str) -> None:
    (row,) = plan(text)

    assert row.edit is not None
    made = row.edit.after or {}
    (pair,) = made["pairs"]
    assert (made["name"], made["status"]) == ("shop.example.com/a", "Active")
    assert pair["source"] == {"key": "Url", "operator": "Equals", "value": f"{SHOP}/a"}
    assert pair["destination"].removeprefix("https://") == "shop.example.com/b"


def test_the_name_is_that_of_the_table() -> None:
    (row,) = plan(f"from,to,name\n{SHOP}/a,{SHOP}/b,Summer\n")

    assert row.edit is not None
    assert (row.edit.after or {})["name"] == "Summer"


def test_each_row_that_cannot_be_done_says_why() -> None:
    content = f"""from,to
/a,{SHOP}/1
{SHOP}/b,
{SHOP}/c,{SHOP}/1
{SHOP}/c,{SHOP}/2
=A1+1,{SHOP}/1
{SHOP}/e,{SHOP}/1
{SHOP}/e,{SHOP}/1
{SHOP}/taken,{SHOP}/1
{SHOP}/*,{SHOP}/1
a b,{SHOP}/1
"""
    found = plan(content, redirect(f"{SHOP}/taken", f"{SHOP}/9"))

    assert [(row.why, row.is_refused) for row in found] == [
        ("“/a” in from is not a whole URL, such as https://example.com/page", True),
        ("the column to is empty", True),
        ("contradicts line 5, which has another destination; neither is imported", True),
        ("contradicts line 4, which has another destination; neither is imported", True),
        ("the column from has a formula, which is not read as text", True),
        ("", False),
        ("the same as line 7", False),
        ("the rule “Old” has this source already", True),
        ("a source with * or # matches no URL exactly; use a rule of its own", True),
        ("“a b” in from is not a whole URL, such as https://example.com/page", True),
    ]


def test_what_was_imported_is_skipped_the_next_time() -> None:
    text = "\n".join(["from,to", *(f"{SHOP}/ü{n},{SHOP}/{n}" for n in range(5000))])
    made = [(row.edit.after or {}) | {"id": f"R_{row.number}"} for row in plan(text) if row.edit is not None]

    again = plan(text, *map(Rule.model_validate, made))

    assert len(made) == 5000
    assert not any(row.edit or row.is_refused for row in again)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("name,age\nBo,3", "No column is called “from”. No column is called “to”. Remove: “age”."),
        ("Short URL,Redirect to,Domain\na,b,c", "Rename the column “Redirect to” to “to”. No column is called “from”."),
        ("from,to,owner\na,b,c", "Remove: “owner”."),
    ],
)
def test_other_tables_are_refused(text: str, why: str) -> None:
    with pytest.raises(BadFile, match=why):
        read_redirect_table(text.encode())
