"""Slack tells again what it thinks was lost, newly signed, minutes or a day later: it is done once."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Final

import httpx
import pytest

from bot.changes.model.states import State
from sandbox.demo import Sandbox
from tests.conftest import Clock
from tests.harness.colleague import Colleague, ended, undone
from tests.harness.truth import all_changes
from tests.stories.test_cost import idle

OLD: Final = "Redirect_x1old"
LATER: Final = [timedelta(), timedelta(minutes=1), timedelta(minutes=11), timedelta(hours=1), timedelta(hours=24)]
Act = Callable[[Colleague], Awaitable[object]]


async def mention(alice: Colleague) -> None:
    await alice.clicks(await alice.says(f"@gatehouse rules off {OLD} for 30m"), "Do it")
    await alice.sees_change()


async def undo(alice: Colleague) -> None:
    await alice.types("/gatehouse undo")
    await alice.sees_change(where=undone)


async def command(alice: Colleague) -> None:
    await alice.says(f"/rules off {OLD} for 30m")
    await alice.sees_change()


async def click(alice: Colleague) -> None:
    await alice.says(f"/rules off {OLD}")
    await alice.clicks(await alice.sees_change(), "Undo")
    await alice.sees_change(where=undone)


async def submission(alice: Colleague) -> None:
    await alice.opens(f"/rules edit {OLD}")
    alice.fills(Name="Told twice")
    await alice.submits()
    await alice.sees_change(of="Told twice")


async def request(alice: Colleague) -> None:
    await alice.says(f"/rules delete {OLD}")
    await alice.sees_change(state=State.PROPOSED)


@pytest.mark.threat("A4")
@pytest.mark.parametrize("transport", ["http"])  # over Socket Mode nothing is signed
@pytest.mark.parametrize("act", [mention, undo, command, click, submission, request])
async def test_what_is_told_again_is_done_once(
    workspace: Sandbox, alice: Colleague, cara: Colleague, clock: Clock, act: Act
) -> None:
    # Something older, which a second undo would take back.
    await cara.says("/rules off Redirect_imgs2")
    await alice.says("/rules off Redirect_chk01")
    told, delivery = list[tuple[bytes, str]](), workspace.slack.delivery

    async def note(sent: httpx.Request) -> None:
        told.append((sent.content, sent.headers["content-type"]))

    delivery.http.event_hooks = {"request": [note]}
    if act is undo:
        await alice.says(f"/rules off {OLD}")
        told.clear()
    await act(alice)
    store, rules = workspace.bot.gatehouse.store, workspace.services.rules
    await idle(store)
    clock.ahead += timedelta(minutes=31)
    if act in {mention, command}:
        await alice.sees_change(where=ended)
    await idle(store)
    writes, made = len(rules.calls("PUT")), len(await all_changes(store))

    delivery.http.event_hooks = {}
    for number, later in enumerate(LATER):
        clock.ahead += later
        delivery.skew = number + 1
        for body, kind in told:
            await delivery._post(body, kind)
        await idle(store)

    assert told
    assert len(rules.calls("PUT")) == writes
    assert len(await all_changes(store)) == made
