"""Fill in a form: the state of its inputs, as Slack's client keeps it and sends it along."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Typed = Mapping[str, Mapping[str, Any]]
"""What was typed, by block and action; an input that isn't in it still has its initial value."""


def find_input(blocks: list[dict[str, Any]], label: str) -> dict[str, Any] | None:
    """Return the block of the input with this label, ignoring case."""
    inputs = (block for block in blocks if block["type"] == "input")
    return next((dict(block) for block in inputs if block["label"]["text"].casefold() == label.casefold()), None)


def labels(blocks: list[dict[str, Any]]) -> dict[str, str]:
    """The labels of all inputs, by the ids of their blocks."""
    return {block["block_id"]: block["label"]["text"] for block in blocks if block["type"] == "input"}


def values(blocks: list[dict[str, Any]], typed: Typed) -> dict[str, Any]:
    """Return the state of a form: what was *typed*, else the initial values."""
    found: dict[str, Any] = {}
    for block in blocks:
        if block["type"] == "input":
            action_id = block["element"]["action_id"]
            kept = typed.get(block["block_id"], {}).get(action_id)
            found[block["block_id"]] = {action_id: kept or _initial_state(block["element"])}
    return found


def element_state(element: Mapping[str, Any], value: str | list[str]) -> dict[str, Any]:
    """Return the state of *element* with *value* as its text, or with the options of that label."""
    state: dict[str, Any] = {"type": element["type"]}
    if isinstance(value, list):
        return state | {"selected_options": [find_option(element, one) for one in value]}
    if element["type"] == "conversations_select":
        return state | {"selected_conversation": value}
    if _options(element):
        return state | {"selected_option": find_option(element, value)}
    return state | {"value": value or None}


def find_option(element: Mapping[str, Any], label: str) -> dict[str, Any]:
    """Return the option called *label*; raises AssertionError where there is none."""
    for one in _options(element):
        if one["text"]["text"] == label:
            return dict(one)
    raise AssertionError(f"no option {label!r}")


def _options(element: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The options of a menu, also of one in groups."""
    groups = element.get("option_groups", [])
    return [*element.get("options", []), *(one for group in groups for one in group["options"])]


def _initial_state(element: Mapping[str, Any]) -> dict[str, Any]:
    state: dict[str, Any] = {"type": element["type"]}
    if element["type"].startswith("multi_"):
        return state | {"selected_options": element.get("initial_options", [])}
    if element["type"] == "file_input":
        return state | {"files": []}
    if _options(element) or element["type"] == "external_select":
        return state | {"selected_option": element.get("initial_option")}
    return state | {"value": element.get("initial_value")}
