"""Checks across several properties, as small rules that the shapes name.

A rule only gets what is well formed, so it checks nothing else.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from sandbox.slack.validation.kinds import Found, Rule
from sandbox.slack.validation.limits import LIMITS

Refusals = Iterator[tuple[str, str]]

NO_SUBMIT: Final = "must define `submit` to use an `input` block in modals"
VIEW_TOO_LARGE: Final = "view_too_large"


def too_long_text(most: int) -> str:
    return f"must be less than {most + 1} characters"


def any_of(*names: str) -> Rule:
    """At least one of the properties."""

    def rule(found: Found) -> Refusals:
        if not set(names) & set(found):
            yield "", f"must define either {' or '.join(f'`{name}`' for name in names)}"

    return rule


def one_of(*names: str) -> Rule:
    """Exactly one of the properties."""

    def rule(found: Found) -> Refusals:
        there = [name for name in names if name in found]
        if not there:
            yield "", f"must define either {' or '.join(f'`{name}`' for name in names)}"
        for name in there[1:]:
            yield "", f"invalid additional property: {name}"

    return rule


def in_order(least: str, most: str) -> Rule:
    """Require that *least* is not greater than *most*; numbers may be written as strings."""

    def rule(found: Found) -> Refusals:
        if least in found and most in found and float(found[least]) > float(found[most]):
            yield f"/{least}", f"{least} must not be more than {most}"

    return rule


def check_initial_options(found: Found) -> Refusals:
    """Check that the initial options are among the options, exactly."""
    groups = found.get("option_groups", ())
    options = [*found.get("options", ()), *(one for group in groups for one in group["options"])]
    if "initial_option" in found and found["initial_option"] not in options:
        yield "/initial_option", "initial_option must exactly match one of the options"
    if any(one not in options for one in found.get("initial_options", ())):
        yield "/initial_options", "initial_options must exactly match one of the options"


def parts(value: Any) -> Iterator[Found]:
    """Yield *value* and everything in it that has properties."""
    if isinstance(value, Mapping):
        yield value
    inner = value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ()
    for one in inner:
        yield from parts(one)


def check_ids(found: Found) -> Refusals:
    """Check that a block_id is unique in a message or view, an action_id in its block."""
    blocks: set[str] = set()
    for number, block in enumerate(found.get("blocks", ())):
        pointer = f"/blocks/{number}"
        yield from _check_unique(block, "block_id", blocks, pointer)
        actions: set[str] = set()
        for part in parts(list(block.values())):
            yield from _check_unique(part, "action_id", actions, pointer)


def _check_unique(part: Found, name: str, seen: set[str], pointer: str) -> Refusals:
    if part.get(name) in seen:
        yield pointer, f"`{name}` {part[name]} already exists"
    if name in part:
        seen.add(part[name])


def check_focus(found: Found) -> Refusals:
    """Check that at most one element has the focus on load."""
    focused = sum(part.get("focus_on_load", False) for part in parts(found.get("blocks", [])))
    if focused > (LIMITS["view.focused"].high or 0):
        yield "/blocks", "only one element may have focus_on_load"


def check_submit(found: Found) -> Refusals:
    """Check that a modal with inputs has a submit button."""
    for number, block in enumerate(found["blocks"]):
        if block["type"] == "input" and "submit" not in found:
            yield f"/blocks/{number}/input", NO_SUBMIT


def check_view_size(found: Found) -> Refusals:
    if len(json.dumps(found, ensure_ascii=False)) > (LIMITS["view.characters"].high or 0):
        yield "", VIEW_TOO_LARGE
