"""``make mutants`` sees which change of a condition is noticed, and by which test."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.harness.mutants import Run, chosen_tests, mutants

MODULE = b"""
def cheapest(prices: list[int]) -> int:
    lowest = prices[0]
    for price in prices:
        if price < lowest:
            lowest = price
    return lowest
"""
TEST = """
import sys

from bot.policy.prices import cheapest

def test_that_ends_what_traces_it():
    sys.settrace(None)

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

    command, alone = [sys.executable, "-m", "tests.harness.mutants"], os.environ | {"JOBS": "1"}
    ran = subprocess.run(command, cwd=tmp_path, env=alone, capture_output=True, text=True, check=True)  # noqa: S603

    told = [line.partition(" - ")[0] for line in ran.stderr.splitlines()]
    by = "by tests/policy/test_prices.py::test_the_lowest_of_several"
    assert sorted(told) == [
        "Learning which lines each of 2 tests runs…",
        f"SURVIVED  {path}:5  price < lowest  ->  (price <= lowest)",
        f"killed    {path}:5  price < lowest  ->  ((price < lowest) and False)  {by}",
        f"killed    {path}:5  price < lowest  ->  ((price < lowest) or True)  {by}",
    ]
    assert ran.stdout.splitlines()[-2:] == [
        f"{path}:5  price < lowest  ->  (price <= lowest)",
        "Killed 2 of 3, of 3 that there are.",
    ]
    assert (tmp_path / path).read_bytes() == MODULE


def test_the_nearest_tests_come_first_and_each_table_with_three_cases_before_the_rest() -> None:
    mutant = next(mutants("bot/policy/prices.py", MODULE))
    runs = {
        "tests/stories/test_sets.py::test_far": Run(0.1, mutant.where),
        "tests/stories/test_rights.py::test_near": Run(0.2, mutant.where),
        "tests/policy/test_prices.py::test_elsewhere": Run(0.1, frozenset({(mutant.path, 1)})),
        **{f"tests/policy/test_prices.py::test_table[{case}]": Run(case, mutant.where) for case in range(1, 6)},
    }

    tests = [test.partition("::")[2] for test in chosen_tests(mutant, runs, seconds=12)]

    assert tests == [*(f"test_table[{case}]" for case in (1, 2, 3)), "test_near", "test_far", "test_table[4]"]


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
