"""A form whose checks meet a service that fails stays as it was sent, says why, and can be sent again."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest
import sqlalchemy as sa
from starlette.requests import Request
from starlette.responses import Response

from handlers.explain.table import says_unchanged
from sandbox.demo import Sandbox
from sandbox.services.faults import Faults
from tests.harness.colleague import Colleague
from tests.harness.held_service import Held

OLD = "Redirect_x1old"
NEW = "https://shop.example.com/thaw"
ANNA = "anna.berg@example.com"
KEPT = "What you typed is kept"
PATIENT = pytest.mark.parametrize("form_timeout", [60.0])
"""However loaded this machine is, forms are acknowledged with what they come to."""
AT_ONCE = pytest.mark.parametrize("form_timeout", [0.0])


def fails(faults: Faults, kind: str, method: str = "GET") -> None:
    """Let the service answer so, however often it is asked again, until the test clears it."""
    faults.add(kind, method=method, times=1_000)


@PATIENT
@pytest.mark.parametrize("kind", ["500", "html", "cut_before", "403"])
async def test_an_edit_survives_a_failing_service(workspace: Sandbox, alice: Colleague, kind: str) -> None:
    faults = workspace.services.rules.stage.faults
    await alice.opens(f"/rules edit {OLD}")
    alice.fills(From=NEW, Name="Spring", Why="The summer is over")
    fails(faults, kind)

    assert await alice.submits() == {}

    assert says_unchanged((alice.modal or {})["blocks"])
    assert KEPT in alice.form
    alice.typed.clear()  # as a client does that has drawn something else in between
    faults.clear()
    assert await alice.submits() == {}
    card = await alice.sees_change(of="Spring")
    assert "The summer is over" in alice.slack_text(card)
    stored = workspace.services.rules.get(OLD) or {}
    assert (stored["name"], stored["pairs"][0]["source"]["value"]) == ("Spring", NEW)


@PATIENT
async def test_a_service_that_fails_twice_is_mentioned_once(workspace: Sandbox, alice: Colleague) -> None:
    await alice.opens(f"/rules edit {OLD}")
    fails(workspace.services.rules.stage.faults, "500")

    await alice.submits()
    await alice.submits()

    assert alice.form.count(KEPT) == 1


@AT_ONCE
async def test_a_form_comes_back_in_the_place_of_its_waiting(workspace: Sandbox, bob: Colleague) -> None:
    await bob.opens("/members add")
    bob.fills(Email="new@example.com", Name="New Person", Segments=["vip"])
    faults = workspace.services.members.stage.faults
    fails(faults, "html")

    assert await bob.submits() == {}

    await bob.sees_form(KEPT)
    bob.typed.clear()
    faults.clear()
    await bob.submits()
    await bob.sees_change(of="New Person")
    member = workspace.services.members.get("site_1", "new@example.com") or {}
    assert member["allowedSegments"] == ["vip"]


class HeldThenFails(Held):
    """A service that fails once it is let."""

    async def respond(self, request: Request, body: bytes, answer: Callable[[bytes], Awaitable[Response]]) -> Response:
        await super().respond(request, body, answer)
        return Response(status_code=500)


@AT_ONCE
async def test_a_form_that_was_closed_while_it_was_checked_comes_back_by_a_button(
    workspace: Sandbox, bob: Colleague
) -> None:
    await bob.opens(f"/members edit {ANNA}")
    bob.fills(Name="Anna again")
    stage = workspace.services.members.stage
    stage.faults = service = HeldThenFails()
    assert await bob.submits() == {}
    assert bob.modal is not None
    bob.slack.acting.close(bob.id, bob.modal["id"], clear=True)
    service.free.set()

    told = await bob.sees("[Open the form again…]")
    assert told.visible_to == bob.id
    stage.faults = Faults()
    await bob.clicks(told, "Open the form again…", opens=KEPT)
    await bob.submits()
    await bob.sees_change(of="Anna again")
    assert (workspace.services.members.get("site_1", ANNA) or {})["name"] == "Anna again"


@PATIENT
async def test_a_file_has_to_be_chosen_again(workspace: Sandbox, bob: Colleague) -> None:
    await bob.opens("/members import")
    bob.fills(Why="From the spreadsheet")
    bob.attaches("File", **{"members.csv": b"email,name\nnew@example.com,New\n"})
    fails(workspace.services.members.stage.faults, "500")

    assert await bob.submits() == {}

    assert "Choose the file again" in bob.form
    assert "From the spreadsheet" in bob.form


@PATIENT
async def test_a_file_that_is_gone_costs_nothing_else_that_was_typed(workspace: Sandbox, bob: Colleague) -> None:
    await bob.opens("/members import")
    bob.fills(Why="From the spreadsheet")
    bob.attaches("File", **{"members.csv": b"email,name\nnew@example.com,New One\n"})
    for file in workspace.slack.state.files.all.values():
        file.is_deleted = True

    assert await bob.submits() == {}

    assert "Choose the file again" in bob.form
    bob.typed.clear()
    bob.attaches("File", **{"members.csv": b"email,name\nnew@example.com,New One\n"})
    assert await bob.submits() == {}
    await bob.sees_form("1 new")
    await bob.submits()
    card = await bob.sees_set(applied=1)
    assert "From the spreadsheet" in bob.slack_text(card)


@PATIENT
async def test_a_form_survives_a_database_that_takes_nothing_in(workspace: Sandbox, alice: Colleague) -> None:
    await alice.opens(f"/rules edit {OLD}")
    alice.fills(Name="Spring")
    store = workspace.bot.gatehouse.store
    async with store.transaction() as tx:
        await tx.execute(sa.text("ALTER TABLE inbox RENAME TO elsewhere"))

    assert await alice.submits() == {}

    assert "database rejected the request" in alice.form
    assert KEPT in alice.form
    async with store.transaction() as tx:
        await tx.execute(sa.text("ALTER TABLE elsewhere RENAME TO inbox"))
    alice.typed.clear()
    await alice.submits()
    await alice.sees_change(of="Spring")


@PATIENT
async def test_an_edit_that_another_change_is_in_the_way_of_can_be_sent_again(
    workspace: Sandbox, alice: Colleague, cara: Colleague
) -> None:
    await alice.opens(f"/rules edit {OLD}")
    alice.fills(Name="Spring", Why="The summer is over")
    stage = workspace.services.rules.stage
    stage.faults = service = Held(only_writes=True)
    await cara.types(f"/rules off {OLD}")
    await service.asked.wait()

    assert await alice.submits() == {}

    assert "still open" in alice.form
    assert KEPT in alice.form
    assert "Spring" in alice.form
    service.free.set()
    await cara.sees_change(of=OLD)
