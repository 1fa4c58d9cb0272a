"""Members of a site (membership-service specification, "Resources and their fields")."""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Iterable
from typing import Annotated, Final

from pydantic import BeforeValidator, Field

from bot.domain.emails import all_masked, masked
from bot.domain.wire import Wire

__all__ = ["LAST_MOMENT", "SITE_ID", "Member", "Segments", "all_masked", "found", "masked", "reference"]

SITE_ID: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")
"""What a site's id may be: nothing in it may mean something in a path."""

LAST_MOMENT: Final = 253_402_300_800_000
"""The end of the year 9999, in milliseconds: what is later is no time that Slack could show."""

Segments = Annotated[tuple[str, ...], BeforeValidator(lambda value: () if value is None else value)]


class Member(Wire):
    """One person on one site. The specification does not show a member record, so only the e-mail must be there."""

    email: str = Field(min_length=1)
    name: str | None = None
    segments: Segments = Field(default=(), alias="allowedSegments")

    @property
    def title(self) -> str:
        return (self.name or "").strip() or self.email

    @property
    def identity(self) -> str:
        """What two spellings of one address share: the services' case rule is not given, people's is."""
        return self.email.strip().casefold()

    @property
    def since(self) -> int | None:
        """When they became a member, in seconds since 1970; None where the service does not tell.

        ``createdAt`` in milliseconds is what services of this kind send; the specification shows no record.
        """
        made = (self.model_extra or {}).get("createdAt")
        if not isinstance(made, int) or isinstance(made, bool):
            return None
        return made // 1000 if 0 < made < LAST_MOMENT else None


def found(members: Iterable[Member], email: str) -> Member | None:
    """The member with this address: the exact spelling, or the only one that differs in case."""
    wanted = email.strip()
    alike = [member for member in members if member.identity == wanted.casefold()]
    exact = [member for member in alike if member.email == wanted]
    if exact:
        return exact[0]
    return alike[0] if len(alike) == 1 else None


def reference(secret: bytes, site: str, email: str) -> str:
    """What stands for a member where no address may be, such as in a channel's buttons: it tells nothing without *secret*."""
    return hmac.new(secret, f"{site}\n{email}".encode(), hashlib.sha256).hexdigest()[:32]
