"""What the store can answer with, as exceptions; no error of SQLAlchemy leaves it."""

from __future__ import annotations

from bot.domain.change import Change


class StoreError(Exception):
    """The database did not do what it was asked: locked, full, read-only, gone. Nothing was written."""


class StoreCorrupt(StoreError):
    """The database file is damaged; Gatehouse does not act on it."""


class NewerRelease(Exception):
    """A newer release wrote this change: this one can't read it, or must not act on it. *change_id* names it."""

    def __init__(self, change_id: str) -> None:
        super().__init__(change_id)
        self.change_id = change_id


class TargetBusy(Exception):
    """Another change holds the target; *change* is that one."""

    def __init__(self, change: Change) -> None:
        super().__init__(change.id)
        self.change = change
