"""The interactive parts of blocks: buttons, menus, inputs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any


def elements_of(block: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The interactive parts of a block."""
    for one in (block.get("accessory"), block.get("element"), *(block.get("elements") or ())):
        if isinstance(one, dict) and "action_id" in one:
            yield one


def find_element(blocks: list[dict[str, Any]], block_id: str, action_id: str) -> dict[str, Any] | None:
    for block in blocks:
        if block.get("block_id") == block_id:
            return next((one for one in elements_of(block) if one["action_id"] == action_id), None)
    return None
