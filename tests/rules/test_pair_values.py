"""The fields of pairs: each is read and written by its kind, and nothing but what was typed moves."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.rules.pair_fields import KNOWN_TYPES, TYPES, FieldKind, fields_of
from bot.rules.pair_values import BadValue, new_pair, other_names, read_object, text_of, with_text
from tests.harness.real_rules import RECORDS

SOURCE = {"key": "Url", "operator": "Equals", "value": "https://shop.example.com/x"}
TYPED = {
    FieldKind.LINE: "https://shop.example.com/ü",
    FieldKind.REST: '{\n "mood": 1.5\n}',
}


@pytest.mark.parametrize(
    ("source", "said"), [({}, True), ({"key": "host"}, False), ({"operator": "Contains"}, False), (SOURCE, True)]
)
def test_a_whole_url_is_asked_for_only_where_it_is_compared(source: dict[str, Any], said: bool) -> None:
    for rule_type in KNOWN_TYPES:
        hint = fields_of(rule_type, {"source": source})[0].hint
        assert ("full URL" in hint) == said


@pytest.mark.parametrize("rule_type", KNOWN_TYPES)
def test_a_new_pair_of_each_type_holds_what_is_typed_into_each_of_its_fields(rule_type: str) -> None:
    pair = new_pair(rule_type, SOURCE)
    wanted = {}
    for field in fields_of(rule_type, pair):
        wanted[field.path] = TYPED.get(field.kind) or [*field.options][-1]
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


@pytest.mark.parametrize("text", ["", "12", "a\nb", "true"])
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
    ("rule_type", "pair"),
    [
        (
            "Headers",
            {"modifications": {"Request": [{"id": 1, "header": "A", "type": "Add", "value": 1}, None], "mood": 1}},
        ),
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
    st.none() | st.booleans() | st.integers(-9, 9) | st.sampled_from(["", "x", "200"]),
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
