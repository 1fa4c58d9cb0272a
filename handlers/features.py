"""What Gatehouse does: the modules that fill the table of `handlers.routes` when they are imported."""

from __future__ import annotations

from typing import Final

from handlers import (
    approvals,
    check,
    exports,
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

FEATURES: Final = (
    approvals,
    check,
    exports,
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
