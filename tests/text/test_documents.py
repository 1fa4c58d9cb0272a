"""Records of services whose texts are numbers: read as text, and kept as they came."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pydantic import ValidationError

from bot.members.model import Member
from bot.rules.model import Group, Pair, Rule, Source
from bot.text.documents import NumberAsText, ServiceRecord

NUMBERS = {
    "5": "5",
    "-1": "-1",
    "2.5": "2.5",
    "1.0": "1",
    "1e21": "1e+21",
    "true": "true",
    "false": "false",
    "12345678901234567890": "12345678901234567890",
}
"""As JSON -> as JavaScript writes it, but for the last, which it rounds."""
KINDS: dict[type[ServiceRecord], dict[str, Any]] = {
    Rule: {"id": "Redirect_x1"},
    Pair: {},
    Source: {},
    Group: {"id": "Group_x1"},
    Member: {"email": "a@example.com"},
}
TEXTS = [
    (kind, field.alias or name)
    for kind in KINDS
    for name, field in kind.model_fields.items()
    if "str" in str(field.annotation)
    and "tuple" not in str(field.annotation)
    and (field.alias or name) not in KINDS[kind]
]


def test_the_texts_are_found() -> None:
    assert len(TEXTS) >= 14


@pytest.mark.parametrize(("kind", "name"), TEXTS)
def test_a_number_in_the_place_of_a_text_is_read_and_stays_one(kind: type[ServiceRecord], name: str) -> None:
    for number, text in NUMBERS.items():
        record = KINDS[kind] | {name: json.loads(number), "unknown": {"a": [number]}}
        read = kind.model_validate(record)
        attribute = next(each for each, field in kind.model_fields.items() if (field.alias or each) == name)

        assert getattr(read, attribute) == text
        assert json.dumps(read.document(), sort_keys=True) == json.dumps(record, sort_keys=True)
        assert kind.model_validate(read.document()) == read
        assert json.dumps(read.with_fields(unknown=1).document()[name]) == json.dumps(record[name])
        assert json.loads(read.model_dump_json(by_alias=True))[name] == record[name]


@pytest.mark.parametrize("value", [["a"], {"a": 1}])
def test_a_list_is_no_text(value: Any) -> None:
    with pytest.raises(ValidationError):
        Source.model_validate({"value": value})
    with pytest.raises(ValueError, match="neither"):
        NumberAsText.of(value)


@pytest.mark.parametrize("date", [1_700_000_000_000, "2024-01-01T00:00:00Z", 1.5, True, None])
def test_a_date_in_another_form_makes_no_rule_unreadable(date: Any) -> None:
    rule = Rule.model_validate({"id": "Redirect_x1", "modificationDate": date})

    assert rule.modified == (date if type(date) is int else None)
    assert rule.document()["modificationDate"] == date
