"""The interactive parts of blocks: buttons, menus, inputs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from sandbox.slack.validation import INTERACTIVE

HOLDERS: Final = ("accessory", "element", "elements")
"""The properties of a block that hold interactive elements."""


def elements_of(block: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the interactive elements of a block."""
    for one in (block.get("accessory"), block.get("element"), *(block.get("elements") or ())):
        if isinstance(one, dict) and "action_id" in one:
            yield one


def find_element(blocks: list[dict[str, Any]], block_id: str, action_id: str) -> dict[str, Any] | None:
    for block in blocks:
        if block.get("block_id") == block_id:
            return next((one for one in elements_of(block) if one["action_id"] == action_id), None)
    return None


def with_ids(block: Mapping[str, Any], new: Callable[[], str]) -> dict[str, Any]:
    """Return *block* with a block_id, and an action_id for each interactive element, where there was none; *new* makes them."""
    given = {} if "block_id" in block else {"block_id": new()}
    return {**block, **given, **{name: _with_action_ids(block[name], new) for name in HOLDERS if name in block}}


def _with_action_ids(part: Any, new: Callable[[], str]) -> Any:
    if isinstance(part, list):
        return [_with_action_ids(one, new) for one in part]
    if part.get("type") in INTERACTIVE:
        return part if "action_id" in part else {**part, "action_id": new()}
    return {**part, "element": _with_action_ids(part["element"], new)} if part.get("type") == "action" else part
