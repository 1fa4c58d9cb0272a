"""``make mutants`` sees which change of a condition the nearest tests notice."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
MODULE = """
def cheapest(prices: list[int]) -> int:
    lowest = prices[0]
    for price in prices:
        if price < lowest and not price == 0:
            lowest = price
    return lowest
"""
TEST = """
from bot.policy.prices import cheapest

def test_the_lowest_of_several():
    assert cheapest([3, 1, 2, 0]) == 1
"""


@pytest.mark.slow
def test_a_mutant_that_changes_an_answer_is_killed_and_an_equivalent_one_survives(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder in ("bot/policy", "tests/policy"):
        (tmp_path / folder).mkdir(parents=True)
    for package in ("bot", "bot/policy"):
        (tmp_path / package / "__init__.py").touch()
    (tmp_path / "bot/policy/prices.py").write_text(MODULE)
    (tmp_path / "tests/policy/test_prices.py").write_text(TEST)
    (tmp_path / "pytest.ini").write_text(
        "[pytest]\nasyncio_default_fixture_loop_scope = function\nmarkers =\n"
        + "".join(f"  {each}\n" for each in ("slow", "browser", "drill", "postgres", "another_day"))
    )
    monkeypatch.chdir(tmp_path)

    done = subprocess.run(
        [sys.executable, "-m", "tests.harness.mutants"],
        env=os.environ | {"PYTHONPATH": os.pathsep.join([str(tmp_path), str(ROOT)]), "FILE": "bot/policy"},
        capture_output=True,
        text=True,
        check=True,
    )

    assert "4 of 5 were noticed" in done.stdout
    survived = [line for line in done.stdout.splitlines() if line.startswith("SURVIVED")]
    assert [line.partition("  ->  ")[2] for line in survived] == ["price <= lowest"]
    assert (tmp_path / "bot/policy/prices.py").read_text() == MODULE
