"""What was acknowledged is done, also by the process that comes after."""

from __future__ import annotations

from datetime import timedelta

import sqlalchemy as sa

from bot.changes.proposals import Proposal
from bot.domain.change import Kind, Target
from bot.store.inbound import MOST_ATTEMPTS
from bot.store.tables import inbound
from sandbox.demo import Sandbox
from sandbox.slack.story import Person

OLD = "Redirect_x1old"
GONE = timedelta(seconds=-1)


async def test_a_command_that_was_stored_and_left_is_done(workspace: Sandbox, alice: Person) -> None:
    body = {
        "command": "/rules",
        "text": f"off {OLD}",
        "user_id": alice.id,
        "channel_id": alice.channel,
        "trigger_id": "1.2.3",
    }
    store = workspace.bot.gatehouse.store

    await store.inbound.take_in("key", "natural", "command", body, owner="a dead process", lease=GONE)

    await alice.sees("switched off")
    assert len(workspace.services.rules.calls("PUT")) == 1


async def test_a_change_that_was_claimed_and_left_is_settled_by_looking(workspace: Sandbox, alice: Person) -> None:
    gatehouse = workspace.bot.gatehouse
    rule = workspace.services.rules.get(OLD)
    proposal = Proposal(
        kind=Kind.RULE_DELETE,
        target=Target(service="rules", key=OLD),
        before=rule,
        after=None,
        requester=alice.id,
        channel=alice.channel,
        agreed=True,
    )
    change = await gatehouse.changes.propose(proposal, origin="origin")
    async with gatehouse.store.transaction() as tx:
        await gatehouse.store.changes.claim(tx, change.id, "a dead process", GONE)
    workspace.services.rules.remove(OLD)  # the dead process's write went through

    await alice.sees("Old shop to new shop deleted")

    assert workspace.services.rules.calls("DELETE") == []


async def test_a_request_that_no_process_survives_is_given_up_in_words(workspace: Sandbox, alice: Person) -> None:
    body = {"command": "/rules", "text": f"off {OLD}", "user_id": alice.id, "channel_id": alice.channel}
    store = workspace.bot.gatehouse.store
    await store.inbound.take_in("key", "natural", "command", body, owner="a dead process", lease=GONE)
    async with store.transaction() as tx:
        await tx.execute(sa.update(inbound).values(attempt=MOST_ATTEMPTS, lease=0))

    told = await alice.sees("has given up")

    assert told.visible_to == alice.id
    assert workspace.services.rules.calls("PUT") == []
