"""What a release hands over: a wheel that works where nothing else of this tree is."""

from __future__ import annotations

import json
import re
import sys
import zipfile
from pathlib import Path
from typing import Final

import pydantic
import pytest

from bot import __version__
from bot.server.manifest import document
from bot.store.migrations.run import MIGRATIONS
from tests.harness.programs import ROOT, run_command, run_module

PACKAGES: Final = Path(pydantic.__file__).parent.parent
"""Where the packages of this test run are."""
SETTINGS: Final = {
    "SLACK_BOT_TOKEN": "xoxb-1",
    "SLACK_SIGNING_SECRET": "secret",
    "RULES_BASE_URL": "https://rules.example.com/v1",
    "RULES_API_KEY": "key",
    "MEMBERS_BASE_URL": "https://members.example.com/api/v1",
    "MEMBERS_API_KEY": "key",
    "MEMBERS_SITES": "blog=site_1",
}


async def _run(*command: str | Path, cwd: Path, **environment: str) -> str:
    code, out, err = await run_command(*command, folder=cwd, **environment)
    assert code == 0, out + err
    return out + err


def test_the_version_is_said_in_one_place_and_the_files_that_repeat_it_agree() -> None:
    assert re.fullmatch(r"\d+\.\d+\.\d+", __version__)
    for file in ("docs/deploy/kubernetes.yaml", "docs/operating.md"):
        assert set(re.findall(r"gatehouse:(\d\S*)", (ROOT / file).read_text())) == {__version__}, file


def test_the_newest_release_of_the_changelog_has_a_date_and_is_this_one() -> None:
    headings = re.findall(r"^## (.+)$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)

    assert headings[0] == "Unreleased"
    assert re.fullmatch(rf"{re.escape(__version__)} - \d{{4}}-\d\d-\d\d", headings[1])


async def test_the_version_is_printed_without_any_setting() -> None:
    assert await run_module("bot", "--version") == (0, f"gatehouse {__version__}\n", "")


@pytest.mark.slow
async def test_the_wheel_works_in_an_empty_environment(tmp_path: Path) -> None:
    await _run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", tmp_path, cwd=ROOT)
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    assert {name.partition("/")[0] for name in names} == {"bot", "handlers", f"gatehouse-{__version__}.dist-info"}
    versions = {f"bot/store/migrations/versions/{file.name}" for file in (MIGRATIONS / "versions").glob("*.py")}
    assert {"bot/store/migrations/env.py", *versions} <= set(names)
    assert len(versions) > 0

    home = tmp_path / "home"
    await _run(sys.executable, "-m", "venv", home, cwd=tmp_path)
    python, gatehouse = home / "bin" / "python", home / "bin" / "gatehouse"
    (site,) = home.glob("lib/python*/site-packages")
    (site / "runtime.pth").write_text(f"{PACKAGES}\n")
    await _run(python, "-m", "pip", "install", "--no-index", "--no-deps", wheel, cwd=tmp_path)

    assert str(site) in await _run(python, "-c", "import bot, handlers; print(bot.__file__)", cwd=tmp_path)
    with pytest.raises(AssertionError, match="No module named 'sandbox'"):
        await _run(python, "-c", "import sandbox", cwd=tmp_path)
    assert await _run(gatehouse, "--version", cwd=tmp_path) == f"gatehouse {__version__}\n"
    assert json.loads(await _run(gatehouse, "manifest", "--socket", cwd=tmp_path)) == document(None)
    await _run(gatehouse, "db", "upgrade", cwd=tmp_path, **SETTINGS)
    await _run(gatehouse, "check", cwd=tmp_path, **SETTINGS)
