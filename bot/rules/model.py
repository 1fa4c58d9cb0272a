"""Rules and their groups as the rules service keeps them (rules-service specification, "Resources and their fields").

The specification names groups only in an error; the real service keeps them beside the rules.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from pydantic import Field

from bot.text.documents import ServiceRecord, Text

ACTIVE: Final = "Active"
INACTIVE: Final = "Inactive"
"""The specification shows only Active; the real service knows these two, and we write no other."""

RULE_ID: Final = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,99}")
"""What the id of a rule or a group may be: none of it means something in a path. The vendor's have no dot."""
USUAL_RULE_ID: Final = re.compile(r"[A-Za-z][A-Za-z0-9]{0,31}_[A-Za-z0-9_-]{1,64}")
"""<rule type>_<suffix>, as services make them: a word of this form is rather an id than a name."""

SERVER_FIELDS: Final = frozenset(
    {
        "id",
        "creationDate",
        "modificationDate",
        "createdBy",
        "lastModifiedBy",
        "currentOwner",
        "currentOwnerId",
        "extensionRules",
    }
)
"""Fields the service sets itself: never sent in a body, and no part of what a person approves."""


class Source(ServiceRecord):
    """The matching condition of a pair."""

    key: Text | None = None
    operator: Text | None = None
    value: Text | None = None


class Pair(ServiceRecord):
    """One condition and what the rule's type does with what it matches."""

    source: Source | None = None
    destination_type: Text | None = Field(default=None, alias="destinationType")
    destination: Text | None = None
    find: Text | None = Field(default=None, alias="from")
    replacement: Text | None = Field(default=None, alias="to")

    @property
    def leads_to_url(self) -> bool:
        """Whether the destination is a URL: a file of one computer is not, a mock of the service is."""
        return self.destination_type != "map_local"


class RuleDraft(ServiceRecord):
    """What a person may decide of a rule: the body of a create or an update."""

    name: Text | None = None
    description: Text | None = None
    status: Text | None = None
    rule_type: Text | None = Field(default=None, alias="ruleType")
    pairs: tuple[Pair, ...] | None = None
    group_id: Text | None = Field(default=None, alias="groupId")

    @property
    def active(self) -> bool:
        return self.status == ACTIVE

    @property
    def title(self) -> str:
        """The name, or a stand-in a person can recognise where the service sent none."""
        return (self.name or "").strip() or "(no name)"

    def body(self) -> dict[str, Any]:
        """What is sent to the service: everything but the fields that it sets itself.

        All else goes back as it came, known to us or not: an update replaces the whole rule, so a field
        left out is a field lost.
        """
        return {name: value for name, value in self.document().items() if name not in SERVER_FIELDS}

    def content(self) -> dict[str, Any]:
        """What makes two rules the same to a person: the body, less the ids that the service gives to pairs."""
        kept = self.body()
        if self.pairs is not None:
            kept["pairs"] = [_without_id(pair) for pair in self.pairs]
        return kept


class Rule(RuleDraft):
    """A stored rule, with the id that the service gave it."""

    id: str = Field(min_length=1)
    modification_date: Any = Field(default=None, alias="modificationDate")

    @property
    def modified(self) -> int | None:
        """Epoch milliseconds; None where the service tells nothing of the kind."""
        made = self.modification_date
        return made if isinstance(made, int) and not isinstance(made, bool) else None

    def draft(self, **fields: Any) -> RuleDraft:
        """This rule's content with *fields* (service names) replaced: what a copy starts from."""
        return RuleDraft.model_validate(self.content() | fields)


def _without_id(pair: Pair) -> dict[str, Any]:
    return {name: value for name, value in pair.document().items() if name != "id"}


class Group(ServiceRecord):
    """A stored group."""

    id: str = Field(min_length=1)
    name: Text | None = None
    status: Text | None = None

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

    def with_status(self, *, on: bool) -> dict[str, Any]:
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


class OffKind(StrEnum):
    """What keeps a rule from being active."""

    STATUS = "status"
    GROUP = "group"
    UNKNOWN_GROUP = "unknown group"
    SPARED_URL = "spared URL"


@dataclass(frozen=True, slots=True)
class Off:
    """A reason for which a rule is not active. *value*: its status, its group's name, or the text in the URL."""

    kind: OffKind
    value: str = ""


def why_group_is_off(rule: RuleDraft, groups: Groups | None) -> Off | None:
    """Why *rule* has no effect though it is on: its group. None where that is on, or nobody tells."""
    if not rule.group_id or groups is None:
        return None
    name = groups.names.get(rule.group_id)
    if name is None:
        return Off(OffKind.UNKNOWN_GROUP)
    return None if rule.group_id in groups.active else Off(OffKind.GROUP, name)
