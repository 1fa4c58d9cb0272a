"""What other people's scripts rely on: commands, variables, addresses, files."""

from __future__ import annotations

import json
import re
import tomllib
from itertools import combinations
from pathlib import Path

import pytest

from bot import __version__
from bot.server.manifest import document
from bot.settings import Settings
from sandbox.demo import Transport
from sandbox.gatehouse import SHOP
from sandbox.services.running import running_services
from sandbox.services.seed import RULES
from sandbox.slack.running import running_slack
from sandbox.slack.story import Person
from tests.conftest import OPS
from tests.harness import commands, metrics
from tests.harness import settings as documented_settings
from tests.harness.programs import ROOT, run_module, serving


async def test_serve_answers_slack_with_nothing_but_its_variables(transport: Transport, tmp_path: Path) -> None:
    manifest = document(None if transport == "socket" else "http://127.0.0.1")
    async with (
        running_services(str(tmp_path / "services.db")) as services,
        running_slack(manifest, SHOP) as slack,
    ):
        alice = Person(slack, "U0ALICE01", OPS)
        async with serving(slack, services, tmp_path) as (_, log):
            assert "[warning" not in log.read_text(), "nothing is wrong with this start"
            assert found_at_start(log.read_text()) == {
                "starting": f"slack={slack.api_url} transport={repr('Socket Mode') if transport == 'socket' else 'HTTP'}"
                f" version={__version__}",
                "rules_service": f"url={services.rules_url}",
                "membership_service": f"sites='blog=site_1, docs=site_2' url={services.members_url}",
                "database": f"url=sqlite:///{tmp_path}/served.db",
                "policy": "found='no file, so the defaults hold'",
                "schema": "found=0001_start",
            }

            reply = await alice.says("/rules list")
            assert f"{len(RULES)} rules" in alice.slack_text(reply)
            await alice.says("/rules off Redirect_x1old")
        rule = services.rules.get("Redirect_x1old")
    assert rule is not None
    assert rule["status"] == "Inactive"


def found_at_start(log: str) -> dict[str, str]:
    """What a start says of each part, but for Slack, whose answer may come at any time, and the audit."""
    lines = re.findall(r"\[info +\] (\w+) +\[[\w.]+\] (.*)", log.partition("listening")[0])
    return {name: said.strip() for name, said in lines if name not in {"slack_signed_in", "audit"}}


async def test_serve_says_which_variables_are_missing() -> None:
    code, _, err = await run_module("bot", "serve")

    assert code == 2
    for name in ("SLACK_BOT_TOKEN", "RULES_BASE_URL", "MEMBERS_API_KEY"):
        assert f"{name}: is not set" in err


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "database"),
    [
        ("audit export", "postgresql://u:canary@127.0.0.1:port/db"),
        ("db upgrade", "postgresql//u:canary@h/db"),
        ("audit export", "mysql://u:canary@h/db"),
        ("audit export", "sqlite:////dev/null/store.db"),
        ("db upgrade", "postgresql://u:canary@127.0.0.1:1/db?sslmode=require"),
        ("db upgrade", "postgresql://u:canary@127.0.0.1:1/db?colour=red"),
    ],
)
async def test_a_database_that_can_not_be_used_is_one_sentence(arguments: str, database: str) -> None:
    code, out, err = await run_module("bot", *arguments.split(), environment={"DATABASE_URL": database})

    assert (code, out) == (1, "")
    assert err.startswith("Gatehouse can't use its database: ")
    assert err.count("\n") == 1
    assert "canary" not in err


@pytest.mark.parametrize(
    ("text", "code", "part"),
    [
        ("/rules list", 0, f"{len(RULES)} rules"),
        pytest.param("/rules show nothing", 1, "No rule matches", marks=pytest.mark.slow),
        pytest.param("/rules show Redirect_x1old", 0, "https://shop.example.com/new", marks=pytest.mark.slow),
        pytest.param("/members list", 0, "20 members", marks=pytest.mark.slow),
        pytest.param("/unknown", 1, "not a valid command", marks=pytest.mark.slow),
        pytest.param("/gatehouse digest", 0, "nothing happened", marks=pytest.mark.slow),
        pytest.param("/rules frobnicate", 1, "frobnicate", marks=pytest.mark.slow),
        pytest.param("/members export site:nowhere", 1, "nowhere", marks=pytest.mark.slow),
    ],
)
async def test_try_prints_the_reply(text: str, code: int, part: str) -> None:
    exit_code, out, err = await run_module("sandbox", "try", text)

    assert part in out, err
    assert exit_code == code


async def test_manifest_prints_both_forms() -> None:
    code, out, _ = await run_module("bot", "manifest", "--url", "https://bot.example.com")
    assert code == 0
    assert json.loads(out) == document("https://bot.example.com")

    for url in ([], ["--url", "https://bot.example.com"]):
        code, out, _ = await run_module("bot", "manifest", "--socket", *url)
        assert json.loads(out) == document(None)


@pytest.mark.slow
async def test_manifest_has_the_prefix_of_the_commands_and_needs_no_other_setting() -> None:
    url = ("--url", "https://bot.example.com")
    code, out, _ = await run_module("bot", "manifest", *url, environment={"COMMAND_PREFIX": "acme-"})
    assert code == 0
    assert json.loads(out) == document("https://bot.example.com", "acme-")

    code, out, err = await run_module("bot", "manifest", *url, environment={"COMMAND_PREFIX": "/Acme "})
    assert (code, out) == (2, "")
    assert "COMMAND_PREFIX" in err


@pytest.mark.slow
@pytest.mark.parametrize(
    "url", ["", "bot.example.com", "http://bot.example.com", "https://", "https://x.example.com?a"]
)
async def test_manifest_wants_an_address_that_slack_can_use(url: str) -> None:
    code, out, err = await run_module("bot", "manifest", "--url", url)

    assert (code, out) == (2, "")
    assert "--url https://" in err


def test_the_docs_have_every_command_metric_and_setting() -> None:
    pages = ("commands.md", "monitoring.md", "settings.md")
    page, monitoring, settings = ((ROOT / "docs" / name).read_text() for name in pages)

    assert page == commands.with_table(page), "run make commands"
    assert monitoring == metrics.with_table(monitoring), "run make commands"
    assert settings == documented_settings.with_table(settings), "run make commands"


def test_the_example_environment_names_real_settings() -> None:
    names = set(re.findall(r"^#? ?([A-Z][A-Z0-9_]+)=", (ROOT / ".env.example").read_text(), re.MULTILINE))

    assert names == {name.upper() for name in Settings.model_fields}


def _pinned(lock: str) -> set[str]:
    return set(re.findall(r"^([a-z0-9-]+)==", (ROOT / lock).read_text(), re.MULTILINE))


def _named(requirements: list[str]) -> set[str]:
    return {re.split(r"[^A-Za-z0-9_-]", each)[0].lower().replace("_", "-") for each in requirements}


LOCKS = ("requirements/runtime.lock", "requirements/dev.lock")
EXTRAS = ("requirements/sandbox.lock", "requirements/agents.lock")


@pytest.mark.threat("E5")
@pytest.mark.parametrize("lock", [*LOCKS, *EXTRAS, "requirements/installer.lock"])
def test_a_lock_has_hashes_and_names_no_registry(lock: str) -> None:
    text = (ROOT / lock).read_text()

    assert "://" not in text
    assert len(re.findall(r"^[a-z0-9-]+==.* \\\n    --hash=sha256:", text, re.MULTILINE)) == len(_pinned(lock))


@pytest.mark.threat("E5")
def test_what_runs_and_what_develops_are_locked_apart() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    runs, develops = _named(project["project"]["dependencies"]), _named(project["dependency-groups"]["dev"])
    runtime, development = map(_pinned, LOCKS)

    assert runs <= runtime
    assert develops <= development
    assert not runtime & develops
    extras = project["project"]["optional-dependencies"]
    assert all(_named(extras[name]) <= _pinned(lock) for name, lock in zip(("sandbox", "agents"), EXTRAS, strict=True))
    assert not _named(extras["agents"]) & runtime


def test_the_locks_agree_on_every_version() -> None:
    locks = [*LOCKS, *EXTRAS]
    versions = [dict(re.findall(r"^([a-z0-9-]+)==(\S+)", (ROOT / lock).read_text(), re.MULTILINE)) for lock in locks]

    for one, other in combinations(versions, 2):
        for name in one.keys() & other.keys():
            assert one[name] == other[name], name
