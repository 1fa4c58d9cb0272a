"""Rules: how changes to them are read, written and verified."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from bot.changes.effects import Document, Reading, Snapshot, Truth, key_of
from bot.changes.proof import believed, holds, verdict
from bot.clients.errors import ClientError, NotFound, OutcomeUnknown
from bot.clients.rules import RulesClient
from bot.domain.change import Change, Kind, Target
from bot.domain.essence import essence
from bot.domain.rule import Rule, RuleDraft

FEW: Final = 10
"""Rules that are rather read one by one than out of the whole list."""


class RuleSnapshot:
    def __init__(self, rules: Iterable[Rule]) -> None:
        self._rules = {rule.id: rule for rule in rules}
        self._named: dict[tuple[str | None, str | None], list[Rule]] = {}
        for rule in self._rules.values():
            self._named.setdefault((rule.name, rule.rule_type), []).append(rule)

    def live(self, target: Target) -> Document | None:
        rule = self._rules.get(target.key or "")
        return None if rule is None else rule.document()

    def twins(self, change: Change) -> list[str]:
        draft, wanted = _draft(change), essence(change.after)
        alike = self._named.get((draft.name, draft.rule_type), ())
        return [rule.id for rule in alike if holds(essence(rule.document()), wanted)]

    def reading(self, change: Change) -> Reading:
        if change.kind is not Kind.RULE_CREATE or change.target.key is not None:
            return verdict(change, self.live(change.target))
        known = _alike_before(change)
        born = [key for key in self.twins(change) if key not in known]
        if len(born) > 1:  # somebody must look: one of them is too many
            return Reading(Truth.NEITHER, None)
        found = change.target.model_copy(update={"key": born[0] if born else None})
        return verdict(change, self.live(found))


@dataclass(frozen=True, slots=True)
class RuleEffects:
    client: RulesClient

    async def live(self, target: Target) -> Document | None:
        rule = None if target.key is None else await self._get(target.key)
        return None if rule is None else rule.document()

    async def twins(self, change: Change) -> list[str]:
        return _alike(change, (await self.client.all()).whole())

    async def snapshot(self, targets: Sequence[Target]) -> Snapshot:
        keys = [target.key for target in targets if target.key is not None]
        if len(keys) < len(targets):
            return RuleSnapshot((await self.client.fresh()).whole())
        if len(keys) <= FEW:
            return RuleSnapshot(await self._each(keys))
        listing = await self.client.fresh()
        known = {rule.id for rule in listing.known}
        left = [key for key in keys if key not in known] if listing.truncated else []
        return RuleSnapshot([*listing.known, *await self._each(left)])

    async def _each(self, keys: Iterable[str]) -> list[Rule]:
        found = await asyncio.gather(*map(self._get, keys))
        return [rule for rule in found if rule is not None]

    async def _get(self, key: str) -> Rule | None:
        try:
            return await self.client.get(key)
        except NotFound:
            return None

    async def write(self, change: Change) -> str:
        match change.kind:
            case Kind.RULE_CREATE:
                return await self._created(change)
            case Kind.RULE_UPDATE:
                return (await self.client.update(key_of(change), _draft(change))).id
            case Kind.RULE_DELETE:
                return await self._deleted(change)
        raise ValueError(change.kind)

    async def _created(self, change: Change) -> str:
        """The id that the service gave, once it reads so: an answer meant for another names another's rule."""
        made = await self.client.create(_draft(change))
        try:
            live = await self.live(change.target.model_copy(update={"key": made.id}))
        except ClientError as error:
            raise OutcomeUnknown(error.service, f"created, it says, but it could not be read: {error}") from error
        ours = holds(essence(live), essence(change.after)) or essence(live) == essence(made.document())
        if not ours or made.id in _alike_before(change):
            raise OutcomeUnknown("rules", "the answer names another rule")
        return made.id

    async def _deleted(self, change: Change) -> str:
        try:
            return await self.client.delete(key_of(change))
        except NotFound as error:
            return await believed(error, self, change)

    def replaces(self, change: Change) -> bool:
        return True

    async def read_back(self, change: Change, twins: Iterable[str]) -> Reading:
        if change.kind is not Kind.RULE_CREATE:
            return verdict(change, await self.live(change.target))
        known = {*twins, *_alike_before(change)}
        born = [key for key in _alike(change, (await self.client.fresh()).whole()) if key not in known]
        if len(born) > 1:  # somebody must look: one of them is too many
            return Reading(Truth.NEITHER, None)
        key = change.target.key or (born[0] if born else None)
        live = await self.live(change.target.model_copy(update={"key": key}))
        return verdict(change, live)


def _alike(change: Change, rules: Iterable[Rule]) -> list[str]:
    """The ids of the rules that look just like the one that *change* creates."""
    wanted = essence(change.after)
    return [rule.id for rule in rules if holds(essence(rule.document()), wanted)]


def _alike_before(change: Change) -> list[str]:
    """The ids of the rules that looked just like the one to be created before it was: noted by the pipeline."""
    return list((change.result or {}).get("twins", ()))


def _draft(change: Change) -> RuleDraft:
    return RuleDraft.model_validate(change.after)
