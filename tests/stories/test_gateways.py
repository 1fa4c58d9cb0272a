"""A gateway's 404 says nothing about a rule, nor does a refusal under a success status."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

import pytest
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response

from bot.changes.model.states import State
from sandbox.demo import Sandbox
from sandbox.services.faults import Faults
from tests.conftest import Clock
from tests.drills.fleet import until
from tests.harness.colleague import Colleague, ended
from tests.harness.looking import approve_card

OLD: Final = "Redirect_x1old"
ANSWERS: Final[dict[str, Response]] = {
    "text": PlainTextResponse("404 page not found\n", 404),
    "page": HTMLResponse("<h1>Not Found</h1>", 404),
    "message": JSONResponse({"message": "no Route matched with those values"}, 404),
    "detail": JSONResponse({"detail": "Not Found"}, 404),
    "list": JSONResponse([], 404),
    "empty": Response(b"", 404),
}


@dataclass(kw_only=True)
class Gateway(Faults):
    """Has no route to the service while it is *down*, or from the first write on."""

    answer: Response
    down: bool = False
    at_write: bool = False
    asked: int = 0

    async def respond(self, request: Request, body: bytes, answer: Callable[[bytes], Awaitable[Response]]) -> Response:
        self.down = self.down or (self.at_write and request.method != "GET")
        self.asked += self.down
        return self.answer if self.down else await answer(body)


@pytest.fixture(params=ANSWERS)
def gateway(request: pytest.FixtureRequest, workspace: Sandbox) -> Gateway:
    gateway = Gateway(answer=ANSWERS[request.param])
    workspace.services.rules.stage.faults = gateway
    return gateway


async def tried_in_vain(workspace: Sandbox, gateway: Gateway) -> None:
    async def is_due_later() -> bool:
        return gateway.asked > 0 and (await workspace.bot.gatehouse.store.outbox.backlogs())["timer"][0] == 0

    await until(is_due_later, "its timer is set for the next try")


@pytest.mark.first(2)
@pytest.mark.threat("B3")
async def test_a_deletion_is_not_done(
    workspace: Sandbox, alice: Colleague, cara: Colleague, clock: Clock, gateway: Gateway
) -> None:
    card = await alice.says(f"/rules delete {OLD}")
    gateway.at_write = True
    await approve_card(cara, card)
    await alice.sees_change(state=State.UNKNOWN)
    assert workspace.services.rules.get(OLD) is not None

    gateway.down = gateway.at_write = False
    clock.ahead += timedelta(hours=2)
    await alice.sees_change(state=State.FAILED)


@pytest.mark.first(2)
@pytest.mark.threat("B3")
async def test_an_end_comes_when_the_service_is_back(
    workspace: Sandbox, alice: Colleague, clock: Clock, gateway: Gateway
) -> None:
    await alice.says(f"/rules off {OLD} for 1h")
    await alice.sees_change()
    gateway.down = True
    clock.ahead += timedelta(hours=1, seconds=1)
    await tried_in_vain(workspace, gateway)

    gateway.down = False
    clock.ahead += timedelta(hours=1)
    await alice.sees_change(where=ended)
    assert (workspace.services.rules.get(OLD) or {})["status"] == "Active"


@pytest.mark.first(2)
@pytest.mark.threat("B3")
async def test_a_plan_starts_when_the_service_is_back(
    workspace: Sandbox, alice: Colleague, clock: Clock, gateway: Gateway
) -> None:
    await alice.types(f"/rules off {OLD} in 2h")
    await alice.sees_change(state=State.PLANNED)
    gateway.down = True
    clock.ahead += timedelta(hours=2, seconds=1)
    await tried_in_vain(workspace, gateway)

    gateway.down = False
    clock.ahead += timedelta(minutes=11)
    await alice.sees_change()


@dataclass(kw_only=True)
class Mixed(Faults):
    """Says that a write failed, under a status of success; *does* it all the same, or not."""

    does: bool

    async def respond(self, request: Request, body: bytes, answer: Callable[[bytes], Awaitable[Response]]) -> Response:
        if request.method == "GET" or self.does:
            answered = await answer(body)
        failure = JSONResponse({"success": False, "message": "saved, but the cache could not be purged"})
        return answered if request.method == "GET" else failure


@pytest.mark.threat("B3")
@pytest.mark.parametrize("verb", ["off", "off for 1h", "delete"])
@pytest.mark.parametrize(("does", "state"), [(True, State.APPLIED), (False, State.FAILED)])
async def test_a_refusal_under_a_success_status_is_read_back(
    workspace: Sandbox, alice: Colleague, cara: Colleague, verb: str, does: bool, state: State
) -> None:
    workspace.services.rules.stage.faults = Mixed(does=does)
    verb, _, end = verb.partition(" ")
    card = await alice.says(f"/rules {verb} {OLD} {end}")
    if verb == "delete":
        await approve_card(cara, card)
    await alice.sees_change(state=state)
