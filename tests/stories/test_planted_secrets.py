"""The secrets of a deployment: whatever succeeds or fails, no log, message, metric or report holds one of them."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Final
from urllib.parse import quote

import httpx
import pytest
from pydantic import SecretStr

from bot.server.manifest import document
from bot.settings import Settings
from sandbox.demo import Transport
from sandbox.gatehouse import SHOP
from sandbox.services.running import MEMBERS_KEY, RULES_KEY, Services, running_services
from sandbox.slack.running import APP_TOKEN, SECRET, TOKEN, LocalSlack, running_slack
from sandbox.slack.story import Person
from tests.conftest import OPS, SUPPORT
from tests.harness.channels import MESSAGES, readable_text, strings, watching_channels
from tests.harness.programs import PATIENCE, environment, run_module, serving
from tests.harness.scraping import scrape_metrics

OLD: Final = "Redirect_x1old"
ANNA: Final = "anna.berg@example.com"
NEXT_SECRET: Final = "planted-next-signing-secret"
DOCS_KEY: Final = "planted/docs+key="
PASSWORD: Final = "planted-p@ss/word"
SECRETS: Final = (TOKEN, APP_TOKEN, SECRET, NEXT_SECRET, RULES_KEY, MEMBERS_KEY, DOCS_KEY, PASSWORD)
SPELLED: Final = {each for one in SECRETS for each in (one, quote(one, safe=""), json.dumps(one)[1:-1])}
PLANTED: Final = {
    "SLACK_BOT_TOKEN": TOKEN,
    "SLACK_SIGNING_SECRET": f"{SECRET},{NEXT_SECRET}",
    "RULES_API_KEY": RULES_KEY,
    "MEMBERS_API_KEY": MEMBERS_KEY,
    "MEMBERS_API_KEYS": f"docs={DOCS_KEY}",
}
"""Over Socket Mode there is SLACK_APP_TOKEN as well, and with PostgreSQL a password in DATABASE_URL."""
POLICY: Final = f"""
[roles.all]
channels = ["{OPS}", "{SUPPORT}"]
may = ["*"]
"""


def found_in(said: str, *more: str) -> list[str]:
    """The lines of *said* that hold a secret, or one of *more*."""
    return [line[:300] for line in said.splitlines() if any(each in line for each in (*SPELLED, *more))]


def shown_by(slack: LocalSlack) -> str:
    """Every text that the bot had Slack show, to anybody, a line each."""
    sent = [
        one["request"] for one in slack.state.traffic if one["what"] in MESSAGES or one["what"].startswith("views.")
    ]
    return "\n".join(readable_text(text) for text in strings(sent))


@asynccontextmanager
async def planted(
    folder: Path, transport: Transport, **variables: str
) -> AsyncIterator[tuple[LocalSlack, Services, str]]:
    """A bot with every secret planted that logs all it can; looks at all that it said, in the end."""
    policy = folder / "policy.toml"
    policy.write_text(POLICY)
    manifest = document(None if transport == "socket" else "http://127.0.0.1")
    async with (
        running_services() as services,
        running_slack(manifest, SHOP) as slack,
    ):
        own = {"POLICY_FILE": str(policy), "LOG_LEVEL": "DEBUG", "SERVICE_TIMEOUT": "2"}
        chosen = {**PLANTED, **own, **variables}
        async with serving(slack, services, folder, **chosen) as (url, log):
            with watching_channels(slack.state):
                yield slack, services, url
            async with httpx.AsyncClient(trust_env=False) as client:
                asked = [(await client.get(f"{url}/{page}")).text for page in ("metrics", "readyz")]
        found = environment(slack, services, f"sqlite:///{folder / 'served.db'}", 3000) | chosen
        for command in ("check --verbose --online", "audit export"):
            _, out, err = await run_module("bot", *command.split(), environment=found)
            asked += [err] if command.startswith("audit") else [out, err]  # the record holds emails
            assert found_in(out) == [], command
    written = log.read_text()
    assert "debug" in written, "the log was on"
    assert found_in(written, "anna.berg") == []
    for said in asked:
        assert found_in(said, "anna.berg") == []
    assert found_in(shown_by(slack)) == []


async def test_every_secret_is_planted() -> None:
    fields = Settings.model_fields.items()
    secret = {name.upper() for name, field in fields if SecretStr.__name__ in repr(field.annotation)}
    assert secret == {*PLANTED, "SLACK_APP_TOKEN"}


@pytest.mark.slow
@pytest.mark.threat("E3", "E4")
@pytest.mark.parametrize("transport", ["http", "socket"])
async def test_what_succeeds_and_what_fails_tells_no_secret(tmp_path: Path, transport: Transport) -> None:
    async with planted(tmp_path, transport) as (slack, services, _):
        alice, bob = Person(slack, "U0ALICE01", OPS), Person(slack, "U0BOB0001", SUPPORT)
        await alice.says("/rules list")
        await alice.says(f"/rules off {OLD}")
        await bob.says(f"/members show {ANNA}")
        await bob.says("/members list site:docs")  # its key is refused
        await alice.says("/gatehouse status")

        for fault in ("echo", "500", "html", "redirect", "refused_200", "cut_before", "truncated"):
            for stage in (services.rules.stage, services.members.stage):
                stage.faults.add(fault, times=9)
            await alice.replied(f"/rules show {OLD}")
            await bob.replied(f"/members show {ANNA}")
            for stage in (services.rules.stage, services.members.stage):
                stage.faults.clear()
        for service, person, text in (
            (services.rules, alice, f"/rules on {OLD}"),
            (services.members, bob, f"/members grant {ANNA} beta"),
        ):
            service.stage.faults.add("echo", method="PUT|POST|PATCH", times=1)
            await person.replied(text)

        for fault in ("invalid_auth", "internal_error", "500", "html", "text", "wrong_type", "cut_before"):
            slack.faults.add(fault, method="views.open")
            await alice.replied("/rules new")
        slack.faults.add("invalid_auth", method="chat.postMessage")
        await alice.says("/rules off Redirect_chk01")
        await alice.says("/gatehouse status")

        with closing(sqlite3.connect(tmp_path / "served.db")) as database:
            database.execute("ALTER TABLE changes RENAME TO elsewhere")
            await bob.says(f"/members grant {ANNA} vip because {ANNA} asked")
            await bob.says("/gatehouse pending")
            database.execute("ALTER TABLE elsewhere RENAME TO changes")


@pytest.mark.slow
@pytest.mark.threat("E3")
async def test_a_policy_that_became_wrong_tells_no_secret(tmp_path: Path) -> None:
    async with planted(tmp_path, "http") as (slack, _, url):
        alice = Person(slack, "U0ALICE01", OPS)
        guard = f'[[guards]]\noperation = "rule.delete"\nguard = "approve"\napprovers = ["{RULES_KEY}"]\n'
        (tmp_path / "policy.toml").write_text(POLICY + guard)

        async with asyncio.timeout(PATIENCE):
            while not (await scrape_metrics(url))["gatehouse_policy_broken"]:  # noqa: ASYNC110  another process tells nobody
                await asyncio.sleep(0.1)
        status = alice.slack_text(await alice.says("/gatehouse status"))
    assert "there is no role “[secret]”" in status


@pytest.mark.slow
@pytest.mark.threat("E3")
@pytest.mark.parametrize(
    "wrong",
    [
        {"MEMBERS_API_KEYS": DOCS_KEY},
        {"MEMBERS_API_KEYS": f"docs={DOCS_KEY},{MEMBERS_KEY}"},
        {"MEMBERS_SITES": f"blog={DOCS_KEY}"},
        {"RULES_BASE_URL": f"https://gatehouse:{quote(PASSWORD, safe='')}@rules.example.com/v1"},
        {"RULES_BASE_URL": f"https://rules.example.com/v1?key={RULES_KEY}"},
        {"SLACK_API_URL": TOKEN},
        {"PORT": TOKEN},
        {"COMMAND_PREFIX": TOKEN},
        {"LOG_LEVEL": TOKEN},
        {"LOG_FORMAT": APP_TOKEN},
        {"SERVICE_TIMEOUT": RULES_KEY},
        {"MEMBERS_AUTH_SCHEME": f"Bearer {MEMBERS_KEY}"},
        {"DATABASE_URL": f"postgresql://u:{quote(PASSWORD, safe='')}@127.0.0.1:1/db"},
        {"POLICY_FILE": TOKEN},
    ],
    ids="-".join,
)
async def test_a_setting_that_is_wrong_tells_no_secret(tmp_path: Path, wrong: Mapping[str, str]) -> None:
    variables = {
        **PLANTED,
        "RULES_BASE_URL": "https://rules.example.com/v1",
        "MEMBERS_BASE_URL": "https://members.example.com/api/v1",
        "MEMBERS_SITES": "blog=site_1,docs=site_2",
        "DATABASE_URL": f"sqlite:///{tmp_path / 'gatehouse.db'}",
        "PORT": "0",
        **wrong,
    }
    for command in ("serve", "check --verbose"):
        code, out, err = await run_module("bot", *command.split(), environment=variables, folder=tmp_path)

        assert code in {1, 2}, command
        assert found_in(out + err) == [], command
