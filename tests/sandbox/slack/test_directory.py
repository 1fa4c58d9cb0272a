"""What an app may look up about people, conversations and groups, in Slack's shapes."""

from __future__ import annotations

from dataclasses import replace

from sandbox.gatehouse import ALICE, BOB, BOT, CARA, DAN, ERIN, FRANK
from sandbox.slack.running import LocalSlack
from tests.sandbox.slack.conftest import App

OPS, SUPPORT, GENERAL, PARTNERS, WAR_ROOM = "C0OPS0001", "C0SUPPORT", "C0GENERAL", "C0PARTNER", "C0WARROOM"


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


async def test_a_message_has_an_address(app: App) -> None:
    ts = await app.post()

    answer = await app.get("chat.getPermalink", channel=OPS, message_ts=ts)

    link = f"https://example-shop.slack.com/archives/{OPS}/p1800000000000000"
    assert answer == {"ok": True, "channel": OPS, "permalink": link}
