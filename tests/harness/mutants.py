"""Change one condition at a time, and see whether the nearest tests notice: ``make mutants FILE=bot/policy/model.py``.

FILE: one file, or several files and folders. N: how many of all their conditions are tried (10), as SEED has it (0). All
tests are collected and run once as it is, but none that kills a process or needs a browser or PostgreSQL, and of long tables a
third. Each mutant has, in a process of its own and up to the first that fails, those that call the function that it changes,
first those beside its module (tests/changes for bot/changes) or that import it; what they don't notice, mypy may. Nothing is
written: what changes is the code of a function that is there already. So conditions outside of functions aren't tried.

mutmut, cosmic-ray and mutatest want a run of all tests first, or change the tree that they work in.
"""

from __future__ import annotations

import ast
import gc
import json
import os
import random
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from pathlib import Path
from types import CodeType, FrameType, FunctionType
from typing import IO, Final, NamedTuple

import pytest

FLIPPED: Final[dict[type[ast.cmpop], str]] = {
    ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">", ast.Eq: "!=", ast.NotEq: "==",
    ast.In: "not in", ast.NotIn: "in", ast.Is: "is not", ast.IsNot: "is",
}  # fmt: skip
AT_ONCE: Final = 3
SURVIVED, KILLED, NOT_TRIED = 0, 1, 2
"""How the process of a mutant ends; NOT_TRIED where its code doesn't fit what is there."""


class Mutant(NamedTuple):
    """The module at *path* with one condition changed, of the function that begins in line *begins*.

    *about*: the line, the condition, and what it became.
    """

    path: Path
    begins: int
    about: str
    source: str


def mutants_of(path: Path) -> Iterator[Mutant]:
    """Yield each way to change one condition: a comparison is turned, an *and* or *or* loses an operand, a *not* goes."""
    source = path.read_text()
    lines = source.splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line.encode()))
    functions = [
        each for each in ast.walk(ast.parse(source)) if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    # An inner function comes after the one that it is in.
    within = {node: each for each in functions for statement in each.body for node in ast.walk(statement)}
    for node, function in within.items():
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
            begins = min(each.lineno for each in (function, *function.decorator_list))
            yield Mutant(path, begins, f"{node.lineno}: {ast.unparse(node)}  ->  {text}", made)


def distance(path: Path, test: Path) -> int:
    """Return how far a test file is from the module at *path*: it is called like it, imports it, is of its package, or isn't."""
    module, package = ".".join(path.with_suffix("").parts), path.parts[1]
    is_beside = package in test.parts
    if is_beside and test.stem == f"test_{path.stem}":
        return 0
    return 1 if f"from {module} import" in test.read_text() else 3 - is_beside


def _functions_in(code: CodeType) -> Iterator[CodeType]:
    """Yield the code of each function in *code*; a comprehension is part of the one that it is in."""
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield from (each,) if each.co_name in {"<lambda>", each.co_name.strip("<>")} else ()
            yield from _functions_in(each)


def put_in_place(mutant: Mutant) -> None:
    """Give each function of the module, in this process, the code that it has in *mutant*."""
    file = str(mutant.path.resolve())
    both = (compile(each, file, "exec", dont_inherit=True) for each in (mutant.path.read_text(), mutant.source))
    changed = dict(zip(*map(_functions_in, both), strict=True))
    gc.unfreeze()
    for each in gc.get_objects():
        if isinstance(each, FunctionType) and each.__code__.co_filename == file:
            each.__code__ = changed[each.__code__]


def is_refused_by_mypy(path: Path, source: str) -> bool:
    with tempfile.TemporaryDirectory() as folder:
        (made := Path(folder, path.name)).write_text(source)
        mypy = [sys.executable, "-m", "mypy", "--shadow-file", *map(str, (path, made, path))]
        return subprocess.run(mypy, check=False, stdout=subprocess.DEVNULL).returncode == 1  # noqa: S603  ours


class Trial:
    """Runs the collected tests for each of *mutants*, AT_ONCE at a time; *tally*: how many ended how."""

    def __init__(self, mutants: Sequence[Mutant]) -> None:
        self.mutants = mutants
        self.tally: Counter[str] = Counter()

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        with tempfile.TemporaryFile("w+") as calls:
            if os.waitpid(_start(session, session.items, calls=calls), 0)[1]:
                raise session.Failed
            calls.seek(0)
            called = dict(zip(session.items, json.load(calls), strict=True))
        running: dict[int, Mutant] = {}
        for mutant in [*self.mutants, *[None] * AT_ONCE]:
            if len(running) == AT_ONCE or (mutant is None and running):
                pid, status = os.wait()
                done = running.pop(pid)
                end = {SURVIVED: "SURVIVED", NOT_TRIED: "not tried"}.get(os.waitstatus_to_exitcode(status), "killed  ")
                if end == "SURVIVED" and is_refused_by_mypy(done.path, done.source):
                    end = "by mypy "
                self.tally[end] += 1
                print(f"{end}  {done.path}:{done.about}", flush=True)
            if mutant is not None:
                chosen = [item for item in session.items if f"{mutant.path.resolve()}:{mutant.begins}" in called[item]]
                far = {file: distance(mutant.path, file) for file in {item.path for item in chosen}}
                chosen.sort(key=lambda item: (item.get_closest_marker("slow") is not None, far[item.path]))
                running[_start(session, chosen, mutant)] = mutant
        return True


def _start(
    session: pytest.Session, items: Sequence[pytest.Item], mutant: Mutant | None = None, calls: IO[str] | None = None
) -> int:
    """Start the tests in a process that ends at the first that fails, KILLED, else SURVIVED; return its id.

    *calls* gets, of each test, every function of the bot that it called, by file and first line.
    """
    if pid := os.fork():
        return pid
    status, ours = NOT_TRIED, str(Path("bot").resolve())
    called: list[dict[str, None]] = []

    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and (code := frame.f_code).co_filename.startswith(ours):
            called[-1][f"{code.co_filename}:{code.co_firstlineno}"] = None

    try:
        session.config.pluginmanager.unregister(name="terminalreporter")
        if mutant is not None:
            put_in_place(mutant)
        status = KILLED
        for item, after in zip_longest(items, items[1:]):
            if calls is not None:  # for each, as some have a profile of their own
                called.append({})
                threading.setprofile(note)
                sys.setprofile(note)
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=after)
            if session.testsfailed:
                print("" if mutant else f"{item.nodeid} fails as it is.", end="", flush=True)
                break
        else:
            status = SURVIVED
        if calls is not None:
            json.dump(called, calls)
            calls.flush()
    finally:
        os._exit(status)


def main(wanted: str, many: int, seed: int) -> None:
    """Try *many* mutants of the *wanted* files, and print each with what became of it."""
    files = [each for name in wanted.split() for each in sorted(Path(name).rglob("*.py")) or [Path(name)]]
    found = [each for file in files for each in mutants_of(file)]
    trial = Trial(random.Random(seed).sample(found, min(many, len(found))))
    print(f"{len(found)} conditions, {len(trial.mutants)} tried", flush=True)
    lane = ["-m", "not (browser or drill or postgres or another_day)"]
    os.environ["THIRD"] = str(seed)
    plain = ["-qq", "-n0", "--timeout=120", "-pno:randomly", "-pno:cacheprovider", "--inline-snapshot=disable"]
    fails = any(is_refused_by_mypy(each, each.read_text()) for each in {each.path for each in trial.mutants})
    if fails or pytest.main([*plain, *lane, "tests"], plugins=[trial]):
        sys.exit("Its tests or mypy don't pass as it is.")
    noticed, by_mypy = trial.tally["killed  "] + trial.tally["by mypy "], trial.tally["by mypy "]
    print(f"{noticed} of {noticed + trial.tally['SURVIVED']} were noticed, {by_mypy} of them by mypy alone.")


if __name__ == "__main__":
    if not (wanted := os.environ.get("FILE")):
        sys.exit("Say which file: make mutants FILE=bot/policy/model.py")
    main(wanted, int(os.environ.get("N") or 10), int(os.environ.get("SEED") or 0))
