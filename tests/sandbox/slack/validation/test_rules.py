"""What spans several properties: one of two, choices among options, ids of their own."""

from __future__ import annotations

from typing import Any, Final

import pytest

from sandbox.slack.validation import (
    Problem,
    check_message,
    check_options,
    check_response_action,
    check_view,
)
from tests.sandbox.slack.validation.examples import Key, Payload, made, place

TITLE: Final = {"type": "plain_text", "text": "x"}


def said(key: Key, **changes: Any) -> list[Problem]:
    """What is said of a thing with these properties; those that are None are taken away. Pointers begin at the thing."""
    there = place(key)
    there.thing.update(changes)
    for name in [name for name, value in changes.items() if value is None]:
        del there.thing[name]
    return [Problem(one.pointer.removeprefix(there.pointer), one.text) for one in there.problems()]


def option(value: str) -> Payload:
    return {"text": TITLE, "value": value}


def test_two_of_which_one_is_meant_are_refused() -> None:
    groups = [{"label": TITLE, "options": [option("x")]}]
    assert said(Key("element", "static_select"), option_groups=groups) == [
        Problem("", "invalid additional property: option_groups")
    ]


MISSING: Final = [
    (Key("block", "section"), "text", "must define either `text` or `fields`"),
    (Key("element", "static_select"), "options", "must define either `options` or `option_groups`"),
    (Key("element", "multi_static_select"), "options", "must define either `options` or `option_groups`"),
    (
        Key("object", "conversation_filter"),
        "exclude_bot_users",
        "must define either `include` or `exclude_external_shared_channels` or `exclude_bot_users`",
    ),
]


@pytest.mark.parametrize(("key", "name", "words"), MISSING, ids=str)
def test_none_of_several_is_refused(key: Key, name: str, words: str) -> None:
    assert said(key, **{name: None}) == [Problem("", words)]


CHOICES: Final = [
    ("static_select", False),
    ("radio_buttons", False),
    ("multi_static_select", True),
]


@pytest.mark.parametrize(("name", "several"), CHOICES)
def test_what_is_chosen_at_first_is_among_the_options_to_the_letter(name: str, several: bool) -> None:
    field = "initial_options" if several else "initial_option"
    for value, right in (("a", True), ("b", True), ("c", False)):
        chosen = [option(value)] if several else option(value)
        expected = [] if right else [Problem(f"/{field}", f"{field} must exactly match one of the options")]
        assert said(Key("element", name), options=[option("a"), option("b")], **{field: chosen}) == expected


def test_what_is_chosen_may_be_in_a_group() -> None:
    groups = [{"label": TITLE, "options": [option("a")]}, {"label": TITLE, "options": [option("b")]}]
    select = Key("element", "static_select")
    assert said(select, options=None, option_groups=groups, initial_option=option("b")) == []
    assert len(said(select, options=None, option_groups=groups, initial_option=option("c"))) == 1


def test_markup_and_addresses_are_for_the_menus_that_show_them() -> None:
    marked = {"text": {"type": "mrkdwn", "text": "x"}, "value": "x"}
    assert said(Key("element", "radio_buttons"), options=[marked]) == []
    assert said(Key("element", "static_select"), options=[marked]) == [
        Problem("/options/0/text/type", "unsupported type: mrkdwn")
    ]
    linked = option("x") | {"url": "https://shop.example.com"}
    assert said(Key("element", "overflow"), options=[linked]) == []
    assert said(Key("element", "static_select"), options=[linked]) == [
        Problem("/options/0", "invalid additional property: url")
    ]


def test_a_least_is_not_above_the_most() -> None:
    key = Key("element", "plain_text_input")
    assert said(key, min_length=4, max_length=5) == []
    assert said(key, min_length=5, max_length=5) == []
    assert said(key, min_length=5, max_length=4) == [
        Problem("/min_length", "min_length must not be more than max_length")
    ]


def holding(block_id: str, *action_ids: str) -> Payload:
    buttons = [made(Key("element", "button")) | {"action_id": one} for one in action_ids]
    return {"type": "actions", "block_id": block_id, "elements": buttons}


def test_blocks_have_ids_of_their_own() -> None:
    assert check_message({"blocks": [holding("a", "1"), holding("b", "2")]}) == []
    assert check_message({"blocks": [holding("a", "1"), holding("a", "2")]}) == [
        Problem("/blocks/1", "`block_id` a already exists")
    ]


def test_actions_have_ids_of_their_own_in_their_block_alone() -> None:
    assert check_message({"blocks": [holding("a", "1"), holding("b", "1")]}) == []
    assert check_message({"blocks": [holding("a", "1"), holding("b", "1", "1")]}) == [
        Problem("/blocks/1", "`action_id` 1 already exists")
    ]


def test_what_is_acted_with_needs_no_id() -> None:
    button = {"type": "button", "text": {"type": "plain_text", "text": "Go"}}
    assert check_message({"blocks": [{"type": "actions", "elements": [button, button]}]}) == []


SURFACES: Final[dict[str, Payload]] = {
    "message": {},
    "modal": {"type": "modal", "title": TITLE, "submit": TITLE},
    "home": {"type": "home"},
}


@pytest.mark.parametrize("surface", SURFACES)
def test_every_surface_has_ids_of_their_own_and_one_focus(surface: str) -> None:
    def judged(*blocks: Payload) -> list[str]:
        payload = SURFACES[surface] | {"blocks": list(blocks)}
        return [one.text for one in (check_view(payload) if "type" in payload else check_message(payload))]

    def focused(action_id: str) -> Payload:
        element = {"type": "plain_text_input", "action_id": action_id, "focus_on_load": True}
        return {"type": "input", "label": TITLE, "element": element}

    assert judged(focused("a")) == []
    assert judged(focused("a"), focused("b")) == ["only one element may have focus_on_load"]
    assert judged(*[{"type": "divider", "block_id": "a"}] * 2) == ["`block_id` a already exists"]


@pytest.mark.parametrize("surface", ["modal", "home"])
def test_a_view_has_a_size(surface: str) -> None:
    line = {"type": "section", "text": {"type": "mrkdwn", "text": "x" * 3000}}
    assert check_view(SURFACES[surface] | {"blocks": [line] * 80}) == []
    assert check_view(SURFACES[surface] | {"blocks": [line] * 90}) == [Problem("/view", "view_too_large")]


def test_a_modal_that_asks_has_a_button_that_answers() -> None:
    asking = made(Key("block", "input"))
    view = {"type": "modal", "title": TITLE, "blocks": [{"type": "divider"}, asking]}
    assert check_view(view | {"submit": TITLE}) == []
    words = "must define `submit` to use an `input` block in modals"
    assert check_view(view) == [Problem("/view/blocks/1/input", words)]
    assert check_view({"type": "home", "blocks": [asking]}) == []


@pytest.mark.parametrize("name", ["title", "submit", "close"])
def test_a_home_tab_has_no_frame(name: str) -> None:
    assert check_view({"type": "home", "blocks": [], name: TITLE}) == [
        Problem("/view", f"invalid additional property: {name}")
    ]


def test_suggestions_are_options_or_groups() -> None:
    assert check_options({"options": []}) == []
    assert check_options({"option_groups": [{"label": TITLE, "options": [option("x")]}]}) == []
    assert check_options({}) == [Problem("", "missing required field: options")]
    assert check_options({"options": [option("")]}) == [Problem("/options/0/value", "must be more than 0 characters")]


def test_errors_of_a_submission_name_inputs() -> None:
    view = {"blocks": [made(Key("block", "input")) | {"block_id": "here"}]}
    assert check_response_action({"response_action": "clear"}, view) == []
    assert check_response_action({"response_action": "errors", "errors": {"here": "x"}}, view) == []
    assert check_response_action({"response_action": "errors", "errors": {"there": "x"}}, view) == [
        Problem("/errors/there", "is not the block_id of an input block of this view")
    ]
    assert check_response_action({"response_action": "errors", "errors": {}}, view) == [
        Problem("/errors", "must provide at least 1 items")
    ]
    assert check_response_action({"response_action": "dance"}, view) == [
        Problem("/response_action", "unsupported type: dance")
    ]
    assert check_response_action({"response_action": "push", "view": {"type": "home", "blocks": []}}, view) == []
