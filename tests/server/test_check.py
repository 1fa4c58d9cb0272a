"""``python -m bot check`` against a Slack and services that work, and against each thing that an operator gets wrong."""

from __future__ import annotations

import re
import sys
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from bot.server.manifest import document
from handlers.agents.tools import TOOLS
from sandbox.demo import Sandbox
from sandbox.gatehouse import SHOP
from sandbox.services.running import MEMBERS_KEY, RULES_KEY, Services, running_services
from sandbox.services.seed import RULES
from sandbox.slack.running import APP_TOKEN, SECRET, TOKEN, LocalSlack, running_slack
from sandbox.slack.serving import bind_socket
from tests.harness.programs import ROOT, environment, run_here, run_module

SECRETS = (TOKEN, APP_TOKEN, SECRET, RULES_KEY, MEMBERS_KEY)


@pytest.fixture
async def slack() -> AsyncIterator[LocalSlack]:
    async with running_slack(document("http://127.0.0.1"), SHOP) as slack:
        yield slack


@pytest.fixture
async def services() -> AsyncIterator[Services]:
    async with running_services() as services:
        yield services


@pytest.fixture
def variables(slack: LocalSlack, services: Services, tmp_path: Path) -> dict[str, str]:
    """What a deployment on SQLite sets."""
    return environment(slack, services, f"sqlite:///{tmp_path / 'gatehouse.db'}", 3000)


async def check(variables: Mapping[str, str], *options: str, folder: Path = ROOT) -> tuple[int, str]:
    """Exit status and findings, a line each, of a check."""
    code, out, err = await run_here("check", *(options or ("--online",)), environment=variables, folder=folder)
    assert err == ""
    assert not any(secret in out for secret in SECRETS)
    return code, "\n".join(line for line in out.splitlines() if line[:1] in "✓✗–")


def failures(found: str) -> list[str]:
    """The findings that are bad, up to the first thing to do about it."""
    return [line.partition(". ")[0].removeprefix("✗ ") for line in found.splitlines() if line.startswith("✗")]


async def test_all_is_well(variables: dict[str, str], tmp_path: Path) -> None:
    code, out = await check(variables)

    assert out.splitlines() == [
        "✓ settings: 10 from the environment, 0 from .env",
        "✓ policy: no file, so the defaults hold",
        "✓ database: there is no file yet; the first start makes it",
        "✓ Slack: signed in as gatehouse in Example Shop",
        "✓ scopes: all that the manifest names",
        "✓ clock: agrees with Slack's",
        "– Socket Mode: not used: Slack's requests come to /slack/events",
        f"✓ rules service: {len(RULES)} rules",
        "✓ members of blog: 20 members",
        "✓ members of docs: 20 members",
    ]
    assert code == 0
    assert list(tmp_path.iterdir()) == [], "a check makes nothing"


@pytest.mark.parametrize(
    ("agents", "wrong", "told"),
    [
        (True, {}, f"✓ agents: http://127.0.0.1:PORT/mcp lists {len(TOOLS)} tools"),
        (True, {"SLACK_SIGNING_SECRET": "x" * 32}, "PORT/mcp doesn't list its tools (401 signature)"),
        (True, {"PORT": "9"}, "– agents: no answer from http://127.0.0.1:9/mcp (ConnectError)"),
        (False, {}, "PORT/mcp doesn't list its tools (404 Not Found)"),
    ],
)
@pytest.mark.parametrize("transport", ["http"])
async def test_agents_are_let_in_where_gatehouse_runs_with_these_settings(
    workspace: Sandbox, tmp_path: Path, wrong: dict[str, str], told: str
) -> None:
    port = workspace.bot_url.rpartition(":")[2]
    right = environment(workspace.slack, workspace.services, f"sqlite:///{tmp_path / 'another.db'}", int(port))
    code, out = await check(right | {"AGENTS": "true"} | wrong)
    assert told.replace("PORT", port) in out
    assert code == bool(failures(out)) == ("doesn't" in told)


async def test_agents_need_the_sdk_of_the_lock(variables: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr("mcp.server.lowlevel.Server")  # as another version may
    monkeypatch.delitem(sys.modules, "bot.server.agents", raising=False)
    code, out = await check(variables | {"AGENTS": "true"})
    (found,) = failures(out)
    assert (code, "AGENTS (environment): cannot import name 'Server'" in found) == (1, True)


async def test_one_round_names_everything_that_does_not_work(variables: dict[str, str], tmp_path: Path) -> None:
    file, policy = tmp_path / "gatehouse.db", tmp_path / "policy.toml"
    file.write_bytes(b"SQLite format 3\0" + b"\xff" * 5000)
    policy.write_text('[[guards]]\noperation = "rule.delete"\nguard = "aprove"\napprovers = ["leads"]\n')
    wrong = {
        "SLACK_BOT_TOKEN": "xoxb-wrong",
        "SLACK_APP_TOKEN": "xapp-wrong",
        "RULES_API_KEY": "wrong-key",
        "MEMBERS_SITES": "blog=site_1,gone=site_9,docs=site_2",
        "MEMBERS_API_KEYS": "docs=wrong-key",
        "POLICY_FILE": str(policy),
    }

    code, out = await check(variables | wrong)

    where = f"policy: POLICY_FILE (environment): {policy}:"
    assert failures(out) == [
        f"{where} line 3, guards.1.guard: write 'none', 'confirm', 'approve' or 'approve-or-confirm'",
        f"{where} line 4, guards.1.approvers.1: there is no role “leads”; there are no roles",
        "database: DATABASE_URL (environment): DatabaseError: file is not a database",
        "Slack: SLACK_BOT_TOKEN (environment): Slack refuses it (invalid_auth)",
        "Socket Mode: SLACK_APP_TOKEN (environment): Slack refuses it (invalid_auth)",
        "rules service: RULES_API_KEY (environment): the service refuses it (Unauthorized action)",
        "members of gone: MEMBERS_SITES (environment): the service does not know this (Site not found: site_9)",
        "members of docs: MEMBERS_API_KEYS (environment): the service refuses it (Invalid API key)",
    ]
    assert code == 1


@pytest.mark.slow
async def test_nobody_answers(variables: dict[str, str], tmp_path: Path) -> None:
    with bind_socket(0) as nobody:
        gone = f"http://127.0.0.1:{nobody.getsockname()[1]}/"
    nowhere = {
        "SLACK_API_URL": gone,
        "SLACK_APP_TOKEN": APP_TOKEN,
        "RULES_BASE_URL": f"{gone}v1",
        "MEMBERS_BASE_URL": f"{gone}api/v1",
        "DATABASE_URL": gone.replace("http://", "postgresql://u:canary@"),
        "POLICY_FILE": str(tmp_path / "policy.toml"),
    }

    code, out = await check(variables | nowhere)

    found = failures(out)
    assert found[0] == f"policy: POLICY_FILE (environment): {tmp_path / 'policy.toml'}: the file is not there"
    assert found[1].startswith("database: DATABASE_URL (environment): ConnectionRefusedError:")
    assert found[2:4] == [f"Slack: SLACK_API_URL (environment): no answer from {gone} (ClientConnectorError)"] * 2
    assert [line.partition(" (")[0] for line in found[4:]] == [
        "rules service: RULES_BASE_URL",
        "members of blog: MEMBERS_BASE_URL",
        "members of docs: MEMBERS_BASE_URL",
    ]
    assert code == 1
    assert "canary" not in out


@pytest.mark.parametrize("wrong", ["v1/", "../", "page"])
async def test_a_url_that_is_not_slacks_is_not_blamed_on_the_tokens(
    variables: dict[str, str], slack: LocalSlack, services: Services, wrong: str
) -> None:
    url = services.rules_url if wrong == "page" else slack.api_url + wrong

    code, out = await check(variables | {"SLACK_API_URL": url, "SLACK_APP_TOKEN": APP_TOKEN})

    found = failures(out)
    assert len(found) == 2, found
    for line, part in zip(found, ("Slack", "Socket Mode"), strict=True):
        assert line.startswith(f"{part}: SLACK_API_URL (environment): the answer from {url}"), line
    assert code == 1


async def test_trouble_of_slacks_own_is_not_blamed_on_the_token(variables: dict[str, str], slack: LocalSlack) -> None:
    slack.faults.add("internal_error", method="auth.test", times=9)

    code, out = await check(variables)

    assert failures(out) == ["Slack: Slack is in trouble (internal_error)"]
    assert code == 1


async def test_an_answer_that_is_larger_than_the_settings_allow_is_not_blamed_on_the_url(
    variables: dict[str, str],
) -> None:
    code, out = await check(variables | {"SERVICE_MAX_BYTES": "2048"})

    assert failures(out) == [
        f"{part}: SERVICE_MAX_BYTES (environment): the list is larger than that (over 2,048 bytes)"
        for part in ("rules service", "members of blog", "members of docs")
    ]
    assert code == 1


async def test_an_app_without_all_scopes_and_a_clock_that_is_off(services: Services, tmp_path: Path) -> None:
    manifest: dict[str, Any] = document("http://127.0.0.1")
    granted = ["commands", "chat:write", "users:read", "app_mentions:read", "im:history"]
    manifest["oauth_config"]["scopes"]["bot"] = granted
    async with running_slack(manifest, SHOP) as slack:
        slack.delivery.skew = 900
        code, out = await check(environment(slack, services, f"sqlite:///{tmp_path / 'gatehouse.db'}", 3000))

    scopes, clock = failures(out)
    assert scopes.startswith("scopes: the app lacks channels:read, groups:read, ")
    assert re.fullmatch(r"clock: (899|900) s off from Slack’s clock", clock)
    assert code == 1


async def test_scopes_that_were_left_out_on_purpose_and_a_site_with_one_member(
    services: Services, tmp_path: Path
) -> None:
    services.members.stage.alter_page = lambda document: [document[0]]
    manifest: dict[str, Any] = document("http://127.0.0.1")
    scopes = manifest["oauth_config"]["scopes"]
    assert set(scopes["bot_optional"]) < set(scopes["bot"])
    scopes["bot"] = [scope for scope in scopes["bot"] if scope not in scopes["bot_optional"]]
    async with running_slack(manifest, SHOP) as slack:
        code, out = await check(environment(slack, services, f"sqlite:///{tmp_path / 'gatehouse.db'}", 3000))

    assert "✓ scopes: all that it needs, without imports (files:read), exports, and the results" in out
    assert "✓ members of docs: 1 member" in out.splitlines()
    assert code == 0


async def test_a_copy_of_the_example_is_told_line_by_line_and_the_rest_is_still_looked_at(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text((ROOT / ".env.example").read_text())

    code, out = await check({}, folder=tmp_path)

    assert failures(out) == [
        f"{name} (.env): is still the placeholder of .env.example"
        for name in ("SLACK_BOT_TOKEN", "SLACK_SIGNING_SECRET", "RULES_API_KEY", "MEMBERS_API_KEY")
    ]
    assert "✓ database: there is no file yet" in out
    assert "not asked until the settings are right" in out
    assert code == 2
    (tmp_path / ".env").write_bytes(b"LOG_FORMAT=\xe9\n")
    assert failures((await check({}, folder=tmp_path))[1]) == [".env: is not UTF-8 text"]


async def test_a_name_that_no_setting_has_is_refused_where_it_must_be_meant_for_us(
    variables: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / ".env").write_text("RULES_BASE_URLS=x\nlog_lvl=DEBUG\nPOSTGRES_PASSWORD=x\n")
    theirs = {"RULES_PORT": "tcp://10.0.0.1:80", "SLACK_SIGNING_SECRETS": "y"}

    code, out = await check(variables | theirs, "--offline", folder=tmp_path)

    assert failures(out) == [
        "SLACK_SIGNING_SECRETS (environment): is not a setting",
        "RULES_BASE_URLS (.env): is not a setting",
        "log_lvl (.env): is not a setting",
    ]
    assert "is not a setting. Did you mean RULES_BASE_URL? Correct it, or remove the line." in out
    assert code == 2


async def test_what_it_would_run_with_is_shown_to_those_who_ask(variables: dict[str, str]) -> None:
    columns = {"COLUMNS": "60"}
    _, brief, _ = await run_here("check", environment=variables | columns)
    _, whole, _ = await run_here("check", "--offline", "--verbose", environment=variables | columns)

    assert len(brief.splitlines()) == 4
    assert whole.startswith(brief)
    assert "blog=site_1" in whole
    assert "{" not in whole
    assert "…" not in whole
    assert "None" not in whole


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("sqlite:////dev/null/store.db", "can't be opened to write"),
        ("mysql://u:canary@h/db", "neither sqlite:///path nor postgresql://"),
        ("postgresql//u:canary@h/db", "is not a URL such as"),
    ],
)
@pytest.mark.slow
async def test_a_database_that_no_start_could_use(variables: dict[str, str], url: str, words: str) -> None:
    code, out = await check(variables | {"DATABASE_URL": url}, "--offline")

    (found,) = failures(out)
    assert words in found
    assert (code, "canary" in out) == (1, False)


@pytest.mark.postgres
@pytest.mark.parametrize("wrong", [("/of_the_tests", "/gone"), ("postgres@", "nobody@")], ids=["database", "user"])
async def test_a_postgresql_that_does_not_have_it(
    variables: dict[str, str], postgres_url: str, wrong: tuple[str, str]
) -> None:
    url = {"DATABASE_URL": postgres_url.replace(*wrong)}
    code, out = await check(variables | url, "--offline")

    (found,) = failures(out)
    assert found.startswith("database: DATABASE_URL (environment): ")
    assert found.endswith("does not exist")
    assert code == 1
    for command in ("serve", "db upgrade", "audit export"):
        code, out, err = await run_module("bot", *command.split(), environment=variables | url | {"PORT": "0"})
        assert (code, out, "Traceback" in err) == (1, "", False), err
        assert "does not exist. See that the database server runs, and that DATABASE_URL names it" in err


@pytest.mark.slow
async def test_serve_says_in_a_sentence_what_keeps_it_from_starting(variables: dict[str, str], tmp_path: Path) -> None:
    async def refusal(**wrong: str) -> tuple[int, str]:
        code, out, err = await run_module("bot", "serve", environment=variables | wrong)
        assert out == ""
        return code, "\n".join(line for line in err.splitlines() if "[info" not in line)

    with bind_socket(0) as taken:
        taken.listen()
        port = str(taken.getsockname()[1])
        words = f"another program listens on port {port} of 127.0.0.1. Stop it, or set PORT to another one."
        assert await refusal(PORT=port) == (1, f"Gatehouse cannot start: {words}")

    code, said = await refusal(HOST="203.0.113.1")
    assert (code, said.count("\n")) == (1, 0)
    assert said.startswith("Gatehouse cannot start: it can't listen on port 3000 of 203.0.113.1 (")

    code, said = await refusal(PORT="0", DATABASE_URL="sqlite:////dev/null/store.db")
    assert (code, said.count("\n")) == (1, 0)
    assert said.endswith("Let the user that runs Gatehouse read and write the file and its folder.")

    (tmp_path / "gatehouse.db").write_bytes(b"SQLite format 3\0" + b"\xff" * 5000)
    code, said = await refusal(PORT="0")
    assert (code, said.count("\n")) == (1, 0)
    assert "Put a backup in its place, or move the file away" in said
