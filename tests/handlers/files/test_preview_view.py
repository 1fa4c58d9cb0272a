"""What an import shows: within Slack's limits whatever the file holds, and no markup of others."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.members.member_import_plan import Mode, plan_members, read_member_table
from bot.members.model import Member
from bot.rules.model import Groups, Rule
from bot.text.encoding import BadFile
from handlers.explain.table import words_for
from handlers.files.import_form_view import MEMBER_FORMS, RULE_FORMS, Handed, file_form, plan_form
from handlers.files.imports import member_plan, rule_plan
from handlers.files.preview_view import ImportPlan
from sandbox.slack.validation import check_view
from tests.rules.test_import_plan import GROUP, record
from tests.rules.whole import plan_rules

HOSTILE = st.one_of(
    st.text(max_size=60),
    st.sampled_from(
        ["<!channel>", "<@U0BOB0001>", "<https://evil.example|bank>", "`<!here>`", "&" * 500, "*_~`" * 200, "x" * 5000, "\u202ea"]
    ),
)  # fmt: skip


def every_rule(*texts: str) -> ImportPlan:
    """Every kind of row, full of *texts*."""
    live = [Rule.model_validate(record("Delay"))]
    records: list[Any] = [record("Delay"), 3, GROUP, {"objectType": "mock", "name": texts[0]}, record(status=3)]
    for number in range(20):
        name, source, destination, group = (texts[(number + at) % len(texts)] for at in range(4))
        own = {"source": {"key": "Url", "operator": "Equals", "value": source or "x"}}
        records += [
            record(suffix=f"n{number}", name=name or "x", groupId=group),
            record("Replace", f"r{number}", name=f"{name}{number}", pairs=[own | {"from": source or "x", "to": name}]),
            record(suffix=f"n{number}", name=f"other {name}"),
            record(suffix=f"b{number}", name=name, pairs=[own | {"destination": destination}]),
        ]
    rows = plan_rules(records, live, Groups({}, frozenset()))
    return replace(rule_plan(rows, "record"), warnings=texts)


def every_member(site: str, *texts: str) -> ImportPlan:
    """The same for members of *site*."""
    members = [
        Member.model_validate({"email": f"user{n}@example.com", "name": "x", "allowedSegments": [*texts]})
        for n in range(20)
    ]
    clean = [text.translate({ord(mark): " " for mark in '"\n\r\0'}) for text in texts]
    lines = ["email,name,segments,site"]
    for number in range(20):
        text = clean[number % len(clean)]
        lines += [
            f'new{number}@example.com,"{text}",vip',
            f"user{number}@example.com,,gold",
            f"{'x' * 60}{number}@example.com,,vip",
            f'user{number}x@example.com,,"{text}"',
            f'"{text}@@example.com",,vip',
            f'a{number}@example.com,,vip,"{text}"',
            f"b{number}@example.com,,vip,,{text}x",
        ]
    table = read_member_table("\n".join(lines).encode("utf-8", "replace"))
    rows = [row for mode in Mode for row in plan_members(table, mode, site, members, ("vip", "gold", "old"))]
    return member_plan(rows, site)


def mrkdwn(found: Any) -> Iterator[str]:
    if isinstance(found, dict):
        if found.get("type") == "mrkdwn":
            yield found["text"]
        found = list(found.values())
    for one in found if isinstance(found, list | tuple) else ():
        yield from mrkdwn(one)


def is_view(view: dict[str, Any]) -> None:
    assert check_view(view) == []
    for text in mrkdwn(view["blocks"]):
        assert "<" not in text, text


TEXTS = st.lists(HOSTILE, min_size=1, max_size=4)


@given(TEXTS, HOSTILE)
@settings(deadline=None, max_examples=25)
def test_a_plan_of_rules_is_taken_by_slack_whatever_they_hold(texts: list[str], filename: str) -> None:
    is_view(plan_form(RULE_FORMS, every_rule(*texts), Handed("C0OPS0001", filename[:100])))


@given(TEXTS, HOSTILE)
@settings(deadline=None, max_examples=25)
def test_a_plan_of_members_is_taken_by_slack_whatever_they_hold(texts: list[str], name: str) -> None:
    handed = Handed("C0OPS0001", name[:100], site=name[:60])

    is_view(plan_form(MEMBER_FORMS, every_member(name, *texts), handed))
    is_view(file_form(MEMBER_FORMS, handed, wrong=name))
    is_view(file_form(RULE_FORMS, handed, wrong=name))


@pytest.mark.parametrize("mode", Mode)
def test_the_mode_is_read_back(mode: Mode) -> None:
    chosen = {"mode": {"v1.form.mode": {"type": "radio_buttons", "selected_option": {"value": mode.value}}}}

    assert Handed.of_file_form({"state": {"values": chosen}}).mode is mode


def test_a_file_that_is_refused_rings_nobody() -> None:
    assert "<!" not in words_for(BadFile("<!channel>")).what
