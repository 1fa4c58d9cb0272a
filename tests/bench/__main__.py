"""``python -m tests.bench``: how long things take, as ratios within this one run, and nowhere else.

A module per bench, each with functions that make tables; add yours to BENCHES. ``python -m tests.bench import
--rows 1000`` runs those whose name begins so, at a size for a quick look.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from functools import partial
from typing import Annotated, Final

import typer
from rich.console import Console
from rich.table import Table

from bot import collector
from tests.bench import imports, reading, type_ahead, which

ROWS: Final = 10_000


def benches(rows: int) -> Mapping[str, Callable[[], Table]]:
    return {
        "which": which.table,
        "type-ahead rules": type_ahead.rules,
        "type-ahead members": type_ahead.members,
        "reading": reading.table,
        "import members": partial(imports.members, rows),
        "import rules": partial(imports.rules, max(1, rows // 10)),
    }


def main(
    name: Annotated[str, typer.Argument(help="only the benches whose name begins so")] = "",
    rows: Annotated[int, typer.Option(min=1, help="members that are imported, and ten times the rules")] = ROWS,
) -> None:
    """What things cost, as ratios within one run."""
    console = Console()
    collector.take_over()  # as the process does that serves
    console.print("Ratios of this run alone: the machine, and whatever else it does, is in both sides of each.\n")
    for each, bench in benches(rows).items():
        if not each.startswith(name):
            continue
        with console.status("measuring…") if sys.stdout.isatty() else console.capture():
            table = bench()
        console.print(table)


if __name__ == "__main__":
    typer.run(main)
