"""The second person is never lost: each policy of the cookbook, with roles held in each way, by everybody who may be there.

What is typed and clicked goes through the local Slack to the real bot. What must come of it says
`tests/harness/second_person.py`, which reads the policy file without the product's help. A new recipe, kind of change or
decision is in these tables without anybody remembering it.
"""

from __future__ import annotations

import tomllib
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path
from typing import Any, Final

import pytest

from bot.changes.model.change import Change
from bot.changes.model.edits import Kind
from bot.changes.model.parts import Guard
from bot.changes.model.states import State
from bot.changes.rights import RELEASES, Decision
from bot.store.outbox import Purpose
from handlers.slack.registry import action_name
from sandbox.demo import Sandbox
from sandbox.slack import filling, rendering
from sandbox.slack.message import Message
from sandbox.slack.people import User, UserGroup, direct_message
from sandbox.slack.story import Person
from tests.conftest import OPS, busy_sandbox
from tests.harness.channels import buttons
from tests.harness.looking import BUTTON, open_details
from tests.harness.scraping import read_readiness
from tests.harness.second_person import (
    DESTRUCTIVE,
    Company,
    Refused,
    Somebody,
    Stands,
    Touched,
    Way,
    toml,
    with_holders,
)
from tests.harness.truth import changes_of
from tests.policy.test_cookbook import RECIPES
from tests.stories.test_cost import idle

COOKBOOK: Final = {
    name: {key: table for key, table in tomllib.loads(found["toml"]).items() if key != "freeze"}
    for name, found in RECIPES.items()
}
"""Without freezes, which hold for some weeks of the year; tests/stories/test_frozen.py has them."""
ROLES: Final[Mapping[str, dict[str, Any]]] = {
    "team": {"channels": [OPS], "may": ["*"]},
    "leads": {"users": ["U0CARA001"], "may": ["*"]},
}
LIMITS: Final[Mapping[str, Any]] = {
    "host": ["A.example", "*.shop.example"],
    "group": "Group_n*",
    "site": "blog",
    "segment": ["beta", "staff"],
}
"""Something that a guard may name, by its key; the stories touch each with some of their kinds."""
BY_LEADS: Final = {"operation": "*", "guard": "approve", "approvers": ["leads"], "break_glass": ["leads"]}
KEYED: Final[Mapping[str, dict[str, Any]]] = {
    **{f"a guard by {key}": {"roles": ROLES, "guards": [{**BY_LEADS, key: value}]} for key, value in LIMITS.items()},
    **{
        f"a role limited by {key}": {"roles": {**ROLES, "team": ROLES["team"] | {key: value}}}
        for key, value in LIMITS.items()
    },
}
"""Policies with each key that says what is touched."""
POLICIES: Final[Mapping[str, dict[str, Any]]] = {**COOKBOOK, **KEYED}
WAYS: Final[tuple[Way, ...]] = ("as written", "by name", "by group", "by channel")
COMMANDS: Final[Mapping[Kind, str]] = {
    Kind.RULE_CREATE: '/rules make redirect https://a.example/{n} to https://b.example/{n} named "New {n}"',
    Kind.RULE_UPDATE: "/rules off Redirect_n{n} for 1h",
    Kind.RULE_DELETE: "/rules delete Redirect_n{n}",
    Kind.GROUP_UPDATE: "/rules group off Group_n{n} for 1h",
    Kind.MEMBER_ADD: '/members add new{n}@example.com named "New {n}" to vip',
    Kind.MEMBER_UPDATE: '/members edit old{n}@example.com named "Other {n}"',
    Kind.MEMBER_GRANT: "/members grant old{n}@example.com beta for 1h",
    Kind.MEMBER_REVOKE: "/members revoke old{n}@example.com vip",
    Kind.MEMBER_REMOVE: "/members remove old{n}@example.com",
}
"""How each kind of change is asked for, of the thing with the number *n*."""
A_RULE: Final = {"host": "a.example", "group": ""}
TOUCHED: Final[Mapping[Kind, Touched]] = {
    Kind.RULE_CREATE: A_RULE,
    Kind.RULE_UPDATE: A_RULE,
    Kind.RULE_DELETE: A_RULE,
    Kind.GROUP_UPDATE: {"host": None, "group": "group_n1"},
    **{kind: {"site": "blog", "segment": "vip"} for kind in Kind if kind.value.startswith("member")},
    Kind.MEMBER_GRANT: {"site": "blog", "segment": "beta"},
}
"""What each of these changes touches."""
UNDO_NEEDS: Final[Mapping[Kind, str]] = {
    Kind.RULE_CREATE: "rule.delete",
    Kind.RULE_DELETE: "rule.create",
    Kind.GROUP_UPDATE: "rule.update",
    Kind.MEMBER_ADD: "member.remove",
    Kind.MEMBER_UPDATE: "member.update",
    Kind.MEMBER_REVOKE: "member.grant",
}
"""The operation that an undo needs; that of a removal needs several, and what is temporary has its own end."""
TEMPORARY: Final = (Kind.RULE_UPDATE, Kind.GROUP_UPDATE, Kind.MEMBER_GRANT)

BUTTONS: Final[Mapping[Decision, str]] = {
    Decision.CONFIRM: "confirm",
    Decision.APPROVE: "approve",
    Decision.BREAK_GLASS: "break_glass",
    Decision.DENY: "deny",
    Decision.WITHDRAW: "keep",
    Decision.CHANGE_END: "until",
    Decision.REVERT: "end",
}
ELSEWHERE: Final = {Decision.STOP, Decision.UNDO, Decision.LOOK, Decision.REPLAN}
"""Of a running bulk change, one that asks for another change, and those that change nothing."""


def test_every_kind_and_every_decision_is_in_the_tables() -> None:
    assert set(COMMANDS) == set(Kind)
    assert set(BUTTONS) | ELSEWHERE == set(Decision)


# Who there is


def channel_of(policy: Mapping[str, Any]) -> str:
    return str((policy.get("channels", {}).get("act") or [OPS])[0])


def holders_of(policy: Mapping[str, Any], each: int) -> dict[str, tuple[str, ...]]:
    """*each* so many people for each role: whom it names, as far as it does."""
    found = {}
    for number, (name, role) in enumerate(policy.get("roles", {}).items()):
        named = [*role.get("users", ()), *(f"U0HOLDER{number}{letter}" for letter in "ABC")]
        found[name] = tuple(named[:each])
    return found


GUEST, TWIN = "U0GUEST11", "U0TWIN001"
NOBODIES: Final = ("U0NOBODY1", "U0NOBODY2", "U0NOBODY3")
NOBODY: Final = NOBODIES[0]


@dataclass(slots=True)
class Staff:
    """The people of a policy, put into the local Slack as *company* has them."""

    sandbox: Sandbox
    policy: dict[str, Any]
    holders: dict[str, tuple[str, ...]]
    emails_told: bool = True

    @property
    def channel(self) -> str:
        return channel_of(self.policy)

    @property
    def askers(self) -> list[str]:
        return [*(first for first, *_ in self.holders.values()), NOBODY]

    def groups_of(self, user: str) -> frozenset[str]:
        """Those that its roles are held through, by the policy as it is."""
        roles = [name for name, people in self.holders.items() if user in people]
        return frozenset(group for name in roles for group in self.policy["roles"][name].get("groups", ()))

    def company(self, kind: str, asker: str) -> Company:
        """Everybody; or the *asker*, and nobody else, a guest, a second account, or the others from elsewhere."""
        everyone = [*dict.fromkeys(user for people in self.holders.values() for user in people), *NOBODIES]
        here = everyone if kind in {"everybody", "moved"} else [asker]
        people = [Somebody(user, user, self.groups_of(user), user in here) for user in everyone]
        if kind == "guest":
            people.append(
                Somebody(GUEST, GUEST, frozenset(group for one in people for group in one.groups), guest=True)
            )
        if kind == "twin":
            people.append(Somebody(TWIN, asker, self.groups_of(asker)))
        return Company(self.policy, tuple(people), self.channel, self.emails_told)

    def put(self, company: Company) -> None:
        state = self.sandbox.slack.state
        for who in company.people:
            tag = "+second" if who.human != who.id else ""
            name = f"{who.human.casefold()}{tag}"
            state.users[who.id] = User(who.id, name, name, is_guest=who.guest)
            direct = direct_message(state.users[who.id], state.workspace.bot)
            state.channels[direct.id] = direct
        for group in {group for who in company.people for group in who.groups}:
            users = tuple(who.id for who in company.people if group in who.groups)
            state.groups[group] = UserGroup(group, group.casefold(), group, users)
        bot = state.workspace.bot.id
        here = tuple(who.id for who in company.people if who.here)
        state.channels[self.channel] = replace(state.channels[self.channel], members=(*here, bot), bot_is_member=True)
        self.sandbox.bot.gatehouse.access.directory.forget()  # type: ignore[attr-defined]  # as after a minute

    def person(self, user: str) -> Person:
        return Person(self.sandbox.slack, user, self.channel)


# What they do


@dataclass(slots=True)
class Play:
    """One policy's stories: everything asked for and clicked, each answer compared with the plain reading's."""

    staff: Staff
    sandbox: Sandbox
    policy_file: Path
    _number: Iterator[int] = field(default_factory=lambda: count(100))
    left: list[tuple[Change, str]] = field(default_factory=list)
    """Temporary changes that were applied, with who asked for them."""

    def prepare(self, cases: int) -> None:
        """Put what all *cases* are about into the services: their lists are remembered for a while."""
        services = self.sandbox.services
        services.database.add_site("site_1")
        for name in ("vip", "beta"):
            services.database.add_segment("site_1", name)
        services.members.put("site_1", {"name": "Beta", "email": "beta@example.com", "allowedSegments": ["beta"]})
        for n in range(100, 100 + cases):
            pair = {
                "source": {"key": "Url", "operator": "Equals", "value": f"https://a.example/old{n}"},
                "destination": f"https://b.example/{n}",
            }
            rule = {"id": f"Redirect_n{n}", "name": f"Rule {n}", "ruleType": "Redirect", "status": "Active"}
            services.rules.put(rule | {"pairs": [pair]})
            services.rules.put_group({"id": f"Group_n{n}", "name": f"Group {n}", "status": "Active"})
            member = {"name": f"Member {n}", "email": f"old{n}@example.com", "allowedSegments": ["vip"]}
            services.members.put("site_1", member)

    async def ask(self, who: str, kind: Kind) -> Change | None:
        """Ask for a change of *kind* as *who*; None where there is none."""
        return await self.types(who, COMMANDS[kind].format(n=next(self._number)))

    async def types(self, who: str, command: str) -> Change | None:
        """The change that *command* makes of *who*'s; None where it makes none."""
        person, store = self.staff.person(who), self.sandbox.bot.gatehouse.store
        before = await changes_of(store, who, 1)
        found = await person.replied(command)
        if not isinstance(found, Message):
            assert await person.submits() == {}
        await self.rest()
        self.sandbox.slack.state.stacks.clear()
        after = await changes_of(store, who, 1)
        return after[0] if after != before else None

    def told(self, who: str) -> int:
        """How many messages the bot sent to *who* alone."""
        return sum(message.visible_to == who for message in self.sandbox.slack.state.messages)

    def last(self) -> str:
        """What the bot said last."""
        found = self.sandbox.slack.state.messages[-1]
        return f"{found.text} {rendering.message('', found.blocks)}"

    async def rest(self) -> None:
        await idle(self.sandbox.bot.gatehouse.store)

    async def now(self, change: Change) -> Change:
        return await self.sandbox.bot.gatehouse.changes.journal.get(change.id)

    async def card(self, change: Change) -> Message:
        channel, ts = await self.sandbox.bot.gatehouse.store.cards.get(change.id, Purpose.CARD) or ("", "")
        found = self.sandbox.slack.state.find(channel, ts)
        assert found is not None
        return found

    async def click(self, who: str, decision: Decision, change: Change, *, look: bool = True, end: int = 0) -> Change:
        """Press the button of *decision* as *who*, after a look at everything where the card hides something.

        *end*: which one to choose of those that the form of another end offers.
        """
        person, card = self.staff.person(who), await self.card(change)
        name = f"decide.{BUTTONS[decision]}"
        action = next(one["action_id"] for one in buttons(card.blocks) if action_name(one["action_id"]) == name)
        block, found = person._button(card, action)
        options = [one for one in found.get("options", ()) if one["value"].startswith(f"{action} ")]
        chosen = {"selected_option": options[0]} if options else {}
        place = {"channel": card.channel, "ts": card.ts}
        if look and decision in RELEASES and BUTTON in str(card.blocks):
            await open_details(person, card)
        self.sandbox.slack.state.stacks.clear()
        known = self.told(who)
        async with person._watch() as watch:
            await self.sandbox.slack.acting.act(who, place, block, found["action_id"], chosen, {})
            if decision in {Decision.BREAK_GLASS, Decision.DENY, Decision.CHANGE_END}:
                await watch.until(lambda: person._filled_modal() or (self.told(who) > known) or None, action)
        if person.modal:
            label, *_ = filling.labels(person.modal["blocks"]).values()
            words = "It loops, and everybody else sleeps"
            if decision is Decision.CHANGE_END:
                words = person._input(label)["element"]["options"][end]["text"]["text"]
            person.fills(**{label: words})
            assert await person.submits() == {}
        await self.rest()
        self.sandbox.slack.state.stacks.clear()
        return await self.now(change)

    def writes(self) -> int:
        services = self.sandbox.services
        return sum(call.method != "GET" for call in (*services.rules.calls(), *services.members.calls()))

    async def request(self, company: Company, asker: Somebody, kind: Kind) -> Change | None:
        """Ask for a change, then have everybody try to let it through; those who may not come first."""
        expected = company.requirement_for(asker, kind.operation, TOUCHED[kind])
        before = self.writes()
        change = await self.ask(asker.id, kind)
        if isinstance(expected, Refused):
            assert (change, self.writes()) == (None, before), (
                "asked for by somebody who may not, or whom nobody could approve"
            )
            return None
        assert change is not None, f"refused to somebody who may: {self.last()}"
        assert (change.edit.kind, change.decision.guard.value) == (kind, expected.guard)
        if expected.guard != "none":
            assert (change.state, self.writes()) == (State.PROPOSED, before)
            change = await self.decide(company, change, asker, expected)
        assert change.state is State.APPLIED, change.run
        assert self.writes() > before
        if change.is_temporary:
            self.left.append((change, asker.id))
        return change

    async def move(self, company: Company, asker: Somebody) -> None:
        """Ask for another email of a member: it takes what its addition takes."""
        about = TOUCHED[Kind.MEMBER_ADD]
        expected = [company.requirement_for(asker, name, about) for name in ("member.add", "member.grant")]
        before, n = self.writes(), next(self._number)
        change = await self.types(asker.id, f"/members move old{n}@example.com to moved{n}@example.com")
        if any(isinstance(each, Refused) for each in expected):
            assert (change, self.writes()) == (None, before), (
                "moved by somebody who may not, or whom nobody could approve"
            )
            return
        guards = [each.guard for each in expected if isinstance(each, Stands)]
        if change is not None:  # else nobody may approve all of it
            assert change.decision.guard.value == next(
                name for name in ("approve", "confirm", "none") if name in guards
            )
            assert (self.writes() > before) == (change.decision.guard is Guard.NONE)

    async def undo(self, company: Company, change: Change, asker: Somebody, who: Somebody) -> bool:
        """Undo what *asker* did as *who*, whose own act it is or not; whether it is undone: only one's own needs nobody."""
        operation = UNDO_NEEDS[change.edit.kind]
        touched = TOUCHED[change.edit.kind]
        expected = company.requirement_for(who, operation, touched)
        lets_own = company.rule_for(operation, touched).get("undo_own", True)
        is_alone = who is asker and change.decision.guard is not Guard.APPROVE
        if is_alone and company.is_allowed(who, operation, touched) and (lets_own or expected == Stands("none")):
            expected = Stands("confirm" if operation in DESTRUCTIVE else "none")  # who types it hasn't seen what goes
        before = self.writes()
        undo = await self.types(who.id, f"/gatehouse undo {change.id[:8]}")
        if isinstance(expected, Refused):
            assert (undo, self.writes()) == (None, before)
            return False
        assert undo is not None, f"refused to somebody who may: {self.last()}"
        assert (undo.request.undoes, undo.decision.guard.value) == (change.id, expected.guard)
        is_done = expected.guard == "none"
        if expected == Stands("confirm"):
            assert (undo.state, self.writes()) == (State.PROPOSED, before), "deleted by text alone"
            undo, is_done = await self.decide(company, undo, who, expected), True
        assert (undo.state is State.APPLIED, self.writes() > before) == (is_done, is_done)
        return is_done

    async def decide(self, company: Company, change: Change, asker: Somebody, stands: Stands) -> Change:
        decision = Decision.CONFIRM if stands.guard == "confirm" else Decision.APPROVE
        able = [asker.id] if decision is Decision.CONFIRM else list(stands.approvers)
        before = self.writes()
        from_afar = [who.id for who in company.people if not who.here and who.id not in able]
        for who in company.people:
            if who.id not in [*able, *from_afar[1:]]:
                after = await self.click(who.id, decision, change, look=False)
                assert (after.state, after.decision.approvals) == (State.PROPOSED, ()), f"{who.id} let it through"
        humans = {who.id: who.human for who in company.people}
        given: set[str] = set()
        for who_id in able:
            assert (await self.now(change)).state is State.PROPOSED, f"let through by {given}"
            assert self.writes() == before
            given.add(humans[who_id])
            change = await self.click(who_id, decision, change)
            if len(given) >= (stands.approvals if decision is Decision.APPROVE else 1):
                break
        return change

    async def override(self, company: Company, asker: Somebody, kind: Kind) -> None:
        """Go ahead alone: only who may, after a look."""
        expected = company.requirement_for(asker, kind.operation, TOUCHED[kind])
        if not isinstance(expected, Stands) or not expected.overriders or expected.guard == "none":
            return
        change = await self.ask(asker.id, kind)
        assert change is not None
        for who in company.people:
            if who.id not in expected.overriders:
                after = await self.click(who.id, Decision.BREAK_GLASS, change, look=False)
                assert after.state is State.PROPOSED, f"{who.id} went ahead alone"
        alone = expected.overriders[0]
        if BUTTON in str((await self.card(change)).blocks):
            after = await self.click(alone, Decision.BREAK_GLASS, change, look=False)
            assert after.state is State.PROPOSED, "without a look at what the card hides"
        done = await self.click(alone, Decision.BREAK_GLASS, change)
        assert done.state is State.APPLIED, self.last()

    async def prolong(self, company: Company, change: Change, asker: str, end: int) -> Change:
        """Have everybody try to give *change* another end: nobody can where more than one would have to approve it now."""
        kind = change.edit.kind
        rule = company.rule_for(kind.operation, TOUCHED[kind])
        requester = next(who for who in company.people if who.id == asker)
        asks_others = change.decision.guard.value == "approve" or rule["guard"] == "approve"
        needed = max(change.decision.approvals_needed, rule.get("approvals", 1)) if asks_others else 1
        for who in company.people:
            ends = (await self.now(change)).request.reverts_at
            after = (await self.click(who.id, Decision.CHANGE_END, change, end=end)).request.reverts_at
            may = company.is_allowed(who, kind.operation, TOUCHED[kind])
            if may and (not asks_others or company.may_approve(who, requester, rule, TOUCHED[kind])):
                assert (after != ends) == (needed == 1), f"{who.id} alone, of {needed}"
            else:
                assert after == ends, f"{who.id} gave it another end"
            if after != ends:
                break
        return await self.now(change)


TIGHT: Final = {"operation": "*", "guard": "approve", "approvals": 2}


@pytest.fixture
async def play(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Play]:
    """The sandbox of a policy, with its roles held in one way."""
    name, way, without_scopes = request.param
    holders = holders_of(POLICIES[name], 3 if way == STRICT else 2)
    policy = with_holders(POLICIES[name], "as written" if way == STRICT else way, holders, channel_of(POLICIES[name]))
    if way == STRICT:
        policy["guards"] = [{**TIGHT, "break_glass": list(holders)}]
    file = tmp_path / "policy.toml"
    file.write_text(toml(policy))
    async with busy_sandbox(tmp_path, seed=False, policy=file, without_scopes=without_scopes) as sandbox:
        play = Play(Staff(sandbox, policy, holders, emails_told=not without_scopes), sandbox, file)
        play.prepare(CASES)
        yield play


CASES: Final = 100
STRICT: Final = "with two approvals for everything"
WITH_ROLES: Final = [name for name, policy in COOKBOOK.items() if policy.get("roles")]
STORIES: Final = [
    *((name, "as written", ()) for name in COOKBOOK),
    *((name, STRICT, ()) for name in (*WITH_ROLES[-2:], "A second person for every deletion")),
    *((name, way, ()) for way in WAYS[1:] for name in WITH_ROLES),
    *((name, "as written", ()) for name in KEYED),
]


@pytest.mark.first(1)
@pytest.mark.threat("A14")
@pytest.mark.parametrize("play", STORIES, indirect=True, ids=lambda story: f"{story[0]}, {story[1]}")
async def test_every_change_under_every_policy_takes_those_whom_the_policy_wants(play: Play) -> None:
    staff = play.staff
    company = staff.company("everybody", staff.askers[0])
    staff.put(company)
    people = {who.id: who for who in company.people}
    for asker in staff.askers:
        for kind in Kind:
            await play.request(company, people[asker], kind)
        await play.move(company, people[asker])
        await play.override(company, people[asker], Kind.RULE_DELETE)
        await play.override(company, people[asker], Kind.MEMBER_GRANT)

    for number, (change, asker) in enumerate(play.left):
        await play.prolong(company, change, asker, -(number % 2))


@pytest.mark.first(1)
@pytest.mark.threat("A14")
@pytest.mark.parametrize("lets_own", [True, False])
@pytest.mark.parametrize("play", STORIES[: len(COOKBOOK)], indirect=True, ids=lambda story: story[0])
async def test_ones_own_act_is_undone_at_once_and_that_of_others_as_the_policy_wants(
    play: Play, lets_own: bool
) -> None:
    staff = play.staff
    if not lets_own:
        destroying = [{"operation": name, "guard": "approve-or-confirm"} for name in ("rule.delete", "member.remove")]
        guards = [*staff.policy.get("guards", ()), *destroying]
        staff.policy["guards"] = [{**guard, "undo_own": False} for guard in guards]
        play.policy_file.write_text(toml(staff.policy))
        for _ in range(2):
            play.sandbox.bot.gatehouse.access.policy.look()  # type: ignore[attr-defined]  # as every few seconds
    company = staff.company("everybody", staff.askers[0])
    staff.put(company)
    people = [who for who in company.people if who.id in staff.askers]
    for asker, other in zip(people, [*people[1:], people[0]], strict=True):
        for kind in UNDO_NEEDS:
            if (change := await play.request(company, asker, kind)) is None:
                continue
            is_own = other is not asker and change.decision.guard is not Guard.APPROVE
            if not (is_own and await play.undo(company, change, asker, other)):
                await play.undo(company, change, asker, asker)


@pytest.mark.first(1)
@pytest.mark.threat("A7")
@pytest.mark.parametrize("play", STORIES[: len(COOKBOOK)], indirect=True, ids=lambda story: story[0])
async def test_who_is_alone_or_among_guests_or_with_a_second_account_has_no_second_person(play: Play) -> None:
    staff = play.staff
    for name in ("alone", "guest", "twin"):
        for asker in staff.askers:
            company = staff.company(name, asker)
            staff.put(company)
            requester = next(who for who in company.people if who.id == asker)
            for kind in (Kind.RULE_DELETE, Kind.RULE_UPDATE, Kind.MEMBER_REMOVE):
                await play.request(company, requester, kind)


@pytest.mark.first(1)
@pytest.mark.threat("A7")
@pytest.mark.parametrize(
    "play",
    [(name, "as written", ("users:read.email",)) for name in COOKBOOK],
    indirect=True,
    ids=lambda story: story[0],
)
async def test_without_the_scope_for_emails_nobody_is_a_second_person_and_operators_are_told(play: Play) -> None:
    staff = play.staff
    company = staff.company("everybody", staff.askers[0])
    staff.put(company)
    for asker in staff.askers:
        for kind in (Kind.RULE_DELETE, Kind.RULE_UPDATE, Kind.MEMBER_REMOVE, Kind.MEMBER_GRANT):
            await play.request(company, next(who for who in company.people if who.id == asker), kind)

    cara = Person(play.sandbox.slack, staff.askers[0], staff.channel)
    assert "users:read.email" in cara.slack_text(await cara.says("/gatehouse status"))
    assert "users:read.email" in (await read_readiness(play.sandbox.bot_url))[1]["scopes"]


@pytest.mark.first(1)
@pytest.mark.parametrize("play", STORIES[: len(COOKBOOK)], indirect=True, ids=lambda story: story[0])
async def test_a_policy_that_was_tightened_stands_before_another_end(play: Play) -> None:
    staff = play.staff
    company = staff.company("everybody", staff.askers[0])
    staff.put(company)
    people = {who.id: who for who in company.people}
    for asker in staff.askers:
        for kind in TEMPORARY:
            await play.request(company, people[asker], kind)

    tight = {**staff.policy, "guards": [TIGHT, *staff.policy.get("guards", ())]}
    play.policy_file.write_text(toml(tight))
    for _ in range(2):
        play.sandbox.bot.gatehouse.access.policy.look()  # type: ignore[attr-defined]  # as every few seconds
    for number, (change, asker) in enumerate(play.left):
        await play.prolong(replace(company, policy=tight), change, asker, -(number % 2))
