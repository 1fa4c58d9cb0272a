"""The membership service (its specification, "Endpoints"), for one site. Its answers are specified nowhere.

So any 2xx that does not say otherwise counts as taken, and whoever writes reads back. There is no operation for a
single member and none for segments: both are made out of the list.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import Any, Final

from pydantic import ValidationError

from bot.clients.errors import AlreadyExists, BadIdentifier, OutcomeUnknown, Refused, Unreadable, refusal
from bot.clients.flights import Flight
from bot.clients.http import Answer, Service
from bot.clients.indexes import Indexed
from bot.clients.parsing import gently, parsed_gently, taken, update
from bot.domain.checks import BadEmail, checked_email
from bot.domain.member import SITE_ID, Member, found
from bot.domain.search import Index, text_of_member

LISTS: Final = ("data", "members", "items", "results")
"""Fields in which services of this kind put a list; the specification shows none."""
MOST_PAGES: Final = 5000
EXISTS: Final = ("already", "exists", "duplicate")


class MembersClient:
    """Typed members in, typed members out, the clients' errors for all else."""

    def __init__(
        self, service: Service, site_id: str, *, keep: float = 10.0, clock: Callable[[], float] = time.monotonic
    ) -> None:
        if not SITE_ID.fullmatch(site_id):
            raise BadIdentifier(service.name, "the id of a site", site_id)
        self._service = service
        self._path = ("sites", site_id, "members")
        self._flight: Flight[list[Member]] = Flight(self._all, keep=keep, clock=clock, many=lambda found: found)
        self._indexed: Indexed[Member] = Indexed(text_of_member)

    async def all(self) -> list[Member]:
        """Every member of the site, fresh."""
        return await self._flight.fresh()

    async def recent(self) -> list[Member]:
        """The same, up to some seconds old: for type-ahead."""
        return await self._flight.recent()

    async def index(self) -> Index[Member]:
        """What `recent` brings, ready to be searched."""
        return await self._indexed.of(await self.recent())

    async def find(self, email: str) -> Member | None:
        """The member with this address: the exact spelling, or the only one that differs in case."""
        return found(await self.all(), email)

    async def add(self, member: Member) -> None:
        """Add a member: name, e-mail and segments, as the specification's body has them."""
        self._address(member.email)
        body = {"name": member.name or "", "email": member.email, "allowedSegments": list(member.segments)}
        await self._write("POST", body=body, slash=True)

    async def update(self, email: str, *, name: str | None, segments: Iterable[str]) -> None:
        """Set name and segments. Whether this replaces or merges segments is not specified: pass all of them."""
        body = {"name": name or "", "allowedSegments": list(segments)}
        await self._write("PATCH", self._address(email), body=body)

    async def grant(self, email: str, segments: Iterable[str]) -> None:
        await self._write("POST", self._address(email), "segments", body={"allowedSegments": list(segments)})

    async def revoke(self, email: str, segments: Iterable[str]) -> None:
        """Take segments away: a DELETE that carries a body, which a proxy may drop. Whoever calls this reads back."""
        await self._write("DELETE", self._address(email), "segments", body={"allowedSegments": list(segments)})

    async def remove(self, email: str) -> None:
        """Remove the member from the site."""
        await self._write("DELETE", self._address(email))

    async def _write(self, method: str, *segments: str, body: Any = None, slash: bool = False) -> None:
        try:
            answer = await self._service.write(method, *self._path, *segments, body=body, slash=slash)
        except Refused as error:
            if any(word in str(error).casefold() for word in EXISTS):
                raise AlreadyExists(error.service, str(error), error.status) from error
            raise
        finally:
            self._flight.drop()
            self._indexed.drop()
        self._taken(answer)

    def _taken(self, answer: Answer) -> None:
        """Raise unless the answer can be a yes: empty, or JSON that does not say ``success: false``."""
        if not answer.body.strip():
            return
        try:
            document = answer.document()
        except ValueError as error:
            raise OutcomeUnknown(self._service.name, f"unreadable answer: {error}") from error
        if isinstance(document, dict) and document.get("success") is False:
            raise refusal(
                self._service.name, answer.status, str(document.get("message") or document.get("error") or "")
            )

    async def _all(self) -> list[Member]:
        known: dict[str, Member] = {}
        query: dict[str, str] | None = None
        seen: set[str] = set()
        while True:
            document = await self._document(await self._service.read(*self._path, query=query, slash=True))
            records = _records(document)
            if records is None:
                raise Unreadable(self._service.name, "no list of members in the answer")
            number = len(records)
            members = [member for member in await gently(map(_member, taken(records))) if member is not None]
            if number and not members:
                raise Unreadable(self._service.name, "none of the records in the answer is a member")
            await update(known, ((member.email, member) for member in members))
            offset = document.get("nextOffset") if isinstance(document, dict) else None
            if offset is None or isinstance(offset, bool) or str(offset) in seen or len(seen) >= MOST_PAGES:
                return list(known.values())
            seen.add(str(offset))
            query = {"offset": str(offset)}

    async def _document(self, answer: Answer) -> Any:
        try:
            document = await parsed_gently(answer.body)
        except ValueError as error:
            raise Unreadable(self._service.name, f"no JSON: {error}") from error
        if isinstance(document, dict) and document.get("success") is False:
            raise refusal(self._service.name, answer.status, str(document.get("message") or ""))
        return document

    def _address(self, email: str) -> str:
        try:
            return checked_email(email)
        except BadEmail as error:
            raise BadIdentifier(self._service.name, "an e-mail address", email) from error


def _records(document: Any) -> list[Any] | None:
    """The list in an answer: bare, in a field, or in a field of a field."""
    if isinstance(document, list):
        return document
    if isinstance(document, dict):
        for name in LISTS:
            if (found := _records(document.get(name))) is not None:
                return found
    return None


def _member(record: Any) -> Member | None:
    try:
        return Member.model_validate(record)
    except ValidationError:
        return None
