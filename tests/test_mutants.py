"""``make mutants`` sees which change of a condition the nearest tests notice."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.harness.mutants import main, mutants_of, nearest_tests

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


def test_each_condition_is_changed_in_each_way() -> None:
    assert [each.about.partition("  ->  ")[2] for each in mutants_of(MODULE)] == [
        "price < lowest",
        "not price == 0",
        "price <= lowest",
        "price == 0",
        "price != 0",
    ]
    assert all(compile(each.source, "made", "exec") for each in mutants_of(MODULE))


@pytest.mark.slow
def test_a_mutant_that_changes_an_answer_is_killed_and_an_equivalent_one_survives(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for folder in ("bot/policy", "tests/policy"):
        (tmp_path / folder).mkdir(parents=True)
    for package in ("bot", "bot/policy"):
        (tmp_path / package / "__init__.py").touch()
    (tmp_path / "bot/policy/prices.py").write_text(MODULE)
    (tmp_path / "tests/policy/test_prices.py").write_text(TEST)
    (tmp_path / "pytest.ini").write_text(
        "[pytest]\nasyncio_default_fixture_loop_scope = function\nmarkers =\n  slow\n  browser\n  drill\n  postgres\n"
    )
    monkeypatch.chdir(tmp_path)

    assert nearest_tests(Path("bot/policy/prices.py"), tmp_path) == ["tests/policy/test_prices.py"]
    assert main("bot/policy/prices.py", 10, 0) == 1

    survived = [line for line in capsys.readouterr().out.splitlines() if line.startswith("SURVIVED")]
    assert [line.partition("  ->  ")[2] for line in survived] == ["price <= lowest"]
    assert (tmp_path / "bot/policy/prices.py").read_text() == MODULE
