"""The benches run, and what they find can be written down; how quick anything is, no test asks."""

from __future__ import annotations

import re
from math import nan
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from tests.bench.charts import Bar, Chart, Group
from tests.bench.sheets import Sheet, compared
from tests.harness.programs import run_module

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = 'a <b> & "c"'


@pytest.mark.slow
@pytest.mark.timeout(600)  # processes start and are measured one after the other, and a busy machine may take its time
async def test_a_quick_run_writes_the_page_and_its_charts(tmp_path: Path) -> None:
    code, out, errors = await run_module("tests.bench", "--quick", "--docs", str(tmp_path), patience=580.0)

    assert code == 0, out + errors
    text = (tmp_path / "benchmarks.md").read_text()
    pictures = re.findall(r"\(pictures/(.+)\.svg\)", text)
    assert pictures == ["replies-per-second", "command-to-reply", "process", "approval"]
    for name in pictures:
        drawn = ET.parse(tmp_path / "pictures" / f"{name}.svg")  # noqa: S314  our own file
        assert "Gatehouse" in (drawn.findtext(f"{SVG}desc") or "")


def test_a_chart_says_everything_in_words_and_escapes_them() -> None:
    group = Group(HOSTILE, [Bar("one", 2.0, "2.00 ms", 0), Bar("two", 1.0, "1.00 ms", 2, tail=4.0)])
    drawn = ET.fromstring(Chart("name", HOSTILE, "Less is better.", [group]).svg())  # noqa: S314  our own text

    assert drawn.findtext(f"{SVG}desc") == f"{HOSTILE}. {HOSTILE}: one 2.00 ms, two 1.00 ms."
    shown = [each.text for each in drawn.iter(f"{SVG}text")]
    assert shown == [HOSTILE, "Less is better.", HOSTILE, "one", "2.00 ms", "two", "1.00 ms"]


def test_bars_are_as_long_as_their_figures() -> None:
    one, two = Group("one", [Bar("a", 4.0, "4", 1), Bar("b", 1.0, "1", 2)]), Group("two", [Bar("c", 2.0, "2", 1)])

    assert _widths(Chart("name", "title", "", [one, two])) == [360.0, 90.0, 360.0]
    assert _widths(Chart("name", "title", "", [one, two], has_one_scale=True)) == [360.0, 90.0, 180.0]


def test_a_chart_without_figures_is_drawn() -> None:
    bars = [Bar("a", 0.0, "0", 0), Bar("b", nan, "–", 1, tail=nan)]

    assert _widths(Chart("name", "title", "note", [Group("group", bars)])) == [0.0, 0.0]


def _widths(chart: Chart) -> list[float]:
    bars = ET.fromstring(chart.svg()).iter(f"{SVG}rect")  # noqa: S314  our own text
    return [float(bar.get("width", "")) for bar in bars if bar.get("class") != "page"]


def test_a_table_is_markdown() -> None:
    written = Sheet("Title", ("bot", "time"), [("one", "1 ms")]).markdown()

    assert written.splitlines() == ["**Title**", "", "| bot | time |", "| --- | ---: |", "| one | 1 ms |"]


@pytest.mark.parametrize(
    ("value", "baseline", "words"),
    [
        (1564.2, 782.1, "1,564 ms (2.00×)"),
        (12.34, 24.68, "12.3 ms (0.50×)"),
        (0.5, 0.0, "0.50 ms"),
        (2.0, nan, "2.00 ms"),
        (nan, 1.0, "–"),
    ],
)
def test_a_figure_is_compared_where_there_is_a_baseline(value: float, baseline: float, words: str) -> None:
    assert compared(value, baseline, "ms") == words
