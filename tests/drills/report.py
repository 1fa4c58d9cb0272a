"""What the drills measured: printed at the end of a run, and with --write-reliability written into docs/reliability.md.

A test records ``reliability``, the cells of its row in the table of crash points, and ``figure``, a line that begins
with the name of its goal. Rows and figures that a run did not measure stay as they are.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import pytest

PAGE: Final = Path(__file__).parent.parent.parent / "docs" / "reliability.md"
HEADS: Final = (
    "killed at",
    "change",
    "database",
    "Slack was told",
    "asked again",
    "service writes",
    "ends",
    "cards",
)
KEYS: Final = 3
"""So many cells name the case; the others say what came of it."""

Row = tuple[str, ...]


def documented() -> list[Row]:
    """The rows of the table of crash points in the docs."""
    return [tuple(cell.strip() for cell in line.strip("|").split("|")) for line in _part("crash points")[2:]]


def promised(row: Row) -> Row:
    """The cells that must come out the same every time: what Slack got to hear, and whether a card was posted twice,
    hang on what was quicker, the work or the kill."""
    return (*row[:KEYS], *row[5:7])


def _part(name: str) -> list[str]:
    found = re.search(rf"<!-- {name} -->\n(.*)<!-- /{name} -->", PAGE.read_text(), re.DOTALL)
    assert found is not None, f"{PAGE} has no place for the {name}"
    return found[1].splitlines()


def _replaced(text: str, name: str, lines: Sequence[str]) -> str:
    body = "".join(f"{line}\n" for line in lines)
    return re.sub(
        rf"(<!-- {name} -->\n).*(<!-- /{name} -->)", lambda found: found[1] + body + found[2], text, flags=re.DOTALL
    )


def table(rows: Sequence[Row]) -> list[str]:
    return [_line(HEADS), _line(["---"] * len(HEADS)), *map(_line, rows)]


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


class Figures:
    """Collects on the controller what the workers' tests recorded."""

    def __init__(self, *, write: bool) -> None:
        self.write = write
        self.rows: list[Row] = []
        self.figures: list[str] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when != "call":
            return
        self.rows += [tuple(value) for name, value in report.user_properties if name == "reliability"]  # type: ignore[arg-type]  # ours are lists
        self.figures += [str(value) for name, value in report.user_properties if name == "figure"]

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if not self.rows and not self.figures:
            return
        terminalreporter.section("reliability")
        for line in [*(table(sorted(self.rows)) if self.rows else ()), *sorted(self.figures)]:
            terminalreporter.write_line(line)
        if self.write:
            self._write()
            terminalreporter.write_line(f"written to {PAGE}")

    def _write(self) -> None:
        rows = {row[:KEYS]: row for row in [*documented(), *self.rows]}
        kept = {line.lstrip("- ").partition(":")[0]: line for line in _part("figures")}
        lines = kept | {line.partition(":")[0]: f"- {line}" for line in self.figures}
        text = _replaced(PAGE.read_text(), "crash points", table(sorted(rows.values(), key=_order)))
        PAGE.write_text(_replaced(text, "figures", [lines[name] for name in sorted(lines, key=_number)]))


def _order(row: Row) -> tuple[str, str, str]:
    return row[1], row[0], row[2]


def _number(name: str) -> tuple[int, str]:
    found = re.match(r"[A-Z](\d+)", name)
    return (int(found[1]) if found else 0), name


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--write-reliability", action="store_true", help="write what the drills find into docs/reliability.md"
    )


def pytest_configure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Figures(write=config.getoption("--write-reliability")), "figures")
