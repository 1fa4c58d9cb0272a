"""Run a command for a person at a place, however it came: rights first, then what its short forms stand for, then its handler."""

from __future__ import annotations

from bot.gatehouse import Gatehouse
from bot.policy.model import SHARE
from handlers.blocks import modals
from handlers.grammar.command import Command
from handlers.grammar.parser import expand
from handlers.rules.rule_refs import look_up
from handlers.slack.registry import COMMANDS
from handlers.slack.reply import Caller, Modal, Private, Reply


async def run(command: Command, caller: Caller, gatehouse: Gatehouse) -> Reply:
    """Return the answer to *command*: typed, clicked, mentioned, or sent as a form.

    Where it is a form and Slack gave no way to open one, a button that does. Raises as `require_rights` and its handler do.
    """
    await require_rights(command, caller, gatehouse)
    command = expand(command, caller.shorthand or await look_up(command, caller, gatehouse))
    reply = await COMMANDS[type(command)](command, caller, gatehouse)
    # A mention or a direct message comes without a trigger; the click on a button brings one.
    if isinstance(reply, Modal) and not (caller.trigger or caller.agent):
        return Private(modals.open_form_message(command), is_shareable=False)
    return reply


async def require_rights(command: Command, caller: Caller, gatehouse: Gatehouse) -> None:
    """Require that *caller* may run *command* where they are; raises NotAllowed or DirectoryUnavailable."""
    acts = (*command.acts(), *((SHARE,) if caller.public or command.here else ()))
    if caller.direct and command.opens_form():
        await gatehouse.access.require(caller.user, None, *acts)
        acts = (command.reads,)
    await gatehouse.access.require(caller.user, caller.channel, *acts)
