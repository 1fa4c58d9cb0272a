"""A lane passes with what fails once, and with nothing that fails twice."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.harness.unsteady import FAILED, MAX_UNSTEADY, lane

CASES = """
import pathlib, pytest

@pytest.mark.xdist_group("one")
@pytest.mark.first(1)
@pytest.mark.parametrize("name", {names})
def test_now_and_then(name):
    seen = pathlib.Path({folder!r}, name)
    if not seen.exists():
        seen.touch()
        pytest.fail("the first time")
    assert name != "broken"
"""


@pytest.mark.first(1)
@pytest.mark.parametrize(
    ("names", "ci", "code"),
    [
        (["a@b.c", "steady"], "true", 0),
        (["a@b.c", "broken"], "true", FAILED),
        ([f"t{number}" for number in range(MAX_UNSTEADY + 1)], "true", FAILED),
        (["a@b.c"], "", FAILED),
    ],
)
def test_what_fails_once_more_alone_fails_the_lane(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, names: list[str], ci: str, code: int
) -> None:
    cases, known = tmp_path / "test_cases.py", tmp_path / "unsteady"
    cases.write_text(CASES.format(names=names, folder=str(tmp_path)))
    (tmp_path / "steady").touch()
    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = --rootdir=.\n")
    monkeypatch.setenv("CI", ci)
    monkeypatch.chdir(tmp_path)

    assert lane(["-q", "-n", "1", "--dist", "loadgroup", "test_cases.py"], known) == code
    is_told = ci and "broken" not in names
    assert known.exists() == bool(is_told)
