"""What a client keeps for a moment."""

from __future__ import annotations

import asyncio
import time
import weakref

from bot.clients.cache import SharedList, SingleFlight
from bot.clients.gate import Priority
from bot.clients.lists import Listing
from bot.rules.model import Rule
from tests.conftest import until

MANY = 2000


async def _read(_: Priority) -> Listing[Rule]:
    return Listing("rules", [Rule(id=f"Redirect_{number}") for number in range(MANY)])


async def test_what_is_kept_is_let_go_of_by_itself_and_what_was_made_of_it_goes_with_it() -> None:
    shared = SingleFlight(_read, keep=0.05)
    gone = asyncio.Event()
    shared.kept.on_drop(gone.set)
    rules = [weakref.ref(rule) for rule in (await shared.recent(Priority.READ)).known]

    await asyncio.wait_for(gone.wait(), 10)
    await until(lambda: all(rule() is None for rule in rules))


async def test_a_change_does_not_wait_with_a_read_that_is_held_up() -> None:
    held, asked = asyncio.Event(), list[Priority]()

    async def read(priority: Priority) -> Priority:
        asked.append(priority)
        if priority is Priority.READ:
            await held.wait()
        return priority

    shared = SingleFlight(read)
    slow = asyncio.create_task(shared.fresh(Priority.READ))
    await until(lambda: bool(asked))

    async with asyncio.timeout(10):
        assert await shared.fresh(Priority.CHANGE) is Priority.CHANGE
    held.set()
    assert await slow is Priority.READ
    assert asked == [Priority.READ, Priority.CHANGE]


async def test_what_was_being_read_while_something_was_written_is_given_to_nobody_who_asks_later() -> None:
    written, reads = asyncio.Event(), list[int]()

    async def read(_: Priority) -> int:
        reads.append(len(reads))
        await written.wait()
        return reads[-1] if len(reads) == 1 else len(reads)

    shared = SingleFlight(read)
    before = asyncio.create_task(shared.recent(Priority.READ))
    await until(lambda: bool(reads))
    shared.drop()
    written.set()

    assert await before == 0
    assert await shared.recent(Priority.READ) == 2


async def test_who_asks_during_a_read_shares_the_next_one() -> None:
    held, reads = asyncio.Event(), list[int]()

    async def read(_: Priority) -> int:
        reads.append(number := len(reads))
        await held.wait()
        return number

    shared = SingleFlight(read)
    before = asyncio.create_task(shared.recent(Priority.READ))
    await until(lambda: bool(reads))
    asked = time.monotonic()
    later = [asyncio.create_task(shared.since(asked, Priority.READ)) for _ in range(3)]
    asyncio.get_running_loop().call_soon(held.set)  # once those have asked

    assert (await before, await asyncio.gather(*later)) == (0, [1, 1, 1])


async def test_another_list_has_another_index_and_the_same_one_has_one() -> None:
    shared = SharedList(_read, lambda rule: rule.id)

    found = await shared.index()
    assert await shared.index() is found
    shared.drop()
    assert await shared.index() is not found
