"""``/gatehouse token NAME``: the token with which an agent other than Slackbot asks as a person."""

from __future__ import annotations

from bot.gatehouse import Gatehouse
from handlers.blocks import messages
from handlers.blocks.messages import code, quote, section
from handlers.errors import Refusal, Words
from handlers.gatehouse.commands import GatehouseToken
from handlers.slack.registry import handles
from handlers.slack.reply import Caller, Private, Reply


class NoTokenHere(Refusal):
    """A token was asked for while agents aren't let in, or where others would read it."""

    def words(self) -> Words:
        next_ = "Type the command yourself; your Gatehouse admin lets agents in with AGENTS=true."
        return Words("Agents aren’t let in, or others would see the token here.", next=next_)


@handles(GatehouseToken)
async def make_token(command: GatehouseToken, caller: Caller, gatehouse: Gatehouse) -> Reply:
    """Show a new token, once; with ``off``, only end the one that there is."""
    if not command.off and (caller.public or not gatehouse.agents):
        raise NoTokenHere
    token = await gatehouse.store.tokens.replace(caller.user, command.agent, caller.channel, end=command.off)
    if token is None:
        return Private(messages.message("Ended", [section(f"*The token of {quote(command.agent)} has ended.*")]))
    words = f"*The token of {quote(command.agent)}*, shown only now. With it, the agent reads and proposes as you."
    return Private(messages.message("A token", [section(words), section(code(token))]))
