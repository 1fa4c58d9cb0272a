"""What a text was read as: one line above an answer, or a card that says what would be done and waits for a click."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, tzinfo
from typing import Any, Final, cast

from bot.text.times import Kind, in_words, said
from handlers.blocks import messages
from handlers.blocks.messages import Block, Message, code, esc, listed, moment, quoted, url_code
from handlers.gatehouse.commands import (
    GatehouseAudit,
    GatehouseDigest,
    GatehousePending,
    GatehousePlanned,
    GatehouseSettings,
    GatehouseStatus,
    GatehouseUndo,
    GatehouseWhoami,
)
from handlers.grammar.command import Command, slash
from handlers.grammar.fields import Expiry, Start, filters_of
from handlers.grammar.vocabulary import points
from handlers.members.commands import (
    MembersAdd,
    MembersEdit,
    MembersGrant,
    MembersList,
    MembersMove,
    MembersOffboard,
    MembersRemove,
    MembersRevoke,
    MembersSegments,
    MembersShow,
    MembersWhy,
)
from handlers.rules.commands import (
    RulesCheck,
    RulesCopy,
    RulesDelete,
    RulesEdit,
    RulesGroup,
    RulesGroups,
    RulesList,
    RulesMake,
    RulesNew,
    RulesOff,
    RulesOn,
    RulesSet,
    RulesShow,
    RulesWhich,
)

MAX_NAMED: Final = 5
URL_LENGTH: Final = 200


@dataclass(frozen=True, slots=True)
class Context:
    """What a preview needs to know: the names of rules and groups by id, and the zone in which a time was said."""

    titles: Mapping[str, str] = field(default_factory=dict)
    zone: tzinfo = UTC
    missing: Sequence[str] = ()
    """Whose names could not be read: ``rules``, and sites."""
    people: Mapping[str, str] = field(default_factory=dict)
    """The names of members, by their emails."""
    done: Sequence[str] = ()
    """The names of rules that do already what else was asked for."""


def read_as(message: Message, command: Command, titles: Mapping[str, str], unread: Sequence[str] = ()) -> Message:
    """*message*, under a line on how the text was read that it answers; what wasn't understood comes first.

    *titles*: the names of rules by id.
    """
    if not (text := messages.text_of(_by_name(command, titles))):
        return message
    words = f"Read as {code(slash(text), 400)}"
    asks = not_understood(unread) + (" It may be this:" if any(map(points, unread)) else "")
    lines = [messages.section(asks), messages.context(words)] if unread else [messages.context(words)]
    return messages.message(message.text, [*lines, *message.blocks])


def not_understood(unread: Sequence[str]) -> str:
    """What a text says that nothing was made of: a start, which no change has yet, words that point at something, others."""
    starts = [each for each in unread if _is_start(each)]
    pointing = [each for each in unread if points(each)]
    words = [each for each in unread if each not in starts and each not in pointing]
    told = [
        *([f"*I don’t understand* {_row_of(words)}."] if words else []),
        *([f"*I can’t be sure what* {_row_of(pointing)} *means.*"] if pointing else []),
        *([f"*This can’t be planned for later*: {_row_of(starts)}."] if starts else []),
    ]
    return f":warning: {' '.join(told)}"


def _row_of(texts: Sequence[str]) -> str:
    return ", ".join(quoted(each, 60) for each in texts[:MAX_NAMED]) + (", …" if len(texts) > MAX_NAMED else "")


def _is_start(text: str) -> bool:
    found = said(text.split(), 0)
    return found is not None and found.kind in {Kind.START, Kind.WINDOW} and found.text == text


def unclear(
    shown: Sequence[Command], meant: Sequence[Command], unread: Sequence[str], context: Context, *, asked: str
) -> Message:
    """What was understood of a text and what wasn't, with what leads on: forms to fill in and things to look at."""
    if len({type(each) for each in meant}) == 1 and isinstance(meant[0], RulesMake):
        meant = meant[:1]  # how much of the URL is asked in the form, too
    lines = [not_understood(unread)]
    if len(meant) == 1:
        lines.append(f"I understood: {_said(meant[0], context)}.")
    names_things = all(isinstance(each, RulesShow | MembersShow) for each in shown)
    buttons = [_form_button(each, number) for number, each in enumerate(meant)] if len(meant) == 1 else []
    if not any(buttons):
        is_about = names_things and not any(map(points, unread))
        lines += ["You mentioned:" if is_about else "Did you mean one of these?"] if shown else []
        labels = {
            _label_of(each, context): each for each in reversed(shown)
        }  # one of two that look the same: the first
        looks = [(label, each) for label, each in reversed(labels.items())]
        buttons = [messages.run_button(label, each, number) for number, (label, each) in enumerate(looks)]
    if context.missing:
        lines.append(f"The names of {listed([esc(each, 60) for each in context.missing])} couldn’t be read just now.")
    footer = _footer(asked, attempted=bool(meant) or names_things)
    blocks = [messages.section("\n".join(lines)), *messages.actions(buttons), footer]
    return messages.message("I don’t understand all of it", blocks)


def _form_button(command: Command, number: int) -> Block | None:
    """What asks for the rest of *command*: a form."""
    match command:
        case RulesOff(refs=(_,)) | MembersGrant():
            return messages.temporary_button(f"{_label(command)}…", command, number)
        case RulesNew() | RulesEdit() | RulesCopy() | MembersAdd() | MembersEdit():
            return messages.run_button("Open the form…", command, number)
        case _:
            return _change(command)


def _label_of(command: Command, context: Context) -> str:
    """What a button shows: the name of the thing."""
    match command:
        case RulesShow(ref=ref) | RulesEdit(ref=ref):
            return context.titles.get(ref, ref)
        case RulesWhich(url=url):
            return f"Where does {url.partition('://')[2]} go?"
        case MembersShow(emails=emails) | MembersWhy(emails=emails):
            return ", ".join(emails)
        case RulesList() | MembersList():
            filters = [*filter(None, [command.text]), *(" ".join(each) for each in filters_of(command).items())]
            return f"{command.service.capitalize()}: {', '.join(filters) or 'all'}"
        case _:
            return VIEW_LABELS.get(type(command), command.summary)


VIEW_LABELS: Final[Mapping[type[Command], str]] = {
    RulesCheck: "Check the rules",
    RulesGroups: "Groups",
    MembersSegments: "Segments, with their members",
    GatehousePending: "What waits for a decision",
    GatehousePlanned: "What ends, and when",
    GatehouseDigest: "What changed",
    GatehouseAudit: "Who changed what",
    GatehouseStatus: "Status of Gatehouse",
    GatehouseSettings: "Settings",
    GatehouseWhoami: "What I can do here",
}


def preview(readings: Sequence[Command], context: Context, *, asked: str) -> Message:
    """What would be done, with a button that does it; of several readings, a button for each."""
    footer = [_footer(asked, attempted=any(each.writes for each in readings))]
    if context.done:
        names = listed([quoted(title, 100) for title in context.done], most=MAX_NAMED)
        there = messages.section(f"{names} {'does' if len(context.done) == 1 else 'do'} this already.")
        rest = preview(readings, replace(context, done=()), asked=asked)
        return messages.message(rest.text, [there, *rest.blocks])
    first = readings[0]
    made = [each for each in readings if isinstance(each, RulesMake)]
    if len(made) == len(readings) > 1 and len({(each.source, each.destination) for each in made}) == 1:
        return _how_much(made, context, footer)
    if len(readings) > 1:
        blocks = [messages.section("*Which one do you mean?*")]
        for number, each in enumerate(readings):
            label = messages.turn_button(_label(each), each, number)
            blocks.append(messages.section(_warned(each, context), label))
        return messages.message("Which one do you mean?", [*blocks, *footer])
    buttons = [_do_it(first), _change(first)]
    return messages.message(
        sentence(first, context), [messages.section(_warned(first, context)), *messages.actions(buttons), *footer]
    )


def _how_much(made: Sequence[RulesMake], context: Context, footer: Sequence[Block]) -> Message:
    buttons = [messages.turn_button(REACH_LABELS[each.match], each, number) for number, each in enumerate(made)]
    blocks = [
        messages.section(f"{_warned(made[0], context)}\nWhich URLs should it match?"),
        *messages.actions([*buttons, _change(made[0])]),
    ]
    return messages.message(sentence(made[0], context), [*blocks, *footer])


REACH_LABELS: Final = {None: "Exactly this URL", "query": "With any query", "below": "Everything below"}


def done(channel: str) -> Message:
    """What takes the place of a preview whose button was clicked."""
    words = f":white_check_mark: See its card in <#{channel}>."
    return messages.message(words, [messages.section(words)])


def _footer(asked: str, *, attempted: bool) -> Block:
    """What was typed; *attempted*: whether that may be a change."""
    return messages.context(f"{'Nothing was changed yet. ' * attempted}You typed {code(asked, 200)}")


def _do_it(command: Command) -> Block | None:
    button = messages.turn_button(REQUEST_LABELS.get(type(command), "Do it"), command, 0)
    return button and button | {"style": "danger" if command.destroys else "primary"}


REQUEST_LABELS: Final[Mapping[type[Command], str]] = {
    RulesDelete: "Request deletion",
    MembersRemove: "Request removal",
    MembersOffboard: "Request removal",
    MembersMove: "Request change",
}
"""What is done by a click only puts a card in the channel, which shows everything and waits for approval."""


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
    """What *command* would do, or show, in one line of mrkdwn."""
    if not command.writes:
        return _said(command, context)
    return _said(command, context) + _when(command, context) + _reason(command)


def _said(command: Command, context: Context) -> str:
    words = COMMAND_SENTENCES.get(type(command))
    return words(command, context) if words else _as_typed(_by_name(command, context.titles))


def _warned(command: Command, context: Context) -> str:
    """The `sentence`, with what in it may be taken for something else, as a card warns of it."""
    lines = messages.lookalike_warnings(_texts(command, context))
    return "\n".join([sentence(command, context), *(f"*Warning:* {esc(line, 500)}" for line in lines[:MAX_NAMED])])


def _texts(command: Command, context: Context) -> Iterator[tuple[str, str]]:
    """The texts in *command*, each with the name of its field; the names of rules for their ids."""
    for each in fields(command):
        value = getattr(command, each.name)
        for one in value if isinstance(value, tuple) else [value]:
            match one:
                case str():
                    yield each.name.rstrip("s"), context.titles.get(one, one)
                case (str() as name, str() as text):
                    yield name, text
                case _:
                    pass


def _by_name(command: Command, titles: Mapping[str, str]) -> Command:
    """Return *command* with the name of its rule in the place of the id, where nothing else is called so."""
    title = titles.get(str(getattr(command, "ref", None)))
    if title is None or [*titles.values()].count(title) > 1:
        return command
    named: Command = replace(cast("Any", command), ref=title)
    return named


def _as_typed(command: Command) -> str:
    text = messages.text_of(command)
    return code(slash(text), 400) if text else f"*{esc(command.summary)}*"


def _when(command: Command, context: Context) -> str:
    """From when on and until when something is done, as the end of its sentence."""
    start: Start | None = getattr(command, "start", None)
    return _until(command, context) if start is None else f"{_from(start, context)}{_until(command, context)}"


def _from(start: Start, context: Context) -> str:
    if start.at is None:
        return f", {esc(start.as_typed)}"
    there = f"{start.at.astimezone(context.zone):%H:%M} {context.zone}"
    return f", on {moment(int(start.at.timestamp() * 1000))} ({esc(there)})"


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
    names = listed([_name(ref, context) for ref in refs], most=MAX_NAMED)
    return f"{len(refs)} rules: {names}" if len(refs) > MAX_NAMED else names


def _name(ref: str, context: Context) -> str:
    title = context.titles.get(ref, ref)
    is_shared = sum(each == title for each in context.titles.values()) > 1
    return quoted(title, 100) + (f" ({code(ref, 100)})" if is_shared else "")


def _url(url: str | None) -> str:
    """Without the scheme that nearly all have; what is cut is never the host."""
    return code(messages.shortened(url or "", URL_LENGTH).removeprefix("https://"), messages.MAX_SHORTENED)


def _people(command: OfMembers, context: Context) -> str:
    """All of them, each with the email: who is changed is never left to be guessed."""
    return listed([_person(email, context) for email in command.emails])


def _person(email: str, context: Context) -> str:
    name = context.people.get(email)
    return f"{esc(name, 80)} ({code(email)})" if name else code(email)


OfMembers = MembersGrant | MembersRevoke | MembersRemove | MembersOffboard | MembersShow | MembersWhy


def _made(command: RulesMake, context: Context) -> str:
    source = _url(command.source)
    reach = {None: "", "query": " with any query", "below": " and everything below"}[command.match]
    if command.type == "Cancel":
        return f"Block {source}{reach} for everyone"
    return f"Redirect {source}{reach} to {_url(command.destination)} for everyone"


def _set(command: RulesSet, context: Context) -> str:
    """The destination and the name have words of their own."""
    rules = _names(command.refs, context)
    [(name, value), *others] = command.fields
    if name == "destination" and not others:
        return f"Change the destination of {rules} to {url_code(value, URL_LENGTH)}"
    if name == "name" and not others:
        return f"Rename {rules} to {quoted(value, 100)}"
    return f"Set {', '.join(f'{code(each, 60)} to {code(text, 100)}' for each, text in command.fields)} of {rules}"


def _site(command: Any, preposition: str = "on") -> str:
    return f" {preposition} {esc(command.site, 60)}" if command.site else ""


def _segments_named(command: MembersGrant | MembersRevoke) -> str:
    return listed([quoted(name, 60) for name in command.segments])


COMMAND_SENTENCES: Final[dict[type[Command], Callable[[Any, Context], str]]] = {
    RulesMake: _made,
    RulesSet: _set,
    RulesOn: lambda command, context: f"Switch on {_names(command.refs, context)}",
    RulesOff: lambda command, context: f"Switch off {_names(command.refs, context)}",
    RulesDelete: lambda command, context: f"Request to delete {_names(command.refs, context)}",
    RulesGroup: lambda command, context: (
        f"Switch {command.switch} the group {_names([command.group], context)}, with all its rules"
    ),
    MembersAdd: lambda command, _: f"Add {code(command.email)}{_site(command)}",
    MembersGrant: lambda command, context: (
        f"Grant {_people(command, context)} access to {_segments_named(command)}{_site(command)}"
    ),
    MembersRevoke: lambda command, context: (
        f"Revoke access to {_segments_named(command)}{_site(command)} for {_people(command, context)}"
    ),
    MembersRemove: lambda command, context: f"Request to remove {_people(command, context)}{_site(command, 'from')}",
    MembersMove: lambda command, context: (
        f"Request to change the email of {_person(command.email, context)}{_site(command)} to {code(command.new)}"
    ),
    MembersOffboard: lambda command, context: f"Request to remove {_people(command, context)} from every site",
    RulesShow: lambda command, context: _name(command.ref, context),
    MembersShow: _people,
    MembersWhy: _people,
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
    MembersGrant: "Grant access",
    MembersRevoke: "Revoke access",
    MembersRemove: "Remove member",
    MembersMove: "Change email",
    MembersWhy: "Check access",
}
"""Where that is not the verb of the command itself."""
