"""Slack is asked for what decides, and for no more; what it does not tell stops only what depends on it."""

from __future__ import annotations

from contextlib import nullcontext
from itertools import cycle

import pytest

from bot.changes.model.edits import Kind, Need
from bot.changes.model.parts import Guard
from bot.policy.access import MAX_UNANSWERED, Access
from bot.policy.inquiry import DirectoryUnavailable, EmailUnknown, NotAllowed, is_same_person
from bot.policy.model import GuardRule, Person, Policy, Role, Why
from tests.harness.directories import Directory

OPS, AFAR = "C0OPS0001", "C0AFAR001"
ANN, BEN = "U0ANN0001", "U0BEN0001"
POLICY = Policy(
    roles={
        "named": Role(users=(ANN,), may=("rule.update",)),
        "here": Role(channels=(OPS,), may=("rule.create", "rule.read")),
        "oncall": Role(groups=("S0ONCALL1",), may=("rule.*",)),
        "support": Role(groups=("S0SUPPORT",), may=("rule.delete", "member.*")),
    },
    guards=(GuardRule(operation="rule.delete", guard=Guard.APPROVE, approvers=("named", "oncall")),),
)


def access(**more: object) -> tuple[Access, Directory]:
    directory = Directory(
        people={ANN: Person(ANN), BEN: Person(BEN)},
        members={OPS: (ANN, BEN), AFAR: ()},
        groups={"S0ONCALL1": frozenset({BEN}), "S0SUPPORT": frozenset({BEN})},
    )
    for name, value in more.items():
        setattr(directory, name, value)
    return Access(lambda: POLICY, directory), directory


@pytest.mark.parametrize(
    ("operation", "user", "asked"),
    [
        ("rule.update", ANN, [OPS]),  # by name
        ("rule.create", ANN, [OPS]),  # by channel
        ("rule.read", ANN, [OPS]),
        ("rule.update", BEN, [OPS, "S0ONCALL1"]),
        ("rule.delete", BEN, [OPS, "S0ONCALL1"]),  # the first group is enough
        ("member.read", BEN, ["S0SUPPORT"]),  # a read that no channel gives
        ("member.read", ANN, ["S0SUPPORT"]),
        ("freeze", BEN, [OPS]),  # a right that no group gives
    ],
)
async def test_only_what_could_still_decide_is_asked_for(operation: str, user: str, asked: list[str]) -> None:
    rights, directory = access()

    await rights.may(user, OPS, operation)

    assert directory.asked == asked


@pytest.mark.parametrize(
    ("operation", "user", "why"),
    [
        ("rule.update", ANN, Why.NOT_HERE),
        ("rule.update", BEN, Why.NOT_HERE),
        ("rule.create", ANN, Why.NOT_HERE),
        ("rule.read", ANN, Why.NO_ROLE),  # theirs in the channel alone
        ("rule.read", BEN, None),  # theirs by a group, wherever they are
    ],
)
async def test_who_is_not_in_a_channel_has_no_role_by_it_and_changes_nothing_there(
    operation: str, user: str, why: Why | None
) -> None:
    rights, _ = access(members={OPS: ()})

    assert getattr(await rights.may(user, OPS, operation), "why", None) is why


@pytest.mark.parametrize(
    ("silent", "operation", "user", "decides"),
    [
        ("S0ONCALL1", "rule.update", ANN, False),
        ("S0ONCALL1", "rule.create", BEN, False),
        ("S0ONCALL1", "rule.delete", BEN, False),  # another group gives it as well
        ("S0SUPPORT", "rule.update", BEN, False),
        (OPS, "rule.read", BEN, False),
        ("S0ONCALL1", "rule.update", BEN, True),
        (OPS, "rule.update", ANN, True),
        (OPS, "rule.read", ANN, True),
    ],
)
async def test_what_slack_does_not_tell_stops_only_what_depends_on_it(
    silent: str, operation: str, user: str, *, decides: bool
) -> None:
    rights, _ = access(silent_about={silent})

    with pytest.raises(DirectoryUnavailable) if decides else nullcontext():
        await rights.require(user, OPS, operation)


async def test_of_all_rights_only_those_that_slack_leaves_open_are_unknown() -> None:
    rights, directory = access(silent_about={"S0ONCALL1"})

    found = await rights.refusals_by_operation(BEN, OPS)

    assert {name for name, why in found.items() if why is Why.CANT_TELL} == {"rule.update"}
    assert found["rule.delete"] is found["member.add"] is found["rule.create"] is None
    assert directory.asked.count("S0ONCALL1") == 1, "a group that does not answer is asked for once"


async def test_a_form_from_anywhere_opens_for_those_who_have_the_right_somewhere() -> None:
    rights, directory = access()

    await rights.require(ANN, None, "rule.create")
    await rights.require(BEN, None, "member.add")
    with pytest.raises(NotAllowed):
        await rights.require(ANN, None, "member.add")

    assert directory.asked == ["S0SUPPORT", "S0SUPPORT"]


@pytest.mark.parametrize(("one", "other"), [("", "ben@example.com"), ("ben@example.com", ""), ("", "")])
def test_of_two_accounts_of_which_one_has_no_email_nobody_knows_whose_they_are(one: str, other: str) -> None:
    with pytest.raises(EmailUnknown):
        is_same_person(Person(ANN, mailbox=one), Person(BEN, mailbox=other))


@pytest.mark.parametrize("approvers", [("named", "oncall"), ("named",)])
async def test_a_request_needs_no_group_while_others_are_enough_to_approve_it(approvers: tuple[str, ...]) -> None:
    policy = POLICY.model_copy(
        update={"guards": (GuardRule(operation="rule.delete", guard=Guard.APPROVE, approvers=approvers),)}
    )
    _, directory = access(silent_about={"S0ONCALL1"})
    rights = Access(lambda: policy, directory)

    assert (await rights.requirements_for([Need(Kind.RULE_DELETE)], BEN, OPS)).rule.guard is Guard.APPROVE
    if "oncall" in approvers:
        with pytest.raises(DirectoryUnavailable):
            await rights.requirements_for([Need(Kind.RULE_DELETE)], ANN, OPS)


async def test_where_slack_does_not_say_who_could_approve_nobody_confirms_alone() -> None:
    policy = Policy(
        roles={"all": Role(channels=(OPS,), may=("rule.*",)), "leads": Role(groups=("S0LEADS01",), may=("approve",))}
    )
    _, directory = access(silent_about={"S0LEADS01"}, members={OPS: (ANN, *(f"U0{n}" for n in range(9)))})

    with pytest.raises(DirectoryUnavailable):
        await Access(lambda: policy, directory).requirements_for([Need(Kind.RULE_DELETE)], ANN, OPS)

    assert directory.asked.count("S0LEADS01") == MAX_UNANSWERED + 1


async def test_a_question_is_answered_by_one_policy_though_another_one_comes_in_the_middle() -> None:
    renamed = POLICY.model_copy(
        update={
            "roles": {f"new {name}": role for name, role in POLICY.roles.items()},
            "guards": (GuardRule(operation="rule.delete", guard=Guard.APPROVE, approvers=("new named", "new oncall")),),
        }
    )
    one_after_another = cycle([POLICY, renamed])
    _, directory = access()
    rights = Access(lambda: next(one_after_another), directory)

    for _ in range(2):
        assert (await rights.requirements_for([Need(Kind.RULE_DELETE)], BEN, OPS)).rule.guard is Guard.APPROVE
        assert await rights.is_allowed(BEN, OPS, "rule.update")
