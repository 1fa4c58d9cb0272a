"""Documents, which are rules, groups or members as their service has them, and their canonical form."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any, Final

from bot.rules.model import SERVER_FIELDS

NOT_CONTENT: Final = SERVER_FIELDS | {"objectType", "schemaVersion", "isSample"}
"""Fields that services add, drop or renumber themselves: a difference there doesn't mean that a person changed anything."""
Document = dict[str, Any]
"""A rule, a group or a member, as its service has it."""


def canonical_form(document: Mapping[str, Any] | None) -> Document | None:
    """Return the canonical form of *document*: equal for two readings that a person calls the same; None where it is absent."""
    if document is None:
        return None
    kept = {name: value for name, value in document.items() if name not in NOT_CONTENT}
    if isinstance(pairs := kept.get("pairs"), list):
        kept["pairs"] = [
            {name: value for name, value in pair.items() if name != "id"} if isinstance(pair, dict) else pair
            for pair in pairs
        ]
    if isinstance(segments := kept.get("allowedSegments"), list):
        kept["allowedSegments"] = sorted(segments, key=str)
    return kept


def contains_all(live: Any, wanted: Any) -> bool:
    """Whether *live* has all that was *wanted*; a service may add fields of its own to what it was sent."""
    if isinstance(wanted, Mapping) and isinstance(live, Mapping):
        return all(contains_all(live.get(name), value) for name, value in wanted.items())
    if isinstance(wanted, list) and isinstance(live, list):
        return len(live) == len(wanted) and all(map(contains_all, live, wanted))
    return bool(live == wanted)


def fingerprint(content: object) -> str:
    """Return the SHA-256 of *content* in one canonical JSON form, so that key order and spacing don't matter."""
    canonical = json.dumps(content, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(canonical.encode("utf-8", "surrogatepass")).hexdigest()


def segments_of(member: Mapping[str, Any] | None) -> frozenset[str]:
    """Return the segments of a member; none for one that is absent."""
    return frozenset((member or {}).get("allowedSegments") or ())
