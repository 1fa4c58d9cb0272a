"""Why somebody cannot decide about a change, take it back, or change its end: it, or the right to it, stands otherwise."""

from __future__ import annotations

from bot.domain.change import Change


class AlreadyDecided(Exception):
    """Somebody else decided first, or time did; *change* is how it stands now."""

    def __init__(self, change: Change) -> None:
        super().__init__(change.state)
        self.change = change


class NotYours(Exception):
    """The decision belongs to somebody else."""

    def __init__(self, change: Change) -> None:
        super().__init__(change.requester)
        self.change = change


class PolicyTightened(Exception):
    """The policy asks for more than when *change* was asked for, and for more than this decision."""

    def __init__(self, change: Change) -> None:
        super().__init__(change.id)
        self.change = change


class NotUndoable(Exception):
    """The change was not applied, or was taken back already; *change* is how it stands."""

    def __init__(self, change: Change) -> None:
        super().__init__(change.state)
        self.change = change


class NotTemporary(Exception):
    """The change does not end by itself, or did already."""

    def __init__(self, change: Change) -> None:
        super().__init__(change.state)
        self.change = change


class NothingToReview(Exception):
    """Nobody owes a review of *change*."""

    def __init__(self, change: Change) -> None:
        super().__init__(change.state)
        self.change = change


class UnknownChange(Exception):
    """No change has this id."""


class TooManyRequests(Exception):
    """So many (*count*) requests of the person, or in the *channel*, wait for a decision that there can be no more."""

    def __init__(self, count: int, *, channel: bool) -> None:
        super().__init__(count)
        self.count = count
        self.channel = channel


class TooManyQuestions(Exception):
    """All the questions that a request takes were asked about *change*."""

    def __init__(self, change: Change) -> None:
        super().__init__(len(change.questions))
        self.change = change
