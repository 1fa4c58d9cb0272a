"""Two workspaces of one Gatehouse, with the same people and channels by the same ids: nothing of one is in the other."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from bot.store.audit import Filters
from sandbox.gatehouse import SHOP
from sandbox.slack.running import LocalSlack
from sandbox.slack.workspaces import Workspace
from tests.channels import as_read, strings
from tests.conftest import OPS, until
from tests.databases import BOTH
from tests.held_service import Held
from tests.payloads import Forger
from tests.several import TWIN, Several

OLD = "Redirect_x1old"
MARK = "lighthouse"
"""A word that stands in everything that happens in the twin, and nowhere else."""
ASKED = (
    "/rules list",
    f"/rules list {MARK}",
    f"/rules show {OLD}",
    f"/rules history {OLD}",
    "/rules which https://shop.example.com/old",
    "/rules samples",
    "/members list",
    f"/members why {MARK}@example.com",
    "/gatehouse audit",
    "/gatehouse audit since:1d",
    "/gatehouse pending",
    "/gatehouse timers",
    "/gatehouse digest",
    "/gatehouse misses",
    "/gatehouse settings",
    "/gatehouse status",
    "/gatehouse whoami",
    "/gatehouse help",
)


def shown_in(slack: LocalSlack) -> str:
    """Everything that stands in a workspace: messages, modals, homes and files, and what people typed not."""
    state = slack.state
    bots = [one for one in state.messages if one.user == state.workspace.bot.id]
    shown: list[Any] = [[one.text, one.blocks, one.attachments] for one in bots]
    shown += [[file.name, (file.content or b"").decode()] for one in bots for file in one.files]
    return "\n".join(as_read(text) for text in strings(shown))


async def filled(both: Several) -> None:
    """Let everything happen in the twin that leaves something behind."""
    services = both.all_services[TWIN.id]
    services.rules.put({**(services.rules.get(OLD) or {}), "name": f"Old {MARK}"})
    services.members.put("site_1", {"email": f"{MARK}@example.com", "name": f"Zoe {MARK}", "segments": ["vip"]})
    alice, cara = both.person(TWIN), both.person(TWIN, "U0CARA001")
    await alice.says(f"/rules off {OLD} for 2h because {MARK}")
    card = await alice.says(f"/rules delete Redirect_chk01 because {MARK}")
    await cara.sees("Approve")
    assert alice.slack_text(card)
    await alice.says(f"/rules samples add https://{MARK}.example.com/")
    await alice.says(f"/rules tell me about the {MARK} of them")
    await alice.types(f"/rules export {MARK}")
    await alice.sees_file()


@pytest.mark.threat("E8")
@pytest.mark.parametrize("database_url", BOTH, indirect=True)
async def test_nothing_of_one_shows_in_the_other(both: Several) -> None:
    await filled(both)
    alice = both.person(SHOP)

    for text in ASKED:
        await alice.says(text)
    await alice.opens_home("Gatehouse")
    menu = await alice.says("/rules")
    offered = await alice.offered(menu, "v1.pick.rule.menu", "old")
    await alice.types("/rules export")
    file, _ = await alice.sees_file()

    assert MARK in shown_in(both.slack.at(TWIN))
    said = "\n".join(line for line in shown_in(both.slack.at(SHOP)).splitlines() if f"{MARK}@" not in line)
    asked = [line for line in said.splitlines() if MARK in line and "You typed" not in line and f"“{MARK}”" not in line]
    assert asked == []
    assert not any(MARK in label for label in offered)
    assert file.content is not None
    assert MARK.encode() not in file.content
    assert MARK not in str(alice.home)
    gatehouse = both.gatehouse(SHOP)
    assert gatehouse is not None
    assert await gatehouse.store.changes.open() == []
    assert {entry.event for entry in await gatehouse.store.audit.found(Filters())} <= {"exporting", "exported"}
    assert (both.all_services[SHOP.id].rules.get(OLD) or {})["status"] == "Active"
    assert MARK not in (await both.http.get(f"{both.bot_url}/metrics")).text


@pytest.mark.threat("E8")
async def test_the_same_person_decides_in_each_for_itself(both: Several) -> None:
    cards = {}
    for home in (TWIN, SHOP):
        cards[home.id] = await both.person(home).says(f"/rules delete {OLD} because of a test")

    await both.person(SHOP, "U0CARA001").clicks(cards[SHOP.id], "v1.decide.approve", confirm=True)
    await until(lambda: both.all_services[SHOP.id].rules.get(OLD) is None)

    twin = both.gatehouse(TWIN)
    assert twin is not None
    assert [change.state for change in await twin.store.changes.open()] == ["proposed"]
    assert both.all_services[TWIN.id].rules.calls("DELETE") == []


@pytest.mark.threat("E8")
async def test_ids_of_one_find_nothing_in_the_other(both: Several) -> None:
    card = await both.person(TWIN).says(f"/rules delete {OLD} because {MARK}")
    twin = both.gatehouse(TWIN)
    assert twin is not None
    (change,) = await twin.store.changes.open()
    forger = Forger(both.seen_from(SHOP), "U0CARA001", OPS)
    cara = both.person(SHOP, "U0CARA001")

    for action in ("approve", "deny", "withdraw", "confirm", "inspect"):
        told = len(forger.told)
        await forger.clicks(card, f"v1.decide.{action}", change.id)
        await until(lambda told=told: len(forger.told) > told)  # type: ignore[misc]  # mypy has no defaults of lambdas
    for text in ("inspect", "undo", "audit"):
        told_of = await cara.says(f"/gatehouse {text} {change.id[:8]}")
        assert MARK not in cara.slack_text(told_of)

    assert not any(MARK in told for told in forger.told)
    assert [one.state for one in await twin.store.changes.open()] == ["proposed"]
    shop = both.gatehouse(SHOP)
    assert shop is not None
    assert await shop.store.changes.of_requester(forger.user, 5) == []


@pytest.mark.threat("E8")
async def test_each_has_its_own_policy(both: Several, tmp_path: Path) -> None:
    policy = tmp_path / "policy.toml"
    policy.write_text(f'[roles.{MARK}]\nusers = ["U0ALICE01"]\nmay = ["read"]\n')
    await both.set_up(TWIN, policy)
    await until(lambda: _roles(both, TWIN) == [MARK])

    refused = both.person(TWIN).slack_text(await both.person(TWIN).says(f"/rules off {OLD} because of a test"))
    assert (both.all_services[TWIN.id].rules.get(OLD) or {})["status"] == "Active", refused
    await both.person(SHOP).says(f"/rules off {OLD} because of a test")

    await until(lambda: (both.all_services[SHOP.id].rules.get(OLD) or {})["status"] == "Inactive")
    assert _roles(both, SHOP) == []


def _roles(both: Several, home: Workspace) -> list[str] | None:
    gatehouse = both.gatehouse(home)
    return None if gatehouse is None else list(gatehouse.access.policy().roles)


async def test_one_whose_service_hangs_keeps_no_other_waiting(both: Several) -> None:
    held = Held()
    both.all_services[TWIN.id].rules.stage.faults = held
    await both.person(TWIN).types("/rules list")
    await held.asked.wait()

    assert "29 rules" in (await both.person(SHOP).says("/rules list")).text

    held.free.set()
    await both.person(TWIN).sees("29 rules")


async def test_the_flood_of_one_is_not_counted_in_the_other(both: Several) -> None:
    bob = both.person(TWIN)
    answer = ""
    for _ in range(61):
        answer = bob.slack_text(await bob.says("/gatehouse whoami"))
    assert "60 commands" in answer

    shop = both.person(SHOP)
    assert "60 commands" not in shop.slack_text(await shop.says("/gatehouse whoami"))
