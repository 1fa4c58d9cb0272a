"""Tables in the docs are those of the code, docstrings name parameters that there are, and function names say something."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from bot.policy.file import read_policy
from bot.policy.model import OPERATIONS
from sandbox.services.faults import KINDS
from sandbox.services.switches import CHOICES

ROOT = Path(__file__).parent.parent


def test_the_policy_in_the_docs_is_one(tmp_path: Path) -> None:
    text = (ROOT / "docs" / "policy.md").read_text()
    path = tmp_path / "policy.toml"
    path.write_text(text.partition("```toml\n")[2].partition("```")[0])

    policy = read_policy(str(path))

    assert policy.guards[0].approvals == 2
    for operation in OPERATIONS:
        assert f"`{operation}`" in text


def test_every_switch_and_fault_is_documented() -> None:
    text = (ROOT / "docs" / "services.md").read_text()

    for name, (choices, about) in CHOICES.items():
        assert f"| `{name}` | {', '.join(f'`{choice}`' for choice in choices)} | {about} |" in text
    for name, about in KINDS.items():
        assert f"| `{name}` | {about} |" in text


PARAMETER = re.compile(r"(?<![\w*])\*([a-z_]+)\*(?!\w)")


def functions(tree: ast.Module) -> Iterator[tuple[ast.FunctionDef | ast.AsyncFunctionDef, set[str]]]:
    """Each function with what its docstring may name: its parameters, and the fields of its class."""
    for holder in ast.walk(tree):
        body = holder.body if isinstance(holder, ast.Module | ast.ClassDef) else []
        fields = {ast.unparse(each.target) for each in body if isinstance(each, ast.AnnAssign)}
        for each in body:
            if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef):
                yield each, fields | {inner.arg for inner in ast.walk(each.args) if isinstance(inner, ast.arg)}


@pytest.mark.parametrize("package", ["bot", "handlers", "sandbox"])
def test_a_docstring_names_parameters_that_there_are(package: str) -> None:
    for path in (ROOT / package).rglob("*.py"):
        for function, names in functions(ast.parse(path.read_text())):
            named = {*PARAMETER.findall(ast.get_docstring(function) or "")}
            assert named <= names, f"{path}:{function.lineno}"


PARTICIPLE: Final = re.compile(
    r"_*([a-z]+(ed|ing)|done|given|held|kept|left|made|meant|said|sent|shown|taken|told|written)"
)
NOUNS: Final = frozenset({"listing", "seed", "setting", "warning"})


@pytest.mark.parametrize("package", ["bot", "handlers", "sandbox"])
def test_a_function_is_not_called_by_a_bare_participle(package: str) -> None:
    """What it does or returns would have to be guessed: properties and context managers are states, and so are those of a
    person of a story.
    """
    for path in (ROOT / package).rglob("*.py"):
        for holder in ast.walk(ast.parse(path.read_text())):
            body = holder.body if isinstance(holder, ast.Module | ast.ClassDef) else []
            if isinstance(holder, ast.ClassDef) and holder.name == "Person":
                continue
            for each in body:
                if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef) and PARTICIPLE.fullmatch(each.name):
                    marks = {ast.unparse(mark).rpartition(".")[2] for mark in each.decorator_list}
                    is_state = marks & {"property", "cached_property", "contextmanager", "asynccontextmanager"}
                    assert is_state or each.name in NOUNS, f"{path}:{each.lineno} {each.name}"


def test_every_view_is_held_to_be_pure() -> None:
    """The import check can't name modules by a part of their names, so a new view would silently be left out."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    pure = next(each["source_modules"] for each in contracts if each["name"].startswith("Views are pure"))
    views = [*ROOT.glob("handlers/*/views.py"), *ROOT.glob("handlers/*/*_view.py")]

    assert views
    assert {".".join(each.relative_to(ROOT).with_suffix("").parts) for each in views} <= {*pure}
