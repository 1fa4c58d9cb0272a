"""What every command has: its name, its line of help, and what it takes to ask it."""

from __future__ import annotations

from contextvars import ContextVar
from dataclasses import dataclass
from typing import ClassVar, Final

command_prefix: Final[ContextVar[str]] = ContextVar("command_prefix", default="")
"""The setting ``COMMAND_PREFIX``, for every text that names a command: set once, before anything starts."""


def slash(words: str) -> str:
    """Return the command as people here type it: ``rules list`` is ``/acme-rules list`` where commands have a prefix."""
    return f"/{command_prefix.get()}{words}"


@dataclass(frozen=True, slots=True)
class Lasts:
    """How long a change is to last: for so many seconds, or until an hour and minute of the day."""

    as_typed: str
    seconds: int | None = None
    until: tuple[int, int] | None = None


@dataclass(frozen=True)
class Command:
    """One thing to ask. *usage* follows the service's name; *summary* is one line of help."""

    service: ClassVar[str] = ""
    verb: ClassVar[str] = ""
    synonyms: ClassVar[tuple[str, ...]] = ()
    usage: ClassVar[str] = ""
    summary: ClassVar[str] = ""
    example: ClassVar[str] = ""
    writes: ClassVar[bool] = False
    """Whether it could change something without another form or click."""
    destroys: ClassVar[bool] = False
    """Whether it takes something away: never suggested for a typo."""
    needs: ClassVar[str | None] = None
    """The operation of the policy that whoever asks must be allowed; None where everybody may."""
    or_needs: ClassVar[tuple[str, ...]] = ()
    """Operations that are enough instead: what a form or a file changes is known only when it comes back."""
