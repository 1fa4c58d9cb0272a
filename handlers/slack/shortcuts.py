"""The commands behind shortcuts, the message menu, mentions and direct messages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from bot.gatehouse import Gatehouse
from handlers.blocks import messages
from handlers.blocks.buttons import run_button
from handlers.blocks.messages import and_more, code
from handlers.errors import EditedMessage, NothingInMessage
from handlers.grammar import parser
from handlers.grammar.command import Command
from handlers.grammar.tokens import emails_in, urls_in
from handlers.members.commands import MembersWhy
from handlers.rules.commands import RulesNew, RulesWhich
from handlers.rules.rule_form_view import RuleForm
from handlers.slack.payloads import text_without_mention
from handlers.slack.registry import Click, Heard, Shortcut, clicks, hears, shortcut
from handlers.slack.reply import Caller, Modal, Private, Reply

MAX_CHOICES: Final = 15


def _pick(what: str, question: str, choices: Sequence[tuple[str, Command]]) -> Command | Reply:
    """Return the command for the only thing that a message contains, or a *question* with a button for each of several.

    Raises NothingInMessage where it contains no *what*.
    """
    if not choices:
        raise NothingInMessage(what)
    if len(choices) == 1:
        return choices[0][1]
    count = f"That message has {len(choices)}."
    blocks = [messages.section(f"*{question}* {count}")]
    for number, (text, command) in enumerate(choices[:MAX_CHOICES]):
        blocks.append(messages.section(code(text, 300), run_button("Choose", command, number)))
    if len(choices) > MAX_CHOICES:
        blocks.append(messages.context(f"{and_more(len(choices) - MAX_CHOICES)}."))
    return Private(messages.message(f"{question} {count}", blocks))


@shortcut("rule_which", stands_for=RulesWhich)
async def which_rule(used: Shortcut, caller: Caller, gatehouse: Gatehouse) -> Command | Reply:
    """Say where the URL in a message goes; where it has several, ask which."""
    return _pick("URL", "Which URL?", [(url, RulesWhich(url)) for url in urls_in(used.text)])


@shortcut("rule_from_message", stands_for=RulesNew, linked=True)
async def rule_from_message(used: Shortcut, caller: Caller, gatehouse: Gatehouse) -> Command:
    """Open the form for a new rule; a link to the message is its reason, and so is on record."""
    source = next(iter(urls_in(used.text)), None)
    return RulesNew(source=source, because=f"from {used.link}" if used.link else None)


@shortcut("member_info", stands_for=MembersWhy)
async def member_info(used: Shortcut, caller: Caller, gatehouse: Gatehouse) -> Command | Reply:
    """Explain the access of the person in a message, on every site; where it names several, ask which."""
    return _pick("email", "Who?", [(email, MembersWhy((email,))) for email in emails_in(used.text)])


@clicks("home.new")
@shortcut("rule_new")
async def new_rule(used: Shortcut | Click, caller: Caller, gatehouse: Gatehouse) -> Reply:
    """Open the form for a new rule from outside any channel: it asks for the channel of its card, whose policy applies."""
    await gatehouse.access.require(caller.user, None, "rule.create")
    return Modal(RuleForm.blank().view())


@hears("app_mention")
@hears("message.im")
async def on_message(heard: Heard, caller: Caller, gatehouse: Gatehouse) -> Command:
    """Run the command in ``@Gatehouse rules which …``: after the mention, or before it; a direct message needs none."""
    command = parser.check_reason(parser.parse_mention(text_without_mention(heard)))
    # Slack sends the event again when a message is edited: what it asked for would be done twice.
    if command.writes and "edited" in heard.event:
        raise EditedMessage
    return command
