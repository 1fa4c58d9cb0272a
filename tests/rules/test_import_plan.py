"""Importing rules: any bytes are judged, an export comes back field for field, and nothing is made twice."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from bot.changes.model.documents import canonical_form
from bot.changes.model.edits import Kind
from bot.changes.model.items import ImportRow
from bot.rules.files import MAX_RULES, read_rule_file
from bot.rules.model import Groups, Rule
from bot.rules.pair_fields import KNOWN_TYPES
from bot.text.encoding import MAX_FILE_BYTES, BadFile
from tests.rules.whole import plan_rules

Document = dict[str, Any]


PAIRS: dict[str, Document] = {
    "Redirect": {"destinationType": "url", "destination": "https://shop.example.com/new"},
    "Cancel": {},
    "Replace": {"from": "/goapi/", "to": ""},
    "Headers": {
        "modifications": {"Request": [{"header": "X", "type": "Add", "value": "1", "id": "m"}], "Response": []}
    },
    "QueryParam": {"modifications": [{"param": "p", "type": "Remove All", "actionWhenParamExists": "Overwrite"}]},
    "UserAgent": {"userAgent": "Mozilla", "env": "x", "envType": "browser"},
    "Request": {"request": {"type": "code", "value": "function modifyRequestBody(args) {}"}},
    "Response": {"response": {"type": "static", "value": "{}", "statusCode": "404", "serveWithoutRequest": True}},
    "Delay": {"delay": "300"},
    "Script": {"scripts": [{"codeType": "js", "type": "code", "value": "alert(1)"}], "libraries": ["jquery"]},
}


def record(kind: str = "Redirect", suffix: str = "x1", **fields: Any) -> Document:
    """A rule as an export holds it, with what the service adds."""
    source = {"key": "Url", "operator": "Contains", "value": "example.com", "filters": [{"resourceType": ["script"]}]}
    made: Document = {
        "id": f"{kind}_{suffix}",
        "name": f"{kind} {suffix}",
        "description": "",
        "objectType": "rule",
        "ruleType": kind,
        "status": "Active",
        "groupId": "",
        "creationDate": 1736060959798,
        "modificationDate": 1736060959799,
        "createdBy": "IUAG",
        "lastModifiedBy": None,
        "currentOwner": "IUAG",
        "isSample": False,
        "isFavourite": True,
        "version": 2,
        "schemaVersion": "3.0.0",
        "extensionRules": [{"action": {}}],
        "pairs": [{"source": source, "id": "jnc6s", **PAIRS[kind]}],
    }
    return made | fields


GROUP: Document = {"id": "Group_qrszh", "name": "Checkout", "objectType": "group", "status": "Active", "children": []}


def plan(*records: Any, having: tuple[Document, ...] = (), groups: Groups | None = None) -> list[ImportRow]:
    return plan_rules(records, [Rule.model_validate(each) for each in having], groups)


def only(*records: Any, having: tuple[Document, ...] = (), groups: Groups | None = None) -> ImportRow:
    (row,) = plan(*records, having=having, groups=groups)
    return row


def after(row: ImportRow) -> Document:
    assert row.edit is not None
    assert (row.edit.kind, row.edit.target.key, row.edit.before) == (Kind.RULE_CREATE, None, None)
    return row.edit.after or {}


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
def test_a_list_is_read_with_and_without_a_mark(encoding: str) -> None:
    records = [record(), GROUP, 3]

    assert read_rule_file(json.dumps(records, ensure_ascii=False, indent=1).encode(encoding)) == records


REFUSED: list[tuple[bytes, str]] = [
    (b"", "is empty"),
    (b" \r\n\t", "is empty"),
    (b"\xef\xbb\xbf", "is empty"),
    (b"x" * (MAX_FILE_BYTES + 1), "is too large: "),
    (b"PK\x03\x04\x14\0\0\0", "not text in UTF-8"),
    (b"name,ruleType,status\nx,Redirect,Active\n", "this is not JSON"),
    (b"name;type\r\n", "this is not JSON"),
    (b"[{\xe4\xf6\xfc}]", "not text in UTF-8"),
    (b"[]", "an empty list"),
    (b'"rules"', "not a list of rules"),
    (b'{"success": false, "message": "Unauthorized action"}', "not a list of rules"),
    (b'[{"pairs": [], "pairs": [1]}]', "comes twice"),
    (b'[{"pairs": [], "name": "", "name": ""}]', "comes twice"),
    (b'{"rules": [}', "this is not JSON"),
    (b"hello", "this is not JSON"),
    (b"[" * 200_000, "nested too deeply"),
    (b"\x00\x01\x02\x03\x04\x05\x06\x07", "not text"),
    (json.dumps([{"pairs": []}] * (MAX_RULES + 1)).encode(), "the limit is 10,000"),
]


@pytest.mark.parametrize(("content", "why"), REFUSED, ids=lambda value: str(value)[:30])
def test_what_is_no_file_of_rules_is_refused_with_why(content: bytes, why: str) -> None:
    with pytest.raises(BadFile, match=why):
        read_rule_file(content)


def test_broken_json_is_pointed_at() -> None:
    with pytest.raises(BadFile, match="Line 3, column 12"):
        read_rule_file(b'[\n  {"name": "x",\n   "pairs" []}\n]')


@given(st.one_of(st.binary(max_size=300), st.text(max_size=300).map(str.encode)))
@example(b"\xff\xfe\0")
@example(b"\0")
@example(b"9" * 100_000)
@example(b'[{"pairs": [' + b"9" * 5000 + b', 1e999, -Infinity, "\\ud800"]}]')
@settings(deadline=None)
def test_any_bytes_give_a_file_or_a_typed_error(content: bytes) -> None:
    try:
        file = read_rule_file(content)
    except BadFile:
        return
    assert file


VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=5), st.just("\ud800")),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.sampled_from([*record(), "source", "value", "from"]), inner, max_size=4),
    ),
    max_leaves=20,
)


@pytest.mark.slow
@given(st.lists(VALUES, max_size=4))
@settings(deadline=None, max_examples=200)
def test_any_records_are_planned_each_just_once(records: list[Any]) -> None:
    found = plan(*records, *records, having=(record(), record("Cancel")))

    assert [row.number for row in found] == list(range(1, 2 * len(records) + 1))
    for row in found:
        if row.edit is not None:
            json.dumps(row.edit.after, allow_nan=False)


@pytest.mark.slow
@given(st.dictionaries(st.sampled_from(list(record())), VALUES, max_size=4))
@settings(deadline=None, max_examples=300)
def test_a_rule_with_any_fields_is_planned(fields: Document) -> None:
    assert len(plan(record() | fields, having=(record(), record("Cancel")))) == 1


@pytest.mark.parametrize("kind", KNOWN_TYPES)
def test_an_export_comes_back_field_for_field(kind: str) -> None:
    exported = record(kind, unheard={"of": [1, None, "ä"]})

    made = after(only(exported))

    assert canonical_form(made) == canonical_form(exported)
    assert not {"id", "creationDate", "modificationDate", "createdBy", "extensionRules"} & set(made)
    assert "id" not in made["pairs"][0]


def test_what_is_here_is_skipped_and_never_changed() -> None:
    born = record(suffix="new") | {"name": "Redirect x1", "status": "Inactive", "pairs": record()["pairs"]}

    by_id, by_content = only(record(name="Other"), having=(record(),)), only(record(), having=(born,))

    assert (by_id.why, by_id.edit, by_id.is_refused) == ("already there, with this id", None, False)
    assert (by_content.why, by_content.edit) == ("already there, with the same name and pairs", None)


def test_a_null_says_nothing() -> None:
    made = after(only(record(description=None, groupId=None, status=None)))

    assert (made["description"], made["status"], "groupId" in made) == ("", "Inactive", False)


def test_groups_and_strange_objects_are_passed_over() -> None:
    found = plan(GROUP, {"objectType": "environment", "name": "prod"})

    assert [(row.title, row.why, row.is_refused) for row in found] == [
        ("Checkout", "a group; groups are not imported", False),
        ("prod", "not a rule", False),
    ]


def test_a_rule_of_an_unknown_group_comes_without_it() -> None:
    groups = Groups({"Group_here": "Here"}, frozenset())
    found = plan(record(groupId="Group_gone"), record("Cancel", groupId="Group_here"), groups=groups)

    assert [(row.lost_group, after(row)["groupId"]) for row in found] == [("Group_gone", ""), ("", "Group_here")]
    assert after(only(record(groupId="Group_gone")))["groupId"] == "Group_gone", "nobody knows the groups"
    assert only(record(groupId="Group_x"), groups=Groups({}, frozenset())).lost_group == "Group_x"


def test_a_rule_without_pairs_is_refused() -> None:
    old = {
        "name": "Old",
        "ruleType": "Redirect",
        "source": {"key": "Url", "values": ["a"]},
        "destination": "https://a.b/",
    }

    assert only(old).is_refused


def test_a_rule_twice_in_the_file_is_made_once() -> None:
    nameless = {name: value for name, value in record("Cancel").items() if name != "id"}
    found = plan(record(), record(), record(name="Other"), nameless, nameless)

    assert [(row.why, row.is_refused) for row in found] == [
        ("", False),
        ("the same as record 1", False),
        ("contradicts record 1, which has the same id", True),
        ("", False),
        ("the same as record 4", False),
    ]


def deep(levels: int) -> Any:
    found: Any = 1
    for _ in range(levels):
        found = [found]
    return found


@pytest.mark.parametrize(
    ("broken", "reason"),
    [
        (3, "not an object"),
        ([], "not an object"),
        (record(x=deep(900)), "nested too deeply for a rule"),
        (record(x=float("inf")), "it has a number or a character that can’t be sent"),
        (record(x=float("nan")), "it has a number or a character that can’t be sent"),
        (record(name="\ud800"), "it has a number or a character that can’t be sent"),
        (record(name=3), "name is of the wrong type"),
        (record(name=["x"]), "name is of the wrong type"),
        (record(pairs={}), "pairs is of the wrong type"),
        (record(pairs=[1]), "pair of pair 1 is of the wrong type"),
        (record(pairs=[*record()["pairs"], {"source": {"value": 3}}]), "source.value of pair 2 is of the wrong type"),
    ],
)
def test_what_cannot_be_a_rule_says_why(broken: Any, reason: str) -> None:
    row = only(broken)

    assert (row.why, row.is_refused) == (reason, True)
