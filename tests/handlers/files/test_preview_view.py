"""What an import shows: within Slack's limits whatever the file holds, with every reason in words, and no address in public."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.members.csv import read_member_file
from bot.members.csv_columns import Mode
from bot.members.member_import_plan import plan_members
from bot.members.model import Member
from bot.rules import rule_import_plan
from bot.rules.edit import Problem, ProblemKind
from bot.rules.model import Groups, Rule
from bot.rules.redirect_table import read_redirect_file
from bot.rules.rule_import_plan import Arrival, Choices, OnDiffers, OnNew, plan_redirects
from bot.text.encoding import BadFile
from bot.text.tables import MAX_COLUMNS
from handlers.blocks.messages import WORD_JOINER
from handlers.explain.table import words_for
from handlers.files import import_form_view
from handlers.files.import_form_view import MEMBER_FORMS, RULE_FORMS, Handed, file_form, plan_form
from handlers.files.import_kinds import member_plan, rule_plan
from handlers.files.import_plan import ImportPlan
from handlers.files.preview_view import why_not
from sandbox.slack.validation import check_view
from tests.rules.test_import_plan import GROUP, record
from tests.rules.whole import plan_rules

HOSTILE = st.one_of(
    st.text(max_size=60),
    st.sampled_from(
        ["<!channel>", "<@U0BOB0001>", "<https://evil.example|bank>", "`<!here>`", "&" * 500, "*_~`" * 200, "x" * 5000, "\u202ea"]
    ),
)  # fmt: skip
FILE = Handed("C0OPS0001", "rules.json")


def every_rule(*texts: str) -> ImportPlan:
    """Every kind of entry, full of *texts*."""
    live = [Rule.model_validate(record(suffix=f"d{n}") | {"description": "old"}) for n in range(20)]
    live.append(Rule.model_validate(record("Delay")))
    records: list[Any] = [
        record("Delay"),
        3,
        GROUP,
        {"objectType": "mock", "name": texts[0]},
        record(suffix="d0"),
        record("Cancel", status=3),
    ]
    for number in range(20):
        name, source, destination, group = (texts[(number + at) % len(texts)] for at in range(4))
        own = {"source": {"key": "Url", "operator": "Equals", "value": source or "x"}}
        pair = own | {"destination": destination}
        records += [
            record(suffix=f"n{number}", name=name or "x", groupId=group),
            record("Replace", f"r{number}", name=f"{name}{number}", pairs=[own | {"from": source or "x", "to": name}]),
            record(suffix=f"d{number}", name=name or "x", description=source, x={destination: 1}),
            record(suffix=f"b{number}", name=name, pairs=[pair]),
        ]
    return rule_plan(plan_rules(records, live, Groups({}, frozenset())))


def every_member(site: str, *texts: str) -> ImportPlan:
    """The same for members of *site*."""
    members = [
        Member.model_validate({"email": f"user{n}@example.com", "name": "x", "allowedSegments": [*texts]})
        for n in range(20)
    ]
    clean = [text.translate({ord(mark): " " for mark in '"\n\r\0'}) for text in texts]
    lines = [
        'email,name,segments,action,"' + clean[0] + 'x"',
        "user1@example.com,,vip,grant",
        "user1@example.com,,old,grant",
    ]
    for number in range(20):
        text = clean[number % len(clean)]
        lines += [
            f'new{number}@example.com,"{text}",vip,add,',
            f"user{number}@example.com,,gold,grant,",
            f"{'x' * 60}{number}@example.com,,vip,remove,",
            f'user{number}x@example.com,,"{text}",add,',
            f'"{text}@@example.com",,vip,add,',
            f'a{number}@example.com,,vip,"{text}",',
            f"b{number}@example.com,,vip,add,,{text}x",
        ]
    file = read_member_file("\n".join(lines).encode("utf-8", "replace"))
    return member_plan(plan_members(file, Mode.ADD, members, ("vip", "gold", "old")), site)


def mrkdwn(found: Any) -> Iterator[str]:
    if isinstance(found, dict):
        if found.get("type") == "mrkdwn":
            yield found["text"]
        found = list(found.values())
    for one in found if isinstance(found, list | tuple) else ():
        yield from mrkdwn(one)


def harmless(blocks: Any) -> None:
    for text in mrkdwn(blocks):
        assert "<" not in text, text


def is_view(view: dict[str, Any]) -> None:
    assert check_view(view) == []
    harmless(view["blocks"])


TEXTS = st.lists(HOSTILE, min_size=1, max_size=4)


@given(TEXTS, HOSTILE)
@settings(deadline=None, max_examples=25)
def test_a_plan_of_rules_is_taken_by_slack_whatever_they_hold(texts: list[str], filename: str) -> None:
    is_view(plan_form(RULE_FORMS, every_rule(*texts), Handed("C0OPS0001", filename[:100])))


@given(TEXTS, HOSTILE)
@settings(deadline=None, max_examples=25)
def test_a_plan_of_members_is_taken_by_slack_whatever_they_hold(texts: list[str], name: str) -> None:
    pasted = {"pasted": {"v1.form.pasted": {"type": "plain_text_input", "value": name}}}
    handed = replace(Handed.of_file_form({"state": {"values": pasted}}), name=name[:100], site=name[:60])

    is_view(plan_form(MEMBER_FORMS, every_member(name, *texts), handed))
    is_view(file_form(MEMBER_FORMS, handed, wrong=name))
    is_view(file_form(RULE_FORMS, handed, wrong=name))


def state(**chosen: str) -> dict[str, Any]:
    values = {
        name: {f"v1.form.{name}": {"type": "radio_buttons", "selected_option": {"value": value}}}
        for name, value in chosen.items()
    }
    return {"state": {"values": values}}


def test_the_form_asks_for_the_kinds_that_there_are_and_reads_what_was_chosen() -> None:
    view = plan_form(RULE_FORMS, every_rule("shop"), FILE)
    asked = [block["block_id"] for block in view["blocks"] if block["type"] == "input"]
    only_new = plan_form(RULE_FORMS, rule_plan(plan_rules([record()], [])), FILE)

    assert asked == ["new", "differs", "arrival"]
    assert [block["block_id"] for block in only_new["blocks"] if block["type"] == "input"] == ["new", "arrival"]
    assert (view["callback_id"], json.loads(view["private_metadata"])) == ("v1.import.rules", FILE.metadata())
    chosen = import_form_view.read_choices(state(new="skip", differs="overwrite", arrival="file"))
    assert chosen == Choices(OnNew.SKIP, OnDiffers.OVERWRITE, Arrival.AS_IN_FILE)
    assert import_form_view.read_choices({}) == import_form_view.read_choices(state(new="burn")) == Choices()


@pytest.mark.parametrize("mode", Mode)
def test_the_mode_is_read_back(mode: Mode) -> None:
    assert Handed.of_file_form(state(mode=mode.value)).mode is mode


def test_the_problems_of_a_record_are_told_by_the_first() -> None:
    problems = (Problem(ProblemKind.EMPTY_SOURCE, "value", 1), Problem(ProblemKind.NO_NAME, "name"))

    assert why_not(rule_import_plan.InvalidRecord(1, "", problems)) == (
        "pair 1: An empty source would match every URL. Enter the URL to match. (and 1 more)"
    )


def test_a_file_that_is_refused_rings_nobody() -> None:
    assert "<!" not in words_for(BadFile("<!channel>")).what


TABLE = Handed("C0OPS0001", "m.csv", site="blog")


def shown(content: bytes) -> str:
    """The preview of a table whose people are to be added to an empty site, as text."""
    plan = plan_members(read_member_file(content), Mode.ADD, [], ("vip", "free"))
    return "\n".join(mrkdwn(plan_form(MEMBER_FORMS, member_plan(plan, "blog"), TABLE)))


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"email," + b",".join(b"c%d" % n for n in range(9)) + b"\na@b.co\n", "Not used: c0, c1, c2, c3, c4, c5 and 3 more."),
        (b"Gino,Rossi,g@b.co\nUgo,Bo,u@b.co\n", "There are no headings.   Not used: column 1, column 2."),
        (b"Ima,Lah\nGino,g@b.co\n", "The first row was read as headings: Ima, Lah."),
        (b"email,name,tag\na@b.co,,vip\na@b.co,Anna Berg,free\n", "line 2  `a@b.co` Anna Berg   `vip` `free`"),
        (b"email,name,tag\na@b.co,,vip\na@b.co,Anna Berg,free\n", "the same person as line 2"),
        (b"email,action,action\na@b.co,add,remove\n", "More than one column says what to do"),
        (b"email\na.b@gmail.com\nab@gmail.com\n", "line 3  `ab@gmail.com`    and `a.b@gmail.com`"),
    ],
)  # fmt: skip
def test_what_is_left_out_or_put_together_is_said(content: bytes, words: str) -> None:
    assert words in shown(content)


UNUSED: dict[str, tuple[bytes, list[str]]] = {
    "Stripe": (
        (b"id,Email,Name,Created (UTC),Status,Plan\ncus_1,a@b.co,A B,2026-01-01 10:00,active,vip\n"
        b"cus_2,b@b.co,B C,2026-01-01 10:00,past_due,vip\ncus_3,c@b.co,C D,2026-01-02 10:00,incomplete_expired,vip\n"
        b"cus_4,d@b.co,D E,2026-01-02 10:00,active,vip\n"),
        ["*Status* (2 × active, 1 × past_due, 1 × incomplete_expired)",
         "*Created (UTC)* (2 × 2026-01-01 10:00, 2 × 2026-01-02 10:00)"],
    ),
    "Stripe, no two alike": (
        b"id,Email,Name,Status\ncus_1,a@b.co,A B,active\ncus_2,b@b.co,B C,past_due\ncus_3,c@b.co,C D,canceled\n",
        ["Not used: *id* (1 × cus_1, 1 × cus_2, 1 × cus_3), *Status* (1 × active, 1 × past_due, 1 × canceled)."],
    ),
    "Ghost": (
        b"id,email,name,deleted_at,labels\n1,a@b.co,A B,,vip\n2,b@b.co,B C,2026-02-01T10:00:00.000Z,vip\n",
        ["*deleted_at* (1 × _empty_, 1 × 2026-02-01T10:00:00.000Z)"],
    ),
    "Patreon": (
        b"Name,Email,Patron Status,Tier\nA B,a@b.co,Active patron,vip\nC D,c@b.co,Former patron,vip\n",
        ["*Patron Status* (1 × Active patron, 1 × Former patron)"],
    ),
    "Discourse": (
        b"name,email,suspended_at,active\nA B,a@b.co,,true\nC D,c@b.co,2026-01-01,false\n",
        ["*suspended_at* (1 × _empty_, 1 × 2026-01-01)", "*active* (1 × true, 1 × false)"],
    ),
    "0 and 1": (b"email,is_active\na@b.co,1\nb@b.co,0\n", ["*is_active* (1 × 1, 1 × 0)"]),
    "TRUE and FALSE": (b"email,name,enabled\na@b.co,A B,TRUE\nb@b.co,B C,FALSE\n", ["*enabled* (1 × TRUE, 1 × FALSE)"]),
    "an end for each": (
        b"email,expires_at\na@b.co,2024-01-01\nb@b.co,2027-01-01\n",
        ["*expires_at* (1 × 2024-01-01, 1 × 2027-01-01)"],
    ),
    "one word in all rows": (b"email,name,Status\na@b.co,A B,CHURNED\nb@b.co,B C,CHURNED\n", ["*Status* (2 × CHURNED)"]),
    "a word in some rows": (b"email,Refund\na@b.co,refunded\nb@b.co,\nc@b.co,\n", ["*Refund* (2 × _empty_, 1 × refunded)"]),
    "a text in some rows": (
        b"email,Left because\n" + b"".join(b"a%d@b.co,%s\n" % (n, b"why %d" % n if n < 9 else b"") for n in range(12)),
        ["*Left because* (3 × _empty_, 1 × why 0, 1 × why 1, 1 × why 2 and 6 more)"],
    ),
    "the most telling ones": (
        b"email,id,note,city,status,left,role\n"
        + b"".join(b"a%d@b.co,%d,n%d,c%d,s%d,%s,r\n" % (n, n, n, n, n % 2, b"" if n % 3 else b"2026-01-01") for n in range(12)),
        ["Not used: *status* (6 × s0, 6 × s1), *left* (8 × _empty_, 4 × 2026-01-01), *role* (12 × r).",
         "Also not used: id, note, city."],
    ),
}  # fmt: skip
"""Exports in which some are no members any more, in words that no list has; and what is told of them."""


@pytest.mark.parametrize(("content", "words"), UNUSED.values(), ids=UNUSED)
def test_what_stands_in_columns_that_are_not_used_is_told_before_the_button(content: bytes, words: list[str]) -> None:
    text = shown(content).replace(WORD_JOINER, "")

    assert [each for each in words if each not in text] == []
    assert "Should people with one of these be left out?" in text


def test_nothing_is_told_of_columns_that_say_something_else_in_each_row() -> None:
    rows = b"".join(b"a%d@b.co,n%d\n" % (n, n) for n in range(12))

    assert "left out?" not in shown(b"email,Note\n" + rows)


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ("status;active;disabled", "*status* (1 × active, 1 × disabled)"),
        ("enabled;FALSE;FALSE", "*enabled* (2 × FALSE)"),
        ("regex;0;1", "*regex* (1 × 0, 1 × 1)"),
        ("match;prefix;prefix", "*match* (2 × prefix)"),
    ],
)
def test_what_stands_beside_redirects_is_told_before_the_button(columns: str, words: str) -> None:
    title, *cells = columns.split(";")
    rows = "".join(f"https://b.co/{at},https://b.co/new,{cell}\n" for at, cell in enumerate(cells))
    table = read_redirect_file(f"from,to,{title}\n{rows}".encode())
    text = "\n".join(
        mrkdwn(plan_form(RULE_FORMS, rule_plan([*plan_redirects(table.rows, [], None)], table=table), FILE))
    )

    assert words in text.replace(WORD_JOINER, "")
    assert "Should some of these redirects be off, or match more than one exact URL?" in text


def test_columns_are_offered_with_an_example_where_there_is_something_to_choose() -> None:
    content = b"email,Group,Group,\n" + b"a@b.co,vip,free,%s\n" % (b"x" * 80)
    plan = plan_members(read_member_file(content), Mode.ADD, [], ())
    view = plan_form(MEMBER_FORMS, member_plan(plan, "blog"), TABLE)
    asked = {block["label"]["text"]: block["element"] for block in view["blocks"] if block["type"] == "input"}

    assert check_view(view) == []
    assert [*asked] == ["Email", "Name", "First name", "Last name", "Segments"]
    assert [one["text"]["text"] for one in asked["Segments"]["options"]] == [
        "None", "email: a@b.co", "Group: vip", "Group: free", f"column 4: {'x' * 60}",
    ]  # fmt: skip
    assert "initial_option" not in asked["Segments"]
    assert asked["Name"]["initial_option"]["value"] == import_form_view.NO_COLUMN
    clear = plan_members(read_member_file(b"email,name\na@b.co,A\n"), Mode.ADD, [], ())
    assert member_plan(clear, "blog").asked == []


def test_the_widest_table_in_any_script_fits_into_a_form() -> None:
    titles = ",".join(f"グ{'ル' * 70}{number}" for number in range(MAX_COLUMNS - 1))
    row = ",".join("値" * 80 for _ in range(MAX_COLUMNS - 1))
    plan = plan_members(read_member_file(f"{titles},email\n{row},a@b.co\n".encode()), Mode.ADD, [], ())
    view = plan_form(MEMBER_FORMS, member_plan(plan, "blog"), TABLE)

    assert check_view(view) == []
    assert len(json.dumps(view)) < 250_000
