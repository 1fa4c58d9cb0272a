"""Help as data: the README's table, from the commands themselves."""

from __future__ import annotations

from handlers.commands.all import ALL


def command_table() -> str:
    """The table of all commands for the README."""
    rows = ["| command | what it does |", "|---|---|"]
    for kind in ALL:
        usage = f"/{kind.service} {kind.usage}".strip().replace("|", "\\|")
        rows.append(f"| `{usage}` | {kind.summary} |")
    return "\n".join(rows)
