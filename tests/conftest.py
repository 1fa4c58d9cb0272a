"""What every test may ask for: a whole sandbox, and the people in it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import stamina

from sandbox.demo import Sandbox, running_sandbox
from sandbox.slack.story import Person

pytest_plugins = ["tests.databases", "tests.browsers"]

OPS, SUPPORT, GENERAL = "C0OPS0001", "C0SUPPORT", "C0GENERAL"


@pytest.fixture(autouse=True)
def _no_waiting() -> None:
    """Retries without their pauses: what is retried is tested, not how long it takes."""
    stamina.set_testing(testing=True, attempts=3, cap=True)


@pytest.fixture
async def workspace(tmp_path: Path) -> AsyncIterator[Sandbox]:
    async with running_sandbox(tmp_path) as sandbox:
        yield sandbox


@pytest.fixture
def alice(workspace: Sandbox) -> Person:
    """On call, in #ops-traffic."""
    return Person(workspace.slack, "U0ALICE01", OPS)


@pytest.fixture
def bob(workspace: Sandbox) -> Person:
    """Support, in #support."""
    return Person(workspace.slack, "U0BOB0001", SUPPORT)


@pytest.fixture
def cara(workspace: Sandbox) -> Person:
    """Lead, in #ops-traffic."""
    return Person(workspace.slack, "U0CARA001", OPS)
