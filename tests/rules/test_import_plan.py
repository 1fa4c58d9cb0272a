"""Importing rules: any bytes are judged, an export comes back field for field, and nothing is made twice."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from bot.changes.model.documents import canonical_form
from bot.changes.model.edits import Edit, Kind
from bot.rules.edit import ProblemKind
from bot.rules.files import (
    MAX_RULES,
    read_rule_file,
)
from bot.rules.model import Groups, Rule
from bot.rules.outcomes import NearKind
from bot.rules.pair_fields import KNOWN_TYPES
from bot.rules.rule_import_plan import (
    Arrival,
    Choices,
    Differs,
    Entry,
    InvalidRecord,
    New,
    OnDiffers,
    Same,
    Skipped,
    Twice,
    edit_of,
)
from bot.rules.url import Url
from bot.text.encoding import MAX_FILE_BYTES, BadFile
from tests.rules.whole import explain, plan_rules

Document = dict[str, Any]


def planned(entries: tuple[Entry, ...], choices: Choices) -> list[Edit]:
    return [edit for entry in entries if (edit := edit_of(entry, choices)) is not None]


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


def live(*records: Document) -> list[Rule]:
    return [Rule.model_validate(each) for each in records]


def read(document: Any) -> list[Any]:
    return read_rule_file(json.dumps(document).encode())


def plan(*records: Any, having: tuple[Document, ...] = (), groups: Groups | None = None) -> tuple[Entry, ...]:
    return plan_rules(records, live(*having), groups)


def only(found: tuple[Entry, ...]) -> Any:
    (entry,) = found
    return entry


SHAPES = [
    [record(), GROUP],
    record(),
    GROUP,
    {"rules": [record(), GROUP]},
    {"success": True, "data": [record()], "total": 1, "nextOffset": None},
    {"success": True, "data": record()},
    [{"name": "no type", "pairs": []}, 3],
]


@pytest.mark.parametrize("document", SHAPES)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_every_shape_is_read_in_every_encoding_of_unicode(document: Any, encoding: str) -> None:
    file = read_rule_file(json.dumps(document, ensure_ascii=False, indent=1).encode(encoding))

    assert file == read(document)
    assert all(isinstance(each, dict | int) for each in file)


REFUSED: list[tuple[bytes, str]] = [
    (b"", "is empty"),
    (b" \r\n\t", "is empty"),
    (b"\xef\xbb\xbf", "is empty"),
    (b"x" * (MAX_FILE_BYTES + 1), "is too large: "),
    (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "not text"),
    (b"PK\x03\x04\x14\0\0\0", "not text"),
    (b"<!DOCTYPE html><html></html>", "a web page"),
    (b"name,ruleType,status\nx,Redirect,Active\n", "this is not JSON"),
    (b"name;type\r\n", "this is not JSON"),
    (b"[{\xe4\xf6\xfc}]", "encoding is unknown"),
    (b"[]", "an empty list"),
    (b'{"rules": []}', "an empty list"),
    (b"[1, 2]", "no rules"),
    (b'"rules"', "no rules"),
    (b'{"success": false, "message": "Unauthorized action"}', "no rules"),
    (b'[{"email": "anna@example.com"}]', "no rules"),
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


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (b"\xff\xd8\xff\xe0\0\x10JFIF", "not text"),
        (b"%PDF-1.7\n%\xe2\xe3\n\0", "not text"),
        (b"PK\x03\x04....xl/workbook.xml", "a spreadsheet"),
        (b"PK\x03\x04\x14\0readme", "not text"),
        (b"\x1f\x8b\x08\0", "not text"),
        (b"\n <HTML>", "a web page"),
        (b"\x7fELF\x02\x01\x01\0\0\0\0", "not text"),
    ],
)
def test_another_kind_of_file_is_told(content: bytes, kind: str) -> None:
    with pytest.raises(BadFile, match=kind):
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
@given(st.lists(VALUES, max_size=4), st.sampled_from(OnDiffers), st.sampled_from(Arrival))
@settings(deadline=None, max_examples=200)
def test_any_records_are_planned_each_just_once(records: list[Any], differs: OnDiffers, arrival: Arrival) -> None:
    found = plan(*records, *records, having=(record(), record("Cancel")))

    assert len(found) == 2 * len(records)
    for each in planned(found, Choices(differs=differs, arrival=arrival)):
        json.dumps(each.after, allow_nan=False)


@pytest.mark.slow
@given(st.dictionaries(st.sampled_from(list(record())), VALUES, max_size=4))
@settings(deadline=None, max_examples=300)
def test_a_rule_with_any_fields_is_planned(fields: Document) -> None:
    found = plan(record() | fields, having=(record(), record("Cancel")))

    assert len(found) == 1


@pytest.mark.parametrize("kind", KNOWN_TYPES)
def test_an_export_comes_back_field_for_field(kind: str) -> None:
    exported = record(kind, unheard={"of": [1, None, "ä"]})

    (asked,) = planned(plan(exported), Choices(arrival=Arrival.AS_IN_FILE))

    assert (asked.kind, asked.target.key, asked.before) == (Kind.RULE_CREATE, None, None)
    assert asked.after is not None
    assert canonical_form(asked.after) == canonical_form(exported)
    assert not {"id", "creationDate", "modificationDate", "createdBy", "extensionRules"} & set(asked.after)
    assert "id" not in asked.after["pairs"][0]


def test_what_was_imported_once_is_found_again_under_its_new_id() -> None:
    born = record(suffix="new") | {"name": "Redirect x1", "status": "Inactive", "pairs": record()["pairs"]}

    entry = only(plan(record(), having=(born,)))

    assert isinstance(entry, Differs)
    assert entry.live.id == "Redirect_new"
    assert planned((entry,), Choices(differs=OnDiffers.OVERWRITE)) == []
    assert planned((entry,), Choices()) == []


def test_two_alike_in_the_service_answer_for_two_in_the_file() -> None:
    alike = {"name": "Twin"}
    there = (record(suffix="a", **alike), record(suffix="b", **alike))
    file = (record(suffix="c", **alike), record(suffix="d", **alike), record(suffix="e", **alike))

    found = plan(*file, having=there)

    assert [type(entry) for entry in found] == [Same, Same, New]


def test_an_overwrite_keeps_the_status_and_the_fields_that_the_file_leaves_out() -> None:
    there = record(status="Inactive", removeCSPHeader=True)
    changed = {name: value for name, value in record().items() if name != "isFavourite"} | {"name": "Renamed"}

    found = plan(changed, having=(there,))
    (asked,) = planned(found, Choices(differs=OnDiffers.OVERWRITE))
    (as_told,) = planned(found, Choices(differs=OnDiffers.OVERWRITE, arrival=Arrival.AS_IN_FILE))

    assert isinstance(only(found), Differs)
    assert (asked.kind, asked.target.key, asked.before) == (Kind.RULE_UPDATE, "Redirect_x1", there)
    assert asked.after is not None
    assert asked.after["name"] == "Renamed"
    assert asked.after["status"] == "Inactive"
    assert asked.after["removeCSPHeader"]
    assert asked.after["isFavourite"]
    assert as_told.after is not None
    assert as_told.after["status"] == "Active"


def test_a_null_says_nothing() -> None:
    silent = record(description=None, groupId=None, status=None)

    (asked,) = planned(plan(silent), Choices(arrival=Arrival.AS_IN_FILE))

    assert asked.after is not None
    assert (asked.after["description"], asked.after["status"], "groupId" in asked.after) == ("", "Inactive", False)
    assert isinstance(only(plan(silent, having=(record(groupId="Group_1", description="d"),))), Same)


def test_a_copy_is_a_new_rule_with_a_name_of_its_own() -> None:
    moved = record(description="other")

    (asked,) = planned(plan(moved, having=(record(),)), Choices(differs=OnDiffers.COPY))

    assert (asked.kind, asked.target.key) == (Kind.RULE_CREATE, None)
    assert asked.after is not None
    assert (asked.after["name"], asked.after["status"]) == ("Redirect x1 (copy)", "Inactive")


def test_a_rule_of_the_same_name_is_pointed_at() -> None:
    entry = only(plan(record("Replace", name="N"), having=(record("Replace", "y", name="N", pairs=[]),)))
    assert isinstance(entry, New)
    assert entry.namesake == "Replace_y"


def test_groups_and_strange_objects_are_passed_over() -> None:
    strange = {"objectType": "environment", "name": "prod"}

    assert plan(GROUP, strange) == (
        Skipped(1, "Checkout", is_group=True),
        Skipped(2, "prod", is_group=False),
    )


def test_a_rule_of_an_unknown_group_comes_without_it() -> None:
    exported = record(groupId="Group_gone")
    groups = Groups({"Group_here": "Here"}, frozenset())

    lost, kept = only(plan(exported, groups=groups)), only(plan(record(groupId="Group_here"), groups=groups))
    undecidable = only(plan(exported))

    assert (lost.ungrouped, lost.draft.group_id) == ("Group_gone", "")
    assert (kept.ungrouped, kept.draft.group_id) == (None, "Group_here")
    assert undecidable.draft.group_id == "Group_gone"
    assert isinstance(only(plan(exported, having=(record(groupId="Group_here"),), groups=groups)), Same)


def test_where_there_are_no_groups_a_rule_comes_without_one() -> None:
    nothing = Groups({}, frozenset())

    assert only(plan(record(groupId="Group_x"), groups=nothing)).ungrouped == "Group_x"
    assert isinstance(only(plan(record(groupId="Group_x"), having=(record(groupId="Group_x"),), groups=nothing)), Same)


FIRST_SOURCE = {"key": "Url", "operator": "Contains", "values": ["shop.example.com/a", "shop.example.com/b"]}


@pytest.mark.parametrize("kind", ["Redirect", "Cancel"])
def test_a_rule_of_the_first_version_gets_a_pair_for_each_of_its_values(kind: str) -> None:
    leads = {"destination": "https://shop.example.com/"} if kind == "Redirect" else {}
    old = {"id": f"{kind}_1485", "name": "Old", "ruleType": kind, "status": "Active", "source": FIRST_SOURCE} | leads

    entry = only(plan(old))

    assert isinstance(entry, New)
    sources = [{"key": "Url", "operator": "Contains", "value": value} for value in FIRST_SOURCE["values"]]
    assert entry.draft.body() == {"name": "Old", "ruleType": kind, "status": "Active"} | {
        "pairs": [{"source": source} | leads for source in sources]
    }
    rule = Rule.model_validate(old)
    assert [near.kind for near in explain([rule], Url.of("https://shop.example.com/b")).near] == [NearKind.NO_PAIRS]
    assert explain([rule], Url.of("https://shop.example.com/c")).near == ()


@pytest.mark.parametrize("source", [None, "x", {}, {"values": None}, {"values": [1]}, {"values": []}])
def test_what_is_in_no_form_at_all_is_refused_in_words(source: Any) -> None:
    entry = only(plan({"name": "Old", "ruleType": "Redirect", "source": source, "destination": "https://a.example/"}))

    assert isinstance(entry, InvalidRecord)
    assert isinstance(entry.reason, tuple)


def test_a_rule_twice_in_the_file_is_made_once() -> None:
    nameless = {name: value for name, value in record("Cancel").items() if name != "id"}
    found = plan(record(), record(), record(name="Other"), nameless, nameless, record("Cancel"))

    assert [type(entry) for entry in found] == [New, Twice, Twice, New, Twice, Twice]
    assert [(e.first, e.alike) for e in found if isinstance(e, Twice)] == [
        (1, True),
        (1, False),
        (4, True),
        (4, True),
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
    entry = only(plan(broken))

    assert isinstance(entry, InvalidRecord)
    assert entry.reason == reason


def test_a_type_never_changes() -> None:
    entry = only(plan(record(), having=(record("Cancel") | {"id": "Redirect_x1"},)))

    assert isinstance(entry, InvalidRecord)
    assert entry.reason == "the rule with this id is a Cancel, and its type can’t change"


def test_a_source_that_is_too_long_is_refused_where_it_is_new_and_stays_where_it_is_old() -> None:
    source = {"key": "Url", "operator": "Matches", "value": f"/{'[' * 4_000}/"}
    long = record(pairs=[{"source": source, "destination": "https://shop.example.com/"}])

    (new,) = plan(long)
    assert isinstance(new, InvalidRecord)
    assert isinstance(new.reason, tuple)
    assert [(problem.kind, problem.count) for problem in new.reason] == [(ProblemKind.LONG_SOURCE, 4_002)]
    (old,) = plan(long | {"name": "Renamed"}, having=(long,))
    assert isinstance(old, Differs)
