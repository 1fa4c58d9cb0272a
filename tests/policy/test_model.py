"""Who may do what (A6, A7): every combination of a person, a place, a role and an operation, against an own oracle."""

from __future__ import annotations

import itertools
from contextlib import nullcontext
from datetime import timedelta
from typing import Any, Final

import pytest
from pydantic import ValidationError

from bot.changes.model.change import Change
from bot.changes.model.edits import Kind, Need, Target
from bot.changes.model.parts import Cause, CauseKind, Guard
from bot.policy.access import MAX_CANDIDATES, Access, NobodyCanApprove, approval_of, override_of
from bot.policy.inquiry import DirectoryUnavailable, NotAllowed
from bot.policy.model import Channel, GuardRule, Irreconcilable, Person, Policy, ReasonRequired, Role, Why, strictest
from tests.harness.clocks import StandingClock
from tests.harness.directories import Directory
from tests.harness.proposing import change_of

OPS = "C0OPS0001"
ASKER, HELPER, THIRD, LEAD = "U0ASKER01", "U0HELPER1", "U0THIRD01", "U0LEAD001"

PEOPLE: Final = {
    "full": None,
    "guest": Why.GUEST,
    "ultra guest": Why.GUEST,
    "deactivated": Why.DEACTIVATED,
    "stranger": Why.STRANGER,
    "bot": Why.BOT,
    "unknown": Why.UNKNOWN,
}
"""What Slack says of somebody, and why they may nothing for it."""

PLACES: Final = {
    "public": (Channel(OPS), None),
    "public, without us": (Channel(OPS, bot_in=False), Why.NOT_ADDED),
    "private": (Channel("G0OPS0001"), Why.OTHER_CHANNEL),
    "another": (Channel("C0OTHER01"), Why.OTHER_CHANNEL),
    "shared": (Channel(OPS, shared=True), Why.SHARED_CHANNEL),
    "direct": (Channel("D0DIRECT1", direct=True), Why.DIRECT_MESSAGE),
}
"""What Slack says of a channel, and why nobody may change anything there. Reading is another matter."""

ALL: Final = frozenset({"rule.read", "member.read", "audit.read", "approve"}) | {
    *(f"rule.{what}" for what in ("create", "update", "delete")),
    *(f"member.{what}" for what in ("add", "update", "grant", "revoke", "remove")),
}
ROLES: Final = {
    "nobody": (Role(), frozenset()),
    "reader": (Role(users=(ASKER,), may=("read",)), frozenset({"rule.read", "member.read", "audit.read"})),
    "support": (Role(groups=("S0SUPPORT",), may=("member.*",)), frozenset(name for name in ALL if "member." in name)),
    "editor": (Role(channels=(OPS,), may=("rule.update", "rule.r*")), frozenset({"rule.update", "rule.read"})),
    "approver": (Role(users=(ASKER,), may=("approve",)), frozenset({"approve"})),
    "all": (Role(users=(ASKER,), may=("*",)), ALL),
}
"""What somebody may by their only role."""


def expected(kind: str, place: str, role: str, operation: str, *, inside: bool) -> bool:
    """The oracle: a full member, whose role has the operation, in a place where changes belong or for a read."""
    if kind != "full" or operation not in ROLES[role][1]:
        return False
    if role == "editor" and (place in {"private", "another", "direct"} or not inside):
        return False  # who has a role by a channel has it there, and while they are in it
    return operation.endswith(".read") or (place == "public" and inside)


CASES: Final = list(itertools.product(PEOPLE, PLACES, ROLES, sorted(ALL), (True, False)))


def somebody(kind: str, role: str, place: Channel, *, inside: bool) -> Person:
    return Person(
        ASKER,
        barred=PEOPLE[kind],
        groups=frozenset({"S0SUPPORT"} if role == "support" else ()),
        channels=frozenset({place.id} if inside else ()),
    )


@pytest.mark.threat("A6")
def test_of_all_combinations_only_these_may() -> None:
    for kind, place, role, operation, inside in CASES:
        policy = Policy.model_validate({"channels": {"act": [OPS]}, "roles": {role: ROLES[role][0]}})
        person = somebody(kind, role, PLACES[place][0], inside=inside)
        why = policy.refusal(operation, person, PLACES[place][0])

        may = expected(kind, place, role, operation, inside=inside)
        assert (why is None) == may, (kind, place, role, operation, inside)
        if PEOPLE[kind] is not None:
            assert why is PEOPLE[kind]
        elif not operation.endswith(".read") and PLACES[place][1] is not None:
            assert why is PLACES[place][1]

    allowed = sum(expected(*case, inside=inside) for *case, inside in CASES)
    assert (len(CASES), allowed) == (7 * 6 * 6 * 12 * 2, 103)


def test_without_roles_full_members_may_all_where_others_see_it_and_nobody_else_anything() -> None:
    for kind, place, operation, inside in itertools.product(PEOPLE, PLACES, sorted(ALL), (True, False)):
        person = somebody(kind, "nobody", PLACES[place][0], inside=inside)
        why = Policy().refusal(operation, person, PLACES[place][0])

        here = place in {"public", "private", "another"} and inside
        assert (why is None) == (kind == "full" and (here or operation.endswith(".read"))), (kind, place, operation)


INSIDE: Final = Person(ASKER, channels=frozenset({OPS}))


@pytest.mark.parametrize("operation", ["", "*", "rule", "rule.*", "rule.rename", "member.delete", "Approve"])
def test_what_is_no_operation_is_nobodys(operation: str) -> None:
    role = Role(users=(ASKER,), may=("read", "rule.create", "approve"))

    assert Policy(roles={"some": role}).refusal(operation, INSIDE, Channel(OPS)) is Why.NO_ROLE


@pytest.mark.parametrize("kind", Kind)
def test_without_a_guard_what_destroys_asks_somebody_and_the_rest_nobody(kind: Kind) -> None:
    destroys = kind in {Kind.RULE_DELETE, Kind.MEMBER_REMOVE}

    assert Policy().guard_for(kind.operation).guard is (Guard.APPROVE_OR_CONFIRM if destroys else Guard.NONE)


# Approvers

HERE: Final = (ASKER, HELPER, THIRD, "U0ASKER02", "U0GUEST01", "U0BOT0001")
SLACK: Final = {
    ASKER: Person(ASKER, mailbox="ask@example.com"),
    "U0ASKER02": Person("U0ASKER02", mailbox="ask@example.com"),
    HELPER: Person(HELPER, mailbox="help@example.com"),
    "U0HELPER2": Person("U0HELPER2", mailbox="help@example.com"),
    "U0GUEST01": Person("U0GUEST01", barred=Why.GUEST),
    "U0BOT0001": Person("U0BOT0001", barred=Why.BOT),
    THIRD: Person(THIRD),
    LEAD: Person(LEAD),
}
LEADS: Final = {"leads": Role(users=(LEAD,), groups=("S0LEADS01",)), "all": Role(channels=(OPS,), may=("*",))}


def directory(*people: str) -> Directory:
    return Directory(people=dict(SLACK), members={OPS: people or HERE}, groups={"S0LEADS01": frozenset({THIRD})})


def request(**more: object) -> Change:
    return change_of(
        {
            "id": "1" * 32,
            "kind": Kind.RULE_DELETE,
            "target": Target(service="rules", key="Redirect_x"),
            "before": {},
            "after": None,
            "requester": ASKER,
            "channel": OPS,
            "guard": Guard.APPROVE,
            "created": StandingClock()(),
        }
        | more
    )


async def refused(access: Access, change: Change, user: str) -> Why | None:
    answer = await access.may(user, change.request.channel, *approval_of(change))
    return answer.why if isinstance(answer, NotAllowed) else None


@pytest.mark.parametrize(
    ("user", "why"),
    [
        (HELPER, None),
        (THIRD, None),
        (ASKER, Why.OWN_REQUEST),
        ("U0ASKER02", Why.OWN_REQUEST),
        ("U0GUEST01", Why.GUEST),
        ("U0BOT0001", Why.BOT),
        (LEAD, Why.NOT_HERE),
    ],
)
async def test_others_of_the_channel_may_approve(user: str, why: Why | None) -> None:
    assert await refused(Access(Policy, directory()), request(), user) is why


async def test_whose_role_is_limited_approves_nothing_else() -> None:
    policy = Policy(roles={"sales": Role(channels=(OPS,), may=("*",), group=("Group_sales",))})
    assert await refused(Access(lambda: policy, directory()), request(), HELPER) is Why.BEYOND_ROLE


@pytest.mark.parametrize("channel", [None, OPS])
@pytest.mark.parametrize("user", SLACK)
async def test_whoever_may_not_use_it_at_all_is_refused_where_nothing_is_asked_for(
    user: str, channel: str | None
) -> None:
    answer = await Access(Policy, directory()).may(user, channel)

    assert getattr(answer, "why", None) is SLACK[user].barred


@pytest.mark.parametrize("policy", [Policy(), Policy(roles={"all": LEADS["all"]})])
async def test_roles_that_are_no_longer_in_the_policy_are_nobodys(policy: Policy) -> None:
    access = Access(lambda: policy, directory())

    for user in SLACK:
        assert await refused(access, request(approvers=("leads",)), user) is not None


async def test_one_may_approve_alone_only_where_the_policy_says_so() -> None:
    access = Access(Policy, directory())

    assert await refused(access, request(self_approval=True), ASKER) is None
    assert await refused(access, request(self_approval=True), "U0ASKER02") is None
    assert await refused(access, request(self_approval=True), "U0GUEST01") is Why.GUEST


# What stands before a change, here and now


def guarded(guard: Guard, approvals: int = 1, **more: object) -> Policy:
    rule = {"operation": "*", "guard": guard, "approvals": approvals} | more
    return Policy.model_validate({"roles": LEADS if "approvers" in more else {}, "guards": [rule]})


@pytest.mark.parametrize(
    ("policy", "people", "guard"),
    [
        (guarded(Guard.NONE), HERE, Guard.NONE),
        (guarded(Guard.CONFIRM), HERE, Guard.CONFIRM),
        (guarded(Guard.APPROVE), HERE, Guard.APPROVE),
        (guarded(Guard.APPROVE, 2), HERE, Guard.APPROVE),
        (guarded(Guard.APPROVE, 3), HERE, (3, 2)),
        (guarded(Guard.APPROVE), (ASKER, "U0ASKER02", "U0GUEST01", "U0BOT0001"), (1, 0)),
        (guarded(Guard.APPROVE, 2), (ASKER, HELPER), (2, 1)),
        (guarded(Guard.APPROVE, 2), (ASKER, HELPER, "U0HELPER2"), (2, 1)),
        (guarded(Guard.APPROVE, self_approval=True), (ASKER,), Guard.APPROVE),
        (guarded(Guard.APPROVE_OR_CONFIRM, self_approval=True), HERE, Guard.CONFIRM),
        (guarded(Guard.APPROVE_OR_CONFIRM), HERE, Guard.APPROVE),
        (guarded(Guard.APPROVE_OR_CONFIRM), (ASKER, "U0ASKER02", "U0GUEST01"), Guard.CONFIRM),
        (guarded(Guard.APPROVE_OR_CONFIRM, 2), (ASKER, HELPER), (2, 1)),
        (guarded(Guard.APPROVE, approvers=("leads",)), (ASKER,), Guard.APPROVE),
        (guarded(Guard.APPROVE, 2, approvers=("leads",)), (ASKER, HELPER), Guard.APPROVE),
        (guarded(Guard.APPROVE, 3, approvers=("leads",)), HERE, (3, 2)),
    ],
)
async def test_the_guard_is_one_that_can_be_met_here(
    policy: Policy, people: tuple[str, ...], guard: Guard | tuple[int, int]
) -> None:
    access = Access(lambda: policy, directory(*people))
    try:
        came: object = (await access.requirements_for([Need(Kind.RULE_DELETE)], ASKER, OPS)).rule.guard
    except NobodyCanApprove as error:
        came = (error.needed, error.found) if error.roles == policy.guards[0].approvers else error.roles

    assert came == guard


@pytest.mark.parametrize(
    ("guard", "approvals", "others", "came"),
    [
        (Guard.APPROVE_OR_CONFIRM, 1, MAX_CANDIDATES - 1, Guard.CONFIRM),
        (Guard.APPROVE_OR_CONFIRM, 1, MAX_CANDIDATES, Guard.APPROVE),
        (Guard.APPROVE_OR_CONFIRM, 3, MAX_CANDIDATES, Guard.APPROVE),
        (Guard.APPROVE, 1, MAX_CANDIDATES - 1, NobodyCanApprove),
        (Guard.APPROVE, 1, MAX_CANDIDATES, Guard.APPROVE),
    ],
)
async def test_where_not_everybody_was_looked_at_somebody_may_be_able_to_approve(
    guard: Guard, approvals: int, others: int, came: object
) -> None:
    guests = [f"U0GUEST{number:03d}" for number in range(others)]
    here = directory(ASKER, *guests, HELPER) if others == MAX_CANDIDATES else directory(ASKER, *guests)
    here.people |= {guest: Person(guest, barred=Why.GUEST) for guest in guests}
    access = Access(lambda: guarded(guard, approvals), here)
    try:
        found: object = (await access.requirements_for([Need("rule.delete")], ASKER, OPS)).rule.guard
    except NobodyCanApprove:
        found = NobodyCanApprove

    assert found is came


@pytest.mark.parametrize(
    ("user", "roles", "why"),
    [
        (HELPER, ("all",), None),
        (HELPER, ("leads",), Why.NO_ROLE),
        (HELPER, ("all", "leads"), None),
        (LEAD, ("all", "leads"), Why.NOT_HERE),
        (HELPER, (), Why.NO_ROLE),
        ("U0GUEST01", ("all",), Why.GUEST),
    ],
)
async def test_the_glass_is_broken_by_whom_the_policy_names(user: str, roles: tuple[str, ...], why: Why | None) -> None:
    access = Access(lambda: Policy(roles=LEADS), directory())

    answer = await access.may(user, OPS, *override_of(request(break_glass=roles)))

    assert getattr(answer, "why", None) is why


# What stands before several changes at once


def rule(guard: Guard, **more: object) -> GuardRule:
    return GuardRule.model_validate({"operation": "*", "guard": guard} | more)


def test_one_guard_by_itself_stays_as_it_is() -> None:
    only = rule(Guard.CONFIRM, approvers=["leads"], self_approval=True, break_glass=["all"])

    assert strictest([only, only]) == only
    assert strictest([rule(Guard.NONE), rule(Guard.CONFIRM)]).self_approval is False


def test_of_several_guards_what_each_forbids_stays_forbidden() -> None:
    alone = rule(Guard.APPROVE, self_approval=True, expires="2h", notify=["leads"])
    by_leads = rule(Guard.APPROVE, approvers=["leads", "all"], break_glass=["all"], notify=[])
    by_two = rule(
        Guard.APPROVE, approvers=["all", "leads", "more"], approvals=2, break_glass=["all", "more"], notify=["all"]
    )

    together = strictest([rule(Guard.NONE), rule(Guard.CONFIRM, break_glass=["all"]), alone, by_leads, by_two])

    assert together.guard is Guard.APPROVE
    assert together.approvals == 2
    assert together.approvers == ("leads", "all")
    assert together.self_approval is False
    assert together.break_glass == ()
    assert together.notify == ("leads", "all")
    assert together.expires == timedelta(hours=2)


def test_guards_whose_approvers_have_nobody_in_common_cannot_be_met() -> None:
    with pytest.raises(Irreconcilable, match="'all', 'leads'"):
        strictest([rule(Guard.APPROVE, approvers=["all"]), rule(Guard.APPROVE, approvers=["leads"])])


async def test_of_sites_that_enough_people_could_approve_each_too_few_may_approve_all() -> None:
    many = {"operation": "member.*", "site": "blog", "guard": "approve", "approvers": ["all", "leads"], "approvals": 3}
    leads = {"operation": "member.*", "site": "docs", "guard": "approve", "approvers": ["leads"]}
    policy = Policy.model_validate({"roles": LEADS, "guards": [many, leads]})
    access = Access(lambda: policy, directory(*HERE))
    blog, docs = Need(Kind.MEMBER_REMOVE, "blog"), Need(Kind.MEMBER_REMOVE, "docs")
    for alone in (blog, docs):
        assert (await access.requirements_for([alone], ASKER, OPS)).rule.guard is Guard.APPROVE

    with pytest.raises(NobodyCanApprove) as caught:
        await access.requirements_for([blog, docs], ASKER, OPS)

    assert (caught.value.needed, caught.value.found) == (3, 2)


@pytest.mark.parametrize("more", [{"guard": "confirm"}, {"guard": "approve", "self_approval": True}], ids=str)
async def test_several_guards_that_need_nobody_else_need_nobody_together(more: dict[str, Any]) -> None:
    guards = [{"operation": "member.*", "site": site, "expires": f"{len(site)}h", **more} for site in ("blog", "news1")]
    needs = [Need(Kind.MEMBER_REMOVE, "blog"), Need(Kind.MEMBER_REMOVE, "news1")]

    access = Access(lambda: Policy.model_validate({"guards": guards}), directory(ASKER))

    assert (await access.requirements_for(needs, ASKER, OPS)).rule.guard == more["guard"]


async def test_an_approver_who_left_is_not_missed_where_enough_others_approved() -> None:
    given = [{"by": by, "at": StandingClock()()} for by in (LEAD, HELPER, THIRD)]

    await Access(Policy, directory()).require_still_allowed(
        request(approvals=given, approvals_needed=2), StandingClock()()
    )


@pytest.mark.parametrize(
    ("asks", "reason", "link"),
    [
        ({}, "", ""),
        ({"reason": "required"}, "", None),
        ({"reason": "required"}, "...", None),
        ({"reason": "required"}, "cleanup", ""),
        ({"reason": "required", "pattern": "OPS-[0-9]+"}, "cleanup", None),
        (
            {"reason": "required", "pattern": "OPS-[0-9]+", "url": "https://t.example/{}"},
            "see OPS-7",
            "https://t.example/OPS-7",
        ),
        ({"reason": "required", "url": "https://t.example/{}"}, "see OPS-7", "https://t.example/see%20OPS-7"),
    ],
)
def test_the_reason_of_a_request_is_one_that_the_guard_takes(
    asks: dict[str, Any], reason: str, link: str | None
) -> None:
    access = Access(lambda: guarded(Guard.CONFIRM, **asks), directory())

    with pytest.raises(ReasonRequired) if link is None else nullcontext():
        assert access.link_reason(request(reason=reason)) == link
    end = Cause(kind=CauseKind.END, requester=ASKER)
    assert access.link_reason(request(reason=reason, cause=end)) == ""


async def test_nobody_is_mentioned_who_could_not_approve() -> None:
    named = Role(users=(ASKER, LEAD, "U0GUEST01", "U0BOT0001"), groups=("S0LEADS01",))
    guards = [{"operation": "rule.*", "guard": "approve", "approvers": ["named"]}]
    policy = Policy.model_validate({"roles": {"named": named}, "guards": guards})

    standing = await Access(lambda: policy, directory()).requirements_for([Need(Kind.RULE_DELETE)], ASKER, OPS)

    assert standing.summoned == (LEAD, "S0LEADS01")


IDS: Final = {"users": "UW", "groups": "S", "channels": "CG"}
"""How the ids begin that each field of a role takes."""


@pytest.mark.parametrize("field", IDS)
@pytest.mark.parametrize("begins", "BCDEGSTUW")
def test_a_role_takes_no_id_of_another_kind(field: str, begins: str) -> None:
    role = {field: (f"{begins}0THING01",)}

    if begins in IDS[field]:
        assert Role.model_validate(role).model_dump()[field] == role[field]
    else:
        with pytest.raises(ValidationError, match="is not the id of a"):
            Role.model_validate(role)


@pytest.mark.parametrize(("code", "text"), [("", "who they are"), ("ratelimited", "who they are: ratelimited")])
def test_what_slack_did_not_say_is_told_with_its_word_for_why_where_it_has_one(code: str, text: str) -> None:
    assert str(DirectoryUnavailable("who they are", code)) == text
