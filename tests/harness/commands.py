"""The table of commands in docs/commands.md, from their declarations: ``python -m tests.harness.commands`` writes it."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from handlers.grammar.parser import ALL
from tests.harness.threats import put_between

PAGE: Final = Path(__file__).parent.parent.parent / "docs" / "commands.md"
BEGIN: Final = "<!-- made by `make commands` from the declarations of the commands; don't edit -->"
END: Final = "<!-- the end of the command table -->"


def make_table() -> str:
    """Return the usage and the summary of every command as Markdown."""
    rows = ["| command | what it does |", "|---|---|"]
    for kind in ALL:
        parts = (part.shown if part.missing else f"[{part.shown}]" for part in kind.parts().values())
        usage = " ".join(filter(None, [f"/{kind.service}", kind.verb, *parts])).replace("|", "\\|")
        rows.append(f"| `{usage}` | {kind.summary} |")
    return "\n".join(rows)


def with_table(page: str) -> str:
    """Return *page* with the table of today."""
    return put_between(page, BEGIN, END, f"{make_table()}\n")


if __name__ == "__main__":
    PAGE.write_text(with_table(PAGE.read_text()))
