"""Writes what the benches found: docs/benchmarks.md, and the charts beside the other pictures."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Final

from tests.bench.charts import Chart
from tests.bench.sheets import Report
from tests.harness.programs import ROOT

DOCS: Final = ROOT / "docs"
PICTURES: Final = "pictures"
LIBRARIES: Final = ("slack-bolt", "uvicorn", "httpx", "sqlalchemy")
QUIET_LOAD: Final = 0.5
"""Load of the machine before a run, for each core, up to which the page does not warn."""
INTRODUCTION: Final = """\
# Benchmarks

The output of `make bench`, which measures everything below in one run and writes this page and its charts again: don't edit
it. `.venv/bin/python -m tests.bench replies` repeats one section and only prints it.

Compare ratios, not times: a time says as much about the machine as about Gatehouse."""


def write(reports: Sequence[Report], docs: Path, *, load_before: float) -> Path:
    """Write the page and the charts into *docs*; return where the page is. *load_before*: of the machine, at the start."""
    pictures = docs / PICTURES
    pictures.mkdir(parents=True, exist_ok=True)
    for chart in (chart for report in reports for chart in report.charts):
        (pictures / f"{chart.name}.svg").write_text(chart.svg(), encoding="utf-8")
    page = docs / "benchmarks.md"
    page.write_text("\n\n".join(_parts(reports, load_before)) + "\n", encoding="utf-8")
    return page


def _parts(reports: Sequence[Report], load_before: float) -> Iterator[str]:
    yield INTRODUCTION
    yield _machine(load_before)
    for report in reports:
        yield f"## {report.heading}"
        yield report.about
        yield from map(_picture, report.charts)
        yield from (sheet.markdown() for sheet in report.sheets)


def _machine(load_before: float) -> str:
    """Where and when the run was; nothing that names the machine."""
    libraries = ", ".join(f"{name} {version(name)}" for name in LIBRARIES)
    cores = os.cpu_count() or 1
    lines = [
        f"- Date: {datetime.now(UTC):%Y-%m-%d}",
        f"- Machine: {cores} cores ({platform.machine()}), {platform.system()}, load before the run {load_before:.1f}",
        f"- Software: Python {platform.python_version()}, {libraries}",
    ]
    if load_before > QUIET_LOAD * cores:
        lines.append("- **The machine was busy with other work: run it again on a quiet one before you use a figure.**")
    return "\n".join(lines)


def _picture(chart: Chart) -> str:
    """The chart, with an alternative in words: the tables below it have its figures, and the file has them as text."""
    return f"![Bar chart: {chart.title}. The tables below have its figures.]({PICTURES}/{chart.name}.svg)"
