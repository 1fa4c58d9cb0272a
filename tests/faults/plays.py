"""The 30 faults: what networks, gateways, services and other people do to one request and its answer."""

from __future__ import annotations

import asyncio
import gzip
import json
import random
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Final

from tests.faults.wire import Line, Message, answer

MANY: Final = 1_000_000
"""Bytes of an answer that is longer than anybody should take."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request that a fault strikes, and what the fault may do with it."""

    request: Message
    line: Line
    ask: Callable[[Message], Awaitable[Message]]
    """Asks the service."""
    before: Message
    """What the service answered last time to the same request."""
    number: int
    """How many requests the fault has struck, this one included."""
    meanwhile: Callable[[], None]
    chance: random.Random

    async def pass_on(self) -> Message:
        return await self.ask(self.request)

    async def reply(self, message: Message) -> None:
        await self.line.send(message.raw())


Play = Callable[[Exchange], Awaitable[None]]
PLAYS: Final[dict[str, Play]] = {}
"""Every fault by its name."""


def fault(play: Play) -> Play:
    PLAYS[play.__name__] = play
    return play


def instead(name: str, given: Message) -> None:
    """A fault that answers itself: the service is never asked."""

    async def play(it: Exchange) -> None:
        await it.reply(given)

    PLAYS[name] = play


def mangled(name: str, change: Callable[[Message], Message]) -> None:
    """A fault that asks the service, and changes what it answers."""

    async def play(it: Exchange) -> None:
        await it.reply(change(await it.pass_on()))

    PLAYS[name] = play


def let_pass(seconds: float) -> None:
    """Let *seconds* pass at once for every deadline of this event loop: no test waits for one, or misses it."""
    loop = asyncio.get_running_loop()
    ahead = loop.time() - time.monotonic() + seconds
    loop.time = lambda: time.monotonic() + ahead  # type: ignore[method-assign]  # a clock that only goes forward


@fault
async def refuse(it: Exchange) -> None:
    """The connection is refused: the proxy's door is shut. Who had come in before is thrown out."""
    it.line.reset()


@fault
async def reset_before(it: Exchange) -> None:
    """The request is lost on its way."""
    it.line.reset()


@fault
async def reset_after(it: Exchange) -> None:
    """The answer is lost on its way."""
    await it.pass_on()
    it.line.reset()


@fault
async def reset_after_headers(it: Exchange) -> None:
    told = await it.pass_on()
    await it.line.send(told.head(len(told.body)))
    it.line.reset()


@fault
async def cut_mid_body(it: Exchange) -> None:
    told = await it.pass_on()
    await it.line.send(told.head(len(told.body)) + told.body[: it.chance.randrange(len(told.body))])


@fault
async def drip(it: Exchange) -> None:
    """The answer comes a byte a second: there is always something to read, and never an end."""
    await it.line.send((await it.pass_on()).head(MANY))
    while not it.line.reader.at_eof():
        await it.line.send(b" ")
        await asyncio.sleep(it.chance.uniform(0.01, 0.05))
        let_pass(1.0)


@fault
async def never(it: Exchange) -> None:
    """The request is swallowed."""
    let_pass(60.0)
    await it.line.given_up()


@fault
async def delay(it: Exchange) -> None:
    """The request is late, within what anybody should bear."""
    await asyncio.sleep(it.chance.uniform(0.0, 0.1))
    await it.reply(await it.pass_on())


instead("500", answer("500 Internal Server Error", b'{"success":false,"message":"Internal error"}'))
instead("429", answer("429 Too Many Requests", b'{"success":false,"message":"Slow down"}', **{"retry-after": "0"}))
instead("3xx", answer("307 Temporary Redirect", location="http://127.0.0.1:9/elsewhere"))
instead("html", replace(answer("200 OK", b"<h1>Welcome</h1>"), fields={"content-type": "text/html"}))
instead("empty", answer("200 OK"))
mangled("page_404", lambda _: replace(answer("404 Not Found", b"<h1>Gone</h1>"), fields={"content-type": "text/html"}))
mangled("page_403", lambda _: replace(answer("403 Forbidden", b"<h1>No</h1>"), fields={"content-type": "text/html"}))
mangled("bad_json", lambda told: replace(told, body=told.body[:-1]))
mangled("wrong_type", lambda told: replace(told, body=b"[1,2,3]"))


def _of_two_minds(told: Message) -> Message:
    """Names that come twice, so that which one counts hangs on who reads."""
    if told.body.startswith(b"["):
        return replace(told, body=b'[{"email":"a@example.com","email":"b@example.com"},' + told.body[1:])
    return replace(told, body=told.body[:-1] + b',"success":false,"message":"No"}')


@cache
def _bomb() -> bytes:
    return gzip.compress(b" " * 50 * MANY, 1)


mangled("duplicate_keys", _of_two_minds)
mangled("huge", lambda told: replace(told, body=told.body + b" " * MANY))
mangled("gzip_bomb", lambda told: replace(told, fields=told.fields | {"content-encoding": "gzip"}, body=_bomb()))


@fault
async def strip_body(it: Exchange) -> None:
    """A proxy drops the request's body, as some do with a DELETE's."""
    await it.reply(await it.ask(replace(it.request, body=b"")))


@fault
async def duplicate_request(it: Exchange) -> None:
    """A gateway sends the request again, though the first was heard, and passes the second answer on."""
    await it.pass_on()
    await it.reply(await it.pass_on())


@fault
async def edit_between(it: Exchange) -> None:
    """Somebody edits the target before the request arrives: *meanwhile* is the edit."""
    it.meanwhile()
    await it.reply(await it.pass_on())


PLAYS["readd_member"] = edit_between
"""The same, but *meanwhile* takes the target away and puts another in its place that looks alike."""


def _anothers(told: Message) -> Message:
    """What somebody else asked for: another's key on the record, or on the first one of a list."""
    document = json.loads(told.body)
    if isinstance(records := document if isinstance(document, list) else document.get("data"), list):
        records[0] |= {"id": "Redirect_other"} if "id" in records[0] else {"email": "other@example.com"}
    elif records is not None:
        records |= {"id": "Redirect_chk01"} if "id" in records else {"email": "ben.costa@example.com"}
    return replace(told, body=json.dumps(document).encode())


mangled("wrong_id", _anothers)


@fault
async def stale_read(it: Exchange) -> None:
    """A cache answers as it was before, whatever happened *meanwhile*."""
    it.meanwhile()
    await it.reply(it.before)


@fault
async def flapping(it: Exchange) -> None:
    """Every second request is lost on its way, the first one first."""
    if it.number % 2:
        it.line.reset()
    else:
        await it.reply(await it.pass_on())


def _half(message: Message) -> Message:
    """Half of the list in it; of a rule, what has no description."""
    document = json.loads(message.body)
    if isinstance(document, list):
        half: Any = document[: len(document) // 2]
    else:
        lists = {name: value for name, value in document.items() if name in {"data", "allowedSegments"}}
        half = document | {name: value[: len(value) // 2] for name, value in lists.items() if isinstance(value, list)}
        half |= {"description": ""} if "description" in document else {}
    return replace(message, body=json.dumps(half).encode())


@fault
async def half_success(it: Exchange) -> None:
    """A part is done, or told, as 206 says. Where there are no parts nothing is done, and yes is said to it."""
    if it.request.method == "GET":
        await it.reply(replace(_half(await it.pass_on()), start="HTTP/1.1 206 Partial Content"))
    elif it.request.body:
        await it.reply(await it.ask(_half(it.request)))
    else:
        await it.reply(answer("200 OK", b'{"success":true,"message":"Done"}'))


instead("refused_200", answer("200 OK", b'{"success":false,"message":"Closed for maintenance"}'))
mangled("success_500", lambda told: replace(told, start="HTTP/1.1 500 Internal Server Error"))
