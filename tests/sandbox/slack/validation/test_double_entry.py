"""The tables a second time, from elsewhere: Slack's own SDK, and numbers copied by hand from its documentation.

The other tests take numbers and names from our tables; a slip of the pen there is found here.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import pytest
import slack_sdk.models.blocks as sdk

from sandbox.slack.validation.blocks import BLOCKS
from sandbox.slack.validation.kinds import Int, Many, Shape, Str, Text
from sandbox.slack.validation.limits import LIMITS
from sandbox.slack.validation.shapes import ELEMENTS, OBJECTS
from tests.sandbox.slack.validation.examples import TABLES


def _sdk_limits() -> Iterator[tuple[str, str, int]]:
    """Every most that Slack's own SDK checks: type, property, number."""
    for kind in vars(sdk).values():
        for name in dir(kind) if isinstance(kind, type) and getattr(kind, "type", None) else ():
            if name.endswith("_max_length") and isinstance(most := getattr(kind, name), int):
                yield str(kind.type), name.removesuffix("_max_length"), most


NOT_OURS: Final = {("radio_buttons", "placeholder")}
"""Inherited by the SDK's class; Slack's documentation has no such property."""
KNOWN: Final = {*BLOCKS, *ELEMENTS, *OBJECTS}
"""Of the SDK's types, those that Gatehouse may send."""
OWN: Final = [
    *[one for one in _sdk_limits() if one[0] in KNOWN and one[:2] not in NOT_OURS],
    *[("option", "text", sdk.Option.label_max_length), ("option", "value", sdk.Option.value_max_length)],
    *[("option_group", "label", sdk.OptionGroup.label_max_length)],
    *[("option_group", "options", sdk.OptionGroup.options_max_length)],
    *[("confirm", name, getattr(sdk.ConfirmObject, f"{name}_max_length")) for name in ("title", "text")],
    *[("confirm", name, getattr(sdk.ConfirmObject, f"{name}_max_length")) for name in ("confirm", "deny")],
]


@pytest.mark.parametrize(("kind", "name", "most"), sorted(set(OWN)))
def test_the_numbers_are_those_of_slacks_own_sdk(kind: str, name: str, most: int) -> None:
    found = [shapes[kind].kind(name) for table, shapes in TABLES.items() if table != "surface" and kind in shapes]
    limits = [LIMITS[one.limit].high for one in found if isinstance(one, Str | Text | Many | Int)]
    assert set(limits) == {most}


NUMBERS: Final = {
    "message.blocks": (0, 50),
    "message.characters": (0, 13_200),
    "modal.blocks": (0, 100),
    "home.blocks": (0, 100),
    "block_id": (1, 255),
    "view.title": (1, 24),
    "view.submit": (1, 24),
    "view.close": (1, 24),
    "view.private_metadata": (0, 3000),
    "view.callback_id": (0, 255),
    "view.external_id": (0, 255),
    "view.characters": (0, 250_000),
    "view.focused": (0, 1),
    "text": (1, 3000),
    "option.description": (1, 75),
    "option.url": (1, 3000),
    "section.field": (1, 2000),
    "button.accessibility_label": (1, 75),
    "radio_buttons.options": (1, 10),
    "overflow.options": (1, 5),
    "select.options": (1, 100),
    "select.option_groups": (1, 100),
    "select.min_query_length": (0, None),
    "suggestions": (0, 100),
    "plain_text_input.min_length": (0, 3000),
    "plain_text_input.max_length": (1, 3000),
    "file_input.max_files": (1, 10),
    "alert.text": (1, 200),
}
"""What the documentation says and the SDK does not check: at least, at most."""


@pytest.mark.parametrize("name", NUMBERS)
def test_the_numbers_are_those_of_the_documentation(name: str) -> None:
    assert (LIMITS[name].low, LIMITS[name].high) == NUMBERS[name]


UNLIKE: Final[dict[str, tuple[set[str], set[str]]]] = {
    "mrkdwn": ({"emoji"}, set()),
    "header": (set(), {"level"}),
    **{name: ({"alt_text"}, set()) for name in ("button", "overflow")},
    "radio_buttons": ({"placeholder"}, set()),
    "plain_text_input": ({"confirm"}, set()),
}
"""Where the SDK has a property by inheritance alone, or is behind the documentation: only there, only here."""


def _sdk_kinds() -> Iterator[tuple[str, Shape, set[str]]]:
    """Every other type of the SDK with our shape of it, and the properties that the SDK writes."""
    for kind in vars(sdk).values():
        if isinstance(kind, type) and isinstance(name := getattr(kind, "type", None), str) and name in KNOWN:
            shapes = BLOCKS if issubclass(kind, sdk.Block) else ELEMENTS
            yield name, shapes[name], set(object.__new__(kind).attributes)


@pytest.mark.parametrize(("name", "shape", "properties"), [pytest.param(*one, id=one[0]) for one in _sdk_kinds()])
def test_the_properties_are_those_of_slacks_own_sdk(name: str, shape: Shape, properties: set[str]) -> None:
    ours = {"type", *shape.must, *shape.may}
    assert (properties - ours, ours - properties) == UNLIKE.get(name, (set(), set()))


REQUIRED: Final = {
    "block": {
        "header": "text",
        "context": "elements",
        "actions": "elements",
        "input": "label element",
        "alert": "text",
    },
    "element": {
        "button": "text",
        "overflow": "options",
        "radio_buttons": "options",
        **dict.fromkeys(("plain_text", "mrkdwn"), "text"),
    },
    "object": {
        **dict.fromkeys(("option", "boxed_option", "overflow_option"), "text value"),
        "option_group": "label options",
        "confirm": "title text confirm deny",
        "dispatch_action_config": "trigger_actions_on",
    },
    "surface": {"modal": "title blocks", "home": "blocks"},
}
"""What must be there; what is not named asks for nothing, and no element for an action_id."""


@pytest.mark.parametrize("table", TABLES)
def test_what_must_be_there_is_what_the_documentation_says(table: str) -> None:
    for name, shape in TABLES[table].items():
        assert set(shape.must) == set(REQUIRED[table].get(name, "").split()), name
