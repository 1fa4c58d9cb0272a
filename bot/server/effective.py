"""What Gatehouse would run with, as tables to print: the settings, and who may do what by the policy."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.table import Table

from bot.changes.model import Kind
from bot.policy.model import OPERATIONS, GuardRule, Policy
from bot.settings import SharedSettings
from bot.text.times import in_words


def settings_table(settings: SharedSettings, names: Iterable[str] | None = None) -> Table:
    """Return each setting, or those of *names*, with its value, secrets cut."""
    table = Table("setting", "value", title="Gatehouse's settings")
    for name in type(settings).model_fields if names is None else names:
        table.add_row(name.upper(), settings.shown(name))
    return table


def policy_tables(policy: Policy) -> Sequence[Table]:
    """Return who may do what, and what stands before each change."""
    act = ", ".join(policy.channels.act) or "every channel that Gatehouse was added to"
    roles = Table("role", "who", "may", title=f"Roles. Changes are taken in: {act}")
    for name, role in policy.roles.items():
        allowed = [operation for operation in OPERATIONS if role.allows(operation)]
        roles.add_row(name, ", ".join((*role.users, *role.groups, *role.channels)) or "nobody", ", ".join(allowed))
    if not policy.roles:
        roles.add_row("(none)", "every full member of the workspace", "everything, under the guards below")
    guards = Table("change", "site", "guard", "approvers", "open for", "break glass", title="Guards")
    for kind in Kind:
        for site in dict.fromkeys(
            [*(rule.site for rule in policy.guards if rule.fits(kind.operation, rule.site)), None]
        ):
            guards.add_row(kind.value, site or "any", *_guard(policy.guard_for(kind.operation, site)))
    return roles, guards


def _guard(rule: GuardRule) -> tuple[str, ...]:
    if rule.guard == "none":
        return "none", "", "", ""
    many = f" by {rule.approvals}" if rule.approvals > 1 else ""
    own = ", also their own" if rule.self_approval else ""
    approvers = ", ".join(rule.approvers) or "somebody else of the channel"
    opened = in_words(rule.expires.total_seconds())
    return rule.guard + many, approvers + own, opened, ", ".join(rule.break_glass) or "nobody"
