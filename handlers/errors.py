"""What handlers refuse to do, as exceptions with what there is to know. The words for them are in `handlers.explain`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

from bot.rules.edit import Problem
from bot.rules.model import Group
from handlers.grammar.command import Command


class Refusal(Exception):
    """Why handlers refuse something. Its fields may hold emails, so they are no `args`: nothing that logs it shows them."""

    def __new__(cls, *_: object, **__: object) -> Self:
        return super().__new__(cls)


@dataclass(eq=False, repr=False)
class NothingToChange(Refusal):
    """Everything of these *titles* is already as it was asked to be. *status*: ``on`` or ``off``, where that was the question."""

    titles: Sequence[str]
    status: str | None


class NoGroups(Refusal):
    """The rules service has no groups."""


@dataclass(eq=False, repr=False)
class NotOneGroup(Refusal):
    """A name that fits no group, or several; *candidates* are those."""

    ref: str
    candidates: Sequence[Group]


@dataclass(eq=False, repr=False)
class InvalidDraft(Refusal):
    """What was asked would make a rule that cannot be right. *again*: the same with what was likely meant."""

    problems: Sequence[Problem]
    again: Mapping[str, Command] = field(default_factory=dict)


@dataclass(eq=False, repr=False)
class RefusedField(Refusal):
    """A field that cannot be set so. *again*: the same command with what was likely meant."""

    problem: Problem
    again: Mapping[str, Command]


@dataclass(eq=False, repr=False)
class TooMany(Refusal):
    """More rules or members (*what*) at once than one command takes."""

    count: int
    most: int
    what: str = "rules"


@dataclass(eq=False, repr=False)
class NothingToExport(Refusal):
    """No rule, or no member (*what*), is there or passes the filters: a file would be empty."""

    what: str


@dataclass(eq=False, repr=False)
class EmailsInFile(Refusal):
    """A file for a channel contains whole emails. *privately*: the command that sends it in a direct message."""

    privately: Command


@dataclass(eq=False, repr=False)
class NothingToUndo(Refusal):
    """No applied change has the reference that was *asked* for, or the caller has none here."""

    asked: str | None


@dataclass(eq=False, repr=False)
class NoMember(Refusal):
    """Nobody on *site* has this address. *again*: the same command for the sites on which somebody has it."""

    email: str
    site: str
    again: Mapping[str, Command] = field(default_factory=dict)


@dataclass(eq=False, repr=False)
class MemberGone(Refusal):
    """The member whom a shared card of *site* showed is not there any more."""

    site: str


@dataclass(eq=False, repr=False)
class UnknownSegment(Refusal):
    """*site* has no segment of that *name*, as far as is known. *meant*: those like it; *again*: what could be done."""

    name: str
    site: str
    meant: Sequence[str]
    again: Mapping[str, Command]


@dataclass(eq=False, repr=False)
class BadFilter(Refusal):
    """A filter that means nothing; *words* say what it should be, *example* is a command that has it right."""

    words: str
    example: str = ""


@dataclass(eq=False, repr=False)
class EndIsFar(Refusal):
    """A request for a change until a time, *end*, that is more than a year ahead."""

    end: str


@dataclass(eq=False, repr=False)
class LoopNeedsReason(Refusal):
    """A change that would make a loop, without a word on why. *loops*: each in a sentence of plain text."""

    loops: Sequence[str]


class GivenUp(Refusal):
    """A request that was begun many times and never came to its end."""


class OldButton(Refusal):
    """A button that this release does not know."""


@dataclass(eq=False, repr=False)
class OldCard(Refusal):
    """A button on a message that no longer speaks for its change. *link* leads to the one that does."""

    link: str


@dataclass(eq=False, repr=False)
class NothingInMessage(Refusal):
    """A message shortcut was used on a message that does not contain *what* it needs."""

    what: str


class NothingPicked(Refusal):
    """Somebody picked the menu line that says that nothing could be read."""


class EditedMessage(Refusal):
    """A message that was changed after it was sent asks for a change."""


class FormForgotten(Refusal):
    """A form that was refused is to be opened again, and is no longer kept."""


class NoTrigger(Refusal):
    """A modal was asked for where Slack gave no way to open one."""


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
"""Errors and what makes their words. An error without any has those of the closest of its ancestors."""
