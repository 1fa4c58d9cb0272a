"""Members of a site (membership-service specification, "Resources and their fields")."""

from __future__ import annotations

import re
from typing import Annotated, Final

from pydantic import BeforeValidator, Field

from bot.domain.wire import Wire

SITE_ID: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")
"""What a site's id may be: nothing in it may mean something in a path."""

ADDRESS: Final = re.compile(r"[\w.+%-]+@[\w-]+(?:\.[\w-]+)+")
"""What looks like an e-mail address in a running text."""

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


def masked(email: str) -> str:
    """The address as a channel may see it: ``a***@example.com``."""
    local, at, domain = email.rpartition("@")
    return f"{local[:1]}***@{domain}" if at else f"{email[:1]}***"


def all_masked(text: str) -> str:
    """*text* with every address in it as a channel may see it."""
    return ADDRESS.sub(lambda match: masked(match[0]), text)
