"""What the row of a change shows to a channel and to one person."""

from __future__ import annotations

import json

import pytest

from bot.changes.model.edits import Kind
from bot.changes.model.states import State
from bot.text.emails import mask_emails
from bot.text.secrets import MARK
from handlers.changes.list_view import RowFacts, row
from tests.texts.cards import ANNA, HEADERS, change, with_vip


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
