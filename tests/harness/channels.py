"""What the bot showed in channels: no email, no secret, nothing that has Slack fetch a link; every button works."""

from __future__ import annotations

import ast
import asyncio
import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import handlers
from handlers.grammar.parser import parse
from handlers.slack.registry import CLICKS, RUNNING, action_name
from sandbox.slack.state import State

WHOLE = re.compile(r"(?<!\*\*\*)(?<![\s<|`(\]])@[\w-]+(\.[\w-]+)+")
"""An @ within a word, a domain after it, neither stars nor a mark before it. On purpose not the bot's idea of an email."""
SECRET = "s3cr3t"
"""A part of every secret that a test plants."""
RANDOM = f"aB3xQ9{SECRET}7Zk2LmP0vT8"
SHAPES = (
    *(
        f"https://shop.example.com/?{name}={SECRET}-one&b=1"
        for name in (
            *("token", "token[]", "auth.token.value", "PHPSESSID", "code", "otp", "tok%65n", "user[password]", "sig"),
            *("X-Amz-Signature", "next%3Fapi_key", "client_secret", "apiKey", "csrf"),
        )
    ),
    *(f"{name}: {SECRET}-one" for name in ("X-Api-Key", "password", "X-CSRF", "Set-Cookie")),
    *(f"Authorization: {scheme} {SECRET}-one" for scheme in ("Bearer", "Basic", "token")),
    *(f"token={quote}{SECRET}-one{quote}" for quote in ("", '"', "'")),
    *(f"https://shop.example.com/?to=https{sign}b{sign}token{sign}{SECRET}-one" for sign in ("%3D", "%253d")),
    f'{{"access_token": "{SECRET}-one"}}',
    f"https://shop.example.com/#access_token={SECRET}-one",
    f"https://anna:{SECRET}-one@shop.example.com/",
    f"xoxb-1-{SECRET}",
    f"https://hooks.slack.com/services/T0/B0/{RANDOM}",
    f"https://shop.example.com/?v={RANDOM}",
)
"""A secret in every shape that Gatehouse promises to know: named, announced by a word, in front of a host, of Slack, random."""
ESCAPES = {"\u2060": "", "&amp;": "&", "&lt;": "<", "&gt;": ">", "＠": "@", "﹫": "@"}
CHANGE = re.compile(r"[0-9a-f]{32}")


def readable_text(text: str) -> str:
    """*text* as a person reads it, without the escapes of Slack and of URLs."""
    for escape, sign in ESCAPES.items():
        text = text.replace(escape, sign)
    return unquote(text)


def strings(part: Any) -> Iterator[str]:
    """Every string in a payload, wherever it is, and every key."""
    if isinstance(part, str):
        yield part
    elif isinstance(part, dict):
        yield from (text for pair in part.items() for each in pair for text in strings(each))
    elif isinstance(part, list | tuple):
        yield from (text for each in part for text in strings(each))


def find_emails(part: Any, planted: tuple[str, ...] = ()) -> list[str]:
    """The strings of *part* in which somebody finds a whole email, or one of *planted*."""
    read = [readable_text(text) for text in strings(part)]
    return [text for text in read if WHOLE.search(text) or any(email in text for email in planted)]


def find_secrets(part: Any) -> list[str]:
    """The strings of *part* in which somebody finds a planted secret."""
    return [text for text in map(readable_text, strings(part)) if SECRET in text]


def find_double_escapes(part: Any) -> list[str]:
    """Return the strings of *part* in which an escape was escaped: a mark of ours that is written out."""
    return [text for text in strings(part) if "\\u2060" in text]


def buttons(part: Any) -> Iterator[dict[str, Any]]:
    if isinstance(part, dict):
        if part.get("type") == "button":
            yield part
        if part.get("type") == "overflow":
            for option in part["options"]:
                action_id, _, value = option["value"].partition(" ")
                yield {"type": "button", "text": option["text"], "action_id": action_id, "value": value}
        part = list(part.values())
    if isinstance(part, list | tuple):
        yield from (found for each in part for found in buttons(each))


def check_button(button: dict[str, Any]) -> None:
    """That a click on *button* means something: a command that can be written again, a change, or a member."""
    name, value = action_name(button["action_id"]), button["value"]
    assert name is not None, f"nobody answers {button}"
    if name in RUNNING:
        command = parse(*value.partition(" ")[::2])
        assert f"{command.service} {command.write()}" == value, button
    elif name.startswith("decide."):
        assert CHANGE.fullmatch(value), button
    assert name in CLICKS.keys() | RUNNING


ENDS = " ›…"
HANDLERS = Path(handlers.__file__).parent
NAMED = re.compile(r"(?<=\w )\*([A-Z][^*\n]{1,40})\*(?! on (?:its|the) card)")
"""What may be the name of a button within a sentence, unless that says that it is elsewhere."""


@cache
def known_labels() -> frozenset[str]:
    """The labels of buttons that stand in the code as they are."""
    calls = (
        each
        for file in HANDLERS.rglob("*.py")
        for each in ast.walk(ast.parse(file.read_text()))
        if isinstance(each, ast.Call) and getattr(each.func, "id", "").endswith("button")
    )
    texts = (str(part.value) for call in calls for part in call.args[:2] if isinstance(part, ast.Constant))
    return frozenset(text.rstrip(ENDS) for text in texts if text[:1].isupper())


def find_missing_buttons(part: Any) -> set[str]:
    """Return the buttons that a text of *part* names and that aren't in it."""
    named = {label.rstrip(ENDS) for text in strings(part) for label in NAMED.findall(text)}
    return named & known_labels() - {one["text"]["text"].rstrip(ENDS) for one in buttons(part)}


MESSAGES = {"chat.postMessage", "chat.update", "chat.postEphemeral", "response_url"}
"""The calls by which people read something of the bot's."""


def loud_messages(traffic: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The messages with which Slack was let loose on their text: to fetch what it links, or to make names mentions."""
    sent = [(one["what"], one["request"]) for one in traffic if one["what"] in MESSAGES]
    return [
        request
        for what, request in sent
        if {"link_names", "parse"} & set(request)
        or (what == "chat.postMessage" and (request["unfurl_links"], request["unfurl_media"]) != (False, False))
    ]


@contextmanager
def watching_channels(state: State) -> Iterator[None]:
    """Look, in the end, at all that the bot showed in a channel: first versions, edits, files and answers in threads.

    And at how it sent them, and its private answers.
    """
    seen: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
    state.watchers.append((None, seen))
    yield
    state.watchers.remove((None, seen))
    assert loud_messages(state.traffic) == []
    sent = [one["request"] for one in state.traffic if one["what"] in MESSAGES or one["what"].startswith("views.")]
    assert find_double_escapes(sent) == []
    for request in sent:
        assert find_missing_buttons(request) == set(), request
    bot = state.workspace.bot.id
    while not seen.empty():
        event = seen.get_nowait()
        message = event.get("message") or {}
        if message.get("user") != bot or message["ephemeral"] or state.channels[event["channel"]].kind == "im":
            continue
        shown = {name: message[name] for name in ("text", "blocks", "files")}
        assert find_emails(shown) == [], "an email is whole in a channel"
        assert find_secrets(shown) == [], "a secret is told in a channel"
        for button in buttons(message["blocks"]):
            check_button(button)
