"""What people write to Gatehouse in threads, where slash commands do not run, and in direct messages."""

from __future__ import annotations

from bot.gatehouse import Gatehouse
from handlers import grammar
from handlers.commands.command import Command
from handlers.errors import EditedMessage
from handlers.reply import Caller
from handlers.routes import Heard, hears


@hears("app_mention")
async def mentioned(heard: Heard, caller: Caller, gatehouse: Gatehouse) -> Command:
    """``@Gatehouse rules which …``: the words after the mention, or before it where nothing comes after."""
    before, _, after = str(heard.event.get("text") or "").partition(f"<@{heard.us}")
    return _commanded(after.partition(">")[2].strip() or before.strip(), heard)


@hears("message.im")
async def told(heard: Heard, caller: Caller, gatehouse: Gatehouse) -> Command:
    """The same in a direct message, where nobody needs to be mentioned."""
    return _commanded(str(heard.event.get("text") or ""), heard)


def _commanded(text: str, heard: Heard) -> Command:
    command = grammar.parse_mention(text)
    if command.writes and "edited" in heard.event:
        raise EditedMessage
    return command
