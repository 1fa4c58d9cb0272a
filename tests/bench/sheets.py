"""What a bench reports: tables and charts under a heading, printed in a terminal or written as Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isnan
from typing import Final

from rich.table import Table

from tests.bench.charts import Chart

NONE: Final = "–"
"""A cell without a figure."""


@dataclass(frozen=True, slots=True)
class Sheet:
    """A table: cells are text, the first of each row names it."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]

    def for_terminal(self) -> Table:
        """The table as rich prints it."""
        made = Table(*self.columns, title=self.title)
        for row in self.rows:
            made.add_row(*row)
        return made

    def markdown(self) -> str:
        """The table as Markdown, below its title."""
        rule = ["---", *["---:"] * (len(self.columns) - 1)]
        lines = [self.columns, rule, *self.rows]
        return "\n".join([f"**{self.title}**", "", *(f"| {' | '.join(line)} |" for line in lines)])


@dataclass(frozen=True, slots=True)
class Report:
    """The result of one bench. *charts*: by the name of the file that each is written to."""

    heading: str
    about: str
    sheets: Sequence[Sheet]
    charts: Sequence[Chart] = ()


def number(value: float, unit: str = "") -> str:
    """*value* with about three digits: ``1,564``, ``78.2``, ``3.14 ms``."""
    if isnan(value):
        return NONE
    digits = 0 if abs(value) >= 100 else 1 if abs(value) >= 10 else 2
    return f"{value:,.{digits}f} {unit}".rstrip()


def compared(value: float, baseline: float, unit: str = "") -> str:
    """*value*, with its ratio to *baseline* in parentheses where there is one."""
    if isnan(value) or isnan(baseline) or not baseline:
        return number(value, unit)
    return f"{number(value, unit)} ({value / baseline:.2f}×)"
