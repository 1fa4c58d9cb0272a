"""A program that tests run ends, or the test that runs it fails with words."""

from __future__ import annotations

import pytest

from tests.harness.programs import run_module


async def test_a_program_that_runs_on_is_ended_and_fails_with_what_it_said() -> None:
    with pytest.raises(AssertionError, match=r"still runs after 5 s\nServing HTTP"):
        await run_module("http.server", "0", "--bind", "127.0.0.1", environment={"PYTHONUNBUFFERED": "1"}, patience=5.0)
