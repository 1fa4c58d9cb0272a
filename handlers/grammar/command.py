"""The base of every command: its name, its help, and fields that are read from words and written as words."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import KW_ONLY, dataclass, fields, replace
from enum import IntEnum
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, Final, Self

from bot.policy.model import Act
from handlers.grammar.tokens import Word, escape_entities

if TYPE_CHECKING:
    from handlers.grammar.time_fields import Expiry, Start

command_prefix: Final[ContextVar[str]] = ContextVar("command_prefix", default="")
"""The setting ``COMMAND_PREFIX``, for every text that names a command: set once, before anything starts."""


def slash(words: str) -> str:
    """Return the command as people here type it: ``rules list`` is ``/acme-rules list`` where commands have a prefix."""
    return f"/{command_prefix.get()}{words}"


@dataclass(eq=False, repr=False)
class Unclear(Exception):
    """A text that is not a command. *about*: those whose example helps.

    *has_verb*: it begins with the verb of a command, and what follows isn't what that takes. *lacks*: what it doesn't name, as
    its part is declared.
    """

    what: str
    _: KW_ONLY
    about: Sequence[type[Command]] = ()
    has_verb: bool = False
    lacks: str = ""


class Certain(Unclear):
    """A text of which it is certain what it asks for, and that this can't be done: no other meaning is looked for."""


FILTER: Final = re.compile(r"[-–—]*([a-z]+)[:=](.*)", re.DOTALL | re.IGNORECASE)
"""``status:on``, and what people type who are used to other tools: ``--status=on``."""


class Rest:
    """The words after the verb of a command of *kind*, from which each of its fields takes its own."""

    def __init__(self, kind: type[Command], words: Sequence[Word]) -> None:
        self.kind = kind
        self.words = list(words)
        self.filters: dict[str, str] = {}

    def take_filters(self, *names: str) -> dict[str, str]:
        """Take ``name:value`` words of these names, also with a space before the value, and return all values by name.

        Other words, such as URLs, are left. Raises Unclear for no value, or two, of one name.
        """
        left, words = [], iter(self.words)
        for word in words:
            match = None if word.quoted else FILTER.fullmatch(word.text)
            if match and match[1].lower() in names and not match[2].startswith("//"):
                following = None if match[2] else next(words, None)
                name, value = match[1].lower(), following.text if following else match[2].strip('"')
                if not value:
                    raise self.unclear_error(f"Write a value after {name}:, or leave it out.")
                if (first := self.filters.setdefault(name, value)) != value:
                    raise self.unclear_error(f"Only one {name}: works at a time, not {first[:40]} and {value[:40]}.")
            else:
                left.append(word)
        self.words = left
        return self.filters

    def take(self, count: int, fits: Callable[[str], object]) -> str | None:
        """Take the first or the last *count* words, none of them quoted, where they fit as one text; return it, else None."""
        for index in {0, len(self.words) - count} if len(self.words) >= count else ():
            words = self.words[index : index + count]
            text = " ".join(word.text for word in words)
            if not any(word.quoted for word in words) and fits(text):
                del self.words[index : index + count]
                return text
        return None

    def take_all(self) -> str:
        """Take all words that are left, and return them as one text."""
        found = " ".join(word.text for word in self.words)
        self.words = []
        return found

    def expect_end(self) -> None:
        if self.words:
            raise self.unclear_error(f"Unexpected “{self.words[0].text[:60]}”.")

    def missing_error(self, what: str) -> Unclear:
        return Unclear(f"{what[:1].upper()}{what[1:]}?", about=(self.kind,), has_verb=True, lacks=what)

    def unclear_error(self, words: str) -> Unclear:
        return Unclear(words, about=(self.kind,), has_verb=True)


class Rank(IntEnum):
    """When a part is read: parts with a mark or a keyword come before those that are known only by their place."""

    FILTER = 0
    REASON = 1
    START = 2
    EXPIRY = 3
    KEYWORD = 4
    TO = 5
    PLACE = 6


@dataclass(frozen=True)
class Part(ABC):
    """One part of a command's text: how a field is read, written, and shown in `docs/commands.md`.

    *missing*: what to ask for where it is not there; without it, it may be left out.
    """

    rank: ClassVar[Rank] = Rank.PLACE
    written: ClassVar[int] = 0
    """Its order in the written text: after the parts with a lower number, which it would swallow otherwise."""
    shown: str
    missing: str = ""

    def require_value(self, value: Any, rest: Rest) -> Any:
        """Return *value*, or None for nothing; raises Unclear where that is not allowed."""
        if not value and self.missing:
            raise rest.missing_error(self.missing)
        return value or None

    @abstractmethod
    def read(self, rest: Rest) -> Any:
        """Take the field's own words out of *rest*; None where there are none. Raises Unclear."""

    @abstractmethod
    def write(self, value: Any) -> str:
        """Return the words that `read` takes *value* from; raises ValueError for a text with both kinds of quotes."""


PART: Final = "part"
"""Where a field keeps its Part."""


class Common:
    """The fields that mean the same in every command that has them, as they are in those that don't."""

    refs: tuple[str, ...] = ()
    ref: str | None = None
    emails: tuple[str, ...] = ()
    email: str | None = None
    site: str | None = None
    start: Start | None = None
    expiry: Expiry | None = None
    because: str | None = None
    here: bool = False


@dataclass(frozen=True)
class Command(Common):
    """One request to Gatehouse. Its fields, in the order in which they are written, declare with a Part how they are typed."""

    service: ClassVar[str] = ""
    verb: ClassVar[str] = ""
    synonyms: ClassVar[tuple[str, ...]] = ()
    label: ClassVar[str] = ""
    """What its button and its form are called, where its verb alone doesn't say enough."""
    summary: ClassVar[str] = ""
    """One line of help."""
    example: ClassVar[str] = ""
    writes: ClassVar[bool] = False
    """Whether it could change something without another form or click."""
    destroys: ClassVar[bool] = False
    """Whether it takes something away: never suggested for a typo."""
    reads: ClassVar[str] = ""
    """The operation of the policy that shows what it is about, which the caller must be allowed whatever else it does."""
    needs: ClassVar[tuple[str, ...]] = ()
    """The caller must be allowed one of these: what a form or a file changes is known only when it is submitted."""

    @classmethod
    def title(cls) -> str:
        """Return what its button and its form are called."""
        return cls.label or cls.verb.capitalize()

    @classmethod
    def acts(cls) -> Sequence[Act]:
        """Return what the caller must be allowed to do, all of it."""
        return [Act(each) for each in ((cls.reads,) if cls.reads else (), cls.needs) if each]

    @classmethod
    def opens_form(cls) -> bool:
        """Whether it opens a form that changes something, and that asks in a direct message where."""
        return not cls.writes and not all(operation.endswith(".read") for operation in cls.needs)

    @classmethod
    @cache
    def parts(cls) -> Mapping[str, Part]:
        """Return the Part of each field. A field that isn't compared is not part of the text."""
        parts = {each.name: each.metadata[PART] for each in fields(cls) if each.compare}
        return dict(sorted(parts.items(), key=lambda named: named[1].written))

    @classmethod
    def read(cls, rest: Rest) -> Command:
        """Read the command from the words after its verb; raises Unclear."""
        by_rank = sorted(cls.parts().items(), key=lambda named: named[1].rank)
        values = {name: part.read(rest) for name, part in by_rank}
        rest.expect_end()
        command = cls(**{name: value for name, value in values.items() if value is not None})
        command.check(rest)
        return command

    def check(self, rest: Rest) -> None:
        """Raise an Unclear of *rest* where fields do not go together."""

    def write(self) -> str:
        """Return the canonical text after the service's name, such that `parse` gives the same command back.

        Raises ValueError for a text that holds both kinds of quotes.
        """
        return escape_entities(" ".join(filter(None, [self.verb, *self.words()])))

    @classmethod
    def has(cls, name: str) -> bool:
        """Whether it can be typed with the field of this *name*."""
        return name in cls.parts()

    def with_fields(self, **values: Any) -> Self:
        """Return the command with other *values* for some of its fields, by their names."""
        return replace(self, **values)

    def words(self) -> list[str]:
        """Return every field that is there and differs from its default, as words."""
        defaults = {each.name: each.default for each in fields(self)}
        said = [(name, part, getattr(self, name)) for name, part in self.parts().items()]
        return [part.write(value) for name, part, value in said if value and value != defaults[name]]
