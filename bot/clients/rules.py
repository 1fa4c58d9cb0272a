"""The rules service (its specification, "Endpoints"), and the pages that the real one adds to it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

from pydantic import ValidationError

from bot.clients.envelopes import opened, records, sent
from bot.clients.errors import BadIdentifier, OutcomeUnknown, Unreadable
from bot.clients.flights import Flight
from bot.clients.http import Service
from bot.clients.indexes import Indexed
from bot.clients.listing import Listing
from bot.clients.paging import Lists
from bot.clients.rule_bodies import RuleBodies
from bot.domain.rule import RULE_ID, Rule, RuleDraft
from bot.domain.search import Index, text_of_rule


class RulesClient:
    """Typed rules in, typed rules out, the clients' errors for all else."""

    def __init__(self, service: Service, *, keep: float = 10.0, clock: Callable[[], float] = time.monotonic) -> None:
        self._service = service
        self._bodies = RuleBodies()
        self._list: Lists[Rule] = Lists(
            service, ("rules",), partial(opened, service), records, self._read, lambda rule: rule.id
        )
        self._flight: Flight[Listing[Rule]] = Flight(
            self._list.read, keep=keep, clock=clock, many=lambda found: found.known
        )
        self._indexed: Indexed[Rule] = Indexed(text_of_rule)

    async def fresh(self) -> Listing[Rule]:
        """Every rule as it is now, through all pages; each id once, as it was read last."""
        return await self._flight.fresh()

    async def all(self) -> Listing[Rule]:
        """The same, read once for all of a person's command that asks."""
        return await self._flight.current()

    async def recent(self) -> Listing[Rule]:
        """The same, up to some seconds old: for type-ahead."""
        return await self._flight.recent()

    async def index(self) -> Index[Rule]:
        """What `recent` brings, ready to be searched."""
        return await self._indexed.of((await self.recent()).known)

    async def get(self, rule_id: str) -> Rule:
        """One rule. Raises NotFound, or BadIdentifier for what cannot be an id."""
        document = await opened(self._service, await self._service.read("rules", self._checked(rule_id)))
        rule = self._rule(document)
        if rule.id != rule_id:
            raise Unreadable(self._service.name, "it answered with another rule")
        return rule

    async def create(self, draft: RuleDraft) -> Rule:
        """Create a rule; return it with its new id. Raises a Refusal, Unreachable or OutcomeUnknown."""
        return await self._written("POST", draft, None)

    async def update(self, rule_id: str, draft: RuleDraft) -> Rule:
        """Replace the rule by *draft*, which must be the whole of it; return it as the service now has it."""
        return await self._written("PUT", draft, self._checked(rule_id))

    async def delete(self, rule_id: str) -> str:
        """Delete the rule; return the service's message."""
        document = await self._write("DELETE", self._checked(rule_id))
        message = document.get("message")
        return message if isinstance(message, str) else ""

    async def _written(self, method: str, draft: RuleDraft, rule_id: str | None) -> Rule:
        segments = () if rule_id is None else (rule_id,)
        document = await self._bodies.sent(
            lambda body: self._write(method, *segments, body=body), draft.body(), new=rule_id is None
        )
        try:
            rule = self._rule(document)
        except Unreadable as error:
            raise OutcomeUnknown(self._service.name, str(error)) from error
        if rule_id is not None and rule.id != rule_id:
            raise OutcomeUnknown(self._service.name, "it answered with another rule")
        return rule

    async def _write(self, method: str, *segments: str, body: Any = None) -> dict[str, Any]:
        try:
            return await sent(self._service, method, "rules", *segments, body=body)
        finally:
            self._flight.drop()
            self._indexed.drop()

    def _rule(self, document: dict[str, Any]) -> Rule:
        try:
            rule = Rule.model_validate(document.get("data"))
        except ValidationError as error:
            raise Unreadable(self._service.name, f"no rule: {error.error_count()} fields are wrong") from error
        self._bodies.note(rule)
        return rule

    def _checked(self, rule_id: str) -> str:
        if not RULE_ID.fullmatch(rule_id):
            raise BadIdentifier(self._service.name, "the id of a rule", rule_id)
        return rule_id

    def _read(self, found: Iterable[Any]) -> Iterator[Rule | None]:
        """Each record as a rule, or None where it is none: one bad record must not hide the others."""
        for record in found:
            if isinstance(record, dict) and record.get("objectType", "rule") != "rule":
                continue  # the real service mixes groups in
            try:
                rule = Rule.model_validate(record)
            except ValidationError:
                yield None
            else:
                self._bodies.note(rule)
                yield rule
