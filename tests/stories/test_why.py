"""Why somebody gets in, or does not: over every site, with what is missing one click away."""

from __future__ import annotations

import pytest

from sandbox.demo import Sandbox
from tests.harness.colleague import Colleague

ANNA = "anna.berg@example.com"
BEN = "ben.costa@example.com"


def put(workspace: Sandbox, site: str, email: str, *segments: str, name: str = "Somebody") -> None:
    workspace.services.members.put(site, {"name": name, "email": email, "allowedSegments": list(segments)})


async def test_a_missing_segment_is_granted_by_a_click(workspace: Sandbox, bob: Colleague) -> None:
    reply = await bob.says(f"/members why {ANNA} vip")
    text = bob.slack_text(reply)
    assert "is on blog but lacks “vip”." in text
    assert text.count("lacks") == 1
    assert "Lacks" not in text

    await bob.clicks(reply, "Grant vip on blog…", opens="How long?")
    assert await bob.submits() == {}
    await bob.sees_change(of=ANNA)

    assert "vip" in (workspace.services.members.get("site_1", ANNA) or {})["allowedSegments"]
    assert "has “VIP” on blog" in bob.slack_text(await bob.says(f"/members why {ANNA} VIP"))


@pytest.mark.threat("B8")
async def test_capital_letters_are_told_apart_as_the_service_does(workspace: Sandbox, bob: Colleague) -> None:
    put(workspace, "site_1", "Zoe@example.com", "free")
    put(workspace, "site_1", "zoe@example.com", "VIP")
    put(workspace, "site_1", "lone.WOLF@example.com", "free")

    text = bob.slack_text(await bob.says("/members why zoe@example.com vip site:blog"))
    assert "`Zoe@example.com`" in text
    assert "Has “VIP” but not “vip”" in text

    text = bob.slack_text(await bob.says("/members why Lone.Wolf@example.com site:blog"))
    assert "stored as `lone.WOLF@example.com`" in text


@pytest.mark.first(2)
@pytest.mark.parametrize("fault", ["500", "403", "429", "html", "empty", "truncated", "wrong_type", "cut_before"])
async def test_a_site_that_fails_hides_no_other(workspace: Sandbox, bob: Colleague, fault: str) -> None:
    workspace.services.members.stage.faults.add(fault, path="site_2", times=9)

    text = bob.slack_text(await bob.says(f"/members why {BEN}"))

    assert "is a member of blog. docs couldn’t be asked." in text
    assert "docs couldn’t be asked. Which segment is this about?" in text
    assert "members service" in text.partition("about?")[2]
    assert "Ben Costa" in text
