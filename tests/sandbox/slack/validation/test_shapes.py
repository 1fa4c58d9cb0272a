"""Every block, element and object: what must be there, what nobody knows, what is no such thing, and where it may stand."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import pytest

from sandbox.slack.validation import Problem, check_message, check_view
from sandbox.slack.validation.blocks import BLOCKS, SURFACES
from sandbox.slack.validation.kinds import Bool, Kind, Many, Str
from tests.sandbox.slack.validation.examples import SENDABLE, TABLES, Key, made, place

pytestmark = pytest.mark.slow

MATRIX: Final = {
    "message": "actions context divider header input section",
    "modal": "actions context divider header input section alert",
    "home": "actions context divider header input section",
}
"""Which blocks each surface takes."""
LISTS: Final = ("blocks",)
"""A message without them, or with null, is fine; what else they may be has a test of its own."""
WRONG: Final[tuple[Any, ...]] = ("no such value", 0.5, True, ["x"], {"x": 1}, None)


@pytest.mark.parametrize("key", SENDABLE, ids=str)
def test_the_least_that_is_needed_passes(key: Key) -> None:
    assert place(key).problems() == []


@pytest.mark.parametrize("key", [key for key in SENDABLE if key.shape.must], ids=str)
def test_without_what_it_must_have_it_is_refused(key: Key) -> None:
    for name in key.shape.must:
        there = place(key)
        del there.thing[name]
        assert Problem(there.pointer, f"missing required field: {name}") in there.problems(), name


@pytest.mark.parametrize("key", [key for key in SENDABLE if key.name != "message"], ids=str)
def test_what_slack_does_not_know_is_refused(key: Key) -> None:
    there = place(key)
    there.thing["sparkle"] = True
    assert there.problems() == [Problem(there.pointer, "invalid additional property: sparkle")]


@pytest.mark.parametrize("key", [key for key in SENDABLE if key.table in {"block", "element"}], ids=str)
def test_a_thing_says_of_which_type_it_is(key: Key) -> None:
    there = place(key)
    there.thing["type"] = "sparkle"
    assert there.problems() == [Problem(f"{there.pointer}/type", "unsupported type: sparkle")]
    del there.thing["type"]
    assert there.problems() == [Problem(there.pointer, "missing required field: type")]


def _properties() -> Iterator[tuple[Key, str, Kind]]:
    for key in SENDABLE:
        for name, kind in {**key.shape.must, **key.shape.may}.items():
            yield key, name, kind


def _fits(value: Any, kind: Kind) -> bool:
    """Whether *value* is of the JSON type that *kind* asks for, and may be right."""
    match kind:
        case Str():
            return isinstance(value, str)
        case Bool():
            return isinstance(value, bool)
        case Many():
            return isinstance(value, list)
        case _:
            return False


@pytest.mark.parametrize(
    ("key", "name", "kind"),
    [
        pytest.param(*one, id=f"{one[0]} {one[1]}")
        for one in _properties()
        if one[0].table != "surface" or one[1] not in LISTS
    ],
)
def test_a_value_of_another_kind_is_refused_where_it_stands(key: Key, name: str, kind: Kind) -> None:
    for value in WRONG:
        if not _fits(value, kind):
            there = place(key)
            there.thing[name] = value
            at = f"{there.pointer}/{name}"
            assert any(one.pointer in {at, f"{at}/type"} for one in there.problems()), value


@pytest.mark.parametrize("surface", SURFACES)
@pytest.mark.parametrize("name", [*BLOCKS, "sparkle"])
def test_blocks_stay_on_their_surfaces(name: str, surface: str) -> None:
    block = made(Key("block", name)) if name in BLOCKS else {"type": name}
    payload = made(Key("surface", surface)) | {"blocks": [block]}
    problems = check_message(payload) if surface == "message" else check_view(payload)
    at = "/blocks/0/type" if surface == "message" else "/view/blocks/0/type"
    expected = [] if name in MATRIX[surface].split() else [Problem(at, f"unsupported type: {name}")]
    assert problems == expected


FILE_INPUT: Final = Key("element", "file_input")


def test_files_are_asked_for_in_modals_only() -> None:
    asking = {"type": "input", "label": {"type": "plain_text", "text": "x"}, "element": made(FILE_INPUT)}
    assert place(FILE_INPUT).surface == "modal"
    assert check_message({"blocks": [asking]}) == [Problem("/blocks/0/element/type", "unsupported type: file_input")]


def test_every_shape_can_be_sent() -> None:
    known = {Key(table, name) for table, shapes in TABLES.items() for name in shapes}
    assert known == set(SENDABLE)


@pytest.mark.parametrize("name", LISTS)
def test_lists_are_lists_of_objects(name: str) -> None:
    assert check_message({name: "x"}) == [Problem(f"/{name}", "must provide an array")]
    assert check_message({name: ["x"]}) == [Problem(f"/{name}/0", "must provide an object")]
    assert check_message({name: None}) == []


def test_a_view_is_an_object_of_a_known_type() -> None:
    assert check_view("x") == [Problem("/view", "must provide an object")]
    assert check_view({"type": ["modal"]}) == [Problem("/view/type", "unsupported type: ['modal']")]
    assert check_view({"type": "home", "blocks": "x"}) == [Problem("/view/blocks", "must provide an array")]
