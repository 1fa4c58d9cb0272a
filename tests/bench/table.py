"""The one table of the benches: what Gatehouse takes, beside a baseline of the same run."""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Final

COLUMNS: Final = ("", "Gatehouse", "beside it", "ratio")
LIBRARIES: Final = ("slack-bolt", "uvicorn", "httpx", "sqlalchemy")
QUIET_LOAD: Final = 0.5
"""Load of the machine before a run, for each core, up to which the page does not warn."""
PAGE: Final = """\
# Benchmarks

Compare ratios, not times: a time says as much about the machine as about Gatehouse. `make bench` measures the table in one run
and writes this page; `.venv/bin/python -m tests.bench large` only prints one part.
The *careful bot* answers the same commands as quickly as Bolt lets it; the *tutorial bot* deletes the rule as tutorials show
it; the *bare loop* sends the same bodies over httpx. None of them asks for rights, checks what it did or keeps a record.
*With 100* is Gatehouse with a hundred rules and members, and not 10,000 rules and 100,000 members. The stand-in
services share the machine, a bot finds its database there, and the two take turns. Measured on {date} with {cores} cores
({machine}, {system}, load {load:.1f} before the run), Python {python}, {libraries}.
{warning}
{table}
"""
WARNING: Final = "\n**The machine was busy with other work: run it again on a quiet one before you use a figure.**\n"


@dataclass(frozen=True, slots=True)
class Row:
    """A figure of Gatehouse in *unit*, and the one of *peer* that it is compared with."""

    what: str
    ours: float
    peer: str
    theirs: float
    unit: str

    @property
    def cells(self) -> tuple[str, ...]:
        ours, theirs = (_number(value, self.unit) for value in (self.ours, self.theirs))
        return self.what, ours, f"{self.peer}: {theirs}", f"{self.ours / self.theirs:.2f}"


def _number(value: float, unit: str) -> str:
    """*value* with about three digits: ``1,564 /s``, ``78.2 ms``."""
    digits = 0 if abs(value) >= 100 else 1 if abs(value) >= 10 else 2
    return f"{value:,.{digits}f} {unit}"


def page(rows: Sequence[Row], *, load: float) -> str:
    """The page in the docs; nothing in it names the machine."""
    lines = [COLUMNS, ("---", "---:", "---:", "---:"), *(row.cells for row in rows)]
    cores = os.cpu_count() or 1
    return PAGE.format(
        date=f"{datetime.now(UTC):%Y-%m-%d}",
        cores=cores,
        machine=platform.machine(),
        system=platform.system(),
        load=load,
        python=platform.python_version(),
        libraries=", ".join(f"{name} {version(name)}" for name in LIBRARIES),
        warning=WARNING if load > QUIET_LOAD * cores else "",
        table="\n".join(f"| {' | '.join(line)} |" for line in lines),
    )
