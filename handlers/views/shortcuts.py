"""What a shortcut asks where a message holds more than one thing that it could be about."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from handlers.commands.command import Command
from handlers.views import parts
from handlers.views.parts import Message, code

MOST: Final = 15


def choice(question: str, choices: Sequence[tuple[str, Command]]) -> Message:
    """A line for each of *choices*, with a button that stands for its command."""
    blocks = [parts.section(f"*{question}* {len(choices)} stand in that message.")]
    for number, (text, command) in enumerate(choices[:MOST]):
        blocks.append(parts.section(code(text, 300), parts.run_button("This one", command, number)))
    if len(choices) > MOST:
        blocks.append(parts.context(f"…and {len(choices) - MOST} more."))
    return parts.message(f"{question} {len(choices)} stand in that message.", blocks)
