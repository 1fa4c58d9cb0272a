"""What was acknowledged is done, also by the process that comes after."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from bot.changes.events import event_of_claim
from bot.changes.model.change import Change
from bot.changes.model.edits import Edit, Kind, Target
from bot.changes.model.parts import ChangeDecision, ChangeRequest, Guard
from bot.changes.model.states import State
from bot.changes.proposals import Proposal
from bot.store.engine import Store, open_store
from bot.store.inbox import MAX_ATTEMPTS
from bot.store.outbox import Purpose
from bot.store.tables import changes, inbox, micros, outbox
from handlers.explain.table import is_problem
from sandbox.demo import Sandbox
from sandbox.gatehouse import ALICE
from tests.conftest import OPS, QUICK, Clock, busy_sandbox
from tests.drills.fleet import until
from tests.harness.colleague import Colleague
from tests.harness.databases import BOTH
from tests.harness.held_service import Held
from tests.harness.proposing import record_only
from tests.harness.workers import ONE_TIMER

OLD, ANNA = "Redirect_x1old", "anna.berg@example.com"
GRANT = f"grant {ANNA} beta site:blog"
GONE = timedelta(seconds=-1)


async def test_a_command_that_was_stored_and_left_is_done(workspace: Sandbox, alice: Colleague) -> None:
    body = {
        "command": "/rules",
        "text": f"off {OLD}",
        "user_id": alice.id,
        "channel_id": alice.channel,
        "trigger_id": "1.2.3",
    }
    store = workspace.bot.gatehouse.store

    await store.inbox.take_in("key", "command", body, owner="a dead process", lease=GONE)

    await alice.sees_change(of=OLD)
    assert len(workspace.services.rules.calls("PUT")) == 1


async def test_a_request_that_hangs_delays_nobody_elses(workspace: Sandbox, alice: Colleague, bob: Colleague) -> None:
    store = workspace.bot.gatehouse.store
    workspace.services.rules.stage.faults = service = Held()
    texts = [(alice, "/rules", f"off {OLD}"), (bob, "/members", GRANT)]
    for person, command, text in texts:
        body = {"command": command, "text": text, "user_id": person.id, "channel_id": person.channel}
        await store.inbox.take_in(command, "command", body, owner="a dead process", lease=GONE)

    await bob.sees_change(of=ANNA)

    async with store.session.reading() as connection:
        assert not await connection.scalar(sa.select(inbox.c.done).where(inbox.c.id == "/rules"))
    service.free.set()
    await alice.sees_change(of=OLD)


async def test_requests_of_one_person_are_resumed_in_their_order(workspace: Sandbox, alice: Colleague) -> None:
    store = workspace.bot.gatehouse.store
    for number, switch in enumerate(["off", "on", "off", "on"]):
        body = {"command": "/rules", "text": f"{switch} {OLD}", "user_id": alice.id, "channel_id": alice.channel}
        key = str(number)
        await store.inbox.take_in(key, "command", body, owner="a dead process", lease=GONE)

    await alice.sees_new_card(3)

    sent = [call.body["status"] for call in workspace.services.rules.calls("PUT")]
    assert sent == ["Inactive", "Active"] * 2


def asked(number: int, state: State, key: str) -> Change:
    now = datetime.now(UTC)
    return Change(
        id=f"{number:032x}",
        created=now,
        state=state,
        edit=Edit(
            kind=Kind.RULE_DELETE,
            target=Target(service="rules", key=key),
            before={"id": key, "name": "Gone by now", "status": "Active", "ruleType": "Redirect", "pairs": []},
            after=None,
        ),
        request=ChangeRequest(requester="U0ALICE01", channel=OPS),
        decision=ChangeDecision(guard=Guard.CONFIRM, decided_at=now if state is State.APPROVED else None),
    )


@pytest.mark.parametrize("database_url", BOTH, indirect=True)
async def test_a_process_that_is_alone_takes_up_at_once_what_the_last_one_held(
    database_url: str, tmp_path: Path
) -> None:
    body = {"command": "/rules", "text": f"off {OLD}", "user_id": "U0ALICE01", "channel_id": OPS}
    left, request = asked(1, State.APPROVED, "Redirect_gone1"), asked(2, State.PROPOSED, "Redirect_gone2")
    dead: dict[str, Any] = {"owner": "a dead process", "lease": timedelta(hours=1)}
    async with open_store(database_url, now=lambda: datetime.now(UTC)) as store:
        async with store.transaction() as tx:
            for change in (left, request):
                await store.changes.add(tx, change, change.id)
            await store.changes.claim(tx, left.id, **dead)
            await store.outbox.enqueue(tx, request.id, "card")
            await store.outbox.enqueue(tx, request.id, Purpose.EXPIRE, due=datetime.now(UTC))
        await store.inbox.take_in("key", "command", body, **dead)
        assert await store.outbox.claim(**dead)
        assert await store.outbox.claim(**dead, room=ONE_TIMER)
        before = await leases(store)

        async with busy_sandbox(tmp_path, database_url=database_url) as sandbox:
            if database_url.startswith("postgres"):
                assert [each for each in await leases(store) if each in before] == before, "it may live"
                return
            alice = Colleague(sandbox, "U0ALICE01", OPS)
            await alice.sees_change(of=OLD)
            await alice.sees_change(of="Gone by now")
            await alice.sees_change(state=State.EXPIRED)


async def leases(store: Store) -> list[tuple[str, int]]:
    """What the dead process holds, and until when."""
    found: list[tuple[str, int]] = []
    async with store.session.reading() as connection:
        for table in (changes, inbox, outbox):
            query = sa.select(table.c.lease).where(table.c.owner == "a dead process").order_by(table.c.lease)
            found += [(table.name, lease) for lease in await connection.scalars(query)]
    return found


@pytest.mark.policy('[[guards]]\noperation = "*"\nguard = "none"')
async def test_a_change_that_was_claimed_and_left_is_settled_by_looking(workspace: Sandbox, alice: Colleague) -> None:
    gatehouse = workspace.bot.gatehouse
    rule = workspace.services.rules.get(OLD)
    proposal = Proposal.of(
        edit=Edit(kind=Kind.RULE_DELETE, target=Target(service="rules", key=OLD), before=rule, after=None),
        request=ChangeRequest(requester=alice.id, channel=alice.channel),
    )
    change = await record_only(gatehouse.changes, proposal, idempotency_key="request")
    async with gatehouse.store.transaction() as tx:
        claimed = await gatehouse.store.changes.claim(tx, change.id, "a dead process", GONE)
        assert claimed is not None
        await gatehouse.store.audit.append(tx, event_of_claim(claimed))
    workspace.services.rules.remove(OLD)  # the dead process's write went through
    workspace.services.rules.stage.stored("", rule, None)

    await alice.sees_change(of=OLD)

    assert workspace.services.rules.calls("DELETE") == []


async def test_a_click_that_a_process_left_after_doing_it_is_not_done_twice(
    workspace: Sandbox, alice: Colleague, cara: Colleague
) -> None:
    card = await alice.says(f"/rules off {OLD} for 2h")
    store, end = alice.store, (await alice.change_of(card)).request.reverts_at
    assert end is not None
    await cara.clicks(card, "Change end…", opens="New end")
    assert await cara.submits() == {}
    later = (
        await alice.change_of(await alice.sees_change(where=lambda change: change.request.reverts_at != end))
    ).request
    async with store.transaction() as tx:
        await tx.execute(sa.update(inbox).values(done=False, owner="a dead process", lease=0))

    async def done_again() -> bool:
        async with store.session.reading() as connection:
            return not await connection.scalar(sa.select(inbox.c.id).where(inbox.c.done.is_(False)).limit(1))

    await until(done_again, "every request is done again")

    assert (await alice.change_of(card)).request.reverts_at == later.reverts_at
    assert len(workspace.services.rules.calls("PUT")) == 1


async def test_a_request_that_no_process_survives_is_given_up_in_words(workspace: Sandbox, alice: Colleague) -> None:
    body = {"command": "/rules", "text": f"off {OLD}", "user_id": alice.id, "channel_id": alice.channel}
    store = workspace.bot.gatehouse.store
    await store.inbox.take_in("key", "command", body, owner="a dead process", lease=timedelta(hours=1))
    async with store.transaction() as tx:
        await tx.execute(sa.update(inbox).values(attempt=MAX_ATTEMPTS, lease=0))

    told = await alice.sees_problem()

    assert told.visible_to == alice.id
    assert workspace.services.rules.calls("PUT") == []


async def test_a_request_that_waits_for_its_turn_is_not_an_attempt(workspace: Sandbox, alice: Colleague) -> None:
    """Or everything that one person asked for would be given up after some kills, without ever having begun."""
    service = workspace.services.rules.stage.faults = Held()
    store, body = workspace.bot.gatehouse.store, {"command": "/rules", "user_id": alice.id, "channel_id": alice.channel}
    for key, text in (("first", f"off {OLD}"), ("second", "off Redirect_login")):
        await store.inbox.take_in(key, "command", body | {"text": text}, owner="a dead process", lease=GONE)

    await service.asked.wait()

    async def taken_over() -> bool:
        async with store.session.reading() as connection:
            owners = set(await connection.scalars(sa.select(inbox.c.owner)))
        return "a dead process" not in owners

    await until(taken_over, "both are held by the bot")
    async with store.session.reading() as connection:
        attempts = dict((await connection.execute(sa.select(inbox.c.id, inbox.c.attempt))).all())
    service.free.set()
    assert attempts == {"first": 2, "second": 1}
    await alice.sees_change(of="Redirect_login")


async def held(workspace: Sandbox, alice: Colleague) -> Held:
    """The service of rules while it works on a command of Alice's."""
    service = workspace.services.rules.stage.faults = Held()
    await alice.types('/rules off "Old shop to new shop"')
    await service.asked.wait()
    return service


def the_work() -> asyncio.Task[Any]:
    """The one stored request that the bot is doing."""
    (work,) = [task for task in asyncio.all_tasks() if "Router._work_on" in str(task.get_coro())]
    return work


async def lease_of(workspace: Sandbox) -> int:
    async with workspace.bot.gatehouse.store.session.reading() as connection:
        return int(await connection.scalar(sa.select(inbox.c.lease)) or 0)


async def test_a_request_that_takes_long_is_not_done_beside_itself(
    workspace: Sandbox, alice: Colleague, clock: Clock
) -> None:
    service = await held(workspace, alice)
    clock.ahead += timedelta(minutes=2)
    body = {"command": "/members", "text": GRANT, "user_id": alice.id, "channel_id": alice.channel}
    store = workspace.bot.gatehouse.store

    await store.inbox.take_in("key", "command", body, owner="a dead process", lease=GONE)
    await alice.sees_change(of=ANNA)  # what was left was looked for, and the one at work passed over
    service.free.set()
    await alice.sees_change(of=OLD)

    assert len(workspace.services.rules.calls("PUT")) == 1
    assert not any(is_problem(one.blocks) for one in alice._bot_messages())


async def test_the_lease_of_a_request_is_renewed_and_what_another_has_is_let_go(
    tmp_path: Path, database_url: str
) -> None:
    timing = replace(QUICK, lease=2.0)
    async with busy_sandbox(tmp_path, timing=timing, database_url=database_url) as workspace:
        service = await held(workspace, Colleague(workspace, ALICE.id, OPS))
        work, first = the_work(), await lease_of(workspace)

        async def is_renewed() -> bool:
            return await lease_of(workspace) > first

        await until(is_renewed, "the lease is renewed")
        async with workspace.bot.gatehouse.store.transaction() as tx:
            await tx.execute(sa.update(inbox).values(owner="another process", lease=sa.text(str(2**62))))
        await asyncio.wait({work}, timeout=20)
        service.free.set()

        assert work.done()
        assert workspace.services.rules.calls("PUT") == []


async def test_a_request_that_is_broken_off_in_an_orderly_way_is_handed_to_the_next(
    workspace: Sandbox, alice: Colleague
) -> None:
    service = await held(workspace, alice)

    the_work().cancel()
    service.free.set()
    await alice.sees_change(of=OLD)

    async with workspace.bot.gatehouse.store.session.reading() as connection:
        assert await connection.scalar(sa.select(inbox.c.attempt)) == 1, "nobody died of it"


async def test_a_change_until_a_time_that_passed_meanwhile_is_not_made(workspace: Sandbox, alice: Colleague) -> None:
    now = datetime.now(UTC)
    users = workspace.slack.state.users
    users[alice.id] = replace(users[alice.id], tz="UTC")
    store, text = workspace.bot.gatehouse.store, f"off {OLD} until {now:%H:%M}"
    body = {"command": "/rules", "text": text, "user_id": alice.id, "channel_id": alice.channel}
    await store.inbox.take_in("key", "command", body, owner="a slow process", lease=timedelta(hours=1))

    async with store.transaction() as tx:
        received = sa.literal(micros(now - timedelta(minutes=5)))
        await tx.execute(sa.update(inbox).values(received=received, lease=0))
    told = await alice.sees_problem()

    assert told.visible_to == alice.id
    assert workspace.services.rules.calls("PUT") == []
