"""``python -m tests.bench``: what Gatehouse takes beside baselines of the same run, written to docs/benchmarks.md.

``python -m tests.bench import`` runs one part, and only prints.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Coroutine, Mapping
from functools import partial
from typing import Annotated, Any, Final

import typer

from tests.bench import changes, large, load
from tests.bench.table import Row, page
from tests.harness.programs import ROOT

Parts = Mapping[str, Callable[[], Coroutine[Any, Any, list[Row]]]]
FULL: Final[Parts] = {
    "replies": partial(load.measure, seconds=6.0, at_once=(1, 32)),
    "approval": partial(changes.approvals, 9),
    "import": partial(changes.imports, 2_000),
    "large": partial(large.measure, rules=10_000, members=100_000, few=100),
}
QUICK: Final[Parts] = {
    "replies": partial(load.measure, seconds=0.1, at_once=(1, 4)),
    "approval": partial(changes.approvals, 1),
    "import": partial(changes.imports, 10),
    "large": partial(large.measure, rules=60, members=70, few=50),
}


def main(
    part: Annotated[str, typer.Argument(help="Only the part whose name begins so; the page is not written.")] = "",
    *,
    quick: Annotated[bool, typer.Option(help="Shows in seconds that it works; the page is not written.")] = False,
) -> None:
    """Measure what things take, as ratios within one run."""
    at_first, rows = os.getloadavg()[0], list[Row]()
    for name, measure in (QUICK if quick else FULL).items():
        if name.startswith(part):
            print(f"measuring {name}…", flush=True)
            rows += asyncio.run(measure())
    print(text := page(rows, load=at_first))
    if not (quick or part):
        (ROOT / "docs/benchmarks.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    typer.run(main)
