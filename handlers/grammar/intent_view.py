"""What a text was read as: one line above an answer, or a card that says what would be done and waits for a click."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, tzinfo
from typing import Any, Final

from bot.text.times import in_words
from handlers.blocks import messages
from handlers.blocks.messages import Block, Message, code, esc, listed, moment, url_code
from handlers.gatehouse.commands import GatehouseUndo
from handlers.grammar.command import Command, slash
from handlers.grammar.fields import Expiry
from handlers.members.commands import (
    MembersAdd,
    MembersEdit,
    MembersGrant,
    MembersOffboard,
    MembersRemove,
    MembersRevoke,
)
from handlers.rules.commands import (
    RulesDelete,
    RulesEdit,
    RulesGroup,
    RulesMake,
    RulesNew,
    RulesOff,
    RulesOn,
    RulesSet,
)

MAX_NAMED: Final = 5
URL_LENGTH: Final = 200


@dataclass(frozen=True, slots=True)
class Context:
    """What a preview needs to know: the names of rules and groups by id, and the zone in which a time was said."""

    titles: Mapping[str, str] = field(default_factory=dict)
    zone: tzinfo = UTC


def read_as(message: Message, command: Command, ignored: Sequence[str] = ()) -> Message:
    """*message*, under a line on how the text was read that it answers."""
    if not (text := messages.text_of(command)):
        return message
    words = f"Read as {code(slash(text), 400)}{_ignored(ignored, '   ·   ')}"
    return messages.message(message.text, [messages.context(words), *message.blocks])


def _ignored(ignored: Sequence[str], before: str) -> str:
    """What nothing was made of: somebody may have meant something by it."""
    shown = ", ".join(f"“{esc(each, 60)}”" for each in ignored[:MAX_NAMED])
    return f"{before}Ignored: {shown}{', …' if len(ignored) > MAX_NAMED else ''}" if ignored else ""


def preview(readings: Sequence[Command], context: Context, *, asked: str, ignored: Sequence[str] = ()) -> Message:
    """What would be done, with a button that does it; of several readings, a button for each."""
    footer = [_footer(asked)]
    if ignored:
        footer.insert(0, messages.context(f":warning: {_ignored(ignored, '')}"))
    first = readings[0]
    made = [each for each in readings if isinstance(each, RulesMake)]
    if len(made) == len(readings) > 1 and len({(each.source, each.destination) for each in made}) == 1:
        return _how_much(made, context, footer)
    if len(readings) > 1:
        blocks = [messages.section("*Which one do you mean?*")]
        for number, each in enumerate(readings):
            label = messages.turn_button(_label(each), each, number)
            blocks.append(messages.section(sentence(each, context), label))
        return messages.message("Which one do you mean?", [*blocks, *footer])
    said = sentence(first, context)
    buttons = [_do_it(first), _change(first)]
    return messages.message(said, [messages.section(said), *messages.actions(buttons), *footer])


def _how_much(made: Sequence[RulesMake], context: Context, footer: Sequence[Block]) -> Message:
    said = sentence(made[0], context)
    buttons = [messages.turn_button(REACH_LABELS[each.match], each, number) for number, each in enumerate(made)]
    blocks = [messages.section(f"{said}\nHow much of it?"), *messages.actions([*buttons, _change(made[0])])]
    return messages.message(said, [*blocks, *footer])


REACH_LABELS: Final = {None: "Exactly this URL", "query": "With any query", "below": "Everything below"}


def done(channel: str) -> Message:
    """What takes the place of a preview whose button was clicked."""
    words = f":white_check_mark: Its card is in <#{channel}>."
    return messages.message(words, [messages.section(words)])


def _footer(asked: str) -> Block:
    return messages.context(f"Nothing was changed yet. You typed {code(asked, 200)}")


def _do_it(command: Command) -> Block | None:
    button = messages.turn_button("Do it", command, 0)
    return button and button | {"style": "danger" if command.destroys else "primary"}


def _change(command: Command) -> Block | None:
    """The form, filled in, where there is one."""
    form = _form(command)
    return messages.run_button("Change…", form, "change") if form else None


def _form(command: Command) -> Command | None:
    match command:
        case RulesMake():
            return RulesNew(
                command.type, command.source, command.destination, command.name, command.expiry, command.because
            )
        case RulesSet(refs=(ref,)):
            return RulesEdit(ref)
        case MembersGrant(emails=(email,)) | MembersRevoke(emails=(email,)):
            return MembersEdit(email, site=command.site)
        case _:
            return None


def sentence(command: Command, context: Context) -> str:
    """What *command* would do, in one line of mrkdwn."""
    words = SENTENCES.get(type(command))
    said = words(command, context) if words else _as_typed(command)
    return said + _until(command, context) + _reason(command)


def _as_typed(command: Command) -> str:
    text = messages.text_of(command)
    return code(slash(text), 400) if text else f"*{esc(command.summary)}*"


def _until(command: Command, context: Context) -> str:
    expiry: Expiry | None = getattr(command, "expiry", None)
    if expiry is None:
        return ", until you switch it off." if isinstance(command, RulesMake) else "."
    if expiry.seconds is not None:
        return f", for {in_words(expiry.seconds)}."
    if expiry.at is None:
        return f", {esc(expiry.as_typed)}."
    there = f"{expiry.at.astimezone(context.zone):%H:%M} {context.zone}"
    return f", until {moment(int(expiry.at.timestamp() * 1000))} ({esc(there)})."


def _reason(command: Command) -> str:
    because = getattr(command, "because", None)
    return f"\nReason: {esc(because)}" if because else ""


def _names(refs: Sequence[str], context: Context) -> str:
    return listed([f"*{esc(context.titles.get(ref, ref), 100)}*" for ref in refs], most=MAX_NAMED)


def _people(command: MembersGrant | MembersRevoke | MembersRemove | MembersOffboard) -> str:
    """All of them: who is changed is never left to be guessed."""
    return listed([code(email) for email in command.emails])


def _made(command: RulesMake, context: Context) -> str:
    source = url_code(command.source.removeprefix("https://"), URL_LENGTH)
    reach = {None: "", "query": " with any query", "below": " and everything below"}[command.match]
    if command.type == "Cancel":
        return f"Block {source}{reach} for everyone"
    to = url_code((command.destination or "").removeprefix("https://"), URL_LENGTH)
    return f"Redirect {source}{reach} to {to} for everyone"


def _set(command: RulesSet, context: Context) -> str:
    """The destination and the name have words of their own."""
    rules = _names(command.refs, context)
    [(name, value), *others] = command.fields
    if name == "destination" and not others:
        return f"Let {rules} redirect to {url_code(value, URL_LENGTH)}"
    if name == "name" and not others:
        return f"Rename {rules} to *{esc(value, 100)}*"
    return f"Set {', '.join(f'{code(each, 60)} to {code(text, 100)}' for each, text in command.fields)} of {rules}"


def _site(command: Any) -> str:
    return f" on *{esc(command.site, 60)}*" if command.site else ""


def _segments(command: MembersGrant | MembersRevoke) -> str:
    return ", ".join(code(name, 60) for name in command.segments)


SENTENCES: Final[dict[type[Command], Callable[[Any, Context], str]]] = {
    RulesMake: _made,
    RulesSet: _set,
    RulesOn: lambda command, context: f"Switch on {_names(command.refs, context)}",
    RulesOff: lambda command, context: f"Switch off {_names(command.refs, context)}",
    RulesDelete: lambda command, context: (
        f"Delete {_names(command.refs, context)}. You see all of it first, and it waits for a decision"
    ),
    RulesGroup: lambda command, context: (
        f"Switch {command.switch} the group {_names([command.group], context)}, with all its rules"
    ),
    MembersAdd: lambda command, _: f"Add {code(command.email)}{_site(command)}",
    MembersGrant: lambda command, _: f"Give {_people(command)} {_segments(command)}{_site(command)}",
    MembersRevoke: lambda command, _: f"Take {_segments(command)} from {_people(command)}{_site(command)}",
    MembersRemove: lambda command, _: f"Remove {_people(command)}{_site(command)}. It waits for a decision",
    MembersOffboard: lambda command, _: f"Remove {_people(command)} from every site. It waits for a decision",
    GatehouseUndo: lambda *_: "Undo your last change here",
}


def _label(command: Command) -> str:
    """A verb for the button of one of several readings."""
    if isinstance(command, RulesMake):
        return "Redirect" if command.destination else "Block"
    return LABELS.get(type(command), command.verb.capitalize())


LABELS: Final[Mapping[type[Command], str]] = {
    RulesOff: "Switch off",
    RulesOn: "Switch on",
    RulesSet: "Change rule",
    RulesDelete: "Delete rule",
    RulesGroup: "Switch group",
    RulesEdit: "Edit rule",
    MembersGrant: "Give",
    MembersRevoke: "Take away",
}
"""Where that is not the verb of the command itself."""
