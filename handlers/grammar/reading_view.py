"""Show what a text was read as: in a line above an answer, or on a card that says what would be done and waits for a click."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from handlers.blocks import messages
from handlers.blocks.buttons import ask_button, command_text, run_button, turn_button
from handlers.blocks.messages import Block, Message, code, esc, join_words, quote
from handlers.gatehouse.commands import GatehouseAudit, GatehouseStatus
from handlers.grammar.command import Command, slash
from handlers.grammar.command_sentences import MAX_NAMED, Context, rule_list, sentence, with_name
from handlers.grammar.fields import filters_of
from handlers.grammar.parser import refs_of
from handlers.grammar.readings import Readings
from handlers.grammar.tokens import split
from handlers.members.commands import (
    MembersExport,
    MembersList,
    MembersMove,
    MembersOffboard,
    MembersRemove,
)
from handlers.rules.commands import (
    RulesDelete,
    RulesExport,
    RulesList,
    RulesMake,
    RulesNew,
    RulesShow,
    RulesWhich,
)


def with_reading_line(message: Message, command: Command, titles: Mapping[str, str], readings: Readings) -> Message:
    """Return *message*, which *command* of *readings* is answered with, under a line on how the text was read; what wasn't
    understood comes first.

    *titles*: the names of rules by id.
    """
    if not (text := command_text(with_name(command, titles))):
        return message
    words = f"Read as {code(slash(text), 400)}"
    told = [messages.section("\n".join(lines))] if (lines := _doubts(readings)) else []
    nearest = [_button(each, f"near{number}", Context(titles)) for number, each in enumerate(readings.nearest)]
    return messages.message(message.text, [*told, *messages.actions(nearest), messages.context(words), *message.blocks])


def _doubts(readings: Readings) -> list[str]:
    """Return the lines about what can't be done, and what was not understood."""
    unread, lines = readings.unread, [f"*{readings.impossible.says}*"] if readings.impossible else []
    lines += [f"I don’t know {quote(readings.nothing, 60)}."] if readings.nothing else []
    quoted = ", ".join(quote(each, 60) for each in unread)  # all of them: each may be half of the wish
    return [*lines, f":warning: *I’m not sure what to do with* {quoted}."] if unread else lines


def unclear_message(readings: Readings, context: Context, *, asked: str) -> Message:
    """Return the card of a text that wasn't understood as a whole, or can't be done: with forms, and things to look at."""
    shown, impossible = readings.commands, readings.impossible
    names = join_words([esc(each, 60) for each in readings.missing])
    lines = [f"*The names of {names} couldn’t be read just now*, so what is called so isn’t recognized."] * bool(names)
    lines += _doubts(readings)
    lines += ["Did you mean one of these?"] if shown or readings.nearest else []
    buttons = [_button(each, f"near{number}", context) for number, each in enumerate(readings.nearest)]
    buttons += [run_button(_thing_label(each, context), each, number) for number, each in enumerate(shown)]
    if readings.missing:
        buttons = [*buttons, run_button("Check status", GatehouseStatus(), "status")]
    footer = _footer(asked, attempted=any(each.writes for each in readings.nearest))
    blocks = [messages.section("\n".join(lines)), *messages.actions(buttons), footer]
    return messages.message(impossible.says if impossible else "I don’t understand all of it", blocks)


def _button(command: Command, number: int | str, context: Context) -> Block | None:
    """Return the button of *command*: what would change something, or isn't whole, opens its form."""
    command = _as_form(command) if isinstance(command, RulesMake) else command
    is_whole = all(getattr(command, name) for name, part in command.parts().items() if part.missing)
    if is_whole and not command.writes:
        return run_button(_thing_label(command, context), command, number)
    others = (getattr(command, name, None) for name in ("group", "what"))
    things = [context.titles.get(each, each.partition("@")[0]) for each in (*refs_of(command), *others) if each]
    named = join_words(things) if len(things) < 3 else f"{len(things)} {command.service}"
    return ask_button(f"{command.title()}{named and ': '}{named}{_more(command)}…", command, number)


def _more(command: Command) -> str:
    times = (each.as_typed for each in (command.start, command.expiry) if each and not each.at)
    said = [
        *getattr(command, "segments", ()),
        getattr(command, "new", ""),
        *map(" ".join, getattr(command, "fields", ())),
    ]
    return "".join(f", {each}" for each in (*said, command.site, *times) if each)


def _thing_label(command: Command, context: Context) -> str:
    """Return the name of the thing that a button shows."""
    urls = (
        url.partition("://")[2] or url for name in ("source", "destination") if (url := getattr(command, name, None))
    )
    of_rule, text = context.titles.get(command.ref or "", command.ref), getattr(command, "text", None)
    things = ", ".join(" ".join(filter(None, (context.people.get(each), each))) for each in refs_of(command))
    named = next(filter(None, (of_rule, text, things, " → ".join(urls))), "")
    match command:
        case RulesShow():
            return named
        case RulesWhich(url=url):
            return f"Where does {url.partition('://')[2]} go?"
        case RulesList() | MembersList() | RulesExport() | MembersExport() | GatehouseAudit():
            what = "changes" if isinstance(command, GatehouseAudit) else command.service
            what = f"{'export ' * (command.verb == 'export')}{what}".capitalize()
            more = {name: value for name in ("site", "sort") if (value := getattr(command, name, None))}
            filters = [*filter(None, [named]), *(" ".join(each) for each in (filters_of(command) | more).items())]
            return f"{what}: {', '.join(filters) or 'all'}"
        case _:
            said = f"{named}{_more(command)}".strip(", ")
            return f"{command.title()}: {said}" if said else command.label or command.summary


def preview(readings: Sequence[Command], context: Context, *, asked: str, facts: str = "", note: str = "") -> Message:
    """Return the card of what would be done, with a button that does it; of several readings, a button for each.

    *facts*: all there is to know of the only one, in mrkdwn; *note*: a line that is no reason to do it without a further look.
    """
    footer = [_footer(asked, attempted=True)]
    first = readings[0]
    if len(readings) > 1:
        blocks = [messages.section("*Which one do you mean?*")]
        for number, each in enumerate(readings):
            label = {"query": "Any query", "below": "All below"}.get(getattr(each, "match", None) or "", each.title())
            blocks += _reading_blocks(each, context, turn_button(label, each, number))
        return messages.message("Which one do you mean?", [*blocks, *footer])
    change = run_button("Change…", _as_form(first), "change") if isinstance(first, RulesMake) else None
    buttons = [_do_it_button(first, SHOWN if facts else "0"), change]
    blocks = [*_reading_blocks(first, context), *map(messages.section, filter(None, (facts, note)))]
    return messages.message(sentence(first, context), [*blocks, *messages.actions(buttons), *footer])


def _reading_blocks(command: Command, context: Context, button: Block | None = None) -> list[Block]:
    """Return what *command* would do, and below that each of many rules by its name: nobody agrees to “and 5 more”."""
    listed = messages.pack_lines(rule_list(command, context))
    return [messages.section(_warned_sentence(command, context), button), *map(messages.section, listed)]


def done_message(channel: str, title: str) -> Message:
    """Return what takes the place of a preview whose button was clicked."""
    words = f":white_check_mark: {title and f'*{title}.* '}See its card in <#{channel}>."
    return messages.message(words, [messages.section(words)])


def _footer(asked: str, *, attempted: bool) -> Block:
    """Return what was typed; *attempted*: whether that may be a change."""
    typed = f"You typed {code(asked, 200)}" if asked else ""
    return messages.context(" ".join(filter(None, ["Nothing was changed yet." * attempted, typed])))


SHOWN: Final = "shown"
"""The number of a button of a preview that shows all there is to know before a click."""


def _do_it_button(command: Command, number: str) -> Block | None:
    button = turn_button("Request it" if isinstance(command, REQUESTS) else "Do it", command, number)
    return button and button | {"style": "danger" if command.destroys else "primary"}


REQUESTS: Final = MembersRemove | MembersOffboard | MembersMove | RulesDelete
"""Commands that only post a card, which shows everything and waits for approval."""


def _as_form(command: RulesMake) -> RulesNew:
    return RulesNew(**{name: getattr(command, name, None) for name in RulesNew.parts()})


def _warned_sentence(command: Command, context: Context) -> str:
    """Return the `sentence`, with a warning of what in it may be taken for something else."""
    texts = [context.titles.get(word.text, word.text) for word in split(command.write())]
    lines = messages.lookalike_warnings((messages.clip(text, 60), text) for text in texts)
    warnings = [f"*Warning:* {esc(line, 500)}" for line in lines[:MAX_NAMED]]
    return "\n".join([sentence(command, context), *warnings])
