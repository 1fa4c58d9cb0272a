"""The work of each function that foreign text reaches grows with the text, and no faster.

The functions are found by what they take: everything in the bot that can be called with a text, or with a rule, a member, a
change or a URL made of one. Work is counted, not timed (tests/harness/counting.py says what that sees).
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from itertools import product
from types import ModuleType
from typing import Any, Final, get_type_hints

import pytest

import bot
import handlers
from bot.changes.model.change import Change
from bot.changes.model.edits import Kind, Target
from bot.changes.model.items import Item
from bot.members.model import Member
from bot.rules.model import Groups, Pair, Rule, RuleDraft, Source
from bot.rules.url import Url
from handlers.grammar.tokens import Word
from tests.harness.counting import TooMuch, count_steps, counting_expressions
from tests.harness.proposing import change_of

LENGTH: Final = 100
"""Characters of the shorter text, which the longer one has four times."""
MAX_GROWTH: Final = 5
"""Times the steps that the longer text takes; sixteen would be the square."""
OTHER_STEPS: Final = 1_000
"""Steps that may come on top: what is made of both texts may differ in kind."""
MAX_STEPS: Final = 2_000_000
PIECES: Final = (
    *"a1@.:/=&;<>|\"'`%_-+*~()[]{}\\ \n\t,#?!$…＠é",
    "%40", "%3D", "://", "http://", "https://a", "&amp;", "token=", "key=", "***@", "[hidden", "a@b.c", "<@U1>", "<mailto:",
    "xn--", "\u200b", "\u0315\u0300", "for 2h", "until", "&lt;", "key:", "xoxb-", "``", "“", "”", "||", "(?:", "a|",
    ".*", "\\d", "{1,3}", "$1",
)  # fmt: skip
OUTSIDE: Final = (
    "bot.server",
    "bot.store",
    "bot.command_line",
    "bot.settings",
    "bot.environment",
    "bot.setting_types",
)
"""Rooms that only the operator's text reaches."""
NOW: Final = datetime(2026, 3, 1, tzinfo=UTC)
EVERY: Final = 20
"""Characters of each of many."""


def parts(text: str) -> list[str]:
    return [text[at : at + EVERY] for at in range(0, len(text), EVERY)]


def document(pairs: Sequence[str], text: str) -> dict[str, Any]:
    made = [
        {
            "source": {"key": "Url", "operator": "Contains", "value": one},
            "destination": f"https://a.example/{one}",
            "modifications": [{"type": "Add", "header": one, "value": one}],
        }
        for one in pairs
    ]
    return {
        "id": "Redirect_q1",
        "name": text,
        "description": text,
        "ruleType": "Redirect",
        "status": "Active",
        "pairs": made,
    }


def change(text: str, before: Mapping[str, Any]) -> Change:
    return change_of(
        {
            "id": "0343eab7" * 4,
            "created": NOW,
            "kind": Kind.RULE_UPDATE,
            "target": Target(service="rules", key="Redirect_q1"),
            "before": before,
            "after": {**before, "description": f"{text}x", "name": f"x{text}"},
            "requester": "U0ALICE01",
            "channel": "C0OPS0001",
            "reason": text,
        }
    )


def item(before: Mapping[str, Any]) -> Item:
    target = Target(service="rules", key="Redirect_q1")
    return Item(
        number=1, kind=Kind.RULE_UPDATE, target=target, before=dict(before), after={**before, "status": "Inactive"}
    )


def documents(text: str) -> Iterator[dict[str, Any]]:
    yield document([text], text)
    yield document(parts(text), "")


MAKERS: Final[dict[object, Callable[[str], list[Any]]]] = {
    str: lambda text: [text],
    str | None: lambda text: [text],
    bytes: lambda text: [text.encode("utf-8", "replace")],
    object: lambda text: [text],
    Any: lambda text: [text, *documents(text)],
    Sequence[str]: lambda text: [[text], parts(text)],
    Mapping[str, Any]: lambda text: [{"a": text, text: 1}, *documents(text)],
    dict[str, Any]: lambda text: [{"a": text, text: 1}, *documents(text)],
    Mapping[str, Any] | None: lambda text: [{"a": text, text: 1}, *documents(text)],
    Rule: lambda text: [Rule.model_validate(each) for each in documents(text)],
    RuleDraft: lambda text: [Rule.model_validate(each) for each in documents(text)],
    Groups | None: lambda _: [None],
    Pair: lambda text: [Pair.model_validate(document([text], "")["pairs"][0])],
    Source: lambda text: (
        [Source(key="Url", operator=way, value=text) for way in ("Equals", "Wildcard_Matches")]
        + [Source(key="Url", operator="Matches", value=f"/{text}/")]
    ),
    Member: lambda text: [Member(email=f"{text}@a.example", name=text, allowedSegments=parts(text))],
    Url: lambda text: [Url.of(f"https://a.example/{text}")],
    Change: lambda text: [change(text, each) for each in documents(text)],
    Item: lambda text: [item(each) for each in documents(text)],
    Word: lambda text: [Word(text, quoted, 0) for quoted in (False, True)],
    int: lambda _: [10**6, 75],
    bool: lambda _: [False, True],
}
"""What is made of a text for a parameter of this type."""


@cache
def modules() -> tuple[ModuleType, ...]:
    names = (
        each.name for room in (bot, handlers) for each in pkgutil.walk_packages(room.__path__, f"{room.__name__}.")
    )
    return tuple(importlib.import_module(name) for name in names if not name.startswith(OUTSIDE) and "__" not in name)


@cache
def functions() -> tuple[tuple[str, Callable[..., Any], list[object]], ...]:
    return tuple(found())


def found() -> Iterator[tuple[str, Callable[..., Any], list[object]]]:
    """Every function that can be called with what is made of a text, with the types of what it must be given."""
    for module in modules():
        for name, function in sorted(vars(module).items()):
            if not inspect.isfunction(function) or function.__module__ != module.__name__:
                continue
            if inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function):
                continue
            hints = get_type_hints(function)
            if hints.get("return") is type(None):  # what it does would outlast the test: it registers a button, say
                continue
            needed = [
                hints.get(each.name)
                for each in inspect.signature(function).parameters.values()
                if each.default is each.empty and each.kind is not each.VAR_KEYWORD
            ]
            if needed and all(each in MAKERS for each in needed) and any(each not in (int, bool) for each in needed):
                yield f"{module.__name__}.{name}", function, needed


def made(needed: Sequence[object], text: str) -> Iterator[tuple[Any, ...]]:
    """What to call a function with: the *text* for one parameter after the other, and a short one for all others."""
    for large in range(len(needed)):
        if needed[large] not in (int, bool):
            yield from product(*(MAKERS[each](text if at == large else "a1") for at, each in enumerate(needed)))


def steps(function: Callable[..., Any], arguments: tuple[Any, ...], most: int) -> int:
    def call(given: tuple[Any, ...]) -> Any:
        try:
            found = function(*given)
            return list(found) if inspect.isgenerator(found) else found
        except Exception:  # noqa: BLE001  what it refuses, it has read
            return None

    return count_steps(most, call, arguments)


def too_fast(function: Callable[..., Any], needed: Sequence[object], piece: str, length: int = LENGTH) -> str:
    """Where the work grows faster than the text, of *piece* again and again; empty where it doesn't."""
    shorter, longer = (made(needed, (piece * (size // len(piece) + 1))[:size]) for size in (length, 4 * length))
    for few, many in zip(shorter, longer, strict=True):
        taken = steps(function, few, MAX_STEPS)
        try:
            steps(function, many, MAX_GROWTH * taken + OTHER_STEPS)
        except TooMuch as error:
            place = str(error) or "?"
            # What a limit of ours ends is no growth: then it doesn't go on so.
            return place if length > LENGTH else too_fast(function, needed, piece, 4 * length)
    return ""


def pieces(name: str, number: int) -> list[str]:
    """Small pieces, which differ from one function to the next, and not from one run to the next."""
    rnd = random.Random(name)
    return ["".join(rnd.choices(PIECES, k=rnd.choice((1, 1, 2, 3)))) for _ in range(number)]


@pytest.mark.parametrize("number", [3, pytest.param(30, marks=pytest.mark.slow)])
@pytest.mark.parametrize("module", sorted({function.__module__ for _, function, _ in functions()}))
def test_no_work_grows_faster_than_the_text(module: str, number: int) -> None:
    faster = {}
    with counting_expressions(modules()):
        for name, function, needed in functions():
            if function.__module__ == module:
                for piece in pieces(name, number):
                    if place := too_fast(function, needed, piece):
                        faster[name, piece] = place

    assert faster == {}
