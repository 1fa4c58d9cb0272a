"""Two workspaces in one local Slack: what an app has in one of them says nothing about the other."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import httpx
import pytest

from sandbox.gatehouse import SHOP, WORKSPACES
from sandbox.slack.configuration import load_workspaces
from sandbox.slack.oauth import CLIENT_ID, CLIENT_SECRET
from sandbox.slack.running import TOKEN, LocalSlack, running_slack
from sandbox.slack.story import Person
from sandbox.slack.workspaces import Workspace
from tests.conftest import until
from tests.sandbox.slack.conftest import installed
from tests.sandbox.slack.desk import Desk

(LABS,) = load_workspaces()
HOME = "https://app.example.com/slack/oauth_redirect"
SCOPES = ["channels:read", "chat:write", "commands", "files:read", "files:write", "im:write", "team:read"]
SCOPES += ["users:read", "usergroups:read", "app_mentions:read", "channels:history"]
MANIFEST: dict[str, Any] = {
    "display_information": {"name": "Desk"},
    "features": {"slash_commands": [{"command": "/desk", "description": "Ask"}]},
    "oauth_config": {"redirect_urls": [HOME], "scopes": {"bot": SCOPES}},
    "settings": {
        "event_subscriptions": {
            "request_url": "https://app.example.com/slack/events",
            "bot_events": ["app_mention", "app_uninstalled", "message.channels", "tokens_revoked"],
        }
    },
}
GWEN, LAB = "U0GWEN001", "C0LABOPS1"


@dataclass
class Two:
    """A Slack with both workspaces, and the app, which is installed in the first alone at the start."""

    desk: Desk
    http: httpx.AsyncClient

    @property
    def slack(self) -> LocalSlack:
        return self.desk.slack

    def gwen(self) -> Person:
        return Person(self.slack.with_workspace(LABS), GWEN, LAB)

    async def call(self, token: str, method: str, **arguments: Any) -> dict[str, Any]:
        headers = {"Authorization": f"Bearer {token}"}
        return dict((await self.http.post(f"/api/{method}", data=arguments, headers=headers)).json())

    async def page(self, **asked: str) -> str:
        known = {"client_id": CLIENT_ID, "scope": ",".join(SCOPES), "redirect_uri": HOME}
        return (await self.http.get("/oauth/v2/authorize", params=known | asked)).text

    async def installed(self, workspace: Workspace) -> dict[str, Any]:
        """What the code exchange gives to an app that somebody installs in *workspace*."""
        fields = dict(re.findall(r'name="(\w+)" value="([^"]*)">', await self.page()))
        form = {**fields, "answer": "allow", "team": workspace.id}
        decided = await self.http.post("/oauth/v2/authorize", data=form)
        told = dict(parse_qsl(urlsplit(decided.headers["location"]).query))
        secrets = {"client_id": CLIENT_ID, "client_secret": CLIENT_SECRET, "code": told["code"]}
        return dict((await self.http.post("/api/oauth.v2.access", data=secrets)).json())

    async def uninstall(self, token: str, **other: str) -> dict[str, Any]:
        return await self.call(
            token, "apps.uninstall", **{"client_id": CLIENT_ID, "client_secret": CLIENT_SECRET, **other}
        )


@pytest.fixture
async def two() -> AsyncIterator[Two]:
    async with (
        installed(MANIFEST, (SHOP, LABS)) as desk,
        httpx.AsyncClient(base_url=desk.slack.page_url, trust_env=False) as http,
    ):
        yield Two(desk, http)


async def test_the_page_asks_where_and_the_code_is_worth_a_token_of_that_workspace(two: Two) -> None:
    page = await two.page(team=LABS.id)
    assert f'<option value="{LABS.id}" selected>Example Labs</option>' in page
    assert f'<option value="{SHOP.id}">Example Shop</option>' in page

    given = await two.installed(LABS)

    assert given["team"] == {"id": "T0LABS001", "name": "Example Labs"}
    assert (given["bot_user_id"], given["authed_user"]["id"]) == ("U0LABSBOT", GWEN)
    who = await two.call(given["access_token"], "auth.test")
    assert (who["team_id"], who["user_id"], who["bot_id"]) == ("T0LABS001", "U0LABSBOT", "B0LABS001")
    assert who["url"] == "https://example-labs.slack.com/"
    assert (await two.call(TOKEN, "auth.test"))["team_id"] == "T0GATE001"


async def test_with_one_workspace_nobody_is_asked_where() -> None:
    async with (
        running_slack(MANIFEST, WORKSPACES) as slack,
        httpx.AsyncClient(base_url=slack.page_url, trust_env=False) as http,
    ):
        asked = {"client_id": CLIENT_ID, "scope": "chat:write", "redirect_uri": HOME, "team": LABS.id}
        page = (await http.get("/oauth/v2/authorize", params=asked)).text

    assert "<select" not in page
    assert "asks to be installed in Example Shop" in page


ACROSS = [
    ("chat.postMessage", {"channel": "{channel}", "text": "Hello"}, "channel_not_found"),
    ("chat.postMessage", {"channel": "{user}", "text": "Hello"}, "channel_not_found"),
    ("conversations.info", {"channel": "{channel}"}, "channel_not_found"),
    ("conversations.members", {"channel": "{channel}"}, "channel_not_found"),
    ("conversations.open", {"users": "{user}"}, "user_not_found"),
    ("users.info", {"user": "{user}"}, "user_not_found"),
    ("usergroups.users.list", {"usergroup": "{group}"}, "no_such_subteam"),
    ("team.info", {"team": "{team}"}, "team_not_found"),
    ("bots.info", {"bot": "{bot}"}, "bot_not_found"),
]


@pytest.mark.parametrize(("method", "arguments", "refusal"), ACROSS)
async def test_a_token_sees_its_own_workspace_alone(
    two: Two, method: str, arguments: dict[str, str], refusal: str
) -> None:
    labs = (await two.installed(LABS))["access_token"]
    of_labs = {"channel": LAB, "user": GWEN, "group": "S0LABDUTY", "team": LABS.id, "bot": LABS.bot_id}
    of_shop = {"channel": "C0OPS0001", "user": "U0ALICE01", "group": "S0ONCALL", "team": SHOP.id, "bot": SHOP.bot_id}

    for token, own, other in ((TOKEN, of_shop, of_labs), (labs, of_labs, of_shop)):
        there = {name: value.format(**own) for name, value in arguments.items()}
        across = {name: value.format(**other) for name, value in arguments.items()}
        assert (await two.call(token, method, **there))["ok"] is True
        assert (await two.call(token, method, **across))["error"] == refusal


async def test_lists_have_nobody_and_nothing_of_the_other(two: Two) -> None:
    labs = (await two.installed(LABS))["access_token"]

    people = (await two.call(labs, "users.list"))["members"]
    assert [(one["name"], one["team_id"]) for one in people] == [
        ("gwen", LABS.id),
        ("hugo", LABS.id),
        ("desk", LABS.id),
    ]
    channels = (await two.call(labs, "conversations.list"))["channels"]
    assert {one["id"]: one["context_team_id"] for one in channels} == {LAB: LABS.id, "C0LABGEN1": LABS.id}
    assert [one["id"] for one in (await two.call(labs, "usergroups.list"))["usergroups"]] == ["S0LABDUTY"]


async def test_a_trigger_and_a_view_are_of_one_workspace(two: Two) -> None:
    labs = (await two.installed(LABS))["access_token"]
    view = '{"type": "modal", "title": {"type": "plain_text", "text": "Hello"}, "blocks": []}'
    await two.gwen().types("/desk")
    trigger = two.desk.last("command")["trigger_id"]

    assert (await two.call(TOKEN, "views.open", view=view, trigger_id=trigger))["error"] == "invalid_trigger_id"
    opened = await two.call(labs, "views.open", view=view, trigger_id=trigger)
    assert opened["view"]["team_id"] == opened["view"]["app_installed_team_id"] == LABS.id
    assert (await two.call(TOKEN, "views.update", view=view, view_id=opened["view"]["id"]))["error"] == "not_found"


async def shared(two: Two, token: str, channel: str) -> dict[str, Any]:
    """A file that the app sends into *channel*, as files.info tells of it."""
    ticket = await two.call(token, "files.getUploadURLExternal", filename="rules.json", length="2")
    assert (await two.http.post(ticket["upload_url"], content=b"[]")).status_code == 200
    listed = json.dumps([{"id": ticket["file_id"]}])
    sent = await two.call(token, "files.completeUploadExternal", files=listed, channel_id=channel)
    assert sent["ok"], sent
    return dict((await two.call(token, "files.info", file=ticket["file_id"]))["file"])


async def test_a_file_is_of_one_workspace_and_no_other_token_reads_it(two: Two) -> None:
    labs = (await two.installed(LABS))["access_token"]
    of_shop, of_labs = await shared(two, TOKEN, "C0OPS0001"), await shared(two, labs, LAB)
    assert (of_shop["user_team"], of_labs["user_team"]) == (SHOP.id, LABS.id)
    assert (of_labs["user"], of_labs["permalink"].partition("/files/")[0]) == ("U0LABSBOT", LABS.url.rstrip("/"))

    for token, own, other in ((TOKEN, of_shop, of_labs), (labs, of_labs, of_shop)):
        assert await downloaded(two, token, own["url_private"]) == "[]"
        assert "Sign in" in await downloaded(two, token, other["url_private_download"])
        disguised = other["url_private"].replace(other["user_team"], own["user_team"])
        assert "Sign in" in await downloaded(two, token, disguised)
        for method in ("files.info", "files.delete"):
            assert (await two.call(token, method, file=other["id"]))["error"] == "file_not_found"
        listed = json.dumps([{"id": other["id"]}])
        assert (await two.call(token, "files.completeUploadExternal", files=listed))["error"] == "file_not_found"


async def downloaded(two: Two, token: str, url: str) -> str:
    return (await two.http.get(url, headers={"Authorization": f"Bearer {token}"})).text


async def test_a_token_that_is_over_reads_no_file(two: Two) -> None:
    labs = (await two.installed(LABS))["access_token"]
    file = await shared(two, labs, LAB)

    await two.uninstall(labs)

    assert "Sign in" in await downloaded(two, labs, file["url_private"])


async def test_the_page_gives_a_file_to_the_people_of_its_workspace(two: Two) -> None:
    labs = (await two.installed(LABS))["access_token"]
    file = await shared(two, labs, LAB)

    asked = [{"user": one, "id": file["id"]} for one in (GWEN, "U0ALICE01")]
    answers = [await two.http.get("/_local/file", params=one) for one in asked]

    assert [one.status_code for one in answers] == [200, 404]
    assert answers[0].content == b"[]"


async def test_what_the_panel_breaks_is_broken_in_both_and_both_are_told(two: Two) -> None:
    labs = (await two.installed(LABS))["access_token"]
    view = '{"type": "modal", "title": {"type": "plain_text", "text": "Hello"}, "blocks": []}'
    heard: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
    two.gwen().slack.state.watchers.append((GWEN, heard))

    two.slack.troubles.apply("triggers", {"choice": "expired"})
    await two.gwen().types("/desk")

    assert heard.get_nowait()["type"] == "troubles"
    trigger = two.desk.last("command")["trigger_id"]
    assert (await two.call(labs, "views.open", view=view, trigger_id=trigger))["error"] == "expired_trigger_id"


async def test_deliveries_say_of_which_workspace_they_are(two: Two) -> None:
    await two.installed(LABS)
    await two.gwen().types("/desk list")
    await two.gwen().types("<@U0LABSBOT> hello")

    command, event = two.desk.last("command"), two.desk.last("event_callback")
    assert (command["team_id"], command["team_domain"], command["user_id"]) == (LABS.id, "example-labs", GWEN)
    assert event["team_id"] == event["authorizations"][0]["team_id"] == LABS.id
    assert event["authorizations"][0]["user_id"] == "U0LABSBOT"
    answer = await two.http.post(command["response_url"], json={"text": "Only you see this"})
    assert answer.text == "ok"
    assert [one.text for one in two.gwen().slack.state.messages if one.visible_to] == ["Only you see this"]
    assert two.slack.state.messages == []


async def test_no_id_is_given_out_twice(two: Two) -> None:
    await two.installed(LABS)
    alice = Person(two.slack, "U0ALICE01", "C0OPS0001")
    for one in (alice, two.gwen()):
        await one.types("hello")
        await one.types("/desk")

    events = [one["event_id"] for one in two.desk.heard if one["type"] == "event_callback"]
    commands = [one for one in two.desk.heard if one["type"] == "command"]
    assert len(set(events)) == 2
    assert len({one["trigger_id"].split(".")[0] for one in commands}) == 2
    assert len({one["response_url"] for one in commands}) == 2


async def test_before_it_is_installed_an_app_hears_nothing(two: Two) -> None:
    answer = await two.gwen().types("/desk")
    await two.gwen().types("<@U0LABSBOT> hello")

    assert answer["error"] == "invalid_command"
    assert two.desk.heard == []


async def test_what_is_revoked_in_one_workspace_goes_on_in_the_other(two: Two) -> None:
    labs = (await two.installed(LABS))["access_token"]

    assert await two.call(labs, "auth.revoke") == {"ok": True, "revoked": True}

    assert (await two.call(labs, "auth.test"))["error"] == "token_revoked"
    assert (await two.call(TOKEN, "auth.test"))["ok"] is True


async def test_an_uninstall_ends_all_tokens_of_one_workspace_and_is_told(two: Two) -> None:
    tokens = [(await two.installed(LABS))["access_token"] for _ in range(2)]

    assert await two.uninstall(tokens[0]) == {"ok": True}

    assert {(await two.call(one, "auth.test"))["error"] for one in tokens} == {"account_inactive"}
    assert (await two.call(TOKEN, "auth.test"))["ok"] is True
    await until(lambda: len(two.desk.heard) == 2)
    told = [one for one in two.desk.heard if one["type"] == "event_callback"]
    assert {one["team_id"] for one in told} == {LABS.id}
    assert [one["event"]["type"] for one in told] == ["tokens_revoked", "app_uninstalled"]
    assert told[0]["event"]["tokens"] == {"bot": ["U0LABSBOT"]}
    assert (await two.gwen().types("/desk"))["error"] == "invalid_command"
    again = (await two.installed(LABS))["access_token"]
    assert (await two.call(again, "auth.test"))["ok"] is True


@pytest.mark.parametrize(
    ("token", "wrong", "refusal"),
    [
        (TOKEN, {"client_id": "1.2"}, "invalid_client_id"),
        (TOKEN, {"client_secret": "guess"}, "bad_client_secret"),
        ("xoxb-nobody", {}, "invalid_auth"),
    ],
)
async def test_only_the_app_itself_uninstalls_it(two: Two, token: str, wrong: dict[str, str], refusal: str) -> None:
    assert (await two.uninstall(token, **wrong))["error"] == refusal
    assert (await two.call(TOKEN, "auth.test"))["ok"] is True


async def test_a_person_of_the_other_workspace_has_its_page(two: Two) -> None:
    await two.installed(LABS)
    await two.call(TOKEN, "chat.postMessage", channel="C0OPS0001", text="For the shop")

    state = (await two.http.get("/_local/state", params={"user": GWEN})).json()

    assert (state["team"]["name"], state["bot"]["id"]) == ("Example Labs", "U0LABSBOT")
    assert [one["id"] for one in state["channels"]] == [LAB, "C0LABGEN1", "D0GWEN001"]
    asked = {"user": GWEN, "channel": "C0OPS0001"}
    assert (await two.http.get("/_local/messages", params=asked)).json()["messages"] == []


async def test_each_workspace_has_calls_of_its_own(two: Two) -> None:
    labs = (await two.installed(LABS))["access_token"]
    two.slack.limits.is_on = True

    calls = [(await two.call(TOKEN, "users.list")).get("error") for _ in range(21)]
    assert calls == [None] * 20 + ["ratelimited"]
    assert (await two.call(labs, "users.list"))["ok"] is True


async def test_tokens_rotate_where_the_manifest_says_so() -> None:
    manifest = {**MANIFEST, "settings": {**MANIFEST["settings"], "token_rotation_enabled": True}}
    async with (
        running_slack(manifest, (SHOP, LABS)) as slack,
        httpx.AsyncClient(base_url=slack.page_url, trust_env=False) as http,
    ):
        two = Two(Desk(slack, http), http)
        first = await two.installed(LABS)
        assert (first["expires_in"], first["access_token"][:10]) == (43_200, "xoxe.xoxb-")
        asked = {"client_id": CLIENT_ID, "client_secret": CLIENT_SECRET, "grant_type": "refresh_token"}
        asked["refresh_token"] = first["refresh_token"]

        second = (await http.post("/api/oauth.v2.access", data=asked)).json()
        assert (second["ok"], second["token_type"], second["team"]["id"]) == (True, "bot", LABS.id)
        again = (await http.post("/api/oauth.v2.access", data=asked)).json()
        assert again == {"ok": False, "error": "invalid_refresh_token"}

        assert (await two.call(first["access_token"], "auth.test"))["ok"] is True, "it lives on to its end"
        slack.installations.expire(first["access_token"])
        assert (await two.call(first["access_token"], "auth.test"))["error"] == "token_expired"
        assert (await two.call(second["access_token"], "auth.test"))["ok"] is True
        await two.uninstall(second["access_token"])
        asked["refresh_token"] = second["refresh_token"]
        assert (await http.post("/api/oauth.v2.access", data=asked)).json()["error"] == "invalid_refresh_token"
