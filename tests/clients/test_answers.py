"""What an answer's status and body say before anybody looks into it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial

import pytest

from bot.clients.answer import Answer
from bot.clients.errors import ClientError, Refusal, refusal
from bot.clients.http import Service
from bot.clients.lists import json_of_write, read_document
from bot.clients.urls import BadUrl, Base, checked_base


@pytest.mark.parametrize(
    ("status", "body", "is_refusal"),
    [
        (418, b"", True),
        (418, b"<html>", False),
        (429, b"<html>", True),
        *((status, b"\n<!DOCTYPE html>", status in {405, 413, 415}) for status in range(400, 429)),
        (403, b"no", True),
        (400, b'{"success": false, "message": "cut', True),
        (404, b'{"success": false, "message": "cut', False),
        (404, b'{"success": false}', True),
        (404, b'{"message": "no Route matched"}', False),
        (404, b"404 page not found", False),
        *((404, body, False) for body in (b"", b"[]")),
        (400, b'{"success": false}', True),
        (400, b'{"success": true}', False),
        (400, b'{"message": "no"}', True),
        (400, b"[]", False),
    ],
)
def test_a_refusal_is_the_services_own_word(status: int, body: bytes, is_refusal: bool) -> None:
    assert Answer(status, body).is_refusal is is_refusal


@pytest.mark.parametrize(
    ("kind", "is_refusal"), [("text/plain", True), ("text/HTML; charset=utf-8", False), ("", True)]
)
def test_a_text_is_a_page_where_its_type_says_so(kind: str, is_refusal: bool) -> None:
    assert Answer(403, b"no", headers={"content-type": kind}).is_refusal is is_refusal


def test_a_refusal_without_words_says_its_status() -> None:
    assert str(refusal("rules", 404, "")) == "status 404"
    assert str(refusal("rules", 404, "Rule not found.")) == "Rule not found."


async def test_a_refusal_under_200_tells_no_key() -> None:
    refused = Answer(200, b'{"success": false, "message": "The key k3y-of-rules is not allowed to do this"}')
    redact = partial(re.sub, "k3y-of-rules", "[secret]")

    async with Service("rules", "https://rules.example.com/v1", {}, redact=redact) as service:
        for parsing in (read_document(service, refused), json_of_write(service, refused, "message")):
            with pytest.raises(Refusal, match=r"^The key \[secret\] is not allowed to do this$"):
                await parsing


def test_each_error_is_stored_under_a_code_of_its_own() -> None:
    def kinds(kind: type[ClientError]) -> Iterator[type[ClientError]]:
        for narrower in kind.__subclasses__():
            yield narrower
            yield from kinds(narrower)

    codes = [kind.code for kind in kinds(ClientError)]

    assert all(codes)
    assert len(set(codes)) == len(codes), codes


@pytest.mark.parametrize("url", ["https:///v1", "ftp://rules.example.com/v1", "rules.example.com", ""])
def test_an_address_needs_a_scheme_and_a_host(url: str) -> None:
    with pytest.raises(BadUrl):
        checked_base(url, insecure_http=True)


@pytest.mark.threat("B7")
@pytest.mark.parametrize(("path", "part"), [("/v1", ""), ("/v1", "."), ("/v1", ".."), ("/a/../v1", "x")])
def test_no_part_of_an_address_leads_elsewhere(path: str, part: str) -> None:
    base = checked_base("https://rules.example.com/v1", insecure_http=False)

    assert base.url(["rules", "a/../b"]).raw_path == b"/v1/rules/a%2F..%2Fb"
    with pytest.raises(BadUrl):
        Base(base.scheme, base.netloc, path).url(["rules", part])
