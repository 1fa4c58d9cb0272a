"""What the drills measured: printed at the end of a run, and with --write-reliability written into docs/reliability.md.

A test records a ``figure``, a line that begins with the name of its goal and a colon. Figures that a run did not measure stay as
they are.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import pytest

PAGE: Final = Path(__file__).parent.parent.parent / "docs" / "reliability.md"
FIGURES: Final = re.compile(r"(?<=<!-- figures -->\n).*(?=<!-- /figures -->)", re.DOTALL)


class Figures:
    """Collects on the controller what the workers' tests recorded."""

    def __init__(self, *, write: bool) -> None:
        self.write = write
        self.figures: list[str] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call":
            self.figures += [str(value) for name, value in report.user_properties if name == "figure"]

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if not self.figures:
            return
        terminalreporter.section("reliability")
        for line in sorted(self.figures):
            terminalreporter.write_line(line)
        if self.write:
            PAGE.write_text(self._written(PAGE.read_text()))
            terminalreporter.write_line(f"written to {PAGE}")

    def _written(self, text: str) -> str:
        """Return the page *text* with the figures of this run in the place of older ones."""
        found = FIGURES.search(text)
        assert found is not None, f"{PAGE} has no place for the figures"
        lines = [*found[0].replace("- ", "", 1).split("\n- "), *self.figures]
        newest = {line.partition(":")[0]: line.strip() for line in lines}
        written = "".join(f"- {newest[name]}\n" for name in sorted(newest, key=_number))
        return text[: found.start()] + written + text[found.end() :]


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
