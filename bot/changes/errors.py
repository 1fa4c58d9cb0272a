"""Why somebody cannot decide about a change, take it back, or change its end: it, or the right to it, stands otherwise."""

from __future__ import annotations

from bot.changes.model import Change


class ChangeError(Exception):
    """Something cannot be done with *change*, which is how it now stands."""

    def __init__(self, change: Change) -> None:
        super().__init__(f"{change.id[:8]} is {change.state}")
        self.change = change


class AlreadyDecided(ChangeError):
    """Somebody else decided first, or time did."""


class NotYours(ChangeError):
    """The decision belongs to somebody else."""


class PolicyTightened(ChangeError):
    """The policy asks for more than when the change was asked for, and for more than this decision."""


class NotUndoable(ChangeError):
    """The change was not applied, or was taken back already."""


class NotTemporary(ChangeError):
    """The change does not end by itself, or did already."""


class NothingToReview(ChangeError):
    """Nobody owes a review of the change."""


class TooManyQuestions(ChangeError):
    """All the questions that a request takes were asked about the change."""


class UnknownChange(Exception):
    """No change has this id."""


class TooManyRequests(Exception):
    """So many (*count*) requests of the person, or in the *channel*, wait for a decision that there can be no more."""

    def __init__(self, count: int, *, channel: bool) -> None:
        super().__init__(count)
        self.count = count
        self.channel = channel
