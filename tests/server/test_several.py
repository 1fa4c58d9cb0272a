"""Several workspaces: from the install to the first answer, and what ends one of them leaves the other as it is."""

from __future__ import annotations

import asyncio
import re
import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from pydantic import SecretStr
from slack_sdk.web.async_client import AsyncWebClient

from bot.environment import BadSettings
from bot.server.app import running
from bot.server.workspace_commands import encrypted_again, set_up
from bot.settings import CannotStart
from bot.store.db import StoreError
from bot.store.directory import CONFIGURATION, INSTALLATION, Directory
from bot.store.engine import open_store
from bot.store.tables import settings as settings_table
from sandbox.gatehouse import SHOP
from sandbox.services.running import MEMBERS_KEY, RULES_KEY
from sandbox.slack.oauth import CLIENT_ID, CLIENT_SECRET
from sandbox.slack.workspaces import Workspace
from tests.conftest import QUICK, Clock, until
from tests.databases import BOTH
from tests.payloads import Forger
from tests.programs import ran
from tests.several import KEY, TWIN, Several, running_several, token_of

OTHER_KEY = "QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVphYmNkZWY="


async def uninstall(several: Several, home: Workspace) -> None:
    """What Slack does once somebody removes the app."""
    client = AsyncWebClient(token_of(several, home), base_url=several.slack.api_url)
    client.proxy = None
    await client.api_call("apps.uninstall", params={"client_id": CLIENT_ID, "client_secret": CLIENT_SECRET})


@pytest.mark.parametrize("database_url", BOTH, indirect=True)
@pytest.mark.parametrize("transport", ["http", "socket"])
async def test_from_the_install_to_the_first_answer(several: Several) -> None:
    alice = several.person(SHOP)
    await several.install(SHOP)
    await several.until(SHOP, "not set up")
    assert f"`gatehouse workspace set {SHOP.id} --env FILE`" in (await alice.says("/rules list")).text
    assert f"`gatehouse workspace set {SHOP.id} --env FILE`" in (await alice.says("@Gatehouse hello")).text

    await several.set_up(SHOP)
    await several.until(SHOP, "ok")

    assert "29 rules" in (await alice.says("/rules list")).text
    ready = await several.ready()
    assert (ready.status_code, ready.json()["store"]) == (200, "ok")


async def test_an_install_that_is_canceled(several: Several) -> None:
    page = await several.end(*await several.begin(SHOP, answer="cancel"))

    assert "It was canceled." in page.text
    assert "/slack/install" in page.text
    await several.until(SHOP, "")


@pytest.mark.threat("E10")
@pytest.mark.parametrize("cookie", ["", "slack-app-oauth-state=0123456789abcdef0123456789abcdef"])
async def test_an_install_that_another_browser_began(several: Several, cookie: str) -> None:
    url, _ = await several.begin(SHOP)

    page = await several.end(url, cookie)

    assert (page.status_code, "another browser" in page.text) == (400, True)
    await several.until(SHOP, "")


@pytest.mark.threat("E10")
async def test_a_state_is_good_once_and_for_ten_minutes(several: Several, clock: Clock) -> None:
    url, cookie = await several.begin(SHOP)
    assert (await several.end(url, cookie)).status_code == 200
    again = await several.end(url, cookie)
    assert (again.status_code, "opened twice" in again.text) == (401, True)

    url, cookie = await several.begin(TWIN)
    clock.ahead = timedelta(minutes=11)
    late = await several.end(url, cookie)
    assert (late.status_code, "ten minutes" in late.text) == (401, True)
    await several.until(TWIN, "")


@pytest.mark.threat("E10")
async def test_a_state_that_nobody_issued(several: Several) -> None:
    url, _ = await several.begin(SHOP)
    forged = "f" * 32

    page = await several.end(re.sub(r"state=\w+", f"state={forged}", url), f"slack-app-oauth-state={forged}")

    assert page.status_code == 401
    await several.until(SHOP, "")


async def test_a_code_is_good_once(several: Several) -> None:
    url, cookie = await several.begin(SHOP)
    await several.end(url, cookie)
    code = re.search(r"code=([\w.%-]+)", url)
    other, cookie = await several.begin(SHOP)
    assert code is not None

    page = await several.end(re.sub(r"code=[\w.%-]+", f"code={code[1]}", other), cookie)

    assert (page.status_code, "doesn't accept the code" in page.text) == (401, True)


async def test_a_reason_in_the_address_is_shown_as_text(several: Several) -> None:
    page = await several.end(f"{several.bot_url}/slack/oauth_redirect?error=<script>alert(1)</script>", "")

    assert "<script>" not in page.text
    assert "&lt;script&gt;" in page.text


async def test_installs_that_nobody_ends_take_no_more_than_so_much_room(several: Several) -> None:
    store = several.settings.database_url
    async with open_store(store, now=Clock()) as opened:
        directory = Directory(opened.session, [KEY])
        first = await directory.issue_state()
        last = [await directory.issue_state() for _ in range(1000)][-1]

        assert await directory.use_state(first) is False
        assert await directory.use_state(last) is True
        assert await directory.use_state(last) is False


async def test_what_is_wrong_with_settings_is_told_at_once_and_none_is_kept(both: Several, tmp_path: Path) -> None:
    env = tmp_path / "wrong.env"
    env.write_text("RULES_BASE_URL=http://rules.example.com/v1\nSLACK_BOT_TOKEN=xoxb-canary\nMEMBERS_SITES=blog=\n")

    with pytest.raises(BadSettings) as refused:
        await set_up(both.directory_settings, SHOP.id, env, None, without_policy=False)

    assert {each.variable for each in refused.value.problems} == {
        *("RULES_BASE_URL", "RULES_API_KEY", "MEMBERS_BASE_URL", "MEMBERS_API_KEY", "SLACK_BOT_TOKEN")
    }
    assert "canary" not in str(refused.value)
    assert "29 rules" in (await both.person(SHOP).says("/rules list")).text


@pytest.mark.threat("E8")
async def test_nothing_of_the_environment_stands_in_for_a_setting(
    several: Several, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RULES_API_KEY", "of-somebody-else")
    env = tmp_path / "no-key.env"
    env.write_text(
        "".join(f"{name}={each}\n" for name, each in several.variables(SHOP).items() if name != "RULES_API_KEY")
    )

    with pytest.raises(BadSettings, match="RULES_API_KEY: is not set"):
        await set_up(several.directory_settings, SHOP.id, env, None, without_policy=False)


async def test_new_settings_and_policies_are_taken_over_without_a_restart(both: Several, tmp_path: Path) -> None:
    policy = tmp_path / "policy.toml"
    policy.write_text('[roles.nobody]\nusers = ["U0NOBODY1"]\nmay = ["*"]\n')

    await both.set_up(TWIN, policy)

    async def refused() -> bool:
        return "29 rules" not in (await both.person(TWIN).says("/rules list")).text

    async for is_refused in _repeated(refused):
        if is_refused:
            break
    assert "29 rules" in (await both.person(SHOP).says("/rules list")).text


async def _repeated(ask: Any) -> AsyncIterator[bool]:
    for _ in range(200):
        yield await ask()
    raise AssertionError("it never became so")


async def test_one_that_is_broken_stops_no_other_and_is_named(both: Several) -> None:
    await _write(both, TWIN, {"variables": {**both.variables(TWIN), "MEMBERS_SITES": ""}, "policy": ""})
    await both.until(TWIN, "MEMBERS_SITES")

    ready = await both.ready()
    metrics = (await both.http.get(f"{both.bot_url}/metrics")).text

    assert ready.status_code == 200
    assert f'gatehouse_ready{{part="workspace {TWIN.id}"}} 0.0' in metrics
    assert f'gatehouse_ready{{part="workspace {SHOP.id}"}} 1.0' in metrics
    assert "can't work in this workspace" in (await both.person(TWIN).says("/rules list")).text
    assert "29 rules" in (await both.person(SHOP).says("/rules list")).text

    await both.set_up(TWIN)
    await both.until(TWIN, "ok")
    assert "29 rules" in (await both.person(TWIN).says("/rules list")).text


async def _write(several: Several, home: Workspace, configuration: dict[str, Any]) -> None:
    """What an older release, or a hand, may have left in the database."""
    async with open_store(several.settings.database_url, now=Clock()) as store:
        await Directory(store.session, [KEY]).keep(home.id, CONFIGURATION, configuration)


@pytest.mark.parametrize("database_url", BOTH, indirect=True)
async def test_an_uninstall_ends_one_and_a_new_install_goes_on(both: Several) -> None:
    store = both.settings.database_url
    await both.person(TWIN).says("/rules off Login without www because of a test")
    await uninstall(both, TWIN)
    await both.until(TWIN, "")

    assert "29 rules" in (await both.person(SHOP).says("/rules list")).text
    async with open_store(store, now=Clock()) as opened:
        entry = await Directory(opened.session, [KEY]).of(TWIN.id)
    assert entry.installation is None, "its tokens are gone"
    assert entry.configuration is not None

    await both.install(TWIN)
    await both.until(TWIN, "ok")
    record = both.gatehouse(TWIN)
    assert record is not None
    assert (await record.store.audit.head())[0] > 0, "its record is there"
    assert await record.store.audit.verify() is None


async def test_an_old_word_of_an_uninstall_ends_no_later_install(both: Several) -> None:
    await uninstall(both, TWIN)
    await both.until(TWIN, "")
    told = [one["request"] for one in both.slack.state.traffic if "app_uninstalled" in str(one["request"])]
    await both.install(TWIN)
    await both.until(TWIN, "ok")

    await both.slack.delivery.event(told[-1] | {"event_id": "Ev0LATE001"})

    assert (await both.ready()).json()[f"workspace {TWIN.id}"] == "ok"
    assert "29 rules" in (await both.person(TWIN).says("/rules list")).text


@pytest.mark.parametrize("rotates", [True], indirect=True)
async def test_a_token_that_rotates_ends_no_work(several: Several) -> None:
    """A change is requested with a first token, and decided with a later one."""
    tokens = several.slack.installations
    tokens.token_life = 3600  # it is time for another one
    await several.install(SHOP)
    await several.set_up(SHOP)
    await several.until(SHOP, "ok")
    alice, cara = several.person(SHOP), several.person(SHOP, "U0CARA001")
    card = await alice.says("/rules delete Redirect_x1old because it is over")
    tokens.token_life = 43_200
    first = list(tokens.apis)

    await until(lambda: tokens.apis.keys() > set(first))
    await until(lambda: entry_token(several) == list(tokens.apis)[-1])
    for token in first:
        tokens.expire(token)
    await cara.clicks(card, "v1.decide.approve", confirm=True)

    await cara.sees("deleted")
    assert (await several.ready()).json()[f"workspace {SHOP.id}"] == "ok"


def entry_token(several: Several) -> str:
    """The token that the bot uses in the shop."""
    served: Any = several.bot.served
    return str(served.workspace(SHOP.id).slack.client.token)


@pytest.mark.parametrize("rotates", [True], indirect=True)
async def test_a_token_that_can_t_be_refreshed_is_said(several: Several) -> None:
    several.slack.installations.token_life = 3600
    await several.install(SHOP)
    await several.set_up(SHOP)
    await several.until(SHOP, "ok")

    several.slack.installations.forget_refreshes()

    await several.until(SHOP, "token not refreshed: invalid_refresh_token")
    assert "29 rules" in (await several.person(SHOP).says("/rules list")).text, "it is good for a while"


@pytest.mark.parametrize("database_url", BOTH, indirect=True)
async def test_one_replica_refreshes_a_token_at_a_time(database_url: str, clock: Clock) -> None:
    async with open_store(database_url, now=clock) as store, open_store(database_url, now=clock) as other:
        one, two = (Directory(each.session, [KEY]) for each in (store, other))
        async with (
            one.refreshing(SHOP.id) as first,
            two.refreshing(SHOP.id) as second,
            two.refreshing(TWIN.id) as third,
        ):
            assert (first, second, third) == (True, False, True)
            clock.ahead = timedelta(minutes=2)
            async with two.refreshing(SHOP.id) as late:
                assert late, "whoever has it for so long is dead"
        async with two.refreshing(SHOP.id) as again:
            assert again


async def test_what_is_forgotten_meanwhile_stays_forgotten(database_url: str, clock: Clock) -> None:
    async with open_store(database_url, now=clock) as store:
        directory = Directory(store.session, [KEY])
        await directory.keep(SHOP.id, INSTALLATION, {"bot_token": "xoxb-1"})
        await directory.forget(SHOP.id, INSTALLATION)

        assert not await directory.swap(SHOP.id, INSTALLATION, {"bot_token": "xoxb-1"}, {"bot_token": "xoxb-2"})
        assert await directory.all() == {}


@pytest.mark.parametrize("database_url", BOTH, indirect=True)
async def test_a_key_is_replaced_while_it_runs(both: Several) -> None:
    rotated = both.directory_settings.model_copy(update={"encryption_keys": (SecretStr(OTHER_KEY), SecretStr(KEY))})

    assert "2 workspaces" in await encrypted_again(rotated)

    async with open_store(both.settings.database_url, now=Clock()) as store:
        assert not any(entry.trouble for entry in (await Directory(store.session, [OTHER_KEY]).all()).values())
        assert all(entry.trouble for entry in (await Directory(store.session, [KEY]).all()).values())
    assert "29 rules" in (await both.person(SHOP).says("/rules list")).text, "it goes on with what it has"


async def test_a_database_without_its_key_is_refused(tmp_path: Path, database_url: str) -> None:
    async with running_several(tmp_path, timing=QUICK, database_url=database_url) as several:
        await several.install(SHOP)
    settings = several.settings.model_copy(update={"encryption_keys": (SecretStr(OTHER_KEY),)})

    with pytest.raises(CannotStart, match="ENCRYPTION_KEYS can't decrypt any of the 1 workspaces"):
        async with running(settings, timing=QUICK):
            pass

    refused = several.directory_settings.model_copy(update={"encryption_keys": (SecretStr(OTHER_KEY),)})
    with pytest.raises(StoreError, match="ENCRYPTION_KEYS can't decrypt"):
        await encrypted_again(refused)


@pytest.mark.threat("E9")
async def test_the_database_holds_no_token_and_no_key(both: Several, tmp_path: Path) -> None:
    tokens = [token_of(both, home) for home in (TWIN, SHOP)]

    held = b"".join(path.read_bytes() for path in tmp_path.glob("store*"))

    assert SHOP.id.encode() in held
    for secret in (*tokens, RULES_KEY, MEMBERS_KEY, both.variables(SHOP)["RULES_BASE_URL"]):
        assert secret.encode() not in held


@pytest.mark.threat("E9")
async def test_what_is_encrypted_for_one_is_of_no_use_to_another(database_url: str, clock: Clock) -> None:
    async with open_store(database_url, now=clock) as store:
        directory = Directory(store.session, [KEY])
        await directory.keep(SHOP.id, INSTALLATION, {"bot_token": "xoxb-1"})
        async with store.transaction() as tx:
            await tx.execute(sa.update(settings_table).values(owner=TWIN.id))

        assert "can't decrypt" in (await directory.all())[TWIN.id].trouble


async def test_the_command_line(both: Several, tmp_path: Path) -> None:
    environ = {"DATABASE_URL": both.settings.database_url, "ENCRYPTION_KEYS": KEY}
    policy, env = tmp_path / "own.toml", tmp_path / f"{SHOP.id}.env"

    async def said(*arguments: str, code: int = 0, **other: str) -> str:
        exit_code, out, err = await ran("bot", *arguments, environment=environ | other, folder=tmp_path)
        assert exit_code == code, out + err
        return out + err

    assert re.search(rf"{SHOP.id}  Example Shop  installed  \d{{4}}-", await said("workspace", "list"))
    policy.write_text('[roles.all]\nusers = ["U0ALICE01"]\nmay = ["*"]\n')
    assert "a policy" in await said("workspace", "set", SHOP.id, "--policy", str(policy))
    shown = await said("workspace", "show", SHOP.id)
    assert RULES_KEY not in shown
    assert "U0ALICE01" in shown
    policy.write_text('[roles.all]\nuser = "U0ALICE01"\n')
    assert "roles.all.user" in await said("workspace", "set", SHOP.id, "--policy", str(policy), code=2)
    assert "no policy" in await said("workspace", "set", SHOP.id, "--env", str(env), "--no-policy")
    assert "--env FILE" in await said("workspace", "set", SHOP.id, code=2)
    assert "is not the id of a workspace" in await said("workspace", "set", "../x", "--env", str(env), code=1)
    assert "can't be read" in await said("workspace", "set", SHOP.id, "--env", "none.env", code=2)
    assert "Nothing is known of T0NOBODY1" in await said("workspace", "show", "T0NOBODY1", code=2)
    assert "ENCRYPTION_KEYS" in await said("workspace", "list", code=2, ENCRYPTION_KEYS="short")
    assert "can't decrypt" in await said("workspace", "list", ENCRYPTION_KEYS=OTHER_KEY)
    assert "The audit is sound: 0 entries" in await said("audit", "verify", "--workspace", SHOP.id)
    assert await said("audit", "export", "--workspace", SHOP.id) == ""
    assert "there is no file" in await said("audit", "verify", "--workspace", "T0NOBODY1", code=1)
    assert "2 workspaces" in await said("workspace", "rotate", ENCRYPTION_KEYS=f"{OTHER_KEY},{KEY}")
    assert "Its record stays" in await said("workspace", "remove", TWIN.id, ENCRYPTION_KEYS=OTHER_KEY)
    assert TWIN.id not in await said("workspace", "list", ENCRYPTION_KEYS=OTHER_KEY)


async def test_a_check_looks_at_each_workspace(both: Several, tmp_path: Path) -> None:
    environ = {
        "DATABASE_URL": both.settings.database_url,
        "ENCRYPTION_KEYS": KEY,
        "SLACK_CLIENT_ID": CLIENT_ID,
        "SLACK_CLIENT_SECRET": CLIENT_SECRET,
        "SLACK_SIGNING_SECRET": "secret",
        "SLACK_API_URL": both.slack.api_url,
    }
    await both.set_up(TWIN, RULES_API_KEY="of-nobody")
    await uninstall(both, TWIN)

    async def said(*arguments: str, **other: str) -> tuple[int, str]:
        code, out, err = await ran("bot", "check", "--online", environment=environ | other, folder=tmp_path)
        return code, out + err

    code, out = await said()
    assert code == 1
    assert f"✓ workspace {SHOP.id}: members of docs: " in out
    assert "✓ OAuth: Slack knows the client id" in out
    assert f"✗ workspace {TWIN.id}: rules service: RULES_API_KEY (workspace {TWIN.id}): the service refuses it" in out
    assert "of-nobody" not in out
    assert "✗ OAuth: SLACK_CLIENT_SECRET" in (await said(SLACK_CLIENT_SECRET="wrong"))[1]
    assert f"✗ workspace {SHOP.id}: ENCRYPTION_KEYS can't decrypt" in (await said(ENCRYPTION_KEYS=OTHER_KEY))[1]
    code, out = await said(SLACK_BOT_TOKEN="xoxb-1")
    assert (code, "SLACK_BOT_TOKEN (environment): is set beside SLACK_CLIENT_ID" in out) == (2, True)


async def test_all_of_them_may_begin_at_once_with_nothing_there(tmp_path: Path, database_url: str) -> None:
    homes = tuple(replace(TWIN, id=f"T0MANY{number:03}", bot_id=f"B0MANY{number:03}") for number in range(6))
    async with running_several(tmp_path, timing=QUICK, database_url=database_url, homes=homes) as several:
        for home in homes:
            await several.install(home)
    for home in homes:
        await several.set_up(home)
    files = [tmp_path / f"store-{home.id}.db" for home in homes]
    assert not any(path.exists() for path in files)

    async with running_several(tmp_path, timing=QUICK, database_url=database_url, homes=homes) as again:
        for home in homes:  # the tokens are of a Slack that is gone
            await again.until(home, "Slack does not accept the token of this workspace (invalid_auth)")

    for path in files:
        with closing(sqlite3.connect(path)) as connection:
            assert connection.execute("SELECT count(*) FROM audit").fetchone() == (0,)


async def test_an_event_for_one_that_opens_comes_again(several: Several) -> None:
    await several.install(SHOP)
    several.slack.faults.add("never", method="auth.test", times=99)
    await several.set_up(SHOP)
    await several.until(SHOP, "opening")

    await several.person(SHOP).types("@Gatehouse hello")
    await several.slack.at(SHOP).acting.events.settled()

    (first, *_) = [one for one in several.slack.state.traffic if one["what"] == "event"]
    assert (first["status"], first["response"]) == ("dispatch_failed", "")


async def test_a_workspace_in_the_address_adds_nothing_else(several: Several) -> None:
    for team, is_passed_on in (("T0GATE001", True), ("T1&scope=admin", False), ("", False)):
        begun = await several.http.get(f"{several.bot_url}/slack/install", params={"team": team})
        assert ("&team=" in begun.headers["location"]) == is_passed_on
        assert "admin" not in begun.headers["location"]


async def test_in_one_that_is_broken_everything_is_answered(both: Several) -> None:
    alice = both.person(TWIN)
    card = await alice.says("/rules off Redirect_x1old for 2h because of a test")
    view = await alice.opens("/rules new")
    sandbox = both.seen_from(TWIN)
    await _write(both, TWIN, {"variables": {**both.variables(TWIN), "MEMBERS_SITES": ""}, "policy": ""})
    await both.until(TWIN, "MEMBERS_SITES")
    forger = Forger(sandbox, alice.id, alice.channel)

    await forger.clicks(card, "v1.decide.revert", "x")
    await forger.hears("can't work in this workspace right now")
    submitted = await forger.submits(view)
    offered = await forger.asks_options(view, "v1.pick.rule.menu", "old")

    assert submitted["response_action"] == "update"
    assert "can't work in this workspace" in str(submitted["view"])
    assert offered == {"options": []}


async def test_a_stop_does_not_wait_for_one_that_opens(tmp_path: Path, database_url: str) -> None:
    async with running_several(tmp_path, timing=QUICK, database_url=database_url) as several:
        await several.install(SHOP)
        several.slack.faults.add("never", method="auth.test", times=99)
        await several.set_up(SHOP)
        await several.until(SHOP, "opening")
        async with asyncio.timeout(10):
            await several.bot.served.close()  # type: ignore[union-attr]  # it serves several
