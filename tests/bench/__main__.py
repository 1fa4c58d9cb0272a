"""``python -m tests.bench``: how long things take, as ratios within this one run, written to docs/benchmarks.md.

A module for each bench, with a function that makes its report; add yours to `benches`. ``python -m tests.bench import``
runs those whose name begins so, and only prints.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Final

import typer
from rich.console import Console

from tests.bench import approvals, guesses, imports, large, page, reading, replies, type_ahead, which
from tests.bench.receiver import PEOPLE
from tests.bench.rounds import Plan
from tests.bench.sheets import Report


@dataclass(frozen=True, slots=True)
class Size:
    """How much is measured. *sizes*: of lists of rules; *rows*: members that are imported; *large*: few of each beside so many
    rules and members.
    """

    replies: Plan
    approvals: int
    sizes: Sequence[int]
    rows: int
    large: tuple[int, int, int]


FULL: Final = Size(
    Plan(rounds=3, seconds=2.0, at_once=(1, 32, 256), warm_up=PEOPLE),
    approvals=9,
    sizes=(1_000, 10_000, 100_000),
    rows=2_000,
    large=(100, 10_000, 100_000),
)
QUICK: Final = Size(
    Plan(rounds=1, seconds=0.1, at_once=(1, 4), warm_up=1), approvals=1, sizes=(100,), rows=10, large=(50, 60, 70)
)


def benches(size: Size) -> Mapping[str, Callable[[], Report]]:
    """Each bench by its name, in the order of the page."""
    return {
        "replies": partial(replies.report, size.replies),
        "approval": partial(approvals.report, size.approvals),
        "which": partial(which.report, size.sizes),
        "type-ahead": partial(type_ahead.report, size.sizes),
        "guesses": partial(guesses.report, size.sizes),
        "reading": partial(reading.report, size.sizes),
        "large": partial(large.report, *size.large),
        "import": partial(imports.report, size.rows),
    }


def main(
    name: Annotated[str, typer.Argument(help="Only the benches whose name begins so; the page is not written.")] = "",
    *,
    quick: Annotated[
        bool, typer.Option(help="Seconds instead of minutes: shows that it works, and no figures.")
    ] = False,
    docs: Annotated[Path | None, typer.Option(help="Folder of the page; docs/ after a full run, else none.")] = None,
) -> None:
    """Measure what things cost, as ratios within one run."""
    console, load = Console(), os.getloadavg()[0]
    chosen = {each: bench for each, bench in benches(QUICK if quick else FULL).items() if each.startswith(name)}
    reports = [_reported(console, bench) for bench in chosen.values()]
    if docs := docs or (None if quick or name else page.DOCS):
        console.print(f"written to {page.write(reports, docs, load_before=load)}")


def _reported(console: Console, bench: Callable[[], Report]) -> Report:
    with console.status("measuring…") if sys.stdout.isatty() else console.capture():
        report = bench()
    for sheet in report.sheets:
        console.print(sheet.for_terminal())
    return report


if __name__ == "__main__":
    typer.run(main)
