"""Change one condition of a file at a time, and see whether the nearest tests notice: ``make mutants FILE=bot/policy/model.py``.

N: how many conditions are tried (10), as SEED has it (0). The tests are those of the fast lane that import the module, or lie
where its tests are; each run ends at the first that fails. All of it happens in a copy of the tree.

mutmut, cosmic-ray and mutatest want a run of all tests first, or change the tree that they work in.
"""

from __future__ import annotations

import ast
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

FLIPPED: Final[dict[type[ast.cmpop], str]] = {
    ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">", ast.Eq: "!=", ast.NotEq: "==",
    ast.In: "not in", ast.NotIn: "in", ast.Is: "is not", ast.IsNot: "is",
}  # fmt: skip
MAX_TEST_FILES: Final = 12
SECONDS: Final = 60
"""How long the tests of one mutant may take: one that runs on without an end is noticed, too."""


class Mutant(NamedTuple):
    """A module with one condition changed. *about*: the line, the condition, and what it became."""

    about: str
    source: str


def mutants_of(source: str) -> Iterator[Mutant]:
    """Yield each way to change one condition: a comparison is turned, an *and* or *or* loses an operand, a *not* goes."""
    lines = source.splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line.encode()))
    for node in ast.walk(ast.parse(source)):
        changed: list[str] = []
        if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in FLIPPED:
            parts = ast.unparse(node.left), FLIPPED[type(node.ops[0])], ast.unparse(node.comparators[0])
            changed.append(" ".join(parts))
        elif isinstance(node, ast.BoolOp):
            changed += [ast.unparse(each) for each in node.values]
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            changed.append(ast.unparse(node.operand))
        for text in changed:
            assert isinstance(node, ast.expr)
            begin = starts[node.lineno - 1] + node.col_offset
            end = starts[(node.end_lineno or 1) - 1] + (node.end_col_offset or 0)
            raw = source.encode()
            made = (raw[:begin] + f"({text})".encode() + raw[end:]).decode()
            yield Mutant(f"{node.lineno}: {ast.unparse(node)}  ->  {text}", made)


def nearest_tests(path: Path, root: Path) -> list[str]:
    """Return the test files nearest to the module at *path*: those called like it, then those that import it."""
    module = ".".join(path.with_suffix("").parts)
    tests = sorted(each for each in (root / "tests").rglob("test_*.py"))
    called = [each for each in tests if each.stem.removeprefix("test_") in {path.stem, path.parent.name}]
    importing = [each for each in tests if f"from {module} import" in each.read_text()]
    beside = [each for each in tests if each.parent.name == path.parent.name]
    found = [*called, *importing, *beside]
    return [str(each.relative_to(root)) for each in dict.fromkeys(found)][:MAX_TEST_FILES]


def passes(tests: list[str], root: Path) -> bool:
    """Whether *tests* pass in the tree at *root*, in time."""
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-n", "2", "-p", "no:randomly", "-p", "no:cacheprovider"]
    lane = ["-m", "not (slow or browser or drill or postgres)"]
    try:
        done = subprocess.run(  # noqa: S603
            [*command, *lane, *tests],
            cwd=root,
            env=os.environ | {"PYTHONPATH": str(root)},
            capture_output=True,
            timeout=SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0


def main(file: str, many: int, seed: int) -> int:
    """Try *many* mutants of *file*; print each with what became of it, and return how many survived."""
    here, path = Path.cwd(), Path(file)
    found = list(mutants_of(path.read_text()))
    chosen = random.Random(seed).sample(found, min(many, len(found)))
    tests = nearest_tests(path, here)
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "tree"
        left_out = shutil.ignore_patterns(".git", ".venv", ".*_cache", "__pycache__", ".hypothesis")
        shutil.copytree(here, root, ignore=left_out)
        print(f"{len(found)} conditions, {len(chosen)} tried with {' '.join(tests) or 'no test'}")
        if not tests or not passes(tests, root):
            sys.exit("These tests don't pass as it is." if tests else f"No test is near {file}.")
        survived = 0
        for each in chosen:
            (root / path).write_text(each.source)
            is_noticed = not passes(tests, root)
            survived += not is_noticed
            print(f"{'killed  ' if is_noticed else 'SURVIVED'}  {file}:{each.about}", flush=True)
    print(f"{len(chosen) - survived} of {len(chosen)} were noticed.")
    return survived


if __name__ == "__main__":
    if not (wanted := os.environ.get("FILE")):
        sys.exit("Say which file: make mutants FILE=bot/policy/model.py")
    main(wanted, int(os.environ.get("N") or 10), int(os.environ.get("SEED") or 0))
