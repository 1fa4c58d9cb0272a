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
