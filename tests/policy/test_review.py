"""`check` doubts guards that fit nothing, that an earlier one hides, and that nobody can pass; `why` tells what each would do."""

from __future__ import annotations

from typing import Any, Final

import pytest

from bot.policy.model import PLACE, Policy
from bot.policy.review import doubts_about
from sandbox.demo import Sandbox
from tests.harness.colleague import Colleague

ROLES: Final = {
    "leads": {"users": ["U0CARA001"], "may": ["*"]},
    "oncall": {"groups": ["S0ONCALL1"], "may": ["*"]},
    "empty": {"may": ["approve"]},
    "team": {"channels": ["C0OPS0001"], "may": ["read"]},
}
KNOWN: Final = {"group": ["Group_sales"], "segment": ["vip"], "site": ["blog"]}
ALL: Final = {"operation": "*", "guard": "confirm"}


@pytest.mark.parametrize(
    ("guards", "doubts"),
    [
        ([ALL | {"group": "Group_s*"}, ALL | {"segment": "VIP"}, ALL | {"site": "blog", "host": "a.example"}, ALL], []),
        ([ALL | {"operation": "rule.*", "segment": "vip"}], ["fits no change"]),
        ([ALL | {"operation": "member.grant", "host": "a.example"}], ["fits no change"]),
        ([ALL, ALL | {"operation": "freeze"}], ["fits no change"]),
        ([ALL | {"group": "Group_gone"}], ["isn't there: Group_gone"]),
        ([ALL | {"segment": ["vip", "renamed"]}], ["isn't there: renamed"]),
        ([ALL, ALL | {"operation": "rule.delete", "host": "a.example"}], ["never counts, since guards.1"]),
        ([ALL | {"host": "*.example"}, ALL | {"operation": "rule.*", "host": ["a.example"]}], ["never counts"]),
        ([ALL | {"host": "a.example"}, ALL | {"operation": "rule.*", "host": ["a.example", "b.example"]}], []),
        ([ALL | {"host": "a.example"}, ALL | {"operation": "rule.*"}], []),
        ([ALL | {"operation": "rule.*"}, ALL], []),
        ([ALL | {"guard": "approve", "approvers": ["empty"]}], ["it needs 1, and 0 could"]),
        ([ALL | {"guard": "approve", "approvers": ["leads"], "approvals": 2}], ["it needs 2, and 1 could"]),
        ([ALL | {"guard": "approve", "approvers": ["leads", "oncall"], "approvals": 2}], []),
        ([ALL | {"guard": "approve", "approvers": ["team"]}], []),
        ([ALL | {"guard": "approve"}], []),
        ([ALL | {"guard": "approve", "approvers": ["leads"]}], []),
    ],
)
def test_guards_that_are_likely_a_mistake(guards: list[dict[str, Any]], doubts: list[str]) -> None:
    policy = Policy.model_validate(
        {"roles": ROLES, "guards": [{**each, PLACE: f"guards.{n}"} for n, each in enumerate(guards, 1)]}
    )

    found = [f"{place} {why}" for place, why in doubts_about(policy, KNOWN)]
    assert len(found) == len(doubts), found
    assert all(wanted in text for wanted, text in zip(doubts, found, strict=True)), found


def test_without_roles_whoever_is_there_may_approve() -> None:
    assert [
        *doubts_about(Policy.model_validate({"guards": [ALL | {"guard": "approve", PLACE: "guards.1"}]}), KNOWN)
    ] == []


POLICY: Final = """
[roles.leads]
users = ["U0CARA001"]
may = ["*"]

[roles.team]
channels = ["C0OPS0001"]
may = ["read", "rule.*", "member.revoke"]

[[guards]]
operation = "rule.delete"
host = "shop.example.com"
guard = "approve"
approvers = ["leads"]
reason = "required"
hint = "a ticket"

[[guards]]
operation = "member.*"
segment = "staff"
guard = "approve"
approvals = 3
"""


@pytest.mark.policy(POLICY)
async def test_what_a_change_would_meet_is_told_before_it_is_asked_for(workspace: Sandbox, alice: Colleague) -> None:
    rule = alice.slack_text(await alice.says("/gatehouse why Old shop"))
    assert "Edit or switch: done at once. `default`" in rule
    assert "Delete: a second person’s approval, by @U0CARA001, with a reason (a ticket). `guards.1, line 10`" in rule

    segment = alice.slack_text(await alice.says("/gatehouse why segment:staff"))
    assert "Grant on blog: None of your roles allows this." in segment
    assert (
        "Revoke on docs: This needs 3 approvals, and only one person here can give it. `guards.2, line 18`" in segment
    )

    cara = alice.slack_text(await alice.says("/gatehouse whoami <@U0CARA001>"))
    assert "@U0CARA001 can do everything" in cara
    bob = alice.slack_text(await alice.says("/gatehouse whoami <@U0BOB0001>"))
    assert "no role allows it." in bob
