"""A right and a guard stand before what is changed, by whatever way somebody asks for it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import timedelta
from typing import Final, TypeAlias

import pytest

from bot.changes.model.states import State
from handlers.files.import_form_view import MEMBERS
from sandbox.demo import Sandbox
from sandbox.services.database import Record
from sandbox.slack.message import Message
from tests.conftest import OPS, Clock
from tests.harness.colleague import Colleague, approved_by
from tests.harness.looking import open_details

ZED = "zed@example.com"
NEW = "new@example.com"

SUPPORT: Final = """
[roles.support]
users = ["U0BOB0001"]
may = ["read", "member.update", "member.add", "member.revoke", "member.remove"]

[roles.leads]
users = ["U0CARA001"]
may = ["*"]
"""
"""Bob may do all to members but give them access."""

GUARDED: Final = """
[roles.support]
users = ["U0BOB0001"]
may = ["read", "member.*"]

[roles.leads]
users = ["U0CARA001"]
may = ["*"]

[[guards]]
operation = "member.grant"
guard = "approve"
approvers = ["leads"]
undo_own = false

[[guards]]
operation = "member.*"
guard = "none"
"""
"""Bob may do everything to members, but nobody gives access alone, not what they took themselves either."""


def found(workspace: Sandbox, email: str = ZED) -> Record | None:
    return workspace.services.members.get("site_1", email)


def segments(workspace: Sandbox, email: str = ZED) -> list[str] | None:
    member = found(workspace, email)
    return None if member is None else sorted(member["allowedSegments"])


async def by_form(workspace: Sandbox, bob: Colleague) -> None:
    await bob.opens(f"/members edit {ZED}")
    bob.fills(Segments=["free", "vip"])
    assert await bob.submits() == {}


async def by_import(workspace: Sandbox, bob: Colleague, mode: str) -> None:
    await bob.opens("/members import")
    bob.fills(**{"What to do with these people?": mode})
    bob.attaches("File", **{"members.csv": f'email;segments\n{ZED};"free,vip"\n'.encode()})
    assert await bob.submits() == {}
    await bob.sees_view(MEMBERS)
    assert await bob.submits() == {}


async def by_import_of_a_list(workspace: Sandbox, bob: Colleague) -> None:
    await by_import(workspace, bob, "Replace their segments with these")


async def by_import_of_a_grant(workspace: Sandbox, bob: Colleague) -> None:
    await by_import(workspace, bob, "Grant them these segments")


async def by_add(workspace: Sandbox, bob: Colleague) -> None:
    await bob.opens(f"/members add {NEW} named New")
    bob.fills(Segments=["vip"])
    assert await bob.submits() == {}


async def by_undo_of_a_revoke(workspace: Sandbox, bob: Colleague) -> None:
    workspace.services.members.put("site_1", {"name": "Zed", "email": ZED, "allowedSegments": ["free", "vip"]})
    card = await bob.says(f"/members revoke {ZED} vip")
    await bob.sees_change(of=ZED)
    await bob.clicks(card, "Undo")


IMPORTS: Final = [by_import_of_a_list, by_import_of_a_grant]
ROUTES: Final = [by_form, *IMPORTS, by_add, by_undo_of_a_revoke]
Route: TypeAlias = Callable[[Sandbox, Colleague], Awaitable[None]]


@pytest.fixture
def zed(workspace: Sandbox) -> None:
    workspace.services.members.put("site_1", {"name": "Zed", "email": ZED, "allowedSegments": ["free"]})


@pytest.mark.first(2)
@pytest.mark.usefixtures("zed")
@pytest.mark.policy(SUPPORT)
@pytest.mark.parametrize("route", ROUTES)
async def test_access_is_not_given_without_the_right_to(workspace: Sandbox, bob: Colleague, route: Route) -> None:
    await route(workspace, bob)

    refused = "`member.grant`"
    await (bob.sees_problem(refused) if route is by_undo_of_a_revoke else bob.sees_form(refused))
    assert segments(workspace) == ["free"]
    assert found(workspace, NEW) is None


@pytest.mark.first(2)
@pytest.mark.usefixtures("zed")
@pytest.mark.policy(GUARDED)
@pytest.mark.parametrize("route", ROUTES)
async def test_the_guard_of_giving_access_stands_before_every_way_to_give_it(
    workspace: Sandbox, bob: Colleague, cara: Colleague, route: Route
) -> None:
    await route(workspace, bob)

    card = await bob.sees_change(state=State.PROPOSED, where=lambda change: cara.id in change.decision.summoned)
    assert segments(workspace) == ["free"]
    assert found(workspace, NEW) is None

    lead = Colleague(workspace, cara.id, bob.channel)
    await open_details(lead, card)
    await lead.clicks(card, "v1.decide.approve", confirm=route in IMPORTS)
    await bob.sees_change(where=lambda change: approved_by(change) == [cara.id])


ONLY_ACCESS: Final = """
[roles.access]
users = ["U0BOB0001"]
may = ["read", "member.grant", "member.revoke"]
"""


@pytest.mark.first(1)
@pytest.mark.policy(ONLY_ACCESS)
@pytest.mark.parametrize("name", ["Zed", "Z" * 3_500, None])
async def test_who_may_give_access_may_do_so_in_the_form_and_change_no_name(
    workspace: Sandbox, bob: Colleague, name: str | None
) -> None:
    """A form that cannot show all of a name does not change it either."""
    kept = {"email": ZED, "allowedSegments": ["free"]} | ({} if name is None else {"name": name})
    workspace.services.members.put("site_1", kept)
    await by_form(workspace, bob)
    await bob.sees_change(of=ZED)
    assert segments(workspace) == ["free", "vip"]

    await bob.types(f"/members edit {ZED}")
    await bob.sees_form("Name")
    bob.fills(Name="Somebody else")
    assert await bob.submits() == {}
    await bob.sees_form("`member.update`")
    assert (found(workspace) or {}).get("name") == name


@pytest.mark.usefixtures("zed")
@pytest.mark.policy(ONLY_ACCESS)
async def test_who_may_give_access_may_do_so_from_a_file_and_add_nobody(workspace: Sandbox, bob: Colleague) -> None:
    await by_import_of_a_list(workspace, bob)
    await bob.sees_set(applied=1)
    assert segments(workspace) == ["free", "vip"]

    await bob.is_refused(f"/members add {NEW}")


OLD: Final = "Redirect_x1old"


def shared(workspace: Sandbox) -> None:
    channels = workspace.slack.state.channels
    channels[OPS] = replace(channels[OPS], is_ext_shared=True)


async def held(workspace: Sandbox, alice: Colleague, cara: Colleague) -> Message:
    """The card of a deletion that Cara approved while the service was away."""
    card = await alice.says(f"/rules delete {OLD}")
    workspace.services.rules.stage.faults.add("500", method="GET", times=3)
    await cara.clicks(card, "v1.decide.approve", confirm=True)
    await alice.is_notified("approved")  # its delivery asks Slack about her, too
    return await alice.sees_change(state=State.APPROVED, where=lambda change: change.run.waits)


async def test_nothing_is_done_or_told_in_a_channel_that_is_shared_by_then(
    workspace: Sandbox, alice: Colleague, cara: Colleague, clock: Clock
) -> None:
    card = await held(workspace, alice, cara)
    before = alice.slack_text(card)
    shared(workspace)
    clock.ahead += timedelta(minutes=2)

    failed = await alice.is_notified("card")
    assert (await alice.change_of(failed)).state is State.FAILED
    assert alice.slack_text(alice.cards[-1]) == before
    assert workspace.services.rules.calls("DELETE") == []


async def test_nothing_is_offered_to_be_shared_with_another_company(workspace: Sandbox, alice: Colleague) -> None:
    assert "[Share in channel]" in alice.slack_text(await alice.says("/rules list"))
    shared(workspace)
    workspace.bot.gatehouse.access.directory.forget()  # type: ignore[attr-defined]  # as after a minute

    assert "[Share in channel]" not in alice.slack_text(await alice.says("/rules list"))


async def test_a_request_in_a_channel_that_is_shared_by_now_reminds_its_requester_alone(
    workspace: Sandbox, alice: Colleague, clock: Clock
) -> None:
    card = await alice.says(f"/rules delete {OLD}")
    shared(workspace)
    clock.ahead += timedelta(minutes=20)

    await alice.is_notified("remind")
    assert alice.thread(card) == []
