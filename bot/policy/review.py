"""Find guards that are likely a mistake: they fit nothing, an earlier one hides them, or nobody can pass them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product

from bot.changes.model.edits import Kind, Need
from bot.changes.model.parts import Guard
from bot.policy.model import APPROVE, GuardRule, Policy
from bot.rules.hosts import matches_any


def doubts_about(policy: Policy, known: Mapping[str, Sequence[str]]) -> Iterator[tuple[str, str]]:
    """Yield the place of each guard that is likely a mistake, and why.

    *known*: of some keys, such as ``group``, all that there is at the services.
    """
    for number, rule in enumerate(policy.guards):
        place, mine = rule.place, {kind.operation for kind in Kind if rule.may_fit(Need(kind.operation))}
        unknown = [
            pattern
            for key, names in known.items()
            for pattern in getattr(rule, key)
            if not any(matches_any(name, [pattern]) for name in names)
        ]
        if not mine:
            yield place, "fits no change: host and group are about rules, site and segment about members"
        elif unknown:
            yield place, f"names what isn't there: {', '.join(unknown)}"
        for earlier in [each for each in policy.guards[:number] if mine and _hides(each, rule, mine)][:1]:
            yield place, f"never counts, since {earlier.place} fits all of it first"
        held = policy.roles_called(rule.approvers or policy.roles_for(APPROVE))
        people = {user for role in held for user in role.users}
        is_countable = bool(policy.roles) and not any(role.groups or role.channels for role in held)
        if rule.guard is Guard.APPROVE and is_countable and len(people) < rule.approvals and not rule.self_approval:
            yield place, f"can't be passed: it needs {rule.approvals}, and {len(people)} could approve"


def _hides(earlier: GuardRule, later: GuardRule, operations: Iterable[str]) -> bool:
    """Whether *earlier* fits whatever *later* fits of *operations*."""
    lists = [getattr(later, key) or ("",) for key in ("site", "host", "group", "segment")]
    return all(earlier.fits(Need(each, *named)) for each in operations for named in product(*lists))
