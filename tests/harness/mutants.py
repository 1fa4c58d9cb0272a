"""Change one condition of the core at a time, run the tests that pass it, list what no test notices: ``make mutants``.

N: how many are tried (300), as SEED has it (0); ONLY: the beginning of a path; JOBS: how many side by side; SECONDS: for
how long the tests of one mutant took without it (60), the nearest first. What comes after those isn't run.

Once, each test says which of these lines it runs (kept in ``var/mutants.json`` until a file changes): those of the fast
lane, and of the slow one those in the rooms of what is changed, without drills, browsers and PostgreSQL. For a mutant, a
copy of this process, which has imported and collected everything, puts the changed code in the functions and runs the
tests of that line up to the first that fails. That one has to fail again, and not without the change. What a test starts
as a process of its own is not changed.

Looked at, and not taken: mutmut 3.8 (changes strings, numbers and arguments as well, skips decorated functions, has one
selection of tests for all modules); cosmic-ray 8.7 (one command of tests for all modules, no sample, changes the tree
that it works in); mutatest 3.1 (changes what is compiled in the tree, needs a coverage below 6). None drops a `raise`.
"""

from __future__ import annotations

import ast
import contextlib
import gc
import hashlib
import importlib
import json
import os
import shutil
import signal
import sys
import tempfile
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from types import CodeType, FrameType, FunctionType
from typing import Any, Final, NamedTuple

import pytest

ROOT: Final = Path.cwd()
LEARNED: Final = ROOT / "var" / "mutants.json"
STORIES: Final = {
    "bot/changes/": "approvals undo temporary sets break_glass after_a_crash resumed changed_since told requests limits groups",
    "bot/policy/": "rights guests membership user_groups limits break_glass approvals",
    "bot/clients/": "busy_services incomplete_lists odd_data groups rules members",
    "bot/rules/matching.py": "check why",
    "bot/server/edge.py": "bad_input",
}
"""What is changed, and the stories nearest to it."""
IN_PROCESS: Final = "not (browser or drill or postgres)"
FLIPPED: Final[dict[type[ast.cmpop], str]] = {
    ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">", ast.Eq: "!=", ast.NotEq: "==",
    ast.In: "not in", ast.NotIn: "in", ast.Is: "is not", ast.IsNot: "is",
}  # fmt: skip


MIN_TIMEOUT_SECONDS: Final = 4.0
"""Seconds that each test may take with a mutant,"""
TIMEOUT_FACTOR: Final = 5.0
"""and how many times the seconds that it took without one."""


class Mutant(NamedTuple):
    path: str
    line: int
    change: str
    source: bytes  # the whole module, changed
    where: frozenset[tuple[str, int]]  # the lines of which a test must run one, to notice it


def mutants(path: str, source: bytes) -> Iterator[Mutant]:
    """Return every mutant of a module's functions."""
    starts = [0]
    for row in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(row))
    nodes = [node for function in _functions(ast.parse(source)) for node in _nodes(function)]
    bodies = {id(node.test): node.body[0].lineno for node in nodes if isinstance(node, ast.If)}
    for node, after in _changes(nodes):
        last = node.end_lineno or node.lineno
        begin = starts[node.lineno - 1] + node.col_offset
        end = starts[last - 1] + (node.end_col_offset or 0)
        below = "\n" * (last - node.lineno)  # what follows stays in its line
        changed = f"{after[:-1]}{below})" if after.endswith(")") else after + below
        lines = range(node.lineno, last + 1)
        if id(node) in bodies and after.endswith(" and False)"):
            lines = range(bodies[id(node)], bodies[id(node)] + 1)
        where = frozenset((path, line) for line in lines)
        mutated = source[:begin] + changed.encode() + source[end:]
        yield Mutant(path, node.lineno, f"{ast.unparse(node)}  ->  {after}", mutated, where)


def _functions(node: ast.AST) -> Iterator[ast.AST]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            yield child
        else:
            yield from _functions(child)


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
                yield from _weaken(test, "({} or True)", "({} and False)")
            case ast.While(test=test):
                yield from _weaken(test, "({} and False)")
            case ast.comprehension(ifs=tests):
                yield from (change for test in tests for change in _weaken(test, "({} or True)"))
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
            case _:
                pass


def _weaken(test: ast.expr, *shapes: str) -> Iterator[tuple[ast.expr, str]]:
    if not isinstance(test, ast.Constant) and ast.unparse(test) != "TYPE_CHECKING":
        yield from ((test, shape.format(f"({ast.unparse(test)})")) for shape in shapes)
        if not isinstance(test, ast.Compare | ast.BoolOp | ast.UnaryOp):  # those are turned as what they are
            yield test, f"(not {ast.unparse(test)})"


class Run(NamedTuple):
    """What is known of a test: how many seconds it took, and which lines it ran of those that mutants change."""

    seconds: float
    lines: frozenset[tuple[str, int]]


class Failed(BaseException):
    """A test failed: nothing after it is run."""


def nearest(path: str) -> list[str]:
    """Where the tests of a module begin: its own first, then those of its room, then the stories nearest to it."""
    target = next(target for target in STORIES if path.startswith(target))
    room = Path("tests", *Path(path).parts[1:-1]).as_posix()
    stories = [f"tests/stories/test_{story}.py" for story in STORIES[target].split()]
    return [f"{room}/test_{Path(path).stem}.py", f"{room}/", *stories]


def chosen_tests(mutant: Mutant, runs: dict[str, Run], seconds: float) -> list[str]:
    """Return the tests that run what *mutant* changes, the nearest first, and of each table three cases before the rest.

    They are as many as took *seconds* without it.
    """
    near = nearest(mutant.path)
    cases: Counter[str] = Counter()
    order = []
    for test, run in sorted(runs.items(), key=lambda each: each[1].seconds):
        if not run.lines.isdisjoint(mutant.where):
            cases[table := test.partition("[")[0]] += 1
            distance = next((place for place, start in enumerate(near) if test.startswith(start)), len(near))
            order.append((cases[table] > 3, distance, cases[table], run.seconds, test))
    chosen: list[str] = []
    for *_, took, test in sorted(order):
        if took <= seconds or not chosen:
            chosen.append(test)
            seconds -= took
    return chosen


def start(work: Callable[[], str]) -> tuple[int, Path]:
    """Start *work* in a copy of this process, in a group and with a temporary folder of its own."""
    folder = Path(tempfile.mkdtemp(prefix="mutant-"))
    if process := os.fork():
        return process, folder
    try:
        os.setsid()
        printed = os.open(folder / "printed", os.O_CREAT | os.O_WRONLY)
        os.dup2(printed, 1)
        os.dup2(printed, 2)
        os.environ["TMPDIR"], tempfile.tempdir = str(folder), None
        folder.joinpath("result").write_text(work())
    finally:
        os._exit(0)


def result(process: int, folder: Path) -> str | None:
    """Return what the work of such a process returned, once it has ended, or None where it died."""
    os.waitpid(process, 0)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process, signal.SIGKILL)  # what its tests left
    path = folder / "result"
    text = path.read_text() if path.exists() else None
    shutil.rmtree(folder, ignore_errors=True)
    return text


def results(workers: Sequence[tuple[int, Path]]) -> list[Any]:
    """Return together what several of them returned, each a list as JSON."""
    texts = [result(*worker) for worker in workers]
    if None in texts:
        raise RuntimeError("A copy of this process died.")
    return [each for text in texts for each in json.loads(text or "[]")]


def play(items: Sequence[pytest.Item]) -> Iterator[tuple[pytest.Item, float]]:
    """Run *items*, and yield each with its seconds."""
    for item, after in zip(items, [*items[1:], None], strict=False):
        begun = time.perf_counter()
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=after)
        yield item, time.perf_counter() - begun


def apply_mutant(mutant: Mutant, functions: Sequence[FunctionType]) -> None:
    """Give *functions*, those of the mutant's module, the code that they have with it."""
    codes = defaultdict(list)
    module = compile(mutant.source, str(ROOT / mutant.path), "exec", dont_inherit=True)
    for code in _codes(module):
        codes[code.co_qualname, code.co_firstlineno].append(code)
    for function in functions:
        of_its_name = codes[function.__code__.co_qualname, function.__code__.co_firstlineno]
        if len(of_its_name) == 1:  # and not several lambdas in a line
            function.__code__ = of_its_name[0]


def _codes(code: CodeType) -> Iterator[CodeType]:
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield inner
            yield from _codes(inner)


class Mutants:
    """As a plugin of pytest: tries *number* mutants instead of running what was collected."""

    def __init__(self, number: int, seed: str, only: str, jobs: int, seconds: float) -> None:
        paths = [path.relative_to(ROOT).as_posix() for path in ROOT.glob("bot/**/*.py")]
        self.paths = [path for path in paths if path.startswith(tuple(STORIES))]
        self.every = [mutant for path in self.paths for mutant in mutants(path, (ROOT / path).read_bytes())]
        of_it = [mutant for mutant in self.every if mutant.path.startswith(only)]
        ranks = {mutant: hashlib.sha256(f"{seed} {mutant.path} {mutant.change}".encode()).digest() for mutant in of_it}
        self.chosen = sorted(of_it, key=ranks.__getitem__)[:number]  # a sample that a change elsewhere leaves as it is
        self.jobs, self.seconds = jobs, seconds
        self.items: dict[str, pytest.Item] = {}
        self.functions: dict[str, list[FunctionType]] = defaultdict(list)
        self.survivors: list[str] = []
        self.observer: Callable[..., Any] | None = None
        self.failing: set[str] = set()

    @pytest.hookimpl(tryfirst=True)
    def pytest_configure(self) -> None:
        from hypothesis import settings  # noqa: PLC0415  pytest has to load it first

        settings.register_profile("mutants", database=None)  # what a mutant breaks is nothing to keep

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Leave out what is slow, but for the rooms of what is changed."""
        rooms = tuple({nearest(path)[1] for path in self.paths})
        items[:] = [item for item in items if item.nodeid.startswith(rooms) or not item.get_closest_marker("slow")]

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        self.items = {item.nodeid: item for item in session.items}
        for path in self.paths:
            importlib.import_module(path.removesuffix(".py").replace("/", "."))
        names = {str(ROOT / path): path for path in self.paths}
        gc.unfreeze()
        for each in gc.get_objects():
            if isinstance(each, FunctionType) and each.__code__.co_filename in names:
                self.functions[names[each.__code__.co_filename]].append(each)
        gc.freeze()
        runs = self.learn_runs()
        for test, run in runs.items():  # a mutant is often noticed by what never comes: nobody waits long for it
            self.items[test].add_marker(
                pytest.mark.timeout(max(MIN_TIMEOUT_SECONDS, TIMEOUT_FACTOR * run.seconds)), append=False
            )
        workers = [start(partial(self.try_mutants, self.chosen[job :: self.jobs], runs)) for job in range(self.jobs)]
        self.survivors = results(workers)
        return True

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self) -> None:
        if self.observer:  # each time, because tests that count what they run end it
            threading.settrace(self.observer)
            sys.settrace(self.observer)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if not report.failed:
            return
        if self.observer:
            self.failing.add(report.nodeid)
        else:
            raise Failed(report.nodeid, str(getattr(report.longrepr, "reprcrash", report.longrepr)).strip())

    def observe(self, items: Sequence[pytest.Item], where: frozenset[tuple[str, int]]) -> str:
        """Run *items*, and return as JSON what each that passes ran of *where*."""
        names = {str(ROOT / path): path for path in self.paths}
        lines: set[tuple[str, int]] = set()

        def in_line(frame: FrameType, _event: str, _arg: object) -> Callable[..., Any]:
            lines.add((names[frame.f_code.co_filename], frame.f_lineno))
            return in_line

        def in_call(frame: FrameType, _event: str, _arg: object) -> Callable[..., Any] | None:
            return in_line if frame.f_code.co_filename in names else None

        self.observer = in_call
        ran = []
        for item, seconds in play(items):
            if item.nodeid in self.failing:
                print_line(f"Fails without any change, and is left out: {item.nodeid}")
            elif of_it := sorted(lines & where):
                ran.append((item.nodeid, seconds, of_it))
            lines.clear()
        return json.dumps(ran)

    def learn_runs(self) -> dict[str, Run]:
        """Return what each test ran, as it was kept, or anew."""
        digest = hashlib.sha256("\n".join(self.items).encode())
        for path in sorted(ROOT.glob("*/**/*.py")):
            if path != Path(__file__):
                digest.update(path.read_bytes())
        kept = json.loads(LEARNED.read_text()) if LEARNED.exists() else {}
        if kept.get("digest") != digest.hexdigest():
            print_line(f"Learning which lines each of {len(self.items)} tests runs…")
            where = frozenset().union(*(mutant.where for mutant in self.every))
            items = list(self.items.values())
            workers = [start(partial(self.observe, items[job :: self.jobs], where)) for job in range(self.jobs)]
            ran = results(workers)
            kept = {"digest": digest.hexdigest(), "ran": ran}
            LEARNED.parent.mkdir(exist_ok=True)
            LEARNED.write_text(json.dumps(kept))
        return {
            test: Run(took, frozenset((path, line) for path, line in lines))
            for test, took, lines in kept["ran"]
            if lines
        }

    def try_mutants(self, chosen: Sequence[Mutant], runs: dict[str, Run]) -> str:
        """Try each of *chosen*, and return the survivors as JSON."""
        survivors = []
        for mutant in chosen:
            what = f"{mutant.path}:{mutant.line}  {mutant.change}"
            tests = chosen_tests(mutant, runs, self.seconds)
            begun = time.perf_counter()
            failed = self.killer(mutant, tests)
            took = time.perf_counter() - begun
            ended = f"killed    {what}  by {failed}" if failed else f"SURVIVED  {what} - {len(tests)} tests"
            print_line(f"{ended} ({took:.0f} s)")
            survivors += [] if failed else [what]
        return json.dumps(survivors)

    def killer(self, mutant: Mutant, tests: list[str]) -> str | None:
        """Return the first of *tests* that fails with *mutant*, twice, and not without; None where it survives."""
        while tests and (failed := self.failure(mutant, tests)):
            test, why = json.loads(failed)
            if self.failure(mutant, [test]) and not self.failure(None, [test]):
                return f"{test} - {why}"
            tests = [each for each in tests if each != test]
        return None

    def failure(self, mutant: Mutant | None, tests: Sequence[str]) -> str:
        died = json.dumps([tests[0], "the process died"])
        answer = result(*start(partial(self.play_tests, mutant, tests)))
        return died if answer is None else answer

    def play_tests(self, mutant: Mutant | None, tests: Sequence[str]) -> str:
        if mutant:
            apply_mutant(mutant, self.functions[mutant.path])
        try:
            for _ in play([self.items[test] for test in tests]):
                pass
        except Failed as failed:
            return json.dumps(failed.args)
        return ""


def print_line(line: str) -> None:
    """Write a line for the one who waits, past what pytest and the copies of this process keep from the terminal."""
    os.write(TERMINAL, f"{line}\n".encode())


TERMINAL: Final = os.dup(2)


def main(number: int, seed: str, only: str, jobs: int, seconds: float) -> None:
    """Print the survivors of *number* mutants."""
    plugin = Mutants(number, seed, only, jobs, seconds)
    without = [f"-pno:{name}" for name in ("randomly", "xdist", "cacheprovider")]
    steady = ["--hypothesis-seed=0", "--hypothesis-profile=mutants", "--inline-snapshot=disable", "--capture=sys"]
    if code := pytest.main(
        ["-q", "--no-header", *without, *steady, "-m", IN_PROCESS, "tests"],
        plugins=[plugin],
    ):
        raise SystemExit(code)
    killed = len(plugin.chosen) - len(plugin.survivors)
    print(
        *plugin.survivors, f"Killed {killed} of {len(plugin.chosen)}, of {len(plugin.every)} that there are.", sep="\n"
    )


if __name__ == "__main__":
    given = os.environ.get
    main(
        number=int(given("N") or 300),
        seed=given("SEED") or "0",
        only=given("ONLY") or "",
        jobs=int(given("JOBS") or os.cpu_count() or 1),
        seconds=float(given("SECONDS") or 60),
    )
