"""What an app may look up about people, conversations and groups, in Slack's shapes."""

from __future__ import annotations

from dataclasses import replace

from sandbox.gatehouse import ALICE, BOB, BOT, CARA, DAN, ERIN, FRANK
from sandbox.slack.running import LocalSlack
from tests.sandbox.slack.conftest import App, app_of
from tests.sandbox.slack.desk import scoped

OPS, SUPPORT, GENERAL, PARTNERS, WAR_ROOM = "C0OPS0001", "C0SUPPORT", "C0GENERAL", "C0PARTNER", "C0WARROOM"


async def test_a_colleague_is_told_whole(app: App) -> None:
    answer = await app.get("users.info", user=ALICE.id)

    user = answer["user"]
    assert user["profile"]["real_name"] == "Alice Ng"
    assert (user["team_id"], user["tz"], user["tz_offset"]) == ("T0GATE001", "Europe/Berlin", 3600)
    assert user["tz_label"] == "Central European Time"
    flags = ("deleted", "is_bot", "is_restricted", "is_ultra_restricted", "is_stranger")
    assert {name: user[name] for name in flags} == dict.fromkeys(flags, False)
    assert user["profile"]["email"] == "alice@example.com"


async def test_guests_and_the_bot_are_told_apart(app: App) -> None:
    app.slack.state.users[CARA.id] = replace(CARA, is_ultra_guest=True)

    found = {one.id: (await app.get("users.info", user=one.id))["user"] for one in (DAN, CARA, BOT)}

    assert (found[DAN.id]["is_restricted"], found[DAN.id]["is_ultra_restricted"]) == (True, False)
    assert (found[CARA.id]["is_restricted"], found[CARA.id]["is_ultra_restricted"]) == (True, True)
    assert found[BOT.id]["is_bot"] is True


async def test_of_a_deactivated_account_slack_tells_less(app: App) -> None:
    user = (await app.get("users.info", user=ERIN.id))["user"]

    assert user["deleted"] is True
    assert user["profile"]["display_name"] == "erin"
    assert not {"is_restricted", "is_stranger", "tz", "real_name"} & set(user)


async def test_a_person_of_another_company_is_known_by_the_team(app: App, slack: LocalSlack) -> None:
    met = (await app.get("users.info", user=FRANK.id))["user"]
    slack.state.channels[PARTNERS] = replace(slack.state.channels[PARTNERS], bot_is_member=False)
    unmet = (await app.get("users.info", user=FRANK.id))["user"]
    slack.state.channels[PARTNERS] = replace(slack.state.channels[PARTNERS], members=(ALICE.id,))
    gone = await app.get("users.info", user=FRANK.id)

    assert (met["team_id"], met["is_stranger"]) == ("T0OTHER01", False)
    assert (unmet["team_id"], unmet["is_stranger"]) == ("T0OTHER01", True)
    assert gone == {"ok": False, "error": "user_not_visible"}


async def test_what_changes_is_seen_by_the_next_call(app: App, slack: LocalSlack) -> None:
    slack.state.users[BOB.id] = replace(BOB, is_deleted=True)
    slack.state.groups["S0LEADS"] = replace(slack.state.groups["S0LEADS"], users=(BOB.id,))

    assert (await app.get("users.info", user=BOB.id))["user"]["deleted"] is True
    assert BOB.id not in (await app.get("conversations.members", channel=OPS))["members"]
    assert (await app.get("usergroups.users.list", usergroup="S0LEADS"))["users"] == [BOB.id]


async def test_a_channel_and_who_is_in_it(app: App) -> None:
    plain = (await app.get("conversations.info", channel=OPS))["channel"]
    members = await app.get("conversations.members", channel=OPS)

    assert plain["is_member"] is True
    assert not any(
        plain[name] for name in ("is_archived", "is_private", "is_im", "is_mpim", "is_ext_shared", "is_shared")
    )
    assert members["members"] == [ALICE.id, BOB.id, CARA.id, BOT.id]
    assert members["response_metadata"] == {"next_cursor": ""}


async def test_channels_of_every_kind(able: App) -> None:
    shared = (await able.get("conversations.info", channel=PARTNERS))["channel"]
    private = (await able.get("conversations.info", channel=WAR_ROOM))["channel"]
    direct = (await able.get("conversations.info", channel="D0ALICE01"))["channel"]
    elsewhere = (await able.get("conversations.info", channel=GENERAL))["channel"]

    assert (shared["is_ext_shared"], shared["is_shared"], shared["is_org_shared"]) == (True, True, False)
    assert (private["is_private"], private["is_member"]) == (True, True)
    assert (direct["is_im"], direct["user"]) == (True, ALICE.id)
    assert "name" not in direct
    assert elsewhere["is_member"] is False


async def test_a_private_channel_without_the_bot_does_not_exist(app: App, slack: LocalSlack) -> None:
    slack.state.channels[WAR_ROOM] = replace(slack.state.channels[WAR_ROOM], bot_is_member=False)

    for method in ("conversations.info", "conversations.members"):
        assert (await app.get(method, channel=WAR_ROOM))["error"] == "channel_not_found"
    assert (await app.json("chat.postMessage", channel=WAR_ROOM, text="hi"))["error"] == "channel_not_found"


async def test_members_come_in_pages(app: App) -> None:
    first = await app.get("conversations.members", channel=PARTNERS, limit=4)
    cursor = first["response_metadata"]["next_cursor"]
    second = await app.form("conversations.members", channel=PARTNERS, limit=4, cursor=cursor)

    assert [*first["members"], *second["members"]] == [ALICE.id, BOB.id, CARA.id, DAN.id, FRANK.id, BOT.id]
    assert second["response_metadata"]["next_cursor"] == ""


async def test_user_groups_and_their_people(app: App, slack: LocalSlack) -> None:
    slack.state.groups["S0LEADS"] = replace(slack.state.groups["S0LEADS"], is_disabled=True)

    assert (await app.form("usergroups.users.list", usergroup="S0ONCALL"))["users"] == [ALICE.id, CARA.id]
    assert (await app.get("usergroups.users.list", usergroup="S0LEADS"))["error"] == "no_such_subteam"


async def test_a_direct_message_is_opened(app: App, slack: LocalSlack) -> None:
    there = await app.json("conversations.open", users=ALICE.id)
    del slack.state.channels["D0BOB0001"]
    new = await app.form("conversations.open", users=BOB.id)
    posted = await app.json("chat.postMessage", channel=BOB.id, text="hello")

    assert (there["channel"], there["already_open"]) == ({"id": "D0ALICE01"}, True)
    assert "already_open" not in new
    assert posted["channel"] == new["channel"]["id"]


async def test_a_message_has_an_address(app: App) -> None:
    ts = await app.post()

    answer = await app.get("chat.getPermalink", channel=OPS, message_ts=ts)

    link = f"https://example-shop.slack.com/archives/{OPS}/p1800000000000000"
    assert answer == {"ok": True, "channel": OPS, "permalink": link}


async def test_look_ups_take_no_json(app: App) -> None:
    answer = await app.json("users.info", user=ALICE.id)

    assert answer["error"] == "invalid_arguments"
    assert answer["response_metadata"]["messages"] == ["[ERROR] missing required field: user"]


async def test_the_address_of_a_person_needs_its_own_scope() -> None:
    async with app_of(scoped(["users:read"])) as app:
        answer = await app.get("users.info", user=ALICE.id)

    assert "email" not in answer["user"]["profile"]
