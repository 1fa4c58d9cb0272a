"""Changes on a site that no setting names any more: each is refused with that, and nothing is sent."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NoReturn

from bot.changes.effects import Document, Reading, Snapshot
from bot.clients.errors import Refused
from bot.domain.change import Change, Target


@dataclass(frozen=True, slots=True)
class GoneEffects:
    site: str

    def _refuse(self) -> NoReturn:
        raise Refused("members", f"no setting names the site {self.site} any more")

    async def live(self, target: Target) -> Document | None:
        self._refuse()

    async def twins(self, change: Change) -> list[str]:
        self._refuse()

    async def write(self, change: Change) -> str:
        self._refuse()

    def replaces(self, change: Change) -> bool:
        self._refuse()

    async def read_back(self, change: Change, twins: Iterable[str]) -> Reading:
        self._refuse()

    async def snapshot(self, targets: Sequence[Target]) -> Snapshot:
        self._refuse()
