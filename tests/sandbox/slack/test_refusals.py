"""What Slack refuses, and in which words: what is asked for wrongly, and what an app has no scope for."""

from __future__ import annotations

from typing import Any

import pytest

from sandbox.gatehouse import ALICE, BOB, BOT, ERIN, FRANK
from sandbox.slack.methods import SCOPES
from tests.sandbox.slack.conftest import App, app_of
from tests.sandbox.slack.desk import OPS, scoped

GENERAL, WAR_ROOM = "C0GENERAL", "C0WARROOM"
REFUSED = [
    ("users.info", {"user": "U0NOBODY1"}, "user_not_found"),
    ("users.info", {}, "invalid_arguments"),
    ("conversations.info", {"channel": "C0NOWHERE"}, "channel_not_found"),
    ("conversations.info", {"channel": ALICE.id}, "channel_not_found"),
    ("conversations.info", {}, "invalid_arguments"),
    ("conversations.members", {"channel": "C0NOWHERE"}, "channel_not_found"),
    ("conversations.members", {"channel": OPS, "limit": 1001}, "invalid_limit"),
    ("conversations.members", {"channel": OPS, "limit": "many"}, "invalid_limit"),
    ("conversations.members", {"channel": OPS, "cursor": "next"}, "invalid_cursor"),
    ("usergroups.users.list", {"usergroup": "S0NOBODY"}, "no_such_subteam"),
    ("usergroups.users.list", {"usergroup": ""}, "invalid_arguments"),
    ("chat.getPermalink", {"channel": OPS, "message_ts": "1.000001"}, "message_not_found"),
    ("chat.getPermalink", {"channel": "C0NOWHERE", "message_ts": "1.000001"}, "channel_not_found"),
    ("chat.getPermalink", {"channel": OPS}, "invalid_arguments"),
    ("conversations.open", {}, "users_list_not_supplied"),
    ("conversations.open", {"users": "U0NOBODY1"}, "user_not_found"),
    ("conversations.open", {"users": ERIN.id}, "user_disabled"),
    ("conversations.open", {"users": FRANK.id}, "user_not_visible"),
    ("conversations.open", {"users": BOT.id}, "cannot_dm_bot"),
    ("conversations.open", {"users": f"{ALICE.id},{BOB.id}"}, "missing_scope"),
    ("chat.postMessage", {"channel": ERIN.id, "text": "hi"}, "channel_not_found"),
    ("chat.postMessages", {}, "unknown_method"),
    ("files.getUploadURLExternal", {"filename": "a.json"}, "invalid_arguments"),
    ("files.getUploadURLExternal", {"length": "3"}, "invalid_arguments"),
    ("files.getUploadURLExternal", {"filename": "a.json", "length": "three"}, "invalid_arguments"),
    ("files.getUploadURLExternal", {"filename": "a.json", "length": "0"}, "missing_argument"),
    ("files.getUploadURLExternal", {"filename": "a.json", "length": str(1024**3 + 1)}, "file_upload_size_restricted"),
]


@pytest.mark.first(30)
@pytest.mark.parametrize(("method", "arguments", "code"), REFUSED)
async def test_slack_says_no(able: App, method: str, arguments: dict[str, Any], code: str) -> None:
    answer = await able.form(method, **arguments)

    assert (answer["ok"], answer["error"]) == (False, code)


@pytest.mark.first(8)
@pytest.mark.parametrize("method", sorted(SCOPES))
async def test_without_its_scope_no_method_answers(method: str) -> None:
    """Whatever the arguments: the token is looked at first, but for what depends on the kind of channel."""
    async with app_of(scoped(["commands"])) as app:
        answer = await app.form(method, channel=OPS, ts="1.000001")

    assert (answer["error"], answer["provided"]) == ("missing_scope", "commands")
    assert set(answer["needed"].split(",")) <= set(SCOPES[method])


@pytest.mark.parametrize(
    ("method", "arguments", "scopes", "needed"),
    [
        ("users.info", {"user": ALICE.id}, (), "users:read"),
        ("usergroups.users.list", {"usergroup": "S0ONCALL"}, ("users:read",), "usergroups:read"),
        ("conversations.open", {"users": ALICE.id}, ("im:read",), "im:write"),
        ("conversations.info", {"channel": OPS}, (), "channels:read,groups:read,mpim:read,im:read"),
        ("conversations.info", {"channel": OPS}, ("im:read",), "channels:read"),
        ("conversations.info", {"channel": WAR_ROOM}, ("channels:read",), "groups:read"),
        ("conversations.members", {"channel": "D0ALICE01"}, ("channels:read",), "im:read"),
    ],
)
async def test_the_scope_that_is_missing_is_named(
    method: str, arguments: dict[str, Any], scopes: tuple[str, ...], needed: str
) -> None:
    async with app_of(scoped(scopes)) as app:
        answer = await app.form(method, **arguments)

    assert answer == {"ok": False, "error": "missing_scope", "needed": needed, "provided": ",".join(scopes)}
