"""Say in one line what a command would do, in the words of the people who read it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, tzinfo
from typing import Any, Final

from bot.text.times import duration_words
from handlers.blocks import messages
from handlers.blocks.buttons import command_text
from handlers.blocks.messages import code, esc, join_words, moment, quote, url_code
from handlers.gatehouse.commands import GatehouseFreeze, GatehouseUndo
from handlers.grammar.command import Command, slash
from handlers.grammar.time_fields import TypedTime
from handlers.grammar.tokens import unquote_reason
from handlers.members.commands import (
    MembersAdd,
    MembersGrant,
    MembersMove,
    MembersOffboard,
    MembersRemove,
    MembersRevoke,
)
from handlers.rules.commands import (
    RulesDelete,
    RulesGroup,
    RulesMake,
    RulesOff,
    RulesOn,
    RulesSet,
)

MAX_NAMED: Final = 5
URL_LENGTH: Final = 200


@dataclass(frozen=True, slots=True)
class Context:
    """What a preview needs to know: the names of rules and groups by id, and the zone in which a time was typed."""

    titles: Mapping[str, str] = field(default_factory=dict)
    zone: tzinfo = UTC
    people: Mapping[str, str] = field(default_factory=dict)
    """The names of members, by their emails."""


def sentence(command: Command, context: Context) -> str:
    """Return what *command* would do in one line of mrkdwn; it only counts the rules of a `rule_list`."""
    words = CLAUSES.get(type(command))
    text = command_text(with_name(command, context.titles))
    clause = words(command, context) if words else code(slash(text), 400) if text else f"*{esc(command.summary)}*"
    reason = f"\nReason: {esc(unquote_reason(command.because))}" if command.because else ""
    return clause + _time_phrase(command, context) + reason if words else clause


def with_name(command: Command, titles: Mapping[str, str]) -> Command:
    """Return *command* with the name of its rule in the place of the id, where nothing else is called so."""
    title = titles.get(command.ref or "")
    if title is None or [*titles.values()].count(title) > 1:
        return command
    return command.with_fields(ref=title)


def _time_phrase(command: Command, context: Context) -> str:
    """Return from when on and until when something is done, as the end of its sentence."""
    start, expiry = command.start, command.expiry
    begins = "" if start is None else f", {_time(start, 'on', context)}"
    if expiry is None:
        return f"{begins}, until you switch it off." if isinstance(command, RulesMake) else f"{begins}."
    ends = _time(expiry, "until", context) if expiry.seconds is None else f"for {duration_words(expiry.seconds)}"
    return f"{begins}, {ends}."


def _time(time: TypedTime, preposition: str, context: Context) -> str:
    """Return a moment as its reader's clock shows it, and as it was said; another time as it was typed."""
    if time.at is None:
        return esc(time.as_typed)
    there = f"{time.at.astimezone(context.zone):%H:%M} {context.zone}"
    return f"{preposition} {moment(int(time.at.timestamp() * 1000))} ({esc(there)})"


def _names(refs: Sequence[str], context: Context) -> str:
    return f"{len(refs)} rules" if len(refs) > MAX_NAMED else join_words([_name(ref, context) for ref in refs])


def rule_list(command: Command, context: Context) -> list[str]:
    """Return a line for each rule of *command*, where these are more than its sentence names; else none."""
    return [f"• {_name(ref, context)}" for ref in command.refs] if len(command.refs) > MAX_NAMED else []


def _name(ref: str, context: Context) -> str:
    title = context.titles.get(ref, ref)
    is_shared = sum(each == title for each in context.titles.values()) > 1
    return quote(title, 100) + (f" ({code(ref, 100)})" if is_shared else "")


def _url(url: str | None) -> str:
    """Return *url* without the scheme that nearly all have; what is cut is never the host."""
    return code(messages.shorten_url(url or "", URL_LENGTH).removeprefix("https://"), messages.MAX_SHORTENED)


def _people(command: Command, context: Context) -> str:
    """Return all people of *command*, each with the email: nobody should have to guess who is changed."""
    return join_words([_person(email, context) for email in command.emails])


def _person(email: str, context: Context) -> str:
    name = context.people.get(email)
    return f"{esc(name, 80)} ({code(email)})" if name else code(email)


def _make_phrase(command: RulesMake, context: Context) -> str:
    source = _url(command.source)
    reach = {None: "", "query": " with any query", "below": " and everything below"}[command.match]
    if command.type == "Cancel":
        return f"Block {source}{reach} for everyone"
    return f"Redirect {source}{reach} to {_url(command.destination)} for everyone"


def _set_phrase(command: RulesSet, context: Context) -> str:
    fields = [f"the {esc(each, 60)} to {url_code(text, URL_LENGTH)}" for each, text in command.fields]
    return f"In {_names(command.refs, context)}, change {join_words(fields)}"


def _site(command: Any, preposition: str = "on") -> str:
    return f" {preposition} {esc(command.site, 60)}" if command.site else ""


def _segment_names(command: MembersAdd | MembersGrant | MembersRevoke) -> str:
    return join_words([quote(name, 60) for name in command.segments])


CLAUSES: Final[dict[type[Command], Callable[[Any, Context], str]]] = {
    RulesMake: _make_phrase,
    RulesSet: _set_phrase,
    RulesOn: lambda command, context: f"Switch on {_names(command.refs, context)}",
    RulesOff: lambda command, context: f"Switch off {_names(command.refs, context)}",
    RulesDelete: lambda command, context: f"Request to delete {_names(command.refs, context)}",
    RulesGroup: lambda command, context: (
        f"Switch {command.switch} the group {_names([command.group], context)}, with all its rules"
    ),
    GatehouseFreeze: lambda command, _: f"Freeze {esc(command.what)}",
    MembersAdd: lambda command, _: (
        f"Add {code(command.email)}{f' with {_segment_names(command)}' * bool(command.segments)}{_site(command)}"
    ),
    MembersGrant: lambda command, context: (
        f"Grant {_people(command, context)} access to {_segment_names(command)}{_site(command)}"
    ),
    MembersRevoke: lambda command, context: (
        f"Revoke access to {_segment_names(command)}{_site(command)} for {_people(command, context)}"
    ),
    MembersRemove: lambda command, context: f"Request to remove {_people(command, context)}{_site(command, 'from')}",
    MembersMove: lambda command, context: (
        f"Request to change the email of {_person(command.email, context)}{_site(command)} to {code(command.new)}"
    ),
    MembersOffboard: lambda command, context: f"Request to remove {_people(command, context)} from every site",
    GatehouseUndo: lambda command, context: (
        f"*{title}*" if (title := context.titles.get(command.change or "")) else "Undo the last thing that you did here"
    ),
}
