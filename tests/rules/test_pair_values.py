"""The fields of pairs: each is read and written by its kind, and nothing but what was typed moves."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.rules.pair_fields import KNOWN_TYPES, TYPES, FieldKind, PairField, fields_of
from bot.rules.pair_values import BadValue, new_pair, other_names, read_object, text_of, with_text
from tests.harness.real_rules import RECORDS

SOURCE = {"key": "Url", "operator": "Equals", "value": "https://shop.example.com/x"}
TYPED = {
    FieldKind.LINE: "https://shop.example.com/ü",
    FieldKind.REST: '{\n "mood": 1.5\n}',
}


def field_of(rule_type: str, path: str, pair: dict[str, Any] | None = None) -> PairField:
    return next(one for one in fields_of(rule_type, pair or {}) if one.path == path)


REQUEST = field_of("Headers", "modifications.Request")
PARAMETERS = field_of("QueryParam", "modifications")


@pytest.mark.parametrize(
    ("source", "said"), [({}, True), ({"key": "host"}, False), ({"operator": "Contains"}, False), (SOURCE, True)]
)
def test_a_whole_url_is_asked_for_only_where_it_is_compared(source: dict[str, Any], said: bool) -> None:
    for rule_type in KNOWN_TYPES:
        hint = fields_of(rule_type, {"source": source})[0].hint
        assert ("full URL" in hint) == said


def headers(*entries: Any) -> dict[str, Any]:
    return {"modifications": {"Request": [*entries], "Response": []}}


@pytest.mark.parametrize("rule_type", KNOWN_TYPES)
def test_a_new_pair_of_each_type_holds_what_is_typed_into_each_of_its_fields(rule_type: str) -> None:
    pair = new_pair(rule_type, SOURCE)
    wanted = {}
    for field in fields_of(rule_type, pair):
        wanted[field.path] = f"Add a{field.joint}b" if field.entry else TYPED.get(field.kind) or [*field.options][-1]
        pair = with_text(field, pair, wanted[field.path])

    assert {field.path: text_of(field, pair) for field in fields_of(rule_type, pair)} == wanted
    assert other_names(rule_type, pair) == []


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: str(record["id"]))
def test_what_is_not_changed_stays_to_the_byte(record: dict[str, Any]) -> None:
    for pair in [pair for pair in record["pairs"] or () if isinstance(pair, dict)]:
        before = copy.deepcopy(pair)
        for field in fields_of(record["ruleType"], pair):
            if (text := text_of(field, pair)) is not None:
                assert with_text(field, pair, text) is pair
                assert json.dumps(with_text(field, with_text(field, pair, text), text)) == json.dumps(before)
        assert pair == before


@pytest.mark.parametrize("text", ["", "12", "a\nb", "Add a: 1", "true"])
@pytest.mark.parametrize("record", RECORDS, ids=lambda record: str(record["id"]))
def test_what_is_typed_into_one_field_moves_no_other(record: dict[str, Any], text: str) -> None:
    for pair in [pair for pair in record["pairs"] or () if isinstance(pair, dict)]:
        before = copy.deepcopy(pair)
        fields = fields_of(record["ruleType"], pair)
        for field in fields:
            if text_of(field, pair) is None:
                continue
            try:
                after = with_text(field, pair, text)
            except BadValue:
                continue
            others = [one for one in fields if one is not field]
            assert [text_of(one, after) for one in others] == [text_of(one, pair) for one in others]
            assert other_names(record["ruleType"], after) == other_names(record["ruleType"], pair)
            assert pair == before


@pytest.mark.parametrize(
    ("field", "text", "stored"),
    [
        (REQUEST, "Add X-A: 1", [{"header": "X-A", "type": "Add", "value": "1"}]),
        (REQUEST, "X-A: b: c", [{"header": "X-A", "type": "Add", "value": "b: c"}]),
        (REQUEST, "  change host:shop \n\nremove Server", [
            {"header": "host", "type": "Modify", "value": "shop"}, {"header": "Server", "type": "Remove", "value": ""}
        ]),
        (PARAMETERS, "Add a=b=c", [{"param": "a", "type": "Add", "value": "b=c"}]),
        (PARAMETERS, "Remove all", [{"param": "", "type": "Remove All", "value": ""}]),
        (PARAMETERS, "Remove allowed", [{"param": "allowed", "type": "Remove", "value": ""}]),
        (REQUEST, " \n", []),
    ],
)  # fmt: skip
def test_a_line_says_one_change(field: PairField, text: str, stored: list[Any]) -> None:
    pair = with_text(field, {}, text)

    assert _list(field, pair) == stored


def _list(field: PairField, pair: dict[str, Any]) -> list[Any]:
    found: Any = pair["modifications"] if pair else {"Request": []}
    return list(found["Request"] if field is REQUEST else found)


@pytest.mark.parametrize(
    "line", ["X-A", "Add X-A", "Remove X-A: 1", "Drop X-A: 1", ": 1", "Remove", "Remove all of it"]
)
def test_a_line_that_says_no_change_is_named(line: str) -> None:
    with pytest.raises(BadValue, match="Line 3 can’t be read"):
        with_text(REQUEST, {}, f"Add a: 1\n\n{line}")


REMOVED = {"id": 2, "header": "B", "type": "Remove"}


@pytest.mark.parametrize(
    ("text", "stored"),
    [
        ("Add A: 1\nRemove B", [{"id": 1, "header": "A", "type": "Add", "value": 1}, REMOVED]),
        ("Add A: 2\nRemove B", [{"id": 1, "header": "A", "type": "Add", "value": "2"}, REMOVED]),
        ("Remove B\nAdd Z: 1", [REMOVED, {"id": 1, "header": "Z", "type": "Add", "value": "1"}]),
        ("Add C: 3", [{"header": "C", "type": "Add", "value": "3"}]),
        ("Add A: 1\nAdd A: 1\nRemove B", [
            {"id": 1, "header": "A", "type": "Add", "value": 1}, {"header": "A", "type": "Add", "value": "1"}, REMOVED
        ]),
    ],
    ids=["nothing", "a value", "a name, and another order", "all", "one more of a kind"],
)  # fmt: skip
def test_a_change_keeps_what_its_line_does_not_show(text: str, stored: list[Any]) -> None:
    pair = headers({"id": 1, "header": "A", "type": "Add", "value": 1}, REMOVED)

    assert text_of(REQUEST, pair) == "Add A: 1\nRemove B"
    assert with_text(REQUEST, pair, text) == headers(*stored)


@pytest.mark.parametrize(
    "entry",
    [
        None,
        3,
        "x",
        {},
        {"header": "A", "type": "Explode", "value": "1"},
        {"header": "two words", "type": "Add", "value": "1"},
        {"header": "A", "type": "Add", "value": "two\nlines"},
        {"header": "A", "type": "Add", "value": " spaces "},
        {"header": "A:B", "type": "Add", "value": "1"},
        {"header": None, "type": "Add", "value": "1"},
        {"header": "A", "type": "Add", "value": {"deep": [1]}},
    ],
)
def test_a_list_with_what_no_line_says_is_not_shown_as_lines(entry: Any) -> None:
    good = {"header": "B", "type": "Add", "value": "1"}
    text = text_of(REQUEST, headers(good, entry))

    assert text is None or with_text(REQUEST, headers(good, entry), f"{text}\nRemove C") == headers(
        good, entry, {"header": "C", "type": "Remove", "value": ""}
    )


@pytest.mark.parametrize(
    ("rule_type", "pair"),
    [
        ("Headers", {"header": "A", "type": "Add", "target": "Request", "value": "1"}),
        ("QueryParam", {"param": "a", "type": "Add", "value": "1"}),
        ("Script", {"id": "p1", "scripts": [{"codeType": "js", "value": "a", "id": 1}]}),
        ("Teleport", {}),
    ],
)
def test_all_of_a_pair_beside_its_source_is_edited_as_json(rule_type: str, pair: dict[str, Any]) -> None:
    stored = {"source": SOURCE | {"filters": [{"requestMethod": ["GET"]}]}, **pair}
    source, rest, *_ = fields_of(rule_type, stored)

    assert read_object(text_of(rest, stored) or "") == pair
    after = with_text(source, with_text(rest, stored, '{"mood": 1.5}'), "https://a.example/")
    assert after == {"source": {**stored["source"], "value": "https://a.example/"}, "mood": 1.5}
    with pytest.raises(BadValue, match="source"):
        with_text(rest, stored, '{"source": {}}')


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.sampled_from(["", "x", "Add a: 1", "200"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["Request", "Response", "value", "type", "header", "param"]), inner, max_size=3
        )
    ),
    max_leaves=8,
)
TOPS = sorted(
    {field.path.partition(".")[0] for one in TYPES.values() for field in one.fields} | {"header", "param", "scripts"}
)


@settings(max_examples=150, deadline=None)
@given(
    st.sampled_from([*KNOWN_TYPES, "Teleport"]),
    st.dictionaries(st.sampled_from(TOPS), JSON, max_size=4),
    st.text(max_size=9),
)
def test_whatever_a_pair_holds_it_is_read_and_kept(rule_type: str, pair: dict[str, Any], text: str) -> None:
    before = copy.deepcopy(pair)
    for field in fields_of(rule_type, pair):
        if (shown := text_of(field, pair)) is not None:
            assert with_text(field, pair, shown) is pair
            try:
                with_text(field, pair, text)
            except BadValue:
                continue
    assert pair == before
