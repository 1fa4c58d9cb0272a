"""What handlers refuse to do, and how each says so. The words for errors of other rooms are in `handlers.explain`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, Self, dataclass_transform

from bot.rules.edit import Problem
from bot.rules.model import Group
from handlers.blocks.messages import code, esc, join_words, plural, quote
from handlers.gatehouse.commands import GatehousePending
from handlers.grammar.command import Command, slash
from handlers.members.commands import MembersWhy
from handlers.rules.commands import RulesGroups, RulesList
from handlers.rules.reasons import problem_words

MAX_NAMED: Final = 10


@dataclass(frozen=True, slots=True)
class Words:
    """What a person is told: what happened, why, what to do now: whole sentences, all mrkdwn, escaped."""

    what: str
    cause: str = ""
    next: str = ""
    unchanged: bool | None = True
    """Whether a change that was attempted was surely not made; None where that is not the question, or not known."""
    again: Mapping[str, Command] = field(default_factory=dict)
    """What could be done instead: the label of a button -> its command."""


Table = dict[type[Exception], Callable[[Any], Words]]
"""Errors of other rooms and what makes their words. One without any has those of the closest of its ancestors."""


@dataclass_transform(eq_default=False)
class Refusal(Exception):
    """Why handlers refuse something: each kind is a dataclass.

    Its fields may hold emails, so they are neither `args` nor in its `repr`: nothing that logs it shows them.
    """

    def __init_subclass__(cls) -> None:
        dataclass(eq=False, repr=False)(cls)

    def __new__(cls, *_: object, **__: object) -> Self:
        return super().__new__(cls)

    def words(self) -> Words:
        """Return what the person who asked is told."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class AlreadySo:
    """What is said of things that are as somebody wants them: of *one*, and of *several*."""

    one: str = "is already as you want it"
    several: str = "are already as you want it"

    @classmethod
    def with_status(cls, status: str) -> Self:
        """*status*: ``on`` or ``off``."""
        return cls(f"is already {status}", f"are already {status}")


class NothingToChange(Refusal):
    """Everything of these *titles* is already as it was asked to be. *note*: until when, or who made it so, if that is known."""

    titles: Sequence[str]
    so: AlreadySo
    note: str = ""

    def words(self) -> Words:
        names = join_words([show_title(title) for title in self.titles], most=MAX_NAMED)
        return Words(f"{names} {self.so.several if len(self.titles) > 1 else self.so.one}.", self.note)


def show_title(title: str) -> str:
    """Return the email of a member as code, or the name of a rule or group in quotes."""
    return code(title, 150) if "@" in title else quote(title)


class NoGroups(Refusal):
    """The rules service has no groups."""

    def words(self) -> Words:
        return Words("The rules service has no groups.", again={"List rules": RulesList()})


class NotOneGroup(Refusal):
    """A name that fits no group, or several; *candidates* are those."""

    ref: str
    candidates: Sequence[Group]

    def words(self) -> Words:
        what = f"No group is called {code(self.ref)}."
        if self.candidates:
            names = (f"{quote(group.title, 60)} ({code(group.id, 60)})" for group in self.candidates[:8])
            what = f"{code(self.ref)} matches {plural(len(self.candidates), 'group')}: {', '.join(names)}"
        return Words(what, next="Use its id, or its whole name.", again={"List groups": RulesGroups()})


class InvalidDraft(Refusal):
    """What was asked would make a rule that can't be right, or sets a field that can't be set so."""

    problems: Sequence[Problem]

    def words(self) -> Words:
        lines = [f"{f'Pair {one.pair}: ' if one.pair else ''}{esc(problem_words(one))}" for one in self.problems]
        if len(lines) == 1:
            return Words(lines[0])
        what = "\n".join(("That rule wouldn’t work:", *(f"• {line}" for line in lines)))
        return Words(what, next="Fix that and try again.")


class TooMany(Refusal):
    """More rules or members (*what*) at once than one command takes."""

    count: int
    most: int
    what: str = "rules"

    def words(self) -> Words:
        named = f"You named {self.count:,} {self.what}, and one command takes at most {self.most:,}."
        return Words(named, next="Use several commands.")


class NothingToExport(Refusal):
    """No rule, or no member (*what*), is there or passes the filters: a file would be empty."""

    what: str

    def words(self) -> Words:
        then = f"Try the same filters with `{slash(f'{self.what}s list')}`."
        return Words(f"No {self.what}s match, so nothing was exported.", next=then, unchanged=None)


class EmailsInFile(Refusal):
    """A file for a channel contains whole emails. *privately*: the command that sends it in a direct message."""

    privately: Command

    def words(self) -> Words:
        return Words(
            "These rules contain emails or secrets, so the file can’t go into a channel.",
            next="You can have it in a direct message.",
            unchanged=None,
            again={"Send it to me": self.privately},
        )


class NothingToUndo(Refusal):
    """No change has the reference that was *asked* for; or the caller did nothing here, or *did* last what isn't taken back."""

    asked: str | None
    did: str = ""

    def words(self) -> Words:
        if self.did:
            again = "Put it right with another command, or with the buttons of its card if it has one."
            return Words(f"What you did last here can’t be undone: {self.did}.", next=again)
        what = (
            f"No change has the reference {code(self.asked)}." if self.asked else "You haven’t changed anything here."
        )
        return Words(
            what, next=f"Press *Undo* on its card, or use its reference: `{slash('gatehouse undo 1a2b3c4d')}`."
        )


class NoMember(Refusal):
    """Nobody on *site* has this address. *again*: the same command for the sites on which somebody has it."""

    email: str
    site: str
    again: Mapping[str, Command] = field(default_factory=dict)

    def words(self) -> Words:
        what = f"{code(self.email)} is not a member of {esc(self.site)}."
        if self.again:
            sites = " or ".join(code(name, 60) for name in self.again)
            use = {f"Use {name}": command for name, command in self.again.items()}
            return Words(what, f"They are a member of {sites}.", again=use)
        then, find = "Check for a typo, or look for similar emails on every site.", MembersWhy(emails=(self.email,))
        return Words(what, next=then, again={"Find similar": find})


class UnknownSegment(Refusal):
    """*site* has no segment of that *name*, as far as is known. *meant*: those like it; *again*: what could be done."""

    name: str
    site: str
    meant: Sequence[str]
    again: Mapping[str, Command]

    def words(self) -> Words:
        return Words(
            f"{esc(self.site)} has no segment {quote(self.name, 80)}.",
            f"Did you mean {' or '.join(quote(name, 60) for name in self.meant)}?" if self.meant else "",
            "If it is new in the site’s dashboard and nobody has it yet, your Gatehouse admin can add it to "
            "`MEMBERS_SEGMENTS`.",
            again=self.again,
        )


class UnknownFilterValue(Refusal):
    """A list is narrowed by a *value* that nothing has; *filter* is what it is of, *known* what there is of that."""

    filter: str
    value: str
    known: Sequence[str]

    def words(self) -> Words:
        known = join_words([esc(each, 60) for each in self.known], "or", most=MAX_NAMED)
        return Words(
            f"No rule has the {self.filter} {quote(self.value, 60)}.",
            next=f"Use {known}.",
            unchanged=None,
            again={"List all rules": RulesList()},
        )


class BadFilter(Refusal):
    """A filter that means nothing; *why* says what it should be, *example* is a command that has it right."""

    why: str
    example: str = ""

    def words(self) -> Words:
        then = f"For example: `{slash(self.example)}`." if self.example else ""
        return Words(esc(self.why), next=then, unchanged=None)


class TimeIsFar(Refusal):
    """A request for a change from or until a *time* that *means* a moment more than a year ahead."""

    time: str
    means: datetime

    def words(self) -> Words:
        then = "Choose an earlier time, or leave it out and switch it yourself."
        return Words(f"{code(self.time)} means {self.means:%Y-%m-%d}, more than a year ahead.", next=then)


class TimeIsSkipped(Refusal):
    """A request for a change from a *time* on that clocks never show: they are set forward past it, to *shown*."""

    time: str
    shown: datetime

    def words(self) -> Words:
        then = f"Choose another time, such as {self.shown:%H:%M}."
        return Words(f"There is no {code(self.time)}: clocks skip that hour when they are set forward.", next=then)


class GivenUp(Refusal):
    """A request that was begun many times and never came to its end."""

    def words(self) -> Words:
        return Words(
            "Gatehouse was interrupted every time it tried this, and has given up.",
            next="Check the card, or what is pending, before you try again.",
            unchanged=None,
            again={"Show pending": GatehousePending()},
        )


class OldButton(Refusal):
    """A button that this release does not know."""

    def words(self) -> Words:
        what = "That button is from an older version of Gatehouse."
        return Words(what, next="Run the command again for new buttons.")


class OldCard(Refusal):
    """A button on a message that no longer speaks for its change. *link* leads to the one that does.

    *is_copy*: the message speaks for no other change either.
    """

    link: str
    is_copy: bool = False

    def words(self) -> Words:
        newer = f"Use the newer one: {self.link}" if self.link else ""
        return Words("This card is out of date.", next=newer or "A newer one will appear in the channel in a moment.")


class NothingInMessage(Refusal):
    """The message shortcut was used on a message that names nothing to look up."""

    def words(self) -> Words:
        then = f"Type a command instead; `{slash('gatehouse help')}` shows some."
        return Words("That message contains no URL and no email.", next=then, unchanged=None)


class NothingPicked(Refusal):
    """Somebody picked the menu line that says that nothing could be read."""

    def words(self) -> Words:
        return Words("That was an error message, not a result.", next="Search again.", unchanged=None)


class FormForgotten(Refusal):
    """A form that was refused is to be opened again, and is no longer kept."""

    def words(self) -> Words:
        then = "Run the command again for a new one."
        return Words("This form is no longer kept.", next=then, unchanged=None)
