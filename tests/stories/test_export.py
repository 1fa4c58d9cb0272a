"""Exports: a file with all that was asked for and nothing else, to the person who asked."""

from __future__ import annotations

import asyncio
import csv
import io
import json
from dataclasses import replace
from typing import Any

import pytest

from bot.rules.pair_fields import KNOWN_TYPES
from bot.store.audit import Entry, Filters
from sandbox.demo import Sandbox
from sandbox.services.seed import RULES
from sandbox.slack.filestore import File
from tests.conftest import OPS, SUPPORT
from tests.harness.colleague import Colleague

ODD: dict[str, Any] = {
    "description": 'ä <b> & \u2028 "quoted" \'=x',
    "isFavourite": True,
    "version": 2,
    "extensionRules": [{"action": {"type": "redirect"}, "priority": 1}],
    "unheardOf": {"deep": [1, 2.5, None, {"x": []}]},
    "big": 12345678901234567890,
}


def records(file: File) -> list[dict[str, Any]]:
    """What is in an exported file, which must be whole."""
    assert file.content is not None
    found = json.loads(file.content)
    assert isinstance(found, list)
    return found


async def exports(workspace: Sandbox) -> list[Entry]:
    entries = await workspace.bot.gatehouse.store.audit.find(Filters())
    return [entry for entry in entries if entry.event == "exported"]


async def exported(workspace: Sandbox) -> Entry:
    """The one export on record, once Slack took the file: people may see it a moment before that."""
    async with asyncio.timeout(10):
        while not (found := await exports(workspace)):  # noqa: ASYNC110  the record tells nobody
            await asyncio.sleep(0.01)
    (entry,) = found
    return entry


def one_of_each(workspace: Sandbox) -> None:
    """A rule of every type with fields that nobody knows, as long-used installations have them."""
    for kind in KNOWN_TYPES:
        source = {"key": "Url", "operator": "Contains", "value": "example.com", "filters": [{"requestMethod": ["GET"]}]}
        pair = {"source": source, "destination": "https://a.example/", "from": "a", "to": "b", "id": "p1", "odd": [{}]}
        rule = {
            "id": f"{kind}_every1",
            "name": f"Every {kind}",
            "ruleType": kind,
            "status": "Inactive",
            "pairs": [pair],
        }
        workspace.services.rules.put({**rule, "groupId": "", "modificationDate": 1_736_060_959_798, **ODD})


@pytest.mark.parametrize("paging", ["off", "pages"])
async def test_an_export_is_the_services_rules_field_for_field(
    workspace: Sandbox, alice: Colleague, paging: str
) -> None:
    one_of_each(workspace)
    workspace.services.switch(paging=paging)
    await alice.types("/rules export")

    file, message = await alice.sees_file("rules_")
    note = await alice.sees(file.name)

    stored = {rule["id"]: {"objectType": "rule", **rule} for rule in workspace.services.rules.all()}
    assert len(stored) == len(RULES) + 10
    assert {rule["id"]: rule for rule in records(file)} == stored
    assert {rule["ruleType"] for rule in stored.values()} == set(KNOWN_TYPES)
    day = workspace.bot.gatehouse.now()
    assert file.name == f"rules_{day:%Y-%m-%d}.json"
    assert message.channel == alice.dm
    assert f"{len(stored)} rules" in alice.slack_text(message)
    assert note.visible_to == alice.id
    assert f"/{file.id}/" in str(note.blocks), "the note leads to the file"

    assert alice.cards == []
    assert await workspace.bot.gatehouse.files.read(file.id) == file.content


async def test_in_the_direct_message_the_file_is_the_whole_answer(workspace: Sandbox, alice: Colleague) -> None:
    workspace.slack.state.open_direct(alice.id)
    await alice.types("/rules export", channel=alice.dm)

    _, message = await alice.sees_file("rules_")
    await alice.says("/rules show Redirect_x1old", channel=alice.dm)

    assert message.channel == alice.dm
    assert len([one for one in alice.dms if one.files]) == 1
    assert len(alice.dms) == 2, "the file, and the rule that was shown since"


async def test_members_come_as_a_table_to_the_person_alone(workspace: Sandbox, bob: Colleague) -> None:
    workspace.services.members.put(
        "site_1", {"email": "+evil@example.com", "name": '=cmd|"/c calc"!A1', "allowedSegments": ["vip", "free"]}
    )
    await bob.types("/members export segment:vip no:premium")

    file, message = await bob.sees_file("members_blog_")
    await bob.sees(file.name)

    assert file.content is not None
    assert file.content.startswith(b"\xef\xbb\xbf")
    rows = list(csv.DictReader(io.StringIO(file.content.decode("utf-8-sig"), newline="")))
    wanted = {
        one["email"]
        for one in workspace.services.members.all("site_1")
        if "vip" in one["allowedSegments"] and "premium" not in one["allowedSegments"]
    }
    assert {row["email"].lstrip("'") for row in rows} == wanted
    evil = next(row for row in rows if "evil" in row["email"])
    assert (evil["name"], evil["email"]) == ('\'=cmd|"/c calc"!A1', "'+evil@example.com")
    assert (evil["segments"], evil["site"]) == ("vip,free", "blog")
    assert message.channel == bob.dm
    entry = await exported(workspace)
    assert (entry.target, entry.detail["count"]) == ("members/blog", len(wanted))
    assert "@" not in str(entry.dump())
    everybody = [one for one in workspace.slack.state.messages if one.channel == bob.channel and not one.visible_to]
    assert everybody == []


async def test_here_means_nothing_to_an_export_of_members(workspace: Sandbox, bob: Colleague) -> None:
    reply = await bob.is_refused("/members export @example.com site:docs here")

    assert reply.visible_to == bob.id
    assert await exports(workspace) == []


async def test_no_export_into_a_channel_that_another_company_sees(workspace: Sandbox, alice: Colleague) -> None:
    await alice.is_refused("/rules export here", channel="C0PARTNER")

    assert workspace.slack.state.files.all == {}


@pytest.mark.parametrize("fault", ["500", "cut_before"])
async def test_a_file_that_slack_does_not_get_is_told(workspace: Sandbox, alice: Colleague, fault: str) -> None:
    workspace.slack.faults.add(fault, method="files.upload")

    reply = await alice.says("/rules export")

    shown = alice.slack_text(reply)
    assert "Slack doesn’t answer" in shown
    assert "went wrong in Gatehouse" not in shown
    assert reply.visible_to == alice.id


@pytest.mark.parametrize("text", ["/rules export here", "/members export"])
@pytest.mark.parametrize("method", ["files.getUploadURLExternal", "files.completeUploadExternal"])
async def test_a_file_that_slack_refuses_is_not_recorded_as_exported(
    workspace: Sandbox, alice: Colleague, text: str, method: str
) -> None:
    workspace.slack.faults.add("file_uploads_disabled", method=method)

    await alice.says(text, channel=SUPPORT if text.startswith("/members") else OPS)

    assert await exports(workspace) == []
    found = await workspace.bot.gatehouse.store.audit.find(Filters())
    assert [(one.event, one.actor) for one in found] == [("exporting", alice.id)]


async def test_a_lost_answer_is_looked_up_and_the_file_sent_once(workspace: Sandbox, alice: Colleague) -> None:
    workspace.slack.faults.add("cut_after", method="files.completeUploadExternal")
    await alice.types("/rules export")

    file, _ = await alice.sees_file()
    await alice.sees(file.name)

    assert len([one for one in workspace.slack.state.messages if one.files]) == 1


async def test_a_file_that_slack_does_not_show_is_not_said_to_be_sent(
    workspace: Sandbox, alice: Colleague, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("handlers.slack.files.LOOKS", (0.0, 0.1))
    workspace.slack.state.files.loses_shares = True

    reply = await alice.says("/rules export")

    assert "has not shown it yet" in alice.slack_text(reply)


async def test_where_gatehouse_is_not_there_is_no_file(workspace: Sandbox, alice: Colleague) -> None:
    channel = workspace.slack.state.channels[alice.channel]
    workspace.slack.state.channels[alice.channel] = replace(channel, bot_is_member=False)

    reply = await alice.is_refused("/rules export here")

    assert "/invite" in alice.slack_text(reply)
    assert [one for one in workspace.slack.state.messages if one.files] == []
