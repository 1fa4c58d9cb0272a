"""The judge of payloads: every limit at its edge, every required property, every unknown one; generated from the tables."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from sandbox.slack.validation import Problem, check_message, check_response_action, check_view
from sandbox.slack.validation.kinds import Anything, Bool, Elem, Enum, Int, Kind, Many, Obj, Shape, Str, Text
from sandbox.slack.validation.shapes import BLOCKS, ELEMENTS, IN_INPUT, IN_SECTION, OBJECTS, VIEWS

Payload = dict[str, Any]


def example(kind: Kind, length: int | None = None) -> Any:
    """A valid value of *kind*, of *length* where that means something."""
    match kind:
        case Str():
            return "x" * (length if length is not None else max(kind.low, 1))
        case Text():
            return {"type": "plain_text", "text": "x" * (length or 1)}
        case Bool():
            return True
        case Int():
            return kind.low
        case Enum():
            return kind.values[0]
        case Obj():
            return filled(OBJECTS[kind.name])
        case Elem():
            return element(kind.types[0])
        case Many():
            return [example(kind.item) for _ in range(length if length is not None else max(kind.low, 1))]
        case Anything():
            return {"any": 1}


def filled(shape: Shape) -> Payload:
    return {name: example(kind) for name, kind in shape.must.items()}


def element(name: str) -> Payload:
    made = {"type": name, **filled(ELEMENTS[name])}
    if name.endswith("static_select"):
        made["options"] = [filled(OBJECTS["option"])]
    if name == "image":
        made["image_url"] = "https://a.example/x.png"
    return made


def block(name: str) -> Payload:
    made = {"type": name, **filled(BLOCKS[name])}
    if name == "section":
        made["text"] = {"type": "mrkdwn", "text": "x"}
    if name == "image":
        made["image_url"] = "https://a.example/x.png"
    if name == "input":
        made["element"] = element("plain_text_input")
    return made


def judged(made: Payload) -> list[Problem]:
    surface = BLOCKS[made["type"]].surfaces[0]
    if surface == "message":
        return check_message({"blocks": [made]})
    return check_view(
        {
            "type": "modal",
            "title": {"type": "plain_text", "text": "t"},
            "submit": {"type": "plain_text", "text": "s"},
            "blocks": [made],
        }
    )


def holder(name: str) -> tuple[Payload, Payload]:
    """A block with the element *name* in it, and that element."""
    made = element(name)
    if name in {"mrkdwn", "plain_text"}:
        return {"type": "context", "elements": [made]}, made
    if name in IN_SECTION:
        return {"type": "section", "text": {"type": "mrkdwn", "text": "x"}, "accessory": made}, made
    assert name in IN_INPUT, name
    if name == "file_input":
        pytest.skip("modals only")
    return {"type": "input", "label": {"type": "plain_text", "text": "l"}, "element": made}, made


def limits(shape: Shape) -> Iterator[tuple[str, Kind, int]]:
    for name, kind in {**shape.must, **shape.may}.items():
        if isinstance(kind, Str | Text | Many) and kind.high is not None and kind.high <= 12_000:
            yield name, kind, kind.high


BLOCK_LIMITS = [
    (block_name, name, kind, high) for block_name, shape in BLOCKS.items() for name, kind, high in limits(shape)
]
ELEMENT_LIMITS = [
    (one, name, kind, high)
    for one, shape in ELEMENTS.items()
    for name, kind, high in limits(shape)
    if one != "file_input"
]
UNIQUE = {
    "initial_option",
    "initial_options",
    "options",
    "option_groups",
    "elements",
    "rows",
    "filetypes",
    "trigger_actions_on",
    "include",
}


@pytest.mark.parametrize("name", BLOCKS)
def test_a_block_as_it_should_be_passes(name: str) -> None:
    assert judged(block(name)) == []


@pytest.mark.parametrize(("name", "field", "kind", "high"), BLOCK_LIMITS, ids=lambda value: str(value)[:30])
def test_each_limit_of_a_block_holds_to_the_character(name: str, field: str, kind: Kind, high: int) -> None:
    made = block(name)
    if field not in UNIQUE:
        made[field] = example(kind, high)
        assert judged(made) == []
    made[field] = example(kind, high + 1)
    assert any(f"/{field}" in problem.pointer for problem in judged(made))


@pytest.mark.parametrize(("name", "field", "kind", "high"), ELEMENT_LIMITS, ids=lambda value: str(value)[:30])
def test_each_limit_of_an_element_holds_to_the_character(name: str, field: str, kind: Kind, high: int) -> None:
    made, inner = holder(name)
    if field not in UNIQUE and field not in {"initial_date", "initial_time"}:
        inner[field] = example(kind, high)
        assert judged(made) == []
    inner[field] = example(kind, high + 1)
    assert any(f"/{field}" in problem.pointer for problem in judged(made))


@pytest.mark.parametrize("name", BLOCKS)
def test_a_block_without_what_it_must_have_is_refused(name: str) -> None:
    for field in BLOCKS[name].must:
        made = block(name)
        del made[field]
        assert Problem(_at(name), f"missing required field: {field}") in judged(made)


@pytest.mark.parametrize("name", [name for name in ELEMENTS if name != "file_input"])
def test_an_element_without_what_it_must_have_is_refused(name: str) -> None:
    for field in ELEMENTS[name].must:
        made, inner = holder(name)
        del inner[field]
        assert any(problem.text == f"missing required field: {field}" for problem in judged(made))


@pytest.mark.parametrize("name", [*BLOCKS, *(name for name in ELEMENTS if name != "file_input")])
def test_what_slack_does_not_know_is_refused(name: str) -> None:
    made, inner = (block(name),) * 2 if name in BLOCKS and name != "image" else holder(name)
    inner["sparkle"] = True
    assert any(problem.text == "invalid additional property: sparkle" for problem in judged(made))


def _at(name: str) -> str:
    return "/blocks/0" if BLOCKS[name].surfaces[0] == "message" else "/view/blocks/0"


def test_blocks_stay_on_their_surfaces() -> None:
    for name, shape in BLOCKS.items():
        for surface in ("modal", "home"):
            view = {"type": surface, "blocks": [block(name)]} | (
                {} if surface == "home" else {k: {"type": "plain_text", "text": "t"} for k in ("title", "submit")}
            )
            refused = any(problem.text == f"unsupported type: {name}" for problem in check_view(view))
            assert refused == (surface not in shape.surfaces), (name, surface)


def test_a_modal_with_inputs_needs_a_submit_button() -> None:
    view = {"type": "modal", "title": {"type": "plain_text", "text": "t"}, "blocks": [block("input")]}
    assert Problem("/view/blocks/0/input", "must define `submit` to use an `input` block in modals") in check_view(view)


@pytest.mark.parametrize(("field", "high"), [("title", 24), ("submit", 24), ("close", 24)])
def test_titles_of_modals_are_short(field: str, high: int) -> None:
    for length, fine in ((high, True), (high + 1, False)):
        view = {"type": "modal", "title": {"type": "plain_text", "text": "t"}, "blocks": []} | {
            field: {"type": "plain_text", "text": "x" * length}
        }
        wanted = [] if fine else [Problem(f"/view/{field}/text", f"must be less than {high + 1} characters")]
        assert check_view(view) == wanted


def test_ids_are_unique_and_choices_are_among_the_options() -> None:
    twice = [{"type": "actions", "elements": [element("button"), element("button")]}]
    assert any("already exists" in problem.text for problem in check_message({"blocks": twice}))
    made, inner = holder("static_select")
    inner["initial_option"] = {"text": {"type": "plain_text", "text": "other"}, "value": "other"}
    assert any("exactly match" in problem.text for problem in judged(made))


def test_too_many_blocks_are_refused() -> None:
    assert check_message({"blocks": [{"type": "divider"}] * 50}) == []
    assert check_message({"blocks": [{"type": "divider"}] * 51}) == [
        Problem("/blocks", "no more than 50 items allowed")
    ]


def test_errors_of_a_submission_name_inputs() -> None:
    view = {"blocks": [block("input") | {"block_id": "here"}]}
    assert check_response_action({"response_action": "errors", "errors": {"here": "x"}}, view) == []
    assert check_response_action({"response_action": "errors", "errors": {"there": "x"}}, view)
    assert check_response_action({"response_action": "dance"}, view)


def test_the_tables_are_covered(capsys: pytest.CaptureFixture[str]) -> None:
    count = len(BLOCK_LIMITS) + len(ELEMENT_LIMITS)
    with capsys.disabled():
        print(f"\n{count} limits of blocks and elements held at both edges; {len(VIEWS)} kinds of views")
    assert count > 60
