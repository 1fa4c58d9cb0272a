"""Why somebody gets in, or does not: over every site, with what is missing one click away."""

from __future__ import annotations

import pytest

from sandbox.demo import Sandbox
from tests.harness.colleague import Colleague

ANNA = "anna.berg@example.com"
BEN = "ben.costa@example.com"


def put(workspace: Sandbox, site: str, email: str, *segments: str, name: str = "Somebody") -> None:
    workspace.services.members.put(site, {"name": name, "email": email, "allowedSegments": list(segments)})


async def test_what_every_site_knows_is_said(workspace: Sandbox, bob: Colleague) -> None:
    text = bob.slack_text(await bob.says(f"/members why {BEN}"))

    assert "is a member of blog and docs." in text
    assert "Ben Costa" in text
    assert "Member since" in text
    assert "`premium`" in text


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


async def test_a_site_that_does_not_know_them_offers_to_add(workspace: Sandbox, bob: Colleague) -> None:
    reply = await bob.says("/members why new.person@example.com vip")
    assert "docs: not a member" in bob.slack_text(reply)

    await bob.clicks(reply, "Add on docs…", opens="Site docs")
    assert "new.person@example.com" in bob.form
    bob.fills(Name="New Person")
    assert await bob.submits() == {}
    await bob.sees_change(of="New Person")

    assert (workspace.services.members.get("site_2", "new.person@example.com") or {})["allowedSegments"] == ["vip"]
    assert workspace.services.members.get("site_1", "new.person@example.com") is None


@pytest.mark.parametrize(
    ("asked", "member", "said"),
    [
        ("anna.breg@example.com", ANNA, "differs in one or two letters"),
        ("anna.berg@exmaple.com", ANNA, "differs in one or two letters"),
        ("anna.berg@mail.example.org", ANNA, "same name at another domain"),
        ("anna.berg+shop@example.com", ANNA, "same mailbox"),
    ],
)
async def test_whom_it_may_be_taken_for_is_said(bob: Colleague, asked: str, member: str, said: str) -> None:
    text = bob.slack_text(await bob.says(f"/members why {asked} site:blog"))

    assert "has exactly this email" in text
    assert f"`{member}`" in text
    assert said in text


@pytest.mark.threat("B8")
async def test_capital_letters_are_told_apart_as_the_service_does(workspace: Sandbox, bob: Colleague) -> None:
    put(workspace, "site_1", "Zoe@example.com", "free")
    put(workspace, "site_1", "zoe@example.com", "VIP")
    put(workspace, "site_1", "lone.WOLF@example.com", "free")

    text = bob.slack_text(await bob.says("/members why zoe@example.com vip site:blog"))
    assert "`Zoe@example.com`" in text
    assert "differs only in capital letters" in text
    assert "Has “VIP” but not “vip”" in text

    text = bob.slack_text(await bob.says("/members why Lone.Wolf@example.com site:blog"))
    assert "stored as `lone.WOLF@example.com`" in text


async def test_a_segment_that_does_not_exist_is_not_granted_but_explained(workspace: Sandbox, bob: Colleague) -> None:
    reply = await bob.says(f"/members why {ANNA} premum site:blog")

    text = bob.slack_text(reply)
    assert "Did you mean “premium”?" in text
    assert "Grant" not in text


@pytest.mark.first(2)
@pytest.mark.parametrize("fault", ["500", "403", "429", "html", "empty", "truncated", "wrong_type", "cut_before"])
async def test_a_site_that_fails_hides_no_other(workspace: Sandbox, bob: Colleague, fault: str) -> None:
    workspace.services.members.stage.faults.add(fault, path="site_2", times=9)

    text = bob.slack_text(await bob.says(f"/members why {BEN}"))

    assert "is a member of blog. docs couldn’t be asked." in text
    assert "docs couldn’t be asked. The members service" in text
    assert "Ben Costa" in text


async def test_no_site_that_answers_is_no_verdict(workspace: Sandbox, bob: Colleague) -> None:
    workspace.services.members.stage.faults.add("403", times=9)

    text = bob.slack_text(await bob.says(f"/members why {BEN}"))

    assert "blog and docs couldn’t be asked." in text
    assert "Nobody" not in text, "nobody looked"


async def test_in_the_channel_it_is_masked_and_has_no_buttons(bob: Colleague, cara: Colleague) -> None:
    reply = await bob.says(f"/members why {ANNA.replace('berg', 'breg')} vip")
    await bob.clicks(reply, "Share in channel")
    shared = await cara.sees("has exactly this email")

    held = str(shared.blocks) + shared.text
    assert "a***@example.com" in held
    assert "anna." not in held
    assert "'button'" not in held


BAD = ["@example.com", "a@", f"{'x' * 308}@example.com", "<script>@x.y", '"@"@e.com']


@pytest.mark.first(2)
@pytest.mark.parametrize("text", BAD)
async def test_what_is_no_address_is_said_so(workspace: Sandbox, bob: Colleague, text: str) -> None:
    await bob.is_refused(f"/members why {text}")
    asked_for = {call.path for call in workspace.services.members.calls()}
    assert asked_for <= {f"/api/v1/sites/{site}/members/" for site in ("site_1", "site_2")}, (
        "names are looked up, no more"
    )


ODD = ["o'brien+tag%2F@example.com", "a/b%@example.com", "jürgen.müller@exämple.example", f"{'y' * 60}@example.com"]


@pytest.mark.first(2)
@pytest.mark.parametrize("email", ODD)
async def test_odd_addresses_go_the_whole_way(workspace: Sandbox, bob: Colleague, email: str) -> None:
    put(workspace, "site_1", email, "free", name="Odd One")

    reply = await bob.says(f"/members why {email} vip site:blog")
    await bob.clicks(reply, "Grant vip on blog…", opens="How long?")
    assert await bob.submits() == {}
    card = await bob.sees_change(of=email)

    assert (workspace.services.members.get("site_1", email) or {})["allowedSegments"] == ["free", "vip"]
    assert email not in str(card.blocks) + card.text
