"""``make mutants`` sees which change of a condition is noticed, and by which test."""

from __future__ import annotations

from pathlib import Path

from tests.harness.mutants import killer, mutants, nearest

MODULE = b"""
def cheapest(prices: list[int]) -> int:
    lowest = prices[0]
    for price in prices:
        if price < lowest:
            lowest = price
    return lowest
"""
TEST = """
from bot.policy.prices import cheapest

def test_the_lowest_of_several():
    assert cheapest([3, 1, 2]) == 1
"""


def test_a_mutant_that_changes_an_answer_is_killed_and_an_equivalent_one_survives(tmp_path: Path) -> None:
    path = "bot/policy/prices.py"
    for folder in ("bot/policy", "tests/policy"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "bot" / "__init__.py").touch()
    (tmp_path / path).write_bytes(MODULE)
    (tmp_path / "tests/policy/test_prices.py").write_text(TEST)
    (tmp_path / "pytest.ini").write_text("[pytest]\nasyncio_default_fixture_loop_scope = function\n")
    tests = nearest(path, tmp_path)

    kills, equivalent = (
        mutant
        for mutant in mutants(path, MODULE)
        if mutant.change.endswith(("< lowest) and False)", "(price <= lowest)"))
    )

    assert tests == ["tests/policy/test_prices.py", "tests/policy"]
    assert killer(tmp_path, kills, tests) == (
        "FAILED tests/policy/test_prices.py::test_the_lowest_of_several - assert 3 == 1"
    )
    assert killer(tmp_path, equivalent, tests) is None
    assert (tmp_path / path).read_bytes() == MODULE


def test_every_kind_of_condition_is_changed() -> None:
    module = b"""
async def guard(a, b, found):
    if (c := a) and not b:
        raise ValueError("\xc3\xa9" if a is b else "")
    try:
        return [x for x in a if x in b]
    except KeyError as error:
        raise ValueError from error
"""

    changed = [(mutant.line, mutant.change.partition("->  ")[2]) for mutant in mutants("bot/policy/a.py", module)]

    assert sorted(changed) == sorted(
        [
            (3, "(((c := a)))"),
            (3, "(((c := a) and (not b)) and False)"),
            (3, "(((c := a) and (not b)) or True)"),
            (3, "(((c := a)) or (not b))"),
            (3, "((not b))"),
            (3, "(b)"),
            (4, "((a is b) and False)"),
            (4, "((a is b) or True)"),
            (4, "(a is not b)"),
            (6, "((x in b) or True)"),
            (6, "(x not in b)"),
            (8, "pass"),
        ]
    )
    for mutant in mutants("bot/policy/a.py", module):
        compile(mutant.source, mutant.path, "exec")
