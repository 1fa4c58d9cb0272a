"""What happens in a workspace and may become an event for the app: by a person, the app itself, or Slack."""

from __future__ import annotations

from dataclasses import dataclass

from sandbox.slack.message import Message


@dataclass(frozen=True, slots=True)
class Posted:
    """A message is new."""

    message: Message


@dataclass(frozen=True, slots=True)
class Edited:
    """A message was edited; *before*: what it was."""

    message: Message
    before: Message


@dataclass(frozen=True, slots=True)
class Deleted:
    """A message is gone."""

    message: Message


Happening = Posted | Edited | Deleted
