"""The digest: who did what and why, what waits for whom, and what comes; as an answer, as a file, and every day in a channel."""

from __future__ import annotations

import asyncio
import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial

import pytest

from bot.changes.model.change import Change
from bot.changes.model.states import State
from bot.store.audit import Entry, Filters
from bot.store.channel_settings import DigestTimes
from bot.store.outbox import Purpose
from handlers.gatehouse import digest_view
from handlers.gatehouse.digest import LATEST
from sandbox.demo import Sandbox
from sandbox.slack.message import Message
from tests.conftest import OPS, Clock, until
from tests.drills.fleet import until as eventually
from tests.harness.colleague import Colleague

OLD, NAME = "Redirect_x1old", "Old shop to new shop"
ANNA = "anna.berg@example.com"
MOMENT = timedelta(seconds=2)


async def test_who_comes_on_call_reads_what_was_done_and_why_what_waits_and_what_comes(
    workspace: Sandbox, alice: Colleague
) -> None:
    assert "\n" not in alice.slack_text(await alice.says("/gatehouse digest 12h")).partition("[")[0].strip()
    bob = Colleague(workspace, "U0BOB0001", OPS)
    await alice.types(f"/rules off {OLD} for 2h because {ANNA} sees the old page")
    await alice.sees_change()
    await bob.types("/rules delete Redirect_chk01 because of the audit")
    await bob.sees_change(state=State.PROPOSED)
    await bob.types("/rules off Redirect_chk01 in 30h")
    await bob.sees_change(state=State.PLANNED)
    await bob.types("/rules off Redirect_chk01 in 3h because it is sold out")
    await bob.sees_change(state=State.PLANNED, where=lambda change: "sold out" in change.request.reason)

    text = alice.slack_text(await alice.says("/gatehouse digest 12h"))
    done, rest = text.split("1 pending change")
    waiting, coming = rest.split("In the next 24 hours")
    assert [NAME in done, ANNA in done] == [True, True]
    assert ["Delete" in waiting, "of the audit" in waiting, "U0ALICE01" in waiting] == [True] * 3
    assert [NAME in coming, "sold out" in coming, coming.count("starts")] == [True, True, 1]


def is_called(name: str, change: Change) -> bool:
    return (change.edit.after or {}).get("name") == name


async def test_what_is_wrong_with_rules_that_changed_is_in_it(workspace: Sandbox, alice: Colleague) -> None:
    make = '/rules make redirect https://shop.example.com/{} to https://shop.example.com/{} named "{}" because we try'
    for name, (source, to) in {"There": ("a1", "b1"), "Back": ("b1", "a1")}.items():
        await alice.types(make.format(source, to, name))
        await alice.sees_change(where=partial(is_called, name))

    text = alice.slack_text(await alice.says("/gatehouse digest 12h"))
    assert "finding about rules that changed" in text
    assert "“There”" in text.partition("that changed")[2]

    workspace.services.rules.stage.faults.add("500", times=1_000)
    assert "can’t be read right now" in alice.slack_text(await alice.says("/gatehouse digest 13h"))


async def test_a_file_is_for_who_asked_and_can_be_passed_on(workspace: Sandbox, alice: Colleague) -> None:
    await alice.types(f"/rules off {OLD} because {ANNA} sees <b> *the* old page")
    await alice.sees_change()

    await alice.says("/gatehouse digest 12h as file")
    file = next(file for message in alice.dms for file in message.files)
    assert file.content is not None
    text = file.content.decode()
    assert re.match(r"# Since \d{4}-\d\d-\d\d \d\d:\d\d UTC\n", text)
    assert f"- **Switch off “{NAME}”**" in text
    assert "\n  alice: " in text
    assert "<b>" not in text
    assert [ANNA in text, "***@example.com" in text] == [False, True]
    assert "U0ALICE01" not in text
    kinds = [each.target for each in await alice.store.audit.find(Filters()) if each.event == "exported"]
    assert kinds == ["audit"]


async def test_an_export_is_counted_once_and_one_that_slack_did_not_confirm_apart(
    workspace: Sandbox, alice: Colleague
) -> None:
    assert "was sent to you" in (await alice.says("/rules export")).text
    assert "*1* exported\n" in f"{await digest_once_recorded(alice)}\n"

    workspace.slack.faults.add("file_uploads_disabled", method="files.completeUploadExternal")
    await alice.says("/rules export")
    assert "*1* exported · *1* not confirmed as exported" in await digest_once_recorded(alice)


async def digest_once_recorded(alice: Colleague) -> str:
    """The digest after an export was recorded, which is a moment after the file is seen."""

    async def is_recorded() -> bool:
        return any(each.event == "exported" for each in await alice.store.audit.find(Filters()))

    await eventually(is_recorded, "the export is recorded")
    message = await alice.says("/gatehouse digest 12h")
    return str(message.blocks[0]["text"]["text"])


async def times_of(alice: Colleague) -> DigestTimes:
    times = DigestTimes.load(await alice.store.channel_settings.get(OPS))
    assert times is not None
    return times


async def goes_to(clock: Clock, moment: datetime) -> None:
    clock.ahead += moment + MOMENT - clock()


def digests(workspace: Sandbox) -> list[Message]:
    return [
        each for each in workspace.slack.state.messages if each.channel == OPS and ":newspaper:" in str(each.blocks)
    ]


async def is_done(workspace: Sandbox, clock: Clock) -> None:
    """Until no digest is due."""
    store = workspace.bot.gatehouse.store

    async def waits() -> bool:
        due = await store.outbox.next_due()
        return (due is None or due > clock()) and not (await store.outbox.backlogs())["message"][0]

    while not await waits():  # noqa: ASYNC110  no event tells of it
        await asyncio.sleep(0.02)


async def test_a_channel_gets_its_digest_every_day_once(workspace: Sandbox, alice: Colleague, clock: Clock) -> None:
    answer = alice.slack_text(await alice.says("/gatehouse digest weekdays at 9:00"))
    times = await times_of(alice)
    assert times.zone in answer
    assert f"weekdays at 9:00 ({times.zone})" in alice.slack_text(await alice.says("/gatehouse settings"))
    await alice.types(f"/rules off {OLD} because {ANNA} sees the old page")
    await alice.sees_change()

    first = times.next_after(clock())
    assert await alice.store.outbox.waiting_change_ids(Purpose.DIGEST) == [OPS]
    await goes_to(clock, first)
    await until(lambda: len(digests(workspace)) == 1)
    assert [NAME in str(digests(workspace)[0].blocks), ANNA in str(digests(workspace)[0].blocks)] == [True, False]

    second = times.next_after(clock())
    await goes_to(clock, second)
    await until(lambda: len(digests(workspace)) == 2)
    assert NAME not in str(digests(workspace)[1].blocks), "it was told"

    await alice.says("/gatehouse digest off")
    assert await alice.store.outbox.waiting_change_ids(Purpose.DIGEST) == []
    assert "off" in alice.slack_text(await alice.says("/gatehouse settings"))


@pytest.mark.parametrize("late", [timedelta(hours=3), LATEST + timedelta(hours=1)], ids=["late", "too late"])
async def test_after_a_downtime_it_comes_once_or_is_told_the_next_day(
    workspace: Sandbox, alice: Colleague, clock: Clock, late: timedelta
) -> None:
    await alice.says("/gatehouse digest daily at 9:00")
    times = await times_of(alice)
    await alice.types(f"/rules off {OLD} because of the sale")
    await alice.sees_change()
    first = times.next_after(clock())
    await goes_to(clock, first + late)
    if late < LATEST:
        await until(lambda: len(digests(workspace)) == 1)
        assert "3 h late" in str(digests(workspace)[0].blocks)
        return
    await is_done(workspace, clock)
    assert digests(workspace) == []
    await goes_to(clock, times.next_after(clock()))
    await until(lambda: len(digests(workspace)) == 1)
    assert NAME in str(digests(workspace)[0].blocks)


@pytest.mark.parametrize(
    ("zone", "before", "clock"),
    [
        ("Europe/Berlin", "2026-03-28T12:00", ["2026-03-29T07:00", "2026-03-30T07:00"]),
        ("Europe/Berlin", "2026-10-24T07:30", ["2026-10-25T08:00", "2026-10-26T08:00"]),
        ("America/New_York", "2026-10-30T20:00", ["2026-10-31T13:00", "2026-11-01T14:00"]),
        ("Pacific/Auckland", "2026-11-26T19:00", ["2026-11-26T20:00", "2026-11-27T20:00"]),
    ],
)
def test_it_follows_the_clocks_of_who_set_it(zone: str, before: str, clock: list[str]) -> None:
    times = DigestTimes("daily", 9, 0, zone, "U1")
    moment = datetime.fromisoformat(before).replace(tzinfo=UTC)
    found = []
    for _ in clock:
        assert times.last_until(moment) <= moment < times.next_after(moment)
        moment = times.next_after(moment)
        assert times.last_until(moment) == moment
        found.append(f"{moment:%Y-%m-%dT%H:%M}")
    assert found == clock


def test_weekdays_are_from_monday_to_friday() -> None:
    times = DigestTimes("weekdays", 2, 30, "Europe/Berlin", "U1")
    friday = datetime(2026, 3, 27, 12, tzinfo=UTC)
    monday = times.next_after(friday)
    assert f"{monday:%a %H:%M}" == "Mon 00:30"
    assert f"{times.last_until(monday - timedelta(minutes=1)):%a %H:%M}" == "Fri 01:30"


async def test_a_digest_that_its_setter_may_not_read_ends_with_a_word(
    workspace: Sandbox, alice: Colleague, clock: Clock
) -> None:
    await alice.says("/gatehouse digest daily at 9:00")
    users = workspace.slack.state.users
    users[alice.id] = replace(users[alice.id], is_deleted=True)

    await goes_to(clock, (await times_of(alice)).next_after(clock()))
    await until(lambda: any("digest is off" in str(each.blocks) for each in workspace.slack.state.messages))
    await is_done(workspace, clock)
    assert digests(workspace) == []
    assert DigestTimes.load(await alice.store.channel_settings.get(OPS)) is None

    bob = Colleague(workspace, "U0BOB0001", OPS)
    await bob.says("/gatehouse digest daily at 9:00")
    assert (await times_of(bob)).by == bob.id


async def test_no_other_company_reads_a_digest(workspace: Sandbox, alice: Colleague, clock: Clock) -> None:
    await alice.says("/gatehouse digest daily at 9:00")
    before = len(workspace.slack.state.messages)
    channels = workspace.slack.state.channels
    channels[OPS] = replace(channels[OPS], is_ext_shared=True)

    await goes_to(clock, (await times_of(alice)).next_after(clock()))
    await until(lambda: any("another company" in str(each.blocks) for each in alice.dms))
    await is_done(workspace, clock)
    assert [each.channel for each in workspace.slack.state.messages[before:] if each.channel == OPS] == []
    assert DigestTimes.load(await alice.store.channel_settings.get(OPS)) is None


@pytest.mark.policy('[roles.readers]\nusers = ["U0ALICE01"]\nmay = ["read"]')
async def test_who_may_not_change_the_settings_sets_no_digest(alice: Colleague) -> None:
    await alice.is_refused("/gatehouse digest daily at 9:00")
    assert await alice.store.outbox.waiting_change_ids(Purpose.DIGEST) == []


@pytest.mark.parametrize("text", ["daily", "daily at 9", "daily at 9:00 UTC", "daily at noon tomorrow", "off later"])
async def test_what_is_no_time_of_day_sets_nothing(alice: Colleague, text: str) -> None:
    await alice.is_refused(f"/gatehouse digest {text}")
    assert await alice.store.outbox.waiting_change_ids(Purpose.DIGEST) == []


@pytest.mark.policy('[[guards]]\noperation = "*"\nguard = "none"')
@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("/gatehouse freeze shop.example.com for 2h because cutover", "frozen"),
        ("/gatehouse freeze shop.example.com in 20h for 1h because cutover", "Frozen"),
        ("/rules lock Redirect_x1old for 2h because incident", "locked"),
        ("/rules off Redirect_x1old in 2d", "planned"),
        ("/rules off Redirect_x1old Redirect_chk01 in 2d", "planned"),
        ("/rules off Redirect_x1old for 2h", "done"),
        ("/gatehouse settings", ""),
    ],
)
async def test_what_was_done_is_told_whatever_it_is(alice: Colleague, text: str, told: str) -> None:
    await alice.says(text)
    digest = alice.slack_text(await alice.says("/gatehouse digest"))
    assert ("nothing happened" in digest) == (not told)
    assert told in digest


def test_what_a_digest_does_not_know_is_told() -> None:
    known = [
        Entry(1, datetime.now(UTC), event, "", "rules/x", "U1", "C1", "", {}, "") for event in ("brand_new", "begun")
    ]
    text = digest_view.digest_texts(digest_view.Digest(entries=known), since=datetime.now(UTC), public=False)[0]
    assert "*1* brand new" in text
    assert "begun" not in text


@pytest.mark.policy('[[guards]]\noperation = "*"\nguard = "none"')
async def test_a_bulk_change_that_was_done_in_part_is_not_called_done(workspace: Sandbox, alice: Colleague) -> None:
    rules = workspace.services.rules
    rules.stage.faults.add("refused_200", method="PUT", path=f"/v1/rules/{OLD}")
    await alice.types(f"/rules off {OLD} Redirect_chk01 Redirect_imgs2")
    await alice.sees_set(applied=2, failed=1)
    await alice.says("/members grant anna.berg@example.com vip")
    for text in ("/gatehouse digest", "/gatehouse audit"):
        answer = alice.slack_text(await alice.says(text))
        assert "Switch off 3 rules · 2 of 3 done, 1 failed" in answer
    assert "3 rules" in alice.slack_text(await alice.says("/gatehouse digest")).split("•")[1], "failures first"
