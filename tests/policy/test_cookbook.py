"""Each policy of the cookbook is one, and does what the sentences above it say."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

import pytest

from bot.changes.model.edits import Edit, Kind, Target
from bot.changes.model.parts import Guard
from bot.policy.file import read_policy
from bot.policy.model import BREAK_GLASS, OPERATIONS, Channel, Person, Policy, Why, strictest
from tests.harness.programs import ROOT

MAX_LINES: Final = 25
RECIPE: Final = re.compile(r"^## (?P<name>.+)\n\n(?P<words>(?:.+\n)+)\n```toml\n(?P<toml>(?:.*\n)*?)```$", re.MULTILINE)
RECIPES: Final = {found["name"]: found for found in RECIPE.finditer((ROOT / "docs" / "policy-cookbook.md").read_text())}
OPS, SUPPORT = Channel("C0OPS0001"), Channel("C0SUPPORT")
EVERYWHERE: Final = frozenset({OPS.id, SUPPORT.id})
SOMEBODY: Final = Person("U0SOMEONE", channels=EVERYWHERE)


def of(*groups: str) -> Person:
    """Somebody in these user groups, who is in both channels."""
    return Person("U0GROUPED", groups=frozenset(groups), channels=EVERYWHERE)


def one_team(policy: Policy) -> None:
    assert [operation for operation in OPERATIONS if policy.refusal(operation, of("S0TEAM001"), OPS)] == []
    assert {policy.refusal(operation, SOMEBODY, OPS) for operation in OPERATIONS} == {Why.NO_ROLE}
    assert policy.refusal("rule.update", of("S0TEAM001"), SUPPORT) is Why.OTHER_CHANNEL


def followers(policy: Policy) -> None:
    assert policy.refusal("rule.read", SOMEBODY, OPS) is None
    assert policy.refusal("member.read", SOMEBODY, OPS) is None
    assert policy.refusal("rule.update", SOMEBODY, OPS) is Why.NO_ROLE
    assert policy.refusal("rule.update", of("S0ONCALL"), OPS) is None
    assert policy.refusal("rule.read", Person("U0SOMEONE"), OPS) is Why.NO_ROLE, "who isn't in the channel"


def every_deletion(policy: Policy) -> None:
    for operation in ("rule.delete", "member.remove"):
        assert policy.guard_for(operation, "blog").guard is Guard.APPROVE
        assert not policy.guard_for(operation, "blog").self_approval
    assert policy.guard_for("rule.update").guard is Guard.NONE


def two_approvals(policy: Policy) -> None:
    guard = policy.guard_for("rule.delete")

    assert (guard.guard, guard.approvals, guard.expires) == (Guard.APPROVE, 2, timedelta(hours=4))
    assert policy.refusal("approve", of("S0LEADS"), OPS, guard.approvers) is None
    assert policy.refusal("approve", of("S0ONCALL"), OPS, guard.approvers) is None
    assert policy.refusal("approve", SOMEBODY, OPS, guard.approvers) is Why.NO_ROLE
    assert policy.refusal("rule.delete", SOMEBODY, OPS) is None


def alone_at_night(policy: Policy) -> None:
    guard = policy.guard_for("rule.update")

    assert guard.guard is Guard.APPROVE
    assert policy.refusal(BREAK_GLASS, of("S0ONCALL"), OPS, guard.break_glass) is None
    assert policy.refusal(BREAK_GLASS, of("S0LEADS"), OPS, guard.break_glass) is Why.NO_ROLE
    assert policy.refusal("approve", of("S0ONCALL"), OPS, guard.approvers) is Why.NO_ROLE
    assert policy.refusal("approve", of("S0LEADS"), OPS, guard.approvers) is None


def support(policy: Policy) -> None:
    helper = of("S0SUPPORT")

    assert [policy.refusal(operation, helper, SUPPORT) for operation in ("member.add", "member.grant")] == [None, None]
    assert policy.guard_for("member.grant", "blog").guard is Guard.NONE
    for operation in ("member.revoke", "member.remove"):
        assert policy.refusal(operation, helper, SUPPORT) is Why.NO_ROLE
        assert policy.refusal(operation, of("S0LEADS"), SUPPORT) is None


def two_sites(policy: Policy) -> None:
    blog, docs = (policy.guard_for("member.remove", site) for site in ("blog", "docs"))

    assert policy.refusal("approve", of("S0BLOG001"), SUPPORT, blog.approvers) is None
    assert policy.refusal("approve", of("S0DOCS001"), SUPPORT, blog.approvers) is Why.NO_ROLE
    assert policy.refusal("approve", of("S0DOCS001"), SUPPORT, docs.approvers) is None
    both = strictest([blog, docs])
    assert policy.refusal("approve", of("S0LEADS"), SUPPORT, both.approvers) is None
    assert policy.refusal("approve", of("S0BLOG001", "S0DOCS001"), SUPPORT, both.approvers) is Why.NO_ROLE


def unseen(policy: Policy) -> None:
    for operation in ("rule.create", "rule.update", "rule.delete"):
        guard = policy.guard_for(operation)
        assert (guard.guard, guard.expires) == (Guard.APPROVE, timedelta(hours=2))
    assert policy.guard_for("member.grant", "blog").guard is Guard.CONFIRM


def auditors(policy: Policy) -> None:
    auditor = Person("U0AUDIT01", channels=EVERYWHERE)

    allowed = [operation for operation in OPERATIONS if policy.refusal(operation, auditor, OPS) is None]
    assert allowed == ["rule.read", "member.read", "audit.read"]
    assert policy.refusal("approve", auditor, OPS) is Why.NO_ROLE
    assert policy.refusal("rule.update", of("S0TEAM001"), OPS) is None


def christmas(policy: Policy) -> None:
    (freeze,) = policy.freeze
    shop, status = (
        Edit(kind=Kind.RULE_CREATE, target=Target(service="rules"), before=None, after={"pairs": [{"source": source}]})
        for source in (
            {"key": "Url", "operator": "Equals", "value": f"https://{host}.example.com/a"}
            for host in ("shop", "status")
        )
    )

    assert freeze.covers(shop)
    assert not freeze.covers(status)
    assert not freeze.holds_at(datetime(2026, 12, 18, 16, 59, tzinfo=UTC)), "by the clocks of Berlin"
    assert freeze.holds_at(datetime(2026, 12, 18, 17, 0, tzinfo=UTC))
    assert not freeze.holds_at(datetime(2027, 1, 4, 8, 0, tzinfo=UTC))
    assert policy.refusal(BREAK_GLASS, of("S0ONCALL"), OPS, policy.guard_for("rule.update").break_glass) is None


PLAYS: Final[dict[str, Callable[[Policy], None]]] = {
    "One team and nobody else": one_team,
    "Everyone in the channel may look, on-call may change": followers,
    "A second person for every deletion": every_deletion,
    "Two approvals for a deletion": two_approvals,
    "On-call acts alone at night": alone_at_night,
    "Support may let people in, but not remove them": support,
    "Two sites with different people": two_sites,
    "Nothing goes live unseen": unseen,
    "Auditors read everything and change nothing": auditors,
    "A Christmas freeze": christmas,
}
TOLD: Final = [
    "Checkout needs the payments team",
    "Marketing may plan campaign redirects below its host",
    "Staff needs a ticket and a lead",
]
"""Those that tests/stories/test_by_what_is_touched.py plays."""


def test_every_recipe_is_played() -> None:
    text = (ROOT / "docs" / "policy-cookbook.md").read_text()

    assert list(RECIPES) == [*PLAYS, *TOLD]
    assert len(RECIPES) <= 13
    assert text.count("\n## ") == text.count("```toml") == len(RECIPES)


@pytest.mark.parametrize("name", RECIPES)
def test_a_recipe_does_what_it_says(name: str, tmp_path: Path) -> None:
    recipe = RECIPES[name]
    file = tmp_path / "policy.toml"
    file.write_text(recipe["toml"])

    policy = read_policy(str(file))
    if name in PLAYS:
        PLAYS[name](policy)

    assert recipe["toml"].count("\n") <= MAX_LINES
    assert len(re.findall(r"\.(?=\s)", recipe["words"])) == 2, "for whom, and what happens"
