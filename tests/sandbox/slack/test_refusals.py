"""What Slack refuses, and in which words: what is asked for wrongly, and what an app has no scope for."""

from __future__ import annotations

from typing import Any

import pytest

from sandbox.gatehouse import ALICE, BOB, BOT, DAN, ERIN, FRANK
from sandbox.slack.methods import SCOPES
from tests.sandbox.slack.conftest import NOW, App, app_of
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
    ("conversations.open", {"channel": OPS}, "method_not_supported_for_channel_type"),
    ("chat.postMessage", {"channel": ERIN.id, "text": "hi"}, "channel_not_found"),
    ("users.list", {"limit": 2000}, "invalid_limit"),
    ("users.list", {"cursor": "x"}, "invalid_cursor"),
    ("users.lookupByEmail", {}, "invalid_arguments"),
    ("users.lookupByEmail", {"email": ERIN.email}, "users_not_found"),
    ("users.lookupByEmail", {"email": FRANK.email}, "users_not_found"),
    ("users.lookupByEmail", {"email": BOT.email}, "users_not_found"),
    ("conversations.list", {"types": "secret"}, "invalid_types"),
    ("conversations.list", {"limit": 1001}, "invalid_limit"),
    ("conversations.history", {"channel": GENERAL}, "not_in_channel"),
    ("conversations.history", {"channel": "C0NOWHERE"}, "channel_not_found"),
    ("conversations.history", {"channel": OPS, "oldest": "yesterday"}, "invalid_ts_oldest"),
    ("conversations.history", {"channel": OPS, "latest": "today"}, "invalid_ts_latest"),
    ("conversations.history", {}, "invalid_arguments"),
    ("conversations.replies", {"channel": OPS, "ts": "1.000001"}, "thread_not_found"),
    ("conversations.replies", {"channel": OPS}, "invalid_arguments"),
    ("reactions.add", {"name": "eyes"}, "no_item_specified"),
    ("reactions.add", {"channel": OPS, "timestamp": "1.000001"}, "invalid_arguments"),
    ("reactions.add", {"channel": OPS, "timestamp": "1.000001", "name": "No Emoji"}, "invalid_name"),
    ("reactions.add", {"channel": OPS, "timestamp": "soon", "name": "eyes"}, "bad_timestamp"),
    ("reactions.add", {"channel": OPS, "timestamp": "1.000001", "name": "eyes"}, "message_not_found"),
    ("reactions.add", {"channel": GENERAL, "timestamp": "1.000001", "name": "eyes"}, "not_in_channel"),
    ("bots.info", {"bot": "B0OTHER"}, "bot_not_found"),
    ("team.info", {"team": "T0OTHER01"}, "team_not_found"),
    ("api.test", {"error": "my_error"}, "my_error"),
    ("chat.postMessages", {}, "unknown_method"),
    ("conversations.create", {"name": ""}, "invalid_name_required"),
    ("conversations.create", {"name": "x" * 81}, "invalid_name_maxlength"),
    ("conversations.create", {"name": "Incident 7"}, "invalid_name_specials"),
    ("conversations.create", {"name": "-_-"}, "invalid_name_punctuation"),
    ("conversations.create", {"name": "ops-traffic"}, "name_taken"),
    ("conversations.join", {"channel": WAR_ROOM}, "method_not_supported_for_channel_type"),
    ("conversations.join", {"channel": "C0NOWHERE"}, "channel_not_found"),
    ("conversations.invite", {"channel": OPS}, "no_user"),
    ("conversations.invite", {"channel": OPS, "users": BOT.id}, "cant_invite_self"),
    ("conversations.invite", {"channel": OPS, "users": f"{DAN.id},U0NOBODY"}, "user_not_found"),
    ("conversations.invite", {"channel": OPS, "users": ALICE.id}, "already_in_channel"),
    ("conversations.invite", {"channel": OPS, "users": FRANK.id}, "cant_invite"),
    ("conversations.invite", {"channel": GENERAL, "users": FRANK.id}, "not_in_channel"),
    ("conversations.invite", {"channel": "D0ALICE01", "users": BOB.id}, "method_not_supported_for_channel_type"),
    ("conversations.leave", {"channel": GENERAL}, "cant_leave_general"),
    ("conversations.rename", {"channel": GENERAL, "name": "all"}, "not_in_channel"),
    ("users.profile.get", {"user": "U0NOBODY"}, "user_not_found"),
    ("users.conversations", {"user": "U0NOBODY"}, "user_not_found"),
    ("chat.scheduleMessage", {"channel": OPS, "text": "x", "post_at": NOW}, "time_in_past"),
    ("chat.scheduleMessage", {"channel": OPS, "text": "x", "post_at": NOW + 121 * 86_400}, "time_too_far"),
    ("chat.scheduleMessage", {"channel": OPS, "text": "x", "post_at": "soon"}, "invalid_time"),
    ("chat.scheduleMessage", {"channel": OPS, "post_at": NOW + 60}, "no_text"),
    ("chat.deleteScheduledMessage", {"channel": OPS, "scheduled_message_id": "Q1"}, "invalid_scheduled_message_id"),
    ("chat.scheduledMessages.list", {"channel": "C0NOWHERE"}, "invalid_channel"),
    ("reactions.get", {"channel": OPS}, "no_item_specified"),
    ("files.getUploadURLExternal", {"filename": "a.json"}, "invalid_arguments"),
    ("files.getUploadURLExternal", {"length": "3"}, "invalid_arguments"),
    ("files.getUploadURLExternal", {"filename": "a.json", "length": "three"}, "invalid_arguments"),
    ("files.getUploadURLExternal", {"filename": "a.json", "length": "0"}, "missing_argument"),
    ("files.getUploadURLExternal", {"filename": "a.json", "length": str(1024**3 + 1)}, "file_upload_size_restricted"),
    ("pins.add", {"channel": OPS}, "no_item_specified"),
    ("pins.add", {"channel": OPS, "timestamp": "now"}, "bad_timestamp"),
    ("pins.add", {"channel": OPS, "timestamp": "1.000000"}, "message_not_found"),
    ("pins.add", {"channel": "C0NOWHERE", "timestamp": "1.000000"}, "channel_not_found"),
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
        ("users.profile.get", {"user": ALICE.id}, ("users:read",), "users.profile:read"),
        ("usergroups.list", {}, ("users:read",), "usergroups:read"),
        ("usergroups.users.list", {"usergroup": "S0ONCALL"}, ("users:read",), "usergroups:read"),
        ("chat.scheduleMessage", {"channel": OPS, "text": "x", "post_at": 1}, ("channels:manage",), "chat:write"),
        ("conversations.open", {"users": ALICE.id}, ("im:read",), "im:write"),
        ("conversations.join", {"channel": GENERAL}, ("channels:manage",), "channels:join"),
        ("conversations.info", {"channel": OPS}, (), "channels:read,groups:read,mpim:read,im:read"),
        ("conversations.info", {"channel": OPS}, ("im:read",), "channels:read"),
        ("conversations.info", {"channel": WAR_ROOM}, ("channels:read",), "groups:read"),
        ("conversations.members", {"channel": "D0ALICE01"}, ("channels:read",), "im:read"),
        ("conversations.list", {"types": "public_channel,im"}, ("channels:read",), "im:read"),
        ("conversations.history", {"channel": WAR_ROOM}, ("channels:history",), "groups:history"),
        ("conversations.replies", {"channel": OPS, "ts": "1.0"}, ("im:history",), "channels:history"),
        ("conversations.create", {"name": "x", "is_private": "true"}, ("channels:manage",), "groups:write"),
        ("conversations.invite", {"channel": WAR_ROOM, "users": BOB.id}, ("channels:manage",), "groups:write"),
    ],
)
async def test_the_scope_that_is_missing_is_named(
    method: str, arguments: dict[str, Any], scopes: tuple[str, ...], needed: str
) -> None:
    async with app_of(scoped(scopes)) as app:
        answer = await app.form(method, **arguments)

    assert answer == {"ok": False, "error": "missing_scope", "needed": needed, "provided": ",".join(scopes)}
