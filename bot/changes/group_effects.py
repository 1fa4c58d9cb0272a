"""Groups of rules: how changes to them are read, written and verified."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from bot.changes.effects import Document, Reading, Snapshot, key_of
from bot.changes.proof import verdict
from bot.clients.groups import GroupsClient
from bot.domain.change import Change, Target
from bot.domain.group import Group


@dataclass(frozen=True, slots=True)
class GroupSnapshot:
    groups: Mapping[str, Document | None]

    def live(self, target: Target) -> Document | None:
        return self.groups.get(target.key or "")

    def twins(self, change: Change) -> list[str]:
        return []

    def reading(self, change: Change) -> Reading:
        return verdict(change, self.live(change.target))


@dataclass(frozen=True, slots=True)
class GroupEffects:
    """Groups are only ever changed: nothing creates one here, and nothing deletes one."""

    client: GroupsClient

    async def live(self, target: Target) -> Document | None:
        group = await self.client.find(target.key or "")
        return None if group is None else group.document()

    async def twins(self, change: Change) -> list[str]:
        return []

    async def write(self, change: Change) -> str:
        return (await self.client.update(Group.model_validate({**(change.after or {}), "id": key_of(change)}))).id

    def replaces(self, change: Change) -> bool:
        return True

    async def read_back(self, change: Change, twins: Iterable[str]) -> Reading:
        return verdict(change, await self.live(change.target))

    async def snapshot(self, targets: Sequence[Target]) -> Snapshot:
        return GroupSnapshot({target.key or "": await self.live(target) for target in targets})
