"""What Slack says of people."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from bot.policy.model import Why
from handlers.slack.directory import person_of

SAME = (
    ("anna@gmail.com", "a.nna@gmail.com", "ANNA+oncall@googlemail.com", "a.n.n.a+x.y@gmail.com"),
    ("anna@example.com", "Anna+oncall@example.com"),
    ("a.nna@example.com", "a.nna+x@example.com"),
)
"""Emails of one mailbox each: dots count everywhere but at Gmail."""


def mailbox(email: str) -> str:
    user = {"id": "U0ANNA001", "team_id": "T0", "is_restricted": False, "profile": {"email": email}}
    return person_of(user, "U0ANNA001", "T0").mailbox


@pytest.mark.parametrize("emails", SAME)
def test_emails_of_one_mailbox_are_one_person(emails: tuple[str, ...]) -> None:
    assert len({mailbox(email) for email in emails}) == 1


def test_different_mailboxes_are_different_people() -> None:
    for one, other in itertools.combinations(SAME, 2):
        assert not {mailbox(email) for email in one} & {mailbox(email) for email in other}


@pytest.mark.parametrize("email", ["", "anna", "@gmail.com", "+x@gmail.com", "...@gmail.com"])
def test_what_is_no_email_is_nobodys_mailbox(email: str) -> None:
    assert mailbox(email) == ""


@pytest.mark.parametrize(
    ("user", "barred"),
    [
        ({"team_id": "T0", "enterprise_user": {"teams": ["T1"]}}, None),
        ({"team_id": "T1", "enterprise_user": {"teams": ["T0", "T1"]}}, None),
        ({"enterprise_user": {"teams": ["T0"]}}, None),
        ({"team_id": "T1", "enterprise_user": {"teams": ["T1"]}}, Why.STRANGER),
        ({"team_id": "T1", "enterprise_user": {"teams": ["T0"]}, "is_stranger": True}, Why.STRANGER),
        ({"team_id": "T1", "enterprise_user": {"teams": "T0 T1"}}, Why.STRANGER),
        ({"team_id": "T1", "enterprise_user": ["T0"]}, Why.STRANGER),
        ({"enterprise_user": {"teams": ["T0"]}, "is_restricted": True}, Why.GUEST),
        ({}, Why.STRANGER),
    ],
)
def test_who_is_of_the_workspace(user: dict[str, Any], barred: Why | None) -> None:
    assert person_of({"id": "U0ANNA001", "is_restricted": False, **user}, "U0ANNA001", "T0").barred is barred
