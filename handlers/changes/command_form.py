"""The form of a command: it asks for what its button, or what was typed, doesn't say, and then does the same as typing it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

from bot.clients.errors import ClientError
from bot.gatehouse import Gatehouse
from handlers.blocks import inputs, modals
from handlers.blocks.messages import Block, code, context, pack_lines, section
from handlers.blocks.modals import View, frame, metadata
from handlers.changes.times import FOR_GOOD
from handlers.errors import OldButton
from handlers.gatehouse.commands import GatehouseFreezes, GatehouseInspect, GatehousePending, GatehouseUnfreeze
from handlers.grammar.command import Command, Part, Rank, Rest, Unclear, slash
from handlers.grammar.command_sentences import Context, rule_list, sentence
from handlers.grammar.fields import Choice, Filter, Flag, Led, Page, Urls
from handlers.grammar.parser import split_verb
from handlers.grammar.time_fields import ForOrUntil, OnOrAt, parse_expiry, parse_start
from handlers.grammar.tokens import Word, clean_text, split
from handlers.members.commands import MembersGrant
from handlers.rules.command_fields import OneOf
from handlers.rules.commands import RulesOff
from handlers.slack.registry import Click, Form, Outcome, clicks, submits
from handlers.slack.reply import Caller, Modal, Reply

CALLBACK: Final = "v1.command"
LENGTH: Final = "length"
LENGTHS: Final[Mapping[type[Command], Mapping[str, str]]] = {
    RulesOff: {
        FOR_GOOD: "Until I switch it on",
        "for 1h": "For 1 hour",
        "for 2h": "For 2 hours",
        "until tomorrow 9:00": "Until tomorrow, 9:00",
    },
    MembersGrant: {
        FOR_GOOD: "Until someone revokes it",
        "for 1d": "For 1 day",
        "for 7d": "For 7 days",
        "for 30d": "For 30 days",
    },
}
"""Who paid isn't locked out again by a form that nobody read: for good comes first."""
PICKERS: Final[Mapping[str, str]] = {
    **dict.fromkeys(("REF", "REF…"), "rule"),
    **dict.fromkeys(("EMAIL", "EMAIL…"), "member"),
    **dict.fromkeys(("SEG,…", "SEGMENT", "segment:vip", "no:SEGMENT"), "segment"),
    **dict.fromkeys(("NAME", "group:NAME"), "group"),
    "WHAT": "scope",
}
"""What is found while one types, by how help shows it."""
LISTS: Final[Mapping[type[Command], Command]] = {
    GatehouseUnfreeze: GatehouseFreezes(),
    GatehouseInspect: GatehousePending(),
}
"""What is chosen from a list, whose rows have the button."""
TITLES: Final = {"ref": "Rule", "url": "URL"}
AT_THE_END: Final = frozenset({Rank.START, Rank.EXPIRY, Rank.REASON})


@dataclass(frozen=True, slots=True)
class Begun:
    """A command of *kind* of which a *text* says some fields."""

    text: str
    kind: type[Command]
    said: Mapping[str, Any]
    lacks_reason: bool = False
    """Whether it was shown, and refused without a reason, or for the one that it has: nothing else is asked."""

    @property
    def command(self) -> Command | None:
        """Return the command, where nothing is missing that it needs."""
        needed = {name for name, part in self.kind.parts().items() if part.missing}
        return self.kind(**self.said) if self.said and needed <= self.said.keys() else None

    def open_fields(self) -> Mapping[str, Part]:
        """Return the fields that the form asks for."""
        parts, is_whole = self.kind.parts(), self.command is not None
        if self.lacks_reason:
            return {inputs.REASON: parts[inputs.REASON]}
        finds_member = any(PICKERS.get(part.shown) == "member" for part in parts.values())
        return {
            name: part
            for name, part in sorted(parts.items(), key=lambda named: named[1].rank in AT_THE_END)
            if name not in self.said
            and not isinstance(part, Page | Flag | Urls)
            and not (name == "site" and finds_member)
            and (part.rank in AT_THE_END or not is_whole)
        }


def read_begun(text: str, *, lacks_reason: bool = False) -> Begun:
    """Return the command that *text* begins; raises OldButton where it begins none."""
    if (found := split_verb(*text.partition(" ")[::2])) is None:
        raise OldButton
    kind, rest = found
    said = {}
    for name, part in sorted(kind.parts().items(), key=lambda named: named[1].rank):
        with suppress(Unclear):
            if value := part.read(rest):
                said[name] = value
    return Begun(text, kind, said, lacks_reason)


@clicks("ask")
@clicks("reason")
async def ask(click: Click, caller: Caller, gatehouse: Gatehouse) -> Outcome:
    return _form(read_begun(click.value, lacks_reason=click.action == "reason"), caller, gatehouse)


def form_of_missing(
    error: Unclear, typed: tuple[str, str], caller: Caller, gatehouse: Gatehouse
) -> Command | Reply | None:
    """Return the form, or the list, for what *typed* lacks; None where that isn't so, or Slack gave no way to open a form."""
    if not error.lacks:
        return None
    (kind,) = error.about[:1]
    if kind in LISTS:
        return LISTS[kind]
    text = " ".join(typed) if split_verb(*typed) else f"{kind.service} {kind.verb}"
    return _form(read_begun(text), caller, gatehouse) if caller.trigger else None


def _form(form: Begun, caller: Caller, gatehouse: Gatehouse) -> Reply:
    sites, refs = tuple(gatehouse.sites), form.said.get("refs", ())
    if not refs:
        return Modal(view(form, {}, caller.channel, sites=sites))

    async def fill() -> View:
        try:
            titles = {ref: (await gatehouse.rules.get(ref)).title for ref in refs}
        except ClientError:
            titles = {}
        return view(form, titles, caller.channel, sites=sites)

    return Modal(modals.loading_view("Gatehouse", caller.channel), fill)


def view(form: Begun, titles: Mapping[str, str], channel: str, *, sites: Sequence[str]) -> View:
    """Return the form for what *form* doesn't say; *titles*: the names of its rules, by their ids."""
    command, label = form.command, form.kind.title()
    lines = [sentence(command, Context(titles)), *rule_list(command, Context(titles))] if command else []
    blocks = [*map(section, pack_lines(lines))]
    if form.said and not command:
        blocks.append(context(code(slash(clean_text(form.text)))))
    for name, part in form.open_fields().items():
        blocks += _inputs(name, part, form, sites)
    blocks += inputs.channel(channel) if form.kind.writes else []
    about = {"command": form.text, "channel": channel, **({modals.CONFIRMED: True} if form.lacks_reason else {})}
    return frame(label, blocks, callback_id=CALLBACK, submit=label, metadata=about)


def _inputs(name: str, part: Part, form: Begun, sites: Sequence[str]) -> Iterator[Block]:
    """Yield what asks for the field *name* of *form*."""
    title = part.missing or TITLES.get(name) or name.replace("_", " ")
    label, optional = f"{title[:1].upper()}{title[1:]}{'?' * bool(part.missing)}", not part.missing
    if isinstance(part, ForOrUntil):
        if lengths := LENGTHS.get(form.kind):
            yield inputs.radios(LENGTH, "How long?", lengths)
        yield inputs.expiry("", "Or until" if lengths else "Until", optional=optional)
    elif isinstance(part, OnOrAt):
        yield inputs.start("")
    elif part.rank is Rank.REASON:
        yield inputs.reason(form.said.get(name, ""), optional=not form.lacks_reason)
    elif isinstance(part, Choice | OneOf) or name == "site":
        choices = part.choices if isinstance(part, Choice) else {}
        options = {meant: word for word, meant in reversed([*choices.items()])} or {
            each: each for each in (part.options if isinstance(part, OneOf) else sites)
        }
        yield inputs.menu(name, label, options, None, optional=optional)
    elif thing := PICKERS.get(part.shown):
        yield inputs.search(name, label, f"v1.pick.{thing}.form", several=part.shown.endswith("…"), optional=optional)
    else:
        hint = f"For example: {form.kind.example}" if part.missing else None
        yield inputs.text(name, label, None, optional=optional, hint=hint)


def read(sent: View) -> Command | dict[str, str]:
    """Return the command as it was filled in, or what is wrong, by block; raises OldButton."""
    about, values = metadata(sent), inputs.values_of(sent)
    form = read_begun(str(about.get("command") or ""), lacks_reason=modals.CONFIRMED in about)
    start, end = (inputs.typed_value(values, name) or "" for name in (inputs.START, inputs.EXPIRY))
    found, wrong = dict(form.said), modals.time_errors(start, end)
    for name, part in form.open_fields().items():
        try:
            if (value := _value(name, part, form.kind, values)) is not None:
                found[name] = value
        except Unclear as error:
            wrong.setdefault(name, error.what)
    for name in {"email", "emails"} & form.open_fields().keys() & found.keys():
        picked = [found[name]] if name == "email" else found[name]
        sites, emails = zip(*(one.split(" ", 1) for one in picked), strict=True)
        found[name] = emails[0] if name == "email" else emails
        if form.kind.has("site"):
            found["site"] = sites[0]
            wrong |= {name: "Choose members of one site."} if len({*sites}) > 1 else {}
    if wrong:
        return wrong
    command = form.kind(**found)
    try:
        command.check(Rest(form.kind, ()))
    except Unclear as error:
        return {next(iter(form.open_fields())): error.what}
    return command


def _value(name: str, part: Part, kind: type[Command], values: Mapping[str, Any]) -> Any:
    """Return what was filled in for the field *name*; None for nothing. Raises Unclear."""
    text, rest = (inputs.typed_value(values, name) or "").strip(), Rest(kind, ())
    if isinstance(part, ForOrUntil):
        return part.require_value(parse_expiry(text or inputs.typed_value(values, LENGTH) or ""), rest)
    if isinstance(part, OnOrAt):
        return parse_start(text)
    if part.shown in PICKERS or isinstance(part, Choice | Filter) or part.rank is Rank.REASON:
        return part.require_value(inputs.picked_values(values, name) or text, rest)
    rest.words = split(clean_text(text))
    if isinstance(part, Led) and text:
        rest.words = [Word(part.keyword, quoted=False, start=0), Word(text, quoted=True, start=0)]
    value = part.read(rest)
    rest.expect_end()
    return value


async def _answer(sent: Command, caller: Caller, gatehouse: Gatehouse) -> Command:
    """Return what the form stands for, to be run as if it was typed: with the rights that the caller has now."""
    return sent


submits(CALLBACK, Form(read, _answer, errors=lambda sent: sent if isinstance(sent, dict) else {}))
