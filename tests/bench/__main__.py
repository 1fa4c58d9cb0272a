"""``python -m tests.bench``: how long things take, as ratios within this one run, and nowhere else.

A module per bench, each with a function that makes a table; add yours to BENCHES.
"""

from __future__ import annotations

import sys

from rich.console import Console

from tests.bench import type_ahead, which

BENCHES = (which.table, type_ahead.rules, type_ahead.members)

console = Console()
console.print("Ratios of this run alone: the machine, and whatever else it does, is in both sides of each.\n")
for bench in BENCHES:
    with console.status("measuring…") if sys.stdout.isatty() else console.capture():
        table = bench()
    console.print(table)
