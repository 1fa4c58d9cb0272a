"""The groups that an answer about rules needs, and no look at the service where it needs none."""

from __future__ import annotations

from collections.abc import Iterable

from bot.domain.group import Groups
from bot.domain.rule import RuleDraft
from bot.gatehouse import Gatehouse


async def groups_of(rules: Iterable[RuleDraft], gatehouse: Gatehouse) -> Groups | None:
    """The groups, where one of *rules* is in any; None where not, or where the service tells nothing of them."""
    return await gatehouse.groups.groups() if any(rule.group_id for rule in rules) else None
