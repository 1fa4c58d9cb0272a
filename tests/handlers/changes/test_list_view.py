"""What the row of a change shows to a channel and to one person. tests/texts has the lists."""

from __future__ import annotations

import json
import re
from datetime import timedelta

import pytest

from bot.changes.model.edits import Kind
from bot.changes.model.states import State
from bot.policy.freezes import Freeze
from bot.rules.secrets import MARK
from bot.text.emails import mask_emails
from handlers.blocks.messages import ListPage
from handlers.changes import freeze_view
from handlers.changes.list_view import RowFacts, row
from handlers.gatehouse import views
from handlers.gatehouse.commands import GatehousePlanned
from tests.texts.cards import ANNA, HEADERS, MOVED, NOW, OLD_SHOP, change, with_vip


def test_a_channel_sees_no_secret_of_the_one_field_that_was_changed() -> None:
    after = json.loads(json.dumps(HEADERS).replace("abc123", "xyz789"))
    edit = change(Kind.RULE_UPDATE, State.APPLIED, HEADERS, after)

    assert all(secret in row(edit, RowFacts(), public=False) for secret in ("abc123", "xyz789"))
    shown = row(edit, RowFacts(), public=True)
    assert MARK in shown
    assert not any(secret in shown for secret in ("abc123", "xyz789"))


@pytest.mark.parametrize("name", [ANNA["name"], ANNA["email"], ""])
def test_a_member_is_named_with_an_email_that_a_channel_sees_masked(name: str) -> None:
    before = ANNA | {"name": name}
    grant = change(Kind.MEMBER_GRANT, State.APPLIED, before, with_vip(before))

    assert "anna.berg@example.com" in row(grant, RowFacts(), public=False)
    shown = row(grant, RowFacts(), public=True)
    assert "anna.berg@" not in shown
    assert "@example.com" in shown


def test_a_masked_email_in_a_title_ends_no_bold_text_where_it_is_masked_once_more() -> None:
    shown = row(change(Kind.MEMBER_ADD, State.APPLIED, None, ANNA | {"name": ""}), RowFacts(), public=True)

    assert "`a***@example.com`" in shown
    assert mask_emails(shown) == shown


@pytest.mark.parametrize("count", [1, 10, 11, 45, 50])
def test_a_short_list_of_freezes_says_that_it_leaves_some_out(count: int) -> None:
    freezes = [
        Freeze(starts=NOW, until=NOW + timedelta(1), hosts=(f"shop-{number}.example",)) for number in range(count)
    ]

    text = str(freeze_view.short_list(freezes))

    left_out = [each for each in freezes if each.hosts[0] not in text]
    assert not left_out or f"…and {len(left_out)} more" in text


@pytest.mark.parametrize(("planned", "temporary"), [(25, 1), (1, 25), (3, 0), (0, 3), (0, 0)])
def test_the_list_of_what_is_planned_counts_all_pages(planned: int, temporary: int) -> None:
    plan = change(Kind.RULE_UPDATE, State.PLANNED, OLD_SHOP, MOVED, starts_at=NOW)
    switch = change(Kind.RULE_UPDATE, State.APPLIED, OLD_SHOP, MOVED, reverts_at=NOW)
    coming = [*[plan] * planned, *[switch] * temporary]

    for number in (1, 2):
        page = ListPage.of(coming, number, 20)
        command = GatehousePlanned(page=number)
        title = views.planned_list(page, RowFacts(), command, planned=planned, public=False, hidden=1).text
        assert [int(found) for found in re.findall(r"\d+", title)] == [many for many in (planned, temporary) if many]


def test_a_list_that_is_read_a_page_at_a_time_goes_on_where_one_more_was_found() -> None:
    first, last = ListPage.of_part("abc", None, 2), ListPage.of_part("c", 2, 2)

    assert ([*first.items], first.number, first.count, first.first) == (["a", "b"], 1, 2, 1)
    assert ([*last.items], last.number, last.count, last.first) == (["c"], 2, 2, 3)
