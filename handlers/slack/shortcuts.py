"""The commands behind the message shortcut, mentions and direct messages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from bot.gatehouse import Gatehouse
from handlers.blocks import messages
from handlers.blocks.buttons import run_button
from handlers.blocks.messages import and_more, code
from handlers.errors import NothingInMessage
from handlers.grammar import parser
from handlers.grammar.command import Command
from handlers.grammar.tokens import emails_in, urls_in
from handlers.members.commands import MembersWhy
from handlers.rules.commands import RulesWhich
from handlers.slack.payloads import text_without_mention
from handlers.slack.registry import Heard, hears, shortcut
from handlers.slack.reply import Caller, Private, Reply

MAX_CHOICES: Final = 15


@shortcut("look_up")
async def look_up(text: str, caller: Caller, gatehouse: Gatehouse) -> Command | Reply:
    """Say where the URL in a message goes, or why the person in it has access; of several, ask which.

    Raises NothingInMessage where it names neither.
    """
    choices: Sequence[tuple[str, Command]] = [
        *((url, RulesWhich(url)) for url in urls_in(text)),
        *((email, MembersWhy((email,))) for email in emails_in(text)),
    ]
    if not choices:
        raise NothingInMessage
    if len(choices) == 1:
        return choices[0][1]
    question = f"Which one? That message names {len(choices)}."
    blocks = [messages.section(f"*{question}*")]
    for number, (named, command) in enumerate(choices[:MAX_CHOICES]):
        blocks.append(messages.section(code(named, 300), run_button("Choose", command, number)))
    if len(choices) > MAX_CHOICES:
        blocks.append(messages.context(f"{and_more(len(choices) - MAX_CHOICES)}."))
    return Private(messages.message(question, blocks))


@hears("app_mention")
@hears("message.im")
async def on_message(heard: Heard, caller: Caller, gatehouse: Gatehouse) -> Command:
    """Return the command in ``@Gatehouse rules which …``: after the mention, or before it; a direct message needs none."""
    return parser.check_reason(parser.parse_mention(text_without_mention(heard)))
