"""Words for people are in handlers: what rules and members find wrong is a kind with its facts, except in a file."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).parent.parent
SENTENCE: Final = re.compile(r"[A-Za-z]+[,:;]?(?: [a-z]+[,:;]?){3}")
"""Four words in a row."""
LISTED: Final = frozenset({"pair_fields.py"})
"""The one table of what a pair holds, which says what each field is called beside what it is."""
OF_IMPORTS: Final = frozenset({"files.py", "member_import_plan.py", "redirect_table.py", "rule_import_plan.py"})
"""What reads files and plans imports: why a row can't be imported is only ever shown, so it is a sentence."""


def texts(node: ast.AST) -> Iterator[tuple[int, str]]:
    """The texts of a module with their lines, less docstrings and messages of exceptions."""
    match node:
        case ast.Raise() | ast.Expr(value=ast.Constant()) | ast.Call(func=ast.Attribute(attr="__init__")):
            return
        case ast.JoinedStr(values=values):
            yield node.lineno, "".join(str(part.value) if isinstance(part, ast.Constant) else "x" for part in values)
        case ast.Constant(value=str(text)):
            yield node.lineno, text
        case _:
            for inner in ast.iter_child_nodes(node):
                yield from texts(inner)


@pytest.mark.parametrize("folder", ["bot/rules", "bot/members"])
def test_no_sentence_is_outside_the_handlers(folder: str) -> None:
    paths = sorted((ROOT / folder).rglob("*.py"))
    found = [
        (path.name, line, text)
        for path in paths
        for line, text in texts(ast.parse(path.read_text()))
        if path.name not in LISTED | OF_IMPORTS
    ]

    assert found
    assert [each for each in found if SENTENCE.search(each[2])] == []
