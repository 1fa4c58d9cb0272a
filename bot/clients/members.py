"""The client of the membership service (its specification, "Endpoints"), for one site.

Its answers are not specified, so any 2xx counts as a success unless it says otherwise, and the caller reads back after
a write. There is no operation to read a single member or the segments: both come from the list.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

from pydantic import ValidationError

from bot.clients.cache import SharedList
from bot.clients.errors import AlreadyExists, BadIdentifier, Refused, Unreadable
from bot.clients.http import Service
from bot.clients.lists import Lists, json_of_write, member_in, name_fields, read_json
from bot.members.model import SITE_ID, Member
from bot.text.emails import BadEmail, checked_email
from bot.text.search import text_of_member

LISTS: Final = ("data", "members", "items", "results")
"""Fields in which services of this kind put a list; the specification does not name one."""
EXISTS: Final = ("already", "exists", "duplicate")


class MembersReader(SharedList[Member]):
    """The read-only half of the client, which handlers get: returns typed members, or raises a ClientError."""

    def __init__(self, service: Service, site_id: str) -> None:
        if not SITE_ID.fullmatch(site_id):
            raise BadIdentifier(service.name, "the id of a site", site_id)
        self._service = service
        self._path = ("sites", site_id, "members")
        members = Lists(
            service,
            self._path,
            read_json,
            _records,
            self._read,
            lambda member: member.email,
            slash=True,
        )
        super().__init__(members.read, text_of_member)

    async def find(self, email: str) -> Member | None:
        """Return the member with this email from the list that `all` returns; raises Incomplete as `member_in` does."""
        return member_in(await self.all(), email)

    def _read(self, found: Iterable[Any]) -> Iterator[Member | None]:
        """Yield each record as a member, or None where it is not one; raises Unreadable where no record is a member."""
        wrong, is_any_one = None, False
        for record in found:
            try:
                yield Member.model_validate(record)
                is_any_one = True
            except ValidationError as error:
                wrong = error
                yield None
        if wrong is not None and not is_any_one:
            fields = name_fields(wrong)
            why = f": {fields} missing or with an unexpected value" if fields else ""
            raise Unreadable(self._service.name, f"a list in which no record is a member{why}")


class MembersClient(MembersReader):
    """The full client, which can also write. A write raises a Refusal, Unreachable or OutcomeUnknown."""

    async def add(self, member: Member) -> None:
        """Add a member: name, email and segments, as the specification's body has them."""
        self._checked_email(member.email)
        body = {"name": member.name or "", "email": member.email, "allowedSegments": list(member.segments)}
        await self._write("POST", body=body, slash=True)

    async def update(self, email: str, *, name: str | None, segments: Iterable[str]) -> None:
        """Set name and segments. Whether this replaces or merges segments is not specified: pass all of them."""
        body = {"name": name or "", "allowedSegments": list(segments)}
        await self._write("PATCH", self._checked_email(email), body=body)

    async def grant(self, email: str, segments: Iterable[str]) -> None:
        await self._write("POST", self._checked_email(email), "segments", body={"allowedSegments": list(segments)})

    async def revoke(self, email: str, segments: Iterable[str]) -> None:
        """Take segments away. This is a DELETE with a body, which a proxy may drop, so the caller must read back."""
        await self._write("DELETE", self._checked_email(email), "segments", body={"allowedSegments": list(segments)})

    async def remove(self, email: str) -> None:
        """Remove the member from the site."""
        await self._write("DELETE", self._checked_email(email))

    async def _write(self, method: str, *segments: str, body: Any = None, slash: bool = False) -> None:
        try:
            answer = await self._service.write(
                method, *self._path, *segments, context=self._context, body=body, slash=slash
            )
        except Refused as error:
            if any(word in str(error).casefold() for word in EXISTS):
                raise AlreadyExists(error.service, str(error), error.status) from error
            raise
        finally:
            self.drop()
        if answer.body.strip():  # an empty answer can be a success
            await json_of_write(self._service, answer, "message", "error")

    def _checked_email(self, email: str) -> str:
        try:
            return checked_email(email)
        except BadEmail as error:
            raise BadIdentifier(self._service.name, "an email", email) from error


def _records(document: Any) -> list[Any] | None:
    """Return the list in an answer: bare, in a field, or in a field of a field; None where there is none."""
    if isinstance(document, list):
        return document
    if isinstance(document, dict):
        for name in LISTS:
            if (found := _records(document.get(name))) is not None:
                return found
    return None
