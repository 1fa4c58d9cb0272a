"""Pairs of the types that the specification does not describe: read as people would, edited as JSON, never lost."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.rules.pair_fields import KNOWN_TYPES
from bot.rules.pair_values import BadValue, json_text, read_object
from handlers.blocks.messages import WORD_JOINER
from handlers.changes.diff import differences, render
from handlers.rules.pairs_view import describe

X = {"header": "X-Debug", "type": "Add", "value": "1"}
SHAPES: list[tuple[str, dict[str, Any], list[str]]] = [
    ("Headers", {"modifications": {"Request": [X], "Response": []}}, ["adds request header `X-Debug`: `1`"]),
    (
        "Headers",
        {"modifications": {"Response": [{"header": "Server", "type": "Remove", "value": ""}]}},
        ["removes response header `Server`"],
    ),
    (
        "Headers",
        {"modifications": [{"header": "A", "type": "Modify", "value": "b", "target": "Request"}]},
        ["changes request header `A` to `b`"],
    ),
    ("Headers", {"header": "A", "type": "Add", "target": "Response", "value": "b"}, ["adds response header `A`: `b`"]),
    ("Headers", {"headers": [{"name": "A", "type": "Add", "value": "b"}]}, ["adds header `A`: `b`"]),
    (
        "Headers",
        {"modifications": {"Request": [], "Response": []}},
        ['`{"modifications": {"Request": [], "Response": []}}`'],
    ),
    (
        "QueryParam",
        {"modifications": [{"param": "a", "type": "Add", "value": "1", "actionWhenParamExists": "Overwrite"}]},
        ["adds parameter `a`: `1`, replacing the existing one"],
    ),
    (
        "QueryParam",
        {"modifications": [{"param": "a", "type": "Remove", "actionWhenParamExists": "Overwrite"}]},
        ["removes parameter `a`"],
    ),
    (
        "QueryParam",
        {"modifications": [{"param": "a", "type": "Add", "value": "1", "actionWhenParamExists": "Ignore"}]},
        ["adds parameter `a`: `1`"],
    ),
    ("QueryParam", {"modifications": [{"param": "a", "type": "Remove", "value": ""}]}, ["removes parameter `a`"]),
    ("QueryParam", {"modifications": [{"type": "Remove All"}]}, ["removes all parameters"]),
    (
        "UserAgent",
        {"userAgent": "Phone/1", "env": "iPhone", "envType": "device"},
        ["sends the user agent `Phone/1` (device iPhone)"],
    ),
    ("Request", {"request": {"type": "static", "value": "{}"}}, ["the request's body becomes `{}`"]),
    ("Request", {"request": {"type": "static", "value": {"a": 1}}}, ['the request\'s body becomes `{"a": 1}`']),
    (
        "Request",
        {"type": "code", "value": "f()"},
        ["the request's body becomes the output of this JavaScript: `f()`"],
    ),
    (
        "Response",
        {"response": {"type": "static", "value": "", "statusCode": 404, "serveWithoutRequest": True}},
        [
            "answers with status `404`",
            "the answer's body becomes _empty_",
            "the request never reaches the server",
        ],
    ),
    (
        "Response",
        {"type": "static", "value": "x" * 200, "statusCode": "", "mood": "sunny"},
        [f"the answer's body becomes `{'x' * 160}…` (200 characters)", 'also `{"mood": "sunny"}`'],
    ),
    ("Delay", {"delay": "2000"}, ["waits 2,000 ms"]),
    ("Delay", {"delay": 50}, ["waits 50 ms"]),
    ("Delay", {"delay": "soon"}, ["waits `soon` ms"]),
    (
        "Script",
        {
            "scripts": [
                {"codeType": "js", "type": "url", "value": "https://a.example/x.js", "loadTime": "afterPageLoad"}
            ]
        },
        ["runs JavaScript from `https://a.example/x.js` after the page has loaded"],
    ),
    (
        "Script",
        {"libraries": ["jquery"], "scripts": [{"codeType": "css", "type": "code", "value": "a{}"}]},
        ["with `jquery`", "runs CSS `a{}`"],
    ),
    ("Teleport", {"warp": 9}, ['`{"warp": 9}`']),
    ("Teleport", {}, ["_unknown effect_"]),
]


@pytest.mark.parametrize(("rule_type", "pair", "lines"), SHAPES, ids=[f"{n}-{s[0]}" for n, s in enumerate(SHAPES)])
def test_each_shape_is_read_as_a_person_would_say_it(rule_type: str, pair: dict[str, Any], lines: list[str]) -> None:
    assert describe(rule_type, pair) == lines


def test_of_a_pair_nothing_is_hidden() -> None:
    (line,) = describe("Headers", {"modifications": {}, "header": "", "mood": "sunny"})

    assert "sunny" in line


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
BODIES = [
    "request",
    "response",
    "scripts",
    "libraries",
    "statusCode",
    "codeType",
    "loadTime",
    "delay",
    "userAgent",
    "env",
]
CHANGES = ["modifications", "headers", "header", "param", "type", "value", "target", "Request", "actionWhenParamExists"]
NAMES = st.sampled_from([*BODIES, *CHANGES])
PAIRS = st.recursive(
    JSON, lambda inner: st.dictionaries(NAMES, inner, max_size=4) | st.lists(inner, max_size=3), max_leaves=10
).filter(lambda found: isinstance(found, dict))


@pytest.mark.slow
@settings(max_examples=600, deadline=None)
@given(st.sampled_from([*KNOWN_TYPES, "Teleport", None]), PAIRS)
def test_anything_at_all_is_described(rule_type: str | None, pair: dict[str, Any]) -> None:
    lines = describe(rule_type, pair)

    assert lines
    shown = [line.replace(f"{WORD_JOINER}`{WORD_JOINER}", "") for line in lines]  # as `esc` leaves it, it opens no code
    assert all(line.count("`") % 2 == 0 for line in shown)


def diff(before: dict[str, Any], after: dict[str, Any]) -> str:
    return render(differences({"pairs": [before]}, {"pairs": [after]}))


def test_a_header_that_changed_is_one_line() -> None:
    before = {"modifications": {"Request": [X, {"header": "B", "type": "Add", "value": "2"}], "Response": []}}
    after = {"modifications": {"Request": [{**X, "value": "9"}, before["modifications"]["Request"][1]], "Response": []}}

    assert diff(before, after) == "*pair 1 request header 1 value*  `1` → `9`"


def test_a_header_that_came_or_went_is_named() -> None:
    none, one = ({"modifications": {"Request": [], "Response": found}} for found in ([], [X]))

    assert diff(none, one) == "*pair 1 response header*  adds `X-Debug: 1`"
    assert diff(one, none) == "*pair 1 response header*  no longer adds `X-Debug: 1`"


def test_another_order_is_a_difference_too() -> None:
    two = [{"param": name, "type": "Remove"} for name in "ab"]

    assert "modification" in diff({"modifications": two}, {"modifications": two[::-1]})


def test_of_a_long_body_the_place_is_shown_where_it_differs() -> None:
    old, new = ({"response": {"value": "x" * 2000 + tail}} for tail in ("old", "new"))

    text = diff(old, new)

    assert text.startswith("*pair 1 answer's body*")
    assert "old`" in text
    assert "new`" in text


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"a": 1\n "b": 2}', "Line 2, column 2"),
        ("{“a”: 1}", "typographic quote"),
        ('[{"a": 1}]', "JSON object"),
        ("", "not JSON"),
        ('{"a": NaN}', "NaN"),
        ('{"a": 1e999}', "too large for a number"),
        ('{"a": 1, "a": 2}', "“a” comes twice"),
        ("[" * 100_000, "too deeply"),
    ],
)
def test_what_is_no_pair_is_said_with_its_place(text: str, words: str) -> None:
    with pytest.raises(BadValue, match=words):
        read_object(text)


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(st.dictionaries(st.text(max_size=8), JSON, max_size=3))
def test_a_pair_reads_back_as_it_was_written(pair: dict[str, Any]) -> None:
    assert json.dumps(read_object(json_text(pair))) == json.dumps(pair)


def test_what_fits_only_without_line_breaks_is_written_without_them() -> None:
    assert "\n" in json_text({"list": [*range(9)]})
    assert "\n" not in json_text({"list": [*range(600)]})


def _with_one_more(value: Any) -> Iterator[Any]:
    """Yield *value* once for each object in it, which has a field there that nobody knows."""
    if isinstance(value, dict):
        yield value | {"mood": "sunny"}
        for name, inner in value.items():
            yield from (value | {name: changed} for changed in _with_one_more(inner))
    elif isinstance(value, list):
        for at, inner in enumerate(value):
            yield from ([*value[:at], changed, *value[at + 1 :]] for changed in _with_one_more(inner))


@pytest.mark.parametrize(
    ("rule_type", "pair"), [(kind, changed) for kind, pair, _ in SHAPES for changed in _with_one_more(pair)]
)
def test_a_field_that_nobody_knows_is_told_at_any_depth(rule_type: str, pair: dict[str, Any]) -> None:
    assert "sunny" in " ".join(describe(rule_type, pair, 500))
