"""A proxy that stands before a service and spoils its traffic, a request at a time, as it is told.

``proxy.next("reset_after", method="PUT")`` and the next PUT meets that fault of `plays`. What a fault leaves to chance
(where an answer is cut, how long one is late) hangs on the seed alone. The proxy counts what it was asked and what
reached the service, so that a test can tell how often something was done, whatever anybody was told.
"""

from __future__ import annotations

import asyncio
import random
import re
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

from tests.faults.plays import PLAYS, Exchange
from tests.faults.wire import Line, Message, answer, bound, read_message


def nothing() -> None:
    """What nobody does meanwhile."""


@dataclass(slots=True)
class Fault:
    """One entry of the script: *name* strikes *times* requests that fit, once *after* others have passed."""

    name: str
    method: str
    path: str
    after: int
    times: int
    meanwhile: Callable[[], None]
    chance: random.Random
    number: int = 0

    def fits(self, request: Message) -> bool:
        fit = re.fullmatch(self.method, request.method) and re.search(self.path, request.path)
        return self.number < self.times and bool(fit)


@dataclass(slots=True)
class FaultProxy:
    """Stands at *port* before the service at *upstream*; honest wherever the script says nothing."""

    upstream: int
    port: int
    script: list[Fault] = field(default_factory=list)
    asked: Counter[str] = field(default_factory=Counter)
    """Requests by method, as they came."""
    reached: Counter[str] = field(default_factory=Counter)
    """Requests by method that reached the service."""
    effects: int = 0
    """Writes to which the service itself said yes."""
    broken: list[Exception] = field(default_factory=list)
    """What went wrong in here, which is no fault of anybody else."""
    _door: asyncio.Server | None = None
    _lines: set[asyncio.Task[None]] = field(default_factory=set)
    _last: dict[str, Message] = field(default_factory=dict)

    def next(
        self,
        name: str,
        *,
        method: str = ".*",
        path: str = "",
        after: int = 0,
        times: int = 1,
        meanwhile: Callable[[], None] = nothing,
        seed: object = 0,
    ) -> None:
        """Let the fault *name* strike next; *meanwhile* is what somebody else does to the service as it does."""
        if name not in PLAYS:
            raise ValueError(f"{name!r} is no fault; there are {', '.join(PLAYS)}")
        self.script.append(Fault(name, method, path, after, times, meanwhile, random.Random(f"{name} {seed}")))
        self._shut_if_due()

    async def honest_again(self) -> None:
        """Forget the script, the counts and every answer, and let everybody in."""
        for memory in (self.script, self.asked, self.reached, self._last):
            memory.clear()
        self.effects = 0
        await self.open()

    async def open(self) -> None:
        if self._door is None:
            self._door = await asyncio.start_server(self._connected, sock=bound(self.port))

    def shut(self) -> None:
        """Refuse connections from now on. Whoever is in may stay."""
        if self._door is not None:
            self._door.close()
            self._door = None

    async def close(self) -> None:
        self.shut()
        for line in self._lines:
            line.cancel()
        await asyncio.gather(*self._lines, return_exceptions=True)

    @property
    def struck(self) -> bool:
        """Whether everything in the script has happened at least once."""
        return all(fault.number or (fault.name == "refuse" and self._door is None) for fault in self.script)

    def _shut_if_due(self) -> None:
        """A request shows its method only once it was let in: so the door is shut while the one before it is served."""
        if any(fault.name == "refuse" and fault.after == 0 for fault in self.script):
            self.shut()

    def _due(self, request: Message) -> Fault | None:
        for fault in self.script:
            if fault.fits(request):
                if fault.after == 0:
                    fault.number += 1
                    return fault
                fault.after -= 1
                self._shut_if_due()
        return None

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if (task := asyncio.current_task()) is not None:
            self._lines.add(task)
            task.add_done_callback(self._lines.discard)
        try:
            await self._serve(Line(reader, writer))
        except (ConnectionError, asyncio.IncompleteReadError):
            pass  # whoever asked has given up
        except Exception as error:  # noqa: BLE001  a server's task has nobody else to tell
            self.broken.append(error)
        finally:
            writer.close()
            with suppress(ConnectionError):
                await writer.wait_closed()

    async def _serve(self, line: Line) -> None:
        request = await read_message(line.reader)
        self.asked[request.method] += 1
        fault = self._due(request)
        if fault is None:
            await line.send((await self._ask(request)).raw())
        else:
            before = self._last.get(request.path, NOT_THEN)
            it = Exchange(request, line, self._ask, before, fault.number, fault.meanwhile, fault.chance)
            await PLAYS[fault.name](it)

    async def _ask(self, request: Message) -> Message:
        """What the service answers."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.upstream)
        try:
            self.reached[request.method] += 1
            writer.write(request.raw())
            told = await read_message(reader)
        finally:
            writer.close()
        if request.method == "GET":
            self._last[request.path] = told
        elif told.yes:
            self.effects += 1
        return told


NOT_THEN = answer("404 Not Found", b'{"success":false,"message":"Rule not found"}')
"""What a cache knows of what was never asked for."""


@asynccontextmanager
async def faults_before(upstream: int) -> AsyncIterator[FaultProxy]:
    """A proxy before the service at the port *upstream* of this machine."""
    with bound(0) as holder:  # keeps the port ours while the door is shut
        proxy = FaultProxy(upstream, holder.getsockname()[1])
        await proxy.open()
        try:
            yield proxy
        finally:
            await proxy.close()
    if proxy.broken:
        raise ExceptionGroup("the proxy itself is broken", proxy.broken)
