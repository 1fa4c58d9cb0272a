"""The forms that ask how long a change is to last, or only why, and then run the command of the button that opened them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from bot.clients.errors import ClientError
from bot.gatehouse import Gatehouse
from handlers.blocks import inputs, modals
from handlers.blocks.messages import Block, section
from handlers.blocks.modals import View, frame, metadata
from handlers.errors import OldButton
from handlers.grammar.command import Command, Unclear
from handlers.grammar.command_sentences import Context, sentence
from handlers.grammar.parser import parse
from handlers.grammar.time_fields import parse_expiry
from handlers.members.commands import MembersGrant
from handlers.rules.commands import RulesCommand, RulesOff
from handlers.slack.registry import Click, Form, Recorded, clicks, submits
from handlers.slack.reply import Caller, Modal, Reply
from handlers.slack.running import run

CALLBACK: Final = "v1.temporary.form"
LENGTH: Final = "length"
FOR_GOOD: Final = "good"
OFF_FOR: Final[Mapping[str, str]] = {
    FOR_GOOD: "Until I switch it on",
    "for 1h": "For 1 hour",
    "for 2h": "For 2 hours",
    "until tomorrow 9:00": "Until tomorrow, 9:00",
}
GRANTED_FOR: Final[Mapping[str, str]] = {
    FOR_GOOD: "Until someone revokes it",
    "for 1d": "For 1 day",
    "for 7d": "For 7 days",
    "for 30d": "For 30 days",
}
"""Who paid isn't locked out again by a form that nobody read: for good comes first."""
Temporary = RulesOff | MembersGrant


def _parse(text: str) -> Command:
    try:
        command = parse(*text.partition(" ")[::2])
    except Unclear as error:
        raise OldButton from error
    if "because" not in command.parts():
        raise OldButton
    return command


@clicks("temporary")
@clicks("reason")
async def ask(click: Click, caller: Caller, gatehouse: Gatehouse) -> Reply:
    command = _parse(click.value)

    async def fill() -> View:
        titles = await _titles(command, gatehouse)
        if click.action == "temporary" and isinstance(command, Temporary):
            return view(command, click.value, titles, caller.channel)
        blocks = [section(sentence(command, Context(titles))), inputs.reason(command.because or "")]
        data = {"command": click.value, "channel": caller.channel}
        return frame("Reason", blocks, callback_id=CALLBACK, submit="Continue", metadata=data)

    return Modal(modals.loading_view("Gatehouse", caller.channel), fill)


async def _titles(command: Command, gatehouse: Gatehouse) -> dict[str, str]:
    if not isinstance(command, RulesCommand):
        return {}
    try:
        return {ref: (await gatehouse.rules.get(ref)).title for ref in command.refs}
    except ClientError:
        return {}


def view(command: Temporary, text: str, titles: Mapping[str, str], channel: str) -> View:
    """Return the form for *command*, written as *text*; *titles*: the names of its rules, by their ids."""
    switches = isinstance(command, RulesOff)
    blocks: list[Block] = [
        section(sentence(command, Context(titles))),
        inputs.radios(LENGTH, "How long?", OFF_FOR if switches else GRANTED_FOR),
        inputs.expiry("", "Or until"),
        inputs.reason(""),
    ]
    title, submit = ("Switch off rule", "Switch off") if switches else ("Grant access", "Grant")
    return frame(title, blocks, callback_id=CALLBACK, submit=submit, metadata={"command": text, "channel": channel})


@dataclass(frozen=True, slots=True)
class Submitted:
    """A command as its button has it, and what was chosen, or typed, for it. *length*: None where that wasn't asked."""

    command: str
    length: str | None
    until: str
    because: str | None


def read(sent: View) -> Submitted:
    values = inputs.values_of(sent)
    return Submitted(
        str(metadata(sent).get("command") or ""),
        inputs.typed_value(values, LENGTH),
        (inputs.typed_value(values, inputs.EXPIRY) or "").strip(),
        (inputs.typed_value(values, inputs.REASON) or "").strip() or None,
    )


async def _run(sent: Submitted, caller: Caller, gatehouse: Gatehouse) -> View | Recorded:
    """Run the command as if it was typed: with the rights that the caller has now, and announced by its card."""
    command = _parse(sent.command).with_fields(because=sent.because)
    if sent.length is not None:
        command = command.with_fields(expiry=parse_expiry(sent.until or sent.length))
    # What it would do was shown before it was asked why.
    await run(command, replace(caller, confirmed=sent.length is None), gatehouse)
    change = await gatehouse.store.changes.find_by_key(caller.request)
    return Recorded(change) if change else modals.done_view("Gatehouse", f"See its card in <#{caller.channel}>.")


submits(CALLBACK, Form(read, _run, errors=lambda sent: modals.time_errors("", sent.until)))
