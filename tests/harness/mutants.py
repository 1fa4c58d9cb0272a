"""Change one condition at a time in a copy of the tree, run the nearest tests, list what no test notices: ``make mutants``.

N: how many are tried (300), as SEED has it (0); ONLY: the beginning of a path; JOBS: how many side by side.

Looked at, and not taken: mutmut 3.8 (changes strings, numbers and arguments as well, skips decorated functions, has one
selection of tests for all modules); cosmic-ray 8.7 (one command of tests for all modules, no sample, changes the tree
that it works in); mutatest 3.1 (changes what is compiled in the tree, needs a coverage below 6). None drops a `raise`.
"""

from __future__ import annotations

import ast
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final, NamedTuple

ROOT: Final = Path(__file__).parent.parent.parent
STORIES: Final = {
    "bot/changes/": "approvals undo temporary sets break_glass after_a_crash resumed changed_since told requests limits groups",
    "bot/policy/": "rights guests membership user_groups limits break_glass approvals",
    "bot/clients/": "busy_services incomplete_lists odd_data groups rules members",
    "bot/rules/matching.py": "check why",
    "bot/server/edge.py": "bad_input",
}
"""What is changed, and the stories nearest to it."""
FAST: Final = "not (slow or browser or drill or postgres)"
FLIPPED: Final[dict[type[ast.cmpop], str]] = {
    ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">", ast.Eq: "!=", ast.NotEq: "==",
    ast.In: "not in", ast.NotIn: "in", ast.Is: "is not", ast.IsNot: "is",
}  # fmt: skip


class Mutant(NamedTuple):
    path: str
    line: int
    change: str
    source: bytes  # the whole module, changed


def mutants(path: str, source: bytes) -> Iterator[Mutant]:
    """Return every mutant of a module."""
    starts = [0]
    for row in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(row))
    for node, after in _changes(list(_nodes(ast.parse(source)))):
        begin = starts[node.lineno - 1] + node.col_offset
        end = starts[(node.end_lineno or node.lineno) - 1] + (node.end_col_offset or 0)
        mutated = source[:begin] + after.encode() + source[end:]
        yield Mutant(path, node.lineno, f"{ast.unparse(node)}  ->  {after}", mutated)


def _nodes(node: ast.AST) -> Iterator[ast.AST]:
    yield node
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.JoinedStr):  # before Python 3.12 what is in one has no true position
            yield from _nodes(child)


def _changes(nodes: Sequence[ast.AST]) -> Iterator[tuple[ast.expr | ast.stmt, str]]:
    """What may be replaced, and by what. What a condition assigns, it still assigns."""
    alone = [node.body[0] for node in nodes if isinstance(node, ast.If) and len(node.body) == 1]
    for node in nodes:
        match node:
            case ast.If(test=test) | ast.IfExp(test=test) | ast.match_case(guard=ast.expr() as test):
                yield from _weakened(test, "({} or True)", "({} and False)")
            case ast.While(test=test):
                yield from _weakened(test, "({} and False)")
            case ast.comprehension(ifs=tests):
                yield from (change for test in tests for change in _weakened(test, "({} or True)"))
            case ast.Raise() if node not in alone:  # of one that is alone in its `if`, that is the condition weakened
                yield node, "pass"
            case ast.BoolOp(op=op, values=values):
                word, other = (" and ", " or ") if isinstance(op, ast.And) else (" or ", " and ")
                parts = [f"({ast.unparse(value)})" for value in values]
                fewer = [word.join(parts[:dropped] + parts[dropped + 1 :]) for dropped in range(len(parts))]
                yield from ((node, f"({after})") for after in (other.join(parts), *fewer))
            case ast.Compare(left=left, ops=[op], comparators=[right]):
                yield node, f"({ast.unparse(left)} {FLIPPED[type(op)]} {ast.unparse(right)})"
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                yield node, f"({ast.unparse(operand)})"


def _weakened(test: ast.expr, *shapes: str) -> Iterator[tuple[ast.expr, str]]:
    if not isinstance(test, ast.Constant) and ast.unparse(test) != "TYPE_CHECKING":
        yield from ((test, shape.format(f"({ast.unparse(test)})")) for shape in shapes)
        if not isinstance(test, ast.Compare | ast.BoolOp | ast.UnaryOp):  # those are turned as what they are
            yield test, f"(not {ast.unparse(test)})"


def nearest(path: str, root: Path = ROOT) -> list[str]:
    """The tests of a module: its own first, then those of its room, then the stories nearest to it."""
    target = next(target for target in STORIES if path.startswith(target))
    room = Path("tests", *Path(path).parts[1:-1])
    tests = [room / f"test_{Path(path).stem}.py", *([] if path == target else [room])]
    tests += [Path(f"tests/stories/test_{story}.py") for story in STORIES[target].split()]
    return [test.as_posix() for test in tests if (root / test).exists()]


def killer(tree: Path, mutant: Mutant, tests: Sequence[str]) -> str | None:
    """Return the first of *tests* that fails in *tree* with *mutant*, or what else is wrong; None where it survives."""
    steady = (
        "-p",
        "no:randomly",
        "-p",
        "no:cacheprovider",
        "--hypothesis-seed=0",
        "--timeout=60",
        "--timeout-method=thread",
    )
    command = [sys.executable, "-B", "-m", "pytest", "-x", "-q", *steady, "-m", FAST, *tests]
    path = tree / mutant.path
    original = path.read_bytes()
    path.write_bytes(mutant.source)
    with tempfile.TemporaryFile("w+") as out:  # and no pipe, which a process that a test started could hold open
        code = subprocess.run(command, cwd=tree, stdout=out, stderr=out, check=False).returncode  # noqa: S603
        path.write_bytes(original)
        out.seek(0)
        failed = [line.strip() for line in out if line.startswith(("FAILED", "ERROR", "+++"))]
    return None if code == 0 else [*failed, f"exit {code}"][0]


def main(number: int, seed: str, only: str, jobs: int) -> None:
    """Print the survivors of *number* mutants."""
    paths = [path.relative_to(ROOT).as_posix() for path in ROOT.glob("bot/**/*.py")]
    mutated = [path for path in paths if path.startswith(only) and path.startswith(tuple(STORIES))]
    every = [mutant for path in mutated for mutant in mutants(path, (ROOT / path).read_bytes())]
    ranks = {mutant: hashlib.sha256(f"{seed} {mutant.path} {mutant.change}".encode()).digest() for mutant in every}
    chosen = sorted(every, key=ranks.__getitem__)[:number]  # a sample that a change elsewhere leaves as it is
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(jobs) as pool:
        trees = [Path(folder, str(job)) for job in range(jobs)]
        for tree in trees:
            shutil.copytree(ROOT, tree, ignore=shutil.ignore_patterns(".*"))
        tests = dict.fromkeys(test for mutant in chosen for test in nearest(mutant.path))
        unchanged = Mutant("bot/__init__.py", 0, "", (ROOT / "bot/__init__.py").read_bytes())
        if (failed := killer(trees[0], unchanged, [*tests])) is not None:
            raise SystemExit(f"Without any change, already: {failed}")

        def survivors(job: int) -> list[str]:
            left = []
            for mutant in chosen[job::jobs]:
                what = f"{mutant.path}:{mutant.line}  {mutant.change}"
                failed = killer(trees[job], mutant, nearest(mutant.path))
                print(f"killed    {what}  by {failed}" if failed else f"SURVIVED  {what}", file=sys.stderr, flush=True)
                left += [] if failed else [what]
            return left

        left = [what for each in pool.map(survivors, range(jobs)) for what in each]
    print(*left, f"Killed {len(chosen) - len(left)} of {len(chosen)}, of {len(every)} that there are.", sep="\n")


if __name__ == "__main__":
    given = os.environ.get
    main(int(given("N") or 300), given("SEED") or "0", given("ONLY") or "", int(given("JOBS") or os.cpu_count() or 1))
