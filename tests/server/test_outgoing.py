"""Out through a proxy alone, to servers whose certificates a private authority made."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from bot.clients.errors import Unreachable
from bot.clients.http import Service
from bot.clients.rules import RulesClient
from bot.server.app import running
from bot.server.manifest import document
from bot.settings import Settings
from sandbox.demo import settings
from sandbox.gatehouse import SHOP
from sandbox.services.running import RULES_KEY, Services, running_services
from sandbox.slack.running import LocalSlack, running_slack
from sandbox.slack.serving import bind_socket
from sandbox.slack.story import Person
from tests.conftest import OPS, QUICK
from tests.harness.programs import environment, run_here
from tests.harness.proxies import PASSWORD, PASSWORD_ENCODED, ConnectProxy, running_proxy

RULES, MEMBERS, SLACK = "rules.example", "members.example", "slack.example"
OLD = "Redirect_x1old"


@dataclass(frozen=True, slots=True)
class Company:
    """A network that is left by its proxy only, with all that Gatehouse needs on the other side."""

    proxy: ConnectProxy
    slack: LocalSlack
    services: Services
    ca_file: Path

    def variables(self, folder: Path) -> dict[str, str]:
        """What a deployment in this network sets."""
        return {
            **environment(self.slack, self.services, f"sqlite:///{folder / 'gatehouse.db'}", 3000),
            "RULES_BASE_URL": f"https://{RULES}/v1",
            "MEMBERS_BASE_URL": f"https://{MEMBERS}/api/v1",
            "SLACK_API_URL": f"https://{SLACK}/api/",
            "OUTGOING_PROXY": self.proxy.url,
            "CA_FILE": str(self.ca_file),
        }

    def settings(self, folder: Path) -> Settings:
        """The same, for a bot in this process over Socket Mode."""
        chosen = {name.lower(): value for name, value in self.variables(folder).items()}
        return settings(self.slack, self.services, folder / "gatehouse.db", transport="socket").model_copy(
            update={name: value for name, value in chosen.items() if name.endswith(("_url", "_proxy", "_file"))}
        )


@asynccontextmanager
async def company(folder: Path) -> AsyncIterator[Company]:
    async with (
        running_services(str(folder / "services.db")) as services,
        running_slack(document(None), SHOP) as slack,
    ):
        servers = {RULES: services.rules_url, MEMBERS: services.members_url, SLACK: slack.page_url}
        async with running_proxy(folder, servers) as (proxy, ca_file):
            slack.acting.answers.address = slack.state.files.base = f"https://{SLACK}"
            yield Company(proxy, slack, services, ca_file)


@pytest.mark.threat("E2")
async def test_everything_goes_by_the_proxy_of_the_settings_and_by_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    async with company(tmp_path) as there:
        async with running(there.settings(tmp_path), timing=QUICK):
            alice = Person(there.slack, "U0ALICE01", OPS)
            assert "4 rules" in alice.slack_text(await alice.says("/rules list checkout"))
            await alice.says(f"/rules off {OLD}")
            await alice.sees("is off")
            await alice.says("/rules export")
            await alice.says("/members list")

        assert set(there.proxy.asked) == {f"{name}:443" for name in (RULES, MEMBERS, SLACK)}
        done = {one["what"] for one in there.slack.state.traffic}
        assert {"apps.connections.open", "files.completeUploadExternal"} <= done
        assert "chat.postEphemeral" not in done, "response URLs were reached"
    logged = capsys.readouterr().out
    assert "http://gatehouse:***@127.0.0.1:" in logged
    assert "canary" not in logged


async def test_a_write_that_the_proxy_refuses_is_known_not_to_have_left(tmp_path: Path) -> None:
    async with company(tmp_path) as there:
        there.proxy.doors.clear()
        key = {"x-api-key": RULES_KEY}
        async with Service(
            "rules", f"https://{RULES}/v1", key, proxy=there.proxy.url, ca_file=str(there.ca_file)
        ) as rules:
            with pytest.raises(Unreachable, match="the proxy refuses: 403 Forbidden"):
                await RulesClient(rules).delete(OLD)
        assert there.services.rules.get(OLD) is not None


async def checked(there: Company, folder: Path, **wrong: str) -> list[str]:
    _, out, err = await run_here("check", "--online", environment=there.variables(folder) | wrong, folder=folder)
    assert (err, PASSWORD in out, PASSWORD_ENCODED in out) == ("", False, False)
    return [line for line in out.splitlines() if line[:1] in "✓✗–"]


async def test_a_check_goes_the_same_way_and_says_what_is_wrong_with_it(tmp_path: Path) -> None:
    async with company(tmp_path) as there:
        shown = there.proxy.url.replace(PASSWORD_ENCODED, "***")
        found = await checked(there, tmp_path)
        assert [line for line in found if line[0] == "✗"] == []
        assert f"✓ outgoing proxy: {shown} answers; used for {SLACK}, {RULES}, {MEMBERS}" in found

        found = await checked(there, tmp_path, OUTGOING_PROXY=there.proxy.url.replace("canary", "wrong"))
        why = "OUTGOING_PROXY (environment): the proxy doesn't let Gatehouse through"
        assert [line.partition(". ")[0] for line in found if line[0] == "✗"] == [
            f"✗ Slack: {why} (ClientHttpProxyError 407)",
            f"✗ Slack: {why} (ClientHttpProxyError 407)",
            *(
                f"✗ {part}: {why} (the proxy refuses: 407 Proxy Authentication Required)"
                for part in ("rules service", "members of blog", "members of docs")
            ),
        ]

        found = await checked(there, tmp_path, CA_FILE="")
        assert len([line for line in found if line[0] == "✗"]) == 5, "nobody else knows that authority"


async def test_a_proxy_that_is_gone_is_told_and_what_is_on_this_machine_does_not_need_it(tmp_path: Path) -> None:
    with bind_socket(0) as nobody:
        gone = f"http://127.0.0.1:{nobody.getsockname()[1]}"
    async with company(tmp_path) as there:
        near = environment(there.slack, there.services, f"sqlite:///{tmp_path / 'gatehouse.db'}", 3000)
        there.slack.acting.answers.address = there.slack.page_url
        found = await checked(there, tmp_path, **near, OUTGOING_PROXY=gone)

    assert [line.partition(". ")[0] for line in found if line[0] == "✗"] == [
        f"✗ outgoing proxy: OUTGOING_PROXY (environment): no answer from {gone} (ConnectionRefusedError)"
    ]
