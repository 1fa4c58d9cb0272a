"""``/gatehouse token NAME``: the token with which an agent other than Slackbot asks as a person. Only its hash is kept."""

from __future__ import annotations

import hashlib
import json
import re
import secrets
from typing import Final

from bot.gatehouse import Gatehouse
from bot.store.audit import Event
from bot.store.engine import Store
from handlers.agents.asking import Asker
from handlers.blocks import messages
from handlers.blocks.messages import code, quote, section
from handlers.gatehouse.commands import GatehouseToken
from handlers.grammar.command import Certain, slash
from handlers.slack.registry import handles
from handlers.slack.reply import Caller, Private, Reply

TOKEN: Final = re.compile(r"gh_([UW][A-Z0-9]{1,20})_([a-z0-9-]{1,26})_[\w-]{43}")
"""A person, an agent, and the secret."""


async def owner_of(token: str, store: Store) -> Asker | None:
    """Return for whom the agent with this *token* asks; None where it is nobody's, or not any more."""
    if (parts := TOKEN.fullmatch(token)) is None or not (
        kept := await store.values.value(parts[1], f"token_{parts[2]}")
    ):
        return None
    agent, hashed = json.loads(kept)
    return Asker(parts[1], agent) if hashed == _hash(token) else None


@handles(GatehouseToken)
async def make_token(command: GatehouseToken, caller: Caller, gatehouse: Gatehouse) -> Reply:
    """Show a new token, once, in the place of the one of that name; with ``off``, only end that."""
    if not command.off and (caller.public or not gatehouse.agents):
        raise Certain("Others would see the token here." if caller.public else "Agents aren’t let in: see AGENTS.")
    store, key = gatehouse.store, command.agent.casefold().replace(" ", "-")
    if command.off and not await store.values.value(caller.user, f"token_{key}"):
        raise Certain(f"You have no token for an agent {quote(command.agent)}.")
    token = f"gh_{caller.user}_{key}_{secrets.token_urlsafe(32)}"
    event = "token_ended" if command.off else "token_made"
    async with store.transaction() as tx:
        kept = "" if command.off else json.dumps([command.agent, _hash(token)])
        await store.values.put(tx, caller.user, f"token_{key}", kept)
        await store.audit.append(tx, Event(event, caller.user, caller.channel, target=f"agent/{command.agent}"))
    if command.off:
        return Private(messages.message("Ended", [section(f"*The token of {quote(command.agent)} has ended.*")]))
    words = f"*The token of {quote(command.agent)}*, shown only now. With it, the agent reads and proposes as you."
    end = messages.context(f"`{slash(f'gatehouse token {command.agent} off')}` ends it.")
    return Private(messages.message("A token", [section(words), section(code(token)), end]))


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()
