"""Installing an app as OAuth v2 has it: the page, the code, the token, and the end of the token."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import httpx
import pytest
from slack_sdk.oauth import AuthorizeUrlGenerator
from slack_sdk.web.async_client import AsyncWebClient

from sandbox.gatehouse import WORKSPACES
from sandbox.slack.ids import StandingClock
from sandbox.slack.oauth import CLIENT_ID, CLIENT_SECRET
from sandbox.slack.running import LocalSlack, running_slack

HOME = "https://app.example.com/slack/oauth_redirect"
MANIFEST = {
    "display_information": {"name": "Desk <of us>"},
    "oauth_config": {"redirect_urls": [HOME], "scopes": {"bot": ["chat:write", "users:read"]}},
}
Allowed = dict[str, Any]


@pytest.fixture
def clock() -> StandingClock:
    return StandingClock(1_800_000_000.0)


@pytest.fixture
async def slack(clock: StandingClock) -> AsyncIterator[LocalSlack]:
    async with running_slack(MANIFEST, WORKSPACES, clock=clock) as running:
        yield running


@pytest.fixture
async def browser(slack: LocalSlack) -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(base_url=slack.page_url, trust_env=False) as http:
        yield http


def sdk(slack: LocalSlack, token: str | None = None) -> AsyncWebClient:
    client = AsyncWebClient(token=token, base_url=slack.api_url)
    client.proxy = None
    return client


async def answered(browser: httpx.AsyncClient, slack: LocalSlack, answer: str) -> Allowed:
    """What the app is told at its own address once somebody has pressed *answer* on the page."""
    made = AuthorizeUrlGenerator(
        client_id=CLIENT_ID,
        scopes=["chat:write"],
        redirect_uri=HOME,
        authorization_url=f"{slack.page_url}/oauth/v2/authorize",
    ).generate("my-state")
    page = await browser.get(made)
    fields = dict(re.findall(r'name="(\w+)" value="([^"]*)">', page.text))
    fields.pop("answer", None)
    decided = await browser.post("/oauth/v2/authorize", data={**fields, "answer": answer})
    assert decided.status_code == 302, decided.text
    assert decided.headers["location"].startswith(f"{HOME}?")
    return dict(parse_qsl(urlsplit(decided.headers["location"]).query))


async def exchanged(browser: httpx.AsyncClient, **arguments: str) -> dict[str, Any]:
    known = {"client_id": CLIENT_ID, "client_secret": CLIENT_SECRET}
    return dict((await browser.post("/api/oauth.v2.access", data={**known, **arguments})).json())


@pytest.mark.filterwarnings("ignore:BasicAuth is deprecated:DeprecationWarning")  # of aiohttp, used by Slack's SDK
async def test_an_install_gives_a_token_with_the_scopes_asked_for(
    slack: LocalSlack, browser: httpx.AsyncClient
) -> None:
    told = await answered(browser, slack, "allow")
    assert told["state"] == "my-state"
    given = await sdk(slack).oauth_v2_access(
        client_id=CLIENT_ID, client_secret=CLIENT_SECRET, code=told["code"], redirect_uri=HOME
    )

    assert (given["token_type"], given["scope"], given["team"]["id"]) == ("bot", "chat:write", "T0GATE001")
    bot = sdk(slack, given["access_token"])
    assert (await bot.auth_test())["bot_id"] == "B0GATE001"
    await bot.chat_postMessage(channel="C0OPS0001", text="Hello")
    refused = await browser.get("/api/users.list", headers={"Authorization": f"Bearer {given['access_token']}"})
    assert (refused.json()["error"], refused.json()["needed"]) == ("missing_scope", "users:read")


async def test_a_refusal_is_told_too(slack: LocalSlack, browser: httpx.AsyncClient) -> None:
    assert await answered(browser, slack, "cancel") == {"error": "access_denied", "state": "my-state"}


async def test_the_page_shows_what_is_asked_for_and_runs_nothing(browser: httpx.AsyncClient) -> None:
    asked = {"client_id": CLIENT_ID, "scope": "chat:write,users:read", "redirect_uri": HOME, "state": '"><script>'}
    page = (await browser.get("/oauth/v2/authorize", params=asked)).text

    assert "<code>chat:write</code>" in page
    assert "Desk &lt;of us&gt; asks to be installed in Example Shop" in page
    assert "<script>" not in page


@pytest.mark.parametrize(
    ("wrong", "code"),
    [
        ({"client_id": "1.2"}, "invalid_client_id"),
        ({"redirect_uri": "https://evil.example.com/"}, "bad_redirect_uri"),
        ({"redirect_uri": f"{HOME}.evil.example.com/"}, "bad_redirect_uri"),
        ({"scope": "chat:write,admin"}, "invalid_scope"),
        ({"scope": ""}, "invalid_scope"),
    ],
)
async def test_what_the_manifest_does_not_have_is_not_installed(
    browser: httpx.AsyncClient, wrong: dict[str, str], code: str
) -> None:
    asked = {"client_id": CLIENT_ID, "scope": "chat:write", "redirect_uri": HOME, "answer": "allow", **wrong}

    for answer in (
        await browser.get("/oauth/v2/authorize", params=asked),
        await browser.post("/oauth/v2/authorize", data=asked),
    ):
        assert (answer.status_code, answer.text) == (400, code)


@pytest.mark.parametrize(
    ("wrong", "code"),
    [
        ({"client_id": "1.2"}, "invalid_client_id"),
        ({"client_secret": "guess"}, "bad_client_secret"),
        ({"code": "guess"}, "invalid_code"),
        ({"redirect_uri": f"{HOME}/other"}, "bad_redirect_uri"),
    ],
)
async def test_a_code_is_worth_nothing_with_anything_wrong(
    slack: LocalSlack, browser: httpx.AsyncClient, wrong: dict[str, str], code: str
) -> None:
    told = await answered(browser, slack, "allow")

    assert await exchanged(browser, **{"code": told["code"], **wrong}) == {"ok": False, "error": code}


async def test_a_code_is_good_once_and_for_ten_minutes(
    slack: LocalSlack, browser: httpx.AsyncClient, clock: StandingClock
) -> None:
    first, second = [(await answered(browser, slack, "allow"))["code"] for _ in range(2)]

    assert (await exchanged(browser, code=first))["ok"] is True
    assert (await exchanged(browser, code=first))["error"] == "code_already_used"
    clock.now += 601
    assert (await exchanged(browser, code=second))["error"] == "invalid_code"


async def test_a_revoked_token_is_over_and_others_are_not(slack: LocalSlack, browser: httpx.AsyncClient) -> None:
    tokens = []
    for _ in range(2):
        told = await answered(browser, slack, "allow")
        tokens.append((await exchanged(browser, code=told["code"]))["access_token"])

    async def call(method: str, token: str, **arguments: str) -> dict[str, Any]:
        headers = {"Authorization": f"Bearer {token}"}
        return dict((await browser.post(f"/api/{method}", data=arguments, headers=headers)).json())

    assert await call("auth.revoke", tokens[0], test="1") == {"ok": True, "revoked": False}
    assert (await call("auth.test", tokens[0]))["ok"] is True
    assert await call("auth.revoke", tokens[0]) == {"ok": True, "revoked": True}
    assert (await call("auth.test", tokens[0]))["error"] == "token_revoked"
    assert (await call("auth.test", tokens[1]))["ok"] is True


async def test_the_inspector_shows_an_install_from_the_redirect_to_the_end_without_secrets(
    slack: LocalSlack, browser: httpx.AsyncClient
) -> None:
    code = (await answered(browser, slack, "allow"))["code"]
    token = (await exchanged(browser, code=code))["access_token"]
    await exchanged(browser, code=code)
    ended = {"client_id": CLIENT_ID, "client_secret": CLIENT_SECRET, "token": token}
    await browser.post("/api/apps.uninstall", data=ended)
    await browser.post("/api/apps.uninstall", data=ended)

    traffic = slack.state.traffic
    assert [(one["direction"], one["what"], one["status"]) for one in traffic] == [
        ("slack_to_bot", "OAuth redirect", 302),
        ("bot_to_slack", "oauth.v2.access", "ok"),
        ("bot_to_slack", "oauth.v2.access", "code_already_used"),
        ("bot_to_slack", "apps.uninstall", "ok"),
        ("bot_to_slack", "apps.uninstall", "account_inactive"),
    ]
    assert token not in str(traffic)
    assert CLIENT_SECRET not in str(traffic)
