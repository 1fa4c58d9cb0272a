"""What Gatehouse does: the modules that fill the table of `handlers.routes` when they are imported."""

from __future__ import annotations

from handlers import (  # noqa: F401  importing them is what fills the table
    approvals,
    audit,
    check,
    exports,
    full_view,
    gatehouse,
    groups,
    home,
    listing,
    member_forms,
    member_imports,
    members,
    mentions,
    offboard,
    options,
    rule_forms,
    rule_imports,
    rules,
    samples,
    segments,
    settings,
    shortcuts,
    which,
    why,
)
