"""What handlers refuse to do, as exceptions with what there is to know. The words for them are in `handlers.explain`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from bot.changes.model import Change
from bot.rules.edit import Problem
from bot.rules.model import Group
from handlers.grammar.command import Command


class NothingToChange(Exception):
    """Everything of these *titles* is already as it was asked to be. *status*: theirs, where that was the question."""

    def __init__(self, titles: Sequence[str], status: str | None) -> None:
        super().__init__("nothing to change")
        self.titles = tuple(titles)
        self.status = status


class NoGroups(Exception):
    """The rules service has no groups."""


class NotOneGroup(Exception):
    """A name that fits no group, or several; *candidates* are those."""

    def __init__(self, ref: str, candidates: Sequence[Group]) -> None:
        super().__init__(len(candidates))
        self.ref = ref
        self.candidates = tuple(candidates)


class InvalidDraft(Exception):
    """What was asked would make a rule that cannot be right."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__(len(problems))
        self.problems = tuple(problems)


class NothingToExport(Exception):
    """No rule, or no member (*what*), is there or passes the filters: a file would be empty."""

    def __init__(self, what: str) -> None:
        super().__init__(what)
        self.what = what


class EmailsInFile(Exception):
    """A file for a channel contains whole emails. *privately*: the command that sends it in a direct message."""

    def __init__(self, privately: Command) -> None:
        super().__init__("emails")
        self.privately = privately


class NothingToUndo(Exception):
    """No applied change fits what was asked."""

    def __init__(self, asked: str | None) -> None:
        super().__init__(asked)
        self.asked = asked


class NoMember(Exception):
    """Nobody on *site* has this address. *again*: the same command for the sites on which somebody has it."""

    def __init__(self, email: str, site: str, again: Mapping[str, Command] | None = None) -> None:
        super().__init__(site)
        self.email = email
        self.site = site
        self.again = again or {}


class MemberGone(Exception):
    """Whoever a shared card of *site* showed is not there any more."""

    def __init__(self, site: str) -> None:
        super().__init__(site)
        self.site = site


class UnknownSegment(Exception):
    """*site* has no segment of that *name*, as far as is known. *meant*: those like it; *again*: what could be done."""

    def __init__(self, name: str, site: str, meant: Sequence[str], again: Mapping[str, Command]) -> None:
        super().__init__(site)
        self.name = name
        self.site = site
        self.meant = tuple(meant)
        self.again = again


class BadFilter(Exception):
    """A filter that means nothing; *words* say what it should be."""

    def __init__(self, words: str) -> None:
        super().__init__(words)
        self.words = words


class EndIsPast(Exception):
    """A request for a change until a time that came before the request could be done."""


class LoopNeedsReason(Exception):
    """A change that would make a loop, without a word on why. *loops*: each in a sentence of plain text."""

    def __init__(self, loops: Sequence[str]) -> None:
        super().__init__("loop")
        self.loops = tuple(loops)


class GivenUp(Exception):
    """A request that was begun many times and never came to its end."""


class OldButton(Exception):
    """A button that this release does not know."""


class OldCard(Exception):
    """A button on a message that no longer speaks for its change. *link* leads to the one that does."""

    def __init__(self, link: str) -> None:
        super().__init__("old card")
        self.link = link


class LookFirst(Exception):
    """Somebody decides about a change whose card doesn't show all of it, and has not seen the rest."""

    def __init__(self, change: Change) -> None:
        super().__init__(change.id)
        self.change = change


class NothingInMessage(Exception):
    """A message shortcut was used on a message in which *what* it needs does not stand."""

    def __init__(self, what: str) -> None:
        super().__init__(what)
        self.what = what


class NothingPicked(Exception):
    """Somebody picked the line that says that nothing could be read."""


class EditedMessage(Exception):
    """A message that was changed after it was sent asks for a change."""


class NoTrigger(Exception):
    """A modal was asked for where Slack gave no way to open one."""


@dataclass(frozen=True, slots=True)
class Words:
    """What a person is told: what happened, what that means, what to do now. All mrkdwn, escaped."""

    what: str
    cause: str = ""
    next: str = ""
    unchanged: bool | None = True
    """Whether nothing was changed for sure; None where that is not the question, or not known."""
    again: Mapping[str, Command] = field(default_factory=dict)
    """What could be done instead: the label of a button -> its command."""


Table = dict[type[Exception], Callable[[Any], Words]]
"""Errors and what makes their words. An error without any has those of the closest of its ancestors."""
