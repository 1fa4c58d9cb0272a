"""Groups of rules: the specification names them only in an error, the real service keeps them beside the rules.

A rule in a group is in force only while the group is.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import Field

from bot.domain.rule import ACTIVE, INACTIVE, SERVER_FIELDS, RuleDraft
from bot.domain.wire import Wire


class Group(Wire):
    """A stored group."""

    id: str = Field(min_length=1)
    name: str | None = None
    status: str | None = None

    @property
    def active(self) -> bool:
        return self.status == ACTIVE

    @property
    def title(self) -> str:
        """The name, or the id where it has none."""
        return (self.name or "").strip() or self.id

    def body(self) -> dict[str, Any]:
        """What an update sends: an update replaces the whole, so all but what the service sets itself."""
        return {name: value for name, value in self.document().items() if name not in SERVER_FIELDS}

    def switched(self, *, on: bool) -> dict[str, Any]:
        return self.body() | {"status": ACTIVE if on else INACTIVE}


@dataclass(frozen=True, slots=True)
class Groups:
    """The groups of the rules, where the service has any: id -> name, and the ids of those that are switched on."""

    names: Mapping[str, str]
    active: frozenset[str]

    @classmethod
    def of(cls, groups: Iterable[Group]) -> Groups:
        known = list(groups)
        return cls({group.id: group.title for group in known}, frozenset(group.id for group in known if group.active))

    def fitting(self, wanted: str) -> frozenset[str]:
        """The ids of the groups whose name or id has *wanted* in it, in any case of letters."""
        part = wanted.strip().casefold()
        return frozenset(
            group_id for group_id, name in self.names.items() if part in name.casefold() or part in group_id.casefold()
        )


def held_back(rule: RuleDraft, groups: Groups | None) -> str:
    """Why *rule* is not in force though it is Active: its group. Empty where that is in force, or nobody tells."""
    if not rule.group_id or groups is None:
        return ""
    name = groups.names.get(rule.group_id)
    if name is None:
        return "its group is unknown"
    return "" if rule.group_id in groups.active else f"its group {name} is switched off"
