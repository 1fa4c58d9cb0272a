"""Leave out the buttons of a private answer that the caller may not use."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from functools import lru_cache
from typing import Final

from bot.policy.access import Access
from bot.policy.inquiry import DirectoryUnavailable
from bot.policy.model import Why
from handlers.blocks import tables
from handlers.blocks.messages import Block, Message
from handlers.grammar.command import Unclear
from handlers.grammar.parser import parse
from handlers.slack.registry import RUNNING, action_name
from handlers.slack.reply import Caller

SHARE: Final = "share"
"""What a button does that answers for a whole channel to see, and what it is called where it isn't allowed."""


async def without_refused_buttons(message: Message, caller: Caller, access: Access) -> Message:
    """Return *message* without buttons of commands that the caller may not use here; what Slack doesn't say, a click will."""
    needed = {name for block in message.blocks for button in _buttons(block) for name in _operations(button)}
    refused: frozenset[str] = frozenset()
    if needed - {SHARE}:
        answers = await access.refusals_by_operation(caller.user, caller.channel)
        refused |= {operation for operation, why in answers.items() if why not in {None, Why.CANT_TELL}}
    if SHARE in needed:
        with suppress(DirectoryUnavailable):
            refused |= {SHARE} if (await access.directory.place(caller.channel)).shared else set()
    if not refused:
        return message
    return replace(message, blocks=tuple(filter(None, (_without_refused(block, refused) for block in message.blocks))))


def _buttons(block: Block) -> list[Block]:
    accessory = [block["accessory"]] if "accessory" in block else []
    return [*block.get("elements", ()), *accessory, *tables.buttons_of(block)]


def _operations(button: Block) -> frozenset[str]:
    """Return the operations of which the command of *button* needs one; none for a command that only reads."""
    name = action_name(str(button.get("action_id")))
    if name == SHARE:
        return frozenset({SHARE})
    return _find_needs(str(button["value"])) if name in RUNNING | {"temporary"} else frozenset()


@lru_cache(maxsize=4096)  # a list has twenty buttons, and is asked for again and again
def _find_needs(value: str) -> frozenset[str]:
    """Return the operations of which the command that a button holds needs one; none where it only reads."""
    try:
        command = parse(*value.partition(" ")[::2])
    except Unclear:
        return frozenset()
    needs = frozenset(filter(None, (command.needs, *command.or_needs)))
    return frozenset() if all(operation.endswith(".read") for operation in needs) else needs


def _without_refused(block: Block, refused: frozenset[str]) -> Block | None:
    """Return *block* without the buttons whose commands need what is *refused*; None where nothing is left of it."""
    gone = [button for button in _buttons(block) if (needs := _operations(button)) and needs <= refused]
    if not gone:
        return block
    if block.get("type") == "data_table":
        return tables.without_buttons(block, gone)
    if block.get("type") == "actions":
        allowed = [button for button in block["elements"] if button not in gone]
        return {**block, "elements": allowed} if allowed else None
    return {name: part for name, part in block.items() if name != "accessory"}
