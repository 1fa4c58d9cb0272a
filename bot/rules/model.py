"""Rules and their groups as the rules service stores them (rules-service specification, "Resources and their fields").

The specification mentions groups only in an error; the real service has them beside the rules.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from itertools import chain
from typing import Any, Final

from pydantic import Field

from bot.text.documents import ServiceRecord, Text

ACTIVE: Final = "Active"
INACTIVE: Final = "Inactive"
"""The specification shows only Active; the real service knows both, and Gatehouse writes no other status."""

RULE_ID: Final = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,99}")
"""The valid ids of a rule or a group: no character has a meaning in a path. The vendor's ids have no dot."""
USUAL_RULE_ID: Final = re.compile(r"[A-Za-z][A-Za-z0-9]{0,31}_[A-Za-z0-9_-]{1,64}")
"""The usual form of an id, <rule type>_<suffix>: a word of this form is more likely an id than a name."""

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
BOOKKEEPING: Final = frozenset(
    {
        "isCharlesImport",
        "isFavourite",
        "isModHeaderImport",
        "isReadOnly",
        "isSample",
        "lastModified",
        "ruleIndexForWhichPickerOpened",
        "schemaVersion",
    }
)
"""Undocumented fields that don't affect what a rule does: a service that refuses them still keeps its own values."""


KINDS: Final = frozenset({"id", "key", "operator", "type", "destinationType", "codeType", "resourceType", "loadTime"})
"""Fields of a pair whose texts nobody searches for."""


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

    def urls(self) -> list[str]:
        """Return the texts that URLs are compared with or made of."""
        texts = (self.source and self.source.value, self.destination, self.find, self.replacement)
        return [text for text in texts if text]

    @property
    def leads_to_url(self) -> bool:
        """Whether the destination is a URL: a file of one computer is not, a mock of the service is."""
        return self.destination_type != "map_local"


class RuleDraft(ServiceRecord):
    """The fields of a rule that people decide: the body of a create or an update."""

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
        """Return the name, or ``(no name)`` where the service sent none."""
        return (self.name or "").strip() or "(no name)"

    def texts(self) -> list[str]:
        """Return the texts of the pairs, what they match and what they do, but not by which operator or of which kind."""
        pairs = self.pairs or ()
        others = [each.model_extra for pair in pairs for each in (pair.source, pair) if each is not None]
        return [*(text for pair in pairs for text in pair.urls()), *texts_in(others)]

    def body(self) -> dict[str, Any]:
        """Return the body to send to the service: all fields except SERVER_FIELDS.

        Fields that Gatehouse doesn't know are sent back unchanged: an update replaces the whole rule, so a field that is left
        out is lost.
        """
        return {name: value for name, value in self.document().items() if name not in SERVER_FIELDS}

    def content(self) -> dict[str, Any]:
        """Return the content that people compare two rules by: the body without the ids that the service gives to pairs."""
        kept = self.body()
        if self.pairs is not None:
            kept["pairs"] = [_without_id(pair) for pair in self.pairs]
        return kept


class Stored(ServiceRecord):
    """What the service has stored, with the id that it gave it; its dates in epoch milliseconds, None where it sends none."""

    id: str = Field(min_length=1)
    modification_date: Any = Field(default=None, alias="modificationDate")
    creation_date: Any = Field(default=None, alias="creationDate")

    @property
    def modified(self) -> int | None:
        return _date(self.modification_date)

    @property
    def created(self) -> int | None:
        return _date(self.creation_date)


def texts_in(value: Any) -> Iterator[str]:
    """Yield the texts inside a JSON value, but those of KINDS."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | tuple | dict):
        inner = [each for name, each in value.items() if name not in KINDS] if isinstance(value, dict) else value
        yield from chain.from_iterable(map(texts_in, inner))


def _date(sent: Any) -> int | None:
    """Return a date of the service; None for what is none, such as seconds, which would lie in January 1970."""
    return sent if isinstance(sent, int) and not isinstance(sent, bool) and 10**12 <= sent < 10**13 else None


class Rule(Stored, RuleDraft):
    """A stored rule."""


def _without_id(pair: Pair) -> dict[str, Any]:
    return {name: value for name, value in pair.document().items() if name != "id"}


class Group(Stored):
    """A stored group."""

    name: Text | None = None
    status: Text | None = None

    @property
    def active(self) -> bool:
        return self.status == ACTIVE

    @property
    def title(self) -> str:
        """Return the name, or the id where it has none."""
        return (self.name or "").strip() or self.id

    def body(self) -> dict[str, Any]:
        """Return the body of an update, which replaces the whole group: all fields except SERVER_FIELDS."""
        return {name: value for name, value in self.document().items() if name not in SERVER_FIELDS}

    def with_status(self, *, on: bool) -> dict[str, Any]:
        return self.body() | {"status": ACTIVE if on else INACTIVE}


@dataclass(frozen=True, slots=True)
class Groups:
    """The groups of rules: id -> name (*names*), and the ids of those that are switched on (*active*)."""

    names: Mapping[str, str]
    active: frozenset[str]

    @classmethod
    def of(cls, groups: Iterable[Group]) -> Groups:
        known = list(groups)
        return cls({group.id: group.title for group in known}, frozenset(group.id for group in known if group.active))


class OffKind(StrEnum):
    """Why a rule is not active."""

    STATUS = "status"
    GROUP = "group"
    UNKNOWN_GROUP = "unknown group"
    SPARED_URL = "spared URL"


@dataclass(frozen=True, slots=True)
class Off:
    """The reason why a rule is not active. *value*: its status, its group's name, or the text in the URL."""

    kind: OffKind
    value: str = ""


def why_group_is_off(rule: RuleDraft, groups: Groups | None) -> Off | None:
    """Return why the group of *rule* keeps it from having an effect; None where the group is on, or groups aren't known."""
    if not rule.group_id or groups is None:
        return None
    name = groups.names.get(rule.group_id)
    if name is None:
        return Off(OffKind.UNKNOWN_GROUP)
    return None if rule.group_id in groups.active else Off(OffKind.GROUP, name)
