"""The operations of the policy that a change needs: what it changes decides, not what it is called."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

Need: TypeAlias = tuple[str, str | None]
"""An operation of the policy, and the site of the members that it is needed for; None for rules."""


def operations_of(operation: str, before: Mapping[str, Any] | None, after: Mapping[str, Any] | None) -> tuple[str, ...]:
    """Return every operation that it takes to make *after* of *before*; *operation* is the one of its kind.

    A form, a row of a file or an undo may rename a member, give access and take access, all at once. Each of these is
    an operation of its own, so no other way to ask for it passes by its right or its guard.
    """
    if not operation.startswith("member.") or (before is None and after is None):
        return (operation,)
    had, has = _segments(before), _segments(after)
    needed = {
        "member.add": before is None,
        "member.remove": after is None,
        "member.update": before is not None and after is not None and before.get("name") != after.get("name"),
        "member.grant": bool(has - had),
        "member.revoke": after is not None and bool(had - has),
    }
    return tuple(name for name, is_needed in needed.items() if is_needed) or (operation,)


def _segments(member: Mapping[str, Any] | None) -> frozenset[str]:
    return frozenset((member or {}).get("allowedSegments") or ())
