"""With ``COMMAND_PREFIX``, every text names the commands that exist."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from sandbox.demo import Transport
from sandbox.slack.story import Person
from tests.conftest import OPS, busy_sandbox
from tests.harness.channels import strings

HANDLERS = Path(__file__).parents[3] / "handlers"
UNPREFIXED = re.compile(r"(?<![\w./:}-])/(rules|members|gatehouse)\b")
"""A command as it is called where there is no prefix; not the end of a URL or of a path."""


def literals(path: Path) -> Iterator[str]:
    """Every string in a module that may be shown: all but its docstrings."""
    tree = ast.parse(path.read_text())
    notes = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in notes:
            yield node.value


@pytest.mark.parametrize("path", sorted(HANDLERS.rglob("*.py")), ids=lambda path: str(path.relative_to(HANDLERS)))
def test_no_text_spells_a_command_out(path: Path) -> None:
    assert [text for text in literals(path) if UNPREFIXED.search(text)] == []


@pytest.mark.parametrize("transport", ["http", "socket"])
async def test_answers_name_the_commands_that_exist(tmp_path: Path, transport: Transport) -> None:
    async with busy_sandbox(tmp_path, transport=transport, command_prefix="acme-") as sandbox:
        alice = Person(sandbox.slack, "U0ALICE01", OPS)
        said = [
            await alice.says("/acme-rules"),
            await alice.says("/acme-rules liist"),
            await alice.says("/acme-rules show #3000"),
            await alice.says("/acme-members"),
            await alice.says("/acme-gatehouse help"),
            await alice.says("/acme-gatehouse audit since:soon"),
        ]
        assert "Page 2" in alice.slack_text(await alice.says("/acme-rules /acme-rules list page:2"))
        card = await alice.says("/acme-rules off Redirect_x1old")
        await alice.clicks(card, "Undo")
        await alice.sees("is back on")
    named = [any("/acme-" in text for text in strings(message.blocks)) for message in said]
    assert named == [False, True, True, False, True, True], "menus have buttons in place of commands to type"
    for message in said:
        texts = list(strings(message.blocks))
        assert [text for text in texts if UNPREFIXED.search(text)] == []
