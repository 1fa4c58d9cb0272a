"""Find guards that are likely a mistake: they fit nothing, an earlier one hides them, or nobody can pass them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from bot.changes.model.edits import Kind, Need
from bot.changes.model.parts import Guard
from bot.policy.model import APPROVE, CONCERNED, GuardRule, Policy, fits
from bot.rules.hosts import matches_any


def doubts_about(policy: Policy, known: Mapping[str, Sequence[str]]) -> Iterator[tuple[str, str]]:
    """Yield the place of each guard that is likely a mistake, and why.

    *known*: of some keys, such as ``group``, all that there is at the services.
    """
    operations = {kind.operation for kind in Kind}
    for number, rule in enumerate(policy.guards):
        place, mine = policy.place_of(rule), {each for each in operations if rule.may_fit(Need(each))}
        unknown = [name for key, names in known.items() for name in getattr(rule, key) if not _is_one(name, names)]
        if not mine:
            yield place, "fits no change: host and group are about rules, site and segment about members"
        elif unknown:
            yield place, f"names what isn't there: {', '.join(unknown)}"
        earlier = next((each for each in policy.guards[:number] if _hides(each, rule, mine)), None)
        if earlier is not None:
            yield place, f"never counts, since {policy.place_of(earlier)} fits all of it first"
        held = policy.roles_called(rule.approvers or policy.roles_for(APPROVE))
        people = {user for role in held for user in role.users}
        is_countable = bool(policy.roles) and not any(role.groups or role.channels for role in held)
        if rule.guard is Guard.APPROVE and is_countable and len(people) < rule.approvals and not rule.self_approval:
            yield place, f"can't be passed: it needs {rule.approvals}, and {len(people)} could approve"


def _is_one(pattern: str, names: Sequence[str]) -> bool:
    return any(matches_any(name, [pattern]) for name in names)


def _hides(earlier: GuardRule, later: GuardRule, operations: set[str]) -> bool:
    """Whether *earlier* fits whatever *later* fits of *operations*."""
    keys = {key for each in operations for key in CONCERNED[each.partition(".")[0]]}
    is_wider = all(
        not getattr(earlier, key) or (mine and all(matches_any(each, getattr(earlier, key)) for each in mine))
        for key in keys
        for mine in [getattr(later, key)]
    )
    return is_wider and all(fits(each, earlier.operation) and earlier.may_fit(Need(each)) for each in operations)
