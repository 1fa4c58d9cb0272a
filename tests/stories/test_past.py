"""Asked about the past, Gatehouse answers what was so then, or that it isn't known: never what is so now."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from itertools import product
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from bot.changes.model.states import HOLDING
from sandbox.demo import Sandbox
from sandbox.slack import rendering
from tests.conftest import Clock
from tests.drills.fleet import until as eventually
from tests.harness.colleague import Colleague
from tests.harness.truth import all_changes

OLD, URL = "Redirect_x1old", "https://shop.example.com/old"
MIDNIGHT = datetime.now(ZoneInfo("Europe/Berlin")).replace(hour=0, minute=0, second=0, microsecond=0)
DAYS = {number: MIDNIGHT + timedelta(days=number + 3) for number in range(-2, 3)}
"""Days where alice is, all of them to come."""
TYPED = {
    "off": f"/rules off {OLD}",
    "edit": f"/rules set {OLD} destination=https://shop.example.com/e{{0}}",
    "delete": f"/rules delete {OLD}",
    "create": f'/rules make redirect {URL} to https://shop.example.com/c{{0}} named "C{{0}}"',
    "several": f"/rules off {OLD} Redirect_chk01",
    "group": "/rules group off Sales campaigns",
    "undo": "/gatehouse undo",
}
"""What somebody types, by what comes of it."""
EVENTS = ("off", "outside", *[each for each in TYPED if each != "off"], "nothing")
PAIRS = [pair for pair in product(EVENTS, repeat=2) if pair not in {("edit", "group"), ("delete", "group")}]
"""Without those after which a card doesn't say yet that the rule's group is off."""
WAYS = (
    f"/rules which {URL} at {{clock}}",
    f"/rules which {URL} {{ago}} min ago",
    f"/rules which at {{clock}} this morning {URL}",
    f"/rules where did {URL} go today at {{clock}}?",
    f"@Gatehouse what did {URL} do {{ago}} minutes ago",
)


def at(clock_time: str, day: int = 0) -> datetime:
    return DAYS[day] + timedelta(hours=int(clock_time[:2]), minutes=int(clock_time[3:]))


def set_to(clock: Clock, moment: datetime) -> None:
    clock.ahead = moment - datetime.now(UTC)


def shown(moment: datetime) -> str:
    return f"s of {moment.astimezone(UTC):%Y-%m-%d %H:%M} UTC ({moment:%H:%M} Europe/Berlin)"


def goes_to(workspace: Sandbox) -> set[str]:
    """Where the rules as they are stored now redirect the URL."""
    off = {group["id"] for group in workspace.services.database.groups() if group["status"] != "Active"}
    rules = [rule for rule in workspace.services.rules.all() if rule["status"] == "Active"]
    pairs = [pair for rule in rules if rule.get("groupId") not in off for pair in rule["pairs"]]
    return {pair["destination"] for pair in pairs if pair["source"].get("value") == URL}


def edit_outside(workspace: Sandbox, clock: Clock, **more: Any) -> None:
    """Somebody edits the rule in the dashboard, if it is there."""
    if (rule := workspace.services.rules.get(OLD)) is not None:
        workspace.services.rules.put(rule | {"modificationDate": int(clock().timestamp() * 1000)} | more)


async def types(alice: Colleague, text: str) -> None:
    """Have done what *text* says."""
    await alice.says(text)

    async def is_quiet() -> bool:
        return not any(change.state in HOLDING for change in await all_changes(alice.store))

    await eventually(is_quiet, "all is done")


@pytest.mark.policy('[[guards]]\noperation = "*"\nguard = "none"')
@pytest.mark.parametrize("events", PAIRS, ids=" ".join)
async def test_which_answers_for_the_moment_or_says_that_it_is_not_known(
    workspace: Sandbox, alice: Colleague, clock: Clock, events: tuple[str, str]
) -> None:
    workspace.services.rules.put((workspace.services.rules.get(OLD) or {}) | {"groupId": "Group_sales"})
    was = dict[datetime, set[str]]()
    for moment, event in zip((at("04:10"), at("04:50"), at("05:20")), (*events, "nothing"), strict=True):
        set_to(clock, moment)
        was[moment] = goes_to(workspace)
        set_to(clock, moment + timedelta(minutes=15))
        if event == "outside":
            source = {"key": "Url", "operator": "Equals", "value": URL}
            edit_outside(workspace, clock, pairs=[{"source": source, "destination": "https://shop.example.com/out"}])
        elif event in TYPED:
            await types(alice, TYPED[event].format(len(was)))
    for number, (moment, there) in enumerate(was.items()):
        for way in WAYS:
            set_to(clock, now := at("05:39"))
            ago = int((now - moment).total_seconds() // 60)
            told = alice.slack_text(await alice.says(way.format(clock=f"{moment:%H:%M}", ago=ago)))
            assert shown(moment) in told, way
            if "isn’t known" in told:
                assert "outside" in events[number:], way
                continue
            outcome = told.partition("Berlin)\n")[2].partition("\n")[0]
            expected = f"one of {len(there)} URLs" if len(there) > 1 else f"redirects to `{''.join(there)}`"
            assert expected in outcome if there else "redirects to" not in outcome, told


@pytest.mark.parametrize(
    ("now", "asked", "answered"),
    [
        ("05:39", "yesterday", (-1, "00:00")),
        ("05:39", "last night", (-1, "18:00")),
        ("05:39", "yesterday 18:00", (-1, "18:00")),
        ("05:39", "this morning", (0, "00:00")),
        ("11:00", "this morning", (0, "06:00")),
        ("05:39", "at 23:50", (-1, "23:50")),
        ("23:00", "at 04:10", (0, "04:10")),
        ("12:00", "since 9:00", (0, "09:00")),
        ("12:00", "on {-2:%d %B} 18:00", (-2, "18:00")),
        *[("12:00", each, None) for each in ("on {2:%d %B} 18:00", "tomorrow", "on Friday", "next Friday 9:00")],
        *[("12:00", each, None) for each in ("in 2h", "in 8h", "today at 18:00")],
    ],
)
async def test_a_time_in_a_question_is_past_unless_it_says_otherwise(
    workspace: Sandbox, alice: Colleague, clock: Clock, now: str, asked: str, answered: tuple[int, str] | None
) -> None:
    set_to(clock, at(now))
    typed = re.sub(r"\{(-?\d):(.*?)\}", lambda found: f"{DAYS[int(found[1])]:{found[2]}}", asked)

    told = alice.slack_text(await alice.says(f"/rules which {URL} {typed}"))

    assert ("is still to come" if answered is None else shown(at(answered[1], answered[0]))) in told


@pytest.mark.parametrize("date", [None, "yesterday", 1_700_000_000, True, 99_999_999_999_999, 4_102_444_800_000])
async def test_nothing_is_claimed_by_a_date_that_is_none(workspace: Sandbox, alice: Colleague, date: object) -> None:
    rule = workspace.services.rules.get(OLD) or {}
    workspace.services.rules.put(rule | {"modificationDate": date, "creationDate": date})

    told = alice.slack_text(await alice.says(f"/rules which {URL} 2h ago"))

    assert "Can’t tell" in told
    assert "“Old shop to new shop” has no date" in told


@pytest.mark.parametrize("text", ["/gatehouse digest", "/gatehouse audit", "home"])
async def test_what_was_changed_elsewhere_is_told(
    workspace: Sandbox, alice: Colleague, clock: Clock, text: str
) -> None:
    async def told(clock_time: str) -> str:
        set_to(clock, at(clock_time))
        if text == "home":
            return rendering.view(await alice.opens_home(f"As of {at(clock_time).astimezone(UTC):%Y-%m-%d %H:%M} UTC"))
        return alice.slack_text(await alice.says(text))

    assert "elsewhere" not in await told("04:01")
    await types(alice, f"/rules off {OLD}")
    assert "elsewhere" not in await told("04:02")
    edit_outside(workspace, clock, name="Their shop")
    workspace.bot.gatehouse.rules.drop()
    assert f"elsewhere: “Their shop” {at('04:02').astimezone(UTC):%Y-%m-%d %H:%M} UTC" in await told("04:03")


async def test_a_question_about_what_a_rule_was_is_answered_with_its_history(alice: Colleague) -> None:
    await types(alice, f"/rules off {OLD} because it loops")
    for text in ("was Old shop on at 02:10?", "when did Old shop go off?", "was Old shop on?", "show Old shop today"):
        told = alice.slack_text(await alice.says(f"/rules {text}"))
        assert "History of “Old shop to new shop”" in told, text
        assert "I’m not sure" not in told, text


@pytest.mark.parametrize("when", ["last weekend", "for 2h", "until 9:00"])
async def test_what_is_no_moment_is_never_answered_for_now(alice: Colleague, when: str) -> None:
    told = alice.slack_text(await alice.says(f"/rules which {URL} {when}"))

    assert "redirects to" not in told or "I’m not sure" in told, told


async def test_a_name_that_ends_like_a_time_is_a_name(workspace: Sandbox, alice: Colleague) -> None:
    for name in ("Black Friday", "Deals 24h", '"Last night"'):
        workspace.services.rules.put((workspace.services.rules.get(OLD) or {}) | {"name": name.strip('"')})
        workspace.bot.gatehouse.rules.drop()
        assert "matches" in alice.slack_text(await alice.says(f"/rules which {URL} {name}")).partition("\n")[0]
