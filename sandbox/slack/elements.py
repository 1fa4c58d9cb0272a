"""The interactive parts of blocks: where they stand, and what each is called."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from sandbox.slack.ids import Ids
from sandbox.slack.records import Block

PASSIVE: Final = frozenset({"image", "plain_text", "mrkdwn", "rich_text_section", "rich_text_list"})
HOLDERS: Final = frozenset({"actions", "context_actions"})


def parts_of(block: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The interactive elements of a block."""
    several = block.get("elements") if block.get("type") in HOLDERS else None
    for one in (block.get("accessory"), block.get("element"), *(several or ())):
        if isinstance(one, dict) and one.get("type") not in PASSIVE:
            yield one


def elements_of(blocks: Iterable[Block]) -> Iterator[tuple[Block, dict[str, Any]]]:
    """All interactive elements, each with its block."""
    for block in blocks:
        for one in parts_of(block):
            yield block, one


def find_element(blocks: Iterable[Block], block_id: str, action_id: str) -> dict[str, Any] | None:
    """The element of that name, if it is there."""
    for block, one in elements_of(blocks):
        if block.get("block_id") == block_id and one.get("action_id") == action_id:
            return one
    return None


def with_ids(blocks: Iterable[Block], ids: Ids) -> list[Block]:
    """Blocks with a block_id each, and elements with an action_id each, as Slack gives them."""
    return [_with_ids(block, ids) for block in blocks]


def _with_ids(block: Block, ids: Ids) -> Block:
    kept = {**block} if block.get("block_id") else {**block, "block_id": f"b{ids.number():05x}"}
    for name in ("accessory", "element"):
        if isinstance(kept.get(name), dict):
            kept[name] = _named(kept[name], ids)
    if kept.get("type") in HOLDERS:
        kept["elements"] = [_named(one, ids) for one in kept["elements"]]
    return kept


def _named(element: dict[str, Any], ids: Ids) -> dict[str, Any]:
    if element.get("type") in PASSIVE or element.get("action_id"):
        return element
    return {**element, "action_id": f"a{ids.number():05x}"}
