"""What came of reading a list: the items, and how much of it was not read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

from bot.clients.errors import ClientError
from bot.domain.member import Member, found

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Gap:
    """How much of a list was read. *total*: how long the service says it is; None where it does not tell."""

    read: int
    total: int | None = None

    def __str__(self) -> str:
        """How many of how many: ``30 of 350``."""
        return f"{self.read:,} of {self.total:,}" if self.is_counted else f"{self.read:,}"

    @property
    def is_counted(self) -> bool:
        """Whether it is known how much is missing."""
        return self.total is not None and self.total > self.read

    def sentence(self, plural: str) -> str:
        """How much of a list of *plural* was read, in plain text."""
        if self.is_counted:
            return f"Only {self} {plural} could be read."
        return f"Only a part of the list could be read: {self} {plural}."


class Incomplete(ClientError):
    """Only a part of a list was read, and the rest might matter."""

    def __init__(self, service: str, gap: Gap) -> None:
        super().__init__(service, gap.sentence("records"))
        self.gap = gap


@dataclass(frozen=True, slots=True)
class Listing(Generic[T]):
    """What was read of a list of *service*.

    Where anything follows from what is not in it, that is a question to `whole`. `known` is for what follows from
    those that are, and is shown together with the `gap`.
    """

    service: str
    known: list[T]
    gap: Gap | None = None
    """None where every record was read."""
    truncated: bool = False
    """Whether records never came. Where they came and could not be read, that is a gap, but the list is no shorter."""

    def whole(self) -> list[T]:
        """Every item; raises Incomplete where some never came."""
        if self.truncated and self.gap is not None:
            raise Incomplete(self.service, self.gap)
        return self.known


def member_in(listing: Listing[Member], email: str) -> Member | None:
    """The member with this address: the exact spelling, or the only one that differs in case.

    Raises Incomplete where that would be said of members of whom only a part was read.
    """
    member = found(listing.known, email)
    return member if member is not None and member.email == email.strip() else found(listing.whole(), email)
