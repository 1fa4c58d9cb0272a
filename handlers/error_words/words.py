"""What a person is told about an error: one shape for all of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from handlers.commands.command import Command


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
