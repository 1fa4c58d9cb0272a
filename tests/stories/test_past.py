"""Asked about the past, Gatehouse answers what was so then, or that it isn't known: never what is so now."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from itertools import product
from typing import Any

import pytest

from bot.changes.model.states import HOLDING
from sandbox.demo import Sandbox
from sandbox.slack import rendering
from tests.conftest import Clock
from tests.drills.fleet import until as eventually
from tests.harness.colleague import Colleague
from tests.harness.truth import all_changes

OLD, SALES, URL = "Redirect_x1old", "Group_sales", "https://shop.example.com/old"
DAY = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=2)
TYPED = {
    "off": f"/rules off {OLD}",
    "edit": f"/rules set {OLD} destination=https://shop.example.com/e{{0}}",
    "delete": f"/rules delete {OLD}",
    "create": f'/rules make redirect {URL} to https://shop.example.com/c{{0}} named "C{{0}}"',
    "several": f"/rules off {OLD} Redirect_chk01",
    "group": "/rules group off Experiments",
    "undo": "/gatehouse undo",
}
"""What somebody types, by what comes of it."""
EVENTS = ("off", "outside", *[each for each in TYPED if each != "off"], "nothing")
MOMENTS = (
    DAY + timedelta(hours=1, minutes=10),
    DAY + timedelta(hours=1, minutes=50),
    DAY + timedelta(hours=2, minutes=20),
)
"""The moments that are asked about, with an event before each but the first; each minute an hour later where alice is."""
ASKED_AT = DAY + timedelta(hours=2, minutes=39)
WAYS = (
    f"/rules which {URL} at {{clock}}",
    f"/rules which {URL} {{ago}} min ago",
    f"/rules which {URL} today at {{clock}}",
    f"/rules which {URL} at {{clock}} this morning",
    f"/rules which at {{clock}} {URL}",
    f"/rules where did {URL} go at {{clock}}?",
    f"@Gatehouse what did {URL} do {{ago}} minutes ago",
)
UNCERTAIN = "isn’t known"


def goes_to(workspace: Sandbox) -> set[str]:
    """Where the rules as they are stored now redirect the URL."""
    groups = {group["id"] for group in workspace.services.database.groups() if group["status"] == "Active"}
    return {
        pair["destination"]
        for rule in workspace.services.rules.all()
        for pair in rule["pairs"]
        if rule["status"] == "Active"
        and pair["source"].get("value") == URL
        and rule.get("groupId", "") in {"", *groups}
    }


def edit_outside(workspace: Sandbox, clock: Clock, **more: Any) -> None:
    """Somebody edits the rule in the dashboard."""
    if (rule := workspace.services.rules.get(OLD)) is not None:
        workspace.services.rules.put(rule | {"modificationDate": int(clock().timestamp() * 1000)} | more)


def to(clock: Clock, moment: datetime) -> None:
    clock.ahead = moment - datetime.now(UTC)


@pytest.mark.policy('[[guards]]\noperation = "*"\nguard = "none"')
@pytest.mark.parametrize("events", list(product(EVENTS, repeat=2)), ids=" ".join)
async def test_which_answers_for_the_moment_or_says_that_it_is_not_known(
    workspace: Sandbox, alice: Colleague, clock: Clock, events: tuple[str, str]
) -> None:
    old = workspace.services.rules.get(OLD) or {}
    workspace.services.rules.put(old | {"groupId": SALES})
    was = []
    for number, (moment, event) in enumerate(zip(MOMENTS, (*events, "nothing"), strict=True)):
        to(clock, moment)
        was.append(goes_to(workspace))
        to(clock, moment + timedelta(minutes=20))
        if event in TYPED:
            await alice.says(TYPED[event].format(number))
            await eventually(lambda: is_quiet(alice), "all is done")
        elif event == "outside":
            pair = {
                "destination": "https://shop.example.com/out",
                "source": {"key": "Url", "operator": "Equals", "value": URL},
            }
            edit_outside(workspace, clock, pairs=[pair])
    for number, (moment, there) in enumerate(zip(MOMENTS, was, strict=True)):
        for way in WAYS:
            to(clock, ASKED_AT)
            clock_then, ago = moment + timedelta(hours=1), int((ASKED_AT - moment).total_seconds() // 60)
            told = alice.slack_text(await alice.says(way.format(clock=f"{clock_then:%H:%M}", ago=ago)))
            assert f"s of {moment:%Y-%m-%d %H:%M} UTC ({clock_then:%H:%M} Europe/Berlin)" in told, way
            assert UNCERTAIN not in told or "outside" in events[number:], way
            if UNCERTAIN not in told:
                outcome = told.partition("Berlin)\n")[2].partition("\n")[0]
                assert ("redirects to" in outcome) == bool(there), told
                assert len(there) < 2 or f"one of {len(there)} URLs" in outcome, told
                assert len(there) != 1 or f"redirects to `{next(iter(there))}`" in outcome, told


async def is_quiet(alice: Colleague) -> bool:
    return not any(change.state in HOLDING for change in await all_changes(alice.store))


@pytest.mark.parametrize(
    ("now", "asked", "answered"),
    [
        ("02:39", "yesterday", "-1 00:00"),
        ("02:39", "last night", "-1 18:00"),
        ("02:39", "yesterday 18:00", "-1 18:00"),
        ("02:39", "this morning", "0 00:00"),
        ("11:00", "this morning", "0 06:00"),
        ("02:39", "at 23:50", "-1 23:50"),
        ("23:00", "at 02:10", "0 02:10"),
        ("12:00", "since 9:00", "0 09:00"),
        ("12:00", "on {-2:%d %B} 18:00", "-2 18:00"),
        ("12:00", "on {2:%d %B} 18:00", None),
        ("12:00", "tomorrow", None),
        ("12:00", "on Friday", None),
        ("12:00", "next Friday 9:00", None),
        ("12:00", "in 2h", None),
        ("12:00", "in 8h", None),
        ("12:00", "today at 18:00", None),
    ],
)
async def test_a_time_in_a_question_is_past_unless_it_says_otherwise(
    workspace: Sandbox, alice: Colleague, clock: Clock, now: str, asked: str, answered: str | None
) -> None:
    days = {number: DAY + timedelta(days=number) for number in range(-2, 3)}
    typed = re.sub(r"\{(-?\d):(.*?)\}", lambda found: f"{days[int(found[1])]:{found[2]}}", asked)
    to(clock, DAY + timedelta(hours=int(now[:2]) - 1, minutes=int(now[3:])))

    told = alice.slack_text(await alice.says(f"/rules which {URL} {typed}"))

    if answered is None:
        assert "is still to come" in told
        return
    day, _, clock_then = answered.partition(" ")
    moment = days[int(day)] + timedelta(hours=int(clock_then[:2]) - 1, minutes=int(clock_then[3:]))
    assert f"s of {moment:%Y-%m-%d %H:%M} UTC ({clock_then} Europe/Berlin)" in told


@pytest.mark.parametrize("date", [None, "yesterday", 1_700_000_000, True, 99_999_999_999_999, 4_102_444_800_000])
async def test_nothing_is_claimed_by_a_date_that_is_none(
    workspace: Sandbox, alice: Colleague, clock: Clock, date: object
) -> None:
    rule = workspace.services.rules.get(OLD) or {}
    workspace.services.rules.put(rule | {"modificationDate": date, "creationDate": date})

    told = alice.slack_text(await alice.says(f"/rules which {URL} 2h ago"))

    assert "Can’t tell" in told
    assert "“Old shop to new shop” has no date" in told


@pytest.mark.parametrize("text", ["/gatehouse digest", "/gatehouse audit", "home"])
async def test_what_was_changed_elsewhere_is_told(
    workspace: Sandbox, alice: Colleague, clock: Clock, text: str
) -> None:
    async def told(minute: int) -> str:
        to(clock, moment := DAY + timedelta(minutes=minute))
        if text == "home":
            return rendering.view(await alice.opens_home(f"As of {moment:%Y-%m-%d %H:%M} UTC"))
        return alice.slack_text(await alice.says(text))

    assert "elsewhere" not in await told(1)
    await alice.says(f"/rules off {OLD}")
    await eventually(lambda: is_quiet(alice), "all is done")
    assert "elsewhere" not in await told(2)
    edit_outside(workspace, clock, name="Their shop")
    workspace.bot.gatehouse.rules.drop()
    assert f"Changed elsewhere: “Their shop” {DAY:%Y-%m-%d} 00:02 UTC" in await told(3)


async def test_a_question_about_what_a_rule_was_is_answered_with_its_history(alice: Colleague) -> None:
    await alice.says(f"/rules off {OLD} because it loops")
    for text in (
        "was Old shop on at 02:10?",
        "when did Old shop go off?",
        "was Old shop on?",
        "show Old shop yesterday",
    ):
        told = alice.slack_text(await alice.says(f"/rules {text}"))
        assert "History of “Old shop to new shop”" in told, text
        assert "I’m not sure" not in told, text
