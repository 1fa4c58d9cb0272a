"""Edits: what is to be written to which target, and the operations of the policy that this needs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import product
from typing import Any, Final, Self

from bot.changes.model.documents import Document, segments_of
from bot.rules.hosts import ANY_HOST, touched_hosts


class Kind(StrEnum):
    RULE_CREATE = "rule.create"
    RULE_UPDATE = "rule.update"
    RULE_DELETE = "rule.delete"
    GROUP_UPDATE = "group.update"
    MEMBER_ADD = "member.add"
    MEMBER_UPDATE = "member.update"
    MEMBER_GRANT = "member.grant"
    MEMBER_REVOKE = "member.revoke"
    MEMBER_REMOVE = "member.remove"

    @property
    def operation(self) -> str:
        """Return the policy's name for it. Updating a group counts as updating its rules: groups have no rights of their own."""
        return Kind.RULE_UPDATE.value if self is Kind.GROUP_UPDATE else self.value

    @property
    def destroys(self) -> bool:
        return self in {Kind.RULE_DELETE, Kind.MEMBER_REMOVE}

    @property
    def creates(self) -> bool:
        return self in {Kind.RULE_CREATE, Kind.MEMBER_ADD}


WEIGHT: Final = (
    Kind.MEMBER_REMOVE,
    Kind.RULE_DELETE,
    Kind.MEMBER_REVOKE,
    Kind.RULE_CREATE,
    Kind.MEMBER_ADD,
    Kind.MEMBER_GRANT,
)


def weightiest(kinds: Iterable[Kind | None]) -> tuple[Kind, ...]:
    """Return *kinds*, each once, those that take away first; without None, the kind of an item that is only on record."""
    found = {kind for kind in kinds if kind is not None}
    return tuple(sorted(found, key=lambda kind: (WEIGHT.index(kind) if kind in WEIGHT else len(WEIGHT), kind)))


@dataclass(frozen=True, kw_only=True)
class Target:
    """The thing that a change changes. *key*: a rule's or a group's id or a member's email; a rule to be created has none yet."""

    service: str
    site: str | None = None
    key: str | None = None

    @property
    def place(self) -> tuple[str, str | None]:
        """Return the service and the site; targets that share them are read and written together."""
        return self.service, self.site

    def with_key(self, key: str | None) -> Self:
        return replace(self, key=key)

    def __str__(self) -> str:
        return "/".join(filter(None, (self.service, self.site, self.key)))


@dataclass(frozen=True, kw_only=True)
class Edit:
    """One thing to be written: *before* and *after* are the target's content, None where it is absent."""

    kind: Kind
    target: Target
    before: Document | None
    after: Document | None

    @property
    def name(self) -> str:
        """Return the name that people use for the target; empty where it has none, such as a member known by email alone."""
        return str((self.before or self.after or {}).get("name") or "")

    @property
    def hosts(self) -> frozenset[str]:
        """Return the hosts whose URLs a rule may match, before or after; of a group ANY_HOST, and of a member none."""
        if self.target.service == "members":
            return frozenset()
        documents = [] if self.kind is Kind.GROUP_UPDATE else [each for each in (self.before, self.after) if each]
        return frozenset().union(*map(touched_hosts, documents)) or frozenset({ANY_HOST})

    @property
    def groups(self) -> frozenset[str]:
        """Return the id of a group, or those of the groups that a rule is in before or after; empty for none."""
        if self.kind is Kind.GROUP_UPDATE:
            return frozenset({self.target.key or ""})
        return frozenset(str(each.get("groupId") or "") for each in (self.before, self.after) if each)

    @property
    def needs(self) -> tuple[Need, ...]:
        """Return everything that a person needs to request this."""
        operation = self.kind.operation
        if self.target.service != "members":
            touched = product(sorted(self.hosts), sorted(self.groups) or [""])
            return tuple(Need(operation, host=host, group=group) for host, group in touched)
        return tuple(
            Need(each, site=self.target.site or "", segment=segment)
            for each, segments in operations_of(operation, self.before, self.after).items()
            for segment in sorted(segments) or [""]
        )


@dataclass(frozen=True, slots=True)
class Need:
    """An operation of the policy, and one thing that it touches: a host and a group of rules, or a segment of a site's members.

    Each is None where that isn't known yet, or doesn't apply, and empty for none.
    """

    operation: str
    site: str | None = None
    host: str | None = None
    """One of `touched_hosts`."""
    group: str | None = None
    segment: str | None = None


def operations_of(
    operation: str, before: Mapping[str, Any] | None, after: Mapping[str, Any] | None
) -> Mapping[str, frozenset[str]]:
    """Return every operation that a person needs to turn a member from *before* into *after*, and the segments that each touches.

    *operation* is the one of the edit's kind, needed where nothing differs. A form or an undo may rename a member, give access
    and take access, all at once; a row of a file renames nobody. Each of these needs its own operation, so that no way to
    request it bypasses its right or its guard.
    """
    had, has = segments_of(before), segments_of(after)
    is_there, stays = before is not None, after is not None
    needed = {
        "member.add": (not is_there and stays, has),
        "member.remove": (is_there and not stays, had),
        "member.update": (is_there and stays and (before or {}).get("name") != (after or {}).get("name"), had | has),
        "member.grant": (bool(has - had), has - had),
        "member.revoke": (stays and bool(had - has), had - has),
    }
    return {name: touched for name, (is_needed, touched) in needed.items() if is_needed} or {operation: had | has}
