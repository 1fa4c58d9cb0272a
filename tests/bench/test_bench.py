"""The benches run, and say what they find; how quick anything is, no test asks."""

from __future__ import annotations

import pytest

from tests.bench.table import Row
from tests.harness.programs import run_module


@pytest.mark.slow
@pytest.mark.timeout(600)  # processes start and are measured one after the other, and a busy machine may take its time
async def test_a_quick_run_writes_a_row_for_each_figure() -> None:
    code, out, errors = await run_module("tests.bench", "--quick", patience=580.0)

    assert code == 0, out + errors
    written = [line.split(" | ") for line in out.splitlines() if line[0:1] == "|"]
    assert {len(cells) for cells in written} == {4}
    named = " ".join(cells[0] for cells in written)
    for what in ("whoami", "start to ready", "an approval", "import of 10 members", "/members grant"):
        assert what in named


@pytest.mark.parametrize(
    ("ours", "theirs", "words"),
    [(1564.2, 782.1, ("1,564 ms", "peer: 782 ms", "2.00")), (12.34, 0.5, ("12.3 ms", "peer: 0.50 ms", "24.68"))],
)
def test_a_figure_stands_beside_its_baseline(ours: float, theirs: float, words: tuple[str, str, str]) -> None:
    assert Row("x", ours, "peer", theirs, "ms").cells == ("x", *words)
