"""``/gatehouse token NAME``: the token with which an agent other than Slackbot asks as a person."""

from __future__ import annotations

from bot.gatehouse import Gatehouse
from handlers.blocks import messages
from handlers.blocks.messages import code, quote, section
from handlers.gatehouse.commands import GatehouseToken
from handlers.grammar.command import Certain
from handlers.slack.registry import handles
from handlers.slack.reply import Caller, Private, Reply


@handles(GatehouseToken)
async def make_token(command: GatehouseToken, caller: Caller, gatehouse: Gatehouse) -> Reply:
    """Show a new token, once; with ``off``, only end the one that there is."""
    if not command.off and (caller.public or not gatehouse.agents):
        raise Certain("Others would see the token here." if caller.public else "Agents aren’t let in: see AGENTS.")
    token = await gatehouse.store.tokens.replace(caller.user, command.agent, caller.channel, end=command.off)
    if token is None:
        return Private(messages.message("Ended", [section(f"*The token of {quote(command.agent)} has ended.*")]))
    words = f"*The token of {quote(command.agent)}*, shown only now. With it, the agent reads and proposes as you."
    return Private(messages.message("A token", [section(words), section(code(token))]))
