"""``python -m tests.bench``: what Gatehouse takes beside baselines of the same run, written to docs/benchmarks.md.

``python -m tests.bench import`` runs one part, and only prints.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Final

import typer
from rich.console import Console
from rich.table import Table

from tests.bench import approvals, imports, large, replies
from tests.bench.large import Site
from tests.bench.table import COLUMNS, Row, page
from tests.harness.programs import ROOT

LARGE: Final = Site(rules=10_000, members=100_000)
Parts = Mapping[str, Callable[[], Sequence[Row]]]
FULL: Final[Parts] = {
    "replies": partial(replies.measure, seconds=6.0, at_once=(1, 32)),
    "approval": partial(approvals.measure, 9),
    "import": partial(imports.measure, 2_000),
    "large": partial(large.measure, LARGE, few=Site(100, 100), quiet_seconds=15.0),
}
QUICK: Final[Parts] = {
    "replies": partial(replies.measure, seconds=0.1, at_once=(1, 4)),
    "approval": partial(approvals.measure, 1),
    "import": partial(imports.measure, 10),
    "large": partial(large.measure, Site(60, 70), few=Site(50, 50), quiet_seconds=0.1),
}


def main(
    part: Annotated[str, typer.Argument(help="Only the part whose name begins so; the page is not written.")] = "",
    *,
    quick: Annotated[
        bool, typer.Option(help="Seconds instead of minutes: shows that it works, and no figures.")
    ] = False,
    docs: Annotated[Path | None, typer.Option(help="Folder of the page; docs/ after a full run, else none.")] = None,
) -> None:
    """Measure what things take, as ratios within one run."""
    console, load = Console(), os.getloadavg()[0]
    rows = list[Row]()
    for name, measure in (QUICK if quick else FULL).items():
        if name.startswith(part):
            console.print(f"measuring {name}…")
            rows += measure()
    table = Table(*COLUMNS)
    for row in rows:
        table.add_row(*row.cells)
    console.print(table)
    if folder := docs or (None if quick or part else ROOT / "docs"):
        (folder / "benchmarks.md").write_text(page(rows, large=str(LARGE), load=load), encoding="utf-8")


if __name__ == "__main__":
    typer.run(main)
