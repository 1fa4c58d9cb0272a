"""No regular expression of ours is slow on any text, however it was written: each is judged by its structure."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.harness.linear import find_slow_text

ROOT = Path(__file__).parent.parent
TRIES = {"search", "match", "fullmatch", "split", "findall", "finditer", "sub", "subn"}


@dataclass(frozen=True)
class Use:
    """One way in which an expression is tried on texts."""

    where: str
    pattern: str
    flags: int
    how: str

    def __str__(self) -> str:
        return f"{self.where}: {self.pattern} by {self.how}"


def modules() -> dict[str, ast.Module]:
    paths = [path for folder in ("bot", "handlers") for path in sorted((ROOT / folder).rglob("*.py"))]
    return {".".join(path.relative_to(ROOT).with_suffix("").parts): ast.parse(path.read_text()) for path in paths}


def is_re(node: ast.AST, *names: str) -> bool:
    """Whether *node* calls one of these functions of ``re``."""
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Name(id="re"), attr=name)):
            return name in names
        case _:
            return False


def written(call: ast.Call, at: int) -> tuple[str, int]:
    """The expression and the flags that a call of ``re`` names, which must be there to be read."""
    match call.args[0]:
        case ast.Constant(value=str() as pattern):
            pass
        case ast.Constant(value=bytes() as raw):
            pattern = raw.decode("latin-1")
        case _:
            raise AssertionError(f"{ast.unparse(call)}: an expression that is put together cannot be judged")
    flags = [*call.args[at:], *(keyword.value for keyword in call.keywords if keyword.arg == "flags")]
    return pattern, sum(eval(ast.unparse(flag), {"re": re}) for flag in flags)  # noqa: S307  our own source


def uses() -> Iterator[Use]:
    """Every expression of Python's engine in the bot, with each way in which it is used."""
    trees = modules()
    named: dict[tuple[str, str], list[tuple[str, int]]] = {}
    for module, tree in trees.items():
        for line in tree.body:
            if isinstance(line, ast.Assign | ast.AnnAssign) and line.value is not None:
                target = line.targets[0] if isinstance(line, ast.Assign) else line.target
                calls = [node for node in ast.walk(line.value) if isinstance(node, ast.Call) and is_re(node, "compile")]
                if calls and isinstance(target, ast.Name):
                    named[module, target.id] = [written(call, 1) for call in calls]
    for module, tree in trees.items():
        compiled = sum(is_re(node, "compile") for node in ast.walk(tree))
        assert compiled == sum(len(each) for (place, _), each in named.items() if place == module), (
            f"{module}: an expression that has no name of its own module"
        )
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and is_re(node, *TRIES):
                name = node.func.attr
                yield Use(
                    f"{module}:{node.lineno}", *written(node, {"sub": 4, "subn": 4, "split": 3}.get(name, 2)), name
                )
        yield from used(module, tree, named)


def used(module: str, tree: ast.Module, named: dict[tuple[str, str], list[tuple[str, int]]]) -> Iterator[Use]:
    """How *module* uses what is named in it or comes from others; what is handed on may be used to search."""
    here = {name: (module, name) for place, name in named if place == module}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            here |= {each.asname or each.name: (node.module or "", each.name) for each in node.names}
    tried = {
        id(node.value): node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute) and node.attr in TRIES
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and (name := here.get(node.id)) in named:
            for pattern, flags in named[name]:
                yield Use(f"{module}:{node.lineno}", pattern, flags, tried.get(id(node), "search"))


def test_no_expression_of_ours_is_slow_on_any_text() -> None:
    slow = {
        str(use): text
        for use in sorted(set(uses()), key=str)
        if (text := find_slow_text(use.pattern, use.flags, use.how))
    }

    assert slow == {}
