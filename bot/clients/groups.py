"""Groups of rules, which the specification does not have and the real service does: ``GET /groups``, ``PUT /groups/:id``.

A service without groups is no error: then nobody hears of them.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, Final

import structlog
from pydantic import ValidationError

from bot.clients.cache import SingleFlight
from bot.clients.errors import BadIdentifier, ClientError, OutcomeUnknown, RateLimited, Refusal, Unreadable
from bot.clients.http import Service
from bot.clients.lists import Listing, Lists, opened, records, sent
from bot.rules.model import Group, Groups

log = structlog.get_logger(__name__)

GROUP_ID: Final = re.compile(r"[A-Za-z0-9_-]{1,100}")
PATIENCE: Final = 3.0
"""Seconds that people wait for what only adds to an answer."""
KEEP: Final = 10.0
KEEP_NOTHING: Final = 60.0
"""Seconds for which a service is taken to have no groups, once it has said so."""


class GroupsClient:
    """Typed groups in and out; the clients' errors only for those who ask for groups themselves."""

    def __init__(
        self,
        service: Service,
        *,
        keep: float = KEEP,
        patience: float = PATIENCE,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._service = service
        self._patience = patience
        self._clock = clock
        self._list: Lists[Group] = Lists(
            service, ("groups",), partial(opened, service), records, _groups, lambda group: group.id
        )
        self._flight: SingleFlight[Listing[Group] | None] = SingleFlight(self._read, keep=keep, clock=clock)
        self._nothing_until = float("-inf")

    async def groups(self) -> Groups | None:
        """What adds to an answer about rules, up to some seconds old. None where there is nothing to say: never raises.

        A part of the groups says nothing: a group that it lacks would be one that does not exist.
        """
        if self._clock() < self._nothing_until:
            return None
        try:
            async with asyncio.timeout(self._patience):
                found = await self._flight.recent()
                return None if found is None else Groups.of(found.whole())
        except (ClientError, TimeoutError) as error:
            log.info("groups_not_read", error=type(error).__name__)
            self._nothing_until = self._clock() + KEEP
            return None

    async def listed(self) -> Listing[Group] | None:
        """Every group, fresh; None where the service has no groups. Raises Unreachable, RateLimited or TooLarge."""
        return await self._flight.fresh()

    async def find(self, group_id: str) -> Group | None:
        """The group with this id, fresh. Raises a Refusal where the service has no groups, and what `listed` raises;
        Incomplete where it is not in the part of them that was read.
        """
        found = await self._list.read()
        known = next((group for group in found.known if group.id == group_id), None)
        return known or next((group for group in found.whole() if group.id == group_id), None)

    async def update(self, group: Group) -> Group:
        """Replace the group by *group*, which must be the whole of it; return it as the service now has it."""
        if not GROUP_ID.fullmatch(group.id):
            raise BadIdentifier(self._service.name, "the id of a group", group.id)
        try:
            document = await sent(self._service, "PUT", "groups", group.id, body=group.body())
        finally:
            self._flight.drop()
        try:
            stored = Group.model_validate(document.get("data"))
        except ValidationError as error:
            raise OutcomeUnknown(self._service.name, "the answer is no group") from error
        if stored.id != group.id:
            raise OutcomeUnknown(self._service.name, "it answered with another group")
        return stored

    async def _read(self) -> Listing[Group] | None:
        try:
            return await self._list.read()
        except RateLimited:
            raise
        except (Refusal, Unreadable) as error:
            log.info("no_groups", error=type(error).__name__)
            self._nothing_until = self._clock() + KEEP_NOTHING
            return None


def _groups(found: Iterable[Any]) -> Iterator[Group | None]:
    """The records that are groups: the real service's own sample has a rule among them."""
    for record in found:
        if not isinstance(record, dict) or record.get("objectType", "group") != "group" or "ruleType" in record:
            continue
        try:
            yield Group.model_validate(record)
        except ValidationError:
            log.info("group_not_readable")
            yield None
