"""Traffic rules as the rules service keeps them (rules-service specification, "Resources and their fields")."""

from __future__ import annotations

import re
from typing import Any, Final

from pydantic import Field

from bot.domain.wire import Wire

ACTIVE: Final = "Active"
INACTIVE: Final = "Inactive"
"""The specification shows only Active; the real service knows these two, and we write no other."""

PAIR_FIELDS: Final = {"Redirect": ("destinationType", "destination"), "Cancel": (), "Replace": ("from", "to")}
"""What a pair has besides its source, by rule type, as the specification describes it."""
TYPED: Final = tuple(PAIR_FIELDS)
"""Types whose pairs the specification describes. Pairs of any other type are shown and kept, not understood."""

KNOWN_TYPES: Final = (*TYPED, "Headers", "QueryParam", "UserAgent", "Request", "Response", "Delay", "Script")

RULE_ID: Final = re.compile(r"[A-Za-z0-9_-]{1,100}")
"""What a rule's id may be: the vendor allows no more, and none of it means something in a path."""
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


class Source(Wire):
    """The matching condition of a pair."""

    key: str | None = None
    operator: str | None = None
    value: str | None = None


class Pair(Wire):
    """One condition and what the rule's type does with what it matches."""

    source: Source | None = None
    destination_type: str | None = Field(default=None, alias="destinationType")
    destination: str | None = None
    find: str | None = Field(default=None, alias="from")
    replacement: str | None = Field(default=None, alias="to")

    @property
    def leads_to_url(self) -> bool:
        """Whether the destination is a URL: a file of one computer is not, a mock of the service is."""
        return self.destination_type != "map_local"


class RuleDraft(Wire):
    """What a person may decide of a rule: the body of a create or an update."""

    name: str | None = None
    description: str | None = None
    status: str | None = None
    rule_type: str | None = Field(default=None, alias="ruleType")
    pairs: tuple[Pair, ...] | None = None
    group_id: str | None = Field(default=None, alias="groupId")

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
    modified: int | None = Field(default=None, alias="modificationDate")
    """Epoch milliseconds, where the service tells."""

    def draft(self, **fields: Any) -> RuleDraft:
        """This rule's content with *fields* (service names) replaced: what a copy starts from."""
        return RuleDraft.model_validate(self.content() | fields)


def _without_id(pair: Pair) -> dict[str, Any]:
    return {name: value for name, value in pair.document().items() if name != "id"}
