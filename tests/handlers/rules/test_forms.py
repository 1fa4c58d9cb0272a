"""Forms of all sizes and alphabets: Slack takes every one of them, and what comes back is what it was drawn from."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from bot.changes.model.change import Change
from bot.changes.model.edits import Edit, Kind, Target
from bot.changes.model.parts import ChangeRequest
from bot.members.model import Member
from bot.rules.model import Rule
from bot.rules.pair_fields import KNOWN_TYPES, PAIR_FIELDS, FieldKind, fields_of, has_field
from bot.rules.pair_values import json_text, new_pair, read_object, text_of, with_text
from handlers.blocks.messages import plural
from handlers.changes import notes_view
from handlers.members import member_form_view
from handlers.members.member_form_view import MemberForm
from handlers.rules.form import read_form, rule_errors
from handlers.rules.rule_form_view import RuleForm
from sandbox.slack import filling
from sandbox.slack.validation import check_view
from tests.doors.rules import OBJECTS, another
from tests.harness.channels import find_double_escapes, readable_text
from tests.harness.counting import limiting_steps
from tests.harness.real_rules import RECORDS

View = dict[str, Any]

MAX_METADATA_LENGTH = 3_000
MAX_VIEW_LENGTH = 250_000
PIECES = ("a", "é", "ы", "日", "😀", "&<>", "*_`~", '"\\', "\ud800")
SIZES = (0, 1, 75, 76, 1_500, 1_501, 2_999, 3_000, 3_001)


@dataclass(frozen=True)
class Text:
    """A text that is told in short when a test fails."""

    piece: str
    size: int

    def __str__(self) -> str:
        return (self.piece * self.size)[: self.size]


texts = st.builds(Text, st.sampled_from(PIECES), st.sampled_from(SIZES))


@dataclass(frozen=True)
class Sketch:
    """A rule in short: few different texts, and as many pairs as a service may keep."""

    rule_type: str
    status: str
    name: Text
    description: Text
    few: tuple[Text, Text, Text]
    count: int

    def rule(self) -> Rule:
        long = self.few if self.count < 100 else [replace(text, size=min(text.size, 80)) for text in self.few]
        pairs = [self._pair(number, self.few if number < 20 else long) for number in range(self.count)]
        about = {"name": str(self.name), "description": str(self.description), "status": self.status}
        about |= {"id": "Rule_" + "x" * 64, "groupId": "Group_1", "ruleType": self.rule_type}
        return Rule.model_validate(about | {"pairs": pairs})

    def _pair(self, number: int, few: Sequence[Text]) -> View:
        """A pair with texts wherever its type has them, and in the fields of two other types."""
        pair = new_pair(self.rule_type, {"key": "Url", "operator": "Equals", "value": str(few[number % 3])})
        two = str(few[(number + 1) % 3])
        for each in fields_of(self.rule_type, pair)[1:]:
            if each.kind is FieldKind.LINE:
                pair = with_text(each, pair, two)
            elif each.kind is FieldKind.REST:
                pair = with_text(each, pair, json_text(read_object(text_of(each, pair) or "") | {"mood": two}))
        return {"destinationType": "url", "destination": two, "from": two, "to": str(few[number % 2])} | pair


rules = st.builds(
    Sketch,
    st.sampled_from([*KNOWN_TYPES, "Teleport", "ы" * 500]),
    st.sampled_from(["Active", "Inactive", "Paused"]),
    texts,
    texts,
    st.tuples(texts, texts, texts),
    st.sampled_from([1, 9, 10, 11, 60, 420, 1_000]),
)


def assert_taken(view: View) -> None:
    """Slack takes *view*, also if it counts bytes, or characters as JSON escapes them."""
    assert not check_view(view)
    assert len(view.get("private_metadata", "").encode(errors="surrogatepass")) <= MAX_METADATA_LENGTH
    assert len(json.dumps(view)) <= MAX_VIEW_LENGTH


def sent_back(view: View, typed: filling.Typed | None = None) -> View:
    """*view* as Slack sends it when somebody submits it."""
    return view | {"state": {"values": filling.values(view["blocks"], typed or {})}}


LONG = Text("日", 3_000)


@given(rules, texts)
@example(Sketch("Redirect", "Active", LONG, LONG, (LONG, LONG, LONG), 60), LONG)
@example(Sketch("Replace", "Active", LONG, LONG, (LONG, LONG, LONG), 10), LONG)
@settings(max_examples=12, deadline=None)
def test_an_edit_that_changes_nothing_gives_the_rule_back(sketch: Sketch, reason: Text) -> None:
    rule = sketch.rule()
    view = replace(RuleForm.of(rule, channel="C0OPS0001"), reason=str(reason)).view()

    assert_taken(view)
    form = read_form(sent_back(view), rule)
    assert form.draft().body() == rule.body()
    assert_taken(
        form.with_notes({"": "ы" * 3_000, "name": "ы" * 3_000, form.pairs[0].block_of("value"): "ы" * 3_000}).view()
    )
    as_json = replace(form, as_json=True).view()
    assert_taken(as_json)
    assert read_form(sent_back(as_json), rule).draft().body() == rule.body()


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: str(record["id"]))
def test_a_real_rule_comes_back_from_its_form_by_fields_and_as_json(record: dict[str, Any]) -> None:
    rule = Rule.model_validate(record)
    view = RuleForm.of(rule, channel="C0OPS0001").view()

    for form in (read_form(sent_back(view), rule), replace(read_form(sent_back(view), rule), as_json=True)):
        shown = form.view()
        assert_taken(shown)
        assert read_form(sent_back(shown), rule).draft().body()["pairs"] == (rule.body()["pairs"] or [])
        assert rule_errors(sent_back(shown)) == {}


@pytest.mark.parametrize("record", OBJECTS.values(), ids=OBJECTS)
def test_each_input_changes_its_field_and_nothing_else(record: dict[str, Any]) -> None:
    """Every field that the table declares for the type has its input, and no other has one."""
    rule = Rule.model_validate(record)
    view = replace(RuleForm.of(rule, channel="C0OPS0001"), more=True).view()
    inputs = {block["block_id"]: block["element"] for block in view["blocks"] if block["type"] == "input"}
    first, *others = rule.body()["pairs"]
    expected: dict[str, tuple[str, View]] = {}
    for each in fields_of(rule.rule_type, first):
        text, words = another(each, text_of(each, first) or "")
        expected[f"p.o1.{each.path}"] = words, {"pairs": [with_text(each, first, text), *others]}
    assert {name for name in inputs if name.startswith("p.o1.")} == expected.keys()
    for name, words, value in (("name", "Net", "Net"), ("description", "Net", "Net"), ("status", "Off", "Inactive")):
        if name in inputs:
            expected[name] = words, {name: value}

    for name, (words, fields) in expected.items():
        typed = {name: {inputs[name]["action_id"]: filling.element_state(inputs[name], words)}}
        assert rule_errors(sent_back(view, typed)) == {}, name
        assert read_form(sent_back(view, typed), rule).draft().body() == rule.body() | fields, name


HEADS: list[dict[str, Any]] = [
    {"status": None, "description": None},
    {"status": "", "name": 5, "description": 6.5},
    {"status": "Active", "name": "a\r\nb", "description": "a\nb"},
]


@pytest.mark.parametrize("head", [{}, *HEADS])
def test_what_a_rule_has_in_the_place_of_a_text_stays_while_nobody_changes_it(head: dict[str, Any]) -> None:
    source = {"key": "Url", "operator": "Equals", "value": "https://a.example/"}
    pairs = [{"source": source, "destination": "https://b.example/"}]
    rule = Rule.model_validate({"id": "Redirect_1", "name": "x", "ruleType": "Redirect", "pairs": pairs} | head)
    view = replace(RuleForm.of(rule, channel="C0OPS0001"), more=True).view()

    several = [block["element"]["multiline"] for block in view["blocks"] if "\n" in initial_text(block)]
    assert all(several)
    status = next(block["element"]["initial_option"] for block in view["blocks"] if block.get("block_id") == "status")
    assert (status["value"] == "Active") == rule.active
    assert rule_errors(sent_back(view)) == {}
    assert read_form(sent_back(view), rule).draft().body() == rule.body()


def initial_text(block: dict[str, Any]) -> str:
    return str(block.get("element", {}).get("initial_value", ""))


@given(rules)
@settings(max_examples=12, deadline=None)
def test_a_copy_has_all_that_the_form_does_not_show(sketch: Sketch) -> None:
    rule = sketch.rule()
    view = RuleForm.copy_of(rule, channel="C0OPS0001").view()

    assert_taken(view)
    form = read_form(sent_back(view), rule)
    foreign = {name for names in PAIR_FIELDS.values() for name in names if not has_field(rule.rule_type, name)}
    pairs = [{name: value for name, value in pair.items() if name not in foreign} for pair in rule.content()["pairs"]]
    assert form.draft().content()["pairs"] == pairs


@given(rules, st.lists(st.integers(0, 9), max_size=5))
@settings(max_examples=12, deadline=None)
def test_pairs_go_and_come_and_the_others_stay(sketch: Sketch, removed: list[int]) -> None:
    rule = sketch.rule()
    view = sent_back(RuleForm.of(rule, channel="C0OPS0001").view())
    form = read_form(view, rule)
    for number in removed:
        key = form.shown[number % len(form.shown)].key if form.shown else ""
        expected = [pair for pair in form.pairs if pair.key != key] or list(form.pairs)
        form = form.without_pair(key)
        assert list(form.pairs) == expected
        assert_taken(form.view())
        form = read_form(sent_back(form.view()), rule)

    more = read_form(sent_back(form.with_pair().view()), rule)
    documents = [[pair.document() for pair in one.pairs] for one in (more, form)]
    assert documents[0][: len(form.pairs)] == documents[1]


@pytest.mark.parametrize("count", [0, 1, 11, 1_000])
def test_what_was_wrong_already_is_no_reason_to_refuse_an_edit(count: int) -> None:
    source = {"key": "Url", "operator": "Equals", "value": "a"}
    long = {"source": {**source, "value": "a" * 4_001}, "destination": "https://" + "a" * 4_001}
    good = {"source": source, "destination": "https://a.example/"}
    pairs = [good, long, *[good | {"destination": "nowhere"}] * count]
    rule = Rule.model_validate({"id": "Redirect_1", "name": "x", "ruleType": "Redirect", "pairs": pairs})
    view = RuleForm.of(rule, channel="C0OPS0001").view()

    assert rule_errors(sent_back(view)) == {}
    typed = {"p.o1.destination": {"v1.form.p.o1.destination": {"value": "nowhere"}}}
    assert rule_errors(sent_back(view, typed)).keys() == {"p.o1.destination"}


@given(
    st.builds(
        RuleForm.blank,
        type=st.one_of(st.none(), st.sampled_from(KNOWN_TYPES)),
        source=texts.map(str),
        destination=texts.map(str),
        name=texts.map(str),
        reason=texts.map(str),
        expiry=st.sampled_from(["", "2h"]),
    ),
    st.lists(st.sampled_from(KNOWN_TYPES), max_size=4),
)
@settings(max_examples=12, deadline=None)
def test_a_new_rule_of_any_type_is_never_sent_without_what_its_form_shows(form: RuleForm, types: list[str]) -> None:
    """Nothing but the form keeps what is typed for a new rule: what it has no room for is left out, not emptied."""
    view = form.view()
    assert_taken(view)
    for name in types:
        values = filling.values(view["blocks"], {})
        values["type"]["v1.form.type"]["selected_option"] = {"value": name}
        form = read_form(view | {"state": {"values": values}})
        view = form.view()
        assert_taken(view)
        assert {pair.key for pair in form.pairs} == {pair.key for pair in form.shown}


@pytest.mark.parametrize(("count", "left"), [(1, 0), (10, 0), (14, 4)])
def test_pairs_that_the_other_type_has_no_room_for_are_left_out_and_named(count: int, left: int) -> None:
    form = RuleForm.blank(type="Cancel")
    for _ in range(count - 1):
        form = read_form(sent_back(form.view())).with_pair()
    view = form.view()
    typed = {f"p.n{n}.source.value": {f"v1.form.p.n{n}.source.value": {"value": f"a{n}"}} for n in range(1, count + 1)}
    values = filling.values(view["blocks"], typed)
    values["type"]["v1.form.type"]["selected_option"] = {"value": "Redirect"}

    form = read_form(view | {"state": {"values": values}})

    assert [pair.base["source"]["value"] for pair in form.pairs] == [f"a{n}" for n in range(1, count - left + 1)]
    assert (f"Left out: {left:,} of {count:,} pairs" in form.notes.get("", "")) == (left > 0)


@pytest.mark.parametrize("rule_type", KNOWN_TYPES)
def test_what_is_written_as_json_belongs_to_its_type(rule_type: str) -> None:
    pair = {
        "source": {"key": "Url", "value": "https://a.example/", "filters": [{"pageDomains": ["b"]}]},
        "mood": "sunny",
    }
    shown = replace(RuleForm.blank(type=rule_type), as_json=True).view()
    values = filling.values(shown["blocks"], {})
    values["p.n1.json"]["v1.form.p.n1.json"]["value"] = json.dumps(pair)

    redrawn = read_form(shown | {"state": {"values": values}}).view()

    assert_taken(redrawn)
    assert "type" not in {block.get("block_id") for block in redrawn["blocks"]}
    form = read_form(sent_back(redrawn))
    assert (form.rule_type, form.draft().body()["pairs"]) == (rule_type, [pair])


@pytest.mark.parametrize("piece", ["ы", "日", "😀"])
def test_a_thousand_pairs_are_read_and_drawn_in_one_go(piece: str) -> None:
    pair = {"source": {"key": "Url", "operator": "Equals", "value": piece * 1_000}, "destination": "https://a.example/"}
    rule = Rule.model_validate({"id": "Redirect_1", "name": "x", "ruleType": "Redirect", "pairs": [pair] * 1_000})

    with limiting_steps(300 * 1_000):
        view = RuleForm.of(rule, channel="C0OPS0001").view()
        rule_errors(sent_back(view))
        form = read_form(sent_back(view), rule)
        form.without_pair("o1").view()
        form.draft()


@given(st.sampled_from([0, 1, 99, 100, 101, 300, 2_000]), texts, texts, st.sampled_from([0, 1, 100, 300]), texts)
@settings(max_examples=12, deadline=None)
def test_a_member_of_any_size_is_edited_and_keeps_all_segments(
    count: int, segment: Text, name: Text, others: int, reason: Text
) -> None:
    segments = tuple(f"{replace(segment, size=min(segment.size, 80))}{number}" for number in range(count))
    member = Member(email="anna@example.com", name=str(name), allowedSegments=segments)
    known = (*(f"other{number}" for number in range(others)), *segments)
    form = MemberForm.of(member, site="blog", known=known, channel="C0SUPPORT")

    assert_taken(form.view())
    read = member_form_view.read_form(sent_back(form.view()))
    assert sorted(read.document(member)["allowedSegments"]) == sorted(segments)
    assert read.document(member)["name"] == member.name

    said = str(reason)
    blank = MemberForm("add", site="blog", known=known, email=said, name=said, segments=segments, reason=said)
    assert_taken(blank.view())


def test_segments_are_counted_once() -> None:
    member = Member(email="anna@example.com", allowedSegments=tuple(map(str, range(3_000))))

    with limiting_steps(100 * 3_000):
        form = MemberForm.of(member, site="blog", known=member.segments, channel="C0SUPPORT")
        member_form_view.read_form(sent_back(form.view())).document(member)


@pytest.mark.parametrize("name", sorted(notes_view.REASON_FORMS))
@pytest.mark.parametrize("title", ["Drop utm_source*", "Q&A <b>", ":wave: `a`"])
def test_a_form_about_a_change_escapes_its_title_once(name: str, title: str) -> None:
    target = Target(service="rules", key="Rule_1")
    change = Change(
        id="0" * 32,
        created=datetime(2026, 11, 21, tzinfo=UTC),
        edit=Edit(kind=Kind.RULE_DELETE, target=target, before={"name": title}, after=None),
        request=ChangeRequest(requester="U0ALICE01", channel="C0OPS0001"),
    )

    view = notes_view.reason_form(name, change, change.created, channel="C0OPS0001")

    assert_taken(view)
    shown = view["blocks"][0]["text"]["text"]
    assert readable_text(shown).replace("`", "").startswith(f"*Delete “{title}”?*".replace("`", ""))
    assert find_double_escapes(view) == []


def test_one_is_not_many() -> None:
    assert [plural(count, "rule") for count in (0, 1, 2, 3_000)] == ["0 rules", "1 rule", "2 rules", "3,000 rules"]
