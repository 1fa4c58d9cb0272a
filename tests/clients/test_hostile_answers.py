"""Answers that no honest service gives: slow drips, bombs, floods, redirects. Each ends in a typed error, in bounds."""

from __future__ import annotations

import asyncio
import gzip
import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any, Final

import pytest

from bot.clients import errors
from bot.clients.http import CallLimits, Service
from bot.clients.json_text import MAX_INTEGER_DIGITS, parse_json
from bot.clients.members import MembersClient
from bot.clients.rules import MAX_PAIRS_READ, RulesClient
from bot.members.model import Member
from bot.rules.model import RuleDraft
from handlers.explain.table import words_for

LIMITS = CallLimits(deadline=0.5, max_bytes=100_000, tries=1)
Play = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@asynccontextmanager
async def playing(play: Play) -> AsyncIterator[str]:
    """A server that does *play* with each connection."""

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await reader.readuntil(b"\r\n\r\n")
            await play(reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(connected, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"


CLASS_NAME: Final = re.compile(r"\w(?:Error|Timeout|Exception)\b")


async def refused_with(play: Play) -> type[Exception]:
    async with playing(play) as url, Service("rules", url, {"x-api-key": "secret"}, limits=LIMITS) as service:
        with pytest.raises(errors.ClientError) as caught:
            await RulesClient(service).all()
    assert not CLASS_NAME.search(str(caught.value)), "a card would say so"
    return caught.type


def answer(head: str, body: bytes) -> Play:
    async def play(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(f"HTTP/1.1 200 OK\r\n{head}\r\nConnection: close\r\n\r\n".encode() + body)
        await writer.drain()

    return play


async def test_an_honest_compressed_answer_is_read() -> None:
    body = gzip.compress(b'{"success": true, "data": []}')
    play = answer(f"Content-Encoding: gzip\r\nContent-Length: {len(body)}", body)
    async with playing(play) as url, Service("rules", url, {}, limits=LIMITS) as service:
        assert (await RulesClient(service).all()).known == []


@pytest.mark.threat("B6")
async def test_the_key_does_not_follow_a_redirect() -> None:
    seen: list[bytes] = []

    async def thief(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        seen.append(b"called")

    async with playing(thief) as elsewhere:
        for status in (301, 302, 303, 307, 308):

            async def redirect(_: asyncio.StreamReader, writer: asyncio.StreamWriter, status: int = status) -> None:
                writer.write(
                    f"HTTP/1.1 {status} Moved\r\nLocation: {elsewhere}/rules\r\nContent-Length: 0\r\n\r\n".encode()
                )
                await writer.drain()

            assert await refused_with(redirect) is errors.Unreadable
    assert seen == []


@pytest.mark.threat("B5")
@pytest.mark.parametrize("status", [400, 403, 404, 500])
async def test_of_a_refusal_no_more_is_read_than_people_would(status: int) -> None:
    body = b'{"success": false, "x": [' + b"{}," * 100_000 + b'{}], "message": "read to its end"}'

    async def play(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(f"HTTP/1.1 {status} X\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body)
        await writer.drain()

    limits = replace(LIMITS, max_bytes=10_000_000)
    async with playing(play) as url, Service("rules", url, {}, limits=limits) as service:
        with pytest.raises(errors.ClientError) as read:
            await RulesClient(service).get("Redirect_x1")
        with pytest.raises(errors.ClientError) as written:
            await RulesClient(service).delete("Redirect_x1")

    # A 404 that was cut is no longer in the service's own words.
    kinds = {404: (errors.WrongAddress, errors.OutcomeUnknown), 500: (errors.Unreachable, errors.OutcomeUnknown)}
    to_read, to_write = kinds.get(status, (errors.Refusal, errors.Refusal))
    assert isinstance(read.value, to_read)
    assert isinstance(written.value, to_write)
    assert "read to its end" not in f"{read.value} {written.value}"


async def test_the_words_of_a_refusal_are_one_line_and_steer_no_terminal() -> None:
    """`check` prints them, and the log holds them."""
    message = "\x1b]0;title\x07\x1b[2Jall is well\r\n2026-01-01 [info] a line of its own \x9b31m"
    body = json.dumps({"success": False, "message": message}).encode()

    async def play(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(f"HTTP/1.1 409 X\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n".encode() + body)
        await writer.drain()

    async with playing(play) as url, Service("rules", url, {}, limits=LIMITS) as service:
        with pytest.raises(errors.ClientError, match="all is well") as caught:
            await RulesClient(service).all()
    assert str(caught.value).isprintable()


@pytest.mark.threat("B5")
@pytest.mark.parametrize("more", [0, 1])
async def test_a_rule_of_very_many_pairs_hides_no_other(more: int) -> None:
    wide = {"id": "Redirect_w", "name": "w", "pairs": [{}] * (MAX_PAIRS_READ + more)}
    limits = replace(LIMITS, max_bytes=1_000_000)
    found: dict[str, Any] = {}
    for what, data in {"list": [wide, {"id": "Redirect_x", "name": "x", "pairs": []}], "rule": wide}.items():
        body = json.dumps({"success": True, "data": data}).encode()
        play = answer(f"Content-Length: {len(body)}", body)
        async with playing(play) as url, Service("rules", url, {}, limits=limits) as service:
            client = RulesClient(service)
            ask = client.all() if what == "list" else client.get("Redirect_w")
            (found[what],) = await asyncio.gather(ask, return_exceptions=True)

    listing, rule = found["list"], found["rule"]
    assert [each.id for each in listing.known] == [*["Redirect_w"][more:], "Redirect_x"]
    assert (listing.gap is not None) == isinstance(rule, errors.UnreadableRecord) == bool(more)


@pytest.mark.parametrize(("digits", "kind"), [(MAX_INTEGER_DIGITS, int), (MAX_INTEGER_DIGITS + 1, float)])
def test_a_number_that_python_cannot_convert_leaves_the_rest_readable(digits: int, kind: type) -> None:
    assert type(parse_json(b"9" * digits)) is kind


ODD: Final = r"""
status and headers           | body                                        | rules read                 | members read                   | rule created             | member added
308 Location: https://k3y.a/ |                                             | 308, a redirect            | =                              | =                        | =
206                          | {"success": true, "data": []}               | 206, only a part           | =                              | a rule in “data”         | -
204                          |                                             | 204 without a body         | =                              | =                        | -
200 Content-Type: text/html  | <p>anna@k3y.a                               | 200 with a web page        | =                              | =                        | =
502                          | <p>anna@k3y.a                               | error (502)                | =                              | 502 with a web page      | =
404                          | <p>anna@k3y.a                               | 404 with a web page        | =                              | =                        | =
404                          | {"message": "no Route"}                     | answered: no Route.        | =                              | status 404               | =
404                          | {"success": false, "message": "Not found"}  | answered: Not found.       | =                              | no such entry            | =
409                          | {"success": true}                           | status 409                 | =                              | =                        | =
500                          | {"success": true}                           | error (500)                | =                              | status 500               | =
200 Content-Encoding: br     | \x0b\x02\x80                                | 200 packed with Brotli     | =                              | =                        | =
200 Content-Encoding: gzip   | no                                          | can’t be unpacked          | =                              | =                        | =
200                          | {"success": true, "x": "\xe9"}              | text that isn’t UTF-8      | =                              | =                        | =
200                          | {"success": tr                              | a body that isn’t valid    | =                              | =                        | =
200                          | {"success": true, "data": NaN}              | NaN is not JSON            | =                              | =                        | =
200                          | {"a": 1, "a": 2}                            | a name comes twice         | =                              | =                        | =
200                          | []                                          | isn’t an object            | -                              | isn’t an object          | -
200                          | {"data": []}                                | “success” is missing       | -                              | “success” is missing     | -
200                          | {"success": "true", "data": []}             | is the text “true”         | -                              | is the text “true”       | -
200                          | {"success": true}                           | a list of rules in “data”  | a list of members              | a rule in “data”         | -
200                          | {"success": true, "data": {"rules": []}}    | a list of rules in “data”  | a list of members              | a rule in “data”         | -
200                          | {"anna@k3y.a": {}}                          | “success” is missing       | a list of members              | “success” is missing     | -
200                          | [{"Email": "anna@k3y.a"}]                   | isn’t an object            | “email” missing                | isn’t an object          | -
200                          | [{"email": "a@k3y.a", "allowedSegments": 1}]| isn’t an object            | a member: “allowedSegments”    | isn’t an object          | -
403 X-RateLimit-Remaining: 0 | {"message": "no"}                           | is rate-limiting           | =                              | =                        | =
403                          | {"message": "Rate limit exceeded"}          | is rate-limiting           | =                              | =                        | =
200                          | {"success": false, "message": "Rate limit"} | is rate-limiting           | =                              | refused: Rate limit      | =
"""  # noqa: E501  a table is as wide as it is
"""Answers of another shape, and the words for each: = is as before, - that nothing is wrong."""
ASKED: Final[list[Callable[[Service], Awaitable[object]]]] = [
    lambda service: RulesClient(service).all(),
    lambda service: MembersClient(service, "site_1").all(),
    lambda service: RulesClient(service).create(RuleDraft(name="n", ruleType="Cancel", pairs=())),
    lambda service: MembersClient(service, "site_1").add(Member(email="b@example.com")),
]


@pytest.mark.threat("B4")
@pytest.mark.parametrize("row", ODD.strip().splitlines()[1:])
async def test_an_answer_of_another_shape_is_told_by_what_it_is(row: str) -> None:
    start, text, *expected = (cell.strip() for cell in row.split("|"))
    status, _, head = start.partition(" ")
    body = text.encode("latin-1").decode("unicode_escape").encode("latin-1")

    async def play(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        headers = f"{head or 'X-Request-Id: 1'}\r\nContent-Length: {len(body)}"
        writer.write(f"HTTP/1.1 {status} X\r\n{headers}\r\n\r\n".encode() + body)
        await writer.drain()

    wanted = ""
    async with playing(play) as url:
        for number, (ask, cell) in enumerate(zip(ASKED, expected, strict=True)):
            wanted, told = wanted if cell == "=" else cell, "-"
            async with Service("members" if number % 2 else "rules", url, {}, limits=CallLimits(tries=1)) as service:
                try:
                    await ask(service)
                except errors.ClientError as error:
                    words = words_for(error)
                    told = f"{words.what} {words.cause}"
            assert wanted in told, number
            assert (told == "-") == (wanted == "-"), told
            assert "k3y" not in told
