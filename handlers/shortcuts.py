"""What the menu of a message and the one beside the composer offer: each stands for a command."""

from __future__ import annotations

from bot.gatehouse import Gatehouse
from handlers.commands.command import Command
from handlers.commands.members import MembersWhy
from handlers.commands.rules import RulesNew, RulesWhich
from handlers.errors import NothingInMessage
from handlers.reply import Caller, Modal, Private, Reply
from handlers.routes import Shortcut, shortcut
from handlers.views import shortcuts as views
from handlers.views.rule_form import RuleForm
from handlers.words import addresses_in, emails_in


@shortcut("rule_which", stands_for=RulesWhich)
async def which_rule(used: Shortcut, caller: Caller, gatehouse: Gatehouse) -> Command | Reply:
    """Of one address the answer, of several the choice."""
    commands = [RulesWhich(url) for url in addresses_in(used.text)]
    if not commands:
        raise NothingInMessage("web address")
    if len(commands) == 1:
        return commands[0]
    return Private(views.choice("Which address?", [(command.url, command) for command in commands]))


@shortcut("rule_from_message", stands_for=RulesNew, linked=True)
async def rule_from_message(used: Shortcut, caller: Caller, gatehouse: Gatehouse) -> Command:
    """The form for a new rule; the message that it comes from is its reason, and so is on record."""
    source = next(iter(addresses_in(used.text)), None)
    return RulesNew(source=source, because=f"from {used.link}" if used.link else None)


@shortcut("member_info", stands_for=MembersWhy)
async def member_info(used: Shortcut, caller: Caller, gatehouse: Gatehouse) -> Command | Reply:
    """Why they get in, or do not, on every site: that says more than who they are."""
    commands = [(email, MembersWhy(email)) for email in emails_in(used.text)]
    if not commands:
        raise NothingInMessage("e-mail address")
    if len(commands) == 1:
        return commands[0][1]
    return Private(views.choice("Who?", commands))


@shortcut("rule_new")
async def new_rule(used: Shortcut, caller: Caller, gatehouse: Gatehouse) -> Reply:
    """From nowhere in particular: the form asks where it is to be announced, and the policy is asked for there."""
    await gatehouse.access.require_somewhere("rule.create", caller.user)
    return Modal(RuleForm.blank().view())
