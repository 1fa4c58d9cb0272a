"""What people read of a reason, a state or an outcome has one table, whose rows are all there, and no other one beside it."""

from __future__ import annotations

import ast
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

import pytest

from bot.changes.model.items import Outcome
from bot.changes.model.states import State
from bot.policy.model import Why
from handlers.changes.items_view import OUTCOMES
from handlers.changes.titles import STATES
from handlers.explain.why_not import WHY_NOT

HANDLERS: Final = Path(__file__).parents[2] / "handlers"
TABLES: Final[dict[type[StrEnum], tuple[str, Any]]] = {
    Why: ("explain/why_not.py", WHY_NOT),
    State: ("changes/titles.py", STATES),
    Outcome: ("changes/items_view.py", OUTCOMES),
}
"""For each kind of thing that people read of: the module of its table, and the table."""


@pytest.mark.parametrize("kind", TABLES)
def test_each_has_its_row(kind: type[StrEnum]) -> None:
    assert {*TABLES[kind][1]} == {*kind}


@pytest.mark.parametrize("kind", TABLES)
def test_no_module_has_another_table(kind: type[StrEnum]) -> None:
    found = [
        str(path.relative_to(HANDLERS))
        for path in sorted(HANDLERS.rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text()))
        if is_table(node, kind)
    ]

    assert {*found} == {TABLES[kind][0]}


def is_table(node: ast.AST, kind: type[StrEnum]) -> bool:
    """Whether it is a dictionary by members of *kind* alone, by their names or their values, or a `match` over all of them."""
    if isinstance(node, ast.Dict):
        keys = [member(key, kind) for key in node.keys if key is not None]
        return len(keys) > 1 and None not in keys
    if isinstance(node, ast.Match):
        return {member(each, kind) for case in node.cases for each in ast.walk(case.pattern)} >= {*kind}
    return False


def member(node: ast.AST, kind: type[StrEnum]) -> StrEnum | None:
    match node:
        case ast.Attribute(value=ast.Name(id=kind.__name__), attr=name):
            return kind[name]
        case ast.Constant(value=str(value)) if value in {*kind}:
            return kind(value)
    return None


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        ("{Why.BOT: 'an app', Why.GUEST: 'a guest'}", True),
        ("{'bot': 'an app', 'guest': 'a guest'}", True),
        ("{'bot': 'an app', 'other': 'a guest'}", False),
        ("{Why.BOT: 'an app'}", False),
        ("match why:\n case " + " | ".join(f"Why.{each.name}" for each in Why) + ": pass", True),
        ("match why:\n case Why.BOT | Why.GUEST: pass", False),
    ],
)
def test_what_is_a_table(text: str, is_one: bool) -> None:
    assert any(is_table(node, Why) for node in ast.walk(ast.parse(text))) is is_one
