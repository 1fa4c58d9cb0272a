"""Help as data: what is built, and the README's table, both from the commands themselves."""

from __future__ import annotations

from handlers.commands.all import ALL
from handlers.commands.command import Command
from handlers.features import FEATURES
from handlers.routes import COMMANDS

LATER = "  _(later)_"


def built(kind: type[Command]) -> bool:
    """Whether this release answers *kind*, or only understands it."""
    return bool(FEATURES) and kind in COMMANDS


def command_table() -> str:
    """The table of all commands for the README; what is not built yet is marked."""
    rows = ["| command | what it does |", "|---|---|"]
    for kind in ALL:
        usage = f"/{kind.service} {kind.usage}".strip().replace("|", "\\|")
        rows.append(f"| `{usage}` | {kind.summary}{'' if built(kind) else LATER} |")
    return "\n".join(rows)
